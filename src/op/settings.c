/* op/settings.c */
#include "op/settings.h"

#include "base/fs.h"
#include "text/dotenv.h"
#include "text/yaml.h"

#include <assert.h>
#include <string.h>

static const char *const team_name_enforcements[] = { "strict", "coerce", "always_auto", NULL };
static const char *const team_name_validations[] = { "pool", "any", NULL };
static const char *const team_identity_modes[] = { "dir", "git-remote", "git-toplevel",
	"git-common-dir", NULL };
static const char *const reservation_glob_styles[] = { "path", "fnmatch", NULL };
static const char *const ack_escalation_modes[] = { "log", "file_reservation", "overseer", NULL };
static const char *const roles[] = { "reader", "writer", "admin", NULL };
static const char *const rate_limit_backends[] = { "memory", NULL };
static const char *const agent_auths[] = { "off", "warn", "require", NULL };
static const char *const mcp_tools_modes[] = { "core", "extended", NULL };
static const char *const log_levels[] = { "debug", "info", "warning", "error", "off", NULL };

/* Names and defaults that other servers' users know are kept (spec/coordination.md section 2). */
const struct mr_setting mr_setting_table[] = {
	{ .key = "http.host",
		.env = "HTTP_HOST",
		.type = MR_TYPE_TEXT,
		.fallback = "127.0.0.1",
		.summary = "address to listen on" },
	{ .key = "http.port",
		.env = "HTTP_PORT",
		.type = MR_TYPE_INT,
		.fallback = "8765",
		.min = 0,
		.max = 65535,
		.summary = "port to listen on; 0 takes a free one" },
	{ .key = "http.path",
		.env = "HTTP_PATH",
		.type = MR_TYPE_TEXT,
		.fallback = "/mcp/",
		.summary = "where MCP is served, besides /mcp/ and /api/" },
	{ .key = "http.allowed_hosts",
		.env = "HTTP_ALLOWED_HOSTS",
		.type = MR_TYPE_TEXTS,
		.fallback = "",
		.summary = "Host names accepted besides localhost" },
	{ .key = "http.allowed_origins",
		.env = "HTTP_ALLOWED_ORIGINS",
		.type = MR_TYPE_TEXTS,
		.fallback = "",
		.summary = "Origins accepted besides localhost" },
	{ .key = "http.bearer_token",
		.env = "HTTP_BEARER_TOKEN",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.flags = MR_SETTING_SECRET,
		.summary = "when set, every route but /health* asks for it" },
	{ .key = "http.bearer_role",
		.env = "HTTP_BEARER_ROLE",
		.type = MR_TYPE_TEXT,
		.fallback = "writer",
		.choices = roles,
		.summary = "what its holder may" },
	{ .key = "http.bearer_tokens",
		.env = "HTTP_BEARER_TOKENS",
		.type = MR_TYPE_TEXTS,
		.fallback = "",
		.flags = MR_SETTING_SECRET,
		.summary = "more tokens, each as token:role" },
	{ .key = "http.allow_localhost",
		.env = "HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED",
		.type = MR_TYPE_BOOL,
		.fallback = "true",
		.summary = "clients on this machine need no token; behind a proxy say false" },
	{ .key = "http.trusted_proxies",
		.env = "HTTP_TRUSTED_PROXIES",
		.type = MR_TYPE_TEXTS,
		.fallback = "",
		.summary = "addresses or networks whose X-Forwarded-For is believed" },
	{ .key = "jwt.enabled",
		.env = "HTTP_JWT_ENABLED",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "every route but /health* asks for a JSON Web Token, from this machine "
			   "too" },
	{ .key = "jwt.algorithms",
		.env = "HTTP_JWT_ALGORITHMS",
		.type = MR_TYPE_TEXTS,
		.fallback = "HS256",
		.summary = "those allowed: HS256, HS384, HS512, RS256, ES256, EdDSA" },
	{ .key = "jwt.secret",
		.env = "HTTP_JWT_SECRET",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.flags = MR_SETTING_SECRET,
		.summary = "the secret of HS256, HS384 and HS512" },
	{ .key = "jwt.jwks_url",
		.env = "HTTP_JWT_JWKS_URL",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.summary = "where the issuer's public keys are; in place of the secret" },
	{ .key = "jwt.audience",
		.env = "HTTP_JWT_AUDIENCE",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.summary = "when set, tokens must be for it" },
	{ .key = "jwt.issuer",
		.env = "HTTP_JWT_ISSUER",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.summary = "when set, tokens must be of it" },
	{ .key = "jwt.role_claim",
		.env = "HTTP_JWT_ROLE_CLAIM",
		.type = MR_TYPE_TEXT,
		.fallback = "role",
		.summary = "the claim that holds a role, or a list of them" },
	{ .key = "rbac.enabled",
		.env = "HTTP_RBAC_ENABLED",
		.type = MR_TYPE_BOOL,
		.fallback = "true",
		.summary = "roles are obeyed; otherwise whoever is let in may do everything" },
	{ .key = "rbac.reader_roles",
		.env = "HTTP_RBAC_READER_ROLES",
		.type = MR_TYPE_TEXTS,
		.fallback = "reader,read,ro",
		.summary = "what a token calls readers" },
	{ .key = "rbac.writer_roles",
		.env = "HTTP_RBAC_WRITER_ROLES",
		.type = MR_TYPE_TEXTS,
		.fallback = "writer,write,tools,rw",
		.summary = "and writers" },
	{ .key = "rbac.admin_roles",
		.env = "HTTP_RBAC_ADMIN_ROLES",
		.type = MR_TYPE_TEXTS,
		.fallback = "admin",
		.summary = "and administrators" },
	{ .key = "rbac.default_role",
		.env = "HTTP_RBAC_DEFAULT_ROLE",
		.type = MR_TYPE_TEXT,
		.fallback = "reader",
		.summary = "the role of a token that names none, and of strangers when no token is "
			   "asked for" },
	{ .key = "rbac.readonly_tools",
		.env = "HTTP_RBAC_READONLY_TOOLS",
		.type = MR_TYPE_TEXTS,
		.fallback = "health_check,fetch_inbox,whois,search_messages,summarize_thread,"
			    "summarize_threads",
		.summary = "tools that readers may call, besides all that change nothing" },
	{ .key = "rate_limit.enabled",
		.env = "HTTP_RATE_LIMIT_ENABLED",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "the limits below are obeyed, for each client" },
	{ .key = "rate_limit.backend",
		.env = "HTTP_RATE_LIMIT_BACKEND",
		.type = MR_TYPE_TEXT,
		.fallback = "memory",
		.choices = rate_limit_backends,
		.summary = "where they are counted" },
	{ .key = "rate_limit.per_minute",
		.env = "HTTP_RATE_LIMIT_PER_MINUTE",
		.type = MR_TYPE_INT,
		.fallback = "60",
		.min = 0,
		.max = 1000000000,
		.summary = "requests that neither call a tool nor read a resource; 0 is no limit" },
	{ .key = "rate_limit.tools_per_minute",
		.env = "HTTP_RATE_LIMIT_TOOLS_PER_MINUTE",
		.type = MR_TYPE_INT,
		.fallback = "60",
		.min = 0,
		.max = 1000000000,
		.summary = "calls of each tool; 0 is no limit" },
	{ .key = "rate_limit.tools_burst",
		.env = "HTTP_RATE_LIMIT_TOOLS_BURST",
		.type = MR_TYPE_INT,
		.fallback = "0",
		.min = 0,
		.max = 1000000000,
		.summary = "so many of them at once; 0 is as many as per minute" },
	{ .key = "rate_limit.resources_per_minute",
		.env = "HTTP_RATE_LIMIT_RESOURCES_PER_MINUTE",
		.type = MR_TYPE_INT,
		.fallback = "120",
		.min = 0,
		.max = 1000000000,
		.summary = "resources read; 0 is no limit" },
	{ .key = "rate_limit.resources_burst",
		.env = "HTTP_RATE_LIMIT_RESOURCES_BURST",
		.type = MR_TYPE_INT,
		.fallback = "0",
		.min = 0,
		.max = 1000000000,
		.summary = "so many of them at once; 0 is as many as per minute" },
	{ .key = "rate_limit.failures_per_minute",
		.env = "HTTP_RATE_LIMIT_FAILURES_PER_MINUTE",
		.type = MR_TYPE_INT,
		.fallback = "30",
		.min = 0,
		.max = 1000000000,
		.summary =
			"wrong tokens from one address, whether the others are obeyed or not; 0 is "
			"no limit" },
	{ .key = "cors.enabled",
		.env = "HTTP_CORS_ENABLED",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "pages of other origins may ask" },
	{ .key = "cors.origins",
		.env = "HTTP_CORS_ORIGINS",
		.type = MR_TYPE_TEXTS,
		.fallback = "",
		.summary =
			"which: whole origins, or * for all, who then need a token; empty is those "
			"of http.allowed_origins" },
	{ .key = "cors.allow_credentials",
		.env = "HTTP_CORS_ALLOW_CREDENTIALS",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "with cookies" },
	{ .key = "cors.allow_methods",
		.env = "HTTP_CORS_ALLOW_METHODS",
		.type = MR_TYPE_TEXTS,
		.fallback = "*",
		.summary = "methods they may use" },
	{ .key = "cors.allow_headers",
		.env = "HTTP_CORS_ALLOW_HEADERS",
		.type = MR_TYPE_TEXTS,
		.fallback = "*",
		.summary = "headers they may send" },
	{ .key = "oauth.resource",
		.env = "HTTP_OAUTH_RESOURCE",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.summary = "URL of /mcp as clients know it, for "
			   "/.well-known/oauth-protected-resource" },
	{ .key = "oauth.authorization_servers",
		.env = "HTTP_OAUTH_AUTHORIZATION_SERVERS",
		.type = MR_TYPE_TEXTS,
		.fallback = "",
		.summary = "URLs of those who issue tokens for it" },
	{ .key = "oauth.scopes",
		.env = "HTTP_OAUTH_SCOPES",
		.type = MR_TYPE_TEXTS,
		.fallback = "",
		.summary = "scopes that clients ask them for" },
	{ .key = "agent.auth",
		.env = "AGENT_AUTH",
		.type = MR_TYPE_TEXT,
		.fallback = "off",
		.choices = agent_auths,
		.summary = "whether acting as an agent takes the token it got when it registered" },
	{ .key = "http.max_body_bytes",
		.env = "HTTP_MAX_BODY_BYTES",
		.type = MR_TYPE_INT,
		.fallback = "4194304",
		.min = 1024,
		.max = 1 << 30,
		.summary = "largest request body" },
	{ .key = "http.max_connections",
		.env = "HTTP_MAX_CONNECTIONS",
		.type = MR_TYPE_INT,
		.fallback = "2048",
		.min = 1,
		.max = 60000,
		.summary = "connections open at once" },
	{ .key = "http.idle_timeout_seconds",
		.env = "HTTP_IDLE_TIMEOUT_SECONDS",
		.type = MR_TYPE_INT,
		.fallback = "60",
		.min = 1,
		.max = 3600,
		.summary = "a connection that says nothing for so long is closed" },
	{ .key = "http.request_log",
		.env = "HTTP_REQUEST_LOG_ENABLED",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "log every request" },
	{ .key = "mcp.fixtures",
		.env = "MCP_CONFORMANCE_FIXTURES",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "serve what the protocol's conformance tests ask for, too" },
	{ .key = "storage.root",
		.env = "STORAGE_ROOT",
		.type = MR_TYPE_TEXT,
		.fallback = "~/.mcp_agent_mail_git_mailbox_repo",
		.flags = MR_SETTING_PATH,
		.summary = "where data is kept" },
	{ .key = "mailbox.root",
		.env = "HOUMAO_GLOBAL_MAILBOX_DIR",
		.type = MR_TYPE_TEXT,
		.fallback = ".houmao/mailbox",
		.flags = MR_SETTING_PATH,
		.summary = "the mailbox root of mailroom mailbox, below the working directory" },
	{ .key = "database.url",
		.env = "DATABASE_URL",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.flags = MR_SETTING_PATH,
		.summary = "path or sqlite URL of the team's database; empty is storage.sqlite3 in "
			   "storage.root" },
	{ .key = "git.author_name",
		.env = "GIT_AUTHOR_NAME",
		.type = MR_TYPE_TEXT,
		.fallback = "mcp-agent",
		.summary = "author of the archive's commits" },
	{ .key = "git.author_email",
		.env = "GIT_AUTHOR_EMAIL",
		.type = MR_TYPE_TEXT,
		.fallback = "mcp-agent@example.com",
		.summary = "and the address" },
	{ .key = "team.environment",
		.env = "APP_ENVIRONMENT",
		.type = MR_TYPE_TEXT,
		.fallback = "development",
		.summary = "free text, reported by health_check" },
	{ .key = "team.name_enforcement",
		.env = "AGENT_NAME_ENFORCEMENT_MODE",
		.type = MR_TYPE_TEXT,
		.fallback = "coerce",
		.choices = team_name_enforcements,
		.summary = "what happens to a name that does not fit" },
	{ .key = "team.name_validation",
		.env = "AGENT_NAME_VALIDATION",
		.type = MR_TYPE_TEXT,
		.fallback = "pool",
		.choices = team_name_validations,
		.summary = "which names fit: words of the lists, or any letters and digits" },
	{ .key = "team.auto_register",
		.env = "MESSAGING_AUTO_REGISTER_RECIPIENTS",
		.type = MR_TYPE_BOOL,
		.fallback = "true",
		.summary = "an unknown recipient is registered by the first message" },
	{ .key = "team.identity_mode",
		.env = "PROJECT_IDENTITY_MODE",
		.type = MR_TYPE_TEXT,
		.fallback = "dir",
		.choices = team_identity_modes,
		.summary = "what makes two directories one project" },
	{ .key = "team.identity_remote",
		.env = "PROJECT_IDENTITY_REMOTE",
		.type = MR_TYPE_TEXT,
		.fallback = "origin",
		.summary = "the remote that git-remote asks for" },
	{ .key = "contact.enforced",
		.env = "CONTACT_ENFORCEMENT_ENABLED",
		.type = MR_TYPE_BOOL,
		.fallback = "true",
		.summary = "contact policies are obeyed" },
	{ .key = "contact.same_project",
		.env = "CONTACT_ENFORCE_SAME_PROJECT",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "between agents of one project too" },
	{ .key = "contact.request_ttl_seconds",
		.env = "CONTACT_REQUEST_TTL_SECONDS",
		.type = MR_TYPE_INT,
		.fallback = "604800",
		.min = 1,
		.max = 315360000,
		.summary = "a request waits so long" },
	{ .key = "contact.approval_ttl_seconds",
		.env = "CONTACT_APPROVAL_TTL_SECONDS",
		.type = MR_TYPE_INT,
		.fallback = "2592000",
		.min = 1,
		.max = 315360000,
		.summary = "an approval holds so long" },
	{ .key = "reservation.glob_style",
		.env = "RESERVATION_GLOB_STYLE",
		.type = MR_TYPE_TEXT,
		.fallback = "path",
		.choices = reservation_glob_styles,
		.summary = "whether * stops at / in patterns" },
	{ .key = "reservation.enforced",
		.env = "FILE_RESERVATIONS_ENFORCEMENT_ENABLED",
		.type = MR_TYPE_BOOL,
		.fallback = "true",
		.summary = "an escalation's or administrator's lease on a mailbox stops mail" },
	{ .key = "reservation.inactivity_seconds",
		.env = "FILE_RESERVATION_INACTIVITY_SECONDS",
		.type = MR_TYPE_INT,
		.fallback = "1800",
		.min = 1,
		.max = 31536000,
		.summary = "a holder silent for so long is inactive" },
	{ .key = "reservation.activity_grace_seconds",
		.env = "FILE_RESERVATION_ACTIVITY_GRACE_SECONDS",
		.type = MR_TYPE_INT,
		.fallback = "900",
		.min = 1,
		.max = 31536000,
		.summary = "mail, files or commits this recent keep a lease alive" },
	{ .key = "reservation.cleanup",
		.env = "FILE_RESERVATIONS_CLEANUP_ENABLED",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "the server releases expired and stale leases by itself" },
	{ .key = "reservation.cleanup_interval_seconds",
		.env = "FILE_RESERVATIONS_CLEANUP_INTERVAL_SECONDS",
		.type = MR_TYPE_INT,
		.fallback = "60",
		.min = 5,
		.max = 86400,
		.summary = "how often" },
	{ .key = "ack.ttl_enabled",
		.env = "ACK_TTL_ENABLED",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "the server looks for acknowledgements that do not come" },
	{ .key = "ack.ttl_seconds",
		.env = "ACK_TTL_SECONDS",
		.type = MR_TYPE_INT,
		.fallback = "1800",
		.min = 0,
		.max = 31536000,
		.summary = "an acknowledgement is overdue after this" },
	{ .key = "ack.scan_interval_seconds",
		.env = "ACK_TTL_SCAN_INTERVAL_SECONDS",
		.type = MR_TYPE_INT,
		.fallback = "60",
		.min = 5,
		.max = 86400,
		.summary = "how often the server looks" },
	{ .key = "ack.escalation",
		.env = "ACK_ESCALATION_ENABLED",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "an overdue acknowledgement is answered, not only logged" },
	{ .key = "ack.escalation_mode",
		.env = "ACK_ESCALATION_MODE",
		.type = MR_TYPE_TEXT,
		.fallback = "log",
		.choices = ack_escalation_modes,
		.summary = "how" },
	{ .key = "ack.escalation_ttl_seconds",
		.env = "ACK_ESCALATION_CLAIM_TTL_SECONDS",
		.type = MR_TYPE_INT,
		.fallback = "3600",
		.min = 1,
		.max = 2592000,
		.summary = "how long the escalation's lease holds" },
	{ .key = "ack.escalation_exclusive",
		.env = "ACK_ESCALATION_CLAIM_EXCLUSIVE",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "whether it is exclusive" },
	{ .key = "ack.escalation_holder",
		.env = "ACK_ESCALATION_CLAIM_HOLDER_NAME",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.summary = "who holds it; empty is the recipient" },
	{ .key = "attachment.convert_images",
		.env = "CONVERT_IMAGES",
		.type = MR_TYPE_BOOL,
		.fallback = "true",
		.summary = "images become WebP" },
	{ .key = "attachment.keep_originals",
		.env = "KEEP_ORIGINAL_IMAGES",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "and what they were is kept too" },
	{ .key = "attachment.inline_max_bytes",
		.env = "INLINE_IMAGE_MAX_BYTES",
		.type = MR_TYPE_INT,
		.fallback = "65536",
		.min = 0,
		.max = 4194304,
		.summary = "images up to this size travel in the message" },
	{ .key = "attachment.roots",
		.env = "ATTACHMENT_ROOTS",
		.type = MR_TYPE_TEXTS,
		.fallback = "",
		.summary =
			"directories, besides the project's own, that files may be attached from" },
	{ .key = "quota.enabled",
		.env = "QUOTA_ENABLED",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "the two limits below are obeyed" },
	{ .key = "quota.attachments_bytes",
		.env = "QUOTA_ATTACHMENTS_LIMIT_BYTES",
		.type = MR_TYPE_INT,
		.fallback = "0",
		.min = 0,
		.max = INT64_C(1) << 50,
		.summary = "attachments of a project; 0 is no limit" },
	{ .key = "quota.inbox_count",
		.env = "QUOTA_INBOX_LIMIT_COUNT",
		.type = MR_TYPE_INT,
		.fallback = "0",
		.min = 0,
		.max = INT64_C(1) << 40,
		.summary = "unread messages of an agent; 0 is no limit" },
	{ .key = "guard.agent",
		.env = "AGENT_NAME",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.summary = "who commits, pushes and edits here: the name of an agent" },
	{ .key = "guard.mode",
		.env = "AGENT_MAIL_GUARD_MODE",
		.type = MR_TYPE_TEXT,
		.fallback = "block",
		.summary = "what the guard does about files others hold: block or warn" },
	{ .key = "guard.bypass",
		.env = "AGENT_MAIL_BYPASS",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.summary = "1 lets everything through" },
	{ .key = "guard.project",
		.env = "AGENT_MAIL_PROJECT",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.summary = "the guard's project; empty is that of the repository" },
	{ .key = "guard.url",
		.env = "AGENT_MAIL_URL",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.summary = "MCP endpoint that the guard asks when the project is not kept here" },
	{ .key = "guard.token",
		.env = "AGENT_MAIL_TOKEN",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.flags = MR_SETTING_SECRET,
		.summary = "its bearer token" },
	{ .key = "llm.endpoint",
		.env = "LLM_ENDPOINT",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.summary =
			"URL of an OpenAI-compatible API that refines summaries; empty is none" },
	{ .key = "llm.model",
		.env = "LLM_DEFAULT_MODEL",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.summary = "its model" },
	{ .key = "llm.key",
		.env = "LLM_API_KEY",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.flags = MR_SETTING_SECRET,
		.summary = "its key" },
	{ .key = "mcp.tools_mode",
		.env = "MCP_TOOLS_MODE",
		.type = MR_TYPE_TEXT,
		.fallback = "extended",
		.choices = mcp_tools_modes,
		.summary = "which tools MCP clients are shown: core, a dozen, or all" },
	{ .key = "mcp.fence",
		.env = "MCP_FENCE",
		.type = MR_TYPE_BOOL,
		.fallback = "false",
		.summary = "mark off the texts of other agents, so that they cannot pose as ours" },
	{ .key = "mcp.capabilities_file",
		.env = "MCP_CAPABILITIES_FILE",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.flags = MR_SETTING_PATH,
		.summary = "JSON that says what each agent is good at, for the others to read" },
	{ .key = "otel.endpoint",
		.env = "OTEL_EXPORTER_OTLP_ENDPOINT",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.summary = "URL of an OpenTelemetry collector (OTLP over HTTP) that gets traces; "
			   "empty "
			   "is none" },
	{ .key = "otel.headers",
		.env = "OTEL_EXPORTER_OTLP_HEADERS",
		.type = MR_TYPE_TEXT,
		.fallback = "",
		.flags = MR_SETTING_SECRET,
		.summary = "what it is sent besides, name=value with commas between" },
	{ .key = "otel.service_name",
		.env = "OTEL_SERVICE_NAME",
		.type = MR_TYPE_TEXT,
		.fallback = "mailroom",
		.summary = "under which name it knows this server" },
	{ .key = "log.level",
		.env = "LOG_LEVEL",
		.type = MR_TYPE_TEXT,
		.fallback = "info",
		.choices = log_levels,
		.summary = "least serious events to log" },
	{ 0 },
};

