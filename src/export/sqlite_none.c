/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include "hosted/error_text.h"

#include <errno.h>

static int refuse(const struct export_job *job, struct gait_error *err)
{
    (void)job;
    return error_set(err, EOPNOTSUPP,
                     "cannot write a database: this gait was built without SQLite; try -f csv, which sqlite3 imports");
}

extern const struct export_format export_format_sqlite;
const struct export_format export_format_sqlite = {
    .name = "sqlite",
    .file_name = "trace.sqlite",
    .kind = EXPORT_PATH,
    .can_have_events = true,
    .write = refuse,
};
