/*
 * team/project.c - Finds a project by key, slug or last path component, and creates it when asked
 * to.
 */
#include "team/project.h"

#include "base/reach.h"
#include "team/archive/archive_queue.h"
#include "team/error.h"
#include "team/identity.h"
#include "team/limits.h"
#include "team/project_sql.h"
#include "team/repository.h"
#include "text/digest.h"
#include "text/token.h"

#include <ctype.h>
#include <string.h>

/* The text reduced to lower-case words, by which keys and slugs are compared. */
static const char *words_of(struct mr_arena *arena, const char *text)
{
	char *words = mr_str_lower(arena, text);
	size_t len = 0;

	for (const char *at = words; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (c >= 0x80 || isalnum(c))
			words[len++] = *at;
		else if (len > 0 && words[len - 1] != '-')
			words[len++] = '-';
	}
	if (len > 0 && words[len - 1] == '-')
		len--;
	words[len] = '\0';
	return words;
}

static bool is_alike(struct mr_arena *arena, const char *a, const char *b)
{
	return mr_str_eq(words_of(arena, a), words_of(arena, b));
}

static bool is_path(const char *key)
{
	return strchr(key, '/');
}

static bool is_same_key(struct mr_arena *arena, const char *a, const char *b)
{
	return mr_str_eq(mr_team_project_fold(arena, a), mr_team_project_fold(arena, b));
}

static enum mr_code refuse_ambiguous(struct mr_ctx *cx, const char *key,
	const struct mr_team_projects *found)
{
	struct mr_texts keys = { mr_arena_array(cx->arena, found->len + 1, sizeof(*keys.items)),
		0 };

	for (size_t i = 0; i < found->len; i++)
		keys.items[keys.len++] = found->items[i].human_key;
	mr_team_refuse(cx, "project_key",
		"\"%s\" may mean several projects: %s; name one by its path", key,
		mr_str_join(cx->arena, &keys, ", "));
	return mr_team_fail_texts(cx, "candidates", &keys);
}

enum { CANDIDATES_MAX = 20 };

/* The one project whose key ends in this name. */
static enum mr_code by_last_name(struct mr_ctx *cx, struct mr_db *db, const char *key,
	const char *slug, bool *found, struct mr_team_project *out)
{
	struct mr_team_projects rows, fitting = { NULL, 0 };
	enum mr_code rc = mr_team_project_by_tail(cx, db, slug, CANDIDATES_MAX, &rows);

	if (rc)
		return rc;
	fitting.items = mr_arena_array(cx->arena, rows.len, sizeof(*fitting.items));
	for (size_t i = 0; i < rows.len; i++) {
		const char *fold = mr_team_project_fold(cx->arena, rows.items[i].human_key);
		const char *slash = strrchr(fold, '/');

		if (is_alike(cx->arena, key, slash ? slash + 1 : fold))
			fitting.items[fitting.len++] = rows.items[i];
	}
	if (fitting.len > 1)
		return refuse_ambiguous(cx, key, &fitting);
	*found = fitting.len == 1;
	if (*found)
		*out = fitting.items[0];
	return MR_OK;
}

/* The project of the repository around a directory. */
static enum mr_code by_repository(struct mr_ctx *cx, struct mr_db *db, const char *key, bool *found,
	struct mr_team_project *out)
{
	const char *there = *key == '/' ? mr_reach_seen(cx, key) : NULL;
	struct mr_team_repository repository;

	if (!there || !mr_team_repository_around(cx, there, &repository))
		return MR_OK;
	return mr_team_project_by_key(cx, db, repository.root, found, out);
}

/* Key, slug, slug of what was given, repository or last name; `*found` says whether there is one.
 */
static enum mr_code seek(struct mr_ctx *cx, struct mr_db *db, const char *key, bool *found,
	struct mr_team_project *out)
{
	struct mr_team_project row;
	const char *slug;
	enum mr_code rc = mr_team_project_by_key(cx, db, key, found, out);

	if (rc || *found)
		return rc;
	rc = mr_team_project_by_slug(cx, db, key, found, out);
	slug = mr_token_slug(cx->arena, key, MR_TEAM_KEY_BYTES, "");
	if (rc || *found || !*slug)
		return rc;
	rc = mr_team_project_by_slug(cx, db, slug, found, &row);
	if (rc)
		return rc;
	*found = *found &&
		(is_alike(cx->arena, key, row.human_key) || is_alike(cx->arena, key, row.slug));
	if (*found) {
		*out = row;
		return MR_OK;
	}
	return is_path(key) ? by_repository(cx, db, key, found, out)
			    : by_last_name(cx, db, key, slug, found, out);
}

