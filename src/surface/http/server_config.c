/*
 * surface/http/server_config.c - Defaults, range checks and copies of the HTTP server's
 * configuration.
 */
#include "surface/http/server_config.h"

#include "base/memory.h"
#include "surface/http/budget.h"

#include <string.h>

void mr_http_config_defaults(struct mr_http_config *out)
{
	*out = (struct mr_http_config){
		.handed_fd = -1,
		.host = "127.0.0.1",
		.max_header_bytes = 8 << 10,
		.max_body_bytes = 4 << 20,
		.max_inflight_bytes = mr_http_budget_default(mr_memory_limit("")),
		.max_connections = 2048,
		.idle_timeout_s = 60,
		.receive_timeout_s = 30,
		.workers = 8,
		.more_workers = 376,
		.max_waits = 256, /* a long poll for each of a few hundred agents */
		.worker_queue = 256,
		.max_streams = 1024,
		.max_stream_bytes = 1 << 20,
		.keepalive_ms = 15000,
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
	};
}

enum mr_code mr_http_config_check(const struct mr_http_config *config, struct mr_err *err)
{
	const struct {
		const char *name;
		uint64_t value, min, max;
	} settings[] = {
		{ "max_header_bytes", config->max_header_bytes, 1024, 256 << 10 },
		{ "max_body_bytes", config->max_body_bytes, 1, 1 << 30 },
		{ "max_inflight_bytes", config->max_inflight_bytes, MR_HTTP_BUDGET_MIN,
			(uint64_t)1 << 40 },
		{ "max_connections", config->max_connections, 1, 1000000 },
		{ "idle_timeout_s", config->idle_timeout_s, 1, 86400 },
		{ "receive_timeout_s", config->receive_timeout_s, 1, 86400 },
		{ "workers", config->workers, 1, 1024 },
		{ "more_workers", config->more_workers, 0, 1024 },
		{ "max_waits", config->max_waits, 0, config->workers + config->more_workers - 1 },
		{ "worker_queue", config->worker_queue, 1, 1000000 },
		{ "max_streams", config->max_streams, 1, 1000000 },
		{ "max_stream_bytes", config->max_stream_bytes, 1024, 1 << 30 },
		{ "keepalive_ms", config->keepalive_ms, 10, 86400000 },
	};

	for (size_t i = 0; i < MR_LEN(settings); i++) {
		if (settings[i].value < settings[i].min || settings[i].value > settings[i].max)
			return mr_err_set(err, MR_EINVAL, "http: %s must be %llu to %llu, not %llu",
				settings[i].name, (unsigned long long)settings[i].min,
				(unsigned long long)settings[i].max,
				(unsigned long long)settings[i].value);
	}
	return MR_OK;
}

static struct mr_texts copy_texts(struct mr_arena *arena, const struct mr_texts *texts)
{
	struct mr_texts copy = { mr_arena_array(arena, texts->len + 1, sizeof(char *)),
		texts->len };

	for (size_t i = 0; i < texts->len; i++)
		copy.items[i] = mr_arena_strdup(arena, texts->items[i]);
	return copy;
}

struct mr_http_config mr_http_config_copy(struct mr_arena *arena,
	const struct mr_http_config *config)
{
	struct mr_http_config copy = *config;

	copy.host = mr_arena_strdup(arena, config->host);
	copy.allowed_hosts = copy_texts(arena, &config->allowed_hosts);
	copy.allowed_origins = copy_texts(arena, &config->allowed_origins);
	copy.cors.origins = copy_texts(arena, &config->cors.origins);
	copy.cors.methods = copy_texts(arena, &config->cors.methods);
	copy.cors.headers = copy_texts(arena, &config->cors.headers);
	return copy;
}

struct mr_texts mr_http_config_origins(struct mr_arena *arena, const struct mr_http_config *config)
{
	const struct mr_texts *more = &config->cors.origins;
	struct mr_texts all = config->allowed_origins;

	if (!config->cors.is_enabled)
		return all;
	all.items = mr_arena_array(arena, all.len + more->len + 1, sizeof(char *));
	memcpy(all.items, config->allowed_origins.items, all.len * sizeof(char *));
	for (size_t i = 0; i < more->len; i++)
		all.items[all.len++] = more->items[i];
	return all;
}
