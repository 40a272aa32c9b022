/*
 * team/share/share_secret.h - secrets in texts: found by their form, and replaced.
 *
 * What was found once is known: it is replaced wherever else it stands, in any case, and a scan of
 * the finished files can prove that it is gone. Time is linear in the text.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>

#define MR_TEAM_REDACTED "[REDACTED]"

struct mr_team_secrets;

/* Lives in `arena`, and so does what it knows. */
struct mr_team_secrets *mr_team_secrets_new(struct mr_arena *arena);
/* Find what looks like a secret, and know it from now on. */
void mr_team_secrets_learn(struct mr_team_secrets *secrets, struct mr_bytes text);
/* Append `text` with every secret replaced; returns how many were. */
size_t mr_team_secrets_replace(const struct mr_team_secrets *secrets, struct mr_bytes text,
	struct mr_buf *out);
/* Do these bytes contain a known secret? */
bool mr_team_secrets_stand_in(const struct mr_team_secrets *secrets, struct mr_bytes bytes);
/* The number of different secrets that are known. */
size_t mr_team_secrets_count(const struct mr_team_secrets *secrets);
