/* tests/fuzz/fuzz_afd.c - any value is written in every format: JSON reads back as the redacted
 * value, YAML as some value, plain output is one line. */
#include "text/afd.h"
#include "text/json.h"
#include "text/yaml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(bool good)
{
	if (!good)
		abort();
}

static const char *written(struct mr_arena *arena, const struct mr_value *value,
	enum mr_afd_format format)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, 1 << 24);
	mr_afd_write(arena, &buf, value, format);
	must(!buf.failed && buf.len > 0 && buf.data[buf.len - 1] == '\n');
	must(!memchr(buf.data, '\0', buf.len));
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

/* Does a map in here have a key that is longer than YAML readers look for its colon? */
static bool has_long_key(const struct mr_value *value)
{
	for (size_t i = 0; value->kind == MR_LIST && i < value->list.len; i++)
		if (has_long_key(&value->list.items[i]))
			return true;
	for (size_t i = 0; value->kind == MR_MAP && i < value->map.len; i++)
		if (strlen(value->map.pairs[i].key) > 100 ||
			has_long_key(&value->map.pairs[i].value))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct mr_json_limits limits = { 8192, 400, 2000 };
	static const struct mr_json_limits any = { 1 << 24, 1000, 1 << 20 };
	static const struct mr_yaml_limits any_yaml = { 1 << 24, 1000, 1 << 20 };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *value = NULL, *clean, *back = NULL;
	const char *text;
	struct mr_err err = { 0 };

	if (mr_json_parse(arena, mr_bytes_of(data, len), &limits, &value, &err))
		return 0;
	clean = mr_afd_redact(arena, value);
	must(mr_value_equal(clean, mr_afd_redact(arena, clean)));

	text = written(arena, value, MR_AFD_JSON);
	must(strchr(text, '\n') == text + strlen(text) - 1);
	must(mr_json_parse(arena, mr_bytes_text(text), &any, &back, &err) == MR_OK);
	must(mr_value_equal(clean, back));

	text = written(arena, value, MR_AFD_PLAIN);
	must(strchr(text, '\n') == text + strlen(text) - 1);

	text = written(arena, value, MR_AFD_YAML);
	must(strncmp(text, "---\n", 4) == 0);
	if (!has_long_key(value))
		must(mr_yaml_parse(arena, mr_bytes_text(text), &any_yaml, &back, &err) == MR_OK);
	return 0;
}
