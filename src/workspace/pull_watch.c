/* workspace/pull_watch.c - pulls, waits for news, and pulls again. */
#include "workspace/pull_watch.h"

#include "workspace/error.h"
#include "workspace/pull_arrive.h"

#include <poll.h>

enum {
	IDLE_MS = 25 * 60 * 1000,  /* servers end a silence of half an hour */
	OTHERS_MS = 5 * 60 * 1000, /* when there are mailboxes that nobody watches */
	POLL_MS = 60 * 1000,
	PAUSE_MS = 1000,
	PAUSE_MAX_MS = 60 * 1000,
	LOCKED_MS = 100,
};

struct watching {
	struct mr_ctx *cx;
	const struct mr_work_watch *watch;
	struct mr_work_pull request;
	struct mr_imap *session;
	struct mr_work_pulled *total;
	struct mr_work_pulled arrived; /* since the last pull */
	size_t mailboxes;
	const char *mailbox_id, *mailbox_name; /* that the session has open, or NULL */
};

static bool is_stopped(const struct watching *w, int wait_ms)
{
	struct pollfd stop = { .fd = w->watch->stop_fd, .events = POLLIN };

	return poll(&stop, 1, wait_ms) > 0;
}

static enum mr_code count_mailboxes(struct watching *w, struct mr_ctx *cx, struct mr_work *work)
{
	const struct mr_work_config *config = NULL;
	struct mr_work_targets targets = { 0 };
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (!rc)
		rc = mr_work_pull_targets(cx, config, &w->request.ids, &targets);
	w->mailboxes = targets.len;
	return rc;
}

static void add(struct mr_work_pulled *total, const struct mr_work_pulled *one)
{
	total->mailbox_count = one->mailbox_count;
	total->new_message_count += one->new_message_count;
	total->triage_created_count += one->triage_created_count;
	total->spam_message_count += one->spam_message_count;
	total->trashed_message_count += one->trashed_message_count;
	total->updated_location_count += one->updated_location_count;
	total->flags_updated_count += one->flags_updated_count;
	total->missing_location_count += one->missing_location_count;
	total->failed_message_count += one->failed_message_count;
}

static enum mr_code pull_once(struct watching *w, struct mr_ctx *cx, struct mr_work_pulled *result)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	enum mr_code rc = mr_work_open(cx, w->watch->root, MR_WORK_WRITE, &work);

	if (!rc)
		rc = count_mailboxes(w, cx, work);
	return rc ? rc : mr_work_pull_with(cx, work, &w->request, &w->session, result);
}

/* The first mailbox was pulled last, and is open. */
static void note_mailbox(struct watching *w, const struct mr_work_pulled *result)
{
	const char *id = result->mailbox_ids.len ? result->mailbox_ids.items[0] : NULL;
	const char *name = id ? result->mailbox_names.items[0] : NULL;

	if (!mr_str_eq(w->mailbox_id, id))
		w->mailbox_id = mr_arena_strdup(w->cx->arena, id);
	if (!mr_str_eq(w->mailbox_name, name))
		w->mailbox_name = mr_arena_strdup(w->cx->arena, name);
}

/* One pull, in an arena of its own. */
static enum mr_code pull(struct watching *w)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx own = *w->cx;
	struct mr_work_pulled result = { 0 };
	enum mr_code rc;

	own.arena = arena;
	own.err = (struct mr_err){ 0 };
	rc = pull_once(w, &own, &result);
	if (rc)
		return mr_work_error_pass(w->cx, &own.err);
	note_mailbox(w, &result);
	result.new_message_count += w->arrived.new_message_count;
	result.triage_created_count += w->arrived.triage_created_count;
	result.spam_message_count += w->arrived.spam_message_count;
	result.trashed_message_count += w->arrived.trashed_message_count;
	w->arrived = (struct mr_work_pulled){ 0 };
	add(w->total, &result);
	w->watch->tell(w->watch->arg, "pulled", &result, NULL);
	return MR_OK;
}

static enum mr_code wait_for_news(struct watching *w)
{
	struct mr_work_ready *ready MR_CLEANUP(mr_work_ready_closep) = NULL;
	struct mr_imap_news news = { 0 };
	struct mr_err err = { 0 };

	if (!w->session || !mr_imap_can(w->session, "IDLE")) {
		(void)is_stopped(w, POLL_MS);
		return MR_OK;
	}
	if (w->mailbox_name)
		mr_work_ready_open(w->cx, w->watch->root, &w->request, w->mailbox_id,
			w->mailbox_name, &ready);
	while (!news.any && !is_stopped(w, 0) && mr_imap_can(w->session, "IDLE")) {
		int wait_ms = w->mailboxes > 1 ? OTHERS_MS : IDLE_MS;
		int64_t begun = mr_clock_mono_us(w->cx->clock);

		if (mr_imap_idle(w->session, w->watch->stop_fd, wait_ms, ready != NULL, &news,
			    &err)) {
			mr_imap_closep(&w->session);
			return mr_work_server_failed(w->cx, &err, MR_WORK_IMAP_FETCH_FAILED);
		}
		/* A server that does not let us wait is not asked without pause. */
		if (!news.any && mr_clock_mono_us(w->cx->clock) - begun < PAUSE_MS * 1000)
			(void)is_stopped(w, PAUSE_MS);
		if (w->mailboxes > 1)
			break;
	}
	if (news.mail)
		mr_work_ready_take(ready, &w->session, &w->arrived);
	return MR_OK;
}

static int longer(int pause_ms)
{
	return pause_ms * 2 < PAUSE_MAX_MS ? pause_ms * 2 : PAUSE_MAX_MS;
}

enum mr_code mr_work_pull_watch(struct mr_ctx *cx, const struct mr_work_watch *watch,
	const struct mr_work_pull *request, struct mr_work_pulled *result)
{
	struct watching w = { .cx = cx, .watch = watch, .request = *request, .total = result };
	int pause_ms = PAUSE_MS;
	enum mr_code rc = MR_OK;

	*result = (struct mr_work_pulled){ 0 };
	while (!is_stopped(&w, 0)) {
		rc = pull(&w);
		if (!rc) {
			pause_ms = PAUSE_MS;
			watch->tell(watch->arg, "watching", NULL, NULL);
			rc = wait_for_news(&w);
		}
		if (rc == MR_EBUSY) { /* another command works: it is over soon */
			(void)is_stopped(&w, LOCKED_MS);
		} else if (rc && !mr_code_is_retryable(rc)) {
			break;
		} else if (rc) {
			watch->tell(watch->arg, "waiting", NULL, &cx->err);
			(void)is_stopped(&w, pause_ms);
			pause_ms = longer(pause_ms);
		}
		rc = MR_OK;
	}
	mr_imap_closep(&w.session);
	return rc;
}
