/* mailbox/message_read.c - the strict reader of mailbox/message.h. */
#include "mailbox/message.h"

#include "base/utf8.h"
#include "mailbox/limits.h"
#include "text/time.h"

#include <string.h>

static size_t problems(const struct mr_issues *issues)
{
	return issues->len + issues->dropped;
}

static void text_field(struct mr_arena *arena, const struct mr_cursor *map, const char *key,
	const char **out)
{
	struct mr_cursor at = mr_cursor_key(map, key);

	mr_mailbox_read_text(arena, &at, out);
}

static void text_field_opt(struct mr_arena *arena, const struct mr_cursor *map, const char *key,
	const char **out)
{
	struct mr_cursor at = mr_cursor_key(map, key);

	mr_mailbox_read_text_opt(arena, &at, out);
}

static void id_field(struct mr_arena *arena, const struct mr_cursor *map, const char *key,
	const char **out)
{
	struct mr_cursor at = mr_cursor_key(map, key);

	mr_mailbox_read_message_id(arena, &at, out);
}

/* A field with a default may be left out, but null is no list: strictly, as the contract is. */
static bool list_field_opt(const struct mr_cursor *at, size_t max, size_t *out_len)
{
	if (!at->value)
		return false;
	if (!mr_cursor_list(at, out_len))
		return false;
	if (*out_len <= max)
		return true;
	mr_cursor_refuse(at, "must not hold more than %zu entries", max);
	return false;
}

/* Participants. */

bool mr_mailbox_principal_read(struct mr_arena *arena, const struct mr_cursor *at,
	struct mr_mailbox_principal *out)
{
	static const char *const known[] = { "principal_id", "address", "display_name",
		"manifest_path_hint", "role", NULL };
	struct mr_mailbox_principal got = { 0 };
	struct mr_cursor address = mr_cursor_key(at, "address");
	size_t before = problems(at->issues);

	if (!mr_cursor_map(at))
		return false;
	text_field(arena, at, "principal_id", &got.principal_id);
	mr_mailbox_read_address(arena, &address, &got.address);
	text_field_opt(arena, at, "display_name", &got.display_name);
	text_field_opt(arena, at, "manifest_path_hint", &got.manifest_path_hint);
	text_field_opt(arena, at, "role", &got.role);
	mr_cursor_only(at, known);
	if (problems(at->issues) > before)
		return false;
	*out = got;
	return true;
}

static void principals_field(struct mr_arena *arena, const struct mr_cursor *map, const char *key,
	struct mr_mailbox_principals *out)
{
	struct mr_cursor at = mr_cursor_key(map, key);
	size_t len;

	if (!list_field_opt(&at, MR_MAILBOX_RECIPIENTS, &len))
		return;
	out->items = mr_arena_array(arena, len + 1, sizeof(*out->items));
	for (out->len = 0; out->len < len; out->len++) {
		struct mr_cursor item = mr_cursor_item(&at, out->len);

		mr_mailbox_principal_read(arena, &item, &out->items[out->len]);
	}
}

static void to_field(struct mr_arena *arena, const struct mr_cursor *map,
	enum mr_mailbox_source source, struct mr_mailbox_principals *out)
{
	struct mr_cursor at = mr_cursor_key(map, "to");
	size_t len;

	if (!at.value) {
		(void)mr_cursor_list(&at, &len);
		return;
	}
	principals_field(arena, map, "to", out);
	/* A payload has this rule among those between fields. */
	if (source == MR_MAILBOX_DOCUMENT && at.value->kind == MR_LIST && at.value->list.len == 0)
		mr_cursor_refuse(&at, "must include at least one recipient");
}

/* Attachments. */

static void sha256_field(struct mr_arena *arena, const struct mr_cursor *map, const char **out)
{
	struct mr_cursor at = mr_cursor_key(map, "sha256");
	const char *text;
	const char *lower;
	size_t len;

	if (!mr_cursor_is_present(&at) || !mr_cursor_text(&at, &text))
		return;
	len = strlen(text);
	mr_utf8_strip(&text, &len);
	lower = mr_str_lower(arena, mr_arena_strndup(arena, text, len > 64 ? 0 : len));
	if (strlen(lower) == 64 && strspn(lower, "0123456789abcdef") == 64)
		*out = lower;
	else
		mr_cursor_refuse(&at, "must be a 64-character lowercase hex SHA-256 digest");
}