enum { SETTING_COUNT = MR_LEN(mr_setting_table) - 1, CONFIG_BYTES = 256 * 1024 };

struct entry {
	const char *source;
	const char *shown;
	const char *text;
	int64_t integer;
	bool boolean;
	struct mr_texts texts;
};

struct mr_settings {
	struct entry entries[SETTING_COUNT];
};

struct loading {
	struct mr_arena *arena;
	struct mr_settings *settings;
	const char *home;
	struct mr_err *err;
};

static int index_of_key(const char *key)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		if (strcmp(mr_setting_table[i].key, key) == 0)
			return i;
	}
	return -1;
}

static const char *nearest_key(const char *key)
{
	const char *keys[SETTING_COUNT];

	for (int i = 0; i < SETTING_COUNT; i++)
		keys[i] = mr_setting_table[i].key;
	return mr_str_nearest(key, keys, SETTING_COUNT);
}

static const char *nearest_env(const char *name)
{
	const char *names[SETTING_COUNT];

	for (int i = 0; i < SETTING_COUNT; i++)
		names[i] = mr_setting_table[i].env;
	return mr_str_nearest(name, names, SETTING_COUNT);
}

static enum mr_code refuse_key(struct loading *ld, const char *source, const char *name,
	const char *near)
{
	if (near)
		return mr_err_set(ld->err, MR_EINVAL,
			"%s: there is no setting %s; did you mean %s?", source, name, near);
	return mr_err_set(ld->err, MR_EINVAL, "%s: there is no setting %s; see mailroom config",
		source, name);
}

