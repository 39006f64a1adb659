/* SPDX-License-Identifier: MIT */
/*
 * How the controller asks the agent for something: it writes an agent_call into the target's memory, sends a stopped
 * thread of the target to agent_main, and reads the answer there when the thread is done. Both sides are of the same
 * version; the layout is the same for both.
 */
#ifndef GAIT_PROTOCOL_AGENT_CALL_H
#define GAIT_PROTOCOL_AGENT_CALL_H

#include "arch/thread_registers.h"
#include "ring/detail_declaration.h"

#include <stddef.h>
#include <stdint.h>

enum agent_operation {
    AGENT_BEGIN = 1, /* follows the calling thread, or hooks functions; makes ring and engine, if that was not done */
    AGENT_PREPARE,   /* makes ring and engine; the ring's descriptor is open until AGENT_BEGIN */
    AGENT_FOLLOW,    /* follows the threads in the list, which are stopped; where functions will be hooked, before
                        AGENT_BEGIN: takes the threads out of code that will change */
    AGENT_LEAVE,     /* makes threads in the list leave, as soon as they can */
    AGENT_LOOK,      /* whether threads in the list are out of the agent's hands */
    AGENT_START,     /* all that begins a program: makes ring and engine, and follows the calling thread; the ring's
                        descriptor is open until the phase is AGENT_CALL_TAKEN */
    AGENT_END,       /* gives everything back; no thread may be followed any more, all are out of its hands */
};

#define AGENT_SEGMENTS_MAX 8u

/* A part of the agent's image, and its access: it is mapped with all. */
struct agent_segment {
    uint64_t start;
    uint64_t size_bytes;
    uint32_t access; /* enum memory_access */
    uint32_t reserved;
};

/* What is done about functions, whole modules, or threads, whose names match. */
enum agent_pattern_use {
    AGENT_PATTERN_EXCLUDE = 1,  /* no events from there */
    AGENT_PATTERN_DETAIL,       /* calls of it go to the detail lane as well */
    AGENT_PATTERN_TRIGGER_CALL, /* a call of it is a trigger */
    AGENT_PATTERN_TRIGGER_SLOW, /* a call of it that takes longer than `value` nanoseconds is one */
    AGENT_PATTERN_THREAD,       /* only threads with such a name, or whose number is `number`, are observed */
    AGENT_PATTERN_STACK,        /* who called it goes to the detail lane */
    AGENT_PATTERN_ERRNO,        /* it is no function to look at: it tells where errno is */
    AGENT_PATTERN_HOOK,         /* it is hooked */
    AGENT_PATTERN_PROBE,        /* static probes, "module!provider:name", go to the detail lane */
};

#define AGENT_PATTERN_BYTES 120u
#define AGENT_PATTERNS_MAX  64u

/* Functions or whole modules by their names; protocol/agent_pattern.h says what the text means. */
struct agent_pattern {
    uint32_t use;    /* enum agent_pattern_use */
    uint32_t number; /* the controller's name for it: of the trigger */
    uint64_t value;
    uint32_t is_recorded; /* where functions are hooked: it is as AGENT_PATTERN_HOOK besides */
    uint32_t reserved;
    char text[AGENT_PATTERN_BYTES];
    char other[AGENT_PATTERN_BYTES];       /* functions besides, as a glob for the names that linkers have; or empty */
    struct detail_declaration declaration; /* of AGENT_PATTERN_DETAIL, if there is one */
};

#define AGENT_PLACES_MAX 4096u

/* A function that patterns mean, which the controller has looked up; protocol/agent_places.h says how it is found. */
struct agent_place {
    uint64_t module;   /* of the path of its file */
    uint64_t address;  /* as the file has it; UINT64_MAX: none is */
    uint64_t patterns; /* a bit for each: of those that were looked up in that file, nothing else there is meant */
};

/* All of a module are side by side. */
struct agent_places {
    uint32_t count;
    uint32_t reserved;
    struct agent_place places[AGENT_PLACES_MAX];
};

#define AGENT_KNOWN_MAX        2048u
#define AGENT_DECLARATIONS_MAX 384u

/* A function whose arguments are known; protocol/agent_known.h says how it is found. */
struct agent_known_function {
    uint64_t key;
    uint32_t declaration;
    uint32_t reserved;
};

/* All of them, by their keys. */
struct agent_known {
    uint32_t count;
    uint32_t declaration_count;
    struct detail_declaration declarations[AGENT_DECLARATIONS_MAX];
    struct agent_known_function functions[AGENT_KNOWN_MAX];
};

#define AGENT_SYSTEM_CALL_WORDS 8u
#define AGENT_INJECTIONS_MAX    16u

/* What system calls of a set do instead, of each thread's those from the first to the last, by steps. */
struct agent_injection {
    uint64_t system_calls[AGENT_SYSTEM_CALL_WORDS]; /* as below */
    int64_t result;                                 /* or an errno number, negated */
    uint64_t delay_enter_ns;
    uint64_t delay_exit_ns;
    uint32_t has_result; /* the call is not made; it returns the result */
    uint32_t signal;     /* that comes with it; 0: none */
    uint32_t first;      /* from 1 on */
    uint32_t last;
    uint32_t step;
    uint32_t reserved;
};

enum agent_children {
    AGENT_CHILDREN_NONE,
    AGENT_CHILDREN_ALL,
    AGENT_CHILDREN_EXECUTED, /* none, but programs that the process itself executes */
};

