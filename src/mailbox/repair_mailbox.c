/*
 * mailbox/repair_mailbox.c - check and repair of one mailbox: its messages, their folders and their
 * state.
 *
 * The owner's choice comes first: the box in mailbox.sqlite. Without it, the folder in the index;
 * without that, the folder of the links; and at last the folder that a delivery would have used.
 */
#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/deliver.h"
#include "mailbox/index_sql.h"
#include "mailbox/repair_private.h"
#include "mailbox/repair_sql.h"
#include "mailbox/state_sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_BYTES = 256 << 20 /* of one mailbox: far above what a directory can list */ };

/* A part of one of the lists: what it has of one message. */
struct places {
	const struct mr_mailbox_place *items;
	size_t len;
};

/* One message in one mailbox. */
struct item {
	uint32_t message;
	uint32_t why;
	struct places links, recorded, states;
	const uint16_t *wanted; /* folders */
	size_t wanted_count;
};

static struct places all_of(const struct mr_buf *list)
{
	return (struct places){ (const void *)list->data,
		list->len / sizeof(struct mr_mailbox_place) };
}

/* Cut off what belongs to `message`; what comes before it belongs to nobody. */
static struct places take(struct places *rest, uint32_t message)
{
	struct places taken;

	while (rest->len > 0 && rest->items->message < message) {
		rest->items++;
		rest->len--;
	}
	taken = (struct places){ rest->items, 0 };
	while (rest->len > 0 && rest->items->message == message) {
		taken.len++;
		rest->items++;
		rest->len--;
	}
	return taken;
}

static const struct mr_mailbox_place *find(struct places places, uint16_t folder)
{
	for (size_t i = 0; i < places.len; i++) {
		if (places.items[i].folder == folder)
			return &places.items[i];
	}
	return NULL;
}

static bool wants(const struct item *item, uint16_t folder)
{
	for (size_t i = 0; i < item->wanted_count; i++) {
		if (item->wanted[i] == folder)
			return true;
	}
	return false;
}

/* Where a delivery puts it: the folders inbox and sent are the first two of every view. */
enum { INBOX, SENT, ARCHIVE };

static bool is_default(const struct item *item, uint16_t folder)
{
	return (folder == INBOX && (item->why & MR_MAILBOX_CLAIM_RECIPIENT)) ||
		(folder == SENT && (item->why & MR_MAILBOX_CLAIM_SENDER));
}

/* The box of a message that is in these folders: inbox, sent, archive, or else the first. */
static uint16_t box_of(const struct mr_mailbox_view *view, struct places places)
{
	const struct mr_mailbox_place *first = &places.items[0];

	for (int folder = INBOX; folder <= ARCHIVE; folder++) {
		if (find(places, (uint16_t)folder))
			return (uint16_t)folder;
	}
	for (size_t i = 1; i < places.len; i++) {
		if (strcmp(view->folders[places.items[i].folder], view->folders[first->folder]) < 0)
			first = &places.items[i];
	}
	return first->folder;
}

static uint16_t choose_box(const struct mr_mailbox_view *view, const struct item *item)
{
	if (item->states.len > 0 && item->states.items->folder != MR_MAILBOX_NO_FOLDER)
		return item->states.items->folder;
	if (item->recorded.len > 0)
		return box_of(view, item->recorded);
	for (size_t i = 0; i < item->links.len; i++) {
		if (!is_default(item, item->links.items[i].folder))
			return box_of(view, item->links);
	}
	if (item->why & MR_MAILBOX_CLAIM_RECIPIENT)
		return INBOX;
	if (item->why & MR_MAILBOX_CLAIM_SENDER)
		return SENT;
	return item->links.len > 0 ? box_of(view, item->links) : INBOX;
}

/*
 * Choose the folders it shall be in. Repeating this after it was done, or after only the links were
 * done, gives the same result: see the tests.
 */
static void choose_folders(struct mr_mailbox_view *view, struct mr_arena *arena, struct item *item)
{
	uint16_t box = choose_box(view, item);
	uint16_t *wanted = mr_arena_array(arena, item->recorded.len + 3, sizeof(*wanted));
	bool at_home = is_default(item, box);

	item->wanted = wanted;
	wanted[item->wanted_count++] = box;
	/* Another folder in which both the index and the disk have it. */
	for (size_t i = 0; i < item->recorded.len && find(item->recorded, box); i++) {
		uint16_t folder = item->recorded.items[i].folder;

		if (find(item->links, folder) && !wants(item, folder))
			wanted[item->wanted_count++] = folder;
	}
	/* Mail to oneself is in both, unless it was moved. */
	for (uint16_t folder = INBOX; folder <= SENT && at_home; folder++) {
		if (is_default(item, folder) && !wants(item, folder) &&
			((item->why & MR_MAILBOX_CLAIM_SURE) || find(item->links, folder) ||
				find(item->recorded, folder)))
			wanted[item->wanted_count++] = folder;
	}
}

