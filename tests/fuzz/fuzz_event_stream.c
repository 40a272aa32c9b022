/* tests/fuzz/fuzz_event_stream.c - any bytes of a server: the same events whole and byte by byte.
 */
#include "text/event_stream.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* All events in one text. */
static void note(void *arg, const struct mr_event *event)
{
	struct mr_buf *seen = arg;

	if (!*event->type || strlen(event->id) >= MR_EVENT_ID_BYTES ||
		strlen(event->data) > MR_EVENT_DATA_BYTES || strpbrk(event->type, "\r\n") ||
		strpbrk(event->id, "\r\n") || strchr(event->data, '\r'))
		abort();
	mr_buf_printf(seen, "%zu %zu %zu %s|%s|%s\n", strlen(event->type), strlen(event->data),
		strlen(event->id), event->type, event->data, event->id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_event_stream whole MR_CLEANUP(mr_event_stream_release) = { 0 };
	struct mr_event_stream pieces MR_CLEANUP(mr_event_stream_release) = { 0 };
	struct mr_buf seen MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf again MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc, pieces_rc = MR_OK;
	struct mr_err err;

	mr_buf_init(&seen, 64 << 20);
	mr_buf_init(&again, 64 << 20);
	mr_event_stream_init(&whole, note, &seen);
	mr_event_stream_init(&pieces, note, &again);
	rc = mr_event_stream_feed(&whole, mr_bytes_of(data, len), &err);
	for (size_t i = 0; i < len && !pieces_rc; i++)
		pieces_rc = mr_event_stream_feed(&pieces, mr_bytes_of(data + i, 1), &err);
	if (rc != pieces_rc || (rc && rc != MR_ELIMIT) ||
		strcmp(mr_buf_text(&seen), mr_buf_text(&again)) != 0)
		abort();
	if (rc)
		return 0;
	if (whole.retry_ms != pieces.retry_ms ||
		strcmp(mr_event_stream_last_id(&whole), mr_event_stream_last_id(&pieces)) != 0)
		abort();
	/* What was begun says nothing after a new start. */
	mr_buf_clear(&seen);
	mr_event_stream_restart(&whole);
	if (mr_event_stream_feed(&whole, mr_bytes_text("\n\n"), &err) || seen.len)
		abort();
	return 0;
}
