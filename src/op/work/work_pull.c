/* op/work/work_pull.c - operations: take mail in from the server, look at the server. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/error.h"
#include "workspace/pull.h"
#include "workspace/pull_watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* --- pull --- */

static const struct mr_param pull_params[] = {
	MR_PARAM(struct mr_work_pull, ids, "ids", .flags = MR_POSITIONAL,
		.summary = "ids of mailboxes, as the configuration has them",
		.fallback = "actions.pull.default_mailbox_ids"),
	MR_PARAM(struct mr_work_pull, dry_run, "dry_run",
		.summary = "only tell how much there is; nothing is taken in"),
	MR_PARAM(struct mr_work_pull, since_days, "since_days",
		.summary = "leave mails on the server that it received earlier", .min = 1,
		.max = 36500),
	MR_PARAM(struct mr_work_pull, all_history, "all_history",
		.summary = "take mail of any age, as it is done without a limit"),
	MR_PARAM(struct mr_work_pull, max_new_messages, "max_new_messages",
		.summary = "take at most so many in; the next pull goes on", .min = 1,
		.max = INT32_MAX),
	MR_PARAM(struct mr_work_pull, max_total_bytes, "max_total_bytes",
		.summary =
			"take at most so many bytes in; the next pull goes on. A mail that is larger stays",
		.min = 1, .max = INT64_MAX / 2),
	MR_PARAM(struct mr_work_pull, watch, "watch", .flags = MR_CLI_ONLY,
		.summary = "stay, and pull mail as it arrives, until it is interrupted"),
	{ 0 },
};

#define PULL_FIELD(member, about) MR_WORK_FIELD(struct mr_work_pulled, member, about)
static const struct mr_field pull_fields[] = {
	PULL_FIELD(mailbox_ids, "the mailboxes that were looked at"),
	PULL_FIELD(mailbox_names, "their names on the server"),
	PULL_FIELD(mailbox_count, "how many they are"),
	MR_WORK_FIELD_OPT(struct mr_work_pulled, unresolved_mailbox_ids,
		"default mailboxes that the server does not have"),
	PULL_FIELD(new_message_count, "mails that were not known"),
	PULL_FIELD(triage_created_count, "of them, those that wait for a decision"),
	PULL_FIELD(spam_message_count, "those that are spam"),
	PULL_FIELD(trashed_message_count, "those that are in the trash"),
	PULL_FIELD(updated_location_count, "known mails that are at another place, too"),
	PULL_FIELD(flags_updated_count, "mails with other flags than before"),
	PULL_FIELD(checked_location_count, "places that were compared"),
	PULL_FIELD(missing_location_count, "places where a mail is no longer"),
	PULL_FIELD(deleted_remote_message_count, "messages that are gone from the server"),
	PULL_FIELD(deleted_remote_message_ids, "the same"),
	PULL_FIELD(tombstoned_message_count, "gone, but needed here"),
	PULL_FIELD(tombstoned_message_ids, "the same"),
	PULL_FIELD(kept_message_count, "gone from one place, and still at another"),
	PULL_FIELD(kept_message_ids, "the same"),
	PULL_FIELD(triage_count, "messages in triage now"),
	PULL_FIELD(triage_written_count, "the same"),
	PULL_FIELD(stale_triage_removed_count, "that left it"),
	PULL_FIELD(spam_count, "messages in spam now"),
	PULL_FIELD(spam_written_count, "the same"),
	PULL_FIELD(stale_spam_removed_count, "that left it"),
	PULL_FIELD(trash_count, "messages in the trash now"),
	PULL_FIELD(trash_written_count, "the same"),
	PULL_FIELD(stale_trash_removed_count, "that left it"),
	PULL_FIELD(deleted_count, "messages that are gone from the server, all together"),
	PULL_FIELD(deleted_written_count, "the same"),
	PULL_FIELD(stale_deleted_removed_count, "that are back"),
	PULL_FIELD(remaining_message_count, "new mails that the limits left on the server"),
	PULL_FIELD(failed_message_count, "mails that could not be taken in"),
	MR_WORK_FIELD_OPT(struct mr_work_pulled, failed_messages, "which, and why"),
	MR_WORK_FIELD_WHEN(struct mr_work_pulled, dry_run, dry_run, "nothing was taken in"),
#define PULL_ZERO(name) MR_FIELD(struct mr_work_pulled, none, name, .summary = "always 0")
	PULL_ZERO("archived_message_count"),
	PULL_ZERO("sent_message_count"),
	PULL_ZERO("draft_message_count"),
	PULL_ZERO("indexed_message_count"),
	PULL_ZERO("flagged_message_count"),
	PULL_ZERO("reclassified_message_count"),
	{ 0 },
};

