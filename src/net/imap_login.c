/* net/imap_login.c - opens an IMAP session, and speaks SCRAM-SHA-256 where that is wanted. */
#include "net/imap_login.h"

#include "text/scram.h"
#include "text/token.h"

#define SCRAM "SCRAM-SHA-256"

struct talk {
	struct mr_scram scram;
	int turn; /* what comes next: our first message, our answer, the server's proof */
	enum mr_code rc;
	struct mr_err err;
};

static const char *pack(struct mr_arena *arena, const char *text)
{
	return mr_token_base64(arena, mr_bytes_text(text));
}

/* One "+" of the server. NULL ends the login: it said something wrong. */
static const char *answer(void *arg, struct mr_arena *arena, const char *challenge)
{
	struct talk *talk = arg;
	const char *said = NULL;
	const char *line = "";

	if (talk->turn++ == 0)
		return pack(arena, talk->scram.first);
	talk->rc = mr_scram_decode(arena, challenge, &said, &talk->err);
	if (!talk->rc && talk->turn == 2) {
		talk->rc = mr_scram_answer(&talk->scram, said, &line, &talk->err);
		return talk->rc ? NULL : pack(arena, line);
	}
	if (!talk->rc)
		talk->rc = mr_scram_check(&talk->scram, said, &talk->err);
	return talk->rc ? NULL : "";
}

static enum mr_code scram(struct mr_imap *session, const struct mr_imap_account *account,
	struct mr_rand *rand, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_imap_outcome outcome = { 0 };
	struct talk talk = { 0 };
	enum mr_code rc;

	mr_scram_begin(&talk.scram, arena, rand, account->user, account->password);
	mr_imap_begin(session, "AUTHENTICATE " SCRAM);
	rc = mr_imap_converse(session, arena, answer, &talk, &outcome, err);
	if (rc)
		return rc;
	if (talk.rc) {
		*err = talk.err;
		return talk.rc;
	}
	if (outcome.status != MR_IMAP_OK)
		return mr_err_set(err, MR_EAUTH, "%s refused the login", account->host);
	if (talk.turn < 3) /* who only says yes has proved nothing */
		return mr_err_set(err, MR_EAUTH, "%s did not prove that it knows the password",
			account->host);
	/* After a login servers can do more. */
	mr_imap_begin(session, "CAPABILITY");
	return mr_imap_do(session, arena, NULL, NULL, NULL, err);
}

/* Connect first, then see whether the server wants SCRAM, or nothing but it. `*out_does` says
 * whether it was tried. */
static enum mr_code open_by_scram(const struct mr_imap_account *account, struct mr_rand *rand,
	bool must, bool *out_does, struct mr_imap **out, enum mr_imap_stage *out_stage,
	struct mr_err *err)
{
	struct mr_imap *session MR_CLEANUP(mr_imap_closep) = NULL;
	struct mr_imap_account stranger = *account;
	enum mr_code rc;

	*out_does = must;
	stranger.user = stranger.password = stranger.mechanism = NULL;
	rc = mr_imap_open(&stranger, &session, out_stage, err);
	if (rc)
		return rc;
	*out_stage = MR_IMAP_STAGE_LOGIN;
	if (!must)
		*out_does = mr_imap_can(session, "AUTH=" SCRAM) &&
			!mr_imap_can(session, "AUTH=PLAIN") && !mr_imap_can(session, "AUTH=LOGIN");
	if (!*out_does)
		return MR_OK;
	if (!mr_imap_can(session, "AUTH=" SCRAM))
		return mr_err_set(err, MR_EAUTH, "%s does not offer " SCRAM, account->host);
	rc = scram(session, account, rand, err);
	if (rc)
		return rc;
	*out = session;
	session = NULL;
	return MR_OK;
}

enum mr_code mr_imap_login(const struct mr_imap_account *account, struct mr_rand *rand,
	struct mr_imap **out, enum mr_imap_stage *out_stage, struct mr_err *err)
{
	bool must = mr_str_eq(account->mechanism, SCRAM), does = false;
	struct mr_err refused;
	enum mr_code rc = must ? MR_EAUTH : mr_imap_open(account, out, out_stage, err);

	if (rc != MR_EAUTH || !account->password || (account->mechanism && !must))
		return rc;
	if (must)
		return open_by_scram(account, rand, true, &does, out, out_stage, err);
	refused = *err;
	rc = open_by_scram(account, rand, false, &does, out, out_stage, err);
	if (does)
		return rc;
	*err = refused;
	*out_stage = MR_IMAP_STAGE_LOGIN;
	return MR_EAUTH;
}
