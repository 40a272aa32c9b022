/* op/work/tools_work.h - the workspace whose operations a server offers as tools. */
#pragma once

#include "op/call.h"

/*
 * For a server, before it answers anything: offer the tools of the workspace that `dir` names, with
 * NULL of the one that the setting workspace.root names; when neither names one, none.
 * workspace_not_found when it is not there. call->app may be another one afterwards.
 */
MR_CHECK enum mr_code mr_tools_work_begin(struct mr_call *call, const char *dir);