static enum mr_code check_key(struct mr_ctx *cx, const char *key)
{
	size_t len = key ? strlen(key) : 0;

	if (len == 0)
		return mr_team_refuse(cx, "project_key", "the project's key is empty");
	if (len > MR_TEAM_KEY_BYTES)
		return mr_team_refuse(cx, "project_key",
			"the project's key is %zu bytes long; at most %d are possible", len,
			MR_TEAM_KEY_BYTES);
	for (const char *at = key; *at; at++) {
		if (iscntrl((unsigned char)*at))
			return mr_team_refuse(cx, "project_key",
				"the project's key holds a control character (0x%02x)",
				(unsigned char)*at);
	}
	return MR_OK;
}

static bool is_relative(const char *key)
{
	return mr_str_eq(key, ".") || mr_str_eq(key, "..") || mr_str_starts(key, "./") ||
		mr_str_starts(key, "../");
}

enum mr_code mr_team_project_plan(struct mr_ctx *cx, struct mr_team *team, const char *human_key,
	const char *identity_mode, struct mr_team_project *out)
{
	const char *key = human_key ? mr_str_trim(cx->arena, human_key) : NULL;
	const char *mode = identity_mode ? identity_mode : mr_team_config(team)->identity_mode;
	struct mr_team_identity identity;
	enum mr_code rc = check_key(cx, key);

	if (rc)
		return rc;
	if (is_relative(key))
		return mr_team_refuse(cx, "project_key",
			"\"%s\" is a relative path, which means another place to everyone; "
			"give the absolute path of the repository",
			key);
	rc = mr_team_identity(cx, key, mode, mr_team_config(team)->identity_remote, &identity);
	if (rc)
		return rc;
	*out = (struct mr_team_project){
		.slug = identity.slug,
		.human_key = identity.key,
		.identity_mode = identity.mode,
		.created_at = mr_clock_wall_us(cx->clock),
		.why = is_path(key) ? identity.why : "the name is taken as it was given",
		.given = is_same_key(cx->arena, key, identity.key) ? NULL : key,
	};
	return MR_OK;
}

/* Another key's project may have the slug: then some digits of this key's digest follow it. */
static enum mr_code insert_with_free_slug(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *wanted, struct mr_team_project *out)
{
	static const int digits[] = { 0, 8, 16, 40 };
	const char *fold = mr_team_project_fold(cx->arena, wanted->human_key);
	const char *digest = mr_digest_sha1(cx->arena, mr_bytes_text(fold));
	struct mr_team_project row = *wanted, other;
	bool found = true;

	for (size_t i = 0; found && i < MR_LEN(digits); i++) {
		enum mr_code rc;

		if (digits[i] > 0)
			row.slug = mr_arena_printf(cx->arena, "%.*s-%.*s",
				MR_TEAM_KEY_BYTES - 1 - digits[i], wanted->slug, digits[i], digest);
		rc = mr_team_project_by_slug(cx, db, row.slug, &found, &other);
		if (rc)
			return rc;
	}
	return mr_team_project_insert(cx, db, &row, out);
}

/* Create the project, and queue the file that begins its archive. */
static enum mr_code make(struct mr_ctx *cx, struct mr_db *db, const struct mr_team_project *wanted,
	struct mr_team_project *out)
{
	enum mr_code rc = insert_with_free_slug(cx, db, wanted, out);

	if (rc)
		return rc;
	return mr_team_archive_queue(cx, db,
		&(struct mr_team_archive_item){
			.project_id = out->id,
			.kind = MR_TEAM_ARCHIVE_PROJECT,
			.ref = out->id,
			.subject = "chore: initialize archive",
		});
}

/* Two checkouts of one repository have the same slug. */
static enum mr_code by_git_slug(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *wanted, bool *found, struct mr_team_project *out)
{
	struct mr_team_project row;
	enum mr_code rc;

	if (mr_str_eq(wanted->identity_mode, MR_TEAM_IDENTITY_DIR))
		return MR_OK;
	rc = mr_team_project_by_slug(cx, db, wanted->slug, found, &row);
	if (rc)
		return rc;
	*found = *found && mr_str_eq(row.identity_mode, wanted->identity_mode);
	if (*found)
		*out = row;
	return MR_OK;
}

/* The project this plan means, if it is there. `*other_key`: the path that was given does not lead
 * to it yet. */
