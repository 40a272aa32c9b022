/* workspace/refresh_known.c - tells by stamps alone that a whole refresh has nothing to do. */
#include "base/fs.h"
#include "text/json.h"
#include "text/out.h"
#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/index_private.h"
#include "workspace/layout.h"
#include "workspace/refresh_private.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum {
	DEPTH_MAX = 16, /* of directories: deeper ones are nobody's projection */
	RESULT_BYTES = 1 << 16,
};

/* The row of the index that has it, beside the stamps of single files. */
static const char row[] = "*views";
/* What projections are made from, and where they are. */
static const char *const roots[] = { MR_WORK_EVIDENCE, MR_WORK_PUSH, MR_WORK_RECORDS,
	MR_WORK_TRIAGE, MR_WORK_CASES, MR_WORK_ARCHIVE, MR_WORK_CONTACTS, MR_WORK_IDENTITIES,
	MR_WORK_TEMPLATES, "spam", "trash", "deleted", NULL };
static const char *const files[] = { MR_WORK_CONFIG, MR_WORK_SUGGESTIONS, NULL };

/* --- the stamp of everything --- */

/* A sum of hashes: directories give their entries in no particular order. */
struct sum {
	uint64_t hash, count;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ (hash >> 29);
}

static void add(struct sum *sum, int dir, const char *name, const char *path)
{
	uint64_t hash = 0;
	struct stat st;

	for (const char *c = path; *c; c++)
		hash = mix(hash, (unsigned char)*c);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		hash = mix(hash, (uint64_t)st.st_mtim.tv_sec);
		hash = mix(hash, (uint64_t)st.st_mtim.tv_nsec);
		hash = mix(hash, (uint64_t)st.st_size);
		hash = mix(hash, (uint64_t)st.st_ino);
	}
	sum->hash += mix(hash, 1);
	sum->count++;
}

static enum mr_fs_next add_entry(void *arg, const struct mr_fs_entry *entry)
{
	if (entry->type != DT_DIR)
		add(arg, entry->dir, entry->name, entry->path);
	return MR_FS_GO_ON;
}

/* NULL when something cannot be looked at. */
static const char *stamp_of_all(struct mr_ctx *cx, struct mr_work *work)
{
	const struct mr_work_config *config = NULL;
	struct mr_err kept = cx->err;
	struct sum sum = { 0 };
	struct stat program;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	for (size_t i = 0; !rc && roots[i]; i++) {
		sum.hash = mix(sum.hash, i); /* the same names in another directory */
		if (mr_fs_exists(work->dir, roots[i]))
			rc = mr_fs_walk(work->dir, roots[i], DEPTH_MAX, add_entry, &sum, &cx->err);
	}
	for (size_t i = 0; files[i]; i++)
		add(&sum, work->dir, files[i], files[i]);
	if (rc || stat("/proc/self/exe", &program) != 0) {
		cx->err = kept;
		return NULL;
	}
	return mr_arena_printf(cx->arena, "%s.%lld.%lld %d %" PRIu64 " %016" PRIx64, MR_VERSION,
		(long long)program.st_mtim.tv_sec, (long long)program.st_ino,
		config->offset_minutes, sum.count, sum.hash);
}

/* --- what a refresh has found --- */

static int64_t get_int(const struct mr_value *from, const char *key)
{
	const struct mr_value *value = mr_value_get(from, key);

	return value && value->kind == MR_INT ? value->integer : 0;
}

static void put_result(struct mr_out *out, const char *stamp, const struct mr_work_refreshed *from)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "stamp", stamp);
	mr_out_int(out, "active_cases", from->active_cases);
	mr_out_int(out, "archived_cases", from->archived_cases);
	mr_out_int(out, "categories", from->categories);
	mr_out_int(out, "triage", from->triage.count);
	mr_out_int(out, "spam", from->spam.count);
	mr_out_int(out, "trash", from->trash.count);
	mr_out_int(out, "deleted", from->deleted.count);
	mr_out_value(out, "generated", from->generated);
	mr_out_value(out, "template_sources", from->template_sources);
	mr_out_end(out);
}

static void get_result(const struct mr_value *from, struct mr_work_refreshed *out)
{
	*out = (struct mr_work_refreshed){ .active_cases = get_int(from, "active_cases"),
		.archived_cases = get_int(from, "archived_cases"),
		.categories = get_int(from, "categories"),
		.generated = mr_value_get(from, "generated"),
		.template_sources = mr_value_get(from, "template_sources") };
	out->triage.count = get_int(from, "triage");
	out->spam.count = get_int(from, "spam");
	out->trash.count = get_int(from, "trash");
	out->deleted.count = get_int(from, "deleted");
}

/* The document of the last refresh, or NULL. */
static const struct mr_value *load(struct mr_ctx *cx, struct mr_work *work)
{
	struct mr_work_stamps known = { 0 };
	struct mr_err kept = cx->err;
	const struct mr_value *found = NULL;
	const char *text = NULL;

	if (!mr_work_index_stamps(cx, work->index, &known))
		for (size_t i = 0; i < known.len; i++)
			if (mr_str_eq(known.items[i].path, row))
				text = known.items[i].stamp;
	if (text && mr_json_parse(cx->arena, mr_bytes_text(text), NULL, &found, &cx->err))
		found = NULL;
	cx->err = kept;
	return found;
}

bool mr_work_unchanged(struct mr_ctx *cx, struct mr_work *work, struct mr_work_refreshed *out)
{
	const struct mr_value *last = load(cx, work);
	const struct mr_value *stamp = mr_value_get(last, "stamp");
	const char *now = stamp && stamp->kind == MR_TEXT ? stamp_of_all(cx, work) : NULL;

	if (!now || !mr_str_eq(now, stamp->text))
		return false;
	get_result(last, out);
	return true;
}

enum mr_code mr_work_unchanged_note(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_refreshed *result)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const char *stamp = result->failure_count ? NULL : stamp_of_all(cx, work);
	struct mr_out out;
	enum mr_code rc;

	if (!stamp)
		rc = mr_work_index_drop_stamp(cx, work->index, row);
	else {
		mr_buf_init(&buf, RESULT_BYTES);
		mr_out_init_json(&out, &buf, MR_JSON_COMPACT);
		put_result(&out, stamp, result);
		rc = mr_work_index_set_stamp(cx, work->index, row,
			mr_arena_strndup(cx->arena, (const char *)buf.data, buf.len));
	}
	return rc ? mr_work_store_error(cx) : MR_OK;
}
