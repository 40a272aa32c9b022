/* op/work/around_work.c - the directory and variables that a command of the workspace runs in. */
#include "op/work/around_work.h"

#include "workspace/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *mr_around_spell(struct mr_arena *arena, const char *text)
{
	static const char typed[] = "`afmail ";
	const char *found = strstr(text, typed);
	const char *spelled = "";

	for (; found; found = strstr(text, typed)) {
		spelled = mr_arena_printf(arena, "%s%.*s`mailroom work ", spelled,
			(int)(found - text), text);
		text = found + strlen(typed);
	}
	return mr_arena_printf(arena, "%s%s", spelled, text);
}

enum mr_code mr_around_directory(struct mr_ctx *cx, const char **out)
{
	char *cwd = getcwd(NULL, 0);

	if (!cwd) {
		mr_err_os(&cx->err, errno, "cannot find out the working directory");
		return mr_work_store_error(cx);
	}
	*out = mr_arena_strdup(cx->arena, cwd);
	free(cwd);
	return MR_OK;
}

enum mr_code mr_around_agents(struct mr_ctx *cx, struct mr_work_surroundings *out)
{
	*out = (struct mr_work_surroundings){
		.home = getenv("HOME"),
		.codex_home = getenv("CODEX_HOME"),
		.xdg_config_home = getenv("XDG_CONFIG_HOME"),
		.hermes_home = getenv("HERMES_HOME"),
	};
	return mr_around_directory(cx, &out->directory);
}
