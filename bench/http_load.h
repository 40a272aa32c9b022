/*
 * bench/http_load.h - an HTTP client that costs little: requests are ready-made texts, and of an
 * answer only its length, its status and one word are looked at. Whatever fails ends the program.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum { BENCH_CONNECTIONS = 64 };

/* A connection to a port of this machine. */
int bench_http_dial(int port);

void bench_http_send(int fd, const char *request, size_t len);

/* The answer to `request`, head and body, as a text in `out`; its status must be 200. */
void bench_http_ask(int fd, const char *request, char *out, size_t size);

/* BENCH_CONNECTIONS that are kept, each with one request under way, on one thread. */
struct bench_load;

struct bench_load *bench_load_new(int port);
void bench_load_free(struct bench_load *load);

/*
 * From now on connection `i` asks `request`, and the last part of each answer must hold `word`.
 * Both are the caller's, and stay.
 */
void bench_load_set(struct bench_load *load, unsigned i, const char *request, const char *word);

/* Ask for so many seconds; requests a second. */
double bench_load_turn(struct bench_load *load, double seconds);
