/*
 * op/team/team_home.c - Opens the team's storage on first use, shares it within the program, and
 * updates the metrics about it.
 */
#include "op/team/team_home.h"

#include "app/metrics.h"
#include "app/settings.h"
#include "base/log.h"
#include "base/oom.h"
#include "team/archive/archive.h"
#include "team/error.h"
#include "team/gauge.h"
#include "team/open.h"
#include "team/session.h"
#include "team/store/duty.h"
#include "team/store/pulse.h"
#include "team/timers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DRAIN_MS = 5000 };

struct mr_team_home {
	pthread_mutex_t lock;
	struct mr_team *team;
	struct mr_team_timers *timers; /* or NULL */
	/* What has been counted already; guarded by `counting`. */
	pthread_mutex_t counting;
	int64_t messages_seen;
	uint64_t busy_seen;
};

struct mr_team_home *mr_team_home_new(void)
{
	struct mr_team_home *home = calloc(1, sizeof(*home));

	if (!home)
		mr_oom(sizeof(*home));
	pthread_mutex_init(&home->lock, NULL);
	pthread_mutex_init(&home->counting, NULL);
	return home;
}

void mr_team_home_free(struct mr_team_home *home)
{
	if (!home)
		return;
	mr_team_timers_stop(home->timers);
	mr_team_close(home->team, DRAIN_MS);
	pthread_mutex_destroy(&home->counting);
	pthread_mutex_destroy(&home->lock);
	free(home);
}

void mr_team_home_freep(struct mr_team_home **home)
{
	mr_team_home_free(*home);
	*home = NULL;
}

/* "sqlite:///rel", "sqlite:////abs", the peers' "sqlite+aiosqlite:///", "postgresql://", or a path.
 */
enum mr_code mr_team_home_database(struct mr_call *call, const char *url, const char *source,
	const char **out)
{
	const char *scheme = strstr(url, "://");

	if (!scheme || mr_str_starts(url, "postgres://") || mr_str_starts(url, "postgresql://")) {
		*out = url;
		return MR_OK;
	}
	if ((!mr_str_starts(url, "sqlite://") && !mr_str_starts(url, "sqlite+aiosqlite://")) ||
		scheme[3] != '/' || scheme[4] == '\0') {
		/* Do not show the URL: it may hold a password. */
		return mr_team_fail(&call->cx, MR_TEAM_INVALID_ARGUMENT,
			"%s must be a path, sqlite:///path or a postgresql:// address, not a URL of "
			"%.*s",
			source, (int)(scheme - url), url);
	}
	*out = scheme + 4;
	return MR_OK;
}

/* As configured; "" is none. */
static enum mr_code database_path(struct mr_call *call, const char **out)
{
	const struct mr_settings *settings = call->app->settings;
	const char *url;
	enum mr_code rc = mr_settings_path(settings, "database.url", &url, &call->cx.err);

	*out = NULL;
	if (rc || mr_str_is_empty(url))
		return rc;
	return mr_team_home_database(call, url,
		mr_arena_printf(call->cx.arena, "database.url (%s)",
			mr_settings_source(settings, "database.url")),
		out);
}

static enum mr_team_name_mode name_mode(const char *word)
{
	return mr_str_eq(word, "strict")    ? MR_TEAM_STRICT
		: mr_str_eq(word, "coerce") ? MR_TEAM_COERCE
					    : MR_TEAM_ALWAYS_AUTO;
}

static enum mr_team_escalation escalation(const char *word)
{
	return mr_str_eq(word, "log")         ? MR_TEAM_ESCALATE_LOG
		: mr_str_eq(word, "overseer") ? MR_TEAM_ESCALATE_OVERSEER
					      : MR_TEAM_ESCALATE_LEASE;
}

static void note_commit(void *arg, int64_t took_us)
{
	mr_metrics_observe(arg, MR_METRIC_GIT_SECONDS, NULL, (double)took_us / 1e6);
}

enum mr_code mr_team_home_config(struct mr_call *call, struct mr_team_config *out)
{
	const struct mr_settings *s = call->app->settings;
	const char *root;
	enum mr_code rc = database_path(call, &out->database);

