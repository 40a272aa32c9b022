/*
 * workspace/doctor.h - looks for what is wrong with a workspace, and repairs what can be repaired
 * without guessing.
 *
 * Looking changes nothing and stops at nothing: a file that cannot be read is one issue, and the
 * rest is looked at. A configuration that cannot be used is an issue too; then what depends on it,
 * views and templates, is not looked at.
 */
#pragma once

#include "workspace/frame.h"
#include "workspace/refresh.h"

enum { MR_WORK_ISSUES_MAX = 10000 }; /* that are listed; all are counted */

struct mr_work_issue {
	const char *code;     /* "case_message_ref_broken" */
	const char *severity; /* "error", "warning" */
	const char *message;  /* what is wrong, and what to do */
	const char *path;     /* below the workspace, or NULL; of a template its key */
	struct mr_texts refs; /* the uids and ids that are concerned */
	bool repairable;      /* mr_work_doctor_repair() mends it */
};

struct mr_work_doctor_checks {
	bool git_checked; /* never */
	bool messages, cases, archives, push_queue, templates, transactions;
};

struct mr_work_doctored {
	bool ok; /* no issues */
	int64_t issue_count, error_count, repairable_count;
	int64_t unlisted_count; /* issues beyond MR_WORK_ISSUES_MAX */
	struct mr_work_doctor_checks checks;
	struct mr_work_issue *issues;
	size_t issues_len;
};

MR_CHECK enum mr_code mr_work_doctor(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_doctored *out);

struct mr_work_doctor_repair {
	bool confirm;
};
struct mr_work_doctor_repaired {
	bool confirmed;
	int64_t before_issue_count, after_issue_count;
	int64_t message_cache_rebuilt_count; /* records that could not be read */
	int64_t text_cache_removed_count, deprecated_state_removed_count; /* of generation 0.1 */
	int64_t sidecar_written_count, sidecar_removed_count, directory_renamed_count;
	int64_t transaction_removed_count;
	int64_t migrated_case_count, migrated_category_count, migrated_message_count,
		migrated_push_count;
	bool config_migrated;
	bool is_rendered; /* false: the configuration is broken, so there are no views */
	struct mr_work_refreshed render;
	struct mr_work_issue *remaining_issues;
	size_t remaining_issues_len;
};

/*
 * Repair what is repairable; the workspace is open for writing and was not recovered. Canonical
 * files change in one journalled change: a workspace of generation 0.1 is brought up to date,
 * sidecars that only the record remembers come back, directories get the names of their cases.
 * Then all projections and the index are made anew.
 *
 * confirm_required, and transaction_incomplete when an interrupted change cannot be finished. The
 * mark that another program left at an interrupted change says nothing that could be finished: it
 * is removed, and what the change left half done is among the issues.
 */
MR_CHECK enum mr_code mr_work_doctor_repair(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_doctor_repair *request, struct mr_work_doctor_repaired *out);
