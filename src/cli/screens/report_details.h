/* SPDX-License-Identifier: MIT */
/*
 * The part of a report that shows functions whose calls were looked at closely: how often, how long, with what. One
 * thread at a time.
 */
#ifndef GAIT_CLI_SCREENS_REPORT_DETAILS_H
#define GAIT_CLI_SCREENS_REPORT_DETAILS_H

#include <stddef.h>

struct report_details;
struct screen;

/* Shows at most `limit` functions of each process; nothing if there are none. */
void report_details_show(struct report_details *details, struct screen *screen, size_t limit);

#endif
