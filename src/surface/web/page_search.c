/* surface/web/page_search.c - page: search in all mail, with its filters as chips. */
#include "base/str.h"
#include "op/nouns.h"
#include "surface/web/pages.h"

#include <ctype.h>
#include <string.h>

enum { WORDS_MAX = 256 };

/* Where a word of the query ends: blanks part words, but not between quotes. */
static size_t word_len(const char *at)
{
	bool quoted = false;
	size_t len = 0;

	for (; at[len] && (quoted || !isspace((unsigned char)at[len])); len++)
		quoted ^= at[len] == '"';
	return len;
}

static struct mr_texts words_of(struct mr_arena *arena, const char *query)
{
	struct mr_texts words = { mr_arena_array(arena, WORDS_MAX, sizeof(*words.items)), 0 };

	while (words.len < WORDS_MAX) {
		size_t len;

		query += strspn(query, " \t\n\r\f\v");
		len = word_len(query);
		if (len == 0)
			break;
		words.items[words.len++] = mr_arena_strndup(arena, query, len);
		query += len;
	}
	return words;
}

/* Does the search know it as a filter? (team/search_query.h; the template's hint has all.) */
static bool is_filter(const char *word)
{
	static const char *const keys[] = { "from:", "to:", "thread:", "importance:", "since:",
		"until:", "has:", "is:", "ack:" };

	word += *word == '-';
	for (size_t i = 0; i < MR_LEN(keys); i++) {
		if (mr_str_starts(word, keys[i]) && word[strlen(keys[i])])
			return true;
	}
	return false;
}

static const char *without(struct mr_arena *arena, const struct mr_texts *words, size_t at)
{
	struct mr_texts others = { mr_arena_array(arena, words->len, sizeof(*others.items)), 0 };

	for (size_t i = 0; i < words->len; i++) {
		if (i != at)
			others.items[others.len++] = words->items[i];
	}
	return mr_str_join(arena, &others, " ");
}

/* Each filter of the query, and the query without it. */
static void put_chips(struct mr_web_view *view, const char *query)
{
	struct mr_arena *arena = view->req->arena;
	struct mr_texts words = words_of(arena, query);

	mr_out_list(&view->out, "chips");
	for (size_t i = 0; i < words.len; i++) {
		if (!is_filter(words.items[i]))
			continue;
		mr_out_map(&view->out, NULL);
		mr_out_text(&view->out, "text", words.items[i]);
		mr_out_text(&view->out, "without", without(arena, &words, i));
		mr_out_end(&view->out);
	}
	mr_out_end(&view->out);
}

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

static size_t int_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_INT && value->integer > 0 ? (size_t)value->integer : 0;
}

static void put_piece(struct mr_web_view *view, const char *text, size_t start, size_t end,
	bool is_hit)
{
	if (start >= end)
		return;
	mr_out_map(&view->out, NULL);
	mr_out_text(&view->out, "text",
		mr_arena_strndup(view->req->arena, text + start, end - start));
	mr_out_bool(&view->out, "is_hit", is_hit);
	mr_out_end(&view->out);
}

/* The snippet, taken apart where the hits are. */
static void put_pieces(struct mr_web_view *view, const struct mr_value *hit)
{
	const struct mr_value *spans = mr_value_get(hit, "offsets");
	const char *text = text_of(hit, "snippet");
	size_t len = strlen(text), at = 0;

	mr_out_list(&view->out, "pieces");
	for (size_t i = 0; spans && i < spans->list.len; i++) {
		size_t start = int_of(&spans->list.items[i], "start");
		size_t end = int_of(&spans->list.items[i], "end");

		if (start < at || end > len)
			continue;
		put_piece(view, text, at, start, false);
		put_piece(view, text, start, end, true);
		at = end;
	}
	put_piece(view, text, at, len, false);
	mr_out_end(&view->out);
}

/* The name of a project for people. */
static const char *name_of(const struct mr_value *projects, const char *slug)
{
	const struct mr_value *list = mr_value_get(projects, "result");

	for (size_t i = 0; i < list->list.len; i++) {
		if (strcmp(text_of(&list->list.items[i], "slug"), slug) == 0)
			return text_of(&list->list.items[i], "short_name");
	}
	return slug;
}

static void put_hits(struct mr_web_view *view, const struct mr_value *projects,
	const struct mr_value *found)
{
	const struct mr_value *hits = mr_value_get(found, "result");
	const struct mr_value *next = mr_value_get(found, "next_cursor");

	mr_out_list(&view->out, "hits");
	for (size_t i = 0; i < hits->list.len; i++) {
		const struct mr_value *hit = &hits->list.items[i];

		mr_out_map(&view->out, NULL);
		for (size_t k = 0; k < hit->map.len; k++)
			mr_out_value(&view->out, hit->map.pairs[k].key, &hit->map.pairs[k].value);
		mr_out_text(&view->out, "project_name", name_of(projects, text_of(hit, "project")));
		put_pieces(view, hit);
		mr_out_end(&view->out);
	}
	mr_out_end(&view->out);
	if (next)
		mr_out_value(&view->out, "next_cursor", next);
	mr_out_text(&view->out, "mode", text_of(found, "mode"));
}

static enum mr_code show_hits(struct mr_web_view *view)
{
	const char *query = mr_web_value(view, "query");
	const struct mr_value *projects, *found;
	enum mr_code rc =
		mr_web_run(view, &mr_op_team_list_projects, "limit=200&cursor=0", &projects);

	if (rc)
		return rc;
	mr_out_value(&view->out, "projects", projects);
	if (!query)
		return MR_OK;
	put_chips(view, query);
	rc = mr_web_run(view, &mr_op_team_search_all, "limit=50", &found);
	if (!rc)
		put_hits(view, projects, found);
	if (rc != MR_EINVAL)
		return rc;
	mr_out_text(&view->out, "query_error", view->err.msg);
	return MR_OK;
}

const struct mr_web_page mr_web_page_search = {
	.pattern = "/mail/search",
	.template = "search.html",
	.nav = "search",
	.fill = show_hits,
};
