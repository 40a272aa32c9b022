/* mailbox/limits.h - every maximum of a mailbox root, and why. */
#pragma once

enum {
	/* Front matter past this is no message (spec: at most 1 MiB), the body comes on top. */
	MR_MAILBOX_HEAD_BYTES = 1 << 20,
	/* A whole canonical document. Larger things are attachments. */
	MR_MAILBOX_DOCUMENT_BYTES = 32 << 20,
	/* A script's payload: front matter's fields without the body. */
	MR_MAILBOX_PAYLOAD_BYTES = 4 << 20,
	MR_MAILBOX_SUBJECT_BYTES = 64 << 10,
	MR_MAILBOX_TEXT_BYTES = 4096, /* ids, names, hints, roles, media types, labels, paths */
	MR_MAILBOX_RECIPIENTS = 1000, /* to and cc together: each costs a link and a commit */
	MR_MAILBOX_REFERENCES = 10000,
	MR_MAILBOX_ATTACHMENTS = 1000,
	/* Values and keys under `headers`, and how deep: with all other fields at their maximum, a
	 * document stays within the 100,000 nodes and 32 levels that are read back. */
	MR_MAILBOX_HEADER_NODES = 30000,
	MR_MAILBOX_HEADER_DEPTH = 30,
	MR_MAILBOX_NOTIFY_CHARS = 512,
	/* Messages of a root that check and repair go through: 32 bytes of memory each. */
	MR_MAILBOX_MESSAGES_MAX = 8 << 20,
	/* Messages of one list; a longer box is looked through with a limit or a time. */
	MR_MAILBOX_LISTED = 10000,
	/* Messages that are marked or moved at once. */
	MR_MAILBOX_REFS = 1000,
	/* All messages of one answer together: two of the longest, or thousands as they usually
	 * are. */
	MR_MAILBOX_ANSWER_BYTES = 96 << 20,
	/* Entries of one directory that are listed at once. */
	MR_MAILBOX_ENTRIES = 1000000,
	MR_MAILBOX_LOCK_TIMEOUT_MS = 5000,
	/* Our own processes wait in the kernel's queue, and the holder is alive: waiting is
	 * better than failing, even behind a slow disk. */
	MR_MAILBOX_QUEUE_TIMEOUT_MS = 30000,
	MR_MAILBOX_LOCK_POLL_MS = 5, /* for lock files of other programs, which must be polled */
};
