/*
 * team/attachment.h - files that go with a message, read before the change that stores it.
 *
 * Bytes are put into the project's archive directory, atomically and under their digest, before the
 * message is stored: a crash leaves at worst an unreferenced file. Only files in allowed
 * directories are read: the project's workspace if the caller may name it (base/reach.h; the
 * creator of the project does not decide that), its archive, and ATTACHMENT_ROOTS; links are
 * resolved first.
 */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

struct mr_team_attach_request {
	const struct mr_team_project *project;
	const struct mr_team_agent *sender;
	const char *body_md;
	struct mr_texts paths;
	int convert; /* 1, 0, or -1: as configured */
};

struct mr_team_attached {
	const char *body_md; /* with images replaced by where they are now, or inlined */
	const char *json;    /* the list of metadata objects (13.3), "[]" when there are none */
	int64_t bytes;       /* stored by this message */
};

/* A bad image is reported in the list as {type: "error", path, reason}; a file among `paths` that
 * is missing or may not be read, or a sender whose policy is deny, is ATTACHMENT_REJECTED. A
 * picture that a body names and that is missing stays as it is written; one that may not be read is
 * ATTACHMENT_REJECTED on the command line, and for all others the same as a missing one. */
MR_CHECK enum mr_code mr_team_attach(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_attach_request *request, struct mr_team_attached *out);
/* The list without data_base64, for readers whose policy is deny. */
MR_CHECK enum mr_code mr_team_attachments_bare(struct mr_ctx *cx, const char *json,
	const char **out);
struct mr_team_attachment {
	const char *name;       /* its digest, and an extension */
	const char *path;       /* below the project's directory */
	const char *media_type; /* as it was found to be when it was stored; or NULL */
	struct mr_bytes data;
};
/* One of the files that a message's list names, the `number`th from 1. NOT_FOUND when there is
 * none, or nothing was stored of it. `project` is the message's own. */
MR_CHECK enum mr_code mr_team_attachment_read(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *project, const char *json, int64_t number,
	struct mr_team_attachment *out);
/* Files below the project's directory that the list names, for the archive. */
MR_CHECK enum mr_code mr_team_attachment_files(struct mr_ctx *cx, const char *json,
	struct mr_texts *out);
