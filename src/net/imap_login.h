/*
 * net/imap_login.h - the way into an IMAP server: by libcurl, or by SCRAM-SHA-256, which libcurl
 * does not have.
 */
#pragma once

#include "base/rand.h"
#include "net/imap.h"

/*
 * mr_imap_open() with the account's mechanism, "SCRAM-SHA-256" among them; without one, also on a
 * server that offers nothing else. With MR_EAUTH the stage is MR_IMAP_STAGE_LOGIN.
 */
MR_CHECK enum mr_code mr_imap_login(const struct mr_imap_account *account, struct mr_rand *rand,
	struct mr_imap **out, enum mr_imap_stage *out_stage, struct mr_err *err);