static bool is_choice(const struct mr_setting *setting, const char *text)
{
	for (size_t i = 0; setting->choices && setting->choices[i]; i++) {
		if (mr_str_eq_nocase(setting->choices[i], text))
			return true;
	}
	return !setting->choices;
}

static const char *choices_of(struct mr_arena *arena, const struct mr_setting *setting)
{
	struct mr_texts all = { (const char **)setting->choices, 0 };

	while (setting->choices[all.len])
		all.len++;
	return mr_str_join(arena, &all, ", ");
}

/* Take one value, given as text. Errors name the source and the setting, never a secret's value. */
static enum mr_code take_text(struct loading *ld, int i, const char *text, const char *source)
{
	const struct mr_setting *setting = &mr_setting_table[i];
	struct entry entry = { .source = source, .text = text, .shown = text };

	switch (setting->type) {
	case MR_TYPE_INT:
		if (!mr_str_to_int(text, &entry.integer) || entry.integer < setting->min ||
			entry.integer > setting->max)
			return mr_err_set(ld->err, MR_EINVAL,
				"%s: %s must be a number from %lld to %lld, not \"%s\"", source,
				setting->key, (long long)setting->min, (long long)setting->max,
				text);
		break;
	case MR_TYPE_BOOL:
		if (!mr_str_to_bool(text, &entry.boolean))
			return mr_err_set(ld->err, MR_EINVAL,
				"%s: %s must be true or false, not \"%s\"", source, setting->key,
				text);
		entry.shown = entry.boolean ? "true" : "false";
		break;
	case MR_TYPE_TEXTS:
		entry.texts = mr_str_split(ld->arena, text, ',');
		entry.shown = mr_str_join(ld->arena, &entry.texts, ", ");
		break;
	default:
		if (!is_choice(setting, text))
			return mr_err_set(ld->err, MR_EINVAL,
				"%s: %s must be one of %s, not \"%s\"", source, setting->key,
				choices_of(ld->arena, setting), text);
		/* Without a home it stays as it is: who needs the place says so. */
		if (setting->flags & MR_SETTING_PATH && *ld->home && mr_str_starts(text, "~/"))
			entry.text = entry.shown =
				mr_arena_printf(ld->arena, "%s%s", ld->home, text + 1);
		break;
	}
	if (setting->flags & MR_SETTING_SECRET)
		entry.shown = *text ? "********" : "";
	ld->settings->entries[i] = entry;
	return MR_OK;
}

