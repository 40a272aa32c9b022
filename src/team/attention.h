/*
 * team/attention.h - what needs a person in all projects, and which agents work now.
 *
 * Every list is short, and costs as many steps into an index as there are agents, however much mail
 * there is.
 */
#pragma once

#include "team/inbox.h"
#include "team/rights.h"
#include "team/store/root.h"

enum {
	MR_TEAM_ATTENTION_ITEMS = 20, /* of each list */
	MR_TEAM_ATTENTION_PATHS = 4,  /* of an agent's leases */
};

/* A message to the overseer of a project, which nobody has read yet. */
struct mr_team_letter {
	const char *project; /* its slug */
	struct mr_team_item item;
};

/* The oldest acknowledgement that an agent owes, when it is overdue. */
struct mr_team_owed {
	const char *project, *agent;
	int64_t message_id;
	const char *subject, *from;
	int64_t created_ts;
};

/* A lease that holds although its holder has not been active for long. */
struct mr_team_left_lease {
	const char *project;
	struct mr_team_reservation lease;
	int64_t last_active_ts; /* the holder's */
};

struct mr_team_working {
	const char *project;
	struct mr_team_agent agent;
	/* What it wrote last; message_id 0: nothing that the caller may see. */
	int64_t message_id;
	const char *subject;
	int64_t sent_ts;
	struct mr_texts paths; /* the first few that it holds leases on, newest first */
	int64_t leases;        /* how many it holds */
};

struct mr_team_attention {
	int64_t projects; /* how many there are */
	struct {
		struct mr_team_letter *items; /* newest first */
		size_t len;
	} letters;
	struct mr_team_links requests; /* contact requests that nobody has answered, newest first */
	struct {
		struct mr_team_owed *items; /* longest first */
		size_t len;
	} owed;
	struct {
		struct mr_team_left_lease *items; /* oldest first */
		size_t len;
	} left;
	struct {
		struct mr_team_working *items; /* most recently active first */
		size_t len;
	} working;
};

/* As far as `rights` reach: mail and requests of its readers. */
MR_CHECK enum mr_code mr_team_attention(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, struct mr_team_attention *out);
