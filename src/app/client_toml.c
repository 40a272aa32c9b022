/*
 * app/client_toml.c - Finds, writes and removes the [mcp_servers.mailroom] table in a client's
 * TOML file without changing any other statement.
 */
#include "app/client_toml.h"

#include "app/client_file.h"
#include "base/buf.h"
#include "text/out.h"
#include "text/toml.h"

#include <string.h>

enum { BLOCK_BYTES = 64 << 10 };

#define SERVERS "mcp_servers"

static const struct mr_client_marks marks = { "# >>> mailroom", "# <<< mailroom" };

static void put_text(struct mr_buf *out, const char *key, const char *text)
{
	mr_buf_printf(out, "%s = ", key);
	mr_buf_put_json(out, text, strlen(text), false);
	mr_buf_putc(out, '\n');
}

static const char *block_of(struct mr_arena *arena, const struct mr_client_wish *wish)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&out, BLOCK_BYTES);
	mr_buf_printf(&out, "%s (written by mailroom connect codex; --undo removes it)\n",
		marks.begin);
	mr_buf_puts(&out, "[" SERVERS "." MR_CLIENT_SERVER "]\n");
	if (wish->url) {
		put_text(&out, "url", wish->url);
		if (wish->with_token)
			put_text(&out, "bearer_token_env_var", MR_CLIENT_TOKEN_ENV);
	} else {
		put_text(&out, "command", wish->command);
		mr_buf_puts(&out, "args = [\"mcp\"]\n");
		if (wish->storage_root)
			put_text(&out, "env.STORAGE_ROOT", wish->storage_root);
	}
	mr_buf_printf(&out, "%s\n", marks.end);
	return mr_arena_strdup(arena, mr_buf_text(&out));
}

/* A document, our block in it, and which statements outside of that have our name. */
struct reading {
	struct mr_toml toml;
	struct mr_bytes block;
	bool *is_named;
	size_t named;
	bool needs_others; /* some of these belong to a table whose head is not among them */
};

static bool has_our_name(const struct mr_toml_statement *s)
{
	return s->path.len >= 2 && mr_str_eq(s->path.items[0], SERVERS) &&
		mr_str_eq(s->path.items[1], MR_CLIENT_SERVER);
}

static enum mr_code read(struct mr_arena *arena, struct mr_bytes text, struct reading *out,
	struct mr_err *err)
{
	struct reading r = { 0 };
	bool is_head_named = false;
	enum mr_code rc = mr_toml_scan(arena, text, &r.toml, err);

	if (!rc)
		rc = mr_client_block_find(text, &marks, &r.block, err);
	if (rc)
		return rc;
	r.is_named = mr_arena_array(arena, r.toml.len + 1, sizeof(*r.is_named));
	for (size_t i = 0; i < r.toml.len; i++) {
		const struct mr_toml_statement *s = &r.toml.items[i];
		const unsigned char *at = text.data + s->start;
		bool is_ours =
			r.block.data && at >= r.block.data && at < r.block.data + r.block.len;

		r.is_named[i] = !is_ours && has_our_name(s);
		r.named += r.is_named[i];
		if (s->kind != MR_TOML_VALUE)
			is_head_named = r.is_named[i];
		else if (r.is_named[i] && !is_head_named)
			r.needs_others = true;
	}
	*out = r;
	return MR_OK;
}

/* The text of the named statements, or all but that; comments between two of them go with them. */
static struct mr_bytes pick(struct mr_arena *arena, struct mr_bytes text, const struct reading *r,
	bool is_named)
{
	struct mr_buf made MR_CLEANUP(mr_buf_release) = { 0 };
	size_t at = 0;

	mr_buf_init(&made, (size_t)2 * MR_CLIENT_FILE_BYTES);
	for (size_t i = 0; i < r->toml.len; i++) {
		size_t start = r->toml.items[i].start;

		if (!r->is_named[i])
			continue;
		while (i + 1 < r->toml.len && r->is_named[i + 1])
			i++;
		if (!is_named)
			mr_buf_add(&made, text.data + at, start - at);
		at = r->toml.items[i].end;
		if (is_named)
			mr_buf_add(&made, text.data + start, at - start);
	}
	if (!is_named)
		mr_buf_add(&made, text.data + at, text.len - at);
	return mr_bytes_of(mr_arena_memdup(arena, mr_buf_text(&made), made.len + 1), made.len);
}

enum mr_code mr_client_toml_find(struct mr_arena *arena, const struct mr_client *client,
	struct mr_bytes text, struct mr_client_parts *out, struct mr_err *err)
{
	struct mr_out tree;
	struct reading r;
	enum mr_code rc = read(arena, text, &r, err);

	(void)client;
	if (rc)
		return rc;
	*out = (struct mr_client_parts){ NULL, r.block };
	if (!r.named)
		return MR_OK;
	mr_out_init_tree(&tree, arena);
	mr_out_map(&tree, NULL);
	mr_out_text(&tree, "text", (const char *)pick(arena, text, &r, true).data);
	mr_out_bool(&tree, "needs_others", r.needs_others);
	mr_out_end(&tree);
	out->named = mr_out_tree(&tree);
	return MR_OK;
}

