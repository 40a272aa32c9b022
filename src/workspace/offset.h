/* workspace/offset.h - the fixed offset of a workspace's clock from UTC, and its spellings. */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Read an offset as people write it, in minutes: "UTC", "Z", "+8", "+08", "+0530", "+5:30". False
 * for anything else; names such as Asia/Shanghai are not offsets. */
bool mr_work_offset_parse(const char *text, int *out_minutes);
/* The one spelling that is stored: "UTC", "+05:30". */
const char *mr_work_offset_text(struct mr_arena *arena, int minutes);
/* The offset of this machine's time zone at that time. */
int mr_work_offset_of_host(int64_t us);
