/* mailbox/skill_text.h - the skills that are built in; made by script/embed from skills/. */
#pragma once

#include <stddef.h>

struct mr_mailbox_skill_text {
	const char *name;
	const unsigned char *data;
	size_t len;
};

extern const struct mr_mailbox_skill_text mr_mailbox_skill_text[];
extern const size_t mr_mailbox_skill_text_count;
