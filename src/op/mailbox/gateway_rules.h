/* op/mailbox/gateway_rules.h - rules for single values in bodies of requests to a gateway: what is
 * wrong with this one, or NULL (mr_param.refuse). */
#pragma once

#include "text/value.h"

struct mr_arena;

/* A text of white space alone. */
const char *mr_gateway_refuse_blank(struct mr_arena *arena, const struct mr_value *value);
/* A text that is no time. */
const char *mr_gateway_refuse_since(struct mr_arena *arena, const struct mr_value *value);
/* A list without elements, or with blank ones. */
const char *mr_gateway_refuse_none(struct mr_arena *arena, const struct mr_value *value);
/* The same, or with one twice. */
const char *mr_gateway_refuse_refs(struct mr_arena *arena, const struct mr_value *value);
/* A list with blank elements. */
const char *mr_gateway_refuse_blanks(struct mr_arena *arena, const struct mr_value *value);
/* A notice that is blank, or would close its own fence. */
const char *mr_gateway_refuse_notice(struct mr_arena *arena, const struct mr_value *value);
/* A scheme of notify_auth that cannot be verified yet, or is none. */
const char *mr_gateway_refuse_scheme(struct mr_arena *arena, const struct mr_value *value);
