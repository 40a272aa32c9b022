/* text/scram.c - the messages of a login by SCRAM-SHA-256, and the check of the server's proof. */
#include "text/scram.h"

#include "base/buf.h"
#include "text/digest.h"
#include "text/token.h"

#include <stdlib.h>
#include <string.h>

enum { NONCE_BYTES = 24, SHA256_BYTES = 32 };

static enum mr_code refuse(struct mr_err *err, const char *what)
{
	return mr_err_set(err, MR_EAUTH, "the server's part of the login by SCRAM-SHA-256 %s",
		what);
}

/* A name, in which ',' and '=' mean something else. */
static const char *escape(struct mr_arena *arena, const char *name)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&out, 3 * strlen(name) + 1);
	for (; *name; name++) {
		if (*name == ',')
			mr_buf_puts(&out, "=2C");
		else if (*name == '=')
			mr_buf_puts(&out, "=3D");
		else
			mr_buf_putc(&out, *name);
	}
	return mr_arena_strdup(arena, mr_buf_text(&out));
}

void mr_scram_begin(struct mr_scram *scram, struct mr_arena *arena, struct mr_rand *rand,
	const char *user, const char *password)
{
	uint8_t chance[NONCE_BYTES];

	mr_rand_fill(rand, chance, sizeof(chance));
	*scram = (struct mr_scram){ .arena = arena,
		.password = password,
		.nonce = mr_token_base64url(arena, mr_bytes_of(chance, sizeof(chance))) };
	scram->first = mr_arena_printf(arena, "n,,n=%s,r=%s", escape(arena, user), scram->nonce);
}

static enum mr_code decode(struct mr_arena *arena, const char *base64, struct mr_bytes *out)
{
	char *text = mr_arena_strdup(arena, base64);
	size_t len = strlen(text);
	struct mr_err ignored;

	if (len % 4)
		return MR_EFORMAT;
	for (int i = 0; i < 2 && len && text[len - 1] == '='; i++)
		text[--len] = '\0';
	for (char *c = text; *c; c++) {
		if (*c == '-' || *c == '_')
			return MR_EFORMAT;
		*c = (char)(*c == '+' ? '-' : *c == '/' ? '_' : *c);
	}
	return mr_token_base64url_decode(arena, text, out, &ignored);
}

enum mr_code mr_scram_decode(struct mr_arena *arena, const char *base64, const char **out,
	struct mr_err *err)
{
	struct mr_bytes bytes = { 0 };

	if (strlen(base64) > MR_SCRAM_MESSAGE_BYTES || decode(arena, base64, &bytes) ||
		memchr(bytes.data, '\0', bytes.len))
		return refuse(err, "is not in base64");
	*out = (const char *)bytes.data;
	return MR_OK;
}

/* The value of the field that begins with this letter, at the place where it must stand; `*at` goes
 * behind it. NULL when it is another. */
static const char *field(struct mr_arena *arena, char letter, const char **at)
{
	const char *value = *at + 2;
	size_t len;

	if ((*at)[0] != letter || (*at)[1] != '=')
		return NULL;
	len = strcspn(value, ",");
	*at = value + len + (value[len] == ',');
	return mr_arena_strndup(arena, value, len);
}

static struct mr_bytes hmac(struct mr_arena *arena, struct mr_bytes key, const char *text)
{
	uint8_t out[MR_DIGEST_BYTES];

	mr_digest_hmac(MR_DIGEST_SHA256, key, mr_bytes_text(text), out);
	return mr_bytes_of(mr_arena_memdup(arena, out, SHA256_BYTES), SHA256_BYTES);
}

/* What is sent: the client's key, hidden by a signature that only who has the stored key can make.
 */
static const char *prove(struct mr_scram *scram, struct mr_bytes salt, int iterations,
	const char *messages)
{
	uint8_t salted[SHA256_BYTES], stored[SHA256_BYTES], proof[SHA256_BYTES];
	struct mr_bytes key, signature;

	mr_digest_pbkdf2_sha256(scram->password, salt, iterations, salted);
	key = hmac(scram->arena, mr_bytes_of(salted, sizeof(salted)), "Client Key");
	mr_digest_sha256_bytes(key, stored);
	signature = hmac(scram->arena, mr_bytes_of(stored, sizeof(stored)), messages);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		proof[i] = key.data[i] ^ signature.data[i];
	key = hmac(scram->arena, mr_bytes_of(salted, sizeof(salted)), "Server Key");
	scram->signature = hmac(scram->arena, key, messages);
	return mr_token_base64(scram->arena, mr_bytes_of(proof, sizeof(proof)));
}

enum mr_code mr_scram_answer(struct mr_scram *scram, const char *server_first, const char **out,
	struct mr_err *err)
{
	struct mr_arena *arena = scram->arena;
	const char *at = server_first;
	const char *nonce = field(arena, 'r', &at);
	const char *salt64 = nonce ? field(arena, 's', &at) : NULL;
	const char *count = salt64 ? field(arena, 'i', &at) : NULL;
	size_t own = strlen(scram->nonce);
	struct mr_bytes salt = { 0 };
	const char *without_proof;
	char *end = NULL;
	long iterations;

	if (!count || decode(arena, salt64, &salt) || !salt.len)
		return refuse(err, "makes no sense");
	/* Else somebody plays back what another login said. */
	if (strncmp(nonce, scram->nonce, own) != 0 || !nonce[own])
		return refuse(err, "does not belong to this login");
	iterations = strtol(count, &end, 10);
	if (end == count || *end || iterations < MR_SCRAM_ITERATIONS_MIN ||
		iterations > MR_SCRAM_ITERATIONS_MAX)
		return refuse(err, "wants too few iterations, or too many");
	without_proof = mr_arena_printf(arena, "c=biws,r=%s", nonce); /* "n,,": no binding */
	*out = mr_arena_printf(arena, "%s,p=%s", without_proof,
		prove(scram, salt, (int)iterations,
			mr_arena_printf(arena, "%s,%s,%s", scram->first + strlen("n,,"),
				server_first, without_proof)));
	return MR_OK;
}

enum mr_code mr_scram_check(const struct mr_scram *scram, const char *server_final,
	struct mr_err *err)
{
	struct mr_bytes signature = { 0 };
	const char *at = server_final;
	const char *proof = field(scram->arena, 'v', &at);

	if (!proof || !scram->signature.len || decode(scram->arena, proof, &signature) ||
		!mr_digest_is_equal(signature, scram->signature))
		return refuse(err, "does not prove that it knows the password");
	return MR_OK;
}
