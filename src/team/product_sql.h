/* team/product_sql.h - products and their projects in the database. */
#pragma once

#include "data/db.h"
#include "team/product.h"

/* By its uid, else by its name in any case, with its projects; `*found` tells. */
MR_CHECK enum mr_code mr_team_product_row(struct mr_ctx *cx, struct mr_db *db, const char *uid,
	const char *name, bool *found, struct mr_team_product *out);
/* MR_EEXISTS when uid or name is taken. */
MR_CHECK enum mr_code mr_team_product_insert(struct mr_ctx *cx, struct mr_db *db, const char *uid,
	const char *name, int64_t *out_id);
/* All, by name, with their projects. */
MR_CHECK enum mr_code mr_team_product_rows(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_products *out);
/* Uids and names, for suggestions. */
MR_CHECK enum mr_code mr_team_product_names(struct mr_ctx *cx, struct mr_db *db,
	struct mr_texts *out);
/* A project that is linked already gets the role. */
MR_CHECK enum mr_code mr_team_product_add(struct mr_ctx *cx, struct mr_db *db, int64_t product_id,
	int64_t project_id, const char *role);
MR_CHECK enum mr_code mr_team_product_remove(struct mr_ctx *cx, struct mr_db *db,
	int64_t product_id, int64_t project_id);
