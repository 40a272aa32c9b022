/*
 * workspace/templates_builtin.h - the sources of the built-in templates, as script/embed put them
 * into the program from src/workspace/templates.
 */
#pragma once

#include "base/str.h"

struct mr_work_template_file {
	const char *path; /* "en-US/triage/view.md.j2" */
	const unsigned char *data;
	size_t len;
};

extern const struct mr_work_template_file mr_work_template_files[];
extern const size_t mr_work_template_files_count;

/* The source of "triage/view.md.j2" in "en-US" or "zh-CN"; no bytes when there is none. */
struct mr_bytes mr_work_template_source(const char *language, const char *key);
