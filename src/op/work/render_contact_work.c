/* op/work/render_contact_work.c - contacts of the workspace on a terminal: a list, a card, changes
 * in a sentence. */
#include "op/render_part.h"
#include "op/work/render_work.h"
#include "workspace/contact_card.h"

#include <string.h>

/* --- the list --- */

static void put_invalid(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "invalid_paths");

	if (!list)
		return;
	mr_part_styled(out, how, mr_style_yellow,
		mr_arena_printf(arena, "Cards that cannot be read: %s",
			mr_part_names(arena, value, "invalid_paths")));
	mr_buf_putc(out, '\n');
}

/* A column is shown when some contact has something in it. */
struct list_column {
	struct mr_grid_column column;
	const char *key;
	bool is_list, is_optional;
};

static const char *cell_of(struct mr_arena *arena, const struct list_column *column,
	const struct mr_value *contact)
{
	return column->is_list ? mr_part_names(arena, contact, column->key)
			       : mr_part_line(arena, contact, column->key);
}

static bool is_used(struct mr_arena *arena, const struct list_column *column,
	const struct mr_value *list)
{
	for (size_t i = 0; i < list->list.len; i++)
		if (*cell_of(arena, column, &list->list.items[i]))
			return true;
	return !column->is_optional;
}

void mr_render_work_contacts(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	static const struct list_column all[] = {
		{ { .title = "name" }, "display_name", false, false },
		{ { .title = "addresses" }, "emails", true, false },
		{ { .title = "organization" }, "organization", false, true },
		{ { .title = "role" }, "role", false, true },
		{ { .title = "tags" }, "tags", true, true },
		{ { .title = "group" }, "group", false, false },
		{ { .title = "uid", .fixed = true }, "contact_uid", false, false },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *list = mr_part_list(value, "contacts");
	struct mr_grid_column columns[MR_LEN(all)];
	const struct list_column *used[MR_LEN(all)];
	const char **cells;
	size_t count = 0;

	if (!list) {
		mr_buf_puts(out, "No contacts.\n");
		put_invalid(out, value, how);
		return;
	}
	for (size_t i = 0; i < MR_LEN(all); i++) {
		if (!is_used(arena, &all[i], list))
			continue;
		columns[count] = all[i].column;
		used[count++] = &all[i];
	}
	cells = mr_arena_array(arena, list->list.len * count, sizeof(*cells));
	for (size_t i = 0; i < list->list.len; i++)
		for (size_t k = 0; k < count; k++)
			cells[i * count + k] = cell_of(arena, used[k], &list->list.items[i]);
	mr_part_grid(out, &(struct mr_grid){ columns, count, cells, NULL, list->list.len }, list,
		how, 0);
	put_invalid(out, value, how);
}

/* --- one card --- */

static void put_member(struct mr_buf *out, const struct mr_render *how, const char *name,
	const char *text)
{
	if (!text || !*text)
		return;
	mr_buf_puts(out, "  ");
	mr_part_styled(out, how, mr_style_dim, name);
	for (size_t i = strlen(name); i < sizeof("Organization ") - 1; i++)
		mr_buf_putc(out, ' ');
	mr_render_text(out, text);
	mr_buf_putc(out, '\n');
}

static const char *joined(struct mr_arena *arena, const struct mr_texts *texts)
{
	return texts->len ? mr_render_line(arena, mr_str_join(arena, texts, ", ")) : "";
}

static void put_card(struct mr_buf *out, const struct mr_value *value,
	const struct mr_work_card *card, struct mr_arena *arena, const struct mr_render *how)
{
	const char *notes = mr_str_trim(arena,
		mr_arena_strndup(arena, (const char *)card->body.data, card->body.len));

	mr_part_styled(out, how, mr_style_bold, mr_render_line(arena, card->display_name));
	mr_buf_putc(out, '\n');
	put_member(out, how, "Addresses", joined(arena, &card->emails));
	put_member(out, how, "Phones", joined(arena, &card->phones));
	put_member(out, how, "Organization", mr_render_line(arena, card->organization));
	put_member(out, how, "Role", mr_render_line(arena, card->role));
	put_member(out, how, "Tags", joined(arena, &card->tags));
	put_member(out, how, "Group",
		mr_part_bool(value, "is_archived") ? "archived"
						   : mr_part_line(arena, value, "group"));
	put_member(out, how, "Uid", mr_part_line(arena, value, "contact_uid"));
	put_member(out, how, "Card", mr_part_line(arena, value, "contact_path"));
	if (!*notes)
		return;
	mr_buf_putc(out, '\n');
	mr_render_text(out, notes);
	mr_buf_putc(out, '\n');
}

/* A card that does not parse is shown as it stands in the file. */
void mr_render_work_contact(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena };
	const struct mr_value *content = mr_value_get(value, "content");
	const char *text = content && content->kind == MR_TEXT ? content->text : "";
	struct mr_work_card card;

	if (!mr_work_card_read(&cx, mr_bytes_text(text), &card)) {
		put_card(out, value, &card, arena, how);
		return;
	}
	mr_part_styled(out, how, mr_style_yellow,
		mr_arena_printf(arena, "%s cannot be read: %s",
			mr_part_line(arena, value, "contact_path"),
			mr_render_line(arena, cx.err.msg)));
	mr_buf_puts(out, "\n\n");
	mr_render_text(out, text);
	if (!mr_str_ends(text, "\n"))
		mr_buf_putc(out, '\n');
}

