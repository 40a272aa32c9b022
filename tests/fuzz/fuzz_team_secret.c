/* fuzz_team_secret.c - what was learned from a text does not stand in what is left of it. */
#include "team/share/share_secret.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_secrets *secrets = mr_team_secrets_new(arena);
	struct mr_buf once MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf twice MR_CLEANUP(mr_buf_release) = { 0 };
	size_t replaced;

	mr_buf_init(&once, 16 << 20);
	mr_buf_init(&twice, 16 << 20);
	mr_team_secrets_learn(secrets, mr_bytes_of(data, len));
	replaced = mr_team_secrets_replace(secrets, mr_bytes_of(data, len), &once);
	if (mr_team_secrets_stand_in(secrets, mr_buf_bytes(&once)))
		abort();
	if (mr_team_secrets_count(secrets) > 0 && replaced == 0)
		abort();
	if (replaced == 0 && once.len != len)
		abort();
	return 0;
}
