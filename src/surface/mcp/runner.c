/* surface/mcp/runner.c - Starts a thread for each call that may wait, up to a maximum number. */
#include "surface/mcp/runner.h"

#include "base/oom.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

/* Pages of a stack that are never touched cost no memory. */
enum { STACK_BYTES = 1 << 20 };

struct mr_mcp_runner {
	pthread_mutex_t lock;
	pthread_cond_t idle;
	unsigned max;
	unsigned running;
	bool stopping;
};

struct job {
	struct mr_mcp_runner *runner;
	void (*run)(void *arg);
	void *arg;
};

struct mr_mcp_runner *mr_mcp_runner_new(unsigned max)
{
	struct mr_mcp_runner *runner = calloc(1, sizeof(*runner));

	if (!runner)
		mr_oom(sizeof(*runner));
	pthread_mutex_init(&runner->lock, NULL);
	pthread_cond_init(&runner->idle, NULL);
	runner->max = max;
	return runner;
}

void mr_mcp_runner_leave(struct mr_mcp_runner *runner)
{
	pthread_mutex_lock(&runner->lock);
	if (--runner->running == 0)
		pthread_cond_broadcast(&runner->idle);
	pthread_mutex_unlock(&runner->lock);
}

static void *work(void *arg)
{
	struct job job = *(struct job *)arg;

	free(arg);
	job.run(job.arg);
	mr_mcp_runner_leave(job.runner);
	return NULL;
}

enum mr_code mr_mcp_runner_enter(struct mr_mcp_runner *runner, struct mr_err *err)
{
	enum mr_code rc = MR_OK;

	pthread_mutex_lock(&runner->lock);
	if (runner->stopping)
		rc = mr_err_set(err, MR_EBUSY, "the server is stopping");
	else if (runner->running == runner->max)
		rc = mr_err_set(err, MR_ELIMIT, "%u long calls are under way, which is the maximum",
			runner->max);
	else
		runner->running++;
	pthread_mutex_unlock(&runner->lock);
	return rc;
}

/* Signals are for the program's own threads. */
static int start_thread(struct job *job)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attr, work, job);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

enum mr_code mr_mcp_runner_start(struct mr_mcp_runner *runner, void (*run)(void *arg), void *arg,
	struct mr_err *err)
{
	struct job *job = malloc(sizeof(*job));
	int os;

	if (!job)
		mr_oom(sizeof(*job));
	*job = (struct job){ runner, run, arg };
	os = start_thread(job);
	if (!os)
		return MR_OK;
	free(job);
	mr_mcp_runner_leave(runner);
	return mr_err_os(err, os, "cannot start a thread");
}

void mr_mcp_runner_stop(struct mr_mcp_runner *runner)
{
	pthread_mutex_lock(&runner->lock);
	runner->stopping = true;
	while (runner->running)
		pthread_cond_wait(&runner->idle, &runner->lock);
	pthread_mutex_unlock(&runner->lock);
}

void mr_mcp_runner_free(struct mr_mcp_runner *runner)
{
	if (!runner)
		return;
	mr_mcp_runner_stop(runner);
	pthread_cond_destroy(&runner->idle);
	pthread_mutex_destroy(&runner->lock);
	free(runner);
}
