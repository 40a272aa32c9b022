/*
 * op/trace.c - Sends each finished operation as a trace span when an OpenTelemetry endpoint is
 * configured.
 */
#include "op/trace.h"

#include "app/settings.h"
#include "net/otlp.h"

enum mr_code mr_trace_begin(struct mr_call *call)
{
	const struct mr_settings *s = call->app->settings;
	const struct mr_otlp_config config = {
		.endpoint = mr_settings_text(s, "otel.endpoint"),
		.headers = mr_settings_text(s, "otel.headers"),
		.service = mr_settings_text(s, "otel.service_name"),
		.rand = call->app->rand,
	};

	enum mr_code rc;

	if (!*config.endpoint || !call->app->traces)
		return MR_OK;
	rc = mr_settings_may_send(s, "otel.headers", "otel.endpoint", &call->cx.err);
	return rc ? rc : mr_otlp_begin(call->app->traces, &config, &call->cx.err);
}

void mr_trace_operation(const struct mr_call *call, const struct mr_op *op, enum mr_code rc,
	int64_t took_us)
{
	int64_t now_us = mr_clock_wall_us(call->app->clock);
	const struct mr_otlp_attribute attributes[] = {
		{ .key = "rpc.method", .text = op->name },
		{ .key = "mailroom.request_id", .text = call->request_id ? call->request_id : "" },
		{ .key = "error.type", .text = mr_code_name(rc) },
	};

	/* Operations of the command line, such as `serve` itself, are no spans. */
	if (!(op->surfaces & (MR_ON_HTTP | MR_ON_MCP | MR_ON_MCP_SET)))
		return;
	mr_otlp_add(call->app->traces,
		&(struct mr_otlp_span){
			.name = op->name,
			.traceparent = call->traceparent,
			.begun_us = now_us - took_us,
			.ended_us = now_us,
			.error = rc ? call->cx.err.msg : NULL,
			.attributes = attributes,
			.attribute_count = MR_LEN(attributes) - (rc ? 0 : 1),
		});
}
