/* SPDX-License-Identifier: MIT */
/* What makes a recording keep what is around it, as the user asked for it. */
#ifndef GAIT_RECORD_TRIGGER_H
#define GAIT_RECORD_TRIGGER_H

#include <stdint.h>

enum trigger_kind {
    TRIGGER_MANUAL, /* somebody says so */
    TRIGGER_TIME,   /* once, `value` nanoseconds after the beginning */
    TRIGGER_EVERY,  /* again and again, `value` nanoseconds apart */
    TRIGGER_CRASH,  /* a process is ended by a signal */
    TRIGGER_SIGNAL, /* a thread gets the signal `value` */
    TRIGGER_SYMBOL, /* a function is called */
    TRIGGER_SLOW,   /* a call of a function takes longer than `value` nanoseconds */
    TRIGGER_KINDS,
};

/* Texts live as long as the recording. */
struct trigger {
    enum trigger_kind kind;
    const char *text; /* as it was given: "slow=main!work>50ms" */
    uint64_t value;
};

/* As --trigger calls it. */
const char *trigger_kind_name(enum trigger_kind kind);

#endif