/* What else is told of system calls. */
enum agent_call_fact {
    AGENT_CALLS_BEGINNINGS = 1,  /* each when it begins, too */
    AGENT_CALLS_DESCRIPTORS = 2, /* what their descriptors are; those that are arguments with its beginning */
    AGENT_CALLS_CPU = 4,         /* what the CPU has worked for the thread before and after it */
};

/* How to follow, or to hook. */
struct agent_options {
    uint32_t events; /* of enum gait_event_kind; EVENTS_HOOKED: nothing is followed, functions are hooked */
    uint32_t with_times;
    uint32_t new_threads;
    uint32_t children;        /* enum agent_children: forked ones are followed, and executed programs announced */
    uint32_t is_whole;        /* the thread is at its first instruction */
    uint32_t overflow;        /* enum ring_overflow */
    uint32_t buffer_count;    /* 0: the ring's default, as below */
    uint32_t is_self_writing; /* the process may write its code by a file that it has open */
    uint64_t trigger_signals; /* bit n - 1: a signal n that a handler of the program's gets is a trigger */
    uint32_t pattern_count;
    uint32_t stack_bytes;        /* in each record of the detail lane */
    uint32_t string_bytes;       /* of a string in it, unless its declaration says otherwise; at most */
    uint32_t stack_frames;       /* in each stack; at most */
    uint32_t tells_system_calls; /* those of the set below go to the detail lane */
    uint64_t buffer_bytes;
    uint64_t system_calls[AGENT_SYSTEM_CALL_WORDS]; /* a bit for each number; the last one is for all above it, too */
    uint32_t system_call_bytes;                     /* of strings and buffers of system calls; at most */
    uint32_t injection_count;
    uint32_t system_call_stacks; /* with each, who made it: at most stack_frames */
    uint32_t system_call_facts;  /* enum agent_call_fact */
    struct agent_injection injections[AGENT_INJECTIONS_MAX];
    struct agent_pattern patterns[AGENT_PATTERNS_MAX];
    struct agent_known known; /* of functions that patterns for the detail lane mean */
    struct agent_places places;
};

/* Most of it is room for patterns and functions, of which there are few as a rule: what is used of both, in bytes. */
static inline size_t agent_options_bytes(const struct agent_options *options)
{
    return offsetof(struct agent_options, patterns) + options->pattern_count * sizeof(struct agent_pattern);
}

static inline size_t agent_known_bytes(const struct agent_known *known)
{
    return known->count == 0 ? offsetof(struct agent_known, declarations) : sizeof(*known);
}

static inline size_t agent_places_bytes(const struct agent_places *places)
{
    return offsetof(struct agent_places, places) + places->count * sizeof(places->places[0]);
}

/* To nothing, with no patterns and no functions. */
static inline void agent_options_clear(struct agent_options *options)
{
    __builtin_memset(options, 0, offsetof(struct agent_options, patterns));
    __builtin_memset(&options->known, 0, offsetof(struct agent_known, declarations));
    options->places.count = 0;
}

/* How a thread's system calls are dispatched to itself, as ptrace has it; all zero: they are not. */
struct agent_dispatch {
    uint64_t mode;
    uint64_t selector;
    uint64_t start;
    uint64_t size;
};

/* A thread that is stopped: its registers, which the agent may change. */
struct agent_thread {
    int32_t tid;
    int32_t result; /* 0: the registers are to be set; 1: there is nothing to do; negative: what went wrong */
    struct agent_dispatch
        dispatch; /* by AGENT_LOOK: what it has asked for, and has otherwise as long as we are there */
    struct thread_registers registers;
};

#define AGENT_THREADS_AT_ONCE 32u

/*
 * How far a call is. A thread that is done waits for its tracer to stop it, and to set what it goes on with; if nobody
 * comes, since the controller is gone by then, it goes back by itself to what it did before.
 */
enum agent_call_phase {
    AGENT_CALL_RUNS,
    AGENT_CALL_DONE,
    AGENT_CALL_LEFT,
    AGENT_CALL_TAKEN, /* after AGENT_START: the tracer has the ring, and the thread is to go on by itself */
};

/*
 * What a thread stops itself with when AGENT_START is done, so that its tracer need not look again and again. Programs
 * ignore it unless they say otherwise, and one that has yet to begin has not: without a tracer nothing happens.
 */
#define AGENT_START_SIGNAL 23 /* SIGURG */

#define AGENT_CALL_WAIT_MS 500

struct agent_call {
    _Atomic uint32_t phase;      /* enum agent_call_phase */
    uint32_t may_change_counter; /* no filter of system calls keeps the agent from PR_GET_TSC and PR_SET_TSC */
    uint64_t cookie;             /* the controller's: whether it is still its agent that is here */
    uint32_t operation;
    int32_t result;  /* 0, or a negative errno number */
    int32_t ring_fd; /* where it is open in the target, for the controller to take over */
    int32_t file_fd; /* for AGENT_PREPARE: what the agent was mapped from, to be closed */
    uint32_t thread_count;
    uint32_t followed_count;       /* threads that are followed after the call */
    uint32_t hooked_count;         /* functions that are hooked after the call */
    uint32_t is_counter_forbidden; /* the thread forbids itself to read the counter of time */
    uint32_t has_file_fd;          /* else the agent was copied */
    uint32_t segment_count;
    struct agent_segment segments[AGENT_SEGMENTS_MAX]; /* for AGENT_PREPARE */
    struct agent_thread threads[AGENT_THREADS_AT_ONCE];
    struct agent_options options; /* large, and not part of the answer: last */
};

#endif
