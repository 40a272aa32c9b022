/* tests/unit/workspace/config_stub.c - what commands ask the configuration, answered as the default
 * one does; until workspace/config.c is there. */
#include "text/time.h"
#include "workspace/config.h"
#include "workspace/error.h"

enum mr_code mr_work_config_get(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config **out)
{
	struct mr_work_config *config = mr_arena_alloc(cx->arena, sizeof(*config));

	(void)work;
	config->contact_group = "people";
	config->reason_required = true;
	*out = config;
	return MR_OK;
}

enum mr_code mr_work_reason(struct mr_ctx *cx, struct mr_work *work, const char *given,
	const char **out)
{
	const char *reason = mr_str_trim(cx->arena, given ? given : "");

	(void)work;
	if (!*reason)
		return mr_work_refuse(cx, MR_WORK_REASON_REQUIRED, "a reason is required");
	*out = reason;
	return MR_OK;
}

bool mr_work_is_own_address(const struct mr_work_config *config, const char *address)
{
	(void)config;
	return mr_str_eq(address, "me@example.com");
}

const char *mr_work_local_date(struct mr_arena *arena, const struct mr_work_config *config,
	int64_t us)
{
	(void)config;
	return mr_time_format(arena, us, MR_TIME_COMPACT_DATE);
}
