#pragma once
#include <sqlite3.h>

/// `sqlite3_config` is variadic, which Swift does not import. Without memory statistics, SQLite takes no lock common to all
/// connections for each allocation (c3ref, "SQLITE_CONFIG_MEMSTATUS"). Refused once SQLite is in use.
static inline int tributary_disable_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/// `sqlite3_db_config` is variadic as well. Other than the pragma, it takes effect inside a transaction, for the statements
/// that are prepared from then on (c3ref, "SQLITE_DBCONFIG_ENABLE_FKEY").
static inline int tributary_enforce_foreign_keys(sqlite3 *db, int enforced) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, enforced, (int *)0);
}
