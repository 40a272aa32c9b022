/* tests/unit/team/test_team_product.c */
#include "team/product.h"

#include "team/error.h"
#include "team/limits.h"
#include "test.h"
#include "world.h"

#include <string.h>

static struct mr_team_product ensure(struct world *world, const char *uid, const char *name)
{
	struct mr_team_product product;

	CHECK_OK(mr_team_product_ensure(&world->cx, world->team, uid, name, &product),
		world->cx.err);
	return product;
}

static enum mr_code try_ensure(struct world *world, const char *uid, const char *name)
{
	struct mr_team_product product;

	return mr_team_product_ensure(&world->cx, world->team, uid, name, &product);
}

static struct mr_team_product link_project(struct world *world, const char *product_key,
	const char *project_key, bool unlink)
{
	struct mr_team_product product;

	CHECK_OK(mr_team_product_link(&world->cx, world->team, product_key, project_key, NULL,
			 unlink, &product),
		world->cx.err);
	return product;
}

static enum mr_code try_link(struct world *world, const char *product_key, const char *project_key,
	const char *role)
{
	struct mr_team_product product;

	return mr_team_product_link(&world->cx, world->team, product_key, project_key, role, false,
		&product);
}

static void a_product_is_made_once(void)
{
	struct mr_team_product shop, other;
	struct world world;

	world_open(&world);
	shop = ensure(&world, NULL, "Web Shop");
	CHECK_STR(shop.product_uid, "web-shop");
	CHECK_STR(shop.name, "Web Shop");
	CHECK_INT(shop.created_at, WORLD_NOW_US);
	CHECK_INT(shop.projects.len, 0);
	CHECK_INT(ensure(&world, NULL, "web shop").id, shop.id);
	CHECK_INT(ensure(&world, "web-shop", NULL).id, shop.id);
	CHECK_INT(ensure(&world, "web-shop", "Another Name").id, shop.id);
	CHECK_STR(ensure(&world, "web-shop", "Another Name").name, "Web Shop");

	other = ensure(&world, NULL, "web-shop");
	CHECK(other.id != shop.id);
	CHECK(mr_str_starts(other.product_uid, "web-shop-"));
	CHECK_STR(ensure(&world, "p-1", NULL).name, "p-1");
	CHECK_STR(ensure(&world, "p-2", "Second").name, "Second");
	world_check_fail(&world, try_ensure(&world, "p-3", "SECOND"), MR_TEAM_NAME_TAKEN,
		"there is another product called \"SECOND\"");
	CHECK_INT(world_count(&world, "products"), 4);
	world_close(&world);
}

static void a_product_without_a_word_is_refused(void)
{
	char *longest;
	struct world world;

	world_open(&world);
	longest = memset(mr_arena_alloc(world.cx.arena, MR_TEAM_PRODUCT_BYTES + 2), 'x',
		MR_TEAM_PRODUCT_BYTES + 1);
	world_check_fail(&world, try_ensure(&world, NULL, NULL), MR_TEAM_INVALID_ARGUMENT,
		"a product needs a product_uid or a name");
	world_check_fail(&world, try_ensure(&world, "", NULL), MR_TEAM_INVALID_ARGUMENT,
		"product_uid is empty");
	world_check_fail(&world, try_ensure(&world, NULL, longest), MR_TEAM_INVALID_ARGUMENT,
		"name is longer than 128 bytes");
	world_close(&world);
}

static void projects_are_linked_and_unlinked(void)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_products list;
	struct world world;

	world_open(&world);
	world_project(&world, "/path/to/backend");
	world_project(&world, "/path/to/frontend");
	ensure(&world, "shop", "Web Shop");
	ensure(&world, "bare", "A Bare One");
	CHECK_INT(link_project(&world, "shop", "backend", false).projects.len, 1);
	CHECK_INT(link_project(&world, "WEB shop", "frontend", false).projects.len, 2);
	CHECK_INT(link_project(&world, "shop", "frontend", false).projects.len, 2);
	CHECK_OK(mr_team_read(&world.cx, world.team, &reader), world.cx.err);
	CHECK_OK(mr_team_product_list(&world.cx, reader.db, &list), world.cx.err);
	mr_team_read_done(&reader);
	CHECK_INT(list.len, 2);
	CHECK_STR(list.items[0].name, "A Bare One");
	CHECK_INT(list.items[0].projects.len, 0);
	CHECK_INT(list.items[1].projects.len, 2);
	CHECK_STR(list.items[1].projects.items[1].slug, "path-to-frontend");
	CHECK_STR(list.items[1].projects.items[1].human_key, "/path/to/frontend");

	CHECK_INT(link_project(&world, "shop", "backend", true).projects.len, 1);
	CHECK_INT(link_project(&world, "shop", "backend", true).projects.len, 1);
	CHECK_OK(try_link(&world, "shop", "frontend", "secondary"), world.cx.err);
	CHECK_STR(world_text(&world, "SELECT role FROM product_project_links"), "secondary");
	world_check_fail(&world, try_link(&world, "shop", "frontend", "tertiary"),
		MR_TEAM_INVALID_ARGUMENT, "\"tertiary\" is no role: primary or secondary");
	world_check_fail(&world, try_link(&world, "shpo", "frontend", NULL), MR_TEAM_NOT_FOUND,
		"there is no product \"shpo\"; did you mean shop");
	CHECK_STR(mr_value_get(mr_team_fail_data(&world.cx.err), "suggestions")->list.items[0].text,
		"shop");
	world_check_fail(&world, try_link(&world, "something else", "frontend", NULL),
		MR_TEAM_NOT_FOUND, "`mailroom team product list` shows all");
	world_check_fail(&world, try_link(&world, "shop", "nowhere", NULL), MR_TEAM_NOT_FOUND,
		"nowhere");
	world_close(&world);
}

