/*
 * tests/blackbox/jmap_driver.c - the JMAP client, driven by lines of JSON.
 *
 * The first line says who logs in where. Each further one is a request, and is answered by a line:
 * {"ok": ...}, or {"error": code, "word": ..., "message": ...}, with the pauses that it made.
 */
#include "net/jmap_watch.h"

#include "base/buf.h"
#include "text/json.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE_BYTES = 64 << 20, PAUSES = 64 };

struct driver {
	struct mr_jmap *jmap;
	struct mr_jmap_login login;
	int pauses[PAUSES];
	size_t len;
	struct mr_jmap_watch *watch;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t changes;    /* that the watch told of, under the lock */
	struct timespec at; /* the last one */
};

static void note_change(void *arg)
{
	struct driver *driver = arg;

	pthread_mutex_lock(&driver->lock);
	driver->changes++;
	clock_gettime(CLOCK_MONOTONIC, &driver->at);
	pthread_cond_signal(&driver->changed);
	pthread_mutex_unlock(&driver->lock);
}

static void note_pause(void *arg, int ms)
{
	struct driver *driver = arg;

	if (driver->len < PAUSES)
		driver->pauses[driver->len++] = ms;
}

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static int64_t number_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_INT ? value->integer : 0;
}

static enum mr_code ask(struct mr_ctx *cx, struct driver *driver, const struct mr_value *command,
	struct mr_out *out)
{
	const struct mr_value *calls = mr_value_get(command, "calls");
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	enum mr_code rc;

	mr_jmap_begin(&request, cx->arena);
	for (size_t i = 0; i < calls->list.len; i++) {
		const struct mr_value *call = calls->list.items[i].list.items;
		struct mr_out *args = mr_jmap_call(&request, call[0].text, call[2].text);

		for (size_t j = 0; j < call[1].map.len; j++)
			mr_out_value(args, call[1].map.pairs[j].key, &call[1].map.pairs[j].value);
		mr_jmap_end(&request);
	}
	rc = mr_jmap_ask(cx, driver->jmap, &request,
		text_of(command, "writes") ? MR_JMAP_WRITES : MR_JMAP_READS, &response);
	if (rc)
		return rc;
	if (mr_value_get(command, "count")) {
		const struct mr_value *last = response.items[response.len - 1].value;

		mr_out_int(out, "ok", (int64_t)mr_value_get(last, "list")->list.len);
		return MR_OK;
	}
	mr_out_list(out, "ok");
	for (size_t i = 0; i < response.len; i++) {
		mr_out_list(out, NULL);
		mr_out_text(out, NULL, response.items[i].name);
		mr_out_value(out, NULL, response.items[i].value);
		mr_out_text(out, NULL, response.items[i].id);
		mr_out_end(out);
	}
	mr_out_end(out);
	return MR_OK;
}

/* The result of one call, or its error. */
static enum mr_code call(struct mr_ctx *cx, struct driver *driver, const struct mr_value *command,
	struct mr_out *out)
{
	const struct mr_value *args = mr_value_get(command, "args");
	const char *method = text_of(command, "method");
	const char *refused = text_of(command, "refused");
	const struct mr_value *result;
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	struct mr_out *to;
	enum mr_code rc;

	mr_jmap_begin(&request, cx->arena);
	to = mr_jmap_call(&request, method, "0");
	for (size_t i = 0; i < args->map.len; i++)
		mr_out_value(to, args->map.pairs[i].key, &args->map.pairs[i].value);
	mr_jmap_end(&request);
	rc = mr_jmap_ask(cx, driver->jmap, &request,
		text_of(command, "writes") ? MR_JMAP_WRITES : MR_JMAP_READS, &response);
	if (!rc)
		rc = mr_jmap_find(cx, &response, "0", method, &result);
	if (!rc && refused)
		rc = mr_jmap_set_result(cx, result, text_of(command, "done"), refused,
			text_of(command, "key"), &result);
	if (!rc)
		mr_out_value(out, "ok", result);
	return rc;
}

static enum mr_code session(struct mr_ctx *cx, struct driver *driver, struct mr_out *out)
{
	const struct mr_jmap_session *found;
	enum mr_code rc = mr_jmap_session(cx, driver->jmap, &found);

	if (rc)
		return rc;
	mr_out_map(out, "ok");
	mr_out_text(out, "url", found->url);
	mr_out_text(out, "api", found->api_url);
	mr_out_text(out, "events", found->event_url);
	mr_out_text(out, "account", found->mail_account);
	mr_out_text(out, "submission", found->submission_account);
	mr_out_int(out, "calls", found->limits.calls);
	mr_out_int(out, "gets", found->limits.gets);
	mr_out_end(out);
	return MR_OK;
}

static enum mr_code remember(struct mr_ctx *cx, struct driver *driver, struct mr_out *out)
{
	struct mr_jmap *other;
	const char *url;
	struct mr_bytes body = mr_jmap_remember(driver->jmap, &url);
	enum mr_code rc = mr_jmap_open(cx, &driver->login, &other);

	if (rc)
		return rc;
	mr_jmap_recall(other, url, body);
	mr_out_text(out, "ok", url);
	mr_jmap_close(driver->jmap);
	driver->jmap = other;
	return MR_OK;
}

