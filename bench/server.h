/* bench/server.h - a program that serves a root while it is measured. Whatever fails ends the
 * benchmark. */
#pragma once

#include <stdio.h>
#include <sys/types.h>

struct bench_server {
	pid_t pid;
	int port;
	FILE *says;
};

/* `program serve` on a free port of this machine, which every client there may use. */
void bench_server_start(struct bench_server *server, const char *program, const char *root);
void bench_server_stop(struct bench_server *server, const char *program);
