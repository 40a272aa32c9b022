/* tests/unit/text/test_address.c */
#include "test.h"
#include "text/address.h"

#include <string.h>

#define HEX32 "0123456789abcdef0123456789ABCDEF"

static void accepts(void)
{
	static const struct {
		const char *text;
		const char *full;
		const char *local;
		const char *domain;
	} table[] = {
		{ "fox@agents.localhost", "fox@agents.localhost", "fox", "agents.localhost" },
		{ "  fox@b\n", "fox@b", "fox", "b" },
		{ "\xc2\xa0\xe3\x80\x80"
		  "fox@b"
		  "\xe2\x80\xa8\x1f",
			"fox@b", "fox", "b" },
		{ "a@b", "a@b", "a", "b" },
		{ "A@b", "A@b", "A", "b" },
		{ "a.@b", "a.@b", "a.", "b" },
		{ "a-@b", "a-@b", "a-", "b" },
		{ "a@b.-c", "a@b.-c", "a", "b.-c" },
		{ "a@b--c", "a@b--c", "a", "b--c" },
		{ "1@2", "1@2", "1", "2" },
		{ "a.b_c+d-e@f", "a.b_c+d-e@f", "a.b_c+d-e", "f" },
		{ "HOUMAO-operator@houmao.localhost", "HOUMAO-operator@houmao.localhost",
			"HOUMAO-operator", "houmao.localhost" },
		{ "a@b--" HEX32, "a@b--" HEX32, "a", "b--" HEX32 },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_address got;
		struct mr_err err;

		CHECK_OK(mr_address_parse(arena, table[i].text, &got, &err), err);
		CHECK_STR(got.full, table[i].full);
		CHECK_STR(got.local, table[i].local);
		CHECK_STR(got.domain, table[i].domain);
	}
}

#define FORM "must be full-form email-like values, name@domain "

static void says_what_is_wrong(void)
{
	static const struct {
		const char *text;
		const char *msg;
	} table[] = {
		{ "", "must not be empty" },
		{ " \t\xc2\xa0", "must not be empty" },
		{ "a b@c", "must not contain whitespace (byte 1)" },
		{ " a@b\tc", "must not contain whitespace (byte 4)" },
		{ "a@b\xe3\x80\x80"
		  "c",
			"must not contain whitespace (byte 3)" },
		{ "?? ??", "must not contain whitespace (byte 2)" }, /* before the grammar */
		{ "nobody", FORM "(byte 6)" },
		{ "@b", FORM "(byte 0)" },
		{ "a@", FORM "(byte 2)" },
		{ "_a@b", FORM "(byte 0)" },
		{ "+a@b", FORM "(byte 0)" },
		{ ".a@b", FORM "(byte 0)" },
		{ "a@b_c", FORM "(byte 3)" },
		{ "a@b.", FORM "(byte 3)" },
		{ "a@b-", FORM "(byte 3)" },
		{ "a@-b", FORM "(byte 2)" },
		{ "a@.b", FORM "(byte 2)" },
		{ "a@b@c", FORM "(byte 3)" },
		{ "a/b@c", FORM "(byte 1)" },
		{ "../x@c", FORM "(byte 0)" },
		{ "a@b/../c", FORM "(byte 3)" },
		{ "Fox <fox@b>", "must not contain whitespace (byte 3)" },
		{ "<fox@b>", FORM "(byte 0)" },
		{ "  \xc3\xa9@b", FORM "(byte 2)" },
		{ "a@\xc3\xa9", FORM "(byte 2)" },
		{ "a\xff@b", FORM "(byte 1)" },
		{ "a..b@c", "must not contain empty dot segments (byte 1)" },
		{ "a@b..c", "must not contain empty dot segments (byte 3)" },
		{ " a..@b", "must not contain empty dot segments (byte 2)" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_address out = { "kept", "kept", "kept" };
		struct mr_err err = { 0 };
		enum mr_code rc = mr_address_parse(arena, table[i].text, &out, &err);

		CHECK_STR(rc ? err.msg : table[i].text, table[i].msg);
		CHECK_INT(rc, MR_EINVAL);
		CHECK_STR(out.full, "kept");
		CHECK_STR(out.local, "kept");
		CHECK_STR(out.domain, "kept");
	}
}

static void limits_the_length(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_address out = { "kept", "kept", "kept" };
	struct mr_err err = { 0 };
	char text[MR_ADDRESS_BYTES + 2] = { 0 };

	memset(text, 'a', MR_ADDRESS_BYTES + 1);
	text[MR_ADDRESS_BYTES - 1] = '@';
	CHECK_INT(mr_address_parse(arena, text, &out, &err), MR_ELIMIT);
	CHECK_STR(err.msg, "must not be longer than 221 bytes");
	CHECK_STR(out.full, "kept");
	text[MR_ADDRESS_BYTES] = '\0';
	text[10] = '@';
	text[MR_ADDRESS_BYTES - 1] = 'a';
	CHECK_OK(mr_address_parse(arena, text, &out, &err), err);
	CHECK_INT(strlen(out.full), MR_ADDRESS_BYTES);
}

static void keeps_new_addresses_apart_from_stashes(void)
{
	static const char msg[] =
		"must not end in '--' and 32 hexadecimal digits: mailboxes set aside do";
	static const struct {
		const char *text;
		const char *msg; /* NULL: accepted */
	} table[] = {
		{ "fox@b", NULL },
		{ "fox@b--" HEX32, msg },
		{ "fox@b-" HEX32, NULL },
		{ "fox@b--0" HEX32, NULL },
		{ "fox@b--g123456789abcdef0123456789abcdef", NULL },
		{ "fox@" HEX32, NULL },
		{ "fox@b..c", "must not contain empty dot segments (byte 5)" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_address out = { "kept", "kept", "kept" };
		struct mr_err err = { 0 };
		enum mr_code rc = mr_address_parse_new(arena, table[i].text, &out, &err);

		CHECK_STR(rc ? err.msg : NULL, table[i].msg);
		CHECK_INT(rc, table[i].msg ? MR_EINVAL : MR_OK);
		CHECK_STR(out.full, rc ? "kept" : table[i].text);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(accepts),
		TEST(says_what_is_wrong),
		TEST(limits_the_length),
		TEST(keeps_new_addresses_apart_from_stashes),
	};

	return test_main(tests, MR_LEN(tests));
}