static void size_field(const struct mr_cursor *map, int64_t *out)
{
	struct mr_cursor at = mr_cursor_key(map, "size_bytes");

	if (!mr_cursor_int_opt(&at, INT64_MIN, INT64_MAX, out))
		return;
	if (*out < 0)
		mr_cursor_refuse(&at, "must be greater than or equal to zero");
}

static void read_attachment(struct mr_arena *arena, const struct mr_cursor *at,
	struct mr_mailbox_attachment *out)
{
	static const char *const known[] = { "attachment_id", "kind", "path", "media_type",
		"sha256", "size_bytes", "label", NULL };
	static const char *const kinds[] = { [MR_MAILBOX_PATH_REF] = "path_ref",
		[MR_MAILBOX_MANAGED_COPY] = "managed_copy",
		NULL };
	struct mr_cursor kind_at = mr_cursor_key(at, "kind");
	size_t before = problems(at->issues);
	size_t kind = 0;

	if (!mr_cursor_map(at))
		return;
	*out = (struct mr_mailbox_attachment){ .size_bytes = -1 };
	text_field(arena, at, "attachment_id", &out->attachment_id);
	mr_mailbox_read_choice(&kind_at, kinds, &kind);
	out->kind = (enum mr_mailbox_attachment_kind)kind;
	text_field(arena, at, "path", &out->path);
	text_field(arena, at, "media_type", &out->media_type);
	sha256_field(arena, at, &out->sha256);
	size_field(at, &out->size_bytes);
	text_field_opt(arena, at, "label", &out->label);
	mr_cursor_only(at, known);
	if (problems(at->issues) == before && out->kind == MR_MAILBOX_PATH_REF &&
		out->path[0] != '/')
		mr_cursor_refuse(at, "path_ref attachments must use an absolute path");
}

static void attachments_field(struct mr_arena *arena, const struct mr_cursor *map,
	struct mr_mailbox_attachments *out)
{
	struct mr_cursor at = mr_cursor_key(map, "attachments");
	size_t len;

	if (!list_field_opt(&at, MR_MAILBOX_ATTACHMENTS, &len))
		return;
	out->items = mr_arena_array(arena, len + 1, sizeof(*out->items));
	for (out->len = 0; out->len < len; out->len++) {
		struct mr_cursor item = mr_cursor_item(&at, out->len);

		read_attachment(arena, &item, &out->items[out->len]);
	}
}

/* The other fields of a message. */

static void version_field(const struct mr_cursor *map, int *out)
{
	struct mr_cursor at = mr_cursor_key(map, "protocol_version");
	int64_t version;

	if (!at.value || !mr_cursor_int(&at, INT64_MIN, INT64_MAX, &version))
		return;
	if (version == 3 || version == 1)
		*out = (int)version;
	else
		mr_cursor_refuse(&at, "protocol_version must be 3, or 1 in old messages, not %lld",
			(long long)version);
}

static void created_field(struct mr_arena *arena, const struct mr_cursor *map, const char **out)
{
	struct mr_cursor at = mr_cursor_key(map, "created_at_utc");
	struct mr_err err;
	const char *text;
	int64_t us;

	if (!mr_cursor_text(&at, &text))
		return;
	if (mr_time_parse(text, MR_TIME_STRICT, &us, &err))
		mr_cursor_refuse(&at,
			"created_at_utc must be an RFC3339 UTC timestamp ending in Z");
	else
		*out = mr_time_format(arena, us, MR_TIME_SECONDS);
}

/* How many values and keys, and how deep; both stop growing soon after their limit. */
static void measure(const struct mr_value *value, unsigned depth, size_t *nodes, unsigned *deepest)
{
	if (++*nodes > MR_MAILBOX_HEADER_NODES || depth > MR_MAILBOX_HEADER_DEPTH)
		return;
	if (value->kind != MR_MAP && value->kind != MR_LIST)
		return;
	if (depth + 1 > *deepest)
		*deepest = depth + 1;
	if (value->kind == MR_LIST) {
		for (size_t i = 0; i < value->list.len; i++)
			measure(&value->list.items[i], depth + 1, nodes, deepest);
		return;
	}
	for (size_t i = 0; i < value->map.len; i++) {
		++*nodes;
		measure(&value->map.pairs[i].value, depth + 1, nodes, deepest);
	}
}

bool mr_mailbox_headers_fit(const struct mr_value *headers)
{
	size_t nodes = 0;
	unsigned deepest = 0;

	measure(headers, 0, &nodes, &deepest);
	return nodes <= MR_MAILBOX_HEADER_NODES && deepest <= MR_MAILBOX_HEADER_DEPTH;
}

