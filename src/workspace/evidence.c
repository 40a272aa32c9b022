/* workspace/evidence.c - loads the files of one message. */
#include "workspace/evidence.h"

#include "text/time.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/name.h"
#include "workspace/text_set.h"

#include <string.h>

bool mr_work_instant(const char *text, int64_t *out_us)
{
	struct mr_err ignored = { 0 };

	return text && !mr_time_parse(text, MR_TIME_LENIENT, out_us, &ignored);
}

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static bool is_record(const struct mr_value *document, const char *message_id)
{
	const struct mr_value *version = mr_value_get(document, "schema_version");

	return mr_str_eq(text_of(document, "schema_name"), "message") && version &&
		version->kind == MR_INT && version->integer == 1 &&
		mr_str_eq(text_of(document, "message_id"), message_id);
}

/* A record that does not parse is made anew, so its failure is nobody's concern here. */
static void load_record(struct mr_ctx *cx, struct mr_work *work, struct mr_work_evidence *out)
{
	struct mr_err kept = cx->err;
	const struct mr_value *document = NULL;

	if (mr_work_read_json(cx, work, mr_work_path_record(cx->arena, out->message_id), &document))
		cx->err = kept;
	else if (is_record(document, out->message_id))
		out->record = document;
}

/* Sent mail of ours has our own domain in its Message-ID. */
static bool is_ours(const struct mr_mime *mime)
{
	return mr_str_ends(mime->message_id ? mime->message_id : "", "@afmail.local");
}

static enum mr_code find_direction(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_evidence *out)
{
	const char *before = text_of(out->record, "direction");
	const struct mr_work_config *config = NULL;
	enum mr_code rc;

	out->direction = is_ours(&out->mime) ? MR_WORK_OUTBOUND : MR_WORK_INBOUND;
	if (before) {
		out->direction = mr_str_eq(before, "outbound") ? MR_WORK_OUTBOUND : MR_WORK_INBOUND;
		return MR_OK;
	}
	if (!out->locations.len)
		return MR_OK;
	rc = mr_work_config_get(cx, work, &config);
	for (size_t i = 0; !rc && i < out->locations.len; i++) {
		const char *id = out->locations.items[i].mailbox_id;
		const struct mr_work_mailbox *mailbox =
			id ? mr_work_find_mailbox(config, id) : NULL;

		if (!mailbox || !mailbox->is_pulled)
			continue;
		out->direction = mailbox->direction;
		break;
	}
	return rc;
}

static void find_times(struct mr_work_evidence *out)
{
	const char *date = out->mime.date.rfc3339;

	out->received = text_of(out->record, "received_rfc3339");
	out->sent = text_of(out->record, "sent_rfc3339");
	if (out->direction == MR_WORK_OUTBOUND) {
		out->received = NULL;
		if (!out->sent)
			out->sent = date;
	} else if (!out->received) {
		out->received = date;
	}
	out->has_time = mr_work_instant(out->received ? out->received : out->sent, &out->time_us);
}

/* --- what was just taken in --- */

struct kept {
	const struct mr_mime *mime;
	struct mr_work_locations locations;
};

struct mr_work_kept {
	struct mr_work_text_set ids;
	struct kept *items; /* in the order of the ids */
	size_t room;
};

void mr_work_evidence_keep(struct mr_arena *arena, struct mr_work *work, const char *message_id,
	const struct mr_mime *mime, const struct mr_work_locations *locations)
{
	struct mr_work_kept *kept = work->kept;
	size_t len;

	if (mr_fs_exists(work->dir, mr_work_path_record(arena, message_id)))
		return;
	if (!kept)
		kept = work->kept = mr_arena_alloc(arena, sizeof(*kept));
	len = kept->ids.texts.len;
	if (!mr_work_text_set_add(arena, &kept->ids, message_id))
		return;
	if (len == kept->room) {
		struct kept *items;

		kept->room = kept->room ? kept->room * 2 : 64;
		items = mr_arena_array(arena, kept->room, sizeof(*items));
		if (len)
			memcpy(items, kept->items, len * sizeof(*items));
		kept->items = items;
	}
	kept->items[len] = (struct kept){ mime, *locations };
}

void mr_work_evidence_forget(struct mr_work *work)
{
	work->kept = NULL;
}

static bool find_kept(const struct mr_work *work, const char *message_id,
	struct mr_work_evidence *out)
{
	size_t at = work->kept ? mr_work_text_set_find(&work->kept->ids, message_id) : SIZE_MAX;

	if (at == SIZE_MAX)
		return false;
	out->mime = *work->kept->items[at].mime;
	out->eml = out->mime.bytes;
	out->locations = work->kept->items[at].locations;
	return true;
}

/* --- loading --- */

static enum mr_code load_files(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_evidence *out)
{
	struct mr_err err = { 0 };
	enum mr_code rc = mr_fs_read(cx->arena, work->dir,
		mr_work_path_eml(cx->arena, out->message_id), MR_MIME_BYTES, &out->eml, &err);

	if (rc && rc != MR_ENOTFOUND) {
		cx->err = err;
		return mr_work_store_error(cx);
	}
	load_record(cx, work, out);
	if (rc && !out->record)
		return mr_work_refuse(cx, MR_WORK_MESSAGE_NOT_FOUND, "there is no message %s",
			out->message_id);
	if (!rc && mr_mime_parse(cx->arena, out->eml, &out->mime, &cx->err))
		return mr_work_refuse(cx, MR_WORK_MIME_PARSE_FAILED, "%s: %s", out->message_id,
			cx->err.msg);
	return mr_work_remote_load(cx, work, out->message_id, &out->locations);
}

enum mr_code mr_work_evidence_load(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	struct mr_work_evidence *out)
{
	struct mr_work_evidence read = { .message_id = mr_arena_strdup(cx->arena, message_id) };
	enum mr_code rc = find_kept(work, message_id, &read) ? MR_OK : load_files(cx, work, &read);

	if (!rc)
		rc = find_direction(cx, work, &read);
	if (rc)
		return rc;
	find_times(&read);
	*out = read;
	return MR_OK;
}
