/*
 * surface/cli/demo_team.c - The demo's five agents: they plan, take leases, acknowledge, answer,
 * and let go, task after task.
 */
#include "base/str.h"
#include "op/nouns.h"
#include "surface/cli/demo.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define PROJECT "/srv/harbor-shop"

/* What has happened before somebody looks. */
enum { EARLIER_STEPS = 55 };

static const struct {
	const char *name, *program, *model, *task;
} agents[] = {
	{ "GreenFox", "claude-code", "opus", "Checkout: prices, taxes and the order" },
	{ "BlueLake", "codex", "gpt-5", "Storage: tables, migrations, queries" },
	{ "AmberOwl", "gemini-cli", "pro", "Pages: cart, forms, messages to the customer" },
	{ "SilverPine", "claude-code", "sonnet", "Tests: what breaks, and how to see it" },
	{ "QuietHarbor", "opencode", "qwen", "Releases: notes, packages, the manual" },
};
/* The last one writes the notes; the others take turns. */
enum { WORKERS = MR_LEN(agents) - 1, NOTES = WORKERS };

static const struct {
	const char *title, *files, *tests, *plan, *finding;
} tasks[] = {
	{ "Round prices once, at the end", "src/checkout/price.c\nsrc/checkout/price.h",
		"tests/price/**",
		"The cart rounds each line, and the sum is off by a cent. I will:\n\n"
		"1. keep exact amounts in `struct amount`\n2. round once, in `total()`\n"
		"3. drop `round_line()`\n\nShout if you call `round_line()` anywhere.",
		"`render_cart()` calls `round_line()` twice:\n\n```c\nshown = round_line(line) * "
		"line->count;\n```\n\nI move it to `total()` with the page." },
	{ "Orders survive a restart", "src/store/order_sql.c\nsrc/store/migrations/**",
		"tests/store/**",
		"An order is lost when the server stops between *paid* and *stored*. I add a table "
		"`order_intent`, written before the payment.\n\n| step | state |\n|---|---|\n| before "
		"payment | `intent` |\n| after payment | `order` |",
		"With a kill between the two I see `intent` without `order`, and the next start "
		"finishes it. Good. One thing: the table needs an index on `created`." },
	{ "The cart works without scripts", "web/cart.html\nweb/cart.css", "tests/browser/cart/**",
		"Without scripts the button *Remove* does nothing. It becomes a form that posts; the "
		"script only makes it quicker.",
		"At 375 px the button leaves the page. `min-width: 0` on the row mends it." },
	{ "Say which field is wrong", "web/checkout.html\nsrc/checkout/form.c",
		"tests/browser/checkout/**",
		"\"Invalid input\" helps nobody. Each field gets its own sentence, beside it, and what "
		"was typed stays.",
		"The postcode of Ireland has a blank in it: `A65 F4E2` is refused. I have added it to "
		"the table of examples." },
	{ "Search finds words that begin so", "src/search/**", "tests/search/**",
		"`chair*` should find *chairs* and *chairman*. I change the tokenizer, and the index is "
		"built anew at the next start.",
		"The index of the sample shop grows from 2.1 to 2.3 MB, and a search stays under 2 ms." },
	{ "Mail to the customer in their language", "src/mail/**\nlocale/**", "tests/mail/**",
		"The order's mail is always English. The template's name gets the language, and English "
		"is what is left.",
		"`locale/de.po` lacks three texts. I list them here:\n\n- Your order\n- Delivery\n- "
		"Questions?" },
};

static const char *const thanks[] = {
	"Fine with me. I do not touch these files until you are done.",
	"Read it. One question: does the old name stay for a release?",
	"Good. I wait for your release of the lease, then I rebase.",
	"Agreed. I have nothing open there."
};

static const char question_text[] =
	"Two of us would drop it with this change, one would keep it for a release. "
	"Nobody outside uses it as far as we see. **What do you want?**";
static const char welcome_text[] =
	"Please work through the list from SHOP-1 on. **Ask me** when you are not "
	"of one mind, and keep your leases short.";

struct mr_demo_team {
	const struct mr_app *app;
	int pace_ms;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t woken;
	bool is_over; /* under the lock */
	/* Of the present task. */
	int step, number;
	int64_t plan, finding; /* messages; 0: none */
};

/* ---- what an agent does ---- */

static int64_t number_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_INT ? value->integer : 0;
}

/* The id of a message that was sent: in the result, or in its first delivery. */
static int64_t sent_id(const struct mr_value *result)
{
	const struct mr_value *list = mr_value_get(result, "deliveries");
	const struct mr_value *first =
		list && list->kind == MR_LIST && list->list.len ? &list->list.items[0] : NULL;
	const struct mr_value *payload = first ? mr_value_get(first, "payload") : NULL;

	return payload ? number_of(payload, "id") : number_of(result, "id");
}

