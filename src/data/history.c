/* data/history.c - everything that uses libgit2: reading, the branch, the log, comparing, the
 * index.
 */
#include "data/history.h"

#include "base/fs.h"
#include "data/git.h"
#include "data/history_private.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	CACHE_BYTES = 32 << 20, /* the library's, for all handles */
	CACHED_TREE = 4 << 20,
	MOVES_BEFORE_REOPEN = 64,
	DEFAULT_SCAN = 10000,
	WALK_PATH_BYTES = 4096,
};

/* --- the library --- */

static struct mr_git git; /* filled before a repository is opened, and then never changed */
static struct mr_err git_missing;

/*
 * The options belong to the process; what the user has in ~/.gitconfig must not reach the archive.
 */
static void start_library(void)
{
	static const int levels[] = { GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG,
		GIT_CONFIG_LEVEL_GLOBAL, GIT_CONFIG_LEVEL_PROGRAMDATA };

	if (mr_git_load(&git, &git_missing))
		return;
	git.libgit2_init();
	git.libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, (ssize_t)CACHE_BYTES);
	git.libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_TREE, (size_t)CACHED_TREE);
	for (size_t i = 0; i < MR_LEN(levels); i++)
		git.libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
}

static enum mr_code need_library(struct mr_err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start_library);
	if (git_missing.code)
		*err = git_missing;
	return git_missing.code;
}

static enum mr_code say_damaged(struct mr_err *err, const struct mr_history *history,
	const char *what, const char *why)
{
	return mr_err_set(err, MR_EFORMAT,
		"archive %s is damaged: %s: %s; look with 'git fsck', or move it away to have it "
		"made anew",
		history->path, what, why);
}

/* The library's message is gone with its next call: copy it at once. */
static enum mr_code fail(struct mr_err *err, const struct mr_history *history, int rc,
	const char *what)
{
	const git_error *last = git.error_last();
	const char *why = last && last->message ? last->message : "no reason given";
	int class = last ? last->klass : 0;

	if (rc == GIT_EOWNER)
		return mr_err_set(err, MR_EPERM, "archive %s: %s: it belongs to another user",
			history->path, what);
	if (class == GIT_ERROR_OS || class == GIT_ERROR_FILESYSTEM)
		return mr_err_set(err, MR_EIO, "archive %s: %s: %s", history->path, what, why);
	return say_damaged(err, history, what, why);
}

/* For MR_CLEANUP. */
#define FREEP(type)                                                                                \
	static void type##_freep(git_##type **object)                                              \
	{                                                                                          \
		git.type##_free(*object);                                                          \
	}
FREEP(commit)
FREEP(diff)
FREEP(index)
FREEP(odb_object)
FREEP(patch)
FREEP(repository)
FREEP(tree)
FREEP(tree_entry)

static void trailers_release(git_message_trailer_array *trailers)
{
	git.message_trailer_array_free(trailers);
}

static struct mr_history_id id_of(const git_oid *oid)
{
	struct mr_history_id id;

	git.oid_tostr(id.hex, sizeof(id.hex), oid);
	return id;
}

enum mr_code mr_history_make_repository(struct mr_history *history, struct mr_err *err)
{
	git_repository *repo MR_CLEANUP(repository_freep) = NULL;
	git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
	enum mr_code missing = need_library(err);
	int rc;

	if (missing)
		return missing;
	options.initial_head = "main";
	rc = git.repository_init_ext(&repo, history->path, &options);
	return rc < 0 ? fail(err, history, rc, "cannot make a repository") : MR_OK;
}

void mr_history_close_repository(struct mr_history *history)
{
	if (history->odb)
		git.odb_free(history->odb);
	if (history->repo)
		git.repository_free(history->repo);
	history->odb = NULL;
	history->repo = NULL;
}

enum mr_code mr_history_open_repository(struct mr_history *history, struct mr_err *err)
{
	enum mr_code missing = need_library(err);
	int rc;

	if (missing)
		return missing;
	rc = git.repository_open_ext(&history->repo, history->path, GIT_REPOSITORY_OPEN_NO_SEARCH,
		NULL);
	if (rc < 0)
		return fail(err, history, rc, "cannot open the repository");
	if (git.repository_is_bare(history->repo))
		return mr_err_set(err, MR_ECONFLICT,
			"%s holds a bare repository, which has no work tree to write files to",
			history->path);
	rc = git.repository_odb(&history->odb, history->repo);
	return rc < 0 ? fail(err, history, rc, "cannot open its object database") : MR_OK;
}

