/* op/place.h - where things are for the people of this machine: the program, a repository, a
 * client's files, the server. */
#pragma once

#include "base/err.h"
#include "op/client.h"

struct mr_settings;

/* "mailroom" when that is found in PATH, else the path of the program that runs. */
const char *mr_place_program(struct mr_arena *arena);
/* The path from "/", without looking at what is there. */
const char *mr_place_absolute(struct mr_arena *arena, const char *path);
/* A directory without links; NULL: the repository around the working directory, or that itself
 * when there is none. MR_ENOTFOUND. */
MR_CHECK enum mr_code mr_place_project(struct mr_arena *arena, const char *path, const char **out,
	struct mr_err *err);
/* The file itself, where links lead; in a project none may lead out of it (MR_EPERM). It need not
 * be there. */
MR_CHECK enum mr_code mr_place_file(struct mr_arena *arena, const char *project,
	const struct mr_client_file *file, const char **out, struct mr_err *err);
/* http://127.0.0.1:8765/mcp, as the settings have it; an address for all is ours. */
const char *mr_place_url(struct mr_arena *arena, const struct mr_settings *settings);
/* The same without the path at its end. */
const char *mr_place_server(struct mr_arena *arena, const struct mr_settings *settings);
/* Does that server ask a client for a token: one on this machine, or one elsewhere? */
bool mr_place_needs_token(const struct mr_settings *settings, bool is_local);
