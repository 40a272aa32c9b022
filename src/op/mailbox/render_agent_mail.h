/* op/mailbox/render_agent_mail.h - agents and their mail as people read them. */
#pragma once

#include "op/render.h"

void mr_render_mail_resolved(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_mail_status(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
/* A table, and where bodies were asked for letters. */
void mr_render_mail_list(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_mail_one(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
/* A sentence about what was sent, or changed. */
void mr_render_mail_sent(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_mail_marked(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);

void mr_render_mail_agents(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_mail_agent(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_mail_bound(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_mail_unbound(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);

void mr_render_mail_skills(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
