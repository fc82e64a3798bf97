#pragma once
#include <sqlite3.h>

/* What Swift does not import: a call with arguments of any number. */
static inline int CSQLite_leave_log_alone_on_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
