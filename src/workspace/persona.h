/*
 * workspace/persona.h - a persona file: what an identity is called, signs with, and is for. Pure.
 *
 * Front matter in YAML (kind, identity, name, footer) and notes for agents as the body.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum { MR_WORK_PERSONA_BYTES = 1 << 20 };

struct mr_work_persona {
	const char *identity;
	const char *name, *footer, *notes; /* or NULL */
};

/* Read the bytes of a file; MR_EFORMAT and MR_EINVAL say what is wrong. The texts live in `arena`.
 */
MR_CHECK enum mr_code mr_work_persona_read(struct mr_arena *arena, struct mr_bytes file,
	struct mr_work_persona *out, struct mr_err *err);
