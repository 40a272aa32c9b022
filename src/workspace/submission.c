/* workspace/submission.c - reaches the SMTP server, and says in the contract's words why not. */
#include "workspace/submission.h"

#include "workspace/mail_server.h"

enum { ACCEPT_TIMEOUT_MS = 600000 };

struct mr_smtp_server mr_work_submission_server(const struct mr_work_account *account)
{
	return (struct mr_smtp_server){ .host = account->host,
		.port = (int)account->port,
		.tls = account->tls,
		.starttls = account->starttls,
		.ca_file = account->ca_file,
		.user = account->username,
		.password = account->password,
		.bearer_token = account->token,
		.mechanism = mr_work_account_mechanism(account),
		.timeout_ms = account->timeout_ms,
		.accept_timeout_ms = ACCEPT_TIMEOUT_MS };
}

enum mr_code mr_work_submission_failed(struct mr_ctx *cx, const struct mr_smtp_outcome *outcome,
	const struct mr_err *err)
{
	bool is_before = outcome->stage == MR_SMTP_CONNECT || outcome->stage == MR_SMTP_TLS;

	(void)mr_work_refuse(cx, is_before ? MR_WORK_SMTP_CONNECT_FAILED : MR_WORK_SMTP_SEND_FAILED,
		"%s", err->msg);
	(void)mr_work_server_explain(cx, "smtp", err->code);
	if (outcome->stage == MR_SMTP_TLS)
		(void)mr_work_hint(cx,
			"The connection is not safe, and nothing was sent. Check smtp.host and smtp.port; a "
			"server with an authority of its own needs its certificate in smtp.ca_file; one "
			"that has expired is for the server's owner to renew.");
	else if (outcome->stage == MR_SMTP_LOGIN)
		(void)mr_work_hint(cx, "Check smtp.username and the password; nothing was sent.");
	return err->code;
}

enum mr_code mr_work_submission_test(struct mr_ctx *cx, const struct mr_work_account *account)
{
	const struct mr_smtp_server server = mr_work_submission_server(account);
	struct mr_smtp_outcome outcome = { 0 };
	struct mr_err err = { 0 };

	if (!mr_smtp_try(cx->arena, &server, &outcome, &err))
		return MR_OK;
	(void)mr_work_submission_failed(cx, &outcome, &err);
	return mr_err_wrap(&cx->err, "SMTP");
}
