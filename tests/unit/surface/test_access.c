/* tests/unit/surface/test_access.c */
#include "surface/http/access.h"

#include "test.h"
#include "text/digest.h"
#include "text/token.h"

#include <string.h>

#define SECOND INT64_C(1000000)
#define ALL    (MR_ROLE_READER | MR_ROLE_WRITER | MR_ROLE_ADMIN)

enum { NOW = 1700000000 };

static struct mr_arena *arena;
static struct mr_clock_fixed now;
static struct mr_http_access_config config;
static struct mr_http_access *access;
static struct mr_http_token tokens[] = { { "read", MR_ROLE_READER }, { "write", MR_ROLE_WRITER },
	{ "rule", MR_ROLE_ADMIN } };
static const struct mr_http_route route = { .method = "GET", .pattern = "/x" };
static const struct mr_http_route tasks_route = { .pattern = "/mcp", .flags = MR_ROUTE_TASKS };
static const struct mr_http_route open_route = { .pattern = "/health", .flags = MR_ROUTE_OPEN };

/* What the last request became. */
static struct mr_http_request req;
static struct mr_http_response resp;
static struct mr_http_header headers[4];

static void begin(void)
{
	arena = mr_arena_new();
	mr_clock_fixed_init(&now, NOW * SECOND);
	mr_http_access_defaults(&config);
	config.clock = &now.clock;
}

static void open_access(void)
{
	struct mr_err err;

	CHECK_OK(mr_http_access_new(&config, &access, &err), err);
}

static void end(void)
{
	mr_http_access_free(access);
	access = NULL;
	mr_arena_free(arena);
}

static void new_request(const char *ip, const char *authorization, const char *name,
	const char *value)
{
	req = (struct mr_http_request){
		.arena = arena,
		.method = "GET",
		.path = "/x",
		.id = "r1",
		.client_ip = ip,
		.is_loopback = mr_str_starts(ip, "127.") || mr_str_eq(ip, "::1"),
		.match.route = &route,
		.headers = headers,
	};
	resp = (struct mr_http_response){ .arena = arena, .status = 200 };
	if (authorization)
		headers[req.headers_len++] =
			(struct mr_http_header){ "Authorization", authorization };
	if (name)
		headers[req.headers_len++] = (struct mr_http_header){ name, value };
}

/* Through the door, waiting if need be. The status, 200 when it may go on. */
static int pass(void)
{
	enum mr_http_entry entry = mr_http_access_enter(access, &req, &resp);

	CHECK((entry == MR_HTTP_UNSETTLED) == (entry != MR_HTTP_TURNED && !req.principal));
	if (entry == MR_HTTP_UNSETTLED)
		entry = mr_http_access_settle(access, &req, &resp);
	CHECK((entry == MR_HTTP_ENTERED) == (resp.status == 200));
	return resp.status;
}

static int ask(const char *ip, const char *authorization)
{
	new_request(ip, authorization, NULL, NULL);
	return pass();
}

static const char *said(const char *name)
{
	return mr_http_response_get_header(&resp, name);
}

static const char *body(void)
{
	return mr_arena_strndup(arena, (const char *)resp.body.data, resp.body.len);
}

static const char *jwt(const char *claims)
{
	const char *text = mr_arena_printf(arena, "%s.%s",
		mr_token_base64url(arena, mr_bytes_text("{\"alg\":\"HS256\"}")),
		mr_token_base64url(arena, mr_bytes_text(claims)));
	uint8_t mac[MR_DIGEST_BYTES];
	size_t len =
		mr_digest_hmac(MR_DIGEST_SHA256, mr_bytes_text("s3cret"), mr_bytes_text(text), mac);

	return mr_arena_printf(arena, "Bearer %s.%s", text,
		mr_token_base64url(arena, mr_bytes_of(mac, len)));
}

/* ---- */

