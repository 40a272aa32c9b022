/* team/name.h - memorable names: an adjective and a noun. Pure. */
#pragma once

#include "base/arena.h"
#include "base/rand.h"
#include "base/str.h"

/* 62 and 69 words, as the contract counts them; NULL-terminated. */
enum { MR_TEAM_ADJECTIVES = 62, MR_TEAM_NOUNS = 69 };
extern const char *const mr_team_adjectives[MR_TEAM_ADJECTIVES + 1];
extern const char *const mr_team_nouns[MR_TEAM_NOUNS + 1];

/* People speak under this name. */
#define MR_TEAM_OVERSEER_NAME "HumanOverseer"

/* Reserved names, in any case, which nobody may register: they stand for people or for the
 * system. */
bool mr_team_name_is_reserved(const char *name);
/* Two words of the lists, or of the peers' older ones (RedCat, BlueDog, YellowForest), in
 * CamelCase: `*out_first` gets the length of the first word. */
bool mr_team_name_parse(const char *name, size_t *out_first);
bool mr_team_name_is_pooled(const char *name);
/* Without everything but ASCII letters and digits, cut to MR_TEAM_NAME_BYTES; "" when nothing is
 * left. */
const char *mr_team_name_sanitise(struct mr_arena *arena, const char *text);
/* Valid under the configured rule (`any`: what sanitising leaves unchanged); never a reserved one.
 */
bool mr_team_name_is_valid(const char *name, bool any);

/*
 * Generate a name for which `is_taken` is false. Random while most are free, then one of those
 * left, and past 4,278 names with the smallest free number behind (GreenCastle2).
 */
const char *mr_team_name_generate(struct mr_arena *arena, struct mr_rand *rand,
	bool (*is_taken)(void *arg, const char *name), void *arg);