/* --- reading --- */

enum mr_code mr_history_get_head(struct mr_history *history, struct mr_history_id *out,
	struct mr_err *err)
{
	struct mr_history_id head = { "" };
	git_oid oid;
	int rc;

	if (history->moves >= MOVES_BEFORE_REOPEN || !history->repo) {
		enum mr_code code;

		mr_history_close_repository(history);
		code = mr_history_open_repository(history, err);
		if (code)
			return code;
		history->moves = 0;
	}
	rc = git.reference_name_to_id(&oid, history->repo, MR_HISTORY_REF);
	if (rc < 0 && rc != GIT_ENOTFOUND)
		return fail(err, history, rc, "cannot read branch main");
	if (rc == 0)
		head = id_of(&oid);
	if (!mr_str_eq(head.hex, history->last_head.hex)) {
		history->last_head = head;
		history->moves++;
	}
	*out = head;
	return MR_OK;
}

/* A commit named by a request. */
static enum mr_code find_commit(struct mr_history *history, const char *text, git_commit **out,
	struct mr_err *err)
{
	struct mr_history_id head;
	git_object_t type;
	git_oid oid;
	size_t size, len;
	enum mr_code code = mr_history_get_head(history, &head, err);
	int rc;

	if (code)
		return code;
	if (!text || mr_str_eq(text, "HEAD"))
		text = head.hex;
	if (*text == '\0')
		return mr_err_set(err, MR_ENOTFOUND, "archive %s has no commits yet",
			history->path);
	len = strlen(text);
	if (len < MR_HISTORY_ID_SHORT || len > MR_HISTORY_ID_BYTES - 1 ||
		git.oid_fromstrn(&oid, text, len) < 0)
		return mr_err_set(err, MR_EINVAL,
			"\"%s\" is no commit id: %d to %d hex digits are needed", text,
			MR_HISTORY_ID_SHORT, MR_HISTORY_ID_BYTES - 1);
	rc = len < MR_HISTORY_ID_BYTES - 1 ? git.odb_exists_prefix(&oid, history->odb, &oid, len)
					   : 0;
	if (rc == GIT_EAMBIGUOUS)
		return mr_err_set(err, MR_EINVAL,
			"archive %s has several objects that begin with %s: say more digits",
			history->path, text);
	if (rc == 0)
		rc = git.odb_read_header(&size, &type, history->odb, &oid);
	if (rc == GIT_ENOTFOUND && text != head.hex)
		return mr_err_set(err, MR_ENOTFOUND, "archive %s has no commit %s", history->path,
			text);
	if (rc == 0 && type != GIT_OBJECT_COMMIT && text == head.hex)
		return say_damaged(err, history, "branch main", "it leads to no commit");
	if (rc == 0 && type != GIT_OBJECT_COMMIT)
		return mr_err_set(err, MR_ENOTFOUND, "%s in archive %s is not a commit", text,
			history->path);
	if (rc == 0)
		rc = git.commit_lookup(out, history->repo, &oid);
	return rc < 0 ? fail(err, history, rc, "cannot read a commit") : MR_OK;
}

enum mr_code mr_history_head(struct mr_history *history, struct mr_history_id *out,
	struct mr_err *err)
{
	git_commit *commit MR_CLEANUP(commit_freep) = NULL;
	enum mr_code code = find_commit(history, NULL, &commit, err);

	if (!code)
		*out = id_of(git.commit_id(commit));
	return code;
}

static git_oid oid_of(const struct mr_object_id *id);
/* NULL for no commit. */
static int tree_of(struct mr_history *history, const struct mr_history_id *id, git_tree **out);

/* What stands at `path` in a commit, or NULL for nothing, and for no commit. */
static int find_entry(git_commit *commit, const char *path, git_tree_entry **out)
{
	git_tree *tree MR_CLEANUP(tree_freep) = NULL;
	int rc;

	*out = NULL;
	if (!commit)
		return 0;
	rc = git.commit_tree(&tree, commit);
	if (rc == 0)
		rc = git.tree_entry_bypath(out, tree, path);
	/* An object that is missing is another matter. */
	return rc == GIT_ENOTFOUND && git.error_last()->klass == GIT_ERROR_TREE ? 0 : rc;
}

