/* SPDX-License-Identifier: MIT */
/*
 * A trace to export: the small one of trace_folder.h and thread 102, without a name, with hooked functions: a is
 * example+0x1000, b is example+0x1100, and c is in a module with a nasty name. Times are nanoseconds since the
 * beginning:
 *
 *     a 1000 - 2000     b 1100 - 1300    c 1150 - 1250 in it
 *                       b 1400 - 1500    unwound
 *     a 2100 - (2200)   b 2200 - (2200)  both cut
 */
#ifndef GAIT_TESTS_EXPORT_LAB_H
#define GAIT_TESTS_EXPORT_LAB_H

#include "export/export_format.h"
#include "support/trace_folder.h"

struct export_lab {
    struct trace_folder folder;
    struct view_trace trace;
    struct view_functions functions;
    size_t threads[3];
    struct export_job job; /* all of it; may be changed */
    struct gait_error err;
    char *output; /* of the last export, ended by a NUL */
    size_t output_bytes;
};

/* What is behind the last slash of the path of c's module, and how its name begins. */
#define EXPORT_LAB_NASTY "<i>&\"\\;\n\xff<i>"

/* Index of the thread with the hooked functions. */
#define EXPORT_LAB_HOOKED 2

void export_lab_init(struct export_lab *lab);
void export_lab_deinit(struct export_lab *lab);

/* Only the thread with that index. */
void export_lab_choose(struct export_lab *lab, size_t thread);

/* Exports, and returns what the format does. */
int export_lab_write(struct export_lab *lab, const char *format);

/* How often the part is in the output. */
unsigned export_lab_count(const struct export_lab *lab, const char *part);

#endif