static const char *worker(const struct mr_demo_team *team, int turn)
{
	return agents[(team->number + turn) % WORKERS].name;
}

/* A failure is no reason to stop: the next step is another one. */
static const struct mr_value *try(struct mr_call *call, const struct mr_op *op,
	const char *const *pairs)
{
	const struct mr_value *result = NULL;

	return mr_demo_ask(call, op, pairs, &result) ? NULL : result;
}

static void plan(struct mr_demo_team *team, struct mr_call *call)
{
	size_t task = (size_t)team->number % MR_LEN(tasks);
	const char *to =
		mr_arena_printf(call->cx.arena, "%s\n%s", worker(team, 1), worker(team, 2));
	const char *subject =
		mr_arena_printf(call->cx.arena, "[SHOP-%d] %s", team->number, tasks[task].title);
	const char *thread = mr_arena_printf(call->cx.arena, "SHOP-%d", team->number);
	const struct mr_value *sent;

	(void)try(call, &mr_op_team_update_profile,
		MR_DEMO_PAIRS("project_key", PROJECT, "agent_name", worker(team, 0),
			"task_description", tasks[task].title));
	sent = try(call, &mr_op_team_send,
		MR_DEMO_PAIRS("project_key", PROJECT, "sender_name", worker(team, 0), "to", to,
			"subject", subject, "body_md", tasks[task].plan, "thread_id", thread,
			"ack_required", "true", "importance",
			team->number % 3 ? "normal" : "high"));
	team->plan = sent ? sent_id(sent) : 0;
	team->finding = 0;
}

static void reserve(struct mr_demo_team *team, struct mr_call *call, int turn, const char *files,
	bool is_shared)
{
	size_t task = (size_t)team->number % MR_LEN(tasks);

	(void)try(call, &mr_op_team_reserve,
		MR_DEMO_PAIRS("project_key", PROJECT, "agent_name", worker(team, turn), "paths",
			files, "ttl_seconds", "1800", "exclusive", is_shared ? "false" : "true",
			"reason", tasks[task].title));
}

static void acknowledge(struct mr_demo_team *team, struct mr_call *call, int turn, int64_t message)
{
	const char *id = mr_arena_printf(call->cx.arena, "%lld", (long long)message);

	if (message)
		(void)try(call, &mr_op_team_ack,
			MR_DEMO_PAIRS("project_key", PROJECT, "agent_name", worker(team, turn),
				"message_id", id));
}

static int64_t reply(struct mr_demo_team *team, struct mr_call *call, int turn, int64_t message,
	const char *body)
{
	const char *id = mr_arena_printf(call->cx.arena, "%lld", (long long)message);
	const struct mr_value *sent = message
		? try(call, &mr_op_team_reply,
			  MR_DEMO_PAIRS("project_key", PROJECT, "sender_name", worker(team, turn),
				  "message_id", id, "body_md", body, "ack_required", "false",
				  "importance", "normal"))
		: NULL;

	return sent ? sent_id(sent) : 0;
}

static void release(struct mr_demo_team *team, struct mr_call *call, int turn)
{
	(void)try(call, &mr_op_team_release,
		MR_DEMO_PAIRS("project_key", PROJECT, "agent_name", worker(team, turn)));
}

static void ask_person(struct mr_demo_team *team, struct mr_call *call)
{
	const char *subject = mr_arena_printf(call->cx.arena,
		"SHOP-%d: may the old name go at once?", team->number);

	(void)try(call, &mr_op_team_send,
		MR_DEMO_PAIRS("project_key", PROJECT, "sender_name", worker(team, 0), "to",
			"HumanOverseer", "subject", subject, "body_md", question_text,
			"ack_required", "true", "importance", "high"));
}

static void note(struct mr_demo_team *team, struct mr_call *call)
{
	const char *to =
		mr_arena_printf(call->cx.arena, "%s\n%s", worker(team, 0), worker(team, 3));
	size_t task = (size_t)team->number % MR_LEN(tasks);

	(void)try(call, &mr_op_team_send,
		MR_DEMO_PAIRS("project_key", PROJECT, "sender_name", agents[NOTES].name, "to", to,
			"subject",
			mr_arena_printf(call->cx.arena, "Release note for SHOP-%d", team->number),
			"body_md",
			mr_arena_printf(call->cx.arena, "> %s.\n\nIs that what it does?",
				tasks[task].title)));
}

/* ---- a task, step by step ---- */

enum { STEPS = 11 };