static int read_blob(struct mr_arena *arena, struct mr_history *history, const git_oid *oid,
	struct mr_bytes *out)
{
	git_odb_object *object MR_CLEANUP(odb_object_freep) = NULL;
	int rc = git.odb_read(&object, history->odb, oid);
	uint8_t *data;
	size_t len;

	if (rc < 0)
		return rc;
	len = git.odb_object_size(object);
	data = mr_arena_alloc(arena, len + 1);
	memcpy(data, git.odb_object_data(object), len);
	*out = mr_bytes_of(data, len);
	return 0;
}

enum mr_code mr_history_read(struct mr_arena *arena, struct mr_history *history, const char *commit,
	const char *path, size_t max, struct mr_bytes *out, struct mr_err *err)
{
	git_commit *found MR_CLEANUP(commit_freep) = NULL;
	git_tree_entry *entry MR_CLEANUP(tree_entry_freep) = NULL;
	git_object_t type;
	size_t size = 0;
	enum mr_code code = mr_history_check_path(path, err);
	int rc;

	if (!code)
		code = find_commit(history, commit, &found, err);
	if (code)
		return code;
	rc = find_entry(found, path, &entry);
	if (rc == 0 && !entry)
		return mr_err_set(err, MR_ENOTFOUND, "archive %s has no %s in commit %s",
			history->path, path, commit ? commit : "HEAD");
	if (rc == 0 && git.tree_entry_type(entry) != GIT_OBJECT_BLOB)
		return mr_err_set(err, MR_EINVAL, "%s in archive %s is a directory", path,
			history->path);
	if (rc == 0)
		rc = git.odb_read_header(&size, &type, history->odb, git.tree_entry_id(entry));
	if (rc == 0 && size > max)
		return mr_err_set(err, MR_ELIMIT, "%s has %zu bytes, more than %zu", path, size,
			max);
	if (rc == 0)
		rc = read_blob(arena, history, git.tree_entry_id(entry), out);
	return rc < 0 ? fail(err, history, rc, "cannot read a file") : MR_OK;
}

struct walking {
	mr_history_visit *visit;
	void *arg;
	struct mr_err *err;
	enum mr_code code;
};

static int walk_one(const char *root, const git_tree_entry *entry, void *arg)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	struct walking *walking = arg;
	struct mr_history_id id;

	if (git.tree_entry_type(entry) != GIT_OBJECT_BLOB)
		return 0;
	arena = mr_arena_new();
	id = id_of(git.tree_entry_id(entry));
	walking->code = walking->visit(walking->arg,
		mr_arena_printf(arena, "%s%s", root, git.tree_entry_name(entry)), &id,
		walking->err);
	return walking->code ? -1 : 0;
}

enum mr_code mr_history_files(struct mr_history *history, mr_history_visit *visit, void *arg,
	struct mr_err *err)
{
	struct walking walking = { visit, arg, err, MR_OK };
	git_tree *tree MR_CLEANUP(tree_freep) = NULL;
	struct mr_history_id head;
	enum mr_code code = mr_history_get_head(history, &head, err);
	int rc;

	if (code || !head.hex[0])
		return code;
	rc = tree_of(history, &head, &tree);
	if (rc == 0)
		rc = git.tree_walk(tree, GIT_TREEWALK_PRE, walk_one, &walking);
	if (walking.code)
		return walking.code;
	return rc < 0 ? fail(err, history, rc, "cannot read its files") : MR_OK;
}

enum mr_code mr_history_blob_size(struct mr_history *history, const struct mr_history_id *id,
	size_t *out, struct mr_err *err)
{
	git_object_t type;
	git_oid oid;
	int rc = git.oid_fromstr(&oid, id->hex);

	if (rc == 0)
		rc = git.odb_read_header(out, &type, history->odb, &oid);
	return rc < 0 ? fail(err, history, rc, "cannot read a file") : MR_OK;
}