static enum mr_code mend_link(struct mr_mailbox_view *view, struct mr_arena *arena,
	const struct item *item, uint16_t folder)
{
	struct mr_mailbox_repair_run *run = view->run;
	const struct mr_mailbox_place *found = find(item->links, folder);
	const char *path = mr_mailbox_view_path(view, arena, folder, item->message);

	if (found && found->what == MR_MAILBOX_LINK_RIGHT)
		return MR_OK;
	if (!found)
		mr_mailbox_repair_found(run, "missing_link", path, "%s",
			run->hands ? "made" : "the mailbox has no link to this message");
	else if (found->what == MR_MAILBOX_LINK_WRONG)
		mr_mailbox_repair_found(run, "broken_link", path,
			run->hands ? "did not lead to its message; made anew"
				   : "does not lead to its message");
	else if (!run->hands)
		mr_mailbox_repair_found(run, "foreign_link", path, "is not a link");
	return run->hands ? mr_mailbox_view_link(view, folder, item->message, found) : MR_OK;
}

static enum mr_code mend_projection(struct mr_mailbox_view *view, struct mr_arena *arena,
	const struct item *item, uint16_t folder)
{
	struct mr_mailbox_repair_run *run = view->run;
	struct mr_mailbox_projection row = {
		.registration_id = view->account->row.id,
		.message_id = mr_mailbox_known_id(&run->known, arena, item->message),
		.folder = view->folders[folder],
		.path = mr_mailbox_view_path(view, arena, folder, item->message),
	};

	run->projection_count++;
	if (run->old && view->account->was && !(item->why & MR_MAILBOX_CLAIM_NEW) &&
		!find(item->recorded, folder))
		mr_mailbox_repair_found(run, "missing_index_row", row.message_id,
			"the index does not have its projection %s", row.path);
	return run->hands ? mr_mailbox_index_add_projection(run->cx, run->index, &row) : MR_OK;
}

static enum mr_code drop_others(struct mr_mailbox_view *view, struct mr_arena *arena,
	const struct item *item)
{
	struct mr_mailbox_repair_run *run = view->run;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < item->links.len && !rc; i++) {
		const struct mr_mailbox_place *link = &item->links.items[i];

		if (wants(item, link->folder) || link->what == MR_MAILBOX_LINK_FILE)
			continue;
		mr_mailbox_repair_found(run, "extra_link",
			mr_mailbox_view_path(view, arena, link->folder, item->message),
			run->hands ? "the message is in another box: removed"
				   : "the message is in another box");
		if (run->hands)
			rc = mr_mailbox_view_unlink(view, link->folder, item->message);
	}
	for (size_t i = 0; i < item->recorded.len && !rc; i++) {
		if (!wants(item, item->recorded.items[i].folder))
			mr_mailbox_repair_found(run, "wrong_index_row",
				mr_mailbox_known_id(&run->known, arena, item->message),
				"the index has it in %s of %s, where it is not",
				view->folders[item->recorded.items[i].folder],
				view->account->row.address);
	}
	return rc;
}

/*
 * A delivery releases the locks before it writes the mailboxes' rows. One that was in progress when
 * the rows were read either still holds its intent or has written its row by now; so check the
 * intent first and the row second.
 */
static enum mr_code is_on_its_way(struct mr_mailbox_view *view, struct mr_arena *arena,
	const char *message_id, bool *out)
{
	const struct mr_mailbox_state *state = NULL;
	struct mr_ctx cx = *view->run->cx;
	enum mr_code rc;

	*out = mr_mailbox_deliver_is_under_way(arena, view->run->root, message_id);
	/* A repair read the rows in the transaction that is still open. */
	if (*out || view->run->hands)
		return MR_OK;
	cx.arena = arena;
	rc = mr_mailbox_state_get(&cx, view->local, message_id, &state);
	if (rc)
		view->run->cx->err = cx.err;
	*out = state != NULL;
	return rc;
}

static enum mr_code mend_state(struct mr_mailbox_view *view, struct mr_arena *arena,
	const struct item *item)
{
	struct mr_mailbox_repair_run *run = view->run;
	const char *id = mr_mailbox_known_id(&run->known, arena, item->message);
	bool in_inbox = wants(item, INBOX);
	bool on_its_way = false;
	enum mr_code rc = MR_OK;

	if (item->states.len > 0)
		return MR_OK;
	if (!view->fresh && view->local)
		rc = is_on_its_way(view, arena, id, &on_its_way);
	/* Then the delivering process writes the row. */
	if (rc || on_its_way)
		return rc;
	if (!view->fresh && view->local)
		mr_mailbox_repair_found(run, "missing_local_row", id,
			"%s/" MR_MAILBOX_LOCAL_FILE " does not have it%s", view->account->row.path,
			run->hands ? "; added" : "");
	if (!run->hands || !view->local)
		return MR_OK;
	run->defaulted_state_count++;
	return mr_mailbox_view_add_state(view, item->message, view->folders[item->wanted[0]],
		!in_inbox, !in_inbox && wants(item, ARCHIVE));
}

