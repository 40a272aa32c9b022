/* workspace/setup_store.h - a planned account as settings, checked before anybody is asked. */
#pragma once

#include "workspace/setup.h"

/* Would the configuration be right with these servers? config_invalid, invalid_request. Nothing is
 * written; `work` is not to be used for anything else afterwards. */
MR_CHECK enum mr_code mr_work_setup_check(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_setup_plan *plan);
