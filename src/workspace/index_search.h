/* workspace/index_search.h - full-text search over the index. */
#pragma once

#include "data/db.h"
#include "workspace/index.h"

/* The searched columns of the table of messages. */
extern const struct mr_db_search mr_work_index_search_table;
