/* text/mail_auth.c - Authentication-Results fields, segment by segment. */
#include "text/mail_auth.h"

#include "base/buf.h"

#include <string.h>
#include <strings.h>

static const struct {
	const char *word;
	const char *other; /* as some programs write it */
} words[] = {
	[MR_MAIL_MISSING] = { "missing", NULL },
	[MR_MAIL_PASS] = { "pass", NULL },
	[MR_MAIL_FAIL] = { "fail", "hardfail" },
	[MR_MAIL_SOFTFAIL] = { "softfail", "soft_fail" },
	[MR_MAIL_NEUTRAL] = { "neutral", NULL },
	[MR_MAIL_NONE] = { "none", NULL },
	[MR_MAIL_TEMPERROR] = { "temperror", "temp_error" },
	[MR_MAIL_PERMERROR] = { "permerror", "perm_error" },
};

const char *mr_mail_verdict_text(enum mr_mail_verdict verdict)
{
	return words[verdict].word;
}

bool mr_mail_verdict_read(const char *text, enum mr_mail_verdict *out)
{
	for (size_t i = 0; i < MR_LEN(words); i++) {
		if (strcasecmp(text, words[i].word) == 0 ||
			(words[i].other && strcasecmp(text, words[i].other) == 0)) {
			*out = (enum mr_mail_verdict)i;
			return true;
		}
	}
	return false;
}

const char *mr_mail_domain(struct mr_arena *arena, const char *address)
{
	const char *at = strrchr(address, '@');
	char *domain = mr_str_lower(arena, mr_str_trim(arena, at ? at + 1 : address));
	size_t len = strlen(domain);

	if (len && domain[len - 1] == '.')
		domain[--len] = '\0';
	return memchr(domain, '.', len) ? domain : NULL;
}

/* One method's part of a field, its comments apart. */
struct segment {
	struct mr_buf text;
	struct mr_buf comment;
};

/* Take a segment up to ';' outside of comments and quotes; returns what follows. */
static const char *take_segment(const char *at, struct segment *out)
{
	size_t depth = 0;
	bool is_quoted = false;

	mr_buf_clear(&out->text);
	mr_buf_clear(&out->comment);
	for (; *at && (depth || is_quoted || *at != ';'); at++) {
		if (*at == '\\' && at[1]) {
			at++;
		} else if (depth == 0 && *at == '"' && (is_quoted || strchr(at + 1, '"'))) {
			is_quoted = !is_quoted;
			continue;
		} else if (!is_quoted && *at == '(') {
			if (depth++ == 0) {
				mr_buf_putc(&out->text, ' ');
				mr_buf_putc(&out->comment, ' ');
			}
			continue;
		} else if (!is_quoted && *at == ')' && depth) {
			depth--;
			continue;
		}
		mr_buf_putc(depth ? &out->comment : &out->text, *at);
	}
	return *at ? at + 1 : at;
}

/* The value of "name=value" among the words of `text`, or NULL. */
static const char *find_value(struct mr_arena *arena, const char *text, const char *name)
{
	size_t len = strlen(name);

	while (*text) {
		text += strspn(text, " \t,");
		if (strncasecmp(text, name, len) == 0 && text[len] == '=') {
			text += len + 1;
			return mr_arena_strndup(arena, text, strcspn(text, " \t,"));
		}
		text += strcspn(text, " \t,");
	}
	return NULL;
}

static const char *find_domain(struct mr_arena *arena, const char *text, const char *first,
	const char *second)
{
	const char *value = find_value(arena, text, first);
	const char *domain = value ? mr_mail_domain(arena, value) : NULL;

	if (domain || !second)
		return domain;
	value = find_value(arena, text, second);
	return value ? mr_mail_domain(arena, value) : NULL;
}

/* The domains that passed, by method. */
struct found {
	const char *spf, *dkim, *dmarc;
};

static void take_verdict(enum mr_mail_verdict *verdict, const char *word)
{
	enum mr_mail_verdict said = MR_MAIL_NEUTRAL;

	if (!mr_mail_verdict_read(word, &said) || said == MR_MAIL_MISSING)
		said = MR_MAIL_NEUTRAL;
	if (*verdict == MR_MAIL_MISSING || said == MR_MAIL_PASS)
		*verdict = said;
}

static void read_segment(struct mr_arena *arena, const struct segment *segment,
	struct mr_mail_auth *out, struct found *found)
{
	const char *text = mr_str_trim(arena, mr_buf_text(&segment->text));
	size_t len = strcspn(text, "=/ \t");
	const char *result = strchr(text, '=');
	bool passed;

	if (!result || text + strcspn(text, " \t") < result)
		return;
	result = mr_arena_strndup(arena, result + 1, strcspn(result + 1, " \t;"));
	passed = strcasecmp(result, "pass") == 0;
	if (len == 3 && strncasecmp(text, "spf", len) == 0) {
		take_verdict(&out->spf, result);
		if (passed && !found->spf)
			found->spf = find_domain(arena, text, "smtp.mailfrom", "envelope-from");
	} else if (len == 4 && strncasecmp(text, "dkim", len) == 0) {
		take_verdict(&out->dkim, result);
		if (passed && !found->dkim)
			found->dkim = find_domain(arena, text, "header.i", "header.d");
	} else if (len == 5 && strncasecmp(text, "dmarc", len) == 0) {
		take_verdict(&out->dmarc, result);
		if (passed && !found->dmarc)
			found->dmarc = find_domain(arena, text, "header.from", NULL);
		if (!out->dmarc_policy)
			out->dmarc_policy = find_value(arena, mr_buf_text(&segment->comment), "p");
	}
}

/* The last two labels. */
static const char *organisation(const char *domain)
{
	const char *dot = strrchr(domain, '.');

	while (dot > domain && dot[-1] != '.')
		dot--;
	return dot;
}

static void align(struct mr_mail_auth *auth)
{
	auth->alignment = "unknown";
	if (auth->authenticated_domain && auth->from_domain)
		auth->alignment = mr_str_eq(organisation(auth->authenticated_domain),
					  organisation(auth->from_domain))
			? "aligned"
			: "mismatch";
}

void mr_mail_auth_read(struct mr_arena *arena, const struct mr_texts *fields,
	const char *from_email, struct mr_mail_auth *out)
{
	struct found found = { 0 };

	*out = (struct mr_mail_auth){ 0 };
	for (size_t i = 0; i < fields->len; i++) {
		const char *at = fields->items[i];
		struct segment segment = { 0 };

		mr_buf_init(&segment.text, 2 * strlen(at) + 1);
		mr_buf_init(&segment.comment, 2 * strlen(at) + 1);
		while (*at) {
			at = take_segment(at, &segment);
			read_segment(arena, &segment, out, &found);
		}
		mr_buf_release(&segment.text);
		mr_buf_release(&segment.comment);
	}
	out->authenticated_domain = found.dmarc ? found.dmarc : found.dkim ? found.dkim : found.spf;
	out->from_domain = from_email ? mr_mail_domain(arena, from_email) : NULL;
	align(out);
}
