/* fuzz_yaml.c - what the reader accepts is written and read again equal; so is any string. */
#include "base/utf8.h"
#include "text/yaml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_round_trip(struct mr_arena *arena, const struct mr_value *value)
{
	static const struct mr_yaml_limits roomy = { 64 << 20, 64, 1 << 20 };
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *again;
	struct mr_yaml_writer w;
	struct mr_err err;

	mr_buf_init(&buf, 64 << 20);
	for (int round = 0; round < 2; round++) {
		mr_buf_clear(&buf);
		mr_yaml_init(&w, &buf);
		(round ? mr_yaml_value_double : mr_yaml_value)(&w, value);
		if (mr_yaml_parse(arena, mr_buf_bytes(&buf), &roomy, &again, &err) ||
			!mr_value_equal(value, again))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *value;
	struct mr_err err;

	if (mr_yaml_parse(arena, mr_bytes_of(data, len), NULL, &value, &err) == MR_OK)
		check_round_trip(arena, value);
	if (len && !memchr(data, 0, len) && mr_utf8_is_valid((const char *)data, len, NULL)) {
		char *text = mr_arena_strndup(arena, (const char *)data, len);
		struct mr_pair pair = { text, { .kind = MR_TEXT, .text = text } };

		check_round_trip(arena, &(struct mr_value){ .kind = MR_MAP, .map = { &pair, 1 } });
	}
	return 0;
}
