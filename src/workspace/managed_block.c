/* workspace/managed_block.c - finds and replaces the managed block of a text. */
#include "workspace/managed_block.h"

#include "base/buf.h"
#include "workspace/error.h"
#include "workspace/frame.h"

#include <ctype.h>
#include <string.h>

const struct mr_work_markers mr_work_gitignore_markers = { "# BEGIN afmail managed",
	"# END afmail managed" };
const struct mr_work_markers mr_work_agents_markers = { "<!-- BEGIN afmail managed -->",
	"<!-- END afmail managed -->" };

/* A block in a text: where its first line begins and where the line after its last does. */
struct block {
	size_t from, to;
	size_t inner_from, inner_to; /* what is between the two lines */
	bool begins, ends;
};

static size_t line_end(struct mr_bytes text, size_t at)
{
	const uint8_t *newline = memchr(text.data + at, '\n', text.len - at);

	return newline ? (size_t)(newline - text.data) + 1 : text.len;
}

static bool is_line(struct mr_bytes text, size_t from, size_t to, const char *want)
{
	while (from < to && isspace(text.data[from]))
		from++;
	while (to > from && isspace(text.data[to - 1]))
		to--;
	return to - from == strlen(want) && memcmp(text.data + from, want, to - from) == 0;
}

static struct block find(const struct mr_work_markers *markers, struct mr_bytes text)
{
	struct block block = { 0 };

	for (size_t at = 0, next; at < text.len; at = next) {
		next = line_end(text, at);
		if (!block.begins && is_line(text, at, next, markers->begin)) {
			block.begins = true;
			block.from = at;
			block.inner_from = next;
		} else if (block.begins && is_line(text, at, next, markers->end)) {
			block.ends = true;
			block.inner_to = at;
			block.to = next;
			break;
		}
	}
	return block;
}

const char *mr_work_block_body(struct mr_arena *arena, const struct mr_work_markers *markers,
	struct mr_bytes file)
{
	struct block block = file.data ? find(markers, file) : (struct block){ 0 };

	if (!block.ends)
		return NULL;
	return mr_arena_strndup(arena, (const char *)file.data + block.inner_from,
		block.inner_to - block.inner_from);
}

/* Does the line at `from` end in CRLF? */
static bool has_crlf(struct mr_bytes text, size_t from)
{
	size_t end = line_end(text, from);

	return end >= 2 && text.data[end - 1] == '\n' && text.data[end - 2] == '\r';
}

static void add_block(struct mr_buf *buf, struct mr_bytes fresh, const struct block *block,
	const char *newline)
{
	for (size_t at = block->from, next; at < block->to; at = next) {
		size_t end;

		next = line_end(fresh, at);
		for (end = next; end > at && strchr("\r\n", fresh.data[end - 1]);)
			end--;
		mr_buf_add(buf, fresh.data + at, end - at);
		mr_buf_puts(buf, newline);
	}
}

static void add_bytes(struct mr_buf *buf, struct mr_bytes text, size_t from, size_t to)
{
	if (to > from)
		mr_buf_add(buf, text.data + from, to - from);
}

static bool ends_with(const struct mr_buf *buf, const char *text)
{
	size_t len = strlen(text);

	return buf->len >= len && memcmp(buf->data + buf->len - len, text, len) == 0;
}

/* The old text, its last line ended, and one empty line. */
static void add_old(struct mr_buf *buf, struct mr_bytes old, const char *newline)
{
	add_bytes(buf, old, 0, old.len);
	if (!buf->len)
		return;
	if (!ends_with(buf, "\n"))
		mr_buf_puts(buf, newline);
	if (!ends_with(buf, "\n\n") && !ends_with(buf, "\n\r\n"))
		mr_buf_puts(buf, newline);
}

static enum mr_code refuse_unended(struct mr_ctx *cx, const char *path,
	const struct mr_work_markers *markers)
{
	return mr_work_refuse(cx, MR_WORK_MANAGED_BLOCK_INVALID,
		"%s has the line \"%s\", but no line \"%s\" after it", path, markers->begin,
		markers->end);
}

enum mr_code mr_work_block_merge(struct mr_ctx *cx, const char *path,
	const struct mr_work_markers *markers, struct mr_bytes old, struct mr_bytes fresh,
	struct mr_bytes *out)
{
	struct block new_block = find(markers, fresh), old_block;
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const char *newline;

	if (!new_block.begins)
		return mr_work_refuse(cx, MR_WORK_MANAGED_BLOCK_MISSING,
			"the template of %s has no line \"%s\"", path, markers->begin);
	if (!new_block.ends)
		return refuse_unended(cx, mr_arena_printf(cx->arena, "the template of %s", path),
			markers);
	if (!old.data) {
		*out = fresh;
		return MR_OK;
	}
	old_block = find(markers, old);
	if (old_block.begins && !old_block.ends)
		return refuse_unended(cx, path, markers);
	/* The block keeps its own; a new one has those of the first line. */
	newline = has_crlf(old, old_block.from) ? "\r\n" : "\n";
	mr_buf_init(&buf, MR_WORK_DOCUMENT_BYTES);
	if (old_block.begins)
		add_bytes(&buf, old, 0, old_block.from);
	else
		add_old(&buf, old, newline);
	add_block(&buf, fresh, &new_block, newline);
	if (old_block.begins)
		add_bytes(&buf, old, old_block.to, old.len);
	if (mr_buf_check(&buf, path, &cx->err))
		return mr_work_store_error(cx);
	*out = mr_bytes_of(mr_arena_memdup(cx->arena, mr_buf_text(&buf), buf.len), buf.len);
	return MR_OK;
}