/* What replaces our block when it is removed: the former entry of our name, or nothing. */
static enum mr_code old_text(struct mr_arena *arena, const struct mr_client_parts *old,
	const char **out, struct mr_err *err)
{
	const struct mr_value *named = old ? old->named : NULL;
	const struct mr_value *needs = mr_value_get(named, "needs_others");

	*out = NULL;
	if (!named)
		return MR_OK;
	if (needs->boolean)
		return mr_err_set(err, MR_ECONFLICT,
			"the entry that --force replaced cannot be put back by itself, because it "
			"was "
			"part of another table: put it back by hand");
	*out = mr_value_get(named, "text")->text;
	if (!mr_str_ends(*out, "\n"))
		*out = mr_arena_printf(arena, "%s\n", *out);
	return MR_OK;
}

/* A table cannot be added to what is no table. */
static enum mr_code check_servers(const struct mr_toml *toml, struct mr_err *err)
{
	for (size_t i = 0; i < toml->len; i++) {
		const struct mr_toml_statement *s = &toml->items[i];

		if (s->path.len == 1 && mr_str_eq(s->path.items[0], SERVERS) &&
			s->kind != MR_TOML_TABLE)
			return mr_err_set(err, MR_ECONFLICT,
				"line %zu: no table can be added to " SERVERS
				" as it is written: make "
				"it [" SERVERS ".NAME] tables",
				s->line);
	}
	return MR_OK;
}

/* Would keys after our block become part of our table? That happens when the block was emptied
 * by hand and keys follow it. */
static bool would_swallow(struct mr_bytes text, const struct reading *r)
{
	size_t end = r->block.data ? (size_t)(r->block.data + r->block.len - text.data) : text.len;

	for (size_t i = 0; i < r->toml.len; i++) {
		if (r->toml.items[i].start >= end)
			return r->toml.items[i].kind == MR_TOML_VALUE && !r->is_named[i];
	}
	return false;
}

enum mr_code mr_client_toml_edit(struct mr_arena *arena, const struct mr_client *client,
	const struct mr_client_wish *wish, const struct mr_client_parts *old, struct mr_bytes text,
	struct mr_bytes *out, struct mr_err *err)
{
	const char *block = wish ? block_of(arena, wish) : NULL;
	struct mr_bytes rest = text;
	struct mr_toml made;
	struct reading r;
	enum mr_code rc = read(arena, text, &r, err);

	(void)client;
	if (!rc && wish)
		rc = check_servers(&r.toml, err);
	if (!rc && !wish && r.block.data && r.needs_others)
		rc = mr_err_set(err, MR_ECONFLICT,
			"keys outside of Mailroom's block belong to its table: move them first");
	if (!rc && !wish)
		rc = old_text(arena, old, &block, err);
	if (rc)
		return rc;
	if (wish && r.named)
		rest = pick(arena, text, &r, false);
	else if (wish ? r.block.len == strlen(block) &&
				memcmp(r.block.data, block, r.block.len) == 0
		      : !r.block.data) {
		*out = text;
		return MR_OK;
	}
	if (block && would_swallow(text, &r))
		rc = mr_client_block_set(arena, rest, &marks, NULL, &rest, err);
	if (!rc)
		rc = mr_client_block_set(arena, rest, &marks, block, out, err);
	/* For example, when the marks are inside a multi-line string. */
	if (!rc && mr_toml_scan(arena, *out, &made, err))
		rc = mr_err_set(err, MR_ECONFLICT,
			"Mailroom's block cannot be changed where it is: see the line \"%s\"",
			marks.begin);
	return rc;
}

/* The text after `key = "` in a block of ours, whose strings hold no escapes but of paths. */
static const char *text_after(struct mr_arena *arena, const char *block, const char *key)
{
	const char *head = mr_arena_printf(arena, "\n%s = \"", key);
	const char *at = strstr(block, head);

	if (!at)
		return NULL;
	at += strlen(head);
	return mr_arena_strndup(arena, at, strcspn(at, "\"\n"));
}

enum mr_code mr_client_toml_look(struct mr_arena *arena, struct mr_bytes text,
	struct mr_client_entry *out, struct mr_err *err)
{
	struct reading r;
	const char *own;
	enum mr_code rc = read(arena, text, &r, err);

	if (rc)
		return rc;
	*out = (struct mr_client_entry){ .is_there = r.named > 0 };
	if (r.block.data) {
		own = mr_arena_strndup(arena, (const char *)r.block.data, r.block.len);
		*out = (struct mr_client_entry){ true, text_after(arena, own, "url"),
			text_after(arena, own, "command"),
			text_after(arena, own, "bearer_token_env_var") != NULL };
	}
	return MR_OK;
}