void mr_render_work_contact_notes(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	const struct mr_value *notes = mr_value_get(value, "notes");
	const char *text = notes && notes->kind == MR_TEXT ? notes->text : "";

	(void)how;
	mr_render_text(out, *text ? text : "No notes.\n");
	if (*text && !mr_str_ends(text, "\n"))
		mr_buf_putc(out, '\n');
}

/* --- changes --- */

/* "Contact p20260518001 <middle> <what the member has>." */
static void say(struct mr_buf *out, const struct mr_value *value, const char *middle,
	const char *key)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	mr_buf_printf(out, "Contact %s %s %s.\n", mr_part_line(arena, value, "contact_uid"), middle,
		mr_part_line(arena, value, key));
}

/* The same of a list, which may be empty: "has the addresses a, b", "has no addresses". */
static void say_list(struct mr_buf *out, const struct mr_value *value, const char *what,
	const char *key)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	bool is_empty = !mr_part_list(value, key);

	mr_buf_printf(out, "Contact %s has %s %s%s%s.\n", mr_part_line(arena, value, "contact_uid"),
		is_empty ? "no" : "the", what, is_empty ? "" : " ",
		mr_part_names(arena, value, key));
}

void mr_render_work_contact_created(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Contact %s is %s: %s\n", mr_part_line(arena, value, "contact_uid"),
		mr_part_line(arena, value, "display_name"),
		mr_part_line(arena, value, "contact_path"));
}

void mr_render_work_contact_moved(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	(void)how;
	say(out, value,
		mr_part_bool(value, "changed") ? "is now in the group" : "was already in the group",
		"group");
}

void mr_render_work_contact_renamed(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	(void)how;
	say(out, value, "is now called", "display_name");
}

void mr_render_work_contact_emails(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	(void)how;
	say_list(out, value, "addresses", "emails");
}

void mr_render_work_contact_phones(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	(void)how;
	say_list(out, value, "telephone numbers", "phones");
}

void mr_render_work_contact_tags(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	(void)how;
	say_list(out, value, "tags", "tags");
}

void mr_render_work_contact_noted(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "The notes on contact %s are written.\n",
		mr_part_line(arena, value, "contact_uid"));
}

void mr_render_work_contact_archived(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Contact %s is archived: %s\n",
		mr_part_line(arena, value, "contact_uid"),
		mr_part_line(arena, value, "contact_path"));
}

void mr_render_work_contact_deleted(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	(void)how;
	mr_buf_printf(out, "Contact %s is deleted.\n", mr_part_line(arena, value, "contact_uid"));
}

void mr_render_work_contact_reopened(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	(void)how;
	say(out, value, "is active again, in the group", "group");
}

void mr_render_work_contact_extracted(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	int64_t made = mr_part_int(value, "created_count");
	int64_t known = mr_part_int(value, "skipped_count");

	(void)how;
	mr_buf_printf(out, "%lld new contact%s", (long long)made, made == 1 ? "" : "s");
	if (made)
		mr_buf_printf(out, ": %s", mr_part_names(arena, value, "created_uids"));
	mr_buf_puts(out, ".\n");
	if (known)
		mr_buf_printf(out, "%lld message%s from people who were contacts already.\n",
			(long long)known, known == 1 ? " was" : "s were");
}