static void without_tokens(void)
{
	begin();
	open_access();
	CHECK_INT(ask("127.0.0.1", NULL), 200);
	CHECK_STR(req.principal->name, "local");
	CHECK(req.principal->is_local && req.principal->roles == ALL);
	CHECK(!req.principal->acts_for_all && !req.principal->is_bound);
	CHECK_INT(ask("::1", "Bearer whatever"), 200);
	CHECK(req.principal->is_local);
	CHECK_INT(ask("192.0.2.1", NULL), 200);
	CHECK_STR(req.principal->name, "anonymous");
	CHECK(!req.principal->is_local && req.principal->roles == MR_ROLE_READER);
	/* A page from anywhere is not somebody. */
	new_request("127.0.0.1", NULL, NULL, NULL);
	req.is_foreign = true;
	CHECK_INT(pass(), 401);
	/* Strangers read; what changes something needs more. */
	new_request("192.0.2.1", NULL, NULL, NULL);
	req.method = "POST";
	CHECK_INT(pass(), 403);
	CHECK_STR(body(), "{\"detail\":\"Forbidden\"}");
	mr_http_access_free(access);
	config.default_role = "writer";
	open_access();
	CHECK_INT(ask("192.0.2.1", NULL), 200);
	CHECK(!req.principal->is_local);
	CHECK_INT(req.principal->roles, MR_ROLE_READER | MR_ROLE_WRITER);
	/* Where loopback is not trusted, nobody is let in without a credential. */
	mr_http_access_free(access);
	config.allow_local = false;
	open_access();
	CHECK_INT(ask("127.0.0.1", NULL), 401);
	CHECK_INT(ask("192.0.2.1", NULL), 401);
	CHECK_STR(body(), "{\"detail\":\"Unauthorized\"}");
	end();
}

/* The kernel has said who it is: that holds whatever TCP clients have to show. */
static void the_same_user(void)
{
	begin();
	config.tokens = tokens;
	config.tokens_len = MR_LEN(tokens);
	config.allow_local = false;
	config.with_jwt = true;
	config.jwt_secret = "s3cret";
	open_access();
	for (int i = 0; i < 4; i++) {
		/* Nothing, a wrong token, a right one; passed on by a proxy. */
		new_request("unix",
			i == 1           ? "Bearer wrong"
				: i == 2 ? "Bearer read"
					 : NULL,
			i == 3 ? "X-Forwarded-For" : NULL, "192.0.2.1");
		req.is_same_user = true;
		CHECK_INT(pass(), i == 3 ? 401 : 200);
		if (i < 2) {
			CHECK_STR(req.principal->name, "local");
			CHECK(req.principal->is_local && req.principal->roles == ALL);
		} else if (i == 2) {
			CHECK_INT(req.principal->roles, MR_ROLE_READER);
		}
	}
	/* Nor a page of somebody else, in a browser of this user. */
	new_request("unix", NULL, NULL, NULL);
	req.is_same_user = req.is_foreign = true;
	CHECK_INT(pass(), 401);
	end();
}

static void static_tokens(void)
{
	static const struct {
		const char *ip, *authorization;
		int status;
		unsigned roles;
		const char *name;
	} table[] = {
		{ "192.0.2.1", NULL, 401, 0, NULL },
		{ "192.0.2.1", "Bearer", 401, 0, NULL },
		{ "192.0.2.1", "Bearer ", 401, 0, NULL },
		{ "192.0.2.1", "Bearer rea", 401, 0, NULL },
		{ "192.0.2.1", "Bearer readx", 401, 0, NULL },
		{ "192.0.2.1", "Basic read", 401, 0, NULL },
		{ "192.0.2.1", "read", 401, 0, NULL },
		{ "192.0.2.1", "Bearer READ", 401, 0, NULL },
		{ "192.0.2.1", "Bearer read", 200, MR_ROLE_READER, "token:1" },
		{ "192.0.2.1", "bearer  write", 200, MR_ROLE_READER | MR_ROLE_WRITER, "token:2" },
		{ "192.0.2.1", "BEARER rule", 200, ALL, "token:3" },
		/* Here no token is needed, but one that is shown counts. */
		{ "127.0.0.1", NULL, 200, ALL, "local" },
		{ "127.0.0.1", "Bearer wrong", 200, ALL, "local" },
		{ "127.0.0.1", "Bearer read", 200, MR_ROLE_READER, "token:1" },
	};

	begin();
	config.tokens = tokens;
	config.tokens_len = MR_LEN(tokens);
	open_access();
	for (size_t i = 0; i < MR_LEN(table); i++) {
		CHECK_INT(ask(table[i].ip, table[i].authorization), table[i].status);
		if (table[i].status == 401) {
			CHECK_STR(body(), "{\"detail\":\"Unauthorized\"}");
			CHECK_STR(said("WWW-Authenticate"), "Bearer");
			CHECK(!req.principal);
			continue;
		}
		CHECK_INT(req.principal->roles, table[i].roles);
		CHECK_STR(req.principal->name, table[i].name);
		CHECK(req.principal->acts_for_all == mr_str_eq(table[i].name, "token:3"));
	}
	/* Some routes are everybody's. */
	new_request("192.0.2.1", "Bearer wrong", NULL, NULL);
	req.match.route = &open_route;
	CHECK_INT(pass(), 200);
	CHECK_INT(req.principal->roles, 0);
	/* And paths that are not there tell strangers nothing. */
	new_request("192.0.2.1", NULL, NULL, NULL);
	req.match.route = NULL;
	CHECK_INT(pass(), 401);
	end();
}

