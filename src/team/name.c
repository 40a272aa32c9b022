/* team/name.c - Generates and validates agent names made of an adjective and a noun. */
#include "team/name.h"

#include "team/limits.h"
#include "text/token.h"

#include <ctype.h>
#include <string.h>

/* clang-format off */
const char *const mr_team_adjectives[MR_TEAM_ADJECTIVES + 1] = {
	/* colours, metals and gems */
	"Red", "Blue", "Green", "Gold", "Silver", "Bronze", "Amber", "Coral", "Jade", "Ruby",
	"Pearl", "Onyx", "Ivory", "Ebony", "Crimson", "Azure",
	/* characters */
	"Swift", "Bold", "Calm", "Keen", "Wise", "Brave", "Noble", "Loyal", "Bright", "Clear",
	"Sharp", "Quick", "Quiet", "Steady", "Strong", "Gentle",
	/* weathers */
	"Sunny", "Misty", "Stormy", "Frosty", "Dusty", "Rusty", "Mossy", "Dewy", "Windy", "Rainy",
	"Snowy", "Cloudy",
	/* hours */
	"Dawn", "Dusk", "Night", "Noon",
	/* stuffs */
	"Iron", "Steel", "Glass", "Stone", "Silk", "Velvet",
	/* measures */
	"Wild", "Free", "True", "Pure", "Deep", "High", "Vast", "Grand",
	NULL,
};

const char *const mr_team_nouns[MR_TEAM_NOUNS + 1] = {
	/* landscapes */
	"River", "Mountain", "Valley", "Forest", "Desert", "Ocean", "Island", "Canyon", "Lake",
	"Stream", "Meadow", "Grove", "Ridge", "Peak", "Shore", "Bay",
	/* animals */
	"Fox", "Eagle", "Wolf", "Bear", "Hawk", "Owl", "Deer", "Lion", "Tiger", "Raven", "Falcon",
	"Heron", "Crane", "Swan", "Otter", "Badger",
	/* buildings */
	"Tower", "Bridge", "Castle", "Temple", "Garden", "Harbor", "Beacon", "Gate", "Wall", "Fort",
	"Keep", "Hall",
	/* trees */
	"Oak", "Pine", "Willow", "Cedar", "Birch", "Maple", "Ash", "Elm",
	/* skies */
	"Star", "Moon", "Cloud", "Storm", "Wind", "Thunder", "Lightning", "Aurora",
	/* others */
	"Summit", "Haven", "Crest", "Crown", "Stone", "Crystal", "Ember", "Spark", "Shadow",
	NULL,
};

/* Accepted, never drawn: words of the peers, and of the contract's own examples. */
static const char *const older_adjectives[] = {
	"Orange", "Pink", "Black", "Purple", "Brown", "White", "Chartreuse", "Lilac", "Fuchsia",
	"Yellow", NULL,
};
static const char *const older_nouns[] = {
	"Dog", "Creek", "Pond", "Cat", "Hill", "Snow", NULL,
};

static const char *const reserved[] = { MR_TEAM_OVERSEER_NAME, "System", "ops", NULL };
/* clang-format on */

static bool is_listed(const char *const *words, const char *text, size_t len)
{
	for (size_t i = 0; words[i]; i++) {
		if (strlen(words[i]) == len && memcmp(words[i], text, len) == 0)
			return true;
	}
	return false;
}

bool mr_team_name_is_reserved(const char *name)
{
	for (size_t i = 0; reserved[i]; i++) {
		if (mr_str_eq_nocase(reserved[i], name))
			return true;
	}
	return false;
}

bool mr_team_name_parse(const char *name, size_t *out_first)
{
	size_t first = 1;
	const char *noun;

	if (!name || !isupper((unsigned char)name[0]))
		return false;
	while (islower((unsigned char)name[first]))
		first++;
	noun = name + first;
	if (!is_listed(mr_team_adjectives, name, first) &&
		!is_listed(older_adjectives, name, first))
		return false;
	if (!is_listed(mr_team_nouns, noun, strlen(noun)) &&
		!is_listed(older_nouns, noun, strlen(noun)))
		return false;
	*out_first = first;
	return true;
}

bool mr_team_name_is_pooled(const char *name)
{
	size_t first;

	return mr_team_name_parse(name, &first);
}

const char *mr_team_name_sanitise(struct mr_arena *arena, const char *text)
{
	char *clean = mr_arena_alloc(arena, MR_TEAM_NAME_BYTES + 1);
	size_t len = 0;

	for (const char *at = text; *at && len < MR_TEAM_NAME_BYTES; at++) {
		if (isascii((unsigned char)*at) && isalnum((unsigned char)*at))
			clean[len++] = *at;
	}
	return clean;
}

static bool is_plain(const char *name)
{
	size_t len = 0;

	for (; name[len]; len++) {
		if (!isascii((unsigned char)name[len]) || !isalnum((unsigned char)name[len]) ||
			len >= MR_TEAM_NAME_BYTES)
			return false;
	}
	return len > 0;
}

bool mr_team_name_is_valid(const char *name, bool any)
{
	if (!name || mr_team_name_is_reserved(name))
		return false;
	return any ? is_plain(name) : mr_team_name_is_pooled(name);
}

/* While half of the names are free, this many draws fail once in four thousand million times. */
enum { DRAWS = 32, PAIRS = MR_TEAM_ADJECTIVES * MR_TEAM_NOUNS };

static const char *pair(struct mr_arena *arena, size_t number)
{
	return mr_arena_printf(arena, "%s%s", mr_team_adjectives[number / MR_TEAM_NOUNS],
		mr_team_nouns[number % MR_TEAM_NOUNS]);
}

/* One of those that are free, each with the same chance; NULL when none is. */
static const char *one_left(struct mr_arena *arena, struct mr_rand *rand,
	bool (*is_taken)(void *arg, const char *name), void *arg)
{
	const char **left = mr_arena_array(arena, PAIRS, sizeof(*left));
	size_t count = 0;

	for (size_t i = 0; i < PAIRS; i++) {
		const char *name = pair(arena, i);

		if (!is_taken(arg, name))
			left[count++] = name;
	}
	return count ? left[mr_rand_below(rand, count)] : NULL;
}

const char *mr_team_name_generate(struct mr_arena *arena, struct mr_rand *rand,
	bool (*is_taken)(void *arg, const char *name), void *arg)
{
	const char *base = NULL, *name;

	for (size_t i = 0; i < DRAWS; i++) {
		base = mr_token_name(arena, rand, mr_team_adjectives, MR_TEAM_ADJECTIVES,
			mr_team_nouns, MR_TEAM_NOUNS);
		if (!is_taken(arg, base))
			return base;
	}
	name = one_left(arena, rand, is_taken, arg);
	for (unsigned number = 2; !name; number++) {
		const char *numbered = mr_arena_printf(arena, "%s%u", base, number);

		if (!is_taken(arg, numbered))
			name = numbered;
	}
	return name;
}
