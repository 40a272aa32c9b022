/* base/rand.h - chance, passed in so that tests can repeat it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mr_rand {
	void (*fill)(struct mr_rand *rand, void *out, size_t len);
	uint64_t state; /* of the seeded kind */
};

/* The kernel's generator; safe from any thread. Aborts if the kernel has none. */
struct mr_rand *mr_rand_system(void);
/* The same numbers for the same seed. For tests only: not secret, one thread. */
void mr_rand_seeded_init(struct mr_rand *rand, uint64_t seed);

void mr_rand_fill(struct mr_rand *rand, void *out, size_t len);
/* Uniform in 0 .. bound-1; `bound` > 0. */
uint64_t mr_rand_below(struct mr_rand *rand, uint64_t bound);
