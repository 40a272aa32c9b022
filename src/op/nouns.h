/* op/nouns.h - the operations themselves, one file per noun, and the list of them all. */
#pragma once

#include "op/op.h"

/* config.c */
extern const struct mr_op mr_op_config;
/* health.c */
extern const struct mr_op mr_op_health;
extern const struct mr_op mr_op_liveness;
extern const struct mr_op mr_op_readiness;
/* operations.c */
extern const struct mr_op mr_op_operations;
extern const struct mr_op mr_op_schema;

/* All of the above, in the order people see them. */
extern const struct mr_op_table mr_nouns;
