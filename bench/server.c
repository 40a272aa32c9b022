/* bench/server.c */
#include "server.h"

#include "team_root.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void bench_server_start(struct bench_server *server, const char *program, const char *root)
{
	char *argv[] = { (char *)(uintptr_t)program, (char[]){ "serve" }, NULL };
	posix_spawn_file_actions_t actions;
	char line[256] = "";
	int ends[2], rc;

	setenv("STORAGE_ROOT", root, 1);
	setenv("HTTP_PORT", "0", 1);
	setenv("HTTP_SOCKET", "off", 1);
	setenv("HTTP_ALLOW_LOCALHOST_UNAUTHENTICATED", "true", 1);
	setenv("LOG_LEVEL", "warning", 1);
	if (pipe2(ends, O_CLOEXEC) != 0)
		bench_die("pipe", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	rc = posix_spawn(&server->pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	server->says = fdopen(ends[0], "r");
	if (rc || !server->says || !fgets(line, sizeof(line), server->says) ||
		!strstr(line, "127.0.0.1:"))
		bench_die(program, "does not serve");
	server->port = (int)strtol(strstr(line, "127.0.0.1:") + strlen("127.0.0.1:"), NULL, 10);
}

void bench_server_stop(struct bench_server *server, const char *program)
{
	int status;

	kill(server->pid, SIGTERM);
	if (waitpid(server->pid, &status, 0) != server->pid || status != 0)
		bench_die(program, "did not end well");
	fclose(server->says);
}
