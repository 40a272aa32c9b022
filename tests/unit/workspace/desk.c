/* tests/unit/workspace/desk.c */
#include "desk.h"

#include "files.h"
#include "test.h"
#include "workspace/audit.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <stdlib.h>
#include <string.h>

static const char default_config[] =
	"{\"schema_name\": \"config\", \"schema_version\": 1,"
	" \"workspace\": {\"language_bcp47\": null, \"timezone_utc_offset\": \"UTC\"},"
	" \"identities\": [{\"identity\": \"me\", \"name\": \"Me\", \"email\": \"me@example.com\","
	" \"default\": true}],"
	" \"imap\": {\"host\": null, \"port\": 993, \"tls\": true, \"username\": null},"
	" \"mailboxes\": {\"inbox\": {\"mailbox_name\": \"INBOX\", \"special_use\": null},"
	" \"sent\": {\"mailbox_name\": null, \"special_use\": \"\\\\Sent\"},"
	" \"archive\": {\"mailbox_name\": null, \"special_use\": \"\\\\Archive\"},"
	" \"junk\": {\"mailbox_name\": null, \"special_use\": \"\\\\Junk\"},"
	" \"trash\": {\"mailbox_name\": null, \"special_use\": \"\\\\Trash\"},"
	" \"drafts\": {\"mailbox_name\": null, \"special_use\": \"\\\\Drafts\"}},"
	" \"actions\": {\"pull\": {\"default_mailbox_ids\": [\"inbox\"], \"by_mailbox_id\":"
	" {\"inbox\": {\"import_as\": \"triage\", \"direction\": \"inbound\"}}},"
	" \"case.add\": {\"steps\": []}, \"draft.save\": {\"steps\":"
	" [{\"append_to_mailbox_id\": \"drafts\"}]}, \"draft.send\": {\"steps\":"
	" [{\"smtp_send\": {}}]}, \"message.spam\": {\"steps\": []},"
	" \"message.trash\": {\"steps\": []}, \"message.archive\": {\"by_source_mailbox_id\": {}}},"
	" \"audit\": {\"reason_mode\": \"required\"},"
	" \"smtp\": {\"host\": null, \"port\": 587, \"starttls\": true}}\n";

static void open_work(struct desk *desk)
{
	CHECK_OK(mr_work_open(&desk->cx, test_dir(), MR_WORK_WRITE, &desk->work), desk->cx.err);
}

void desk_open(struct desk *desk)
{
	*desk = (struct desk){ .cx = { .arena = mr_arena_new(), .rand = mr_rand_system() } };
	files_enter();
	mr_clock_fixed_init(&desk->clock, DESK_NOW_US);
	desk->cx.clock = &desk->clock.clock;
	desk_put(MR_WORK_CONFIG, default_config);
	open_work(desk);
}

void desk_close(struct desk *desk)
{
	mr_work_close(desk->work);
	mr_arena_free(desk->cx.arena);
}

void desk_next(struct desk *desk)
{
	mr_work_close(desk->work);
	desk->clock.now_us += 1000000;
	desk->cx.err = (struct mr_err){ 0 };
	open_work(desk);
}

void desk_put(const char *path, const char *text)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *slash = strrchr(path, '/');
	struct mr_err err = { 0 };

	if (slash)
		CHECK_OK(mr_fs_make_dirs(AT_FDCWD,
				 mr_arena_strndup(arena, path, (size_t)(slash - path)), 0755, &err),
			err);
	files_put(path, text);
}

bool desk_has(const char *path)
{
	return mr_fs_exists(AT_FDCWD, path);
}

const char *desk_text(struct desk *desk, const char *path)
{
	struct mr_bytes bytes = { 0 };

	CHECK_OK(mr_work_read(&desk->cx, desk->work, path, &bytes), desk->cx.err);
	return (const char *)bytes.data;
}

struct names {
	struct mr_arena *arena;
	const char *items[256];
	size_t len;
};

static enum mr_fs_next add_name(void *arg, const struct mr_fs_entry *entry)
{
	struct names *names = arg;

	CHECK(names->len < MR_LEN(names->items));
	if (!mr_str_eq(entry->path, MR_WORK_LOCK) && !mr_str_eq(entry->path, MR_WORK_CONFIG))
		names->items[names->len++] = mr_arena_strdup(names->arena, entry->path);
	return MR_FS_GO_ON;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *desk_tree(struct desk *desk)
{
	struct names names = { .arena = desk->cx.arena };
	struct mr_texts texts;
	struct mr_err err = { 0 };

	CHECK_OK(mr_fs_walk(AT_FDCWD, ".", 16, add_name, &names, &err), err);
	qsort(names.items, names.len, sizeof(*names.items), compare);
	texts = (struct mr_texts){ names.items, names.len };
	return mr_str_join(desk->cx.arena, &texts, "\n");
}

void desk_check_fail(struct desk *desk, enum mr_code rc, const char *word, const char *key,
	const char *text)
{
	const struct mr_work_trouble *trouble = mr_work_trouble(&desk->cx.err);

	CHECK(rc != MR_OK);
	CHECK_INT(desk->cx.err.code, rc);
	CHECK_STR(desk->cx.err.word, word);
	if (key) {
		const struct mr_value *got = mr_value_get(trouble ? trouble->detail : NULL, key);

		CHECK(got && got->kind == MR_TEXT);
		CHECK_STR(got->text, text);
	}
}

const char *desk_events(struct desk *desk)
{
	struct mr_work_events events = { 0 };
	const char *line = "";

	CHECK_OK(mr_work_audit_last(&desk->cx, desk->work, 1000, &events), desk->cx.err);
	for (size_t i = 0; i < events.len; i++)
		line = mr_arena_printf(desk->cx.arena, "%s%s%s", line, i ? " " : "",
			mr_value_get(events.items[i], "kind")->text);
	return line;
}

const struct mr_value *desk_last_event(struct desk *desk)
{
	struct mr_work_events events = { 0 };

	CHECK_OK(mr_work_audit_last(&desk->cx, desk->work, 1, &events), desk->cx.err);
	CHECK_INT(events.len, 1);
	return events.items[0];
}
