/* base/keeper.c - forks a process that cleans up after this one's death. */
#include "base/keeper.h"

#include "base/oom.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGN = 0, DIRECTORY = 1, OTHERS = 2 }; /* the keeper's descriptors */

/* In the keeper, which is in a session of its own: what ends our group does not end it. */
static void keep(int sign, int dir, void (*clean)(int dir))
{
	sigset_t all;
	char byte;
	ssize_t n;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	dir = fcntl(dir, F_DUPFD, OTHERS + 1);
	if (dir < 0 || dup2(sign, SIGN) < 0 || dup2(dir, DIRECTORY) < 0 ||
		close_range(OTHERS, ~0U, 0) != 0 || chdir("/") != 0)
		_exit(1);
	do
		n = read(SIGN, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		clean(DIRECTORY);
	_exit(0);
}

void mr_keeper_start(struct mr_keeper *keeper, int dir, void (*clean)(int dir))
{
	int ends[2];
	pid_t pid;

	if (keeper->pid > 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		keep(ends[0], dir, clean);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return;
	}
	*keeper = (struct mr_keeper){ .pid = pid, .fd = ends[1] };
}

void mr_keeper_stop(struct mr_keeper *keeper)
{
	int status;

	if (keeper->pid <= 0)
		return;
	/* It may have been killed; then nobody reads. */
	(void)!send(keeper->fd, "", 1, MSG_NOSIGNAL);
	close(keeper->fd);
	while (waitpid(keeper->pid, &status, 0) < 0 && errno == EINTR)
		;
	keeper->pid = 0;
}

enum { KEEPERS = 16 };

struct mr_keepers {
	pthread_mutex_t lock;
	size_t len;
	struct {
		dev_t dev;
		ino_t ino;
		struct mr_keeper keeper;
	} items[KEEPERS];
};

struct mr_keepers *mr_keepers_new(void)
{
	struct mr_keepers *keepers = calloc(1, sizeof(*keepers));

	if (!keepers)
		mr_oom(sizeof(*keepers));
	pthread_mutex_init(&keepers->lock, NULL);
	return keepers;
}

/* Under the lock. */
static bool start(struct mr_keepers *keepers, int dir, void (*clean)(int dir))
{
	struct stat st;
	size_t i = 0;

	if (fstat(dir, &st) != 0)
		return false;
	while (i < keepers->len &&
		(keepers->items[i].dev != st.st_dev || keepers->items[i].ino != st.st_ino))
		i++;
	if (i < keepers->len)
		return true;
	if (i == KEEPERS)
		return false;
	keepers->items[i].keeper = (struct mr_keeper){ 0, -1 };
	mr_keeper_start(&keepers->items[i].keeper, dir, clean);
	if (keepers->items[i].keeper.pid <= 0)
		return false;
	keepers->items[i].dev = st.st_dev;
	keepers->items[i].ino = st.st_ino;
	keepers->len++;
	return true;
}

bool mr_keepers_start(struct mr_keepers *keepers, int dir, void (*clean)(int dir))
{
	bool started;

	pthread_mutex_lock(&keepers->lock);
	started = start(keepers, dir, clean);
	pthread_mutex_unlock(&keepers->lock);
	return started;
}

void mr_keepers_free(struct mr_keepers *keepers)
{
	if (!keepers)
		return;
	for (size_t i = 0; i < keepers->len; i++)
		mr_keeper_stop(&keepers->items[i].keeper);
	pthread_mutex_destroy(&keepers->lock);
	free(keepers);
}
