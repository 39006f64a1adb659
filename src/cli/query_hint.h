/* SPDX-License-Identifier: MIT */
/* What may have been meant where SQLite does not know a name. Stateless; callable from anywhere. */
#ifndef GAIT_CLI_QUERY_HINT_H
#define GAIT_CLI_QUERY_HINT_H

struct gait_error;

/*
 * Adds to an error of query_run about a table or column that does not exist what there is that is like it, in the
 * tables that the query names, or where to look. Other errors stay as they are.
 */
void query_hint_add(struct gait_error *err, const char *sql);

#endif
