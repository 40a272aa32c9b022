/* team/attachment_private.h - which files may be read, and where they are put; for attachment.c. */
#pragma once

#include "team/model.h"
#include "team/store/root.h"
#include "text/image.h"

/* Directories that files may be attached from, without links in their paths. */
struct mr_team_sources {
	struct mr_texts dirs; /* the workspace, the archive, ATTACHMENT_ROOTS: those that are */
	const char *archive;  /* among them, or NULL */
	const char *storage;  /* storage root of all projects */
	const char *database; /* their database, which may lie elsewhere */
};

/* The workspace is among them when the caller may name it (base/reach.h). Fails only when that
 * cannot be found out. */
MR_CHECK enum mr_code mr_team_sources_find(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *project, struct mr_team_sources *out);
/*
 * Read a file somebody named. A relative name is looked for in each directory; links are resolved,
 * then the file must lie in one of them, outside every .git; of the archive only the command line
 * is given more than what was attached before. MR_ELIMIT: more than `max` bytes.
 *
 * The command line is told why it cannot be read: MR_ENOTFOUND: no such file. MR_EPERM: it lies
 * elsewhere, or is not readable. MR_EINVAL: no regular file. To all others each of these is the
 * same MR_ENOTFOUND, in the same words: they do not learn what is on this machine.
 */
MR_CHECK enum mr_code mr_team_source_read(struct mr_ctx *cx, const struct mr_team_sources *sources,
	const char *name, size_t max, struct mr_bytes *out);

/* What was put into a project's directory; paths are relative to it. */
struct mr_team_stored {
	const char *media_type;
	int64_t bytes;          /* of the file at `path` */
	struct mr_bytes data;   /* its content */
	uint32_t width, height; /* 0 when it is no picture */
	const char *sha1;       /* of what was attached, of pictures */
	const char *sha256;     /* of others */
	const char *path;
	const char *original_path; /* when originals are kept, or NULL */
};

struct mr_team_store {
	struct mr_team *team;
	const struct mr_team_project *project;
	int dir;         /* the project's, or -1 until something is stored */
	uint64_t pixels; /* that may still be decoded */
};

/* For MR_CLEANUP. */
void mr_team_store_close(struct mr_team_store *store);
/* A picture: as WebP, or as it is when it cannot be decoded (GIF, BMP, animations). MR_EFORMAT and
 * MR_ELIMIT: a bad picture. */
MR_CHECK enum mr_code mr_team_store_picture(struct mr_ctx *cx, struct mr_team_store *store,
	struct mr_bytes bytes, struct mr_team_stored *out);
/* Is this the path of a picture that stands in the project's directory? */
bool mr_team_store_has(struct mr_ctx *cx, struct mr_team_store *store, const char *path,
	struct mr_team_stored *out);
/* Anything else, as it is. `name` is what it was called. */
MR_CHECK enum mr_code mr_team_store_file(struct mr_ctx *cx, struct mr_team_store *store,
	struct mr_bytes bytes, const char *name, struct mr_team_stored *out);