static enum mr_code mend_item(struct mr_mailbox_view *view, struct item *item)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	enum mr_code rc = MR_OK;

	/* Only the index's record of its delivery is left: the owner removed the message. */
	if (!(item->why & MR_MAILBOX_CLAIM_SURE) && item->links.len == 0 &&
		item->recorded.len == 0 && item->states.len == 0)
		return MR_OK;
	choose_folders(view, arena, item);
	for (size_t i = 0; i < item->wanted_count && !rc; i++) {
		rc = mend_link(view, arena, item, item->wanted[i]);
		if (!rc)
			rc = mend_projection(view, arena, item, item->wanted[i]);
	}
	if (!rc)
		rc = drop_others(view, arena, item);
	return rc ? rc : mend_state(view, arena, item);
}

static int by_place(const void *a, const void *b)
{
	const struct mr_mailbox_place *x = a, *y = b;

	if (x->message != y->message)
		return x->message < y->message ? -1 : 1;
	return (int)x->folder - (int)y->folder;
}

static int by_message(const void *a, const void *b)
{
	const struct mr_mailbox_claim *x = a, *y = b;

	return (x->message > y->message) - (x->message < y->message);
}

static void sort(struct mr_buf *list)
{
	if (list->len > 0)
		qsort(list->data, list->len / sizeof(struct mr_mailbox_place),
			sizeof(struct mr_mailbox_place), by_place);
}

/* Claim messages that the index projects here and no document does: the index may know
 * recipients that the document does not. */
static void claim_recorded(struct mr_mailbox_view *view)
{
	struct mr_buf *claims = &view->account->claims;
	size_t count = claims->len / sizeof(struct mr_mailbox_claim), at = 0;
	struct places recorded = all_of(&view->recorded);

	for (size_t i = 0; i < recorded.len; i++) {
		struct mr_mailbox_claim one = { .message = recorded.items[i].message };
		const struct mr_mailbox_claim *list = (const void *)claims->data;

		if (i > 0 && recorded.items[i - 1].message == one.message)
			continue;
		while (at < count && list[at].message < one.message)
			at++;
		if (at == count || list[at].message != one.message)
			mr_buf_add(claims, &one, sizeof(one));
	}
	if (claims->len > 0)
		qsort(claims->data, claims->len / sizeof(struct mr_mailbox_claim),
			sizeof(struct mr_mailbox_claim), by_message);
}

/* Links to messages that this mailbox does not claim, as a private directory may have from
 * before. They stay, and after a move of the root they are made to point to the new place. */
static enum mr_code mend_unclaimed(struct mr_mailbox_view *view)
{
	const struct mr_mailbox_claim *claims = (const void *)view->account->claims.data;
	size_t count = view->account->claims.len / sizeof(*claims), at = 0;
	struct places links = all_of(&view->links);
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < links.len && !rc; i++) {
		const struct mr_mailbox_place *link = &links.items[i];
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;

		while (at < count && claims[at].message < link->message)
			at++;
		if ((at < count && claims[at].message == link->message) ||
			link->what != MR_MAILBOX_LINK_WRONG)
			continue;
		arena = mr_arena_new();
		mr_mailbox_repair_found(view->run, "broken_link",
			mr_mailbox_view_path(view, arena, link->folder, link->message),
			view->run->hands ? "did not lead to its message; made anew"
					 : "does not lead to its message");
		if (view->run->hands)
			rc = mr_mailbox_view_link(view, link->folder, link->message, link);
	}
	return rc;
}

static enum mr_code on_projection(void *arg, const struct mr_mailbox_projection *row)
{
	struct mr_mailbox_view *view = arg;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	struct mr_mailbox_place place = { .folder = mr_mailbox_view_folder(view, row->folder) };

	if (place.folder == MR_MAILBOX_NO_FOLDER ||
		!mr_mailbox_known_find(&view->run->known, row->message_id, &place.message))
		return MR_OK;
	mr_buf_add(&view->recorded, &place, sizeof(place));
	/* The reference leaves these paths as they were when it renames a mailbox. */
	if (view->account->row.status == MR_MAILBOX_STASHED)
		return MR_OK;
	arena = mr_arena_new();
	if (!mr_mailbox_repair_same_path(view->run, row->path,
		    mr_mailbox_view_path(view, arena, place.folder, place.message)))
		mr_mailbox_repair_found(view->run, "wrong_index_row", row->message_id,
			"the index has its projection at %s", row->path);
	return MR_OK;
}