/* A YAML value as the text take_text() reads. */
static const char *text_of(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_texts items = { NULL, 0 };

	switch (value->kind) {
	case MR_NULL:
		return "";
	case MR_TEXT:
		return value->text;
	case MR_LIST:
		items.items = mr_arena_array(arena, value->list.len + 1, sizeof(*items.items));
		for (; items.len < value->list.len; items.len++) {
			items.items[items.len] = text_of(arena, &value->list.items[items.len]);
			if (!items.items[items.len])
				return NULL;
		}
		return mr_str_join(arena, &items, ",");
	case MR_BOOL:
	case MR_INT:
	case MR_FLOAT:
		return value->plain;
	case MR_MAP:
		break;
	}
	return NULL;
}

static bool is_group(const char *path)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		size_t len = strlen(path);

		if (strncmp(mr_setting_table[i].key, path, len) == 0 &&
			mr_setting_table[i].key[len] == '.')
			return true;
	}
	return false;
}

static enum mr_code take_map(struct loading *ld, const struct mr_value *map, const char *prefix,
	const char *source)
{
	for (size_t i = 0; i < map->map.len; i++) {
		const struct mr_value *value = &map->map.pairs[i].value;
		const char *key = mr_arena_printf(ld->arena, "%s%s", prefix, map->map.pairs[i].key);
		int index = index_of_key(key);
		const char *text = text_of(ld->arena, value);
		enum mr_code rc;

		if (index >= 0 && !text)
			return mr_err_set(ld->err, MR_EINVAL, "%s: %s must not be an object",
				source, key);
		if (index >= 0)
			rc = take_text(ld, index, text, source);
		else if (value->kind == MR_MAP && is_group(key))
			rc = take_map(ld, value, mr_arena_printf(ld->arena, "%s.", key), source);
		else
			rc = refuse_key(ld, source, key, nearest_key(key));
		if (rc)
			return rc;
	}
	return MR_OK;
}

