/* SPDX-License-Identifier: MIT */
/* The example of trace_folder.h, open. Ends the program if that fails. */
#ifndef GAIT_TESTS_EXAMPLE_TRACE_H
#define GAIT_TESTS_EXAMPLE_TRACE_H

#include "support/trace_folder.h"
#include "view/view_trace.h"

struct example_trace {
    struct trace_folder folder;
    struct view_trace trace;
};

void example_trace_init(struct example_trace *example);
void example_trace_deinit(struct example_trace *example);

#define EXAMPLE_TRACE_LATER 60000000u

/* From that time on, another file, /nowhere/other, is mapped in the place of the first one. To be opened again. */
void example_trace_put_other_file(const struct example_trace *example);

/* After its files were changed. */
void example_trace_open_again(struct example_trace *example);

#endif
