/* SPDX-License-Identifier: MIT */
#include "record/family_run.h"

#include "inject/stop_signals.h"
#include "record/drain_pace.h"
#include "record/family.h"
#include "record/ring_drain.h"

static int look(struct family *family, const struct family_run *run, struct gait_error *err)
{
    int result;

    if (run->before != NULL)
        run->before(run->context);
    result = family_step(family, err);
    return result == 0 && run->behind != NULL ? run->behind(run->context, err) : result;
}

/* A child has the terminal, and what is typed there is for it; when only others are left, it is for us. */
static bool is_to_end(const struct family *family, const struct family_run *run)
{
    if (run->typed_is_for_first && family->options.is_child && !family->first_has_ended)
        stop_signals_forget_typed();
    return stop_signals_were_sent() || stop_signals_were_typed() ||
           (run->is_to_end != NULL && run->is_to_end(run->context));
}

enum family_end family_run(struct family *family, const struct family_run *run, struct gait_error *err)
{
    struct drain_pace pace = {.silent_ms = 0};

    for (;;) {
        uint64_t taken_bytes = family->drain->taken_bytes;
        /* Asked before the look, which takes all that it did. */
        bool is_last = run->only_first && family->first_has_ended;

        if (look(family, run, err) != 0)
            return FAMILY_FAILED;
        if (family_is_over(family))
            return FAMILY_OVER;
        if (is_last || is_to_end(family, run))
            return FAMILY_STOPPED;
        if (!run->only_first || !family->first_has_ended)
            family_wait(family, drain_pace_next(&pace, family->drain->taken_bytes != taken_bytes));
    }
}
