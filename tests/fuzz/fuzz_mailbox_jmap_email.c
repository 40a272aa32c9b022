/*
 * tests/fuzz/fuzz_mailbox_jmap_email.c - any Email of a server: what is read is a message that can
 * be shown, and written again and read it says the same.
 */
#include "mailbox/jmap_email.h"

#include "base/utf8.h"
#include "text/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_principal(const struct mr_mailbox_principal *who)
{
	check(who->address && *who->address);
	check(!mr_str_eq(who->principal_id, who->address));
}

static void check_content(const struct mr_mailbox_message *content)
{
	size_t bad;

	check(content->message_id && *content->message_id && content->subject && *content->subject);
	check(content->created_at_utc && content->headers && content->headers->kind == MR_MAP);
	check(!strpbrk(content->subject, "\r\n"));
	check(mr_utf8_is_valid((const char *)content->body.data, content->body.len, &bad));
	check(content->body.len == 0 || !memchr(content->body.data, '\r', content->body.len));
	check_principal(&content->sender);
	for (size_t i = 0; i < content->to.len; i++)
		check_principal(&content->to.items[i]);
	for (size_t i = 0; i < content->attachments.len; i++)
		check(content->attachments.items[i].kind == MR_MAILBOX_TRANSPORT_OWNED &&
			mr_str_starts(content->attachments.items[i].path, "blob:"));
}

static void write_again(struct mr_arena *arena, const struct mr_jmap_email *email)
{
	const char *boxes[] = { "B", NULL };
	const struct mr_jmap_email_new again = { .message = email->original,
		.mailboxes = { boxes, 1 },
		.keeps_paths = true };
	struct mr_value map, id = { .kind = MR_TEXT, .text = "M" };
	struct mr_jmap_email back;
	struct mr_out out;
	struct mr_err err;

	mr_out_init_tree(&out, arena);
	mr_jmap_email_write(arena, &out, NULL, &again);
	map = *mr_out_tree(&out);
	map.map.pairs = mr_arena_array(arena, map.map.len + 1, sizeof(*map.map.pairs));
	memcpy(map.map.pairs, mr_out_tree(&out)->map.pairs, map.map.len * sizeof(*map.map.pairs));
	map.map.pairs[map.map.len++] = (struct mr_pair){ "id", id };
	check(!mr_jmap_email_read(arena, &map, &back, &err));
	check(back.original && mr_mailbox_message_same(back.original, email->original, false));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *value = NULL;
	struct mr_jmap_email email;
	struct mr_err err;

	if (mr_json_parse(arena, mr_bytes_of(data, len), NULL, &value, &err))
		return 0;
	if (mr_jmap_email_read(arena, value, &email, &err)) {
		check(err.code == MR_EFORMAT);
		return 0;
	}
	check_content(&email.content);
	if (email.original)
		write_again(arena, &email);
	return 0;
}
