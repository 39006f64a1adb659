/* SPDX-License-Identifier: MIT */
/* Texts of system calls out of this process's own memory: what tests of src/source have in common. */
#ifndef GAIT_TESTS_SUPPORT_CALL_TEXT_RUN_H
#define GAIT_TESTS_SUPPORT_CALL_TEXT_RUN_H

#include "syscalls/program_memories.h"
#include "syscalls/system_call_text.h"

#include <string.h>
#include <unistd.h>

struct call_text_run {
    char buffer[1 << 16];
    struct text_writer out;
    struct live_memory live;
    struct call_text_options options;
    uint64_t arguments[SYSTEM_CALL_ARGUMENTS_MAX];
    struct call_text text;
};

static inline struct call_text *call_text_run_init(struct call_text_run *run)
{
    memset(run, 0, sizeof(*run));
    text_init(&run->out, run->buffer, sizeof(run->buffer));
    live_memory_init(&run->live, getpid());
    run->options.string_bytes = 32;
    run->text = (struct call_text){
        .out = &run->out,
        .options = &run->options,
        .memory = &run->live.memory,
        .arguments = run->arguments,
        .pid = getpid(),
    };
    return &run->text;
}

/* Begins a new text. What was read before may have changed. */
static inline void call_text_run_clear(struct call_text_run *run)
{
    text_init(&run->out, run->buffer, sizeof(run->buffer));
    live_memory_turn_to(&run->live, getpid());
}

/* The whole text of a call with these arguments and that result. */
static inline const char *call_text_run_call(struct call_text_run *run, const char *name, const uint64_t arguments[6],
                                             int64_t result)
{
    struct system_call_event event = {.kind = SYSTEM_CALL_LEFT, .pid = getpid(), .tid = getpid(), .result = result};

    call_text_run_clear(run);
    event.number = (uint64_t)system_call_by_name(name, strlen(name))->number;
    memcpy(event.arguments, arguments, sizeof(event.arguments));
    event.memory = &run->live.memory;
    system_call_text_put(&run->out, &event, &run->options);
    return run->buffer;
}

#define CALL(run, name, result, ...) call_text_run_call(run, name, (const uint64_t[6]){__VA_ARGS__}, result)
#define AT(pointer)                  ((uint64_t)(uintptr_t)(pointer))

#endif
