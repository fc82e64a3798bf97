#pragma once
#include <sqlite3.h>

/* What Swift does not import: calls with arguments of any number. */

/* Has SQLite not count what memory it has in use; before it is used for the first time. */
static inline int CSQLite_count_no_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

static inline int CSQLite_leave_log_alone_on_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
