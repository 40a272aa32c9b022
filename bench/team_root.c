/* bench/team_root.c */
#include "team_root.h"

#include "base/fs.h"
#include "bench.h"
#include "team/agent.h"
#include "team/message.h"
#include "team/open.h"
#include "team/store/schema.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void bench_die(const char *what, const char *why)
{
	fprintf(stderr, "bench: %s: %s\n", what, why);
	exit(1);
}

struct mr_ctx bench_context(struct bench_root *root)
{
	return (struct mr_ctx){ .arena = mr_arena_new(),
		.clock = root->still ? &root->clock.clock : mr_clock_system(),
		.rand = mr_rand_system() };
}

void bench_must(enum mr_code rc, const struct mr_ctx *cx, const char *what)
{
	if (rc)
		bench_die(what, cx->err.msg);
}

const char *bench_agent(size_t i)
{
	static const char *const names[BENCH_AGENTS] = { "RedRiver", "BlueLake", "GreenCastle",
		"GoldFox", "SilverOwl", "BronzeBear", "AmberHawk", "CoralWolf", "JadeDeer",
		"RubyLion", "PearlTiger", "OnyxRaven", "IvoryHeron", "EbonyCrane", "AzureSwan",
		"BoldOtter" };

	return names[i % BENCH_AGENTS];
}

static char body[BENCH_BODY_BYTES + 1];
static pthread_once_t body_once = PTHREAD_ONCE_INIT;

static void make_body(void)
{
	for (size_t i = 0; i < BENCH_BODY_BYTES; i++)
		body[i] = " the module review deploys lease\n"[(i * 7 + i / 31) % 33];
}

const char *bench_body(void)
{
	pthread_once(&body_once, make_body);
	return body;
}

void bench_root_open(struct bench_root *root, const char *dir, const char *name, bool still)
{
	bench_root_open_at(root, dir, name, NULL, still);
}

void bench_root_open_at(struct bench_root *root, const char *dir, const char *name,
	const char *database, bool still)
{
	struct mr_team_config config;
	struct mr_ctx cx;

	snprintf(root->path, sizeof(root->path), "%s/%s", dir, name);
	root->still = still;
	mr_clock_fixed_init(&root->clock, BENCH_START_US);
	cx = bench_context(root);
	config = mr_team_config_default(root->path);
	config.database = database;
	bench_must(mr_team_open(&cx, &config, &root->team), &cx, root->path);
	for (size_t i = 0; i < BENCH_AGENTS; i++) {
		struct mr_team_registration who = { .project_key = BENCH_PROJECT,
			.name = bench_agent(i),
			.program = "bench",
			.model = "none" };
		struct mr_team_project project;
		struct mr_team_agent agent;

		bench_must(mr_team_agent_register(&cx, root->team, &who, &project, &agent), &cx,
			"register");
	}
	mr_arena_free(cx.arena);
}

void bench_root_close(struct bench_root *root)
{
	mr_team_close(root->team, 0);
	bench_dir_remove(root->path);
}

/* --- sending ------------------------------------------------------------------------------ */

void bench_send_one(struct bench_root *root, struct mr_ctx *cx, size_t number)
{
	const char *to[] = { bench_agent(number + 1), NULL };
	struct mr_team_draft draft = { .project_key = BENCH_PROJECT,
		.sender_name = bench_agent(number),
		.lists.to = { to, 1 },
		.subject = "review of the migration",
		.body_md = bench_body(),
		.convert_images = -1 };
	struct mr_team_sent sent;

	bench_must(mr_team_send(cx, root->team, &draft, &sent), cx, "send");
}

struct sender {
	struct bench_root *root;
	size_t first, count;
	double *waits; /* or NULL */
	double gap_s;  /* between sends; 0: at once */
	pthread_t thread;
};