static enum mr_code load_yaml(struct loading *ld, int dir, const char *path)
{
	const struct mr_value *config;
	struct mr_bytes text;

	if (mr_fs_read(ld->arena, dir, path, CONFIG_BYTES, &text, ld->err))
		return mr_err_wrap(ld->err, "configuration");
	if (mr_yaml_parse(ld->arena, text, NULL, &config, ld->err))
		return mr_err_wrap(ld->err, "%s", path);
	if (config->kind == MR_NULL)
		return MR_OK;
	if (config->kind != MR_MAP)
		return mr_err_set(ld->err, MR_EINVAL, "%s: must be a map of settings", path);
	return take_map(ld, config, "", path);
}

static const char *env_get(const char *const *variables, const char *name)
{
	size_t len = strlen(name);

	for (; variables && *variables; variables++) {
		if (strncmp(*variables, name, len) == 0 && (*variables)[len] == '=')
			return *variables + len + 1;
	}
	return NULL;
}

static enum mr_code load_config_file(struct loading *ld, const struct mr_settings_sources *from)
{
	const char *named =
		from->config_file ? from->config_file : env_get(from->variables, "MAILROOM_CONFIG");
	const char *own = mr_arena_printf(ld->arena, "%s/.config/mailroom/mailroom.yaml", ld->home);