static void nobody_looks_local(void)
{
	static const struct mr_http_header forged[] = { { "X-Forwarded-For", "127.0.0.1" },
		{ "x-forwarded-host", "localhost" }, { "Forwarded", "for=127.0.0.1" },
		{ "X-Real-IP", "127.0.0.1" }, { "Via", "1.1 x" } };

	begin();
	config.tokens = tokens;
	config.tokens_len = MR_LEN(tokens);
	config.trusted_proxies = mr_str_split(arena, "127.0.0.1,10.0.0.1", ',');
	open_access();
	for (size_t i = 0; i < MR_LEN(forged); i++) {
		static const char *const peers[] = { "127.0.0.1", "127.0.0.2", "192.0.2.1",
			"10.0.0.1" };

		for (size_t k = 0; k < MR_LEN(peers); k++) {
			new_request(peers[k], NULL, forged[i].name, forged[i].value);
			CHECK_INT(pass(), 401);
			CHECK(!req.is_loopback);
		}
	}
	new_request("10.0.0.1", "Bearer read", "X-Forwarded-For", "198.51.100.7");
	CHECK_INT(pass(), 200);
	CHECK_STR(req.client_ip, "198.51.100.7");
	new_request("192.0.2.1", "Bearer read", "X-Forwarded-For", "198.51.100.7");
	CHECK_INT(pass(), 200);
	CHECK_STR(req.client_ip, "192.0.2.1");
	CHECK_INT(ask("127.0.0.1", NULL), 200);
	end();
}

static void tokens_of_others(void)
{
	static const struct {
		const char *claims;
		int status;
		unsigned roles;
		const char *name;
	} table[] = {
		{ "{\"sub\":\"alice\",\"role\":\"writer\"}", 200, MR_ROLE_READER | MR_ROLE_WRITER,
			"sub:alice" },
		{ "{\"role\":\"RW\"}", 200, MR_ROLE_READER | MR_ROLE_WRITER, "jwt" },
		{ "{\"role\":[\"x\",\"ro\"]}", 200, MR_ROLE_READER, "jwt" },
		{ "{\"role\":\"admin\"}", 200, ALL, "jwt" },
		/* None: the default. */
		{ "{}", 200, MR_ROLE_READER, "jwt" },
		{ "{\"role\":[]}", 200, MR_ROLE_READER, "jwt" },
		{ "{\"role\":\"\"}", 200, MR_ROLE_READER, "jwt" },
		/* One that is not known: nothing. */
		{ "{\"role\":\"guest\"}", 403, 0, NULL },
		{ "{\"role\":[\"guest\"]}", 403, 0, NULL },
		{ "{\"exp\":1}", 401, 0, NULL },
	};

	begin();
	config.with_jwt = true;
	config.jwt_secret = "s3cret";
	config.reader_roles = mr_str_split(arena, "reader,ro", ',');
	config.writer_roles = mr_str_split(arena, "writer,rw", ',');
	config.challenge = "Bearer resource_metadata=\"u\"";
	open_access();
	for (size_t i = 0; i < MR_LEN(table); i++) {
		CHECK_INT(ask("192.0.2.1", jwt(table[i].claims)), table[i].status);
		if (table[i].status != 200)
			continue;
		CHECK_INT(req.principal->roles, table[i].roles);
		CHECK_STR(req.principal->name, table[i].name);
		CHECK(!req.principal->is_bound);
	}
	/* From this machine too, and the reason stays here. */
	CHECK_INT(ask("127.0.0.1", NULL), 401);
	CHECK_STR(said("WWW-Authenticate"), "Bearer resource_metadata=\"u\"");
	CHECK_INT(ask("127.0.0.1", "Bearer a.b.c"), 401);
	CHECK_STR(body(), "{\"detail\":\"Unauthorized\"}");
	CHECK_INT(ask("127.0.0.1", "Bearer e30.e30.e30"), 401);
	CHECK_INT(ask("127.0.0.1", "Bearer abc"), 401);
	end();
}

