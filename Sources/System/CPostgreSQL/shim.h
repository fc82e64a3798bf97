#pragma once
#include <libpq-fe.h>

/* Macros with character constants, which Swift does not import. */

enum {
    CPostgreSQL_severity = PG_DIAG_SEVERITY_NONLOCALIZED,
    CPostgreSQL_state = PG_DIAG_SQLSTATE,
    CPostgreSQL_message = PG_DIAG_MESSAGE_PRIMARY,
};
