/*
 * op/team/envelope_team.h - how the team contract speaks: a result is the object itself; an error
 * is
 * {"error": {"type", "message", "recoverable", "data"}} (spec/coordination.md section 8).
 */
#pragma once

#include "op/envelope.h"

extern const struct mr_envelope mr_envelope_team;
