/* SPDX-License-Identifier: MIT */
/* In builds without libtraceevent and libtracefs. */
#include "kernel/tracepoint_format.h"

#include "hosted/error_text.h"

#include <errno.h>

static int explain(struct gait_error *err)
{
    return error_set(err, ENOTSUP,
                     "cannot look at tracepoints: this gait was built without libtraceevent and libtracefs; install "
                     "their -dev packages and build it again");
}

int tracepoint_list(const char *group, const char *name, source_visit *visit, void *context, struct gait_error *err)
{
    (void)group;
    (void)name;
    (void)visit;
    (void)context;
    return explain(err);
}

int tracepoint_describe(const char *group, const char *name, struct source_probe *probe, struct gait_error *err)
{
    (void)group;
    (void)name;
    (void)probe;
    return explain(err);
}