	if (!rc)
		rc = mr_settings_path(s, "storage.root", &root, &call->cx.err);
	if (!rc)
		rc = mr_settings_may_send(s, "llm.key", "llm.endpoint", &call->cx.err);
	if (rc)
		return rc;
	*out = (struct mr_team_config){
		.storage_root = root,
		.database = out->database,
		.max_log_bytes = mr_settings_int(s, "database.max_wal_bytes"),
		.statement_s = mr_settings_int(s, "database.timeout_seconds"),
		.author_name = mr_settings_text(s, "git.author_name"),
		.author_email = mr_settings_text(s, "git.author_email"),
		.name_mode = name_mode(mr_settings_text(s, "team.name_enforcement")),
		.any_name = mr_str_eq(mr_settings_text(s, "team.name_validation"), "any"),
		.auto_register = mr_settings_bool(s, "team.auto_register"),
		.identity_mode = mr_settings_text(s, "team.identity_mode"),
		.identity_remote = mr_settings_text(s, "team.identity_remote"),
		.contacts_enforced = mr_settings_bool(s, "contact.enforced"),
		.contacts_in_project = mr_settings_bool(s, "contact.same_project"),
		.contact_request_ttl_s = mr_settings_int(s, "contact.request_ttl_seconds"),
		.contact_approval_ttl_s = mr_settings_int(s, "contact.approval_ttl_seconds"),
		.fnmatch_style =
			mr_str_eq(mr_settings_text(s, "reservation.glob_style"), "fnmatch"),
		.enforce_reservations = mr_settings_bool(s, "reservation.enforced"),
		.inactivity_s = mr_settings_int(s, "reservation.inactivity_seconds"),
		.activity_grace_s = mr_settings_int(s, "reservation.activity_grace_seconds"),
		.convert_images = mr_settings_bool(s, "attachment.convert_images"),
		.keep_originals = mr_settings_bool(s, "attachment.keep_originals"),
		.inline_image_bytes = mr_settings_int(s, "attachment.inline_max_bytes"),
		.attachment_roots = *mr_settings_texts(s, "attachment.roots"),
		.ack_ttl_s = mr_settings_int(s, "ack.ttl_seconds"),
		.escalate = mr_settings_bool(s, "ack.escalation"),
		.escalation = escalation(mr_settings_text(s, "ack.escalation_mode")),
		.escalation_ttl_s = mr_settings_int(s, "ack.escalation_ttl_seconds"),
		.escalation_exclusive = mr_settings_bool(s, "ack.escalation_exclusive"),
		.escalation_holder = mr_settings_text(s, "ack.escalation_holder"),
		.quota = mr_settings_bool(s, "quota.enabled"),
		.quota_attachment_bytes = mr_settings_int(s, "quota.attachments_bytes"),
		.quota_inbox = mr_settings_int(s, "quota.inbox_count"),
		.llm_endpoint = mr_settings_text(s, "llm.endpoint"),
		.llm_model = mr_settings_text(s, "llm.model"),
		.llm_key = mr_settings_text(s, "llm.key"),
		.on_commit = note_commit,
		.on_commit_arg = call->app->metrics,
	};
	return MR_OK;
}

enum mr_code mr_team_home_open(struct mr_call *call, struct mr_team **out)
{
	struct mr_team_home *home = call->app->team;
	struct mr_team_config config;
	enum mr_code rc = MR_OK;

	pthread_mutex_lock(&home->lock);
	if (!home->team) {
		rc = mr_team_home_config(call, &config);
		if (!rc)
			rc = mr_team_open(&call->cx, &config, &home->team);
	}
	if (!rc)
		*out = home->team;
	pthread_mutex_unlock(&home->lock);
	return rc;
}

enum mr_code mr_team_home_probe(struct mr_call *call, struct mr_team_health *out,
	const char **database)
{
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (rc)
		return rc;
	mr_team_probe(&call->cx, team, out);
	if (database)
		*database = mr_team_database(team);
	return MR_OK;
}

enum mr_code mr_team_home_pulse(struct mr_call *call, int max_age_ms, int wait_ms)
{
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	return rc ? rc : mr_team_pulse(&call->cx, team, max_age_ms, wait_ms);
}

bool mr_team_home_server(struct mr_call *call, struct mr_db_server *out)
{
	struct mr_team *team;

	return !mr_team_home_open(call, &team) && mr_team_duty_server(team, out);
}

static struct mr_team_timers_config timers_of(const struct mr_settings *s)
{
	struct mr_team_timers_config config = { 0 };

	if (mr_settings_bool(s, "reservation.cleanup"))
		config.sweep_s = mr_settings_int(s, "reservation.cleanup_interval_seconds");
	if (mr_settings_bool(s, "ack.ttl_enabled"))
		config.acks_s = mr_settings_int(s, "ack.scan_interval_seconds");
	return config;
}

enum mr_code mr_team_home_serve(struct mr_call *call)
{
	struct mr_team_timers_config timers = timers_of(call->app->settings);
	struct mr_team_home *home = call->app->team;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_duty_start(&call->cx, team);
	if (!rc)
		rc = mr_team_archive_start(&call->cx, team);
	return rc ? rc : mr_team_timers_start(&call->cx, team, &timers, &home->timers);
}

void mr_team_home_session_end(struct mr_call *call, const char *session)
{
	struct mr_team *team = NULL;

	pthread_mutex_lock(&call->app->team->lock);
	team = call->app->team->team;
	pthread_mutex_unlock(&call->app->team->lock);
	if (team && mr_team_session_end(&call->cx, team, session))
		mr_log(MR_LOG_WARN, "session", "%s", call->cx.err.msg);
}

/* Under the lock. */
static void count(struct mr_call *call, struct mr_team_home *home, struct mr_team *team)
{
	struct mr_metrics *metrics = call->app->metrics;
	struct mr_team_tallies tallies;
	struct mr_team_gauges gauges;

	if (mr_team_gauges(&call->cx, team, &gauges))
		return;
	mr_metrics_set(metrics, MR_METRIC_RESERVATIONS, NULL, (uint64_t)gauges.reservations);
	mr_metrics_set(metrics, MR_METRIC_GIT_QUEUE, NULL, (uint64_t)gauges.archive_pending);
	mr_metrics_count(metrics, MR_METRIC_SQLITE_BUSY, NULL, NULL, gauges.busy - home->busy_seen);
	home->busy_seen = gauges.busy;
	if (mr_team_tally(&call->cx, team, &home->messages_seen, &tallies))
		return;
	for (size_t i = 0; i < tallies.len; i++)
		mr_metrics_count(metrics, MR_METRIC_MESSAGES, tallies.items[i].slug, NULL,
			(uint64_t)tallies.items[i].messages);
}

void mr_team_home_measure(struct mr_call *call)
{
	struct mr_team_home *home = call->app->team;
	struct mr_team *team = NULL;

	pthread_mutex_lock(&home->lock);
	team = home->team;
	pthread_mutex_unlock(&home->lock);
	if (!team)
		return;
	pthread_mutex_lock(&home->counting);
	count(call, home, team);
	pthread_mutex_unlock(&home->counting);
}