/* "BlueLake@/p RedFox@q", as the principal has them. */
static const char *bound_to(const struct mr_principal *p)
{
	const char *text = "";

	for (size_t i = 0; i < p->agents.len; i++)
		text = mr_arena_printf(req.arena, "%s%s%s@%s", text, i ? " " : "",
			p->agents.items[i].name, p->agents.items[i].project);
	return text;
}

static void claims_inside_claims_and_agents(void)
{
	static const struct {
		const char *claims;
		bool is_bound;
		const char *agents;
	} table[] = {
		{ "{\"r\":{\"roles\":[\"admin\"]}}", false, "" },
		{ "{\"r.roles\":\"admin\",\"agents\":{\"/p\":[\"BlueLake\",\"RedFox\"],"
		  "\"q\":\"RedFox\"}}",
			true, "BlueLake@/p RedFox@/p RedFox@q" },
		{ "{\"r.roles\":\"admin\",\"agents\":[\"BlueLake@/p@1\",\"RedFox@q\"]}", true,
			"BlueLake@/p@1 RedFox@q" },
		{ "{\"r.roles\":\"admin\",\"agents\":\"BlueLake@/p\"}", true, "BlueLake@/p" },
		{ "{\"r.roles\":\"admin\",\"agents\":[\"BlueLake\",\"RedFox@q\"],"
		  "\"project\":\"/p\"}",
			true, "BlueLake@/p RedFox@q" },
		{ "{\"r.roles\":\"admin\",\"agents\":\"BlueLake\",\"projects\":[\"/p\",\"q\"]}",
			true, "BlueLake@/p BlueLake@q" },
		/* Names without a project are nobody's. */
		{ "{\"r.roles\":\"admin\",\"agents\":[\"BlueLake\",\"RedFox\"]}", true, "" },
		{ "{\"r.roles\":\"admin\",\"agents\":\"BlueLake\"}", true, "" },
		{ "{\"r.roles\":\"admin\",\"agents\":[\"BlueLake@\",\"@/p\",\"@\",\"\"]}", true,
			"" },
		{ "{\"r.roles\":\"admin\",\"agents\":\"BlueLake\",\"projects\":[\"\",7,null]}",
			true, "" },
		{ "{\"r\":{\"roles\":\"admin\"},\"agents\":[]}", true, "" },
		{ "{\"r\":{\"roles\":\"admin\"},\"agents\":{\"BlueLake\":1}}", true, "" },
		{ "{\"r\":{\"roles\":\"admin\"},\"agents\":{\"\":\"BlueLake\"}}", true, "" },
		{ "{\"r\":{\"roles\":\"admin\"},\"agents\":null}", true, "" },
	};

	begin();
	config.with_jwt = true;
	config.jwt_secret = "s3cret";
	config.jwt_role_claim = "r.roles";
	open_access();
	for (size_t i = 0; i < MR_LEN(table); i++) {
		CHECK_INT(ask("192.0.2.1", jwt(table[i].claims)), 200);
		CHECK_INT(req.principal->roles, ALL);
		CHECK_INT(req.principal->is_bound, table[i].is_bound);
		CHECK_STR(bound_to(req.principal), table[i].agents);
	}
	end();
}

