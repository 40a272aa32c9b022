/* app/locations_socket.c - the server's Unix socket, and which TCP clients need no token. */
#include "app/locations.h"
#include "app/settings.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* An absolute path of a directory that belongs to this user. */
static bool is_directory_of(const char *path, unsigned uid)
{
	struct stat st;

	return !mr_str_is_empty(path) && *path == '/' && stat(path, &st) == 0 &&
		S_ISDIR(st.st_mode) && st.st_uid == uid;
}

const char *mr_locations_socket_directory(struct mr_arena *arena,
	const struct mr_locations_user *user)
{
	const char *run = mr_arena_printf(arena, "%s/%u", user->run_user, user->uid);

	/* Under sudo or su the variable may name another user's directory. */
	if (is_directory_of(user->runtime_dir, user->uid))
		return mr_arena_printf(arena, "%s/mailroom", user->runtime_dir);
	if (is_directory_of(run, user->uid))
		return mr_arena_printf(arena, "%s/mailroom", run);
	if (!mr_str_is_empty(user->state_home) && *user->state_home == '/')
		return mr_arena_printf(arena, "%s/mailroom", user->state_home);
	if (!mr_str_is_empty(user->home) && *user->home == '/')
		return mr_arena_printf(arena, "%s/.local/state/mailroom", user->home);
	return NULL;
}

/* "" for a path below ~ without HOME: `serve` has refused that already. */
static const char *socket_setting(const struct mr_settings *settings)
{
	const char *text = "";
	struct mr_err ignored;

	return mr_settings_path(settings, "http.socket", &text, &ignored) ? "" : text;
}

bool mr_locations_socket_is_auto(const struct mr_settings *settings)
{
	return mr_str_eq_nocase(socket_setting(settings), "auto");
}

const char *mr_locations_socket(struct mr_arena *arena, const struct mr_settings *settings,
	int port)
{
	const char *text = socket_setting(settings);
	const struct mr_locations_user user = {
		.runtime_dir = getenv("XDG_RUNTIME_DIR"),
		.state_home = getenv("XDG_STATE_HOME"),
		.home = getenv("HOME"),
		.run_user = "/run/user",
		.uid = geteuid(),
	};
	const char *directory;
	bool is_on;

	if (!*text || (mr_str_to_bool(text, &is_on) && !is_on))
		return NULL;
	if (!mr_locations_socket_is_auto(settings))
		return mr_locations_absolute(arena, text);
	directory = mr_locations_socket_directory(arena, &user);
	return directory ? mr_arena_printf(arena, "%s/mailroom-%d.sock", directory, port) : NULL;
}

/* The port of an http URL whose host is this machine by any of its loopback names; else 0. */
static int loopback_port(struct mr_arena *arena, const char *url)
{
	static const char scheme[] = "http://";
	const char *host, *colon;
	struct in_addr address;
	int64_t port = 80;

	if (strncasecmp(url, scheme, strlen(scheme)) != 0)
		return 0;
	url += strlen(scheme);
	host = mr_arena_strndup(arena, url, strcspn(url, "/?#"));
	colon = strrchr(host, ':');
	if (colon && !strchr(colon, ']')) {
		if (!mr_str_to_int(colon + 1, &port) || port < 1 || port > 65535)
			return 0;
		host = mr_arena_strndup(arena, host, (size_t)(colon - host));
	}
	if (mr_str_eq_nocase(host, "localhost") || mr_str_eq(host, "[::1]"))
		return (int)port;
	if (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127)
		return (int)port;
	return 0;
}

const char *mr_locations_socket_of(struct mr_arena *arena, const struct mr_settings *settings,
	const char *url)
{
	int port = loopback_port(arena, url);

	/* A path in http.socket belongs to the server with these settings only. */
	if (!port ||
		(!mr_locations_socket_is_auto(settings) &&
			port != mr_settings_int(settings, "http.port")))
		return NULL;
	return mr_locations_socket(arena, settings, port);
}

static bool has_token(const struct mr_settings *settings)
{
	return *mr_settings_text(settings, "http.bearer_token") ||
		mr_settings_texts(settings, "http.bearer_tokens")->len > 0;
}

enum mr_locations_trust mr_locations_trust(const struct mr_settings *settings, bool is_root)
{
	bool is_set = !mr_str_eq(mr_settings_source(settings, "http.allow_localhost"), "default");
	bool is_risky = is_root || has_token(settings);

	if (mr_settings_bool(settings, "jwt.enabled") ||
		!mr_settings_bool(settings, "http.allow_localhost") || (is_risky && !is_set))
		return MR_LOCATIONS_TRUSTS_NOBODY;
	return is_risky ? MR_LOCATIONS_TRUSTS_AT_RISK : MR_LOCATIONS_TRUSTS_LOCAL;
}

bool mr_locations_needs_token(const struct mr_settings *settings, bool is_local)
{
	if (mr_settings_bool(settings, "jwt.enabled"))
		return true;
	return is_local ? mr_locations_trust(settings, geteuid() == 0) == MR_LOCATIONS_TRUSTS_NOBODY
			: has_token(settings);
}

bool mr_locations_is_closed(const struct mr_settings *settings)
{
	return mr_locations_needs_token(settings, true) && !has_token(settings) &&
		!mr_settings_bool(settings, "jwt.enabled");
}
