/*
 * mailbox/repair.h - projections compared with the evidence (check), or rebuilt from it (repair).
 *
 * Evidence is messages/; state is every mailbox.sqlite; the rest is rebuilt. The new index is built
 * beside the old one and takes its place at the end; an unreadable one is moved aside, never
 * deleted. Flags and boxes that exist are kept. A document that cannot be read is set aside and
 * reported, and does not stop the repair.
 */
#pragma once

#include "mailbox/root.h"

struct mr_mailbox_problem {
	const char *what; /* a word: missing_index_row, broken_link, unreadable_document, ... */
	const char *path; /* absolute, or an id */
	const char *detail;
};

struct mr_mailbox_repair_options {
	bool keep_staging;   /* leave staging/ alone */
	bool remove_staging; /* delete what is there instead of putting it into quarantine */
};

struct mr_mailbox_repair_result {
	size_t message_count;
	size_t projection_count;
	size_t registration_count;
	size_t restored_state_count;  /* rows that were there and stayed */
	size_t defaulted_state_count; /* rows that were missing */
	const char *staging_action;   /* "quarantine" or "remove" */
	struct mr_texts staging_paths;
	const char *backed_up_index_path;    /* or NULL */
	struct mr_mailbox_problem *problems; /* what was found, and what was done about it */
	size_t problem_count; /* all of them; the first MR_MAILBOX_PROBLEMS are listed */
	struct mr_mailbox_problem *warnings; /* foreign entries: harmless, left alone */
	size_t warning_count;                /* counted and listed the same way */
};
enum { MR_MAILBOX_PROBLEMS = 1000 };

MR_CHECK enum mr_code mr_mailbox_repair(struct mr_ctx *cx, const char *path,
	const struct mr_mailbox_repair_options *options, struct mr_mailbox_repair_result *out);

/* The same comparison; nothing is changed. */
struct mr_mailbox_check_result {
	size_t message_count;
	size_t registration_count;
	struct mr_mailbox_problem *problems;
	size_t problem_count;
	struct mr_mailbox_problem *warnings;
	size_t warning_count;
};
MR_CHECK enum mr_code mr_mailbox_check(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_check_result *out);
