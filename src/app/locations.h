/* app/locations.h - where to find the program, the repository, a client's files and the server
 * on this machine. */
#pragma once

#include "app/client.h"
#include "base/err.h"

struct mr_settings;

/* "mailroom" when that is found in PATH, else the path of the program that runs. */
const char *mr_locations_program(struct mr_arena *arena);
/* The file of the program that runs, from "/". */
const char *mr_locations_program_file(struct mr_arena *arena);
/* Where PATH finds this program; NULL: nowhere. */
const char *mr_locations_in_path(struct mr_arena *arena, const char *program);
/* The path from "/", without looking at what is there. */
const char *mr_locations_absolute(struct mr_arena *arena, const char *path);
/* A directory without links; NULL: the repository around the working directory, or that itself
 * when there is none. MR_ENOTFOUND. */
MR_CHECK enum mr_code mr_locations_project(struct mr_arena *arena, const char *path,
	const char **out, struct mr_err *err);
/* The file itself, where links lead; in a project none may lead out of it (MR_EPERM). It need not
 * be there. */
MR_CHECK enum mr_code mr_locations_file(struct mr_arena *arena, const char *project,
	const struct mr_client_file *file, const char **out, struct mr_err *err);
/* The user's own directory for what the program must remember: $XDG_STATE_HOME/mailroom, or that in
 * ~/.local/state. MR_ENOTFOUND without HOME. It need not be there. */
MR_CHECK enum mr_code mr_locations_state(struct mr_arena *arena, const char **out,
	struct mr_err *err);
/* http://127.0.0.1:8765/mcp, from the settings; for a wildcard address, the loopback address. */
const char *mr_locations_url(struct mr_arena *arena, const struct mr_settings *settings);
/* The same without the path at its end. */
const char *mr_locations_server(struct mr_arena *arena, const struct mr_settings *settings);

/* --- locations_socket.c --- */

/* What the place of the socket depends on; passed in, so that tests need no real user. */
struct mr_locations_user {
	const char *runtime_dir; /* XDG_RUNTIME_DIR, or NULL */
	const char *state_home;  /* XDG_STATE_HOME, or NULL */
	const char *home;        /* HOME, or NULL */
	const char *run_user;    /* /run/user */
	unsigned uid;
};
/* The directory of the user's sockets: mailroom in the first of XDG_RUNTIME_DIR and /run/user/UID
 * that belongs to the user, else in the state directory. NULL: there is no such place. */
const char *mr_locations_socket_directory(struct mr_arena *arena,
	const struct mr_locations_user *user);
/*
 * The Unix socket of the server that listens on this TCP port, as http.socket says: "auto" is
 * mailroom-PORT.sock in that directory, so that whoever knows the port of a server of the same
 * user finds its socket. NULL: it is off, or there is no place for it.
 */
const char *mr_locations_socket(struct mr_arena *arena, const struct mr_settings *settings,
	int port);
bool mr_locations_socket_is_auto(const struct mr_settings *settings);
/* The socket of the server at an http URL of this machine's loopback; NULL for any other URL. */
const char *mr_locations_socket_of(struct mr_arena *arena, const struct mr_settings *settings,
	const char *url);

/* Which TCP clients a server with these settings accepts without a credential. */
enum mr_locations_trust {
	MR_LOCATIONS_TRUSTS_NOBODY,
	MR_LOCATIONS_TRUSTS_LOCAL,   /* loopback is the administrator */
	MR_LOCATIONS_TRUSTS_AT_RISK, /* the same, set explicitly in spite of a token or of root */
};
/* `is_root`: the server runs as root. Then, and when a token is configured, loopback is trusted
 * only where http.allow_localhost was set explicitly; with JWTs never. */
enum mr_locations_trust mr_locations_trust(const struct mr_settings *settings, bool is_root);
/* Does the server that this user starts require a token of a TCP client: one on this machine, or
 * one elsewhere? */
bool mr_locations_needs_token(const struct mr_settings *settings, bool is_local);
/* Does it require one although none is configured, so that no TCP client is accepted? */
bool mr_locations_is_closed(const struct mr_settings *settings);
