/* Message ids, refs and names of a workspace, as mails and people give them. */
#include "base/utf8.h"
#include "workspace/layout.h"
#include "workspace/name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* One segment of a path that fits into a file name beside a uid, and begins and ends with no dash.
 */
static void check_slug(const char *slug)
{
	size_t len = strlen(slug);

	require(len > 0 && len <= MR_WORK_NAME_BYTES && !strpbrk(slug, "/\\:"));
	require(slug[0] != '-' && slug[len - 1] != '-' && mr_utf8_is_valid(slug, len, NULL));
}

static void check_ref(struct mr_ctx *cx, enum mr_work_kind kind, const char *text)
{
	const char *uid = NULL, *again = NULL, *slug = NULL;

	if (mr_work_ref_uid(cx, kind, text, &uid))
		return;
	/* A uid is a ref of itself, and what its directory is called leads back to it. */
	require(!mr_work_ref_uid(cx, kind, uid, &again) && strcmp(uid, again) == 0);
	require(mr_work_split_name(cx->arena, kind, mr_work_dir_name(cx->arena, uid, text), &again,
		&slug));
	require(strcmp(uid, again) == 0);
	check_slug(slug);
	require(mr_work_uid_number(uid, "20260101") >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena };
	const char *text = mr_arena_strndup(arena, size > 0 ? (const char *)data : "", size);
	const char *normal = mr_work_normal_id(arena, text), *name = NULL;

	check_slug(mr_work_slug(arena, text));
	require(strcmp(mr_work_slug(arena, mr_work_slug(arena, text)), mr_work_slug(arena, text)) ==
		0);
	check_slug(mr_work_draft_slug(arena, text));
	check_ref(&cx, MR_WORK_CASE, text);
	check_ref(&cx, MR_WORK_CATEGORY, text);
	check_ref(&cx, MR_WORK_CONTACT, text);
	if (normal)
		require(!mr_work_check_message_id(&cx, mr_work_message_id(arena, normal, NULL)));
	require(!mr_work_check_message_id(&cx,
		mr_work_location_id(arena, text, INT64_MAX, INT64_MIN, "20260101")));
	if (!mr_work_check_name(&cx, "name", text, &name))
		require(*name && !strpbrk(name, "/\\") && strlen(name) <= MR_WORK_NAME_BYTES);
	if (!mr_work_check_segment(&cx, "group", text))
		require(!strpbrk(text, "/\\") && strcmp(text, "..") != 0);
	(void)!mr_work_check_draft_name(&cx, text);
	require(mr_work_push_again(text) >= INT64_MIN);
	return 0;
}
