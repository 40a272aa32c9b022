/* workspace/skill_text.h - the skill that is built in; made by script/embed from SKILL.md. */
#pragma once

#include <stddef.h>

struct mr_work_skill_text {
	const char *name;
	const unsigned char *data;
	size_t len;
};

extern const struct mr_work_skill_text mr_work_skill_text[];
extern const size_t mr_work_skill_text_count;