	if (!mr_str_is_empty(named))
		return load_yaml(ld, from->cwd, named);
	if (mr_fs_exists(from->cwd, "mailroom.yaml"))
		return load_yaml(ld, from->cwd, "mailroom.yaml");
	if (*ld->home && mr_fs_exists(from->cwd, own))
		return load_yaml(ld, from->cwd, own);
	return MR_OK;
}

static int index_of_env(const char *name)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		if (strcmp(mr_setting_table[i].env, name) == 0)
			return i;
	}
	return -1;
}

static enum mr_code load_dotenv(struct loading *ld, int cwd, bool lenient)
{
	struct mr_dotenv env;
	struct mr_bytes text;

	if (!mr_fs_exists(cwd, ".env"))
		return MR_OK;
	if (mr_fs_read(ld->arena, cwd, ".env", MR_DOTENV_BYTES, &text, ld->err) ||
		mr_dotenv_parse(ld->arena, text, &env, ld->err))
		return lenient ? MR_OK : mr_err_wrap(ld->err, ".env");
	for (size_t i = 0; i < env.len; i++) {
		const struct mr_dotenv_entry *e = &env.entries[i];
		const char *source = mr_arena_printf(ld->arena, ".env line %zu", e->line);
		int index = index_of_env(e->name);
		const char *near = nearest_env(e->name);
		enum mr_code rc = MR_OK;

		if (index >= 0)
			rc = take_text(ld, index, e->value, source);
		else if (near || mr_str_starts(e->name, "MAILROOM_"))
			/* The file may serve other programs too; what looks like ours must be ours.
			 */
			rc = refuse_key(ld, source, e->name, near);
		if (rc && !lenient)
			return rc;
	}
	return MR_OK;
}

