/*
 * op/work/contract_work.h - the contract of the e-mail workspace: Agent-First Data.
 *
 * As afmail, and wherever --output names a form, a command says everything on standard output:
 * lines about events when they are asked for, then one object, which has a code and a trace.
 * Operations that are bound to a workspace get that of the working directory, locked alone when
 * they change something (MR_NEED_WRITE) and shared otherwise.
 */
#pragma once

#include "op/call.h"
#include "op/contract.h"
#include "workspace/frame.h"

/* The program afmail. */
extern const struct mr_contract mr_contract_afmail;
/* The same operations under `mailroom work`: people read text, and programs the same objects. */
extern const struct mr_contract mr_contract_work;

/* The setting that names the workspace, in place of the working directory. */
#define MR_CONTRACT_WORK_ROOT "workspace.root"

/* Results may have what the contract of afmail does not: it was not asked as afmail. */
bool mr_contract_work_is_ours(const struct mr_call *call);
/* The directory of the workspace that a call concerns. */
MR_CHECK enum mr_code mr_contract_work_root(struct mr_call *call, const char **out_root);
/* The workspace that the directory is in; workspace_not_found. */
MR_CHECK enum mr_code mr_contract_work_find(struct mr_ctx *cx, const char *dir,
	const char **out_root);

/* The workspace, for an operation that decides about its lock by itself; close it. A workspace that
 * is opened for writing has been recovered. */
MR_CHECK enum mr_code mr_contract_work_open(struct mr_call *call, enum mr_work_access access,
	struct mr_work **out);
/* The same without recovery and without a look at the version of the layout: for doctor. */
MR_CHECK enum mr_code mr_contract_work_open_as_is(struct mr_call *call, enum mr_work_access access,
	struct mr_work **out);
