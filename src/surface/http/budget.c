/* surface/http/budget.c - Limits the memory that all HTTP requests in flight may hold together. */
#include "surface/http/budget.h"

enum {
	DEFAULT_MIN = 8 << 20,
	VALUE_BYTES = 96, /* what one small value costs, twice: the library's tree and ours */
};

uint64_t mr_http_budget_default(uint64_t memory_bytes)
{
	uint64_t share = memory_bytes / 8;

	if (share < DEFAULT_MIN)
		return DEFAULT_MIN;
	return share < MR_HTTP_BUDGET_DEFAULT_MAX ? share : MR_HTTP_BUDGET_DEFAULT_MAX;
}

bool mr_http_budget_has_room(const struct mr_http_budget *budget)
{
	return atomic_load(&budget->used) < budget->max;
}

void mr_http_budget_add(struct mr_http_budget *budget, uint64_t *held, uint64_t bytes)
{
	atomic_fetch_add(&budget->used, bytes);
	*held += bytes;
}

/* Take `more`, of a request that holds `*held`, while no more than `limit` is taken. */
static bool take(struct mr_http_budget *budget, uint64_t *held, uint64_t more, uint64_t limit)
{
	uint64_t used = atomic_load(&budget->used), taken;

	do {
		uint64_t others = used - *held;

		taken = more;
		if (others &&
			(others > limit || more > limit - others || *held > limit - others - more))
			return false;
		/* When it is alone it may take whatever it needs: waiting would not help. */
		if (!others && *held + more > limit)
			taken = *held < limit ? limit - *held : 0;
	} while (!atomic_compare_exchange_weak(&budget->used, &used, used + taken));
	*held += taken;
	return true;
}

bool mr_http_budget_take_body(struct mr_http_budget *budget, uint64_t *held, uint64_t len)
{
	bool is_small = len <= MR_HTTP_BUDGET_SMALL_BYTES;
	uint64_t share = len * MR_HTTP_BUDGET_FACTOR;

	if (share <= *held)
		return true;
	return take(budget, held, share - *held,
		is_small ? budget->max : budget->max - budget->max / 8);
}

bool mr_http_budget_take_values(struct mr_http_budget *budget, uint64_t *held, struct mr_bytes body)
{
	const uint8_t *data = body.data;
	uint64_t values = 0;

	for (size_t i = 0; i < body.len; i++)
		values += data[i] == ',' || data[i] == '[' || data[i] == '{';
	return take(budget, held, values * VALUE_BYTES, budget->max);
}

void mr_http_budget_give(struct mr_http_budget *budget, uint64_t *held)
{
	atomic_fetch_sub(&budget->used, *held);
	*held = 0;
}
