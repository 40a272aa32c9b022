/* tests/unit/text/test_scram.c */
#include "text/scram.h"

#include "test.h"

#include <string.h>

/* The example of RFC 7677, section 3. */
#define NONCE "rOprNGfwEbeRWgbNEkqO"
#define FIRST "r=" NONCE "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
#define FINAL "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="

static struct mr_scram example(struct mr_arena *arena)
{
	return (struct mr_scram){ .arena = arena,
		.password = "pencil",
		.first = "n,,n=user,r=" NONCE,
		.nonce = NONCE };
}

static void the_example_of_the_standard(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_scram scram = example(arena);
	const char *answer = NULL;
	struct mr_err err;

	CHECK_INT(mr_scram_check(&scram, FINAL, &err), MR_EAUTH); /* nothing was asked yet */
	CHECK_OK(mr_scram_answer(&scram, FIRST, &answer, &err), err);
	CHECK_STR(answer,
		"c=biws,r=" NONCE "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
		"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
	CHECK_OK(mr_scram_check(&scram, FINAL, &err), err);
	CHECK_OK(mr_scram_check(&scram, FINAL ",x=y", &err), err);
	mr_arena_free(arena);
}

static void a_name_cannot_become_another_field(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_scram scram, again;
	struct mr_rand rand;

	mr_rand_seeded_init(&rand, 1);
	mr_scram_begin(&scram, arena, &rand, "a,b=c", "secret");
	CHECK(strncmp(scram.first, "n,,n=a=2Cb=3Dc,r=", 17) == 0);
	CHECK_STR(scram.first + 17, scram.nonce);
	CHECK_INT(strlen(scram.nonce), 32);
	mr_scram_begin(&again, arena, &rand, "a,b=c", "secret");
	CHECK(strcmp(scram.nonce, again.nonce) != 0);
	mr_arena_free(arena);
}

static void servers_that_talk_nonsense_get_no_proof(void)
{
	static const struct {
		const char *first, *why;
	} cases[] = {
		{ "", "makes no sense" },
		{ "e=other-error", "makes no sense" },
		{ "r=" NONCE "x,i=4096", "makes no sense" },
		{ "r=" NONCE "x,s=,i=4096", "makes no sense" },
		{ "r=" NONCE "x,s=W2_Z,i=4096", "makes no sense" },
		{ "m=x,r=" NONCE "x,s=W22Z,i=4096", "makes no sense" },
		{ "r=" NONCE ",s=W22Z,i=4096", "does not belong to this login" },
		{ "r=x" NONCE ",s=W22Z,i=4096", "does not belong to this login" },
		{ "r=" NONCE "x,s=W22Z,i=4095", "too few" },
		{ "r=" NONCE "x,s=W22Z,i=1000001", "too few iterations, or too many" },
		{ "r=" NONCE "x,s=W22Z,i=99999999999999999999", "too many" },
		{ "r=" NONCE "x,s=W22Z,i=4096x", "too many" },
		{ "r=" NONCE "x,s=W22Z,i=", "too many" },
	};
	static const char *const proofs[] = { "", "v=", "v=AAAA", "e=invalid-proof",
		"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5=", ("x" FINAL) };
	struct mr_arena *arena = mr_arena_new();
	struct mr_scram scram = example(arena);
	const char *answer = NULL;
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_INT(mr_scram_answer(&scram, cases[i].first, &answer, &err), MR_EAUTH);
		CHECK(!answer && strstr(err.msg, cases[i].why));
	}
	CHECK_OK(mr_scram_answer(&scram, FIRST, &answer, &err), err);
	for (size_t i = 0; i < MR_LEN(proofs); i++)
		CHECK_INT(mr_scram_check(&scram, proofs[i], &err), MR_EAUTH);
	mr_arena_free(arena);
}

static void messages_come_in_base64(void)
{
	static const char *const bad[] = { "=", "a", "ab", "abc", "a=bc", "====", "YW-_",
		"YQ=", "AAAA", "YQ==\r" };
	struct mr_arena *arena = mr_arena_new();
	const char *text = NULL;
	struct mr_err err;
	char *large = mr_arena_alloc(arena, MR_SCRAM_MESSAGE_BYTES + 5);

	CHECK_OK(mr_scram_decode(arena, "cj0xPy8+", &text, &err), err);
	CHECK_STR(text, "r=1?/>");
	CHECK_OK(mr_scram_decode(arena, "YQ==", &text, &err), err);
	CHECK_STR(text, "a");
	for (size_t i = 0; i < MR_LEN(bad); i++)
		CHECK_INT(mr_scram_decode(arena, bad[i], &text, &err), MR_EAUTH);
	memset(large, 'Y', MR_SCRAM_MESSAGE_BYTES + 4);
	CHECK_INT(mr_scram_decode(arena, large, &text, &err), MR_EAUTH);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_example_of_the_standard),
		TEST(a_name_cannot_become_another_field),
		TEST(servers_that_talk_nonsense_get_no_proof),
		TEST(messages_come_in_base64),
	};

	return test_main(tests, MR_LEN(tests));
}