static enum mr_code transfer(struct mr_ctx *cx, struct driver *driver,
	const struct mr_value *command, struct mr_out *out)
{
	const char *bytes = text_of(command, "upload");
	const char *type = text_of(command, "type");
	const char *id;
	struct mr_bytes got;
	enum mr_code rc;

	if (bytes) {
		rc = mr_jmap_upload(cx, driver->jmap, mr_bytes_text(bytes), type, &id);
		if (!rc)
			mr_out_text(out, "ok", id);
		return rc;
	}
	rc = mr_jmap_download(cx, driver->jmap, text_of(command, "download"), type, "a name",
		(size_t)number_of(command, "max"), &got);
	if (!rc)
		mr_out_bytes(out, "ok", got);
	return rc;
}

static enum mr_code watch(struct mr_ctx *cx, struct driver *driver, const struct mr_value *options,
	struct mr_out *out)
{
	struct mr_jmap_watch_config config = {
		.login = driver->login,
		.clock = cx->clock,
		.rand = cx->rand,
		.poll_ms = (int)number_of(options, "poll_ms"),
		.pause_ms = (int)number_of(options, "pause_ms"),
		.ping_s = (int)number_of(options, "ping_s"),
		.changed = note_change,
		.arg = driver,
	};

	mr_out_null(out, "ok");
	return mr_jmap_watch_open(cx, &config, &driver->watch);
}

/* Wait until the watch has told of so many changes. */
static enum mr_code await(struct mr_ctx *cx, struct driver *driver, int64_t count,
	struct mr_out *out)
{
	static const char *const ways[] = { "begins", "pushed", "polled", "lost" };
	const char *why;

	pthread_mutex_lock(&driver->lock);
	while (driver->changes < count)
		pthread_cond_wait(&driver->changed, &driver->lock);
	mr_out_map(out, "ok");
	mr_out_int(out, "changes", driver->changes);
	mr_out_real(out, "at", (double)driver->at.tv_sec + (double)driver->at.tv_nsec / 1e9);
	pthread_mutex_unlock(&driver->lock);
	mr_out_text(out, "way", ways[mr_jmap_watch_way(driver->watch, cx->arena, &why)]);
	mr_out_text(out, "why", why);
	mr_out_end(out);
	return MR_OK;
}

static enum mr_code carry_out(struct mr_ctx *cx, struct driver *driver,
	const struct mr_value *command, struct mr_out *out)
{
	if (mr_value_get(command, "calls"))
		return ask(cx, driver, command, out);
	if (mr_value_get(command, "method"))
		return call(cx, driver, command, out);
	if (mr_value_get(command, "session"))
		return session(cx, driver, out);
	if (mr_value_get(command, "remember"))
		return remember(cx, driver, out);
	if (mr_value_get(command, "watch"))
		return watch(cx, driver, mr_value_get(command, "watch"), out);
	if (mr_value_get(command, "await"))
		return await(cx, driver, number_of(command, "await"), out);
	return transfer(cx, driver, command, out);
}

static void answer(struct driver *driver, const struct mr_value *command)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = mr_clock_system(), .rand = mr_rand_system() };
	struct mr_buf line MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;
	enum mr_code rc;

	mr_buf_init(&line, LINE_BYTES);
	mr_out_init_json(&out, &line, MR_JSON_COMPACT);
	mr_out_map(&out, NULL);
	driver->len = 0;
	if (!driver->jmap) {
		driver->login = (struct mr_jmap_login){
			.url = text_of(command, "url"),
			.user = text_of(command, "user"),
			.password = text_of(command, "password"),
			.bearer = text_of(command, "bearer"),
			.ca_file = text_of(command, "ca_file"),
			.timeout_ms = (int)number_of(command, "timeout_ms"),
			.pause = note_pause,
			.pause_arg = driver,
		};
		rc = mr_jmap_open(&cx, &driver->login, &driver->jmap);
		if (!rc)
			mr_out_null(&out, "ok");
	} else {
		rc = carry_out(&cx, driver, command, &out);
	}
	if (rc) {
		mr_out_text(&out, "error", mr_code_name(rc));
		mr_out_text(&out, "word", cx.err.word);
		mr_out_text(&out, "message", cx.err.msg);
	}
	mr_out_list(&out, "pauses");
	for (size_t i = 0; i < driver->len; i++)
		mr_out_int(&out, NULL, driver->pauses[i]);
	mr_out_end(&out);
	mr_out_end(&out);
	puts(mr_buf_text(&line));
	fflush(stdout);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct mr_json_limits limits = { LINE_BYTES, 64, 4000000 };
	struct mr_arena *arena = mr_arena_new(); /* the login is used until the end */
	struct driver driver = { .lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER };
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	while ((len = getline(&line, &cap, stdin)) > 0) {
		const struct mr_value *command;
		struct mr_err err;

		if (mr_json_parse(arena, mr_bytes_of(line, (size_t)len), &limits, &command, &err)) {
			fprintf(stderr, "%s\n", err.msg);
			return 1;
		}
		answer(&driver, command);
	}
	mr_jmap_watch_close(driver.watch);
	mr_jmap_close(driver.jmap);
	mr_arena_free(arena);
	free(line);
	return 0;
}
