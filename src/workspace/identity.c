/* workspace/identity.c - finds the identity that a mail was sent to. */
#include "workspace/identity.h"

#include <string.h>

const char *const mr_work_identity_match_names[] = {
	[MR_WORK_MATCH_EMAIL] = "email",
	[MR_WORK_MATCH_NAME] = "name",
	[MR_WORK_MATCH_MULTIPLE] = "multiple",
	[MR_WORK_MATCH_UNMATCHED] = "unmatched",
	NULL,
};

static const char *bare(struct mr_arena *arena, const char *email)
{
	return mr_str_lower(arena, mr_str_trim(arena, email ? email : ""));
}

/* A display name as names are compared: without blanks and quotes around it. */
static const char *bare_name(struct mr_arena *arena, const char *name)
{
	char *text = mr_str_trim(arena, name);
	size_t len = strlen(text);

	while (len >= 2 && (text[0] == '"' || text[0] == '\'') && text[len - 1] == text[0]) {
		text = mr_str_trim(arena, mr_arena_strndup(arena, text + 1, len - 2));
		len = strlen(text);
	}
	return text;
}

/* The addresses, each once, by a hash table: a hostile mail has very many. */
static struct mr_texts unique_emails(struct mr_arena *arena,
	const struct mr_work_observed *observed, size_t count)
{
	struct mr_texts emails = { mr_arena_array(arena, count + 1, sizeof(char *)), 0 };
	size_t slots = 16;
	const char **seen;

	while (slots < 2 * count)
		slots *= 2;
	seen = mr_arena_array(arena, slots, sizeof(*seen));
	for (size_t i = 0; i < count; i++) {
		const char *email = bare(arena, observed[i].email);
		size_t at = 0;

		for (const char *c = email; *c; c++)
			at = at * 31 + (unsigned char)*c;
		for (at &= slots - 1; seen[at] && !mr_str_eq(seen[at], email);)
			at = (at + 1) & (slots - 1);
		if (!*email || seen[at])
			continue;
		seen[at] = email;
		emails.items[emails.len++] = email;
	}
	return emails;
}

/* The slugs of the identities with that address, in the order of the configuration. */
static struct mr_texts owners(struct mr_arena *arena, const struct mr_work_config *config,
	const char *email)
{
	struct mr_texts slugs = { mr_arena_array(arena, config->identity_count + 1, sizeof(char *)),
		0 };

	for (size_t i = 0; i < config->identity_count; i++)
		if (mr_str_eq_nocase(config->identities[i].email, email))
			slugs.items[slugs.len++] = config->identities[i].identity;
	return slugs;
}

/* The display names that the address was observed with. */
static struct mr_texts names_of(struct mr_arena *arena, const struct mr_work_observed *observed,
	size_t count, const char *email)
{
	struct mr_texts names = { mr_arena_array(arena, count + 1, sizeof(char *)), 0 };

	for (size_t i = 0; i < count; i++)
		if (observed[i].name && mr_str_eq(bare(arena, observed[i].email), email))
			names.items[names.len++] = bare_name(arena, observed[i].name);
	return names;
}

static bool is_among(const struct mr_texts *names, const char *name)
{
	for (size_t i = 0; i < names->len; i++)
		if (mr_str_eq_nocase(names->items[i], name))
			return true;
	return false;
}

/* The one candidate that was called by its name; NULL when it is none or several. */
static const struct mr_work_identity *by_name(struct mr_arena *arena,
	const struct mr_work_config *config, const struct mr_texts *names,
	const struct mr_texts *candidates)
{
	const struct mr_work_identity *found = NULL;

	for (size_t i = 0; i < candidates->len; i++) {
		const struct mr_work_identity *identity =
			mr_work_find_identity(config, candidates->items[i]);

		if (!is_among(names, bare_name(arena, identity->name)))
			continue;
		if (found)
			return NULL;
		found = identity;
	}
	return found;
}

static void decide(struct mr_arena *arena, const struct mr_work_config *config,
	const struct mr_work_observed *observed, size_t count, const char *email,
	const struct mr_texts *candidates, struct mr_work_identity_match *out)
{
	const struct mr_work_identity *one = mr_work_find_identity(config, candidates->items[0]);

	out->identity_email = one->email;
	out->kind = MR_WORK_MATCH_EMAIL;
	if (candidates->len > 1) {
		struct mr_texts names = names_of(arena, observed, count, email);

		one = by_name(arena, config, &names, candidates);
		out->kind = one ? MR_WORK_MATCH_NAME : MR_WORK_MATCH_MULTIPLE;
	}
	if (one) {
		out->identity = one->identity;
		out->identity_email = one->email;
	} else {
		out->identity_candidates = *candidates;
	}
}

void mr_work_identity_match(struct mr_arena *arena, const struct mr_work_config *config,
	const struct mr_work_observed *observed, size_t count, struct mr_work_identity_match *out)
{
	struct mr_texts emails = unique_emails(arena, observed, count);

	*out = (struct mr_work_identity_match){ .kind = MR_WORK_MATCH_UNMATCHED };
	for (size_t i = 0; i < emails.len; i++) {
		struct mr_texts candidates = owners(arena, config, emails.items[i]);

		if (!candidates.len)
			continue;
		decide(arena, config, observed, count, emails.items[i], &candidates, out);
		break;
	}
	if (out->kind == MR_WORK_MATCH_UNMATCHED)
		out->observed_recipient_emails = emails;
	out->identity_match = mr_work_identity_match_names[out->kind];
}
