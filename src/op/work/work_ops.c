/* op/work/work_ops.c - what the workspace's operations share. */
#include "op/work/work_ops.h"

const struct mr_field mr_work_queued_fields[] = {
	MR_FIELD(struct mr_work_queued, location_count, "location_count",
		.summary = "places on the server that the messages are in"),
	MR_FIELD(struct mr_work_queued, queued_location_count, "queued_location_count",
		.summary = "the same"),
	MR_FIELD(struct mr_work_queued, queued, "queued",
		.summary = "something is queued for the server"),
	MR_FIELD(struct mr_work_queued, push_id, "push_id", .flags = MR_NULLABLE,
		.summary = "the first item of the queue"),
	MR_FIELD(struct mr_work_queued, push_ids, "push_ids", .summary = "all of them"),
	{ 0 },
};
