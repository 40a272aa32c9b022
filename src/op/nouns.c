/* op/nouns.c */
#include "op/nouns.h"

static const struct mr_op *const all[] = {
	&mr_op_config,
	&mr_op_health,
	&mr_op_liveness,
	&mr_op_readiness,
	&mr_op_operations,
	&mr_op_schema,
};

const struct mr_op_table mr_nouns = { all, MR_LEN(all) };
