#pragma once
#include <sqlite3.h>
#ifdef __linux__
#include <malloc.h>
#endif

/// `sqlite3_config` is variadic, which Swift does not import. Without memory statistics, SQLite takes no lock common to all
/// connections for each allocation (c3ref, "SQLITE_CONFIG_MEMSTATUS"). Refused once SQLite is in use.
static inline int tributary_disable_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/// `sqlite3_db_config` is variadic as well. Other than the pragma, it takes effect inside a transaction, for the statements
/// that are prepared from then on (c3ref, "SQLITE_DBCONFIG_ENABLE_FKEY").
static inline int tributary_enforce_foreign_keys(sqlite3 *db, int enforced) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, enforced, (int *)0);
}

/// Makes the end of the last connection neither bring the write-ahead log into the database's file nor remove it
/// (c3ref, "SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE").
static inline int tributary_leave_log(sqlite3 *db) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// Sets the folder of SQLite's temporary files, such as those of a large sort, unless it is set. SQLite uses another
/// folder as long as this one does not exist (c3ref/temp_directory.html). Call it before the first connection is
/// opened.
static inline void tributary_set_temporary_folder(const char *path) {
    if (!sqlite3_temp_directory) sqlite3_temp_directory = sqlite3_mprintf("%s", path);
}

/// Makes large blocks of memory go back to the system when they are freed. By default glibc keeps them for its heaps, of which
/// each thread may have one, once the first has been freed: one large value would cost a daemon its size for ever.
static inline void tributary_return_freed_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 2 << 20);
#endif
}
