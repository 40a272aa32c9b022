/*
 * op/render.h - a result as people read it: members aligned, lists of objects as tables, colour
 * only where the caller found a terminal that wants it. Foreign text is made harmless: control
 * characters never reach the terminal.
 */
#pragma once

#include "base/buf.h"
#include "op/grid.h"
#include "text/value.h"

void mr_render_value(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);
/* Text with control characters replaced; for messages that carry foreign text. */
void mr_render_text(struct mr_buf *out, const char *text);
/* The same in one line, copied. */
const char *mr_render_line(struct mr_arena *arena, const char *text);
/* The time in a member: "3 min ago" on a terminal, "2026-03-11 04:15 UTC" in output that may be
 * read later; "-" when there is none. */
const char *mr_render_when(struct mr_arena *arena, const struct mr_value *map, const char *key,
	const struct mr_render *how);

/* render_mail.c: results about messages. */
void mr_render_inbox(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);
void mr_render_outbox(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_message(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_thread(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_threads(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_sent(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);
/* A message in one line, as it comes in. */
void mr_render_news(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);

/* render_lease.c: leases on files; what was granted; may I edit these? */
void mr_render_leases(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_reserved(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_paths_checked(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);

/* render_guard.c: files that others hold, and how to ask for them. */
void mr_render_guard(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);

/* render_search.c: what was found, the hits marked; conversations summed up. */
void mr_render_hits(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);
/* One, or several and what they have together. */
void mr_render_summary(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);

/* render_self.c: the program's settings and operations. */
void mr_render_settings(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_operations(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);

/* render_team.c: projects and agents. */
void mr_render_projects(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_agents(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_groups(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
/* render_history.c: the archive's commits, one of them, a file of it; who writes to whom. */
void mr_render_history(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_commit(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_place(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);
void mr_render_traffic(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
/* render_attention.c: what needs a person. */
void mr_render_attention(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_activity(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
/* render_overview.c: what goes on in a project. */
void mr_render_overview(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
/* One agent, with its commits where they are told. */
void mr_render_agent(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);
void mr_render_retired(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);

/* render_contact.c: contacts, products, slots, macros. */
void mr_render_link(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);
void mr_render_contacts(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_products(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_product(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_slot(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);
void mr_render_session(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_prepared(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_cycle(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);
void mr_render_handshake(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
