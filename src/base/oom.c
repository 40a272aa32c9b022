/*
 * base/oom.c - Reports that memory is exhausted in one line on standard error and aborts, without
 * allocating anything.
 */
#include "base/oom.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Decimal digits of `n`, written so that they end before `end`; printf() may allocate. */
static char *put_number(char *end, size_t n)
{
	do {
		*--end = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	return end;
}

void mr_oom(size_t bytes)
{
	static const char what[] = "mailroom: out of memory";
	static const char wanted[] = " bytes wanted)";
	char line[128], digits[32];
	char *end = digits + sizeof(digits), *number = put_number(end, bytes);
	size_t len = sizeof(what) - 1, count = (size_t)(end - number);

	memcpy(line, what, len);
	if (bytes) {
		line[len++] = ' ';
		line[len++] = '(';
		memcpy(line + len, number, count);
		len += count;
		memcpy(line + len, wanted, sizeof(wanted) - 1);
		len += sizeof(wanted) - 1;
	}
	line[len++] = '\n';
	/* One call, so that another thread's line does not get in between. */
	if (write(STDERR_FILENO, line, len) < 0)
		abort();
	abort();
}