static void either_will_do(void)
{
	begin();
	config.with_jwt = true;
	config.jwt_secret = "s3cret";
	config.tokens = tokens;
	config.tokens_len = MR_LEN(tokens);
	open_access();
	CHECK_INT(ask("192.0.2.1", "Bearer read"), 200);
	CHECK_INT(ask("192.0.2.1", jwt("{}")), 200);
	CHECK_INT(ask("192.0.2.1", "Bearer other"), 401);
	mr_http_access_free(access);
	/* Roles do not count, but tokens do. */
	config.with_roles = false;
	open_access();
	CHECK_INT(ask("192.0.2.1", "Bearer read"), 200);
	CHECK_INT(req.principal->roles, ALL);
	CHECK(!req.principal->acts_for_all);
	CHECK_INT(ask("192.0.2.1", jwt("{\"role\":\"guest\"}")), 200);
	CHECK_INT(ask("192.0.2.1", NULL), 401);
	end();
}

static enum mr_code no_keys(void *arg, struct mr_arena *in, struct mr_bytes *out,
	struct mr_err *err)
{
	(void)arg;
	(void)in;
	(void)out;
	return mr_err_set(err, MR_EREMOTE, "nobody is there");
}

static void without_the_issuers_keys(void)
{
	begin();
	config.with_jwt = true;
	config.jwt_algs = MR_JWT_RS256;
	config.jwt_keys_url = "https://issuer.example/keys";
	config.fetch = no_keys;
	open_access();
	CHECK_INT(ask("192.0.2.1", jwt("{}")), 503);
	CHECK_STR(body(), "{\"detail\":\"The keys to check tokens with are not there\"}");
	CHECK_STR(said("Retry-After"), "30");
	end();
}

static int may(const char *authorization, enum mr_http_kind kind, const char *name, unsigned needs)
{
	struct mr_http_task tasks[] = { { .kind = MR_HTTP_OTHER }, { kind, name, needs } };

	new_request("192.0.2.1", authorization, NULL, NULL);
	req.method = "POST";
	req.match.route = &tasks_route;
	CHECK_INT(pass(), 200);
	return mr_http_access_check(&req, &resp, tasks, 2);
}

static void roles_decide(void)
{
	static const struct {
		enum mr_http_kind kind;
		const char *name;
		unsigned needs;
		int reader, writer, admin;
	} table[] = {
		{ MR_HTTP_OTHER, NULL, 0, 200, 200, 200 },
		{ MR_HTTP_RESOURCE, NULL, 0, 200, 200, 200 },
		{ MR_HTTP_TOOL, "whois", 0, 200, 200, 200 },
		{ MR_HTTP_TOOL, "send_message", MR_NEED_WRITE, 403, 200, 200 },
		{ MR_HTTP_TOOL, NULL, MR_NEED_WRITE, 403, 200, 200 },
		{ MR_HTTP_TOOL, "mark_message_read", MR_NEED_WRITE, 200, 200, 200 },
		{ MR_HTTP_TOOL, "install_guard", MR_NEED_WRITE | MR_NEED_ADMIN, 403, 403, 200 },
		{ MR_HTTP_TOOL, "purge", MR_NEED_ADMIN, 403, 403, 200 },
	};
	struct mr_op op = { .name = "send_message", .needs = MR_NEED_WRITE };

	begin();
	config.tokens = tokens;
	config.tokens_len = MR_LEN(tokens);
	/* To name what only administrators may opens nothing. */
	config.readonly_tools = mr_str_split(arena, "mark_message_read,purge", ',');
	open_access();
	for (size_t i = 0; i < MR_LEN(table); i++) {
		CHECK_INT(may("Bearer read", table[i].kind, table[i].name, table[i].needs),
			table[i].reader);
		if (table[i].reader == 403)
			CHECK_STR(body(), "{\"detail\":\"Forbidden\"}");
		CHECK_INT(may("Bearer write", table[i].kind, table[i].name, table[i].needs),
			table[i].writer);
		CHECK_INT(may("Bearer rule", table[i].kind, table[i].name, table[i].needs),
			table[i].admin);
	}
	CHECK_INT(mr_http_task_of(&op).kind, MR_HTTP_TOOL);
	CHECK_STR(mr_http_task_of(&op).name, "send_message");
	CHECK_INT(mr_http_task_of(&op).needs, MR_NEED_WRITE);
	end();
}

