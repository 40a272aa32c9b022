/* mailbox/mend_accounts.c - who has a mailbox: the index's registrations and what is on disk. */
#include "base/fs.h"
#include "mailbox/document.h"
#include "mailbox/limits.h"
#include "mailbox/mend.h"
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

/* The root's path in an entry's, "<root>/mailboxes/<name>"; NULL when it is none. */
static const char *root_of(struct mr_arena *arena, const char *entry_path)
{
	static const char MIDDLE[] = "/" MR_MAILBOX_MAILBOXES;
	size_t len = (size_t)(after_slash(entry_path) - entry_path);

	if (len < sizeof(MIDDLE) + 1 ||
		memcmp(entry_path + len - sizeof(MIDDLE), MIDDLE, sizeof(MIDDLE) - 1) != 0)
		return NULL;
	return mr_arena_strndup(arena, entry_path, len - sizeof(MIDDLE));
}

/* A path below the place where the root was, as it is now; others as they are. */
static const char *moved(const struct mr_mailbox_mend *mend, const char *path)
{
	size_t len = mend->old_path ? strlen(mend->old_path) : 0;

	if (len == 0 || strncmp(path, mend->old_path, len) != 0 || path[len] != '/')
		return path;
	return mr_mailbox_layout_join(mend->cx->arena, mend->root->path, path + len + 1);
}

/* Something in mailboxes/ that may be an account's. */
struct artifact {
	const char *name;
	const char *address;
	bool is_stash;
	bool is_link;
	const char *path; /* of the directory, links resolved; NULL when there is none */
};

static const char *resolve(struct mr_mailbox_mend *mend, const char *entry)
{
	char *real = realpath(entry, NULL);
	const char *path = mr_arena_strdup(mend->cx->arena, real);
	size_t len = strlen(mend->root->path);
	struct stat st;

	free(real);
	if (!path)
		mr_mailbox_mend_found(mend, "broken_mailbox", entry, "the link leads nowhere");
	else if (strncmp(path, mend->root->path, len) == 0 &&
		(path[len] == '/' || path[len] == '\0'))
		mr_mailbox_mend_found(mend, "broken_mailbox", entry,
			"the link leads back into the root");
	else if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		mr_mailbox_mend_found(mend, "broken_mailbox", entry,
			"the link leads to something that is no directory");
	else
		return path;
	return NULL;
}

