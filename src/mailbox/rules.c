/*
 * mailbox/rules.c - Writes the files below rules/: the policy documents, and the Python scripts
 * that run `mailroom mailbox script`.
 */
#include "mailbox/rules.h"

#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/layout.h"

#include <string.h>

enum { COMPARED_BYTES = 1 << 20 };

static const char README[] =
	"# A mailbox root\n"
	"\n"
	"This directory holds mail between agents as plain files. It was made by Mailroom; any\n"
	"program that keeps to `protocols/filesystem-mailbox-v1.md` can share it.\n"
	"\n"
	"Where things are, seen from the root:\n"
	"\n"
	"- `messages/<date>/<message id>.md`: each message once, Markdown with YAML front matter.\n"
	"  A message is never changed after it was delivered.\n"
	"- `mailboxes/<address>/`: one mailbox, or a link to a private directory elsewhere. Its\n"
	"  `inbox`, `sent` and `archive` hold links to messages; `mailbox.sqlite` knows what its\n"
	"  owner has read, answered, starred, archived and deleted.\n"
	"- `index.sqlite`: who is registered, and which message went to whom.\n"
	"- `staging/`: documents on their way to delivery. `attachments/managed/`: copies of "
	"files.\n"
	"- `locks/`: held for the length of one change.\n"
	"\n"
	"## Who may change what\n"
	"\n"
	"Read whatever you like. To change anything, use one of these; each takes the locks, "
	"checks\n"
	"everything first, and leaves the root whole when it is stopped half way:\n"
	"\n"
	"- the commands of `mailroom mailbox` (`mailroom mailbox --help` lists them),\n"
	"- the scripts in `scripts/`, one JSON file in and one JSON object out.\n"
	"\n"
	"Do not edit, move or delete messages, links, databases or lock files by hand. The one "
	"file\n"
	"you write yourself is a new document in `staging/`, which `deliver_message.py` then\n"
	"delivers. Files in `rules/` are written anew by `mailroom mailbox init`.\n"
	"\n"
	"## Everyday commands\n"
	"\n"
	"    mailroom mailbox status --mailbox-root ROOT\n"
	"    mailroom mailbox register --mailbox-root ROOT --address ADDRESS --principal-id OWNER\n"
	"    mailroom mailbox accounts list --mailbox-root ROOT\n"
	"    mailroom mailbox messages list --mailbox-root ROOT --address ADDRESS\n"
	"    mailroom mailbox check --mailbox-root ROOT\n"
	"    mailroom mailbox repair --mailbox-root ROOT\n"
	"\n"
	"When something looks wrong, `check` says what differs and changes nothing; `repair` "
	"makes\n"
	"index and links anew from the messages and keeps what owners did with them.\n";

static const char PROTOCOL[] =
	"# The protocol of a filesystem mailbox\n"
	"\n"
	"The root's `protocol-version.txt` says `3`. A root that says `1` may be read, but not\n"
	"changed. Everything below is for programs that share a root.\n"
	"\n"
	"## Messages\n"
	"\n"
	"- A document is `---`, YAML front matter, `---`, an empty line, and the body, byte for\n"
	"  byte, in UTF-8.\n"
	"- Its name is `messages/<YYYY-MM-DD>/<message_id>.md`, by the date of `created_at_utc`.\n"
	"- `message_id` is `msg-<YYYYMMDDTHHMMSSZ>-<32 hexadecimal digits>`. A message that starts "
	"a\n"
	"  thread has its own id as `thread_id` and no `references`; a reply names its parent in\n"
	"  `in_reply_to` and last in `references`.\n"
	"- Senders and recipients are principals, each with an id and a full address such as\n"
	"  `research@houmao.localhost`. Addresses are case-sensitive and serve as file names.\n"
	"- Attachments are named in the front matter: files elsewhere by absolute path "
	"(`path_ref`),\n"
	"  or copies in `attachments/managed/` (`managed_copy`).\n"
	"\n"
	"## Mailboxes\n"
	"\n"
	"- `mailboxes/<address>` is a directory, or an absolute link to one outside the root.\n"
	"- `mailboxes/<address>--<32 hexadecimal digits>` was set aside when its address was "
	"given\n"
	"  to somebody else. Other names there mean nothing.\n"
	"- `inbox`, `sent` and `archive` hold absolute links to messages. `drafts` is reserved.\n"
	"- `mailbox.sqlite` in each mailbox is the authority on read, answered, starred, archived\n"
	"  and deleted; `index.sqlite` on registrations, recipients and links.\n"
	"\n"
	"## Locks\n"
	"\n"
	"- Whoever changes something holds `locks/addresses/<address>.lock` of every address\n"
	"  concerned, taken in ascending order, then `locks/index.lock`. A lock is a file made "
	"with\n"
	"  O_CREAT and O_EXCL that says `pid=<pid> acquired_at_utc=<time>`; it is given back by\n"
	"  removing it, in reverse order.\n"
	"- Files in `locks/guards/` are Mailroom's own, for the kernel's locks. They stay.\n"
	"- The lock file of a process that is no longer alive is taken over.\n"
	"\n"
	"## Databases\n"
	"\n"
	"- Journal mode DELETE, never WAL. Tables are not altered.\n"
	"- `staging/.intents/` and `staging/.trash/` are Mailroom's own: what is there belongs to "
	"a\n"
	"  change under way, or is finished or undone by the next one.\n";