static void calls_get_their_rights(void)
{
	struct mr_call call = { 0 };

	begin();
	config.tokens = tokens;
	config.tokens_len = MR_LEN(tokens);
	open_access();
	new_request("192.0.2.1", "Bearer write", "X-Agent-Token", "t1");
	CHECK_INT(pass(), 200);
	mr_http_access_call(&req, &call);
	CHECK(call.may_write && !call.is_admin && call.principal == req.principal);
	CHECK_STR(call.agent_token, "t1");
	CHECK_STR(call.request_id, "r1");
	CHECK_INT(ask("192.0.2.1", "Bearer read"), 200);
	mr_http_access_call(&req, &call);
	CHECK(!call.may_write && !call.is_admin && !call.agent_token);
	CHECK_INT(ask("192.0.2.1", "Bearer rule"), 200);
	mr_http_access_call(&req, &call);
	CHECK(call.may_write && call.is_admin);
	/* No access is configured at all: everything. */
	mr_http_access_free(access);
	access = NULL;
	CHECK_INT(ask("192.0.2.1", NULL), 200);
	mr_http_access_call(&req, &call);
	CHECK(call.may_write && call.is_admin);
	end();
}

static void limits_by_kind_and_caller(void)
{
	begin();
	config.tokens = tokens;
	config.tokens_len = MR_LEN(tokens);
	config.with_limits = true;
	config.limits[MR_HTTP_OTHER] = (struct mr_http_rate_limit){ 2, 0 };
	config.limits[MR_HTTP_TOOL] = (struct mr_http_rate_limit){ 60, 1 };
	open_access();
	CHECK_INT(ask("192.0.2.1", "Bearer read"), 200);
	CHECK_STR(said("RateLimit-Limit"), "2");
	CHECK_STR(said("RateLimit-Remaining"), "1");
	CHECK_STR(said("RateLimit-Reset"), "30");
	CHECK_STR(said("Retry-After"), NULL);
	CHECK_INT(ask("192.0.2.1", "Bearer read"), 200);
	CHECK_INT(ask("192.0.2.1", "Bearer read"), 429);
	CHECK_STR(body(), "{\"detail\":\"Rate limit exceeded\"}");
	CHECK_STR(said("Retry-After"), "30");
	CHECK_STR(said("RateLimit-Remaining"), "0");
	/* By address, whatever the token; others are not concerned. */
	CHECK_INT(ask("192.0.2.1", "Bearer write"), 429);
	CHECK_INT(ask("192.0.2.2", "Bearer read"), 200);
	now.now_us += 30 * SECOND;
	CHECK_INT(ask("192.0.2.1", "Bearer read"), 200);
	/* Tools have their own, one each. */
	now.now_us += 60 * SECOND;
	CHECK_INT(may("Bearer read", MR_HTTP_TOOL, "whois", 0), 200);
	CHECK_STR(said("RateLimit-Limit"), "1");
	CHECK_INT(may("Bearer read", MR_HTTP_TOOL, "health_check", 0), 200);
	now.now_us += 30 * SECOND;
	CHECK_INT(may("Bearer read", MR_HTTP_TOOL, "whois", 0), 200);
	CHECK_INT(may("Bearer read", MR_HTTP_TOOL, "whois", 0), 429);
	/* Resources have none. */
	now.now_us += 60 * SECOND;
	CHECK_INT(may("Bearer read", MR_HTTP_RESOURCE, NULL, 0), 200);
	end();
}

