/* data/history_text.c - validates paths, and builds commit messages with trailers. */
#include "base/buf.h"
#include "base/utf8.h"
#include "data/history_private.h"

#include <string.h>

/* Some file systems do not see these, and would take ".g<U+200C>it" for ".git". */
static bool is_invisible(uint32_t c)
{
	return (c >= 0x200c && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
		(c >= 0x206a && c <= 0x206f) || c == 0xfeff;
}

/*
 * Does any file system take this name for one that is special to git? Some ignore case, or drop
 * blanks and dots at the end, or what follows a colon. `git fsck` complains about all of them.
 */
static bool is_gits_own(const char *name, size_t len)
{
	static const char *const words[] = { ".git", "git~1", ".gitmodules" };
	char seen[16];
	size_t used = 0, at = 0;

	while (at < len && name[at] != ':') {
		uint32_t c = 0;
		size_t size = mr_utf8_next(name + at, len - at, &c);

		at += size ? size : 1;
		if (is_invisible(c))
			continue;
		/* Blanks and dots past the room may end the name, anything else makes it another.
		 */
		if (used == sizeof(seen) - 1) {
			if (c != ' ' && c != '.')
				return false;
			continue;
		}
		seen[used++] = (char)(c < 0x80 ? c : '?');
	}
	while (used > 0 && (seen[used - 1] == ' ' || seen[used - 1] == '.'))
		used--;
	seen[used] = '\0';
	for (size_t i = 0; i < MR_LEN(words); i++) {
		if (mr_str_eq_nocase(seen, words[i]))
			return true;
	}
	return false;
}

static enum mr_code check_name(const char *path, const char *name, size_t len, struct mr_err *err)
{
	if (len == 0)
		return mr_err_set(err, MR_EINVAL,
			"\"%s\": a path has no empty parts, and no '/' at its ends", path);
	if (len > MR_HISTORY_NAME_BYTES)
		return mr_err_set(err, MR_EINVAL, "a part of the path is longer than %d bytes",
			MR_HISTORY_NAME_BYTES);
	if ((len == 1 && name[0] == '.') || (len == 2 && name[0] == '.' && name[1] == '.'))
		return mr_err_set(err, MR_EINVAL, "\"%s\": \"%.*s\" is not allowed in a path", path,
			(int)len, name);
	if (is_gits_own(name, len))
		return mr_err_set(err, MR_EINVAL, "\"%s\": the name \"%.*s\" belongs to git", path,
			(int)len, name);
	return MR_OK;
}

enum mr_code mr_history_check_path(const char *path, struct mr_err *err)
{
	size_t len = strlen(path), depth = 0;

	if (len > MR_HISTORY_PATH_BYTES)
		return mr_err_set(err, MR_EINVAL, "a path is longer than %d bytes",
			MR_HISTORY_PATH_BYTES);
	if (!mr_utf8_is_valid(path, len, NULL))
		return mr_err_set(err, MR_EINVAL, "a path is not UTF-8");
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)path[i];

		if (c < 0x20 || c == 0x7f || c == '\\')
			return mr_err_set(err, MR_EINVAL,
				"a path has a control character or backslash at byte %zu", i);
	}
	for (const char *at = path;;) {
		size_t part = strcspn(at, "/");
		enum mr_code rc = check_name(path, at, part, err);

		if (rc)
			return rc;
		if (++depth > MR_HISTORY_DEPTH)
			return mr_err_set(err, MR_EINVAL, "\"%s\" has more than %d parts", path,
				MR_HISTORY_DEPTH);
		if (at[part] == '\0')
			return MR_OK;
		at += part + 1;
	}
}

int mr_history_path_order(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b)
		return 0;
	return (*a == '/' ? 1 : (unsigned char)*a) - (*b == '/' ? 1 : (unsigned char)*b);
}

static bool is_key(const char *key)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789-";

	return *key && key[strspn(key, allowed)] == '\0';
}

static enum mr_code put_trailers(struct mr_buf *out, const struct mr_history_batch *batch,
	struct mr_err *err)
{
	if (batch->trailer_count > MR_HISTORY_TRAILERS)
		return mr_err_set(err, MR_ELIMIT, "a commit has more than %d trailers",
			MR_HISTORY_TRAILERS);
	for (size_t i = 0; i < batch->trailer_count; i++) {
		const struct mr_history_trailer *trailer = &batch->trailers[i];

		if (!is_key(trailer->key))
			return mr_err_set(err, MR_EINVAL,
				"\"%s\" cannot be a trailer's name: letters, digits and '-' only",
				trailer->key);
		if (!mr_utf8_is_valid(trailer->value, strlen(trailer->value), NULL))
			return mr_err_set(err, MR_EINVAL, "trailer %s is not UTF-8", trailer->key);
		mr_buf_printf(out, "%s%s: ", i == 0 ? "\n" : "", trailer->key);
		for (const char *at = trailer->value; *at; at++)
			mr_buf_putc(out, (unsigned char)*at < 0x20 || *at == 0x7f ? ' ' : *at);
		mr_buf_putc(out, '\n');
	}
	return MR_OK;
}

enum mr_code mr_history_message(struct mr_arena *arena, const struct mr_history_batch *batch,
	const char **out, struct mr_err *err)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const char *message = batch->message + strspn(batch->message, " \t\r\n");
	size_t len = strlen(message);
	enum mr_code rc;

	mr_buf_init(&text, MR_HISTORY_MESSAGE_BYTES);
	while (len > 0 && strchr(" \t\r\n", message[len - 1]))
		len--;
	if (len == 0)
		return mr_err_set(err, MR_EINVAL, "a commit needs a message");
	if (!mr_utf8_is_valid(message, len, NULL))
		return mr_err_set(err, MR_EINVAL, "the message is not UTF-8");
	mr_buf_add(&text, message, len);
	mr_buf_putc(&text, '\n');
	rc = put_trailers(&text, batch, err);
	if (!rc)
		rc = mr_buf_check(&text, "the message", err);
	if (!rc)
		*out = mr_arena_strdup(arena, mr_buf_text(&text));
	return rc;
}

const char *mr_history_clean(struct mr_arena *arena, const char *text)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	size_t len = text ? strlen(text) : 0;

	mr_buf_init(&buf, 3 * len);
	for (size_t at = 0; at < len;) {
		uint32_t c = 0xfffd;
		size_t size = mr_utf8_next(text + at, len - at, &c);

		mr_buf_put_utf8(&buf, c);
		at += size ? size : 1;
	}
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

const char *mr_history_trailer(const struct mr_history_entry *entry, const char *key)
{
	for (size_t i = 0; i < entry->trailer_count; i++) {
		if (mr_str_eq_nocase(entry->trailers[i].key, key))
			return entry->trailers[i].value;
	}
	return NULL;
}