static enum mr_code load_environ(struct loading *ld, const char *const *variables)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		const char *value = env_get(variables, mr_setting_table[i].env);
		const char *source =
			mr_arena_printf(ld->arena, "environment %s", mr_setting_table[i].env);

		if (value && take_text(ld, i, value, source))
			return ld->err->code;
	}
	return MR_OK;
}

static enum mr_code load_assignments(struct loading *ld, const struct mr_texts *assignments)
{
	for (size_t i = 0; assignments && i < assignments->len; i++) {
		const char *text = assignments->items[i];
		const char *equals = strchrnul(text, '=');
		const char *key = mr_arena_strndup(ld->arena, text, (size_t)(equals - text));
		int index = index_of_key(key);

		if (!*equals)
			return mr_err_set(ld->err, MR_EINVAL,
				"command line: --set takes key=value, not \"%s\"", text);
		if (index < 0)
			return refuse_key(ld, "command line", key, nearest_key(key));
		if (take_text(ld, index, equals + 1, "command line"))
			return ld->err->code;
	}
	return MR_OK;
}

enum mr_code mr_settings_load(struct mr_arena *arena, const struct mr_settings_sources *sources,
	const struct mr_settings **out, struct mr_err *err)
{
	struct loading ld = {
		.arena = arena,
		.settings = mr_arena_alloc(arena, sizeof(*ld.settings)),
		.home = env_get(sources->variables, "HOME"),
		.err = err,
	};
	enum mr_code rc = MR_OK;

	ld.home = ld.home ? ld.home : "";
	/* Each source overrides the ones before it. */
	for (int i = 0; i < SETTING_COUNT && !rc; i++)
		rc = take_text(&ld, i, mr_setting_table[i].fallback, "default");
	if (!rc)
		rc = load_config_file(&ld, sources);
	if (!rc)
		rc = load_dotenv(&ld, sources->cwd, sources->lenient_dotenv);
	if (!rc)
		rc = load_environ(&ld, sources->variables);
	if (!rc)
		rc = load_assignments(&ld, sources->assignments);
	if (!rc)
		*out = ld.settings;
	return rc;
}

static const struct entry *get(const struct mr_settings *settings, const char *key)
{
	int i = index_of_key(key);

	assert(i >= 0);
	return &settings->entries[i];
}

const char *mr_settings_text(const struct mr_settings *settings, const char *key)
{
	return get(settings, key)->text;
}

int64_t mr_settings_int(const struct mr_settings *settings, const char *key)
{
	return get(settings, key)->integer;
}

bool mr_settings_bool(const struct mr_settings *settings, const char *key)
{
	return get(settings, key)->boolean;
}

const struct mr_texts *mr_settings_texts(const struct mr_settings *settings, const char *key)
{
	return &get(settings, key)->texts;
}

const char *mr_settings_source(const struct mr_settings *settings, const char *key)
{
	return get(settings, key)->source;
}

const char *mr_settings_shown(struct mr_arena *arena, const struct mr_settings *settings,
	const char *key)
{
	return mr_arena_strdup(arena, get(settings, key)->shown);
}