/* --- watching --- */

/* NULL: nothing that a person would want to know. */
static const char *sentence_of(struct mr_arena *arena, const struct mr_work_pulled *result,
	const struct mr_err *err)
{
	if (err)
		return mr_arena_printf(arena, "%s; trying again soon.", err->msg);
	if (!result || !result->new_message_count)
		return NULL;
	return mr_arena_printf(arena, "%lld new mail%s, %lld in triage.",
		(long long)result->new_message_count, result->new_message_count == 1 ? "" : "s",
		(long long)result->triage_created_count);
}

/* A line for each thing that happens, for whoever reads the output as it comes. */
static void tell_line(void *arg, const char *event, const struct mr_work_pulled *result,
	const struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_call *call = arg;
	struct mr_out out;

	if (!call->line)
		return;
	mr_out_init_tree(&out, arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "code", "pull_watch");
	mr_out_text(&out, "event", event);
	if (result) {
		mr_out_int(&out, "new_message_count", result->new_message_count);
		mr_out_int(&out, "triage_created_count", result->triage_created_count);
		mr_out_int(&out, "updated_location_count", result->updated_location_count);
		mr_out_int(&out, "flags_updated_count", result->flags_updated_count);
		mr_out_int(&out, "missing_location_count", result->missing_location_count);
	}
	if (err) {
		mr_out_text(&out, "error_code", err->word);
		mr_out_text(&out, "error", err->msg);
	}
	mr_out_end(&out);
	call->line(call->line_arg, mr_out_tree(&out), sentence_of(arena, result, err));
}

static enum mr_code watch(struct mr_call *call, const char *root, struct mr_work_pull *request,
	struct mr_work_pulled *result)
{
	struct mr_work_watch watched = { .root = root, .tell = tell_line, .arg = call };
	sigset_t signals;
	enum mr_code rc;

	if (request->dry_run)
		return mr_work_refuse(&call->cx, MR_WORK_INVALID_REQUEST,
			"--watch and --dry-run exclude each other");
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	watched.stop_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	if (watched.stop_fd < 0)
		return mr_err_os(&call->cx.err, errno, "signalfd");
	if (call->line)
		call->line(call->line_arg, NULL, "Watching for new mail; Ctrl-C ends it.");
	rc = mr_work_pull_watch(&call->cx, &watched, request, result);
	close(watched.stop_fd);
	return rc;
}

/* The workspace is recovered within the command: see mr_work_pull(). */
static enum mr_code pull(struct mr_call *call, struct mr_work_pull *request,
	struct mr_work_pulled *result)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	const char *root = NULL;
	enum mr_code rc = mr_contract_work_root(call, &root);

	request->environment = getenv;
	if (!rc && request->watch)
		return watch(call, root, request, result);
	if (!rc)
		rc = mr_work_open(&call->cx, root, MR_WORK_WRITE, &work);
	return rc ? rc : mr_work_pull(&call->cx, work, request, result);
}
MR_BIND_ALONE(pulling, pull, struct mr_work_pull, struct mr_work_pulled);

