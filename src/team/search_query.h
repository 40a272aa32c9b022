/*
 * team/search_query.h - the keys that a search of messages knows (text/query.h has the language).
 *
 *	subject:plan body:"build plan" subject:(plan OR users)
 *	from:Name to:Name thread:id importance:high since:2026-03-01 until:7d
 *	has:attachment is:unread ack:pending, and -from:Name
 *
 * Several filters of one kind are alternatives, but since: and until: all hold.
 */
#pragma once

#include "base/ctx.h"
#include "text/query.h"

/* In the order of the search table's columns. */
enum mr_team_column { MR_TEAM_SUBJECT = 1, MR_TEAM_BODY };

enum mr_team_filter_kind {
	MR_TEAM_FILTER_FROM,
	MR_TEAM_FILTER_TO,
	MR_TEAM_FILTER_THREAD,
	MR_TEAM_FILTER_IMPORTANCE, /* its text is the name of an enum mr_team_importance */
	MR_TEAM_FILTER_SINCE,
	MR_TEAM_FILTER_UNTIL,
	MR_TEAM_FILTER_ATTACHMENT,
	MR_TEAM_FILTER_UNREAD,
	MR_TEAM_FILTER_ACK,
};

/* INVALID_ARGUMENT (argument `query`) for nothing at all; SEARCH_SYNTAX with data.filter for a
 * filter whose value means nothing (importance:purple, since:yore). */
MR_CHECK enum mr_code mr_team_query_parse(struct mr_ctx *cx, const char *text,
	struct mr_query *out);
