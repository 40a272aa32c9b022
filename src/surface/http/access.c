/* surface/http/access.c */
#include "surface/http/access.h"

struct mr_http_task mr_http_task_of(const struct mr_op *op)
{
	return (struct mr_http_task){ MR_HTTP_TOOL, op->name, op->needs };
}

int mr_http_access_check(const struct mr_http_request *req, struct mr_http_response *resp,
	const struct mr_http_task *tasks, size_t count)
{
	(void)req;
	(void)resp;
	(void)tasks;
	(void)count;
	return 200;
}

void mr_http_access_call(const struct mr_http_request *req, struct mr_call *call)
{
	const struct mr_principal *p = req->principal;

	call->request_id = req->id;
	call->principal = p;
	call->may_write = !p || p->roles & MR_ROLE_WRITER;
	call->is_admin = !p || p->roles & MR_ROLE_ADMIN;
	call->agent_token = mr_http_request_header(req, "X-Agent-Token");
}
