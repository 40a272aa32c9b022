/* team/product.h - products, which group projects. */
#pragma once

#include "team/inbox.h"
#include "team/model.h"

struct mr_team_product {
	int64_t id;
	const char *product_uid;
	const char *name;
	int64_t created_at;
	struct mr_team_projects projects;
};
struct mr_team_products {
	struct mr_team_product *items;
	size_t len;
};

/* By uid or name; made when it is not there. `uid` or `name` may be NULL, not both. */
MR_CHECK enum mr_code mr_team_product_ensure(struct mr_ctx *cx, struct mr_team *team,
	const char *uid, const char *name, struct mr_team_product *out);
MR_CHECK enum mr_code mr_team_product_find(struct mr_ctx *cx, struct mr_db *db, const char *key,
	struct mr_team_product *out);
MR_CHECK enum mr_code mr_team_product_link(struct mr_ctx *cx, struct mr_team *team,
	const char *product_key, const char *project_key, const char *role, bool unlink,
	struct mr_team_product *out);
MR_CHECK enum mr_code mr_team_product_list(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_products *out);
/* The newest messages of all its projects, in one order: written there, or openly to an agent of
 * one. Older than the message `before` (0: all); with their texts if `include_bodies`. */
MR_CHECK enum mr_code mr_team_product_inbox(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, const struct mr_team_product *product, int64_t before,
	int64_t limit, bool include_bodies, struct mr_team_items *out);
/* Are both projects linked to one product? For the contact policy `auto`. */
MR_CHECK enum mr_code mr_team_product_shared(struct mr_ctx *cx, struct mr_db *db, int64_t project_a,
	int64_t project_b, bool *out);
