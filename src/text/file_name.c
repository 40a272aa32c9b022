/* text/file_name.c - one path segment that every file system takes. */
#include "text/file_name.h"

#include "base/str.h"
#include "base/utf8.h"

#include <string.h>
#include <strings.h>

static bool is_refused(uint32_t scalar)
{
	if (scalar < 0x80 && strchr("/?<>\\:*|\"", (int)scalar))
		return true; /* NUL is the end of that text, and refused as well */
	return scalar < 0x20 || (scalar >= 0x7f && scalar < 0xa0) || scalar == 0x200e ||
		scalar == 0x200f || (scalar >= 0x202a && scalar <= 0x202e) ||
		(scalar >= 0x2066 && scalar <= 0x2069);
}

/* Names that Windows keeps for devices, with or without an extension. */
static bool is_device(const char *name)
{
	static const char *const devices[] = { "con", "prn", "aux", "nul" };
	size_t len = strcspn(name, ".");

	for (size_t i = 0; i < MR_LEN(devices); i++) {
		if (len == 3 && strncasecmp(name, devices[i], 3) == 0)
			return true;
	}
	return len == 4 && name[3] >= '0' && name[3] <= '9' &&
		(strncasecmp(name, "com", 3) == 0 || strncasecmp(name, "lpt", 3) == 0);
}

const char *mr_file_name_safe(struct mr_arena *arena, const char *name, const char *fallback)
{
	size_t left = strlen(name);
	char *out;
	char *to;
	size_t len;

	mr_utf8_strip(&name, &left);
	if (left == 0)
		return fallback;
	out = to = mr_arena_alloc(arena, left + 1);
	while (left) {
		uint32_t scalar = 0;
		size_t step = mr_utf8_next(name, left, &scalar);

		if (step && !is_refused(scalar))
			to = (char *)memcpy(to, name, step) + step;
		else
			*to++ = '_';
		name += step ? step : 1;
		left -= step ? step : 1;
	}
	len = mr_utf8_truncate(out, (size_t)(to - out), MR_FILE_NAME_BYTES);
	out[len] = '\0';
	if (is_device(out) || out[strspn(out, ".")] == '\0')
		return "_";
	/* All dots and spaces at the end are one. */
	for (to = out + len; to > out && (to[-1] == '.' || to[-1] == ' ');)
		to--;
	if (*to) {
		to[0] = '_';
		to[1] = '\0';
	}
	return out;
}
