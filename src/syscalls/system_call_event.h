/* SPDX-License-Identifier: MIT */
/*
 * What a source of system calls reports, whichever it is: ptrace, the agent inside of the process, a trace that is read
 * afterwards. Memory of the program is looked at through a callback, since it is there live, or was kept.
 */
#ifndef GAIT_SYSCALLS_SYSTEM_CALL_EVENT_H
#define GAIT_SYSCALLS_SYSTEM_CALL_EVENT_H

#include "process/system_call_table.h"

#include <stddef.h>
#include <stdint.h>

enum system_call_event_kind {
    SYSTEM_CALL_ENTERED, /* not told by sources that see calls only when they have ended */
    SYSTEM_CALL_LEFT,
    SYSTEM_CALL_SIGNALLED, /* a signal is delivered: `siginfo` */
    SYSTEM_CALL_STOPPED,   /* the thread was stopped by `signal` */
    SYSTEM_CALL_EXITED,    /* with `status` as of wait() */
    SYSTEM_CALL_REPLACED,  /* another thread executed a program: this one, number `status`, goes on under its id */
    SYSTEM_CALL_DETACHED,  /* nobody looks at this thread any more */
};

enum system_call_event_flag {
    SYSTEM_CALL_NEVER_RETURNS = 1, /* exit, or killed meanwhile */
    SYSTEM_CALL_INJECTED = 2,
    SYSTEM_CALL_DELAYED = 4,
    SYSTEM_CALL_POKED = 8, /* an injection has changed what arguments point at */
};

/* A look at the program's memory: copies up to size_bytes from address on, and returns how many were there. */
struct call_memory {
    size_t (*read)(void *context, uint64_t address, void *bytes_out, size_t size_bytes);
    void *context;
};

/* Where a call was made, or where a caller goes on behind that. */
struct call_frame {
    uint64_t address;
    const char *path;     /* of the file that is mapped there; NULL: none is known */
    uint64_t file_offset; /* in that file */
};

/* In a number: 32-bit code has made the call, where numbers mean others, of which we know no names. */
#define SYSTEM_CALL_FOREIGN (1u << 31)

struct system_call_event {
    enum system_call_event_kind kind;
    unsigned flags; /* enum system_call_event_flag */
    int pid;        /* of the process */
    int tid;
    uint64_t number;
    uint64_t arguments[SYSTEM_CALL_ARGUMENTS_MAX];
    int64_t result;      /* -4095..-1: -errno */
    uint64_t time_ns;    /* when this happened, since 1970 */
    uint64_t entered_ns; /* when the call began */
    uint64_t system_ns;  /* how long it took */
    uint64_t cpu_ns;     /* what the CPU worked for it meanwhile, where the source was asked for that */
    const struct call_memory *memory;
    const void *siginfo; /* 128 bytes */
    int signal;
    int status;
    uint64_t pc; /* where the call was made; 0: not known */
    uint64_t sp;
    const struct call_frame *frames; /* its stack, if that was kept; NULL: it is to be looked at */
    size_t frame_count;
};

#endif
