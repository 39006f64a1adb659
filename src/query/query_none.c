/* SPDX-License-Identifier: MIT */
/* Stands in for all of it in builds without SQLite. */
#include "query/query.h"

#include "hosted/error_text.h"

#include <errno.h>

int query_run(const struct view_trace *trace, const char *sql, const struct query_receiver *receiver,
              struct gait_error *err)
{
    (void)trace;
    (void)sql;
    (void)receiver;
    return error_set(err, EOPNOTSUPP,
                     "cannot query the trace: this gait was built without SQLite; try one that was built with it");
}

bool query_tables_describe(size_t which, struct query_table_text *text_out)
{
    (void)which;
    (void)text_out;
    return false;
}
