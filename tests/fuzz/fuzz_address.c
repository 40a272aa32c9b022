/* An accepted address is the text without the white space around it, and its parts make it up. */
#include "text/address.h"

#include "base/str.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *text = mr_arena_strndup(arena, len > 0 ? (const char *)data : "", len);
	size_t text_len = strlen(text);
	struct mr_address address;
	struct mr_address again;
	struct mr_err err;

	if (mr_address_parse(arena, text, &address, &err))
		return 0;
	mr_utf8_strip(&text, &text_len);
	if (!mr_str_eq(address.full, mr_arena_strndup(arena, text, text_len)))
		abort();
	if (!mr_str_eq(address.full,
		    mr_arena_printf(arena, "%s@%s", address.local, address.domain)))
		abort();
	if (strpbrk(address.full, "/\\:*?\"<>| ") || text_len > MR_ADDRESS_BYTES)
		abort();
	if (mr_address_parse(arena, address.full, &again, &err))
		abort();
	return 0;
}