static enum mr_code seek_planned(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *wanted, bool *found, bool *other_key,
	struct mr_team_project *out)
{
	const char *given = wanted->given ? wanted->given : wanted->human_key;
	enum mr_code rc;

	*other_key = false;
	if (!is_path(given))
		return seek(cx, db, given, found, out);
	rc = mr_team_project_by_key(cx, db, given, found, out);
	if (rc || *found)
		return rc;
	if (wanted->given)
		rc = mr_team_project_by_key(cx, db, wanted->human_key, found, out);
	else
		rc = by_git_slug(cx, db, wanted, found, out);
	*other_key = *found;
	return rc;
}

/* Say how the project was chosen; projects made before there was another rule keep their paths. */
static void explain(struct mr_ctx *cx, const struct mr_team_project *wanted,
	struct mr_team_project *row)
{
	row->why = wanted->why;
	row->given = wanted->given;
	if (wanted->given && is_same_key(cx->arena, wanted->given, row->human_key))
		row->why = mr_arena_printf(cx->arena,
			"a project of exactly this path was there already, and stays; %s",
			wanted->why);
}

enum mr_code mr_team_project_ensure_in(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *wanted, struct mr_team_project *out)
{
	bool found = false, other_key = false;
	struct mr_team_project row;
	enum mr_code rc = seek_planned(cx, db, wanted, &found, &other_key, &row);

	if (!rc && !found)
		rc = make(cx, db, wanted, &row);
	if (!rc && (other_key || (!found && wanted->given)))
		rc = mr_team_project_add_key(cx, db, row.id,
			wanted->given ? wanted->given : wanted->human_key);
	if (rc)
		return rc;
	explain(cx, wanted, &row);
	*out = row;
	return MR_OK;
}

struct ensuring {
	const struct mr_team_project *wanted;
	struct mr_team_project *out;
};

static enum mr_code ensure_change(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct ensuring *ensuring = arg;

	return mr_team_project_ensure_in(cx, db, ensuring->wanted, ensuring->out);
}

/* Look it up with a reader first: it usually exists, and nothing need be written. */
static enum mr_code look_first(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *wanted, bool *found, struct mr_team_project *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	bool other_key = false;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = seek_planned(cx, reader.db, wanted, found, &other_key, out);
	*found = *found && !other_key;
	if (!rc && *found)
		explain(cx, wanted, out);
	return rc;
}

enum mr_code mr_team_project_ensure(struct mr_ctx *cx, struct mr_team *team, const char *human_key,
	const char *identity_mode, struct mr_team_project *out)
{
	struct mr_team_project wanted, row;
	struct ensuring ensuring = { &wanted, &row };
	bool found = false;
	enum mr_code rc = mr_team_project_plan(cx, team, human_key, identity_mode, &wanted);

	if (!rc)
		rc = look_first(cx, team, &wanted, &found, &row);
	if (!rc && !found)
		rc = mr_team_write(cx, team, ensure_change, NULL, &ensuring);
	if (!rc)
		*out = row;
	return rc;
}

static enum mr_code fail_not_found(struct mr_ctx *cx, struct mr_db *db, const char *key)
{
	struct mr_texts words, near;
	const char *slug = mr_token_slug(cx->arena, key, MR_TEAM_KEY_BYTES, "");
	enum mr_code rc = mr_team_project_words(cx, db, &words);

	if (rc)
		return rc;
	near = mr_team_nearest(cx->arena, slug, &words);
	mr_team_fail(cx, MR_TEAM_NOT_FOUND,
		"there is no project \"%s\"%s%s%s; `mailroom team projects` lists those there are, "
		"and ensure_project makes one",
		key,
		is_relative(key)   ? " (a relative path: give the absolute one)"
			: near.len ? " (did you mean "
				   : "",
		near.len && !is_relative(key) ? near.items[0] : "",
		near.len && !is_relative(key) ? "?)" : "");
	return mr_team_fail_texts(cx, "suggestions", &near);
}

enum mr_code mr_team_project_find(struct mr_ctx *cx, struct mr_db *db, const char *key,
	struct mr_team_project *out)
{
	bool found = false;
	const char *asked = key ? mr_str_trim(cx->arena, key) : NULL;
	enum mr_code rc = check_key(cx, asked);

	if (!rc)
		rc = seek(cx, db, asked, &found, out);
	if (!rc && !found)
		rc = fail_not_found(cx, db, asked);
	return rc;
}
