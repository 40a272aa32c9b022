/*
 * surface/web/live_files.h - follows the files that pages were made of: the workspace's lock, the
 * databases of mailboxes and of wake-ups. Other processes change them, too.
 *
 * A thread of its own, which starts with the first file, sleeps until the kernel says that one of
 * them changed.
 */
#pragma once

#include <stdbool.h>

struct mr_web_live_files;

/* `changed` is called from the thread, at most once in a few milliseconds. */
struct mr_web_live_files *mr_web_live_files_new(void (*changed)(void *arg), void *arg);
/* Ends the thread. NULL is fine. */
void mr_web_live_files_free(struct mr_web_live_files *files);
/* A page is about to read this file (mr_ctx.reads): follow it from now on. From any thread. */
void mr_web_live_files_add(struct mr_web_live_files *files, const char *path, bool is_database);
