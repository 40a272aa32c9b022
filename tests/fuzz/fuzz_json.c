/* tests/fuzz/fuzz_json.c - what is accepted, written in any style, reads back equal. */
#include "text/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(bool good)
{
	if (!good)
		abort();
}

static void check_style(struct mr_arena *arena, const struct mr_value *value, unsigned style)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *back = NULL;
	struct mr_json_writer w;
	struct mr_err err;

	mr_buf_init(&buf, 1 << 20);
	mr_json_init(&w, &buf, style);
	mr_json_value(&w, value);
	must(mr_json_parse(arena, mr_buf_bytes(&buf), NULL, &back, &err) == MR_OK);
	must(mr_value_equal(value, back) && mr_value_equal(back, value));
	for (size_t i = 0; style & MR_JSON_ASCII && i < buf.len; i++)
		must((unsigned char)buf.data[i] < 0x7f);
}

/* Ask every question everywhere: answers agree with what is there, problems have a path. */
static void ask(const struct mr_cursor *at)
{
	static const char *const known[] = { "a", "to", "subject", NULL };
	enum mr_kind kind = at->value->kind;
	struct mr_texts texts;
	const char *text;
	int64_t number;
	size_t count = 0;
	bool yes;

	must(mr_cursor_text(at, &text) == (kind == MR_TEXT));
	must(!mr_cursor_int(at, -9, 9, &number) || (kind == MR_INT && llabs(number) <= 9));
	must(mr_cursor_bool(at, &yes) == (kind == MR_BOOL));
	must(!mr_cursor_choice(at, known, &count) || kind == MR_TEXT);
	must(!mr_cursor_texts(at, &texts) || kind == MR_LIST);
	must(mr_cursor_map(at) == (kind == MR_MAP));
	mr_cursor_only(at, known);
	for (size_t i = 0; kind == MR_MAP && i < at->value->map.len; i++) {
		struct mr_cursor below = mr_cursor_key(at, at->value->map.pairs[i].key);

		must(below.value == &at->value->map.pairs[i].value);
		ask(&below);
	}
	for (size_t i = 0; mr_cursor_list_opt(at, &count) && i < count; i++) {
		struct mr_cursor below = mr_cursor_item(at, i);

		ask(&below);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct mr_json_limits limits = { 4096, 16, 300 };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *value = NULL;
	struct mr_issues issues;
	struct mr_cursor root;
	struct mr_err err;

	if (mr_json_parse(arena, mr_bytes_of(data, len), &limits, &value, &err)) {
		must(!value && *err.msg && (err.code == MR_EFORMAT || err.code == MR_ELIMIT));
		return 0;
	}
	check_style(arena, value, MR_JSON_COMPACT);
	check_style(arena, value, MR_JSON_SPACED | MR_JSON_SORTED);
	check_style(arena, value, MR_JSON_INDENTED | MR_JSON_SORTED | MR_JSON_ASCII);
	mr_issues_init(&issues, arena);
	root = mr_cursor_root(value, &issues);
	ask(&root);
	for (size_t i = 0; i < issues.len; i++)
		must(issues.items[i].path[0] == '$' && *issues.items[i].msg);
	return 0;
}