/* The same pairs with their keys stripped; NULL, and reported, when that cannot be. */
static struct mr_pair *strip_keys(struct mr_arena *arena, const struct mr_cursor *at)
{
	size_t count = at->value->map.len;
	struct mr_pair *pairs = mr_arena_array(arena, count + 1, sizeof(*pairs));
	const struct mr_pair *sorted;

	for (size_t i = 0; i < count; i++) {
		const char *key = at->value->map.pairs[i].key;
		size_t len = strlen(key);

		mr_utf8_strip(&key, &len);
		pairs[i] = at->value->map.pairs[i];
		if (len == 0) {
			mr_cursor_refuse(at, "header keys must not be empty");
			return NULL;
		}
		if (len != strlen(pairs[i].key))
			pairs[i].key = mr_arena_strndup(arena, key, len);
	}
	sorted = mr_pairs_sorted(arena, pairs, count);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(sorted[i - 1].key, sorted[i].key) == 0) {
			mr_cursor_refuse(at, "header keys must not stand twice");
			return NULL;
		}
	}
	return pairs;
}

static const struct mr_value no_headers = { .kind = MR_MAP };

static void headers_field(struct mr_arena *arena, const struct mr_cursor *map,
	const struct mr_value **out)
{
	struct mr_cursor at = mr_cursor_key(map, "headers");
	struct mr_value *headers;

	*out = &no_headers;
	if (!at.value || !mr_cursor_map(&at))
		return;
	if (!mr_mailbox_headers_fit(at.value)) {
		mr_cursor_refuse(&at,
			"must not hold more than %d values and keys, nor nest deeper than %d",
			MR_MAILBOX_HEADER_NODES, MR_MAILBOX_HEADER_DEPTH);
		return;
	}
	headers = mr_arena_memdup(arena, at.value, sizeof(*headers));
	headers->map.pairs = strip_keys(arena, &at);
	if (headers->map.pairs)
		*out = headers;
}

static void notify_block_field(struct mr_arena *arena, const struct mr_cursor *map,
	const struct mr_mailbox_notify_block **out)
{
	static const char *const known[] = { "text", "placement", NULL };
	static const char *const placements[] = { "append", "prepend", NULL };
	struct mr_cursor at = mr_cursor_key(map, "notify_block");
	struct mr_cursor text = mr_cursor_key(&at, "text");
	struct mr_cursor placement = mr_cursor_key(&at, "placement");
	struct mr_mailbox_notify_block *block;
	const char *bare;
	size_t len;
	size_t chosen = 0;

	if (!mr_cursor_is_present(&at) || !mr_cursor_map(&at))
		return;
	block = mr_arena_alloc(arena, sizeof(*block));
	if (mr_cursor_text(&text, &block->text)) {
		bare = block->text;
		len = strlen(bare);
		mr_utf8_strip(&bare, &len);
		if (len == 0)
			mr_cursor_refuse(&text, "must not be empty");
		/* What counts is the text as it stands, blanks around it too. */
		block->text = mr_mailbox_notify_cut(arena, block->text);
	}
	if (placement.value)
		mr_mailbox_read_choice(&placement, placements, &chosen);
	block->prepend = chosen == 1;
	mr_cursor_only(&at, known);
	*out = block;
}

static void notify_auth_field(struct mr_arena *arena, const struct mr_cursor *map,
	const struct mr_mailbox_notify_auth **out)
{
	static const char *const known[] = { "scheme", "token", "iss", "iat", "exp", NULL };
	static const char *const schemes[] = { "none", "shared-token", "hmac-sha256", "jws", NULL };
	struct mr_cursor at = mr_cursor_key(map, "notify_auth");
	struct mr_cursor scheme = mr_cursor_key(&at, "scheme");
	struct mr_mailbox_notify_auth *auth;
	size_t chosen = 0;

	if (!mr_cursor_is_present(&at) || !mr_cursor_map(&at))
		return;
	auth = mr_arena_alloc(arena, sizeof(*auth));
	if (scheme.value)
		mr_mailbox_read_choice(&scheme, schemes, &chosen);
	if (chosen > 0)
		mr_cursor_refuse(&scheme, "notify_auth scheme '%s': verifier not yet supported",
			schemes[chosen]);
	auth->scheme = schemes[chosen];
	text_field_opt(arena, &at, "token", &auth->token);
	text_field_opt(arena, &at, "iss", &auth->iss);
	text_field_opt(arena, &at, "iat", &auth->iat);
	text_field_opt(arena, &at, "exp", &auth->exp);
	mr_cursor_only(&at, known);
	*out = auth;
}