static void limits_by_subject(void)
{
	begin();
	config.with_jwt = true;
	config.jwt_secret = "s3cret";
	config.with_limits = true;
	config.limits[MR_HTTP_OTHER] = (struct mr_http_rate_limit){ 1, 0 };
	open_access();
	CHECK_INT(ask("192.0.2.1", jwt("{\"sub\":\"a\"}")), 200);
	CHECK_INT(ask("192.0.2.2", jwt("{\"sub\":\"a\"}")), 429);
	CHECK_INT(ask("192.0.2.1", jwt("{\"sub\":\"b\"}")), 200);
	/* A subject nobody vouches for does not count. */
	CHECK_INT(ask("192.0.2.3", "Bearer e30.e30.e30"), 401);
	end();
}

static void guessing_has_a_limit(void)
{
	begin();
	config.tokens = tokens;
	config.tokens_len = MR_LEN(tokens);
	config.failures = (struct mr_http_rate_limit){ 2, 0 };
	open_access();
	/* To show nothing is no guess. */
	for (int i = 0; i < 5; i++)
		CHECK_INT(ask("192.0.2.1", NULL), 401);
	CHECK_INT(ask("192.0.2.1", "Bearer one"), 401);
	CHECK_INT(ask("192.0.2.1", "Bearer two"), 401);
	CHECK_INT(ask("192.0.2.1", "Bearer three"), 429);
	CHECK_STR(body(), "{\"detail\":\"Rate limit exceeded\"}");
	CHECK_STR(said("Retry-After"), "30");
	/* Nor would the right one be noticed now; elsewhere it is. */
	CHECK_INT(ask("192.0.2.1", "Bearer rule"), 429);
	CHECK_INT(ask("192.0.2.2", "Bearer rule"), 200);
	CHECK_INT(ask("2001:db8::1", "Bearer one"), 401);
	CHECK_INT(ask("2001:db8::2", "Bearer two"), 401);
	CHECK_INT(ask("2001:db8::3", "Bearer three"), 429);
	/* This machine is let in anyway. */
	for (int i = 0; i < 5; i++)
		CHECK_INT(ask("127.0.0.1", "Bearer wrong"), 200);
	now.now_us += 30 * SECOND;
	CHECK_INT(ask("192.0.2.1", "Bearer rule"), 200);
	end();
}

static const char *why_not(void)
{
	struct mr_err err = { 0 };

	CHECK_INT(mr_http_access_new(&config, &access, &err), MR_EINVAL);
	CHECK(!access);
	return mr_arena_strdup(arena, err.msg);
}

static void what_cannot_work_is_refused(void)
{
	struct mr_http_token empty = { "", MR_ROLE_READER };

	begin();
	config.with_jwt = true;
	CHECK_STR(why_not(), "jwt.enabled: neither jwt.secret nor jwt.jwks_url is set");
	config.jwt_keys_url = "https://issuer.example/keys";
	CHECK_STR(why_not(),
		"jwt.algorithms: with jwt.jwks_url it must have one of RS256, ES256, EdDSA");
	config.jwt_keys_url = "";
	config.jwt_secret = "s3cret";
	config.jwt_algs = MR_JWT_RS256;
	CHECK_STR(why_not(),
		"jwt.algorithms: with jwt.secret it must have one of HS256, HS384, HS512");
	config.with_jwt = false;
	config.trusted_proxies = mr_str_split(arena, "10.0.0.0/8,proxy", ',');
	CHECK_STR(why_not(),
		"http.trusted_proxies: \"proxy\" is no address or network such as 10.0.0.0/8");
	config.tokens = &empty;
	config.tokens_len = 1;
	CHECK_STR(why_not(), "http.bearer_tokens: a token is empty");
	end();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(without_tokens),
		TEST(the_same_user),
		TEST(static_tokens),
		TEST(nobody_looks_local),
		TEST(tokens_of_others),
		TEST(claims_inside_claims_and_agents),
		TEST(either_will_do),
		TEST(without_the_issuers_keys),
		TEST(roles_decide),
		TEST(calls_get_their_rights),
		TEST(limits_by_kind_and_caller),
		TEST(limits_by_subject),
		TEST(guessing_has_a_limit),
		TEST(what_cannot_work_is_refused),
	};

	return test_main(tests, MR_LEN(tests));
}
