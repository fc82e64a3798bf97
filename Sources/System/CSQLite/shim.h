#pragma once
#include <sqlite3.h>

/* Variadic functions, which Swift does not import. */

/* Turns off SQLite's count of memory in use; to be called before any other use of SQLite. */
static inline int CSQLite_count_no_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

static inline int CSQLite_leave_log_alone_on_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
