/* team/limits.h - every maximum of a team's mail, and why. */
#pragma once

enum {
	/* The contract's column widths, in characters where people see them, else bytes. */
	MR_TEAM_KEY_BYTES = 255,    /* a project's human_key and slug */
	MR_TEAM_NAME_BYTES = 128,   /* an agent's name */
	MR_TEAM_LABEL_BYTES = 128,  /* program, model */
	MR_TEAM_TASK_BYTES = 2048,  /* task_description */
	MR_TEAM_THREAD_BYTES = 128, /* thread_id */
	MR_TEAM_SUBJECT_CHARS = 512,
	MR_TEAM_BODY_BYTES = 1 << 20,
	MR_TEAM_RECIPIENTS = 256, /* to, cc and bcc together: each is a row and a file */
	MR_TEAM_GROUPS = 200,     /* with a name, in a project */
	MR_TEAM_PATTERN_BYTES = 512,
	MR_TEAM_REASON_BYTES = 512,
	MR_TEAM_PATHS = 1000, /* patterns in one call */
	MR_TEAM_IDS = 1000,   /* ids in one call */
	MR_TEAM_IDEMPOTENCY_BYTES = 200,

	/* Lists. */
	MR_TEAM_LIST_DEFAULT = 20,
	MR_TEAM_LIST_MAX = 1000,
	MR_TEAM_SEARCH_MAX = 500,
	MR_TEAM_SUGGESTIONS = 5,

	/* Leases. */
	MR_TEAM_TTL_MAX_S = 2592000, /* 30 days: longer is forgotten, not held */
	MR_TEAM_TTL_SHORT_S = 60,    /* below this a warning is in place */
	MR_TEAM_RENEW_MIN_S = 60,
	MR_TEAM_STALE_PATHS = 200,      /* files looked at to tell whether a lease is in use */
	MR_TEAM_STALE_ENTRIES = 50000,  /* entries of directories passed to find them */
	MR_TEAM_STALE_GITS = 24,        /* runs of git in a listing or a sweep */
	MR_TEAM_STALE_LEASES = 200,     /* of idle holders that one sweep looks at */
	MR_TEAM_HOLDERS = 100,          /* named for one pattern */
	MR_TEAM_LEASES_NEAR = 100000,   /* leases looked through for one request */
	MR_TEAM_LEASES_MEET = 1000,     /* of an agent, looked through for a contact policy */
	MR_TEAM_OVERLAP_COST = 1 << 28, /* places of patterns compared for one request: a second */
	MR_TEAM_OVERLAP_INSIDE = 1 << 20, /* of these inside a change, which blocks all writers:
					     4 ms */
	MR_TEAM_OVERLAP_TRIES = 3,        /* before a change may take longer */
	MR_TEAM_SWEEP_BATCH = 500,   /* leases ended in one change: others must get their turn */
	MR_TEAM_OVERDUE_BATCH = 500, /* acknowledgements escalated in one change */

	/* Contacts and products. */
	MR_TEAM_CONTACT_TTL_MAX_S = 315360000, /* ten years */
	MR_TEAM_CONTACT_NOTICE_S = 3600,       /* a request is told of once in this time */
	MR_TEAM_SOLICITED_S = 86400,           /* who wrote to you in this time may be answered */
	MR_TEAM_LINKS = 10000,                 /* of one agent, listed */
	MR_TEAM_PRODUCT_BYTES = 128,           /* a product's uid or name */
	MR_TEAM_PRODUCTS = 1000,               /* listed */
	MR_TEAM_PRODUCT_PROJECTS = 1000,       /* linked to one product */
	MR_TEAM_SLOT_BYTES = 128,              /* a build slot's name */
	MR_TEAM_SLOT_WAIT_MAX_S = 3600,        /* the longest a call waits for one */

	/* Attachments. */
	MR_TEAM_ATTACHMENTS = 64,
	MR_TEAM_ATTACHMENT_BYTES = 25 << 20,
	MR_TEAM_MESSAGE_FILES_BYTES = 100 << 20, /* read for one message: it is in memory */
	MR_TEAM_INLINE_BYTES = 512 << 10,        /* base64 in one list, and in one body */
	MR_TEAM_MESSAGE_PIXELS = 200000000, /* decoded for one message: a minute's work at most */
	MR_TEAM_IMAGE_WIDTH = 7680,
	MR_TEAM_IMAGE_HEIGHT = 4320,
	MR_TEAM_IMAGE_PIXELS = 50000000,

	/* The archive. */
	MR_TEAM_ARCHIVE_BATCH = 1024,  /* rows of the queue in one commit */
	MR_TEAM_DIGEST_MESSAGES = 100, /* in one file of a thread's digest */
	MR_TEAM_DIGEST_CHARS = 1200,   /* of each body */
	MR_TEAM_COMMIT_SUBJECT = 200,

	/* When the clock goes back by no more than this, messages get times right after the last
	 * one's until the clock has caught up; when by more, it was wrong before. */
	MR_TEAM_CLOCK_AHEAD_S = 86400,
	/* A clock that says less (2020) has not been set since the machine was started. */
	MR_TEAM_CLOCK_UNSET_S = 1577836800,

	/* How closely last_active_ts is known, in seconds. */
	MR_TEAM_ACTIVE_S = 5,

	/* Connections of this process that read. */
	MR_TEAM_READERS = 32,
};
