/*
 * app/client_toml.h - our table in a client's TOML file, between two marked lines. Pure.
 *
 * The file must be TOML before and after (text/toml.h); MR_EFORMAT names the line. Statements
 * outside our marks that define [mcp_servers.mailroom] have our name and are somebody else's. For
 * what `find` and `edit` promise see struct mr_client_file.
 */
#pragma once

#include "app/client.h"

MR_CHECK enum mr_code mr_client_toml_find(struct mr_arena *arena, const struct mr_client *client,
	struct mr_bytes text, struct mr_client_parts *out, struct mr_err *err);
MR_CHECK enum mr_code mr_client_toml_edit(struct mr_arena *arena, const struct mr_client *client,
	const struct mr_client_wish *wish, const struct mr_client_parts *old, struct mr_bytes text,
	struct mr_bytes *out, struct mr_err *err);
MR_CHECK enum mr_code mr_client_toml_look(struct mr_arena *arena, struct mr_bytes text,
	struct mr_client_entry *out, struct mr_err *err);
