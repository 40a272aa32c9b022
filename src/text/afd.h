/*
 * text/afd.h - values as Agent-First Data prints them: one line of JSON, YAML, or one line of
 * key=value pairs, with secrets hidden. Pure.
 *
 * In YAML and plain output the suffix of a key says what its value is, so that the suffix is
 * dropped and the value written with its unit: `duration_ms: 1280` becomes `duration: "1.28s"`.
 * When two keys of an object would become the same, both keep their names and values.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "text/value.h"

enum { MR_AFD_DEPTH = 256 }; /* what is nested deeper is hidden, too */

enum mr_afd_format { MR_AFD_JSON, MR_AFD_YAML, MR_AFD_PLAIN };
extern const char *const mr_afd_format_names[]; /* "json", "yaml", "plain", NULL */

/*
 * The value without secrets: members whose names end in _secret become "***", and in URLs (members
 * that end in _url) passwords and parameters that end in _secret.
 */
const struct mr_value *mr_afd_redact(struct mr_arena *arena, const struct mr_value *value);

/* Append the redacted value and a line end. Keys are sorted in all formats. */
void mr_afd_write(struct mr_arena *arena, struct mr_buf *out, const struct mr_value *value,
	enum mr_afd_format format);
/* YAML as mr_afd_write() has it, but with keys and values as they are: for help. */
void mr_afd_write_raw_yaml(struct mr_arena *arena, struct mr_buf *out,
	const struct mr_value *value);
