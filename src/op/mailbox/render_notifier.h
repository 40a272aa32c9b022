/* op/mailbox/render_notifier.h - wake-ups as people read them, and hooks as programs do. */
#pragma once

#include "op/render.h"

void mr_render_notifier(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
void mr_render_notices(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
/* Of several agents. */
void mr_render_agents_notices(struct mr_buf *out, const struct mr_value *value,
	const struct mr_render *how);
/* JSON: only programs read it. */
void mr_render_hook(struct mr_buf *out, const struct mr_value *value, const struct mr_render *how);
