/* SPDX-License-Identifier: MIT */
/* What a trigger is, as users write it: "symbol=GLOB", "slow=GLOB>50ms", "crash", "signal=SIGUSR1", and so on. */
#ifndef GAIT_RECORD_TRIGGER_SPEC_H
#define GAIT_RECORD_TRIGGER_SPEC_H

#include "protocol/agent_call.h"

#include <stdint.h>

enum trigger_spec_kind {
    TRIGGER_SPEC_SYMBOL, /* symbol=GLOB: a call of a function whose name matches */
    TRIGGER_SPEC_SLOW,   /* slow=GLOB>DURATION: such a call that takes longer */
    TRIGGER_SPEC_CRASH,  /* crash: the process is ended by a signal of its own making */
    TRIGGER_SPEC_SIGNAL, /* signal=NAME or NUMBER: the process gets it */
    TRIGGER_SPEC_TIME,   /* time=+DURATION: that long after the recording began */
    TRIGGER_SPEC_EVERY,  /* every=DURATION: again and again */
    TRIGGER_SPEC_MANUAL, /* manual: gait trigger PID */
};

struct trigger_spec {
    enum trigger_spec_kind kind;
    const char *text;                  /* as it was written; not owned */
    char pattern[AGENT_PATTERN_BYTES]; /* of symbol and slow */
    uint64_t nanoseconds;              /* of slow, time and every; never 0 */
    int signal;                        /* of signal */
};

/* What stands before the "=". */
const char *trigger_spec_kind_name(enum trigger_spec_kind kind);

/* NULL: it is one; else, for people, what it should be. The text must stay. */
const char *trigger_spec_parse(const char *text, struct trigger_spec *spec_out);

#endif