static const char SKILLS[] =
	"# Skills\n"
	"\n"
	"Room for material that helps agents work with this root: notes on who is who, templates,\n"
	"house rules. Mailroom writes only this file here and reads none.\n";

static const char REQUIREMENTS[] = "# Nothing is needed: the scripts use Python's standard library "
				   "and the program mailroom.\n";

/* %s is the script's name, twice. */
static const char SCRIPT[] =
	"#!/usr/bin/env python3\n"
	"\"\"\"%s: one JSON payload in, one JSON object out; the work is done by mailroom.\n"
	"\n"
	"Looks for the program in $MAILROOM_BIN, then on PATH. Written by `mailroom mailbox "
	"init`.\n"
	"\"\"\"\n"
	"import json\n"
	"import os\n"
	"import shutil\n"
	"import sys\n"
	"\n"
	"NAME = \"%s\"\n"
	"\n"
	"\n"
	"def main():\n"
	"    wanted = os.environ.get(\"MAILROOM_BIN\") or \"mailroom\"\n"
	"    program = shutil.which(wanted)\n"
	"    if program is None:\n"
	"        return f\"cannot find the program {wanted}: set MAILROOM_BIN or PATH\"\n"
	"    try:\n"
	"        os.execv(program, [program, \"mailbox\", \"script\", NAME, *sys.argv[1:]])\n"
	"    except OSError as error:\n"
	"        return f\"cannot run {program}: {error.strerror}\"\n"
	"\n"
	"\n"
	"if __name__ == \"__main__\":\n"
	"    print(json.dumps({\"ok\": False, \"error\": main()}))\n"
	"    sys.exit(1)\n";

/* Readers may open the file at any moment: it is replaced atomically, and only if it differs. */
static enum mr_code publish(struct mr_ctx *cx, const struct mr_mailbox_root *root, const char *path,
	const char *text, mode_t mode)
{
	struct mr_bytes want = mr_bytes_text(text), have;
	struct mr_err why;
	struct stat st;
	enum mr_code rc;

	if (fstatat(root->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
		(st.st_mode & mode) == mode &&
		mr_fs_read(cx->arena, root->dir, path, COMPARED_BYTES, &have, &why) == MR_OK &&
		have.len == want.len && memcmp(have.data, want.data, want.len) == 0)
		return MR_OK;
	rc = mr_fs_write(root->dir, path, want, MR_FS_REPLACE, mode, &cx->err);
	if (rc)
		return mr_err_wrap(&cx->err, "mailbox root %s", root->path);
	mr_crash_point("rules.publish.written");
	return MR_OK;
}

/* Remove temporary files of writers that died. */
static enum mr_code sweep(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	static const char *const folders[] = { MR_MAILBOX_RULES, MR_MAILBOX_RULES_PROTOCOLS,
		MR_MAILBOX_RULES_SCRIPTS, MR_MAILBOX_RULES_SKILLS };

	for (size_t i = 0; i < MR_LEN(folders); i++) {
		size_t removed;
		enum mr_code rc =
			mr_fs_sweep_temporaries(root->dir, folders[i], &removed, &cx->err);

		if (rc)
			return mr_err_wrap(&cx->err, "mailbox root %s", root->path);
	}
	return MR_OK;
}

enum mr_code mr_mailbox_rules_publish(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	static const struct {
		const char *path;
		const char *text;
	} files[] = {
		{ MR_MAILBOX_README, README },
		{ MR_MAILBOX_PROTOCOL, PROTOCOL },
		{ MR_MAILBOX_REQUIREMENTS, REQUIREMENTS },
		{ MR_MAILBOX_SKILLS_README, SKILLS },
	};
	enum mr_code rc = sweep(cx, root);

	for (size_t i = 0; !rc && i < MR_LEN(files); i++)
		rc = publish(cx, root, files[i].path, files[i].text, 0600);
	for (const char *const *name = mr_mailbox_scripts; !rc && *name; name++)
		rc = publish(cx, root, mr_mailbox_layout_script(cx->arena, *name),
			mr_arena_printf(cx->arena, SCRIPT, *name, *name), 0700);
	return rc;
}
