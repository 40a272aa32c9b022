/* workspace/layout.c - builds the paths of a workspace that depend on an id. */
#include "workspace/layout.h"

#include "workspace/name.h"

#include <string.h>

const char *mr_work_path_eml(struct mr_arena *arena, const char *message_id)
{
	return mr_arena_printf(arena, MR_WORK_EVIDENCE "/%s.eml", message_id);
}

const char *mr_work_path_remote(struct mr_arena *arena, const char *message_id)
{
	return mr_arena_printf(arena, MR_WORK_EVIDENCE "/%s.remote.json", message_id);
}

const char *mr_work_path_files(struct mr_arena *arena, const char *message_id)
{
	return mr_arena_printf(arena, MR_WORK_EVIDENCE "/%s.files", message_id);
}

const char *mr_work_path_record(struct mr_arena *arena, const char *message_id)
{
	return mr_arena_printf(arena, MR_WORK_RECORDS "/%s.json", message_id);
}

const char *mr_work_path_triage(struct mr_arena *arena, const char *message_id)
{
	return mr_arena_printf(arena, MR_WORK_TRIAGE "/%s.md", message_id);
}

const char *mr_work_path_push(struct mr_arena *arena, const char *push_id)
{
	return mr_arena_printf(arena, MR_WORK_PUSH "/%s.json", push_id);
}

const char *mr_work_path_push_eml(struct mr_arena *arena, const char *push_id)
{
	return mr_arena_printf(arena, MR_WORK_PUSH "/%s.eml", push_id);
}

const char *mr_work_path_push_envelope(struct mr_arena *arena, const char *push_id)
{
	return mr_arena_printf(arena, MR_WORK_PUSH "/%s.envelope", push_id);
}

const char *mr_work_path_push_approval(struct mr_arena *arena, const char *push_id)
{
	return mr_arena_printf(arena, MR_WORK_PUSH "/%s.approval", push_id);
}

const char *mr_work_path_identity(struct mr_arena *arena, const char *identity)
{
	return mr_arena_printf(arena, MR_WORK_IDENTITIES "/%s.md", identity);
}

const char *mr_work_dir_name(struct mr_arena *arena, const char *uid, const char *name)
{
	return mr_arena_printf(arena, "%s-%s", uid, mr_work_slug(arena, name));
}

const char *mr_work_join(struct mr_arena *arena, const char *dir, const char *name)
{
	return mr_arena_printf(arena, "%s/%s", dir, name);
}

const char *mr_work_stem(struct mr_arena *arena, const char *name, const char *suffix)
{
	size_t len = strlen(name), end = strlen(suffix);

	if (name[0] == '.' || len <= end || !mr_str_ends(name, suffix))
		return NULL;
	return mr_arena_strndup(arena, name, len - end);
}

bool mr_work_path_is_passing(const char *path)
{
	return mr_str_starts(path, MR_WORK_INDEX) || mr_str_starts(path, MR_WORK_INCOMING "/") ||
		mr_str_eq(path, MR_WORK_LOCK) || mr_str_eq(path, MR_WORK_PROGRESS);
}
