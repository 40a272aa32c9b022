/* tests/unit/op/test_render_contact.c */
#include "op/render.h"
#include "test.h"
#include "text/json.h"

typedef void renderer(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);

static void shows(renderer *render, const char *json, const char *expected)
{
	struct mr_arena *arena = mr_arena_new();
	const struct mr_value *value;
	struct mr_err err;
	struct mr_buf out;

	mr_buf_init(&out, 1 << 16);
	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &value, &err), err);
	render(&out, value, &(struct mr_render){ 0 });
	CHECK_STR(mr_buf_text(&out), expected);
	mr_buf_release(&out);
	mr_arena_free(arena);
}

#define PARTIES                                                                                    \
	"\"from\":{\"project\":\"p\",\"agent\":\"RedFox\"},"                                       \
	"\"to\":{\"project\":\"q\",\"agent\":\"BlueLake\"},"

static void contacts(void)
{
	shows(mr_render_link,
		"{\"id\":1," PARTIES "\"status\":\"pending\",\"reason\":\"\","
		"\"expires_ts\":\"2026-03-11T04:15:00Z\",\"notified\":true}",
		"Contact 1: RedFox@p -> BlueLake@q, pending until 2026-03-11 04:15 UTC\n"
		"The other has been told.\n");
	shows(mr_render_link,
		"{\"id\":1," PARTIES "\"status\":\"blocked\",\"expires_ts\":null,\"updated\":1}",
		"Contact 1: RedFox@p -> BlueLake@q, blocked\n");
	shows(mr_render_contacts, "{\"agent\":\"RedFox\",\"contacts\":[]}",
		"RedFox has no contacts.\n");
	shows(mr_render_contacts,
		"{\"agent\":\"RedFox\",\"contacts\":[{\"id\":1," PARTIES
		"\"status\":\"blocked\",\"reason\":\"a\\u001b[31m\\nb\",\"expires_ts\":null}]}",
		"id  from      to          status   until  reason\n"
		" 1  RedFox@p  BlueLake@q  blocked  -      a\xef\xbf\xbd[31m b\n");
}

static void products(void)
{
	shows(mr_render_products, "{\"result\":[]}",
		"No products; `mailroom team product ensure` makes one.\n");
	shows(mr_render_products,
		"{\"result\":[{\"product_uid\":\"a\",\"name\":\"A\",\"projects\":[]},"
		"{\"product_uid\":\"b\",\"name\":\"B\",\"projects\":[{\"slug\":\"x\"},"
		"{\"slug\":\"y\"}]}]}",
		"uid  name  projects\n"
		"a    A     -\n"
		"b    B     x, y\n");
	shows(mr_render_product, "{\"product_uid\":\"a\",\"name\":\"A\",\"projects\":[]}",
		"A (a): no projects yet\n");
	shows(mr_render_product,
		"{\"product_uid\":\"a\",\"name\":\"A\",\"projects\":[{\"slug\":\"x\","
		"\"human_key\":\"/x\",\"created_at\":\"2026-03-11T04:15:00Z\"}]}",
		"A (a)\n"
		"name  key  made\n"
		"x     /x   2026-03-11 04:15 UTC\n");
}

static void slots(void)
{
	shows(mr_render_slot,
		"{\"id\":2,\"slot_name\":\"x\",\"agent\":\"RedFox\","
		"\"expires_ts\":\"2026-03-11T04:15:00Z\",\"released_ts\":null}",
		"Slot 2 (x) is held by RedFox until 2026-03-11 04:15 UTC.\n");
	shows(mr_render_slot,
		"{\"id\":2,\"slot_name\":\"x\",\"agent\":\"RedFox\","
		"\"expires_ts\":\"2026-03-11T04:15:00Z\",\"released_ts\":\"2026-03-11T04:15:00Z\"}",
		"Slot 2 (x) is free again.\n");
}

static void macros(void)
{
	shows(mr_render_session,
		"{\"project\":{},\"agent\":{\"name\":\"RedFox\",\"program\":\"p\",\"model\":\"m\","
		"\"inception_ts\":\"2026-03-11T04:15:00Z\",\"is_active\":true,"
		"\"last_active_ts\":\"2026-03-11T04:15:00Z\"},"
		"\"file_reservations\":{\"granted\":[],\"conflicts\":[]},\"inbox\":[]}",
		"RedFox\n"
		"runs on      p, m\n"
		"registered   2026-03-11 04:15 UTC\n"
		"last active  2026-03-11 04:15 UTC\n"
		"\n"
		"No messages.\n");
	shows(mr_render_cycle,
		"{\"file_reservations\":{\"granted\":[],\"conflicts\":[]},"
		"\"released\":{\"released\":0}}",
		"\nGiven back again.\n");
	shows(mr_render_handshake,
		"{\"request\":{\"id\":1," PARTIES "\"status\":\"blocked\",\"expires_ts\":null},"
		"\"response\":null,\"welcome_message\":null}",
		"Contact 1: RedFox@p -> BlueLake@q, blocked\n");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(contacts),
		TEST(products),
		TEST(slots),
		TEST(macros),
	};

	return test_main(tests, MR_LEN(tests));
}
