#pragma once
#include <sqlite3.h>

/// `sqlite3_config` is variadic, which Swift does not import. Without memory statistics, SQLite takes no lock common to all
/// connections for each allocation (c3ref, "SQLITE_CONFIG_MEMSTATUS"). Refused once SQLite is in use.
static inline int tributary_disable_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
