#pragma once
#include <libpq-fe.h>

/* What Swift does not import: characters of macros. */

enum {
    CPostgreSQL_severity = PG_DIAG_SEVERITY_NONLOCALIZED,
    CPostgreSQL_state = PG_DIAG_SQLSTATE,
    CPostgreSQL_message = PG_DIAG_MESSAGE_PRIMARY,
};
