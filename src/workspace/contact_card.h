/*
 * workspace/contact_card.h - a contact's card: a head that says who it is, and notes in Markdown.
 * Pure.
 *
 * People edit cards by hand, so reading is lenient: any YAML spelling, numbers where texts are
 * meant, members that are left out. Members that we do not know and the bytes of the notes are kept
 * when a card is written again.
 */
#pragma once

#include "base/ctx.h"
#include "base/str.h"
#include "text/value.h"

enum { MR_WORK_CARD_LIST_MAX = 1000 }; /* addresses, telephone numbers or tags */

struct mr_work_card {
	const char *contact_uid, *display_name;
	struct mr_texts emails; /* in lower case, each once */
	struct mr_texts phones;
	const char *organization, *role; /* "" when there is none */
	struct mr_texts tags;
	const char *created_rfc3339, *updated_rfc3339;
	struct mr_value others; /* a map of the members that people added */
	struct mr_bytes body;   /* the notes */
};

/* Read a card. What is wrong with it is invalid_contact; the message does not name the file. */
MR_CHECK enum mr_code mr_work_card_read(struct mr_ctx *cx, struct mr_bytes file,
	struct mr_work_card *out);
/* The file of a card; invalid_contact when it could not be read again. */
MR_CHECK enum mr_code mr_work_card_write(struct mr_ctx *cx, const struct mr_work_card *card,
	struct mr_bytes *out);

/* The notes of a new card: its name as a heading. */
struct mr_bytes mr_work_card_heading(struct mr_arena *arena, const char *display_name);
/* The notes with a paragraph added; the notes replaced. Both end in one newline. */
struct mr_bytes mr_work_card_append(struct mr_arena *arena, struct mr_bytes body, const char *text);
struct mr_bytes mr_work_card_replace(struct mr_arena *arena, const char *text);

/* An address as cards have it: trimmed, in lower case. invalid_request when it is none. */
MR_CHECK enum mr_code mr_work_card_address(struct mr_ctx *cx, const char *text, const char **out);
/* Add a text to a list unless it is there or blank; remove one. False when nothing changed. */
bool mr_work_card_add(struct mr_arena *arena, struct mr_texts *list, const char *text);
bool mr_work_card_remove(struct mr_arena *arena, struct mr_texts *list, const char *text);
/*
 * A name that a mail gives its sender (it may be NULL), as a contact's name: control characters and
 * characters that are not seen are dropped, separators become dashes. The address, which is one,
 * when nothing is left.
 */
const char *mr_work_card_sender_name(struct mr_arena *arena, const char *name, const char *email);
