/* app/unit_file.c - Writes the units of the user service, and knows its own again. */
#include "app/unit_file.h"

#include "text/digest.h"

#include <arpa/inet.h>
#include <string.h>

static const char MARK[] = "# Written by `mailroom service install`; without changes sha256 ";

static const char *marked(struct mr_arena *arena, const char *body)
{
	const struct mr_bytes bytes = { (const uint8_t *)body, strlen(body) };

	return mr_arena_printf(arena, "%s%s\n%s", MARK, mr_digest_sha256(arena, bytes), body);
}

/* As a word of a unit: '%' begins a specifier there. */
static const char *escaped(struct mr_arena *arena, const char *text, const char *special)
{
	char *out = mr_arena_alloc(arena, strlen(text) * 2 + 1);
	char *to = out;

	for (; *text; text++) {
		if (*text == '%' || *text == '$')
			*to++ = *text;
		else if (strchr(special, *text))
			*to++ = '\\';
		*to++ = *text;
	}
	*to = '\0';
	return out;
}

/* As an argument of ExecStart=. */
static const char *quoted(struct mr_arena *arena, const char *text)
{
	return mr_arena_printf(arena, "\"%s\"", escaped(arena, text, "\"\\"));
}

/* A path, where '$' means nothing. */
static const char *path_of(struct mr_arena *arena, const char *path)
{
	char *out = mr_arena_alloc(arena, strlen(path) * 2 + 1);
	char *to = out;

	for (; *path; path++) {
		if (*path == '%')
			*to++ = '%';
		*to++ = *path;
	}
	*to = '\0';
	return out;
}

static const char *socket_line(struct mr_arena *arena, const struct mr_unit_request *request)
{
	size_t len = request->runtime_dir ? strlen(request->runtime_dir) : 0;

	if (!request->socket)
		return "";
	if (len && strncmp(request->socket, request->runtime_dir, len) == 0 &&
		request->socket[len] == '/')
		return mr_arena_printf(arena, "ListenStream=%%t%s\n",
			path_of(arena, request->socket + len));
	return mr_arena_printf(arena, "ListenStream=%s\n", path_of(arena, request->socket));
}

enum mr_code mr_unit_socket(struct mr_arena *arena, const struct mr_unit_request *request,
	const char **out, struct mr_err *err)
{
	const char *host =
		mr_str_eq_nocase(request->host, "localhost") ? "127.0.0.1" : request->host;
	unsigned char address[sizeof(struct in6_addr)];
	bool is_v6 = inet_pton(AF_INET6, host, address) == 1;

	if (!is_v6 && inet_pton(AF_INET, host, address) != 1)
		return mr_err_set(err, MR_EINVAL,
			"a service listens on a numeric address, and http.host is %s: set it to "
			"127.0.0.1",
			host);
	if (!request->port)
		return mr_err_set(err, MR_EINVAL,
			"a service needs a port of its own: set http.port, which is 0");
	*out = marked(arena,
		mr_arena_printf(arena,
			"[Unit]\n"
			"Description=Mailroom's sockets\n"
			"\n"
			"[Socket]\n"
			"ListenStream=%s%s%s:%d\n"
			"%s"
			"SocketMode=0600\n"
			"DirectoryMode=0700\n"
			"\n"
			"[Install]\n"
			"WantedBy=sockets.target\n",
			is_v6 ? "[" : "", host, is_v6 ? "]" : "", request->port,
			socket_line(arena, request)));
	return MR_OK;
}

const char *mr_unit_service(struct mr_arena *arena, const struct mr_unit_request *request)
{
	const char *more = "";

	if (request->config_file)
		more = mr_arena_printf(arena, " --config %s", quoted(arena, request->config_file));
	if (request->env_file)
		more = mr_arena_printf(arena, "%s --env-file %s", more,
			quoted(arena, request->env_file));
	return marked(arena,
		mr_arena_printf(arena,
			"[Unit]\n"
			"Description=Mailroom: mail for AI agents\n"
			"Documentation=man:mailroom(1) man:mailroom-serve(1)\n"
			"Requires=" MR_UNIT_SOCKET "\n"
			"After=" MR_UNIT_SOCKET "\n"
			"\n"
			"[Service]\n"
			"ExecStart=%s serve%s\n"
			"WorkingDirectory=~\n"
			"Restart=on-failure\n",
			quoted(arena, request->program), more));
}

enum mr_unit_state mr_unit_compare(struct mr_arena *arena, const char *there, const char *wanted)
{
	const char *body;

	if (!there)
		return MR_UNIT_MISSING;
	if (mr_str_eq(there, wanted))
		return MR_UNIT_CURRENT;
	if (!mr_str_starts(there, MARK))
		return MR_UNIT_FOREIGN;
	body = strchr(there, '\n');
	if (!body || !mr_str_eq(marked(arena, body + 1), there))
		return MR_UNIT_EDITED;
	return wanted ? MR_UNIT_OUTDATED : MR_UNIT_CURRENT;
}

const char *mr_unit_state_name(enum mr_unit_state state)
{
	static const char *const names[] = { "missing", "installed", "outdated", "edited",
		"foreign" };

	return names[state];
}
