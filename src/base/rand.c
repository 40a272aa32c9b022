/*
 * base/rand.c - Random bytes from the kernel, and a seeded generator that lets tests repeat a run.
 */
#include "base/rand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static void kernel_fill(struct mr_rand *rand, void *out, size_t len)
{
	char *at = out;

	(void)rand;
	while (len) {
		ssize_t n = getrandom(at, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			perror("mailroom: getrandom");
			abort();
		}
		at += n;
		len -= (size_t)n;
	}
}

struct mr_rand *mr_rand_system(void)
{
	/* Has no state of its own: the kernel keeps it. */
	static struct mr_rand kernel = { .fill = kernel_fill };

	return &kernel;
}

/* SplitMix64: small, and good enough to vary test input. */
static uint64_t next_seeded(struct mr_rand *rand)
{
	uint64_t z = rand->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void seeded_fill(struct mr_rand *rand, void *out, size_t len)
{
	unsigned char *at = out;

	while (len) {
		uint64_t word = next_seeded(rand);

		for (size_t i = 0; i < sizeof(word) && len; i++, len--)
			*at++ = (unsigned char)(word >> (8 * i));
	}
}

void mr_rand_seeded_init(struct mr_rand *rand, uint64_t seed)
{
	*rand = (struct mr_rand){ .fill = seeded_fill, .state = seed };
}

void mr_rand_fill(struct mr_rand *rand, void *out, size_t len)
{
	rand->fill(rand, out, len);
}

uint64_t mr_rand_below(struct mr_rand *rand, uint64_t bound)
{
	uint64_t reject_from = UINT64_MAX - UINT64_MAX % bound;
	uint64_t word;

	/* Throw away the uneven end of the range, so that every result is equally likely. */
	do {
		mr_rand_fill(rand, &word, sizeof(word));
	} while (word >= reject_from);
	return word % bound;
}