/* Names a quarter of a million letters long are not compared with every other. */
static void a_huge_name_is_not_found_quickly(void)
{
	size_t len = 1 << 20;
	char *huge;
	struct world world;

	world_open(&world);
	huge = memset(mr_arena_alloc(world.cx.arena, len + 1), 'x', len);
	ensure(&world, "shop", NULL);
	world_check_fail(&world, try_link(&world, huge, "backend", NULL), MR_TEAM_NOT_FOUND,
		"there is no product of such a name");
	world_close(&world);
}

static void many_grow(struct world *world, int64_t messages)
{
	world_exec(world,
		mr_arena_printf(world->cx.arena,
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
			" WHERE i < %lld)"
			" INSERT INTO messages (uid, project_id, sender_id, subject, body_md,"
			" created_ts) SELECT 'u' || i, 1 + i %% 3, 1 + i %% 3, 's' || i, 'b', i"
			" FROM n",
			(long long)messages));
}

static void its_mail_is_in_one_order(void)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	static const char *const keys[] = { "/a", "/b", "/c" };
	struct mr_team_product product;
	struct mr_team_items items;
	struct world world;

	world_open(&world);
	for (size_t i = 0; i < MR_LEN(keys); i++) {
		struct mr_team_project project = world_project(&world, keys[i]);

		world_agent(&world, &project, i == 0 ? "GreenCastle" : "BlueLake");
	}
	many_grow(&world, 9);
	ensure(&world, "shop", NULL);
	link_project(&world, "shop", "a", false);
	product = link_project(&world, "shop", "c", false);
	CHECK_OK(mr_team_read(&world.cx, world.team, &reader), world.cx.err);
	CHECK_OK(mr_team_product_inbox(&world.cx, reader.db, NULL, &product, 0, 4, false, &items),
		world.cx.err);
	CHECK_INT(items.len, 4);
	/* 9, 8, 6, 5: 7 is of the project that is not linked. */
	CHECK_STR(items.items[0].message.subject, "s9");
	CHECK(items.items[0].message.body_md == NULL);
	CHECK_STR(items.items[0].from, "GreenCastle");
	CHECK_STR(items.items[0].sender_project, "a");
	CHECK_STR(items.items[1].message.subject, "s8");
	CHECK_STR(items.items[1].from, "BlueLake");
	CHECK_STR(items.items[2].message.subject, "s6");
	CHECK_STR(items.items[3].message.subject, "s5");
	CHECK_OK(mr_team_product_inbox(&world.cx, reader.db, NULL, &product, 0, 0, false, &items),
		world.cx.err);
	CHECK_INT(items.len, 6);
	CHECK_OK(mr_team_product_inbox(&world.cx, reader.db, NULL, &product, 0, INT64_MAX, false,
			 &items),
		world.cx.err);
	CHECK_INT(items.len, 6);
	mr_team_read_done(&reader);
	/* From elsewhere to somebody here; a blind copy is nobody else's affair. */
	world_exec(&world,
		"INSERT INTO message_recipients (message_id, agent_id, kind)"
		" VALUES (7, 1, 'cc'), (4, 3, 'bcc'), (1, 2, 'to')");
	CHECK_OK(mr_team_read(&world.cx, world.team, &reader), world.cx.err);
	CHECK_OK(mr_team_product_inbox(&world.cx, reader.db, NULL, &product, 0, 3, false, &items),
		world.cx.err);
	CHECK_INT(items.len, 3);
	CHECK_STR(items.items[2].message.subject, "s7");
	CHECK_STR(items.items[2].sender_project, "b");
	CHECK_OK(mr_team_product_inbox(&world.cx, reader.db, NULL, &product, 0, 0, false, &items),
		world.cx.err);
	CHECK_INT(items.len, 7);
	mr_team_read_done(&reader);
	world_close(&world);
}

static void projects_share_a_product_or_not(void)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct world world;
	bool shared;

	world_open(&world);
	world_project(&world, "/a");
	world_project(&world, "/b");
	world_project(&world, "/c");
	ensure(&world, "one", NULL);
	ensure(&world, "two", NULL);
	link_project(&world, "one", "a", false);
	link_project(&world, "one", "b", false);
	link_project(&world, "two", "c", false);
	CHECK_OK(mr_team_read(&world.cx, world.team, &reader), world.cx.err);
	CHECK_OK(mr_team_product_shared(&world.cx, reader.db, 1, 2, &shared), world.cx.err);
	CHECK(shared);
	CHECK_OK(mr_team_product_shared(&world.cx, reader.db, 2, 1, &shared), world.cx.err);
	CHECK(shared);
	CHECK_OK(mr_team_product_shared(&world.cx, reader.db, 1, 3, &shared), world.cx.err);
	CHECK(!shared);
	mr_team_read_done(&reader);
	world_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_product_is_made_once),
		TEST(a_product_without_a_word_is_refused),
		TEST(projects_are_linked_and_unlinked),
		TEST(a_huge_name_is_not_found_quickly),
		TEST(its_mail_is_in_one_order),
		TEST(projects_share_a_product_or_not),
	};

	return test_main(tests, MR_LEN(tests));
}
