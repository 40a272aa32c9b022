/* surface/mcp/fixtures_off.c - a build for users has nothing of the conformance tests. */
#include "surface/mcp/fixtures.h"

const struct mr_mcp_fixtures *mr_mcp_fixtures(void)
{
	return NULL;
}
