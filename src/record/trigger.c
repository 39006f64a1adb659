/* SPDX-License-Identifier: MIT */
#include "record/trigger.h"

const char *trigger_kind_name(enum trigger_kind kind)
{
    static const char *const names[TRIGGER_KINDS] = {
        [TRIGGER_MANUAL] = "manual", [TRIGGER_TIME] = "time",     [TRIGGER_EVERY] = "every", [TRIGGER_CRASH] = "crash",
        [TRIGGER_SIGNAL] = "signal", [TRIGGER_SYMBOL] = "symbol", [TRIGGER_SLOW] = "slow",
    };

    return kind < TRIGGER_KINDS ? names[kind] : "unknown";
}
