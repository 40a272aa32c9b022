/* text/event_stream.c - Events of a text/event-stream, line by line. */
#include "text/event_stream.h"

#include <string.h>

void mr_event_stream_init(struct mr_event_stream *stream,
	void (*take)(void *arg, const struct mr_event *event), void *arg)
{
	*stream = (struct mr_event_stream){ .take = take, .arg = arg, .retry_ms = -1 };
	mr_buf_init(&stream->line, MR_EVENT_LINE_BYTES);
	mr_buf_init(&stream->type, MR_EVENT_LINE_BYTES);
	mr_buf_init(&stream->data, MR_EVENT_DATA_BYTES);
	mr_buf_init(&stream->id, MR_EVENT_ID_BYTES);
	mr_buf_init(&stream->last_id, MR_EVENT_ID_BYTES);
}

void mr_event_stream_release(struct mr_event_stream *stream)
{
	mr_buf_release(&stream->line);
	mr_buf_release(&stream->type);
	mr_buf_release(&stream->data);
	mr_buf_release(&stream->id);
	mr_buf_release(&stream->last_id);
}

static void forget_event(struct mr_event_stream *stream)
{
	mr_buf_clear(&stream->type);
	mr_buf_clear(&stream->data);
	stream->has_data = false;
}

void mr_event_stream_restart(struct mr_event_stream *stream)
{
	forget_event(stream);
	mr_buf_clear(&stream->line);
	mr_buf_clear(&stream->id);
	mr_buf_puts(&stream->id, mr_buf_text(&stream->last_id));
	stream->after_cr = false;
	stream->after_first = false;
}

const char *mr_event_stream_last_id(const struct mr_event_stream *stream)
{
	return mr_buf_text(&stream->last_id);
}

/* An empty line: an event without data is none, but its id counts. */
static void end_event(struct mr_event_stream *stream)
{
	struct mr_event event;

	mr_buf_clear(&stream->last_id);
	mr_buf_puts(&stream->last_id, mr_buf_text(&stream->id));
	if (stream->has_data) {
		event = (struct mr_event){
			.type = stream->type.len ? mr_buf_text(&stream->type) : "message",
			.data = mr_buf_text(&stream->data),
			.id = mr_buf_text(&stream->last_id),
		};
		stream->take(stream->arg, &event);
	}
	forget_event(stream);
}

static void take_retry(struct mr_event_stream *stream, const char *value)
{
	int64_t number;

	if (strspn(value, "0123456789") == strlen(value) && mr_str_to_int(value, &number))
		stream->retry_ms = number;
}

static void take_id(struct mr_event_stream *stream, struct mr_bytes value)
{
	/* One with a NUL is ignored by the standard; one too long or with other control
	 * characters cannot be sent back in a header. */
	for (size_t i = 0; i < value.len; i++) {
		if (value.data[i] < ' ' || value.data[i] == 0x7f)
			return;
	}
	if (value.len >= MR_EVENT_ID_BYTES)
		return;
	mr_buf_clear(&stream->id);
	mr_buf_add(&stream->id, value.data, value.len);
}

static bool is_field(const char *line, size_t len, const char *name)
{
	return strlen(name) == len && memcmp(line, name, len) == 0;
}

static void take_line(struct mr_event_stream *stream)
{
	const char *line = mr_buf_text(&stream->line);
	size_t len = stream->line.len;
	const char *colon = memchr(line, ':', len);
	size_t name = colon ? (size_t)(colon - line) : len;
	size_t from = colon ? name + 1 : len;
	struct mr_bytes value;

	if (len == 0) {
		end_event(stream);
		return;
	}
	if (from < len && line[from] == ' ')
		from++;
	value = mr_bytes_of(line + from, len - from);
	if (is_field(line, name, "data")) {
		if (stream->has_data)
			mr_buf_putc(&stream->data, '\n');
		mr_buf_add(&stream->data, value.data, value.len);
		stream->has_data = true;
	} else if (is_field(line, name, "event")) {
		mr_buf_clear(&stream->type);
		mr_buf_add(&stream->type, value.data, value.len);
	} else if (is_field(line, name, "id")) {
		take_id(stream, value);
	} else if (is_field(line, name, "retry")) {
		take_retry(stream, line + from);
	}
}

static void end_line(struct mr_event_stream *stream)
{
	static const char mark[] = "\xef\xbb\xbf";

	/* A byte order mark may begin the first line. */
	if (!stream->after_first && stream->line.len >= 3 &&
		memcmp(stream->line.data, mark, 3) == 0) {
		stream->line.len -= 3;
		memmove(stream->line.data, stream->line.data + 3, stream->line.len + 1);
	}
	stream->after_first = true;
	take_line(stream);
	mr_buf_clear(&stream->line);
}

enum mr_code mr_event_stream_feed(struct mr_event_stream *stream, struct mr_bytes bytes,
	struct mr_err *err)
{
	size_t at = 0;

	while (at < bytes.len && !stream->line.failed && !stream->data.failed) {
		const uint8_t *from = bytes.data + at;
		size_t len = 0;

		/* The second half of a CR LF. */
		if (stream->after_cr && *from == '\n') {
			stream->after_cr = false;
			at++;
			continue;
		}
		stream->after_cr = false;
		while (at + len < bytes.len && from[len] != '\n' && from[len] != '\r')
			len++;
		mr_buf_add(&stream->line, from, len);
		at += len;
		if (at < bytes.len) {
			stream->after_cr = bytes.data[at++] == '\r';
			if (!stream->line.failed)
				end_line(stream);
		}
	}
	if (stream->line.failed)
		return mr_err_set(err, MR_ELIMIT,
			"a line of the event stream is longer than %d bytes", MR_EVENT_LINE_BYTES);
	if (stream->data.failed)
		return mr_err_set(err, MR_ELIMIT, "an event is longer than %d bytes",
			MR_EVENT_DATA_BYTES);
	return MR_OK;
}
