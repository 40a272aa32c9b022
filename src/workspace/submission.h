/*
 * workspace/submission.h - the SMTP server that sends the workspace's mail, with failures in the
 * contract's words.
 */
#pragma once

#include "net/smtp.h"
#include "workspace/account.h"
#include "workspace/error.h"

/* The account as net/smtp.h wants it. */
struct mr_smtp_server mr_work_submission_server(const struct mr_work_account *account);
/* What mr_smtp_send() or mr_smtp_try() failed with: smtp_connect_failed before the server was
 * reached over a trusted connection, else smtp_send_failed. Whether trying again may help is kept.
 */
enum mr_code mr_work_submission_failed(struct mr_ctx *cx, const struct mr_smtp_outcome *outcome,
	const struct mr_err *err);
/* Connect and log in; nothing is sent. smtp_connect_failed, smtp_send_failed. */
MR_CHECK enum mr_code mr_work_submission_test(struct mr_ctx *cx,
	const struct mr_work_account *account);