static enum mr_code read_recorded(struct mr_mailbox_view *view)
{
	struct mr_mailbox_repair_run *run = view->run;
	enum mr_code rc;

	if (!run->old || !view->account->was)
		return MR_OK;
	rc = mr_mailbox_repair_sql_projections(&view->cx, run->old, view->account->was->id,
		on_projection, view);
	if (rc) {
		run->cx->err = view->cx.err;
		return mr_mailbox_repair_lose_index(run, rc);
	}
	return mr_buf_check(&view->recorded, "projections", &run->cx->err);
}

static enum mr_code mend_items(struct mr_mailbox_view *view)
{
	struct mr_mailbox_repair_run *run = view->run;
	const struct mr_mailbox_claim *claims;
	struct places links, recorded, states;
	enum mr_code rc = MR_OK;
	size_t count;

	sort(&view->links);
	sort(&view->recorded);
	sort(&view->states);
	links = all_of(&view->links);
	recorded = all_of(&view->recorded);
	states = all_of(&view->states);
	claim_recorded(view);
	rc = mr_buf_check(&view->account->claims, "messages of a mailbox", &run->cx->err);
	claims = (const void *)view->account->claims.data;
	count = view->account->claims.len / sizeof(*claims);
	for (size_t i = 0; i < count && !rc; i++) {
		struct item item = { .message = claims[i].message, .why = claims[i].why };

		item.links = take(&links, item.message);
		item.recorded = take(&recorded, item.message);
		item.states = take(&states, item.message);
		rc = mend_item(view, &item);
	}
	return rc ? rc : mend_unclaimed(view);
}

static enum mr_code mend_mailbox(struct mr_mailbox_view *view)
{
	struct mr_mailbox_repair_run *run = view->run;
	enum mr_code rc = mr_mailbox_view_read_links(view);

	if (!rc)
		rc = read_recorded(view);
	if (!rc)
		rc = mr_mailbox_view_read_states(view);
	if (!rc)
		rc = mend_items(view);
	if (!rc && view->local)
		rc = mr_mailbox_view_threads(view);
	if (rc || !run->hands)
		return rc;
	rc = mr_mailbox_view_sync(view);
	if (!rc && view->local)
		rc = mr_db_commit(view->local, &run->cx->err);
	mr_crash_point("repair.mailbox.done");
	return rc;
}

/* Without a usable directory, keep the rows: the disk of a private mailbox may come back. */
static enum mr_code keep_rows(struct mr_mailbox_view *view)
{
	struct places recorded;
	enum mr_code rc = read_recorded(view);

	recorded = all_of(&view->recorded);
	for (size_t i = 0; i < recorded.len && !rc && view->run->hands; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct item item = { .message = recorded.items[i].message,
			.recorded = { &recorded.items[i], 1 } };

		rc = mend_projection(view, arena, &item, recorded.items[i].folder);
	}
	return rc;
}

static void release(struct mr_mailbox_view *view)
{
	mr_db_closep(&view->local);
	mr_fs_closep(&view->box_dir);
	mr_fs_closep(&view->dir);
	mr_buf_release(&view->links);
	mr_buf_release(&view->recorded);
	mr_buf_release(&view->states);
}

static enum mr_code mend_account(struct mr_mailbox_repair_run *run,
	struct mr_mailbox_account *account)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_view view MR_CLEANUP(release) = {
		.run = run,
		.account = account,
		.cx = *run->cx,
		.dir = -1,
		.box_dir = -1,
	};

	view.cx.arena = arena;
	mr_buf_init(&view.links, PLACES_BYTES);
	mr_buf_init(&view.recorded, PLACES_BYTES);
	mr_buf_init(&view.states, PLACES_BYTES);
	for (const char *const *box = mr_mailbox_boxes; *box; box++)
		mr_mailbox_view_folder(&view, *box);
	if (!account->usable)
		return keep_rows(&view);
	view.dir = openat(run->root->dir, mr_mailbox_layout_entry(arena, account->name),
		O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (view.dir >= 0)
		return mend_mailbox(&view);
	mr_mailbox_repair_found(run, "broken_mailbox", account->row.path, "%s",
		strerrordesc_np(errno));
	return keep_rows(&view);
}

enum mr_code mr_mailbox_repair_mailboxes(struct mr_mailbox_repair_run *run)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < run->account_count && !rc; i++) {
		if (run->cx->progress)
			run->cx->progress(run->cx->progress_arg, "mailboxes", i,
				run->account_count);
		rc = mend_account(run, &run->accounts[i]);
		mr_mailbox_repair_rest(run);
		/* What it claimed is not needed again. */
		mr_buf_release(&run->accounts[i].claims);
	}
	return rc;
}
