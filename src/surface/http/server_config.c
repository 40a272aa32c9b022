/* surface/http/server_config.c */
#include "surface/http/server_config.h"

void mr_http_config_defaults(struct mr_http_config *out)
{
	*out = (struct mr_http_config){
		.host = "127.0.0.1",
		.max_header_bytes = 8 * 1024,
		.max_body_bytes = 4 * 1024 * 1024,
		.max_connections = 2048,
		.idle_timeout_s = 60,
		.receive_timeout_s = 30,
		.workers = 8,
		.worker_queue = 256,
		.max_streams = 1024,
		.max_stream_bytes = 1024 * 1024,
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
		{ "max_header_bytes", config->max_header_bytes, 1024, 256 * 1024 },
		{ "max_body_bytes", config->max_body_bytes, 1, 1024 * 1024 * 1024 },
		{ "max_connections", config->max_connections, 1, 1000000 },
		{ "idle_timeout_s", config->idle_timeout_s, 1, 86400 },
		{ "receive_timeout_s", config->receive_timeout_s, 1, 86400 },
		{ "workers", config->workers, 1, 1024 },
		{ "worker_queue", config->worker_queue, 1, 1000000 },
		{ "max_streams", config->max_streams, 1, 1000000 },
		{ "max_stream_bytes", config->max_stream_bytes, 1024, 1024 * 1024 * 1024 },
		{ "keepalive_ms", config->keepalive_ms, 10, 86400 * 1000 },
	};

	for (size_t i = 0; i < MR_LEN(settings); i++) {
		if (settings[i].value < settings[i].min || settings[i].value > settings[i].max)
			return mr_err_set(err, MR_EINVAL, "http: %s must be %llu to %llu, not %llu",
				settings[i].name, (unsigned long long)settings[i].min,
				(unsigned long long)settings[i].max,
				(unsigned long long)settings[i].value);
	}
	if (config->token && !*config->token)
		return mr_err_set(err, MR_EINVAL, "http: the token is empty");
	return MR_OK;
}
