/*
 * text/clean.h - text from outside without what a terminal or an agent could be misled by. Pure.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

/*
 * A body: CRLF and CR become LF, every control character but LF and TAB is dropped, bytes that are
 * not UTF-8 become U+FFFD, and nothing else is changed.
 */
char *mr_clean_body(struct mr_arena *arena, struct mr_bytes text);

/*
 * The text without characters that are not seen: U+200B to U+200F, U+202A to U+202E, U+2060 to
 * U+2064, U+2066 to U+2069, U+FEFF, U+E0000 to U+E007F. They can turn a line around or hide one.
 * `*count` is how many were dropped.
 */
char *mr_clean_unseen(struct mr_arena *arena, const char *text, size_t *count);
