/* SPDX-License-Identifier: MIT */
#include "inject/stop_signals.h"

#include "support/check.h"

#include <signal.h>

static void signals_that_are_sent_are_kept(void)
{
    stop_signals_take();
    CHECK(!stop_signals_were_sent() && !stop_signals_were_typed());
    CHECK_EQUAL(raise(SIGHUP), 0);
    stop_signals_take();
    stop_signals_forget_typed();
    CHECK(stop_signals_were_sent() && !stop_signals_were_typed());
    stop_signals_forget();
    CHECK(!stop_signals_were_sent());
    CHECK_EQUAL(raise(SIGTERM), 0);
    CHECK(stop_signals_were_sent());
    stop_signals_forget();
}

static void what_is_typed_can_be_for_others(void)
{
    static const int typed[] = {SIGINT, SIGQUIT};

    stop_signals_take();
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQUAL(raise(typed[i]), 0);
        CHECK(stop_signals_were_typed() && !stop_signals_were_sent());
        stop_signals_forget_typed();
        CHECK(!stop_signals_were_typed());
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(signals_that_are_sent_are_kept),
    CHECK_CASE(what_is_typed_can_be_for_others),
};

CHECK_MAIN(cases)
