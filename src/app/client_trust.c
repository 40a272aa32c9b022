/*
 * app/client_trust.c - Reads from a client's own files whether it trusts a folder and has approved
 * the server, and from its list of servers whether it reaches ours.
 */
#include "app/client_trust.h"

#include "app/client_file.h"
#include "base/fs.h"

#include <string.h>

/* NULL when it is not there, or no JSON. */
static const struct mr_value *read_json(struct mr_arena *arena, const char *directory,
	const char *name)
{
	const struct mr_value *document = NULL;
	struct mr_bytes text;
	struct mr_err ignored = { 0 };

	if (mr_fs_read(arena, AT_FDCWD, mr_arena_printf(arena, "%s/%s", directory, name),
		    MR_CLIENT_FILE_BYTES, &text, &ignored) ||
		mr_client_json_read(arena, text, &document, &ignored))
		return NULL;
	return document;
}

static bool is_true(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_BOOL && value->boolean;
}

static bool names_us(const struct mr_value *map, const char *key)
{
	const struct mr_value *list = mr_value_get(map, key);

	for (size_t i = 0; list && list->kind == MR_LIST && i < list->list.len; i++) {
		if (list->list.items[i].kind == MR_TEXT &&
			mr_str_eq(list->list.items[i].text, MR_CLIENT_SERVER))
			return true;
	}
	return false;
}

/* A folder is trusted with all below it. */
static bool is_trusted_by_claude(struct mr_arena *arena, const struct mr_value *state,
	const char *project)
{
	const struct mr_value *projects = mr_value_get(state, "projects");
	char *path = mr_arena_strdup(arena, project);
	char *slash;

	do {
		if (is_true(mr_value_get(projects, path), "hasTrustDialogAccepted"))
			return true;
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
	} while (slash && *path);
	return false;
}

static enum mr_client_trust trust_of_claude(struct mr_arena *arena, const char *project,
	const char *home)
{
	const struct mr_value *state = read_json(arena, home, ".claude.json");
	const struct mr_value *here = mr_value_get(mr_value_get(state, "projects"), project);
	const struct mr_value *files[] = { here, read_json(arena, home, ".claude/settings.json"),
		read_json(arena, project, ".claude/settings.json"),
		read_json(arena, project, ".claude/settings.local.json") };
	bool is_approved = false;

	if (!is_trusted_by_claude(arena, state, project))
		return MR_CLIENT_UNTRUSTED;
	for (size_t i = 0; i < MR_LEN(files); i++) {
		if (names_us(files[i], "disabledMcpjsonServers"))
			return MR_CLIENT_UNAPPROVED;
		is_approved = is_approved || names_us(files[i], "enabledMcpjsonServers") ||
			is_true(files[i], "enableAllProjectMcpServers");
	}
	return is_approved ? MR_CLIENT_TRUSTED : MR_CLIENT_UNAPPROVED;
}

static bool is_below(const char *path, const char *directory, size_t len)
{
	return strncmp(path, directory, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* {"/path": "TRUST_FOLDER" | "TRUST_PARENT" | "DO_NOT_TRUST"}: the deepest one that fits counts. */
static enum mr_client_trust trust_of_gemini(struct mr_arena *arena, const char *project,
	const char *home)
{
	const struct mr_value *settings = read_json(arena, home, ".gemini/settings.json");
	const struct mr_value *folders = read_json(arena, home, ".gemini/trustedFolders.json");
	const char *switch_path[] = { "security", "folderTrust", "enabled", NULL };
	const struct mr_value *on = settings ? mr_client_json_at(settings, switch_path) : NULL;
	enum mr_client_trust trust = MR_CLIENT_UNTRUSTED;
	size_t deepest = 0;

	if (on && on->kind == MR_BOOL && !on->boolean)
		return MR_CLIENT_TRUSTED;
	for (size_t i = 0; folders && i < folders->map.len; i++) {
		const char *path = folders->map.pairs[i].key;
		const struct mr_value *word = &folders->map.pairs[i].value;
		size_t len = strlen(path);

		if (word->kind != MR_TEXT)
			continue;
		if (mr_str_eq(word->text, "TRUST_PARENT") && strrchr(path, '/'))
			len = (size_t)(strrchr(path, '/') - path);
		if (len < deepest || !is_below(project, path, len))
			continue;
		deepest = len;
		trust = mr_str_eq(word->text, "DO_NOT_TRUST") ? MR_CLIENT_UNTRUSTED
							      : MR_CLIENT_TRUSTED;
	}
	return trust;
}

enum mr_client_trust mr_client_trust(struct mr_arena *arena, const struct mr_client *client,
	const char *project, const char *home)
{
	if (mr_str_eq(client->name, "claude-code"))
		return trust_of_claude(arena, project, home);
	if (mr_str_eq(client->name, "gemini"))
		return trust_of_gemini(arena, project, home);
	return MR_CLIENT_TRUSTED;
}

/* ---- what the client says ---- */

const char *const mr_client_verdicts[] = { "silent", "listed", "connected", "pending", "disabled",
	"failed", NULL };

/* Without escape sequences. */
static const char *plain(struct mr_arena *arena, const char *text)
{
	char *out = mr_arena_strdup(arena, text);
	size_t len = 0;

	for (; *text; text++) {
		if (*text == '\033' && text[1] == '[') {
			text += 2 + strspn(text + 2, "0123456789;?");
			if (!*text)
				break;
		} else if ((unsigned char)*text >= ' ' || *text == '\n') {
			out[len++] = *text;
		}
	}
	out[len] = '\0';
	return out;
}

/* The words of the clients, the more special ones first: "Disconnected" has "connected" in it. */
static enum mr_client_verdict verdict_of(const char *line)
{
	static const struct {
		const char *word;
		enum mr_client_verdict verdict;
	} words[] = { { "pending", MR_CLIENT_PENDING }, { "needs auth", MR_CLIENT_FAILED },
		{ "disconnected", MR_CLIENT_FAILED }, { "fail", MR_CLIENT_FAILED },
		{ "error", MR_CLIENT_FAILED }, { "disabled", MR_CLIENT_DISABLED },
		{ "rejected", MR_CLIENT_DISABLED }, { "connected", MR_CLIENT_CONNECTED } };

	for (size_t i = 0; i < MR_LEN(words); i++) {
		if (strstr(line, words[i].word))
			return words[i].verdict;
	}
	return MR_CLIENT_LISTED;
}

/* Does the line begin with our name, behind a symbol perhaps? */
static bool is_our_line(const char *line)
{
	const char *at = strstr(line, MR_CLIENT_SERVER);

	for (const char *p = line; at && p < at; p++) {
		if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '/')
			return false;
	}
	return at != NULL;
}

enum mr_client_verdict mr_client_verdict(struct mr_arena *arena, const char *output,
	const char **line)
{
	struct mr_texts lines = mr_str_split(arena, plain(arena, output), '\n');

	*line = NULL;
	for (size_t i = 0; i < lines.len; i++) {
		if (!is_our_line(lines.items[i]))
			continue;
		*line = strstr(lines.items[i], MR_CLIENT_SERVER);
		return verdict_of(mr_str_lower(arena, *line));
	}
	return MR_CLIENT_SILENT;
}
