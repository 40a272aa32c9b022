/*
 * surface/web/files.h - the files of web/ as they were built in, made by script/embed: templates of
 * pages, and what pages load.
 */
#pragma once

#include <stddef.h>

struct mr_web_template_file {
	const char *name; /* "inbox.html" */
	const unsigned char *data;
	size_t len;
};
extern const struct mr_web_template_file mr_web_template_files[];
extern const size_t mr_web_template_files_count;

struct mr_web_static_file {
	const char *name; /* "mailroom.css" */
	const unsigned char *data;
	size_t len;
	const unsigned char *packed; /* by gzip */
	size_t packed_len;
};
extern const struct mr_web_static_file mr_web_static_files[];
extern const size_t mr_web_static_files_count;