static void *run_sender(void *arg)
{
	struct sender *sender = arg;
	double begun = bench_now();

	for (size_t i = 0; i < sender->count; i++) {
		struct mr_ctx cx = bench_context(sender->root);
		double start = bench_now();

		if (sender->gap_s > 0 && start < begun + (double)i * sender->gap_s) {
			double rest = begun + (double)i * sender->gap_s - start;
			struct timespec nap = { .tv_sec = (time_t)rest,
				.tv_nsec = (long)((rest - (double)(time_t)rest) * 1e9) };

			nanosleep(&nap, NULL);
		}
		start = bench_now();
		bench_send_one(sender->root, &cx, sender->first + i);
		if (sender->waits)
			sender->waits[i] = bench_now() - start;
		mr_arena_free(cx.arena);
	}
	return NULL;
}

double bench_send_many(struct bench_root *root, size_t threads, size_t count, double gap_s,
	double *waits)
{
	struct sender senders[BENCH_SENDERS];
	double begun = bench_now();

	for (size_t i = 0; i < threads; i++) {
		senders[i] = (struct sender){ .root = root,
			.first = i,
			.count = count,
			.gap_s = gap_s,
			.waits = waits ? waits + i * count : NULL };
		if (pthread_create(&senders[i].thread, NULL, run_sender, &senders[i]))
			bench_die("pthread_create", "failed");
	}
	for (size_t i = 0; i < threads; i++)
		pthread_join(senders[i].thread, NULL);
	return bench_now() - begun;
}

/* --- a past ------------------------------------------------------------------------------- */

enum { FILL_AT_ONCE = 1000 };

struct fill {
	size_t first, last;
};

static enum mr_code fill_some(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct mr_stmt *messages MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_stmt *recipients MR_CLEANUP(mr_stmt_done) = NULL;
	const struct fill *fill = arg;
	enum mr_code rc = mr_db_prepare(db,
		"INSERT INTO messages (id, uid, project_id, sender_id, subject, body_md, "
		"created_ts)"
		" VALUES (?1, 'm' || ?1, 1, 1 + ?1 % 16, 'subject', ?2, ?1)",
		&messages, &cx->err);

	if (!rc)
		rc = mr_db_prepare(db,
			"INSERT INTO message_recipients (message_id, agent_id)"
			" VALUES (?1, 1 + (?1 + 1) % 16)",
			&recipients, &cx->err);
	for (size_t i = fill->first; i <= fill->last && !rc; i++) {
		mr_stmt_bind_int(messages, 1, (int64_t)i);
		mr_stmt_bind_text(messages, 2, bench_body());
		rc = mr_stmt_run(messages, &cx->err);
		mr_stmt_bind_int(recipients, 1, (int64_t)i);
		if (!rc)
			rc = mr_stmt_run(recipients, &cx->err);
		mr_stmt_reset(messages);
		mr_stmt_reset(recipients);
	}
	return rc;
}

static enum mr_code index_some(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const struct fill *fill = arg;
	enum mr_code rc = MR_OK;

	for (size_t i = fill->first; i <= fill->last && !rc; i++)
		rc = mr_db_search_add(db, &mr_team_search_index, (int64_t)i, &cx->err);
	return rc;
}

void bench_fill(struct bench_root *root, size_t count, bool indexed)
{
	struct mr_ctx cx = bench_context(root);

	for (size_t i = 1; i <= count; i += FILL_AT_ONCE) {
		struct fill fill = { i,
			i + FILL_AT_ONCE - 1 < count ? i + FILL_AT_ONCE - 1 : count };

		bench_must(mr_team_write(&cx, root->team, fill_some, indexed ? index_some : NULL,
				   &fill),
			&cx, "fill");
	}
	mr_arena_free(cx.arena);
}

/* --- around it ---------------------------------------------------------------------------- */

void bench_dir_make(char *out, size_t size, const char *name)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(out, size, "%s/%s-XXXXXX", tmp ? tmp : "/var/tmp", name);
	if (!mkdtemp(out))
		bench_die(out, "cannot be made");
}

int bench_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), bench_by_value);
	return values[count / 2];
}