const struct mr_op mr_op_work_pull = {
	.name = "work_pull",
	.command = "work pull",
	.summary = "Take new mail in from the server",
	.help = "Nothing is changed on the server. Mail that is known already is not fetched again.",
	.code = "pull_result",
	.params = pull_params,
	.result = pull_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &pulling,
	.render = mr_render_work_pulled,
};

/* --- remote --- */

static enum mr_code test(struct mr_call *call, struct mr_work_remote_ask *request,
	struct mr_work_remote_tested *result)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	enum mr_code rc = mr_contract_work_open(call, MR_WORK_READ, &work);

	request->environment = getenv;
	if (!rc)
		rc = mr_work_remote_test(&call->cx, work, request, result);
	if (!rc && call->invocation && call->invocation->contract != &mr_contract_work)
		result->smtp = NULL; /* it was tried, but afmail's contract has no word for it */
	return rc;
}
MR_BIND_ALONE(testing, test, struct mr_work_remote_ask, struct mr_work_remote_tested);

static const struct mr_field capability_fields[] = {
	MR_FIELD(struct mr_work_remote_tested, has_move, "move", .summary = "move mails"),
	{ 0 },
};
#define SMTP_FIELD(member, about) MR_WORK_FIELD(struct mr_work_smtp_tested, member, about)
static const struct mr_field smtp_fields[] = {
	SMTP_FIELD(ok, "the server answered, and accepted the login if there is one"),
	SMTP_FIELD(host, "of the SMTP server"),
	SMTP_FIELD(port, "of the SMTP server"),
	SMTP_FIELD(tls, "the connection is encrypted"),
	SMTP_FIELD(login, "smtp.username and a password, or a token, are set"),
	{ 0 },
};
static const struct mr_field test_fields[] = {
	MR_WORK_FIELD(struct mr_work_remote_tested, ok, "the server accepted the login"),
	MR_WORK_FIELD(struct mr_work_remote_tested, host, "of the IMAP server"),
	MR_WORK_FIELD(struct mr_work_remote_tested, port, "of the IMAP server"),
	MR_WORK_FIELD(struct mr_work_remote_tested, tls, "the connection is encrypted"),
	MR_FIELD_SAME(struct mr_work_remote_tested, capability_fields, "capabilities",
		.summary = "what the server can do"),
	MR_FIELD_STRUCT(struct mr_work_remote_tested, smtp, struct mr_work_smtp_tested, smtp_fields,
		"smtp", .flags = MR_OPTIONAL,
		.summary = "of the SMTP server, when smtp.host is set; not as afmail"),
	{ 0 },
};

const struct mr_op mr_op_work_remote_test = {
	.name = "work_remote_test",
	.command = "work remote test",
	.summary = "Try to log in to the mail servers",
	.help = "Connects and logs in by IMAP, and by SMTP when smtp.host is set. Nothing is changed "
		"on the server, and nothing is sent.",
	.code = "remote_test_result",
	.result = test_fields,
	MR_WORK_OP,
	.bind = &testing,
	.render = mr_render_work_remote_tested,
};

static enum mr_code list_folders(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_remote_ask *request, struct mr_work_remote_folders *result)
{
	request->environment = getenv;
	return mr_work_remote_folders(cx, work, request, result);
}
MR_WORK_BIND(listing_folders, list_folders, struct mr_work_remote_ask,
	struct mr_work_remote_folders);

static const struct mr_field folders_fields[] = {
	MR_WORK_FIELD(struct mr_work_remote_folders, mailboxes, "all mailboxes of the account"),
	MR_WORK_FIELD(struct mr_work_remote_folders, special_use_targets,
		"the mailbox for each special use"),
	{ 0 },
};

const struct mr_op mr_op_work_remote_folders = {
	.name = "work_remote_folders",
	.command = "work remote folders",
	.summary = "List the mailboxes on the mail server",
	.help = "Shows which mailbox a push would use for which purpose. Nothing is changed on the "
		"server.",
	.code = "remote_mailboxes",
	.result = folders_fields,
	MR_WORK_OP,
	.bind = &listing_folders,
	.render = mr_render_work_folders,
};