enum mr_code mr_history_blob(struct mr_arena *arena, struct mr_history *history,
	const struct mr_history_id *id, size_t max, struct mr_bytes *out, struct mr_err *err)
{
	git_oid oid;
	int rc = git.oid_fromstr(&oid, id->hex);
	struct mr_bytes bytes;

	if (rc == 0)
		rc = read_blob(arena, history, &oid, &bytes);
	if (rc < 0)
		return fail(err, history, rc, "cannot read a file");
	if (bytes.len > max)
		return mr_err_set(err, MR_ELIMIT, "%s has %zu bytes, more than %zu", id->hex,
			bytes.len, max);
	*out = bytes;
	return MR_OK;
}

/* --- what is left of a damaged one --- */

struct tolerant {
	struct mr_history *history;
	mr_history_visit *visit;
	void *arg;
	char path[WALK_PATH_BYTES];
};

/* The directory `id`, whose path of `len` bytes is in `walk->path`. */
static enum mr_code walk_tree(struct tolerant *walk, const git_oid *id, size_t len, unsigned depth,
	struct mr_err *err)
{
	git_tree *tree MR_CLEANUP(tree_freep) = NULL;
	int rc = git.tree_lookup(&tree, walk->history->repo, id);
	enum mr_code code = MR_OK;

	if (rc < 0) {
		struct mr_err why;

		fail(&why, walk->history, rc, "cannot read a directory");
		walk->path[len > 0 ? len - 1 : 0] = '\0';
		return walk->visit(walk->arg, walk->path, NULL, &why);
	}
	for (size_t i = 0; !code && i < git.tree_entrycount(tree); i++) {
		const git_tree_entry *entry = git.tree_entry_byindex(tree, i);
		const char *name = git.tree_entry_name(entry);
		size_t more = strlen(name);
		bool is_dir = git.tree_entry_type(entry) == GIT_OBJECT_TREE;
		struct mr_history_id blob;

		/* Nothing of ours is as long or as deep. */
		if (len + more + 2 > sizeof(walk->path) || (is_dir && depth == 0))
			continue;
		memcpy(walk->path + len, name, more + 1);
		if (is_dir) {
			walk->path[len + more] = '/';
			code = walk_tree(walk, git.tree_entry_id(entry), len + more + 1, depth - 1,
				err);
		} else if (git.tree_entry_type(entry) == GIT_OBJECT_BLOB) {
			blob = id_of(git.tree_entry_id(entry));
			code = walk->visit(walk->arg, walk->path, &blob, err);
		}
	}
	return code;
}

enum mr_code mr_history_files_of(struct mr_history *history, const struct mr_history_id *commit,
	mr_history_visit *visit, void *arg, struct mr_err *err)
{
	struct tolerant walk = { history, visit, arg, "" };
	struct mr_object_id root;
	git_oid oid;
	enum mr_code code = mr_history_load_root(history, commit, &root, err);

	if (code)
		return code;
	oid = oid_of(&root);
	return walk_tree(&walk, &oid, 0, 2 * MR_HISTORY_DEPTH, err);
}

/* A commit that is in the repository, whatever leads to it. */
struct known {
	git_oid id, parent;
	bool has_parent, is_tried;
	git_time_t time;
};

struct knowing {
	struct mr_history *history;
	struct mr_arena *arena;
	struct known *items;
	size_t len, room;
};

static int know_commit(const git_oid *id, void *arg)
{
	struct knowing *knowing = arg;
	git_commit *commit MR_CLEANUP(commit_freep) = NULL;
	git_object_t type;
	struct known *known;
	size_t size;

	if (git.odb_read_header(&size, &type, knowing->history->odb, id) < 0 ||
		type != GIT_OBJECT_COMMIT ||
		git.commit_lookup(&commit, knowing->history->repo, id) < 0)
		return 0;
	if (knowing->len == knowing->room) {
		struct known *grown;

		knowing->room = knowing->room ? 2 * knowing->room : 1024;
		grown = mr_arena_array(knowing->arena, knowing->room, sizeof(*grown));
		if (knowing->len)
			memcpy(grown, knowing->items, knowing->len * sizeof(*grown));
		knowing->items = grown;
	}
	known = &knowing->items[knowing->len++];
	*known = (struct known){ .id = *id, .time = git.commit_time(commit) };
	known->has_parent = git.commit_parentcount(commit) > 0;
	if (known->has_parent)
		known->parent = *git.commit_parent_id(commit, 0);
	return 0;
}

