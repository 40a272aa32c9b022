/* text/mime_charset.c - text of any charset as UTF-8. */
#include "text/mime_private.h"

#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <iconv.h>
#include <string.h>
#include <strings.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* Names that mail uses for more than they say, or that the system does not know. NULL is UTF-8. */
static const struct {
	const char *name;
	const char *system;
} aliases[] = {
	{ "utf-8", NULL },
	{ "utf8", NULL },
	{ "us-ascii", NULL },
	{ "ascii", NULL },
	{ "iso-8859-1", "WINDOWS-1252" },
	{ "latin1", "WINDOWS-1252" },
	{ "iso-8859-9", "WINDOWS-1254" },
	{ "iso-8859-8-i", "ISO-8859-8" },
	{ "iso-8859-6-i", "ISO-8859-6" },
	{ "gb2312", "GB18030" },
	{ "gb_2312-80", "GB18030" },
	{ "gbk", "GB18030" },
	{ "x-gbk", "GB18030" },
	{ "big5", "BIG5-HKSCS" },
	{ "ks_c_5601-1987", "CP949" },
	{ "ks_c_5601", "CP949" },
	{ "euc-kr", "CP949" },
	{ "shift_jis", "CP932" },
	{ "x-sjis", "CP932" },
	{ "iso-2022-jp", "ISO-2022-JP-2" },
	{ "utf-16", "UTF-16BE" },
	{ "unicode-1-1-utf-7", "UTF-7" },
	{ "x-unknown", NULL },
};

static void add_utf8(struct mr_buf *buf, struct mr_bytes bytes)
{
	const char *at = (const char *)bytes.data;
	size_t left = bytes.len;

	while (left && !buf->failed) {
		size_t good = left;
		uint32_t scalar;

		if (mr_utf8_is_valid(at, left, &good))
			good = left;
		mr_buf_add(buf, at, good);
		at += good;
		left -= good;
		if (!left)
			break;
		mr_buf_puts(buf, REPLACEMENT);
		/* A sequence that was cut off is one mistake, not one for each of its bytes. */
		do {
			at++;
			left--;
		} while (left && ((unsigned char)*at & 0xc0) == 0x80 &&
			mr_utf8_next(at, left, &scalar) == 0);
	}
}

/* The system's name, or NULL for UTF-8 and for names that could mean anything to iconv_open(). */
static const char *system_name(const char *charset)
{
	size_t len = charset ? strlen(charset) : 0;

	if (len == 0 || len > 40)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)charset[i]) && !strchr("-_.:+", charset[i]))
			return NULL;
	}
	for (size_t i = 0; i < MR_LEN(aliases); i++) {
		if (strcasecmp(charset, aliases[i].name) == 0)
			return aliases[i].system;
	}
	return charset;
}

bool mr_mime_charset_is_known(const char *charset)
{
	const char *name = system_name(charset);
	iconv_t cd;

	if (!name)
		return !charset || strcasecmp(charset, "x-unknown") != 0;
	cd = iconv_open("UTF-8", name);
	if (cd == (iconv_t)-1)
		return false;
	iconv_close(cd);
	return true;
}

static void convert(struct mr_buf *buf, iconv_t cd, struct mr_bytes bytes)
{
	char *in = (char *)(uintptr_t)bytes.data;
	size_t left = bytes.len;

	while (left && !buf->failed) {
		char chunk[4096];
		char *out = chunk;
		size_t room = sizeof(chunk);
		size_t done = iconv(cd, &in, &left, &out, &room);
		int error = done == (size_t)-1 ? errno : 0;

		mr_buf_add(buf, chunk, sizeof(chunk) - room);
		if (error && error != E2BIG) {
			mr_buf_puts(buf, REPLACEMENT);
			if (error != EILSEQ)
				break;
			in++;
			left--;
		}
	}
}

void mr_mime_charset_decode(struct mr_buf *buf, const char *charset, struct mr_bytes bytes)
{
	const char *name = system_name(charset);
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	iconv_t cd;

	if (name && strcasecmp(name, "UTF-16BE") == 0 && bytes.len >= 2 &&
		(memcmp(bytes.data, "\xff\xfe", 2) == 0 || memcmp(bytes.data, "\xfe\xff", 2) == 0))
		name = "UTF-16";
	cd = name ? iconv_open("UTF-8", name) : (iconv_t)-1;
	if (cd == (iconv_t)-1) {
		add_utf8(buf, bytes);
		return;
	}
	/* Not everything that the system converts to UTF-8 is valid in ours. */
	mr_buf_init(&text, buf->max - buf->len);
	convert(&text, cd, bytes);
	iconv_close(cd);
	add_utf8(buf, mr_buf_bytes(&text));
	buf->failed = buf->failed || text.failed;
}
