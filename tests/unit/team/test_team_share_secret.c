/* test_team_share_secret.c - what is a secret, and that it is gone. */
#include "team/share/share_secret.h"

#include "test.h"

#include <string.h>

#define A20 "abcdefghij0123456789"
#define A36 "abcdefghijklmnopqrstuvwxyz0123456789"

static const char *cleaned(struct mr_arena *arena, const struct mr_team_secrets *secrets,
	const char *text)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&out, 4 << 20);
	mr_team_secrets_replace(secrets, mr_bytes_text(text), &out);
	return mr_arena_strdup(arena, mr_buf_text(&out));
}

static void forms(void)
{
	static const struct {
		const char *text, *without;
	} rows[] = {
		{ "", "" },
		{ "ghp_" A36, "[REDACTED]" },
		{ "use ghp_" A36 ", please", "use [REDACTED], please" },
		{ "GHP_" A36 "zz9!", "[REDACTED]!" },
		{ "gho_" A36 " ghs_" A36, "[REDACTED] [REDACTED]" },
		{ "github_pat_11ABCDEFG_" A20, "[REDACTED]" },
		{ "xoxb-1234567890-abc", "[REDACTED]" },
		{ "xoxp-12345", "xoxp-12345" },
		{ "sk-" A20, "[REDACTED]" },
		{ "sk-abcdefghijklmnopqrstuvwxyz", "[REDACTED]" },
		{ "sk-proj-" A20 "_x", "[REDACTED]" },
		{ "https://x/sk-" A20 "/y", "https://x/[REDACTED]/y" },
		{ "glpat-" A20, "[REDACTED]" },
		{ "AKIAIOSFODNN7EXAMPLE", "[REDACTED]" },
		{ "Authorization: Bearer " A20, "Authorization: [REDACTED]" },
		{ "bearer\n" A20 "=", "[REDACTED]" },
		{ "It is Bearer " A20 ".", "It is [REDACTED]." },
		{ "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl", "[REDACTED]" },
		{ "a -----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY----- b",
			"a [REDACTED] b" },
		{ "-----BEGIN PRIVATE KEY-----\nAAAA", "[REDACTED]" },
		/* Not secrets. */
		{ "ghp_short", "ghp_short" },
		{ "sk-short", "sk-short" },
		{ "risk-" A20, "risk-" A20 },
		{ "sk-words-joined-by-many-dashes-only", "sk-words-joined-by-many-dashes-only" },
		{ "AsiaPacificRegionalOfficeBuilding", "AsiaPacificRegionalOfficeBuilding" },
		{ "the bearer of this", "the bearer of this" },
		{ "bearer", "bearer" },
		{ "eyJabcdef.ghijkl", "eyJabcdef.ghijkl" },
		{ "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----" },
		{ "-----", "-----" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_team_secrets *none = mr_team_secrets_new(arena);

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		if (strcmp(cleaned(arena, none, rows[i].text), rows[i].without) != 0)
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].text,
				cleaned(arena, none, rows[i].text));
	}
}

static void what_is_known_goes_everywhere(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_secrets *secrets = mr_team_secrets_new(arena);

	mr_team_secrets_learn(secrets, mr_bytes_text("Authorization: Bearer AbC" A20));
	CHECK_INT(mr_team_secrets_count(secrets), 1);
	CHECK_STR(cleaned(arena, secrets, "token=AbC" A20 "; again xaBc" A20 "x"),
		"token=[REDACTED]; again x[REDACTED]x");
	CHECK(mr_team_secrets_stand_in(secrets, mr_bytes_text("..ABC" A20)));
	CHECK(!mr_team_secrets_stand_in(secrets, mr_bytes_text("..AB" A20)));
	CHECK(!mr_team_secrets_stand_in(secrets, mr_bytes_of(NULL, 0)));
	/* English after "bearer" is replaced there and stays elsewhere. */
	mr_team_secrets_learn(secrets, mr_bytes_text("bearer authentication-scheme"));
	CHECK_INT(mr_team_secrets_count(secrets), 1);
	CHECK_STR(cleaned(arena, secrets, "bearer authentication-scheme, authentication-scheme"),
		"[REDACTED], authentication-scheme");
}

static void many_are_known(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_secrets *secrets = mr_team_secrets_new(arena);

	/* They begin alike, so that all fall into one place of the table. */
	for (int i = 0; i < 500; i++) {
		const char *text = mr_arena_printf(arena, "sk-proj-%06d" A20, i);

		mr_team_secrets_learn(secrets, mr_bytes_text(text));
		mr_team_secrets_learn(secrets, mr_bytes_text(text));
	}
	CHECK_INT(mr_team_secrets_count(secrets), 500);
	CHECK_STR(cleaned(arena, secrets, "xsk-proj-000499" A20), "x[REDACTED]");
	CHECK(!mr_team_secrets_stand_in(secrets, mr_bytes_text("sk-proj-000500" A20)));
}

static void lines_of_a_key(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_secrets *secrets = mr_team_secrets_new(arena);

	mr_team_secrets_learn(secrets,
		mr_bytes_text("-----BEGIN PRIVATE KEY-----\nMII" A36 "\nshort\n"
			      "-----END PRIVATE KEY-----\n"));
	CHECK_INT(mr_team_secrets_count(secrets), 1);
	CHECK_STR(cleaned(arena, secrets, "> MII" A36 "\n> short"), "> [REDACTED]\n> short");
}

/* Texts made to be slow; that this ends is the test. */
static void built_to_be_slow(void)
{
	static const char *const parts[] = { "eyJ-", "eyJa.", "sk-", "bearer ", "-----BEGIN ",
		"xoxb-", "-", "ghp_a" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_secrets *secrets = mr_team_secrets_new(arena);

	mr_team_secrets_learn(secrets, mr_bytes_text("sk-" A20));
	for (size_t i = 0; i < MR_LEN(parts); i++) {
		struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
		struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };

		mr_buf_init(&text, 1 << 20);
		mr_buf_init(&out, 1 << 20);
		while (text.len < 1 << 19)
			mr_buf_puts(&text, parts[i]);
		mr_team_secrets_replace(secrets, mr_buf_bytes(&text), &out);
		CHECK(!out.failed);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(forms),
		TEST(what_is_known_goes_everywhere),
		TEST(many_are_known),
		TEST(lines_of_a_key),
		TEST(built_to_be_slow),
	};

	return test_main(tests, MR_LEN(tests));
}