/* The newest that was not tried; of those of one second the one that has no child among them. */
static struct known *newest_known(struct knowing *knowing)
{
	struct known *best = NULL;
	bool moved = true;

	for (size_t i = 0; i < knowing->len; i++) {
		struct known *known = &knowing->items[i];

		if (!known->is_tried && (!best || known->time > best->time))
			best = known;
	}
	while (best && moved) {
		moved = false;
		for (size_t i = 0; !moved && i < knowing->len; i++) {
			struct known *known = &knowing->items[i];

			moved = !known->is_tried && known != best && known->has_parent &&
				known->time >= best->time &&
				git.oid_equal(&known->parent, &best->id);
			if (moved)
				best = known;
		}
	}
	return best;
}

/* Are the commit and its uppermost directory readable? */
static bool is_readable(struct mr_history *history, const struct mr_history_id *id,
	int64_t *out_time_us, struct mr_err *err)
{
	git_commit *commit MR_CLEANUP(commit_freep) = NULL;
	git_tree *tree MR_CLEANUP(tree_freep) = NULL;
	git_oid oid;
	int rc = git.oid_fromstr(&oid, id->hex);

	if (rc == 0)
		rc = git.commit_lookup(&commit, history->repo, &oid);
	if (rc == 0)
		rc = git.commit_tree(&tree, commit);
	if (rc < 0) {
		fail(err, history, rc, "cannot read the newest commit");
		return false;
	}
	*out_time_us = git.commit_time(commit) * INT64_C(1000000);
	return true;
}

enum mr_code mr_history_salvage(struct mr_arena *arena, struct mr_history *history,
	struct mr_history_salvage *out, struct mr_err *err)
{
	struct knowing knowing = { .history = history, .arena = arena };
	struct mr_history_salvage found = { 0 };
	struct mr_err why = { .msg = "branch main has no commit" }, ignored;
	struct known *known = NULL;
	enum mr_code code = mr_history_get_head(history, &found.id, &why);
	int rc;

	if (!code && found.id.hex[0] && is_readable(history, &found.id, &found.time_us, &why)) {
		*out = found;
		return MR_OK;
	}
	if (!history->odb)
		return mr_err_set(err, MR_EFORMAT, "%s", why.msg);
	rc = git.odb_foreach(history->odb, know_commit, &knowing);
	if (rc < 0)
		return fail(err, history, rc, "cannot list its objects");
	/* A new one, to which nothing was written yet. */
	if (!code && !found.id.hex[0] && knowing.len == 0) {
		*out = (struct mr_history_salvage){ 0 };
		return MR_OK;
	}
	found = (struct mr_history_salvage){ .why = mr_arena_strdup(arena, why.msg) };
	while (!found.id.hex[0] && (known = newest_known(&knowing))) {
		struct mr_history_id id = id_of(&known->id);

		known->is_tried = true;
		if (is_readable(history, &id, &found.time_us, &ignored))
			found.id = id;
	}
	*out = found;
	return MR_OK;
}

struct mr_history_id mr_history_blob_id(struct mr_bytes data)
{
	struct mr_object_id id = mr_object_hash(MR_OBJECT_BLOB, data);
	struct mr_history_id hex;

	mr_object_id_hex(&id, hex.hex);
	return hex;
}

/* --- the log --- */

static void fill_entry(struct mr_arena *arena, git_commit *commit, struct mr_history_entry *out)
{
	const git_signature *author = git.commit_author(commit);
	const char *message = mr_history_clean(arena, git.commit_message(commit));
	git_message_trailer_array found MR_CLEANUP(trailers_release) = { 0 };
	struct mr_history_trailer *trailers;
	char *body = mr_arena_strdup(arena, mr_history_clean(arena, git.commit_body(commit)));
	char *last = body;

	*out = (struct mr_history_entry){ .id = id_of(git.commit_id(commit)),
		.subject = mr_history_clean(arena, git.commit_summary(commit)),
		.body = body,
		.author_name = mr_history_clean(arena, author ? author->name : NULL),
		.author_email = mr_history_clean(arena, author ? author->email : NULL),
		.time_us = author ? author->when.time * INT64_C(1000000) : 0 };
	if (git.message_trailers(&found, message) < 0 || found.count == 0)
		return;
	out->trailer_count = found.count < MR_HISTORY_TRAILERS ? found.count : MR_HISTORY_TRAILERS;
	out->trailers = trailers =
		mr_arena_array(arena, out->trailer_count, sizeof(*out->trailers));
	for (size_t i = 0; i < out->trailer_count; i++) {
		trailers[i].key = mr_arena_strdup(arena, found.trailers[i].key);
		trailers[i].value = mr_arena_strdup(arena, found.trailers[i].value);
	}
	/* They are the last paragraph. */
	for (char *at = body; (at = strstr(at, "\n\n")); at++)
		last = at;
	*last = '\0';
}

