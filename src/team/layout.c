/* team/layout.c - Builds the paths of all files and directories in a project's archive. */
#include "team/layout.h"

#include "text/digest.h"
#include "text/time.h"
#include "text/token.h"

#include <ctype.h>
#include <string.h>

enum { SLUG_BYTES = 80, SAFE_THREAD_BYTES = 128, ATTACHMENT_BYTES = 200 };

const char *mr_team_layout_use_lock(struct mr_arena *arena, const char *database)
{
	return mr_arena_printf(arena, "%s.bell", database);
}

const char *mr_team_layout_project(struct mr_arena *arena, const char *root, const char *slug)
{
	return mr_arena_printf(arena, "%s/" MR_TEAM_PROJECTS_DIR "/%s", root, slug);
}

const char *mr_team_layout_message_name(struct mr_arena *arena,
	const struct mr_team_message *message)
{
	return mr_arena_printf(arena, "%s__%s__%lld.md",
		mr_time_format(arena, message->created_ts, MR_TIME_FILE),
		mr_token_file_slug(arena, message->subject, SLUG_BYTES, "message"),
		(long long)message->id);
}

/* "2025/01/<name>" */
static const char *dated(struct mr_arena *arena, const struct mr_team_message *message)
{
	return mr_arena_printf(arena, "%s/%s",
		mr_time_format(arena, message->created_ts, MR_TIME_MONTH_PATH),
		mr_team_layout_message_name(arena, message));
}

const char *mr_team_layout_canonical(struct mr_arena *arena, const struct mr_team_message *message)
{
	return mr_arena_printf(arena, "messages/%s", dated(arena, message));
}

const char *mr_team_layout_inbox(struct mr_arena *arena, const char *agent,
	const struct mr_team_message *message)
{
	return mr_arena_printf(arena, "agents/%s/inbox/%s", agent, dated(arena, message));
}

const char *mr_team_layout_outbox(struct mr_arena *arena, const char *agent,
	const struct mr_team_message *message)
{
	return mr_arena_printf(arena, "agents/%s/outbox/%s", agent, dated(arena, message));
}

const char *mr_team_layout_surface(struct mr_arena *arena, const char *agent, const char *box,
	int64_t created_ts)
{
	return mr_arena_printf(arena, "agents/%s/%s/%s/*.md", agent, box,
		mr_time_format(arena, created_ts, MR_TIME_MONTH_PATH));
}

static bool is_safe_thread(const char *id)
{
	if (!isalnum((unsigned char)id[0]) || strlen(id) > SAFE_THREAD_BYTES || strstr(id, ".."))
		return false;
	/* Nobody can tell a first part from a thread of that name. */
	if (strstr(id, ".part"))
		return false;
	for (const char *at = id; *at; at++) {
		if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
			return false;
	}
	return true;
}

const char *mr_team_layout_digest(struct mr_arena *arena, const char *thread_id, int64_t part)
{
	const char *name = is_safe_thread(thread_id)
		? thread_id
		: mr_arena_printf(arena, "t-%s", mr_digest_sha1(arena, mr_bytes_text(thread_id)));

	return part <= 1
		? mr_arena_printf(arena, "messages/threads/%s.md", name)
		: mr_arena_printf(arena, "messages/threads/%s.part%lld.md", name, (long long)part);
}

const char *mr_team_layout_agent(struct mr_arena *arena, const char *agent)
{
	return mr_arena_printf(arena, "agents/%s", agent);
}

const char *mr_team_layout_profile(struct mr_arena *arena, const char *agent)
{
	return mr_arena_printf(arena, "agents/%s/profile.json", agent);
}

const char *mr_team_layout_deleted(struct mr_arena *arena, const char *agent)
{
	return mr_arena_printf(arena, "agents/%s/deleted.json", agent);
}

const char *mr_team_layout_contacts(struct mr_arena *arena, const char *agent)
{
	return mr_arena_printf(arena, "agents/%s/contacts.json", agent);
}

const char *mr_team_layout_reservation(struct mr_arena *arena, const char *pattern)
{
	return mr_arena_printf(arena, "file_reservations/%s.json",
		mr_digest_sha1(arena, mr_bytes_text(pattern)));
}

const char *mr_team_layout_reservations(struct mr_arena *arena, const char *directory)
{
	return mr_arena_printf(arena, "%s/file_reservations", directory);
}

const char *mr_team_layout_attachment(struct mr_arena *arena, const char *digest, const char *ext)
{
	return mr_arena_printf(arena, "attachments/%.2s/%s.%s", digest, digest, ext);
}

const char *mr_team_layout_original(struct mr_arena *arena, const char *digest, const char *ext)
{
	return mr_arena_printf(arena, "attachments/originals/%.2s/%s.%s", digest, digest, ext);
}

const char *mr_team_layout_manifest(struct mr_arena *arena, const char *digest)
{
	return mr_arena_printf(arena, "attachments/_manifests/%s.json", digest);
}

const char *mr_team_layout_audit(struct mr_arena *arena, const char *digest)
{
	return mr_arena_printf(arena, "attachments/_audit/%s.log", digest);
}

bool mr_team_layout_is_attachment(const char *path)
{
	if (!mr_str_starts(path, "attachments/") || strlen(path) > ATTACHMENT_BYTES)
		return false;
	for (const char *at = path; *at; at++) {
		/* No part is empty or begins with a dot. */
		if (*at == '/' && (at[1] == '/' || at[1] == '.' || at[1] == '\0'))
			return false;
		if (!isalnum((unsigned char)*at) && !strchr("/._", *at))
			return false;
	}
	return true;
}

/* Different names never share a directory, and none leads anywhere else. */
const char *mr_team_layout_slot(struct mr_arena *arena, const char *slot, const char *agent)
{
	const char *name = mr_token_file_slug(arena, slot, SLUG_BYTES, "slot");

	if (!mr_str_eq(name, slot) || *name == '.' || strstr(name, ".."))
		name = mr_arena_printf(arena, "%s-%.12s",
			mr_token_slug(arena, slot, SLUG_BYTES, "slot"),
			mr_digest_sha1(arena, mr_bytes_text(slot)));
	return mr_arena_printf(arena, "build_slots/%s/%s.json", name, agent);
}

bool mr_team_layout_is_name(const char *name)
{
	return name && *name && *name != '.' && !strpbrk(name, "/\\");
}
