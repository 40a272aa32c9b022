/* app/protocol.h - the versions of the Model Context Protocol that are spoken. */
#pragma once

#define MR_MCP_MODERN "2026-07-28" /* of the second generation */
#define MR_MCP_LATEST "2025-11-25" /* of the first */
/* All of the first, newest first. */
#define MR_MCP_VERSIONS MR_MCP_LATEST, "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"
