/* team/product.c - Products, which group projects: creating, finding, linking and listing them. */
#include "team/product.h"

#include "team/error.h"
#include "team/limits.h"
#include "team/product_sql.h"
#include "team/project.h"
#include "text/token.h"

#include <string.h>

static enum mr_code check_word(struct mr_ctx *cx, const char *argument, const char *text)
{
	if (!text)
		return MR_OK;
	if (*text == '\0')
		return mr_team_refuse(cx, argument, "%s is empty", argument);
	if (strlen(text) > MR_TEAM_PRODUCT_BYTES)
		return mr_team_refuse(cx, argument, "%s is longer than %d bytes", argument,
			MR_TEAM_PRODUCT_BYTES);
	return MR_OK;
}

struct ensuring {
	const char *uid, *name;
	struct mr_team_product product;
};

/* A uid for a product that came with a name only: its slug, with digits when that is taken. */
static enum mr_code find_uid(struct mr_ctx *cx, struct mr_db *db, const char *name,
	const char **out)
{
	const char *slug = mr_token_slug(cx->arena, name, MR_TEAM_PRODUCT_BYTES / 2, "product");
	struct mr_team_product other;
	bool taken = true;

	*out = slug;
	while (taken) {
		enum mr_code rc = mr_team_product_row(cx, db, *out, NULL, &taken, &other);

		if (rc)
			return rc;
		if (taken)
			*out = mr_arena_printf(cx->arena, "%s-%s", slug,
				mr_token_hex(cx->arena, cx->rand, 4));
	}
	return MR_OK;
}

static enum mr_code run_ensure(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct ensuring *ensuring = arg;
	const char *uid = ensuring->uid, *name = ensuring->name;
	bool found = false;
	int64_t id = 0;
	enum mr_code rc =
		mr_team_product_row(cx, db, uid, uid ? NULL : name, &found, &ensuring->product);

	if (rc || found)
		return rc;
	if (!name)
		name = uid;
	if (!uid)
		rc = find_uid(cx, db, name, &uid);
	if (!rc)
		rc = mr_team_product_insert(cx, db, uid, name, &id);
	if (rc == MR_EEXISTS)
		return mr_team_fail(cx, MR_TEAM_NAME_TAKEN,
			"there is another product called \"%s\"; choose another name", name);
	return rc ? rc : mr_team_product_row(cx, db, uid, NULL, &found, &ensuring->product);
}

enum mr_code mr_team_product_ensure(struct mr_ctx *cx, struct mr_team *team, const char *uid,
	const char *name, struct mr_team_product *out)
{
	struct ensuring ensuring = { .uid = uid, .name = name };
	enum mr_code rc = check_word(cx, "product_uid", uid);

	if (!rc)
		rc = check_word(cx, "name", name);
	if (!rc && !uid && !name)
		rc = mr_team_refuse(cx, "product_uid", "a product needs a product_uid or a name");
	if (!rc)
		rc = mr_team_write(cx, team, run_ensure, NULL, &ensuring);
	if (!rc)
		*out = ensuring.product;
	return rc;
}

enum mr_code mr_team_product_find(struct mr_ctx *cx, struct mr_db *db, const char *key,
	struct mr_team_product *out)
{
	struct mr_texts names, near;
	bool found = false;
	enum mr_code rc = mr_team_product_row(cx, db, key, key, &found, out);

	if (rc || found)
		return rc;
	rc = mr_team_product_names(cx, db, &names);
	if (rc)
		return rc;
	if (strlen(key) > MR_TEAM_PRODUCT_BYTES)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no product of such a name");
	near = mr_team_nearest(cx->arena, key, &names);
	mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no product \"%s\"%s%s", key,
		near.len ? "; did you mean " : "; `mailroom team product list` shows all",
		near.len ? near.items[0] : "");
	return mr_team_fail_texts(cx, "suggestions", &near);
}

struct linking {
	const char *product_key, *project_key, *role;
	bool unlink;
	struct mr_team_product product;
};

static enum mr_code run_link(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct linking *linking = arg;
	struct mr_team_product *product = &linking->product;
	struct mr_team_project project;
	enum mr_code rc = mr_team_product_find(cx, db, linking->product_key, product);

	if (!rc)
		rc = mr_team_project_find(cx, db, linking->project_key, &project);
	if (rc)
		return rc;
	if (linking->unlink)
		rc = mr_team_product_remove(cx, db, product->id, project.id);
	else if (product->projects.len >= MR_TEAM_PRODUCT_PROJECTS)
		rc = mr_team_refuse(cx, "project_key",
			"product \"%s\" has %d projects already, which is as many as one can have",
			product->name, MR_TEAM_PRODUCT_PROJECTS);
	else
		rc = mr_team_product_add(cx, db, product->id, project.id, linking->role);
	return rc ? rc : mr_team_product_find(cx, db, product->product_uid, product);
}

enum mr_code mr_team_product_link(struct mr_ctx *cx, struct mr_team *team, const char *product_key,
	const char *project_key, const char *role, bool unlink, struct mr_team_product *out)
{
	struct linking linking = {
		.product_key = product_key,
		.project_key = project_key,
		.role = role ? role : "primary",
		.unlink = unlink,
	};
	enum mr_code rc = MR_OK;

	if (!mr_str_eq(linking.role, "primary") && !mr_str_eq(linking.role, "secondary"))
		return mr_team_refuse(cx, "role", "\"%s\" is no role: primary or secondary",
			linking.role);
	rc = mr_team_write(cx, team, run_link, NULL, &linking);
	if (!rc)
		*out = linking.product;
	return rc;
}

enum mr_code mr_team_product_list(struct mr_ctx *cx, struct mr_db *db, struct mr_team_products *out)
{
	return mr_team_product_rows(cx, db, out);
}
