/* team/share/share_web.h - the page of an export, as it was built in; made by script/embed from
 * web/share.
 */
#pragma once

#include <stddef.h>

struct mr_team_share_web {
	const char *path; /* in the export */
	const unsigned char *data;
	size_t len;
};

extern const struct mr_team_share_web mr_team_share_web[];
extern const size_t mr_team_share_web_count;
