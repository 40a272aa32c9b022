/*
 * text/toml.h - a TOML document taken apart into its statements, so that one of them can be changed
 * and all others keep their bytes.
 *
 * A statement is a table's head or a key with its value; comments and blank lines lie between them.
 * Values are checked for their form and not read. A document is refused (MR_EFORMAT, with the line)
 * when it does not follow the grammar of TOML 1.0, or defines a key or a table twice; what only
 * shows in the meaning of dotted keys, or inside inline tables, is not looked for.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
	MR_TOML_DEPTH = 64,        /* of arrays and inline tables in each other */
	MR_TOML_KEYS = 64,         /* of one dotted key */
	MR_TOML_STATEMENTS = 4096, /* MR_ELIMIT beyond */
};

enum mr_toml_kind { MR_TOML_TABLE, MR_TOML_ARRAY_TABLE, MR_TOML_VALUE };

struct mr_toml_statement {
	enum mr_toml_kind kind;
	size_t start, end;    /* its bytes: whole lines, with the newline */
	size_t line;          /* the first is 1 */
	struct mr_texts path; /* keys from the root: those of its table, then its own */
};

struct mr_toml {
	struct mr_toml_statement *items;
	size_t len;
};

MR_CHECK enum mr_code mr_toml_scan(struct mr_arena *arena, struct mr_bytes text,
	struct mr_toml *out, struct mr_err *err);