/* A line of the message that is this trailer. */
static bool has_trailer(git_commit *commit, const struct mr_history_trailer *trailer)
{
	const char *at = git.commit_message(commit);
	size_t key = trailer->key ? strlen(trailer->key) : 0;

	while (key && at && (at = strchr(at, '\n'))) {
		at++;
		if (strncmp(at, trailer->key, key) == 0 && strncmp(at + key, ": ", 2) == 0 &&
			strcspn(at + key + 2, "\n") == strlen(trailer->value) &&
			strncmp(at + key + 2, trailer->value, strlen(trailer->value)) == 0)
			return true;
	}
	return false;
}

/* Did the commit change the path, or does it carry the trailer? */
static int is_wanted(git_commit *commit, git_commit *parent, const struct mr_history_query *query,
	bool *out)
{
	git_tree_entry *before MR_CLEANUP(tree_entry_freep) = NULL;
	git_tree_entry *after MR_CLEANUP(tree_entry_freep) = NULL;
	const char *path = query->path;
	int rc = 0;

	*out = true;
	if (path && has_trailer(commit, &query->trailer))
		return 0;
	if (path)
		rc = find_entry(parent, path, &before);
	if (path && rc == 0)
		rc = find_entry(commit, path, &after);
	if (path && rc == 0)
		*out = before && after ? git.tree_entry_cmp(before, after) != 0 ||
				!git.oid_equal(git.tree_entry_id(before), git.tree_entry_id(after))
				       : before != after;
	return rc;
}

static enum mr_code find_start(struct mr_history *history, const struct mr_history_query *query,
	git_commit **out, struct mr_err *err)
{
	struct mr_history_id head;
	enum mr_code code = MR_OK;

	if (query->limit == 0 || query->limit > MR_HISTORY_LOG_ENTRIES)
		return mr_err_set(err, MR_EINVAL, "a log has 1 to %d entries",
			MR_HISTORY_LOG_ENTRIES);
	if (query->max_scan > MR_HISTORY_LOG_SCAN)
		return mr_err_set(err, MR_EINVAL, "a log looks at no more than %d commits",
			MR_HISTORY_LOG_SCAN);
	if (query->path)
		code = mr_history_check_path(query->path, err);
	if (!code)
		code = mr_history_get_head(history, &head, err);
	if (code || (!query->start && head.hex[0] == '\0'))
		return code;
	return find_commit(history, query->start, out, err);
}

enum mr_code mr_history_log(struct mr_arena *arena, struct mr_history *history,
	const struct mr_history_query *query, struct mr_history_log *out, struct mr_err *err)
{
	size_t scan = query->max_scan ? query->max_scan : DEFAULT_SCAN;
	struct mr_history_log log = { 0 };
	git_commit *commit MR_CLEANUP(commit_freep) = NULL;
	enum mr_code code = find_start(history, query, &commit, err);

	if (code)
		return code;
	log.items = mr_arena_array(arena, query->limit, sizeof(*log.items));
	for (; commit && log.len < query->limit && scan > 0; scan--) {
		git_commit *parent = NULL;
		bool wanted = false;
		int rc = git.commit_parentcount(commit) ? git.commit_parent(&parent, commit, 0) : 0;

		if (rc == 0)
			rc = is_wanted(commit, parent, query, &wanted);
		if (wanted)
			fill_entry(arena, commit, &log.items[log.len++]);
		git.commit_free(commit);
		commit = parent;
		if (rc < 0)
			return fail(err, history, rc, "cannot read a commit");
	}
	if (commit)
		log.next = id_of(git.commit_id(commit));
	*out = log;
	return MR_OK;
}

