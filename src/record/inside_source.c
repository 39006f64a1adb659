/* SPDX-License-Identifier: MIT */
/*
 * System calls as the agent sees them, inside of the program: processes are begun with and watched as for a recording
 * of nothing else, but what comes out of their rings is reported at once.
 */
#define _GNU_SOURCE
#include "hosted/error_text.h"
#include "inject/limits.h"
#include "inject/native_run.h"
#include "inject/stop_signals.h"
#include "record/agent_calls.h"
#include "record/family.h"
#include "record/live_calls.h"
#include "ring/detail_record.h"
#include "ring/event_record.h"
#include "ring/ring_layout.h"
#include "syscalls/system_call_set.h"
#include "syscalls/system_call_source.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How much of strings and buffers is kept at least. */
#define STRING_BYTES 512u

struct inside {
    const struct system_call_request *request;
    struct agent_options *agent;
    struct live_calls *calls;
    struct ring_drain drain;
    struct family family;
    bool has_begun; /* the program */
};

/* ---- the first program ------------------------------------------------------------------------------------------- */

/* Of ourselves, where all that is asked for is: what execve was given. */
static size_t read_own(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    size_t count = 0;

    (void)context;
    /* Up to a NUL for strings, byte by byte: what follows may not be there. Pointers are whole words. */
    if (size_bytes == sizeof(uint64_t)) {
        memcpy(bytes_out, (const void *)(uintptr_t)address, size_bytes);
        return size_bytes;
    }
    while (count < size_bytes) {
        ((char *)bytes_out)[count] = ((const char *)(uintptr_t)address)[count];
        if (((char *)bytes_out)[count++] == '\0')
            break;
    }
    return count;
}

/* Where the program is: as it is called, or in a folder of PATH. */
static const char *find_program(const char *name, char path_out[PATH_MAX])
{
    const char *folders = getenv("PATH");
    size_t length;

    if (strchr(name, '/') != NULL || folders == NULL)
        return name;
    for (;; folders += length + 1) {
        length = strcspn(folders, ":");
        snprintf(path_out, PATH_MAX, "%.*s/%s", (int)length, length == 0 ? "." : folders, name);
        if (access(path_out, X_OK) == 0)
            return path_out;
        if (folders[length] == '\0')
            return name;
    }
}

/* What the program's environment is to be, which it inherits. */
static void change_environment(const struct system_call_request *request)
{
    for (size_t i = 0; i < request->variable_count; i++) {
        if (strchr(request->variables[i], '=') != NULL)
            (void)putenv((char *)(uintptr_t)request->variables[i]);
        else
            (void)unsetenv(request->variables[i]);
    }
}

/* What began the program was made by us, and so is not seen from inside. */
static void report_start(const struct inside *inside, pid_t pid)
{
    char path[PATH_MAX];
    static const struct call_memory own = {read_own, NULL};
    static const struct call_frame nowhere; /* in the program, that is: none of it has run yet */
    const struct system_call_signature *execve_call = system_call_by_name("execve", strlen("execve"));
    struct system_call_event event = {.kind = SYSTEM_CALL_LEFT,
                                      .pid = pid,
                                      .tid = pid,
                                      .memory = &own,
                                      .time_ns = live_calls_began_ns(inside->calls)};

    if (execve_call == NULL || !system_call_set_has(inside->request->set, (uint64_t)execve_call->number))
        return;
    event.number = (uint64_t)execve_call->number;
    event.entered_ns = event.time_ns;
    event.arguments[0] = (uintptr_t)find_program(inside->request->program[0], path);
    event.arguments[1] = (uintptr_t)inside->request->program;
    event.arguments[2] = (uintptr_t)environ;
    event.frames = &nowhere;
    inside->request->hear(inside->request->context, &event);
}