static void take_step(struct mr_demo_team *team)
{
	struct mr_call call = mr_demo_call(team->app);
	size_t task = (size_t)team->number % MR_LEN(tasks);

	switch (team->step) {
	case 0:
		plan(team, &call);
		break;
	case 1:
		reserve(team, &call, 0, tasks[task].files, false);
		break;
	case 2:
		acknowledge(team, &call, 1, team->plan);
		break;
	case 3:
		(void)reply(team, &call, 1, team->plan,
			thanks[(size_t)team->number % MR_LEN(thanks)]);
		break;
	case 4:
		reserve(team, &call, 2, tasks[task].tests, true);
		break;
	case 5:
		acknowledge(team, &call, 2, team->number % 4 ? team->plan : 0);
		break;
	case 6:
		team->finding = reply(team, &call, 2, team->plan, tasks[task].finding);
		break;
	case 7:
		if (team->number % 3 == 0)
			ask_person(team, &call);
		break;
	case 8:
		(void)reply(team, &call, 0, team->finding,
			"Thanks, that was it. It is in, the tests pass, and I let go of the files.");
		break;
	case 9:
		release(team, &call, 0);
		if (team->number % 2)
			release(team, &call, 2);
		break;
	default:
		note(team, &call);
		break;
	}
	mr_arena_free(call.cx.arena);
	team->step = (team->step + 1) % STEPS;
	team->number += team->step == 0;
}

/* Until it is over, or the time has passed. */
static bool rest(struct mr_demo_team *team)
{
	struct timespec until;
	bool is_over;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)(team->pace_ms % 1000) * 1000000;
	until.tv_sec += team->pace_ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&team->lock);
	while (!team->is_over && pthread_cond_timedwait(&team->woken, &team->lock, &until) == 0)
		;
	is_over = team->is_over;
	pthread_mutex_unlock(&team->lock);
	return !is_over;
}

static void *play(void *arg)
{
	struct mr_demo_team *team = arg;

	while (rest(team))
		take_step(team);
	return NULL;
}

/* ---- beginning and end ---- */

static enum mr_code assemble(struct mr_demo_team *team, struct mr_call *call)
{
	enum mr_code rc = mr_demo_ask(call, &mr_op_team_ensure_project,
		MR_DEMO_PAIRS("human_key", PROJECT), NULL);

	(void)team;
	for (size_t i = 0; !rc && i < MR_LEN(agents); i++)
		rc = mr_demo_ask(call, &mr_op_team_register_agent,
			MR_DEMO_PAIRS("project_key", PROJECT, "name", agents[i].name, "program",
				agents[i].program, "model", agents[i].model, "task_description",
				agents[i].task, "contact_policy",
				i == NOTES ? "contacts_only" : "open"),
			NULL);
	/* It waits for a person: the others can write to the last one only when it agrees. */
	if (!rc)
		rc = mr_demo_ask(call, &mr_op_team_contact_request,
			MR_DEMO_PAIRS("project_key", PROJECT, "from_agent", agents[0].name,
				"to_agent", agents[NOTES].name, "reason",
				"I would like to tell you what belongs into the notes"),
			NULL);
	if (!rc)
		rc = mr_demo_ask(call, &mr_op_team_instruct,
			MR_DEMO_PAIRS("project_key", PROJECT, "to",
				"GreenFox\nBlueLake\nAmberOwl\nSilverPine", "subject",
				"This week: the checkout", "body_md", welcome_text),
			NULL);
	return rc;
}

static void free_team(struct mr_demo_team *team)
{
	pthread_cond_destroy(&team->woken);
	pthread_mutex_destroy(&team->lock);
	free(team);
}

enum mr_code mr_demo_team_start(const struct mr_app *app, int pace_ms, struct mr_demo_team **out,
	struct mr_err *err)
{
	struct mr_demo_team *team = calloc(1, sizeof(*team));
	struct mr_call call = mr_demo_call(app);
	pthread_condattr_t attributes;
	enum mr_code rc;

	*team = (struct mr_demo_team){ .app = app, .pace_ms = pace_ms, .number = 1 };
	pthread_mutex_init(&team->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&team->woken, &attributes);
	pthread_condattr_destroy(&attributes);
	rc = assemble(team, &call);
	if (rc)
		mr_err_set(err, rc, "the demo's team: %s", call.cx.err.msg);
	mr_arena_free(call.cx.arena);
	for (int i = 0; !rc && i < EARLIER_STEPS; i++)
		take_step(team);
	if (!rc && pthread_create(&team->thread, NULL, play, team) != 0)
		rc = mr_err_set(err, MR_EIO, "cannot start a thread");
	if (rc)
		free_team(team);
	else
		*out = team;
	return rc;
}

void mr_demo_team_stop(struct mr_demo_team *team)
{
	if (!team)
		return;
	pthread_mutex_lock(&team->lock);
	team->is_over = true;
	pthread_cond_signal(&team->woken);
	pthread_mutex_unlock(&team->lock);
	pthread_join(team->thread, NULL);
	free_team(team);
}
