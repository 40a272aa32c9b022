/* team/archiver.c */
#include "team/archive.h"

void mr_team_archive_wake(struct mr_team *team)
{
	(void)team;
}
