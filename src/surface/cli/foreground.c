/* surface/cli/foreground.c - sets up a process that serves in the foreground until a signal. */
#include "surface/cli/foreground.h"

#include "app/settings.h"

#include <malloc.h>
#include <sys/resource.h>

enum { KEPT_BYTES = 1 << 20 };

/* Every connection is a descriptor. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

void mr_foreground_begin(const struct mr_settings *settings, mr_log_sink *sink, void *arg)
{
	enum mr_log_level level = MR_LOG_INFO;

	mr_log_level_parse(mr_settings_text(settings, "log.level"), &level);
	mr_log_start(level, sink, arg);
	raise_file_limit();
	/* Given back to the system, memory would have to be requested and cleared again for each
	 * request. */
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_TOP_PAD, KEPT_BYTES / 4);
}

void mr_foreground_block(sigset_t *out)
{
	sigemptyset(out);
	sigaddset(out, SIGTERM);
	sigaddset(out, SIGINT);
	pthread_sigmask(SIG_BLOCK, out, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error like a full disk */
}

void mr_foreground_wait(const sigset_t *signals)
{
	int got;

	while (sigwait(signals, &got) != 0)
		continue;
	mr_log(MR_LOG_INFO, "stopping", "%s", got == SIGINT ? "SIGINT" : "SIGTERM");
	pthread_sigmask(SIG_UNBLOCK, signals, NULL);
}