static void report_exit(const struct inside *inside, pid_t pid, int status)
{
    const struct system_call_signature *exit_call = system_call_by_name("exit_group", strlen("exit_group"));
    const struct system_call_event event = {.kind = SYSTEM_CALL_EXITED,
                                            .pid = pid,
                                            .tid = pid,
                                            .number = WIFEXITED(status) ? (uint64_t)exit_call->number : 0,
                                            .status = status,
                                            .time_ns = live_calls_now_ns(inside->calls)};

    inside->request->hear(inside->request->context, &event);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void choose(const struct system_call_request *request, struct agent_options *agent)
{
    agent_options_clear(agent);
    agent->events = EVENTS_HOOKED;
    agent->with_times = 1;
    agent->new_threads = 1;
    agent->children = request->follows ? AGENT_CHILDREN_ALL : AGENT_CHILDREN_EXECUTED;
    agent->overflow = RING_BLOCK;
    agent_calls_choose(agent, request->set,
                       request->string_bytes > STRING_BYTES ? request->string_bytes : STRING_BYTES);
    if (request->has_stacks) {
        agent->system_call_stacks = 1;
        agent->stack_frames = DETAIL_STACK_FRAMES_MAX;
    }
    agent->system_call_facts = (request->wants_beginnings ? AGENT_CALLS_BEGINNINGS : 0) |
                               (request->wants_descriptors ? AGENT_CALLS_DESCRIPTORS : 0) |
                               (request->wants_cpu ? AGENT_CALLS_CPU : 0);
    if (request->injections != NULL)
        agent_calls_inject(agent, request->injections);
}

/* A process is let go whatever comes from now on; a program has yet to inherit what is ignored. */
static int begin_target(const struct inside *inside, struct target *target, struct gait_error *err)
{
    const struct system_call_request *request = inside->request;
    int result = limits_check_own(err);

    if (result != 0)
        return result;
    stop_signals_forget();
    if (request->program == NULL)
        stop_signals_take();
    *target = (struct target){.killed_by = 0};
    result = request->program == NULL ? target_attach(request->pids[0], inside->agent, target, err)
                                      : target_spawn(request->program, inside->agent, target, err);
    if (result == 0) {
        stop_signals_take();
        limits_raise_own();
    }
    return result;
}

/* The first one is there already. */
static int attach_others(struct inside *inside, struct gait_error *err)
{
    int result = 0;

    for (size_t i = 1; i < inside->request->pid_count && result == 0; i++) {
        struct target target = {.killed_by = 0};

        result = target_attach(inside->request->pids[i], inside->agent, &target, err);
        if (result == 0)
            result = family_join(&inside->family, &target, err);
    }
    return result;
}

static int begin(struct inside *inside, struct gait_error *err)
{
    const struct family_options options = {.agent = inside->agent, .is_child = inside->request->program != NULL};
    struct gait_error why;
    struct target target;
    int result = begin_target(inside, &target, err);

    if (result != 0)
        return result;
    inside->has_begun = true;
    live_calls_set_first(inside->calls, target.pid);
    if (inside->request->program != NULL)
        report_start(inside, target.pid);
    result = family_begin(&inside->family, &inside->drain, &options, &target, err);
    if (result != 0)
        (void)!target_detach(&target, &why);
    return result;
}

/* Processes that are left go on without us. */
static int leave(struct inside *inside, int result, struct gait_error *err)
{
    struct gait_error why;
    int detached;

    if (!family_is_over(&inside->family)) {
        detached = family_detach(&inside->family, result == 0 ? err : &why);
        result = result == 0 ? detached : result;
        (void)!ring_drain_take(&inside->drain, &why);
    }
    live_calls_finish(inside->calls);
    return result;
}

static int watch(struct inside *inside, int *status_out, struct gait_error *err)
{
    const struct system_call_request *request = inside->request;
    const struct family_run_options run = {.only_first = !request->follows && request->pid_count <= 1};
    pid_t first = inside->family.first;
    int result = attach_others(inside, err), status = -1;

    if (result == 0 && family_run(&inside->family, &run, err) == FAMILY_FAILED)
        result = -err->code;
    result = leave(inside, result, err);
    family_wait_for_first(&inside->family);
    if (request->program != NULL && family_first_has_ended(&inside->family, &status) && status != -1)
        report_exit(inside, first, status);
    *status_out = request->program == NULL ? 0 : status;
    return result;
}

static int refuse_injections(const struct system_call_request *request, struct gait_error *err)
{
    for (size_t i = 0; request->injections != NULL && i < request->injections->count; i++)
        if (injection_needs_stop(&request->injections->all[i]))
            return error_set(err, EOPNOTSUPP,
                             "from inside, a signal cannot come while a call is made, and arguments cannot be poked "
                             "at; try '--via ptrace', or, for a signal, add error= or retval= to the injection");
    return 0;
}

/* A program that has no room for the agent shows its calls all the same; one that cannot be watched runs. */
static int run_traced(const struct system_call_request *request, int *status_out, struct gait_error *err)
{
    char text[GAIT_ERROR_TEXT_BYTES + 64];
    struct gait_error why = *err;
    int result;

    if (why.code == EMFILE) {
        result = native_run(request->program, status_out, err);
        if (result == 0)
            result = error_set(err, EMFILE, "%s: the program ran without its calls being seen", why.text);
        return result;
    }
    snprintf(text, sizeof(text), "%s; its calls are seen by ptrace instead", why.text);
    if (request->say != NULL)
        request->say(request->context, text);
    return system_call_source_find("ptrace")->run(request, status_out, err);
}

static int run(const struct system_call_request *request, int *status_out, struct gait_error *err)
{
    static struct agent_options agent; /* large */
    struct inside inside = {.request = request, .agent = &agent};
    int result = refuse_injections(request, err);

    if (result != 0)
        return result;
    choose(request, &agent);
    change_environment(request);
    result = live_calls_create(request, &inside.calls);
    if (result != 0)
        return error_set(err, result, "cannot show system calls: there is no memory");
    ring_drain_init(&inside.drain, &live_calls_receiver, inside.calls);
    result = begin(&inside, err);
    if (result == 0)
        result = watch(&inside, status_out, err);
    family_end(&inside.family);
    ring_drain_deinit(&inside.drain);
    live_calls_destroy(inside.calls);
    if (request->program != NULL && !inside.has_begun && limits_is_lack(result))
        return run_traced(request, status_out, err);
    return result;
}

extern const struct system_call_source system_call_source_inside;
const struct system_call_source system_call_source_inside = {
    .name = "inside",
    .run = run,
};