/* --- from one commit to another --- */

/* NULL for no commit. */
static int tree_of(struct mr_history *history, const struct mr_history_id *id, git_tree **out)
{
	git_commit *commit MR_CLEANUP(commit_freep) = NULL;
	git_oid oid;
	int rc;

	*out = NULL;
	if (id->hex[0] == '\0')
		return 0;
	rc = git.oid_fromstr(&oid, id->hex);
	if (rc == 0)
		rc = git.commit_lookup(&commit, history->repo, &oid);
	return rc == 0 ? git.commit_tree(out, commit) : rc;
}

static bool is_file(uint16_t mode)
{
	return mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE;
}

/* Links and submodules, and paths we would refuse, were committed by a person. */
static enum mr_code tell(struct mr_history *history, const git_diff_delta *delta, bool gone,
	mr_history_differ *differ, void *arg, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *path = gone ? delta->old_file.path : delta->new_file.path;
	struct mr_bytes data;
	struct mr_err ignored;
	int rc;

	if (mr_history_check_path(path, &ignored))
		return MR_OK;
	if (gone)
		return is_file(delta->old_file.mode) && !is_file(delta->new_file.mode)
			? differ(arg, path, NULL, err)
			: MR_OK;
	if (!is_file(delta->new_file.mode))
		return MR_OK;
	rc = read_blob(arena, history, &delta->new_file.id, &data);
	return rc < 0 ? fail(err, history, rc, "cannot read a file")
		      : differ(arg, path, &data, err);
}

static enum mr_code compare(struct mr_history *history, const struct mr_history_id *before,
	const struct mr_history_id *after, git_diff **out, struct mr_err *err)
{
	git_tree *old MR_CLEANUP(tree_freep) = NULL;
	git_tree *new MR_CLEANUP(tree_freep) = NULL;
	int rc;

	if (tree_of(history, before, &old) < 0)
		old = NULL;
	rc = tree_of(history, after, &new);
	if (rc == 0)
		rc = git.diff_tree_to_tree(out, history->repo, old, new, NULL);
	return rc < 0 ? fail(err, history, rc, "cannot compare commits") : MR_OK;
}

enum mr_code mr_history_diff(struct mr_history *history, const struct mr_history_id *before,
	const struct mr_history_id *after, mr_history_differ *differ, void *arg, struct mr_err *err)
{
	git_diff *diff MR_CLEANUP(diff_freep) = NULL;
	enum mr_code code = compare(history, before, after, &diff, err);
	size_t count = code ? 0 : git.diff_num_deltas(diff);

	for (size_t i = 0; !code && i < 2 * count; i++)
		code = tell(history, git.diff_get_delta(diff, i % count), i < count, differ, arg,
			err);
	return code;
}

enum mr_code mr_history_changes(struct mr_arena *arena, struct mr_history *history,
	const char *commit, size_t max, struct mr_history_changes *out, struct mr_err *err)
{
	git_commit *found MR_CLEANUP(commit_freep) = NULL;
	git_diff *diff MR_CLEANUP(diff_freep) = NULL;
	struct mr_history_changes changes = { 0 };
	enum mr_code code = find_commit(history, commit, &found, err);

	if (code)
		return code;
	fill_entry(arena, found, &changes.entry);
	if (git.commit_parentcount(found))
		changes.before = id_of(git.commit_parent_id(found, 0));
	code = compare(history, &changes.before, &changes.entry.id, &diff, err);
	if (code)
		return code;
	changes.total = git.diff_num_deltas(diff);
	changes.items = mr_arena_array(arena, max, sizeof(*changes.items));
	for (; changes.len < changes.total && changes.len < max; changes.len++) {
		const git_diff_delta *delta = git.diff_get_delta(diff, changes.len);
		struct mr_history_change *change = &changes.items[changes.len];

		change->path = mr_history_clean(arena, delta->new_file.path);
		if (is_file(delta->old_file.mode))
			change->before = id_of(&delta->old_file.id);
		if (is_file(delta->new_file.mode))
			change->after = id_of(&delta->new_file.id);
	}
	*out = changes;
	return MR_OK;
}