/* Rules between fields: the first that is broken. */
static const char *broken_rule(const struct mr_mailbox_message *m, enum mr_mailbox_source source)
{
	bool payload = source == MR_MAILBOX_PAYLOAD;

	if (m->to.len == 0)
		return "delivery payload must include at least one recipient";
	if (!m->in_reply_to && strcmp(m->thread_id, m->message_id) != 0)
		return payload ? "root deliveries must use message_id as thread_id"
			       : "root messages must use message_id as thread_id";
	if (!m->in_reply_to && m->references.len > 0)
		return payload ? "root deliveries must not include references"
			       : "root messages must not include references";
	if (m->in_reply_to && m->references.len == 0)
		return payload ? "reply deliveries must include references"
			       : "reply messages must include references";
	if (m->in_reply_to &&
		strcmp(m->references.items[m->references.len - 1], m->in_reply_to) != 0)
		return "references must end with in_reply_to";
	return NULL;
}

static void check_rules(const struct mr_cursor *at, const struct mr_mailbox_message *m,
	enum mr_mailbox_source source)
{
	const char *rule = broken_rule(m, source);

	if (rule)
		mr_cursor_refuse(at, "%s", rule);
	else if (m->to.len + m->cc.len > MR_MAILBOX_RECIPIENTS)
		mr_cursor_refuse(at, "to and cc together must not hold more than %d entries",
			MR_MAILBOX_RECIPIENTS);
}

/* The fields that documents and payloads share, in the contract's order. */
static void read_fields(struct mr_arena *arena, const struct mr_cursor *at,
	enum mr_mailbox_source source, const char *sender_key, struct mr_mailbox_message *m)
{
	struct mr_cursor in_reply_to = mr_cursor_key(at, "in_reply_to");
	struct mr_cursor references = mr_cursor_key(at, "references");
	struct mr_cursor sender = mr_cursor_key(at, sender_key);
	struct mr_cursor subject = mr_cursor_key(at, "subject");

	if (source == MR_MAILBOX_DOCUMENT)
		version_field(at, &m->protocol_version);
	id_field(arena, at, "message_id", &m->message_id);
	id_field(arena, at, "thread_id", &m->thread_id);
	if (mr_cursor_is_present(&in_reply_to))
		mr_mailbox_read_message_id(arena, &in_reply_to, &m->in_reply_to);
	if (references.value)
		mr_mailbox_read_message_ids(arena, &references, &m->references);
	created_field(arena, at, &m->created_at_utc);
	mr_mailbox_principal_read(arena, &sender, &m->sender);
	to_field(arena, at, source, &m->to);
	principals_field(arena, at, "cc", &m->cc);
	principals_field(arena, at, "reply_to", &m->reply_to);
	mr_mailbox_read_subject(arena, &subject, &m->subject);
	attachments_field(arena, at, &m->attachments);
	headers_field(arena, at, &m->headers);
	if (source == MR_MAILBOX_DOCUMENT) {
		notify_block_field(arena, at, &m->notify_block);
		notify_auth_field(arena, at, &m->notify_auth);
	}
}

bool mr_mailbox_message_read(struct mr_arena *arena, const struct mr_cursor *at,
	enum mr_mailbox_source source, struct mr_mailbox_message *out)
{
	struct mr_mailbox_message got = { .protocol_version = 3 };
	/* A document says "from", or "sender" in its place; both is one too many. */
	const char *sender_key = source == MR_MAILBOX_PAYLOAD ||
			(!mr_value_get(at->value, "from") && mr_value_get(at->value, "sender"))
		? "sender"
		: "from";
	const char *const in_document[] = { "protocol_version", "message_id", "thread_id",
		"in_reply_to", "references", "created_at_utc", sender_key, "to", "cc", "reply_to",
		"subject", "attachments", "headers", "notify_block", "notify_auth", NULL };
	const char *const in_payload[] = { "staged_message_path", "message_id", "thread_id",
		"in_reply_to", "references", "created_at_utc", sender_key, "to", "cc", "reply_to",
		"subject", "attachments", "headers", NULL };
	size_t before = problems(at->issues);

	if (!mr_cursor_map(at))
		return false;
	read_fields(arena, at, source, sender_key, &got);
	mr_cursor_only(at, source == MR_MAILBOX_DOCUMENT ? in_document : in_payload);
	/* The caller may have found something in a field of its own: then also wait. */
	if (problems(at->issues) == 0)
		check_rules(at, &got, source);
	if (problems(at->issues) > before)
		return false;
	*out = got;
	return true;
}