/* False when it is nobody's. */
static bool look_at(struct mr_mailbox_mend *mend, const char *name, struct artifact *out)
{
	const char *relative = mr_mailbox_layout_entry(mend->cx->arena, name);
	const char *entry = mr_mailbox_layout_join(mend->cx->arena, mend->root->path, relative);
	const char *address = NULL;
	enum mr_mailbox_entry_kind kind =
		mr_mailbox_layout_entry_kind(mend->cx->arena, name, &address);
	struct stat st;

	if (kind == MR_MAILBOX_ENTRY_FOREIGN) {
		mr_mailbox_mend_stray(mend, entry, "is no address");
		return false;
	}
	if (fstatat(mend->root->dir, relative, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	if (!S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode)) {
		mr_mailbox_mend_found(mend, "stray_entry", entry,
			"is neither a directory nor a link; left alone");
		return false;
	}
	*out = (struct artifact){
		.name = name,
		.address = address,
		.is_stash = kind == MR_MAILBOX_ENTRY_STASH,
		.is_link = S_ISLNK(st.st_mode),
	};
	out->path = out->is_link ? resolve(mend, entry) : entry;
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
	/* The root may have stood elsewhere when the link was made. */
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

static void take_owner(struct mr_mailbox_mend *mend, struct mr_mailbox_account *account,
	const struct mr_mailbox_principal *principal)
{
	struct mr_arena *arena = mend->cx->arena;

	account->row.owner = mr_arena_strdup(arena, principal->principal_id);
	account->row.display_name = mr_arena_strdup(arena, principal->display_name);
	account->row.manifest_path_hint = mr_arena_strdup(arena, principal->manifest_path_hint);
	account->row.role = mr_arena_strdup(arena, principal->role);
	account->owner_unknown = false;
}

/* A mailbox that the index does not know: whose is it? */
static void guess_owner(struct mr_mailbox_mend *mend, struct mr_mailbox_account *account,
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
		take_owner(mend, account,
			&(struct mr_mailbox_principal){
				.principal_id = MR_MAILBOX_OPERATOR_PRINCIPAL,
				.display_name = MR_MAILBOX_OPERATOR_NAME,
				.role = MR_MAILBOX_OPERATOR_ROLE,
			});
		return;
	}
	path = artifact->path ? newest_link(arena, artifact) : NULL;
	if (!path ||
		mr_fs_read(arena, mend->root->dir, path, MR_MAILBOX_DOCUMENT_BYTES, &document,
			&ignored) ||
		mr_mailbox_document_parse(arena, document, &message, &ignored))
		return;
	principal = find_principal(&message, artifact->address);
	if (principal)
		take_owner(mend, account, principal);
}

static void make_row(struct mr_mailbox_mend *mend, struct mr_mailbox_account *account,
	const struct artifact *artifact, const struct mr_mailbox_registrations *rows)
{
	struct mr_arena *arena = mend->cx->arena;
	size_t local = (size_t)(strchr(artifact->address, '@') - artifact->address);

	account->row = (struct mr_mailbox_registration){
		.id = mr_token_prefixed(arena, mend->cx->rand, "reg-", MR_TOKEN_UUID_DIGITS),
		.address = artifact->address,
		.owner = mr_arena_strndup(arena, artifact->address, local),
		.status = artifact->is_stash ? MR_MAILBOX_STASHED : MR_MAILBOX_ACTIVE,
		.created_at = mend->now,
		.deactivated_at = artifact->is_stash ? mend->now : NULL,
	};
	guess_owner(mend, account, artifact, rows);
	if (mend->old)
		mr_mailbox_mend_found(mend, "missing_registration",
			mr_mailbox_layout_join(arena, mend->root->path,
				mr_mailbox_layout_entry(arena, artifact->name)),
			"the index does not know this mailbox");
}

/* What the row must say about the place. */
static void fit_row(struct mr_mailbox_mend *mend, struct mr_mailbox_account *account,
	const struct artifact *artifact)
{
	struct mr_mailbox_registration *row = &account->row;
	const struct mr_mailbox_registration *was = account->was;
	struct mr_arena *arena = mend->cx->arena;

	row->kind = artifact->is_link ? MR_MAILBOX_SYMLINK : MR_MAILBOX_IN_ROOT;
	row->entry_path = mr_mailbox_layout_join(arena, mend->root->path,
		mr_mailbox_layout_entry(arena, artifact->name));
	if (artifact->path)
		row->path = artifact->path;
	else
		row->path = was ? moved(mend, was->path) : row->entry_path;
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
		mr_mailbox_mend_found(mend, "wrong_registration", row->id,
			"is %s in the index, but its directory %s is %s's",
			mr_mailbox_status_name(was->status), row->entry_path,
			mr_mailbox_status_name(row->status));
	if (was->kind != row->kind)
		mr_mailbox_mend_found(mend, "wrong_registration", row->id,
			"is of kind %s in the index, but %s is of kind %s",
			mr_mailbox_kind_name(was->kind), row->entry_path,
			mr_mailbox_kind_name(row->kind));
	else if (!mr_mailbox_mend_same_path(mend, was->path, row->path) ||
		!mr_mailbox_mend_same_path(mend, was->entry_path, row->entry_path))
		mr_mailbox_mend_found(mend, "wrong_registration", row->id,
			"is at %s in the index, but at %s", was->path, row->path);
}

/* A row of which nothing is in mailboxes/. */
static void keep_row(struct mr_mailbox_mend *mend, struct mr_mailbox_account *account)
{
	account->row = *account->was;
	account->row.path = moved(mend, account->was->path);
	account->row.entry_path = moved(mend, account->was->entry_path);
	if (account->row.status != MR_MAILBOX_ACTIVE)
		return;
	account->row.status = MR_MAILBOX_INACTIVE;
	if (!account->row.deactivated_at)
		account->row.deactivated_at = mend->now;
	mr_mailbox_mend_found(mend, "missing_mailbox", account->row.entry_path,
		mend->hands ? "%s is active, but has no directory: now inactive; register it again"
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

static void sort_accounts(struct mr_mailbox_mend *mend)
{
	struct mr_arena *arena = mend->cx->arena;
	size_t count = mend->account_count;

	mend->by_address = mr_arena_array(arena, count + 1, sizeof(*mend->by_address));
	mend->by_id = mr_arena_array(arena, count + 1, sizeof(*mend->by_id));
	for (size_t i = 0; i < count; i++)
		mend->by_address[i] = mend->by_id[i] = &mend->accounts[i];
	qsort(mend->by_address, count, sizeof(*mend->by_address), by_address);
	qsort(mend->by_id, count, sizeof(*mend->by_id), by_id);
}

struct mr_mailbox_account *mr_mailbox_mend_account_by_id(struct mr_mailbox_mend *mend,
	const char *id)
{
	struct mr_mailbox_account key = { .row = { .id = id } };
	struct mr_mailbox_account *wanted = &key;
	struct mr_mailbox_account **found = bsearch(&wanted, mend->by_id, mend->account_count,
		sizeof(struct mr_mailbox_account *), by_id);

	return found ? *found : NULL;
}

struct mr_mailbox_account *mr_mailbox_mend_account_of(struct mr_mailbox_mend *mend,
	const struct mr_mailbox_principal *principal)
{
	size_t low = 0, high = mend->account_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(mend->by_address[middle]->row.address, principal->address) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < mend->account_count; low++) {
		struct mr_mailbox_account *account = mend->by_address[low];

		if (!mr_str_eq(account->row.address, principal->address))
			break;
		if (account->owner_unknown)
			take_owner(mend, account, principal);
		if (mr_str_eq(account->row.owner, principal->principal_id))
			return account;
	}
	return NULL;
}

static void find_old_path(struct mr_mailbox_mend *mend, const struct mr_mailbox_registrations *rows)
{
	for (size_t i = 0; i < rows->len && !mend->old_path; i++) {
		const char *path = root_of(mend->cx->arena, rows->items[i].entry_path);

		if (path && !mr_str_eq(path, mend->root->path))
			mend->old_path = path;
	}
	if (mend->old_path)
		mr_mailbox_mend_found(mend, "moved_root", mend->root->path,
			"the index was written when this root was at %s", mend->old_path);
}

static enum mr_code match(struct mr_mailbox_mend *mend, const struct mr_texts *names,
	const struct mr_mailbox_registrations *rows)
{
	struct mr_arena *arena = mend->cx->arena;
	bool *taken = mr_arena_array(arena, rows->len + 1, sizeof(*taken));

	mend->accounts = mr_arena_array(arena, names->len + rows->len + 1, sizeof(*mend->accounts));
	for (size_t i = 0; i < names->len; i++) {
		struct mr_mailbox_account *account = &mend->accounts[mend->account_count];
		struct artifact artifact;

		if (!look_at(mend, names->items[i], &artifact))
			continue;
		account->was = best_row(&artifact, rows, taken);
		if (account->was) {
			taken[account->was - rows->items] = true;
			account->row = *account->was;
		} else {
			make_row(mend, account, &artifact, rows);
		}
		fit_row(mend, account, &artifact);
		mend->account_count++;
	}
	for (size_t i = 0; i < rows->len; i++) {
		if (taken[i])
			continue;
		mend->accounts[mend->account_count].was = &rows->items[i];
		keep_row(mend, &mend->accounts[mend->account_count++]);
	}
	for (size_t i = 0; i < mend->account_count; i++)
		mr_buf_init(&mend->accounts[i].claims, CLAIMS_BYTES);
	return MR_OK;
}

enum mr_code mr_mailbox_mend_accounts(struct mr_mailbox_mend *mend)
{
	struct mr_ctx *cx = mend->cx;
	struct mr_mailbox_registrations rows = { NULL, 0 };
	struct mr_texts names = { NULL, 0 };
	enum mr_code rc = MR_OK;

	if (mend->old)
		rc = mr_mailbox_mend_lose_index(mend,
			mr_mailbox_registration_list(cx, mend->old, NULL, &rows));
	if (rc)
		return rc;
	find_old_path(mend, &rows);
	if (mr_fs_exists(mend->root->dir, MR_MAILBOX_MAILBOXES))
		rc = mr_fs_list(cx->arena, mend->root->dir, MR_MAILBOX_MAILBOXES,
			MR_MAILBOX_ENTRIES, &names, &cx->err);
	if (!rc)
		rc = match(mend, &names, &rows);
	if (!rc)
		sort_accounts(mend);
	return rc;
}

void mr_mailbox_mend_accounts_release(struct mr_mailbox_mend *mend)
{
	for (size_t i = 0; i < mend->account_count; i++)
		mr_buf_release(&mend->accounts[i].claims);
}

enum mr_code mr_mailbox_mend_accounts_write(struct mr_mailbox_mend *mend)
{
	struct mr_ctx *cx = mend->cx;
	enum mr_code rc = MR_OK;

	/* Rows point to each other in any order: first all of them, then the pointers. */
	for (size_t i = 0; i < mend->account_count && !rc; i++) {
		struct mr_mailbox_registration row = mend->accounts[i].row;

		row.replaced_by = NULL;
		rc = mr_mailbox_registration_insert(cx, mend->index, &row);
	}
	for (size_t i = 0; i < mend->account_count && !rc; i++) {
		struct mr_mailbox_registration *row = &mend->accounts[i].row;

		if (row->replaced_by && mr_mailbox_mend_account_by_id(mend, row->replaced_by))
			rc = mr_mailbox_registration_update(cx, mend->index, row);
	}
	return rc;
}