enum mr_code mr_history_compare(struct mr_bytes before, struct mr_bytes after,
	mr_history_line *visit, void *arg, struct mr_err *err)
{
	git_patch *patch MR_CLEANUP(patch_freep) = NULL;
	enum mr_code code = MR_OK;

	if (git.patch_from_buffers(&patch, before.data, before.len, NULL, after.data, after.len,
		    NULL, NULL) < 0)
		return mr_err_set(err, MR_EFORMAT, "two files cannot be compared: %s",
			git.error_last()->message);
	for (size_t i = 0; !code && i < git.patch_num_hunks(patch); i++) {
		const git_diff_hunk *hunk;
		size_t lines;

		if (git.patch_get_hunk(&hunk, &lines, patch, i) < 0)
			break;
		code = visit(arg, MR_HISTORY_SKIP, hunk->old_start, hunk->new_start,
			(struct mr_bytes){ 0 }, err);
		for (size_t k = 0; !code && k < lines; k++) {
			const git_diff_line *line;

			/* Others say that the last line has no end. */
			if (git.patch_get_line_in_hunk(&line, patch, i, k) == 0 &&
				strchr(" +-", line->origin))
				code = visit(arg, (enum mr_history_line_kind)line->origin,
					line->old_lineno, line->new_lineno,
					mr_bytes_of(line->content, line->content_len), err);
		}
	}
	return code;
}

/* --- for a commit --- */

bool mr_history_hash_blob(struct mr_bytes data, struct mr_object_id *out)
{
	git_oid oid;

	if (git.odb_hash(&oid, data.len ? (const void *)data.data : "", data.len, GIT_OBJECT_BLOB) <
		0)
		return false;
	memcpy(out->bytes, oid.id, sizeof(out->bytes));
	return true;
}

static git_oid oid_of(const struct mr_object_id *id)
{
	git_oid oid;

	memcpy(oid.id, id->bytes, sizeof(oid.id));
	return oid;
}

enum mr_code mr_history_load_tree(struct mr_history *history, struct mr_arena *arena,
	const struct mr_object_id *id, struct mr_bytes *out, struct mr_err *err)
{
	git_odb_object *object MR_CLEANUP(odb_object_freep) = NULL;
	git_oid oid = oid_of(id);
	int rc = git.odb_read(&object, history->odb, &oid);
	size_t len;

	if (rc < 0)
		return fail(err, history, rc, "cannot read a directory");
	if (git.odb_object_type(object) != GIT_OBJECT_TREE)
		return say_damaged(err, history, "a directory", "it is something else");
	len = git.odb_object_size(object);
	*out = mr_bytes_of(mr_arena_memdup(arena, git.odb_object_data(object), len), len);
	return MR_OK;
}

enum mr_code mr_history_load_root(struct mr_history *history, const struct mr_history_id *commit,
	struct mr_object_id *out, struct mr_err *err)
{
	git_commit *found MR_CLEANUP(commit_freep) = NULL;
	git_oid oid;
	int rc = git.oid_fromstr(&oid, commit->hex);

	if (rc == 0)
		rc = git.commit_lookup(&found, history->repo, &oid);
	if (rc < 0)
		return fail(err, history, rc, "cannot read the newest commit");
	memcpy(out->bytes, git.commit_tree_id(found)->id, sizeof(out->bytes));
	return MR_OK;
}

/* --- the index --- */

enum mr_code mr_history_write_index(struct mr_history *history, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	git_index *index MR_CLEANUP(index_freep) = NULL;
	git_tree *tree MR_CLEANUP(tree_freep) = NULL;
	const char *path =
		mr_arena_printf(arena, "%s/.git/mailroom/%s", history->path, MR_HISTORY_INDEX);
	struct mr_history_id head;
	enum mr_code code = mr_history_get_head(history, &head, err);
	int rc;

	if (code)
		return code;
	rc = git.index_open(&index, path);
	/* A broken one is made anew. */
	if (rc < 0) {
		unlinkat(history->own_dir, MR_HISTORY_INDEX, 0);
		rc = git.index_open(&index, path);
	}
	if (rc == 0)
		rc = tree_of(history, &head, &tree);
	if (rc == 0)
		rc = tree ? git.index_read_tree(index, tree) : git.index_clear(index);
	if (rc == 0)
		rc = git.index_write(index);
	return rc < 0 ? fail(err, history, rc, "cannot write its index") : MR_OK;
}
