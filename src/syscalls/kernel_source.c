/* SPDX-License-Identifier: MIT */
/*
 * System calls seen by the kernel's own tracepoints: no thread is stopped, nothing is changed in the program, and
 * nothing of it can be changed. By programs in the kernel, which bring what arguments point at; where those cannot be
 * had, by perf's rings, which bring numbers only. Both choose threads and calls in the kernel. When the rings are full
 * records are lost, and counted.
 */
#define _GNU_SOURCE
#include "syscalls/system_call_source.h"

#include "hosted/error_text.h"
#include "inject/stop_signals.h"
#include "syscalls/call_assembler.h"
#include "syscalls/call_feed.h"
#include "syscalls/program_start.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 10
/* The namespace of processes that the kernel itself counts in. */
#define INITIAL_NAMESPACE "pid:[4026531836]"

struct kernel_watch {
    const struct system_call_request *request;
    const struct call_feed *feed;
    void *state;
    struct call_assembler assembler;
    struct program_start start;
    int status; /* of the program */
    bool has_ended;
};

static void say(const struct kernel_watch *watch, const char *text)
{
    if (watch->request->say != NULL)
        watch->request->say(watch->request->context, text);
}

/* ---- beginning --------------------------------------------------------------------------------------------------- */

/* What the kernel calls processes is not what they are called here. */
static bool is_in_container(void)
{
    char name[64] = "";
    ssize_t length = readlink("/proc/self/ns/pid", name, sizeof(name) - 1);

    return length > 0 && strcmp(name, INITIAL_NAMESPACE) != 0;
}

static int check(const struct system_call_request *request, struct gait_error *err)
{
    if (request->injections != NULL && request->injections->count != 0)
        return error_set(err, EOPNOTSUPP,
                         "calls that are seen in the kernel cannot be changed; try '--via inside' or '--via ptrace'");
    if (is_in_container())
        return error_set(err, EOPNOTSUPP,
                         "cannot see system calls in the kernel from inside a container, where processes have other "
                         "numbers; try '--via inside' or '--via ptrace'");
    for (size_t i = 0; i < request->pid_count; i++)
        if (kill(request->pids[i], 0) != 0 && errno == ESRCH)
            return error_set(err, ESRCH, "cannot trace process %d: there is no such process; ps shows which there are",
                             request->pids[i]);
    return 0;
}

/* Programs first; where they cannot be had, what the kernel has anyway. */
static int begin_feed(struct kernel_watch *watch, const struct call_feed_options *options, struct gait_error *err)
{
    struct gait_error no_program, no_tracepoints;
    char text[sizeof(no_program.text) + 128];

    watch->feed = &call_feed_program;
    if (watch->feed->begin(options, &watch->state, &no_program) == 0)
        return 0;
    watch->feed = &call_feed_tracepoints;
    if (watch->feed->begin(options, &watch->state, &no_tracepoints) == 0) {
        snprintf(text, sizeof(text), "what arguments point at is not shown, only where: %s", no_program.text);
        say(watch, text);
        return 0;
    }
    return error_set(
        err, no_program.code,
        "cannot see system calls in the kernel: %s; try as root, or '--via inside' or '--via ptrace', which "
        "need no privilege for processes of your own",
        no_program.text);
}

static int begin(struct kernel_watch *watch, struct gait_error *err)
{
    const struct system_call_request *request = watch->request;
    const uint64_t execve_number = (uint64_t)system_call_by_name("execve", strlen("execve"))->number;
    struct system_call_set set = *request->set;
    const struct program_setup setup = {
        .program = request->program, .variables = request->variables, .variable_count = request->variable_count};
    struct call_feed_options options = {
        .set = &set,
        .tids = request->pids,
        .tid_count = request->pid_count,
        .follows = request->follows,
        .string_bytes = request->string_bytes,
    };
    int result = check(request, err);

    if (result == 0 && request->program != NULL)
        result = program_start_begin(&setup, &watch->start, err);
    if (result != 0)
        return result;
    if (request->program != NULL) {
        options.tids = &watch->start.pid;
        options.tid_count = 1;
        set.bits[execve_number / 64] |= 1ull << execve_number % 64;
    }
    result = begin_feed(watch, &options, err);
    if (result != 0 && request->program != NULL)
        program_start_abandon(&watch->start);
    return result;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void hear(void *context, const struct call_program_record *record)
{
    call_assembler_take(context, record);
}

/* Whether the program, if we have started one, has ended. */
static bool reap(struct kernel_watch *watch)
{
    if (watch->request->program != NULL && !watch->has_ended &&
        waitpid(watch->start.pid, &watch->status, WNOHANG) == watch->start.pid)
        watch->has_ended = true;
    return watch->request->program == NULL || watch->has_ended;
}

/* Ctrl-C is for the program that we have started; where we only look, it ends the looking. */
static bool is_to_end(const struct kernel_watch *watch)
{
    return stop_signals_were_sent() || (watch->request->program == NULL && stop_signals_were_typed());
}

static int loop(struct kernel_watch *watch, struct gait_error *err)
{
    bool is_over = false;

    while (!is_over && !is_to_end(watch) && !watch->assembler.is_out_of_memory) {
        is_over = reap(watch) && watch->feed->is_over(watch->state);
        (void)watch->feed->drain(watch->state, is_over ? 0 : WAIT_MS, hear, &watch->assembler);
    }
    while (watch->feed->drain(watch->state, 0, hear, &watch->assembler) != 0)
        continue;
    return watch->assembler.is_out_of_memory ? error_set(err, ENOMEM, "cannot show system calls: there is no memory")
                                             : 0;
}

static void report_lost(const struct kernel_watch *watch)
{
    uint64_t lost = watch->feed->lost(watch->state);
    char text[128];

    if (lost == 0)
        return;
    snprintf(text, sizeof(text), "%lu records were lost, because calls came faster than they were read",
             (unsigned long)lost);
    say(watch, text);
}

static int run(const struct system_call_request *request, int *status_out, struct gait_error *err)
{
    struct kernel_watch watch = {.request = request};
    int result = begin(&watch, err);

    if (result != 0)
        return result;
    if (request->wants_descriptors)
        say(&watch, "what descriptors are is looked up when a call is reported: those that were closed meanwhile are "
                    "shown as what they are then; '--via inside' and '--via ptrace' know what they were");
    if (request->wants_cpu)
        say(&watch, "what the CPU works for calls is not known in the kernel's tracepoints; -w counts how long they take");
    call_assembler_init(&watch.assembler, request, request->program == NULL ? 0 : watch.start.pid);
    stop_signals_forget();
    stop_signals_take();
    if (request->program != NULL)
        program_start_go(&watch.start);
    result = loop(&watch, err);
    if (result == 0 && request->program != NULL)
        result = program_start_finish(&watch.start, request->program[0], err);
    report_lost(&watch);
    watch.feed->end(watch.state);
    call_assembler_deinit(&watch.assembler);
    if (result == 0)
        *status_out = watch.has_ended ? watch.status : 0;
    return result;
}

extern const struct system_call_source system_call_source_kernel;
const struct system_call_source system_call_source_kernel = {.name = "kernel", .run = run};
