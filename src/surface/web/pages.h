/* surface/web/pages.h - the pages and actions by name, for their list (pages.c). */
#pragma once

#include "surface/web/page.h"

/* home.c */
extern const struct mr_web_page mr_web_page_home;
extern const struct mr_web_page mr_web_page_project;
/* lease.c */
extern const struct mr_web_page mr_web_page_leases;
extern const struct mr_web_page mr_web_page_leases_past;
extern const struct mr_web_action mr_web_action_lease_release;
/* team_act.c */
extern const struct mr_web_action mr_web_action_acknowledge;
