/* mailbox/repair_accounts.c - compares the index's registrations with mailboxes/. */
#include "base/fs.h"
#include "mailbox/document.h"
#include "mailbox/holder.h"
#include "mailbox/limits.h"
#include "mailbox/repair_private.h"
#include "text/token.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLAIMS_BYTES = MR_MAILBOX_MESSAGES_MAX * (int)sizeof(struct mr_mailbox_claim) };

static const char *after_slash(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A path below the place where the root was, as it is now; others as they are. */
static const char *moved(const struct mr_mailbox_repair_run *run, const char *path)
{
	size_t len = run->old_path ? strlen(run->old_path) : 0;

	if (len == 0 || strncmp(path, run->old_path, len) != 0 || path[len] != '/')
		return path;
	return mr_mailbox_layout_join(run->cx->arena, run->root->path, path + len + 1);
}

/* An entry of mailboxes/ that may be an account's. */
struct artifact {
	const char *name;
	const char *address;
	bool is_stash;
	bool is_link;
	const char *path; /* of the directory, links resolved; NULL when there is none */
};

static const char *resolve(struct mr_mailbox_repair_run *run, const char *entry)
{
	char *real = realpath(entry, NULL);
	const char *path = mr_arena_strdup(run->cx->arena, real);
	size_t len = strlen(run->root->path);
	struct stat st;

	free(real);
	if (!path)
		mr_mailbox_repair_found(run, "broken_mailbox", entry, "the link leads nowhere");
	else if (strncmp(path, run->root->path, len) == 0 &&
		(path[len] == '/' || path[len] == '\0'))
		mr_mailbox_repair_found(run, "broken_mailbox", entry,
			"the link leads back into the root");
	else if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		mr_mailbox_repair_found(run, "broken_mailbox", entry,
			"the link leads to something that is no directory");
	else
		return path;
	return NULL;
}

/* Does the private directory belong to another root? Then this root shall have a directory of its
 * own in the link's place. */
static enum mr_code look_at_holder(struct mr_mailbox_repair_run *run, struct artifact *artifact)
{
	const char *entry = mr_mailbox_layout_entry(run->cx->arena, artifact->name);
	const char *path = mr_mailbox_layout_join(run->cx->arena, run->root->path, entry);
	const char *holder = NULL;
	struct mr_err before = run->cx->err;
	enum mr_code rc = mr_mailbox_holder_find(run->cx, run->root, artifact->path, &holder);

	if (rc)
		return rc;
	if (!holder) {
		/* A directory that cannot be written is found later, if it matters. */
		if (run->hands && mr_mailbox_holder_mark(run->cx, run->root, artifact->path))
			run->cx->err = before;
		return MR_OK;
	}
	mr_mailbox_repair_found(run, "shared_mailbox", path,
		run->hands ? "its private directory %s belongs to the root %s; it is now a "
			     "directory of its own, with the same flags"
			   : "its private directory %s belongs to the root %s",
		artifact->path, holder);
	if (!run->hands) {
		artifact->path = NULL;
		return MR_OK;
	}
	rc = mr_mailbox_repair_own(run, entry, artifact->path);
	artifact->is_link = false;
	artifact->path = path;
	return rc;
}

/* False when the entry belongs to no account. */
static bool look_at(struct mr_mailbox_repair_run *run, const char *name, struct artifact *out)
{
	const char *relative = mr_mailbox_layout_entry(run->cx->arena, name);
	const char *entry = mr_mailbox_layout_join(run->cx->arena, run->root->path, relative);
	const char *address = NULL;
	enum mr_mailbox_entry_kind kind =
		mr_mailbox_layout_entry_kind(run->cx->arena, name, &address);
	struct stat st;

	if (kind == MR_MAILBOX_ENTRY_FOREIGN) {
		mr_mailbox_repair_warn(run, "stray_entry", entry, "is no address; left alone");
		return false;
	}
	if (fstatat(run->root->dir, relative, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	if (!S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode)) {
		mr_mailbox_repair_found(run, "stray_entry", entry,
			"is neither a directory nor a link; left alone");
		return false;
	}
	*out = (struct artifact){
		.name = name,
		.address = address,
		.is_stash = kind == MR_MAILBOX_ENTRY_STASH,
		.is_link = S_ISLNK(st.st_mode),
	};
	out->path = out->is_link ? resolve(run, entry) : entry;
	return true;
}

/* How well a row fits what is in its place; 0 is not at all. */
static int fit(const struct artifact *artifact, const struct mr_mailbox_registration *row)
{
	if (!mr_str_eq(after_slash(row->entry_path), artifact->name))
		return 0;
	switch (row->status) {
	case MR_MAILBOX_ACTIVE:
		return artifact->is_stash ? 1 : 3;
	case MR_MAILBOX_STASHED:
		return artifact->is_stash ? 3 : 1;
	default:
		return 2;
	}
}

/* Among rows that fit equally well the newest has the place. */
static bool is_newer(const struct mr_mailbox_registration *a,
	const struct mr_mailbox_registration *b)
{
	int order = strcmp(a->created_at, b->created_at);

	return order > 0 || (order == 0 && strcmp(a->id, b->id) > 0);
}

/* The first row of an address, or of what comes after it: rows are sorted. */
static size_t first_of(const struct mr_mailbox_registrations *rows, const char *address)
{
	size_t low = 0, high = rows->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(rows->items[middle].address, address) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct mr_mailbox_registration *best_row(const struct artifact *artifact,
	const struct mr_mailbox_registrations *rows, const bool *taken)
{
	const struct mr_mailbox_registration *best = NULL;
	int best_fit = 0;

	for (size_t i = first_of(rows, artifact->address);
		i < rows->len && mr_str_eq(rows->items[i].address, artifact->address); i++) {
		const struct mr_mailbox_registration *row = &rows->items[i];
		int this_fit = taken[i] ? 0 : fit(artifact, row);

		if (this_fit > best_fit ||
			(this_fit > 0 && this_fit == best_fit && is_newer(row, best))) {
			best = row;
			best_fit = this_fit;
		}
	}
	return best;
}

/* The newest message linked there, as a path below the root; NULL when there is none. */
static const char *newest_link(struct mr_arena *arena, const struct artifact *artifact)
{
	const char *newest = NULL;
	const char *box = NULL;
	char target[PATH_MAX];
	ssize_t len;

	for (const char *const *name = mr_mailbox_boxes; *name; name++) {
		const char *path = mr_mailbox_layout_join(arena, artifact->path, *name);
		struct mr_texts names = { NULL, 0 };
		struct mr_err ignored;

		if (mr_fs_list(arena, AT_FDCWD, path, MR_MAILBOX_ENTRIES, &names, &ignored) ||
			names.len == 0)
			continue;
		if (newest && strcmp(names.items[names.len - 1], newest) <= 0)
			continue;
		newest = names.items[names.len - 1];
		box = path;
	}
	if (!newest)
		return NULL;
	len = readlink(mr_mailbox_layout_join(arena, box, newest), target, sizeof(target) - 1);
	if (len <= 0)
		return NULL;
	target[len] = '\0';
	/* The root may have been elsewhere when the link was made. */
	for (char *at = strrchr(target, '/'); at && at > target; at--) {
		if (mr_str_starts(at, "/" MR_MAILBOX_MESSAGES "/"))
			return mr_arena_strdup(arena, at + 1);
	}
	return NULL;
}

static const struct mr_mailbox_principal *find_principal(const struct mr_mailbox_message *message,
	const char *address)
{
	const struct mr_mailbox_principals *lists[] = { &message->to, &message->cc };

	if (mr_str_eq(message->sender.address, address))
		return &message->sender;
	for (size_t i = 0; i < MR_LEN(lists); i++) {
		for (size_t j = 0; j < lists[i]->len; j++) {
			if (mr_str_eq(lists[i]->items[j].address, address))
				return &lists[i]->items[j];
		}
	}
	return NULL;
}

static void take_owner(struct mr_mailbox_repair_run *run, struct mr_mailbox_account *account,
	const struct mr_mailbox_principal *principal)
{
	struct mr_arena *arena = run->cx->arena;

	account->row.owner = mr_arena_strdup(arena, principal->principal_id);
	account->row.display_name = mr_arena_strdup(arena, principal->display_name);
	account->row.manifest_path_hint = mr_arena_strdup(arena, principal->manifest_path_hint);
	account->row.role = mr_arena_strdup(arena, principal->role);
	account->owner_unknown = false;
}

/* A mailbox that the index does not know: find its owner in a message linked there. */
static void guess_owner(struct mr_mailbox_repair_run *run, struct mr_mailbox_account *account,
	const struct artifact *artifact, const struct mr_mailbox_registrations *rows)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	size_t at = first_of(rows, artifact->address);
	const struct mr_mailbox_principal *principal;
	struct mr_mailbox_message message;
	struct mr_bytes document;
	struct mr_err ignored;
	const char *path;

	if (at < rows->len && mr_str_eq(rows->items[at].address, artifact->address)) {
		const struct mr_mailbox_registration *hint = &rows->items[at];

		account->row.owner = hint->owner;
		account->row.display_name = hint->display_name;
		account->row.manifest_path_hint = hint->manifest_path_hint;
		account->row.role = hint->role;
		return;
	}
	account->owner_unknown = true;
	if (mr_str_eq(artifact->address, MR_MAILBOX_OPERATOR_ADDRESS)) {
		take_owner(run, account,
			&(struct mr_mailbox_principal){
				.principal_id = MR_MAILBOX_OPERATOR_PRINCIPAL,
				.display_name = MR_MAILBOX_OPERATOR_NAME,
				.role = MR_MAILBOX_OPERATOR_ROLE,
			});
		return;
	}
	path = artifact->path ? newest_link(arena, artifact) : NULL;
	if (!path ||
		mr_fs_read(arena, run->root->dir, path, MR_MAILBOX_DOCUMENT_BYTES, &document,
			&ignored) ||
		mr_mailbox_document_parse(arena, document, &message, &ignored))
		return;
	principal = find_principal(&message, artifact->address);
	if (principal)
		take_owner(run, account, principal);
}

static void make_row(struct mr_mailbox_repair_run *run, struct mr_mailbox_account *account,
	const struct artifact *artifact, const struct mr_mailbox_registrations *rows)
{
	struct mr_arena *arena = run->cx->arena;
	size_t local = (size_t)(strchr(artifact->address, '@') - artifact->address);

	account->row = (struct mr_mailbox_registration){
		.id = mr_token_prefixed(arena, run->cx->rand, "reg-", MR_TOKEN_UUID_DIGITS),
		.address = artifact->address,
		.owner = mr_arena_strndup(arena, artifact->address, local),
		.status = artifact->is_stash ? MR_MAILBOX_STASHED : MR_MAILBOX_ACTIVE,
		.created_at = run->now,
		.deactivated_at = artifact->is_stash ? run->now : NULL,
	};
	guess_owner(run, account, artifact, rows);
	if (run->old)
		mr_mailbox_repair_found(run, "missing_registration",
			mr_mailbox_layout_join(arena, run->root->path,
				mr_mailbox_layout_entry(arena, artifact->name)),
			"the index does not know this mailbox");
}

/* Correct what the row says about its directory. */
static void fit_row(struct mr_mailbox_repair_run *run, struct mr_mailbox_account *account,
	const struct artifact *artifact)
{
	struct mr_mailbox_registration *row = &account->row;
	const struct mr_mailbox_registration *was = account->was;
	struct mr_arena *arena = run->cx->arena;

	row->kind = artifact->is_link ? MR_MAILBOX_SYMLINK : MR_MAILBOX_IN_ROOT;
	row->entry_path = mr_mailbox_layout_join(arena, run->root->path,
		mr_mailbox_layout_entry(arena, artifact->name));
	if (artifact->path)
		row->path = artifact->path;
	else
		row->path = was ? moved(run, was->path) : row->entry_path;
	if (artifact->is_stash)
		row->status = MR_MAILBOX_STASHED;
	else if (row->status == MR_MAILBOX_STASHED)
		row->status = MR_MAILBOX_ACTIVE;
	if (row->status == MR_MAILBOX_ACTIVE)
		row->deactivated_at = NULL;
	account->name = artifact->name;
	account->usable = artifact->path != NULL;
	if (!was)
		return;
	if (was->status != row->status)
		mr_mailbox_repair_found(run, "wrong_registration", row->id,
			"is %s in the index, but its directory %s is %s's",
			mr_mailbox_status_name(was->status), row->entry_path,
			mr_mailbox_status_name(row->status));
	if (was->kind != row->kind)
		mr_mailbox_repair_found(run, "wrong_registration", row->id,
			"is of kind %s in the index, but %s is of kind %s",
			mr_mailbox_kind_name(was->kind), row->entry_path,
			mr_mailbox_kind_name(row->kind));
	else if (!mr_mailbox_repair_same_path(run, was->path, row->path) ||
		!mr_mailbox_repair_same_path(run, was->entry_path, row->entry_path))
		mr_mailbox_repair_found(run, "wrong_registration", row->id,
			"is at %s in the index, but at %s", was->path, row->path);
}

/* A row without any entry in mailboxes/. */
static void keep_row(struct mr_mailbox_repair_run *run, struct mr_mailbox_account *account)
{
	account->row = *account->was;
	account->row.path = moved(run, account->was->path);
	account->row.entry_path = mr_mailbox_layout_join(run->cx->arena, run->root->path,
		mr_mailbox_layout_entry(run->cx->arena, after_slash(account->was->entry_path)));
	if (account->row.kind == MR_MAILBOX_IN_ROOT)
		account->row.path = account->row.entry_path;
	if (account->row.status != MR_MAILBOX_ACTIVE)
		return;
	account->row.status = MR_MAILBOX_INACTIVE;
	if (!account->row.deactivated_at)
		account->row.deactivated_at = run->now;
	mr_mailbox_repair_found(run, "missing_mailbox", account->row.entry_path,
		run->hands ? "%s is active, but has no directory: now inactive; register it again"
			   : "%s is active, but has no directory",
		account->row.id);
}

static int by_address(const void *a, const void *b)
{
	const struct mr_mailbox_registration *x = &(*(struct mr_mailbox_account *const *)a)->row;
	const struct mr_mailbox_registration *y = &(*(struct mr_mailbox_account *const *)b)->row;
	int order = strcmp(x->address, y->address);

	if (order == 0)
		order = (int)x->status - (int)y->status;
	if (order == 0)
		order = strcmp(x->created_at, y->created_at);
	return order ? order : strcmp(x->id, y->id);
}

static int by_id(const void *a, const void *b)
{
	return strcmp((*(struct mr_mailbox_account *const *)a)->row.id,
		(*(struct mr_mailbox_account *const *)b)->row.id);
}

static void sort_accounts(struct mr_mailbox_repair_run *run)
{
	struct mr_arena *arena = run->cx->arena;
	size_t count = run->account_count;

	run->by_address = mr_arena_array(arena, count + 1, sizeof(*run->by_address));
	run->by_id = mr_arena_array(arena, count + 1, sizeof(*run->by_id));
	for (size_t i = 0; i < count; i++)
		run->by_address[i] = run->by_id[i] = &run->accounts[i];
	qsort(run->by_address, count, sizeof(*run->by_address), by_address);
	qsort(run->by_id, count, sizeof(*run->by_id), by_id);
}

struct mr_mailbox_account *mr_mailbox_repair_account_by_id(struct mr_mailbox_repair_run *run,
	const char *id)
{
	struct mr_mailbox_account key = { .row = { .id = id } };
	struct mr_mailbox_account *wanted = &key;
	struct mr_mailbox_account **found = bsearch(&wanted, run->by_id, run->account_count,
		sizeof(struct mr_mailbox_account *), by_id);

	return found ? *found : NULL;
}

struct mr_mailbox_account *mr_mailbox_repair_account_of(struct mr_mailbox_repair_run *run,
	const struct mr_mailbox_principal *principal)
{
	size_t low = 0, high = run->account_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(run->by_address[middle]->row.address, principal->address) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < run->account_count; low++) {
		struct mr_mailbox_account *account = run->by_address[low];

		if (!mr_str_eq(account->row.address, principal->address))
			break;
		if (account->owner_unknown)
			take_owner(run, account, principal);
		if (mr_str_eq(account->row.owner, principal->principal_id))
			return account;
	}
	return NULL;
}

static void find_old_path(struct mr_mailbox_repair_run *run,
	const struct mr_mailbox_registrations *rows)
{
	for (size_t i = 0; i < rows->len && !run->old_path; i++) {
		const char *path =
			mr_mailbox_layout_root_of_entry(run->cx->arena, rows->items[i].entry_path);

		if (path && !mr_str_eq(path, run->root->path))
			run->old_path = path;
	}
	if (run->old_path)
		mr_mailbox_repair_found(run, "moved_root", run->root->path,
			"the index was written when this root was at %s", run->old_path);
}

static enum mr_code match(struct mr_mailbox_repair_run *run, const struct mr_texts *names,
	const struct mr_mailbox_registrations *rows)
{
	struct mr_arena *arena = run->cx->arena;
	bool *taken = mr_arena_array(arena, rows->len + 1, sizeof(*taken));

	run->accounts = mr_arena_array(arena, names->len + rows->len + 1, sizeof(*run->accounts));
	for (size_t i = 0; i < names->len; i++) {
		struct mr_mailbox_account *account = &run->accounts[run->account_count];
		struct artifact artifact;

		if (!look_at(run, names->items[i], &artifact))
			continue;
		if (artifact.is_link && artifact.path) {
			enum mr_code rc = look_at_holder(run, &artifact);

			if (rc)
				return rc;
		}
		account->was = best_row(&artifact, rows, taken);
		if (account->was) {
			taken[account->was - rows->items] = true;
			account->row = *account->was;
		} else {
			make_row(run, account, &artifact, rows);
		}
		fit_row(run, account, &artifact);
		run->account_count++;
	}
	for (size_t i = 0; i < rows->len; i++) {
		if (taken[i])
			continue;
		run->accounts[run->account_count].was = &rows->items[i];
		keep_row(run, &run->accounts[run->account_count++]);
	}
	for (size_t i = 0; i < run->account_count; i++)
		mr_buf_init(&run->accounts[i].claims, CLAIMS_BYTES);
	return MR_OK;
}

enum mr_code mr_mailbox_repair_accounts(struct mr_mailbox_repair_run *run)
{
	struct mr_ctx *cx = run->cx;
	struct mr_mailbox_registrations rows = { NULL, 0 };
	struct mr_texts names = { NULL, 0 };
	enum mr_code rc = MR_OK;

	if (run->old)
		rc = mr_mailbox_repair_lose_index(run,
			mr_mailbox_registration_list(cx, run->old, NULL, &rows));
	if (rc)
		return rc;
	find_old_path(run, &rows);
	if (mr_fs_exists(run->root->dir, MR_MAILBOX_MAILBOXES))
		rc = mr_fs_list(cx->arena, run->root->dir, MR_MAILBOX_MAILBOXES, MR_MAILBOX_ENTRIES,
			&names, &cx->err);
	if (!rc)
		rc = match(run, &names, &rows);
	if (!rc)
		sort_accounts(run);
	return rc;
}

void mr_mailbox_repair_accounts_release(struct mr_mailbox_repair_run *run)
{
	for (size_t i = 0; i < run->account_count; i++)
		mr_buf_release(&run->accounts[i].claims);
}

enum mr_code mr_mailbox_repair_accounts_write(struct mr_mailbox_repair_run *run)
{
	struct mr_ctx *cx = run->cx;
	enum mr_code rc = MR_OK;

	/* Rows point to each other in any order: first all of them, then the pointers. */
	for (size_t i = 0; i < run->account_count && !rc; i++) {
		struct mr_mailbox_registration row = run->accounts[i].row;

		row.replaced_by = NULL;
		rc = mr_mailbox_registration_insert(cx, run->index, &row);
	}
	for (size_t i = 0; i < run->account_count && !rc; i++) {
		struct mr_mailbox_registration *row = &run->accounts[i].row;

		if (row->replaced_by && mr_mailbox_repair_account_by_id(run, row->replaced_by))
			rc = mr_mailbox_registration_update(cx, run->index, row);
	}
	return rc;
}
