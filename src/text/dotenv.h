/*
 * text/dotenv.h - a .env file: NAME=value lines.
 *
 * Blank lines and lines that start with # are skipped, a leading "export " is allowed. A value may
 * be bare (blanks around it dropped, a " #" starts a comment), in single quotes (taken as it
 * stands) or in double quotes (\n \r \t \" \\ \$ are escapes). A value never runs over the end of
 * its line, and nothing is substituted.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { MR_DOTENV_BYTES = 256 * 1024, MR_DOTENV_ENTRIES = 2000 };

struct mr_dotenv_entry {
	const char *name;
	const char *value;
	size_t line; /* from 1 */
};

struct mr_dotenv {
	struct mr_dotenv_entry
		*entries; /* in the file's order; a later one of the same name wins */
	size_t len;
};

/* MR_EFORMAT says which line and what is wrong with it. */
MR_CHECK enum mr_code mr_dotenv_parse(struct mr_arena *arena, struct mr_bytes text,
	struct mr_dotenv *out, struct mr_err *err);
