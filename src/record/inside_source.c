/* SPDX-License-Identifier: MIT */
/*
 * System calls as the agent sees them, inside of the program: a recording of nothing else, whose records are told
 * instead of being written. They come out of the rings thread by thread, and are told in the order of time: those that
 * were there before a look at all rings began are complete. A program that is executed is told when something follows
 * that its own thread would not have done otherwise.
 */
#define _GNU_SOURCE
#include "base/clock_pair.h"
#include "hosted/error.h"
#include "record/detail_hearer.h"
#include "record/drain_pace.h"
#include "record/family.h"
#include "ring/detail_record.h"
#include "ring/event_record.h"
#include "ring/ring_layout.h"
#include "syscalls/recorded_memory.h"
#include "syscalls/system_call_set.h"
#include "syscalls/system_call_source.h"
#include "trace/temporary_folder.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How much of a string or buffer is kept, at least and at most. */
#define STRING_BYTES      512u
#define STRING_BYTES_MOST (DETAIL_VALUES_BYTES_MAX / 2)

/* A record that waits for its turn. */
struct heard {
    uint64_t time; /* when it is told */
    uint64_t order;
    pid_t pid;
    uint32_t tid;
    uint8_t *record;
};

/* A part of a file that is mapped to be executed. */
struct mapped_file {
    struct mapped_file *next;
    pid_t pid;
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    char path[];
};

struct inside {
    const struct system_call_request *request;
    struct mapped_file *files; /* if stacks are wanted */
    struct heard *heard;
    size_t count;
    size_t capacity;
    uint64_t order;
    struct heard *begun; /* programs that are being executed, a thread each */
    size_t begun_count;
    pid_t first;
    struct clock_pair began;
    uint64_t began_unix_ns;
    double tick_ns;
    int result;
};

static volatile sig_atomic_t is_to_end;

static void note_end(int signal)
{
    (void)signal;
    is_to_end = 1;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static void begin_clock(struct inside *inside)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    inside->began = clock_pair_read();
    inside->began_unix_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t update_clock(struct inside *inside)
{
    struct clock_pair now = clock_pair_read();

    if (now.counter > inside->began.counter)
        inside->tick_ns =
            (double)(now.monotonic_ns - inside->began.monotonic_ns) / (double)(now.counter - inside->began.counter);
    return now.counter;
}

static uint64_t unix_ns(const struct inside *inside, uint64_t counter)
{
    return inside->began_unix_ns +
           (uint64_t)(int64_t)((double)(int64_t)(counter - inside->began.counter) * inside->tick_ns);
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static struct system_call_event event_of(const struct inside *inside, const struct heard *heard, uint32_t flags)
{
    struct system_call_event event = {
        .kind = SYSTEM_CALL_LEFT,
        .flags = (flags & DETAIL_SYSTEM_CALL_NEVER_RETURNED ? SYSTEM_CALL_NEVER_RETURNS : 0) |
                 (flags & DETAIL_SYSTEM_CALL_INJECTED ? SYSTEM_CALL_INJECTED : 0) |
                 (flags & DETAIL_SYSTEM_CALL_DELAYED ? SYSTEM_CALL_DELAYED : 0),
        .pid = heard->pid,
        .tid = (int)heard->tid,
        .time_ns = unix_ns(inside, heard->time),
    };

    if (flags & DETAIL_SYSTEM_CALL_BY_CHILD)
        event.pid = event.tid = (int)(flags >> DETAIL_SYSTEM_CALL_CHILD_SHIFT);
    return event;
}

/* Other threads, and children, only if that is asked for. */
static bool is_meant(const struct inside *inside, int tid)
{
    if (inside->request->follows || tid == inside->first)
        return true;
    for (size_t i = 0; i < inside->request->pid_count; i++)
        if (tid == inside->request->pids[i])
            return true;
    return false;
}

static struct call_frame frame_of(const struct inside *inside, pid_t pid, uint64_t address)
{
    struct call_frame frame = {.address = address};

    for (const struct mapped_file *file = inside->files; file != NULL; file = file->next)
        if (file->pid == pid && address >= file->start && address < file->end) {
            frame.path = file->path;
            frame.file_offset = address - file->start + file->file_offset;
            break;
        }
    return frame;
}

/* Returns how many there are: the record has them where no memory can be. */
static size_t find_frames(const struct inside *inside, const struct call_memory *memory, pid_t pid,
                          struct call_frame frames_out[DETAIL_STACK_FRAMES_MAX])
{
    uint64_t addresses[DETAIL_STACK_FRAMES_MAX];
    size_t count =
        memory->read(memory->context, DETAIL_SYSTEM_CALL_STACK_AT, addresses, sizeof(addresses)) / sizeof(addresses[0]);

    for (size_t i = 0; i < count; i++)
        frames_out[i] = frame_of(inside, pid, addresses[i]);
    return count;
}

static void tell(struct inside *inside, struct system_call_event *event, const struct heard *heard)
{
    struct call_frame frames[DETAIL_STACK_FRAMES_MAX];
    struct recorded_memory memory;

    if (!is_meant(inside, event->tid))
        return;
    recorded_memory_init(&memory, detail_record_values(heard->record));
    event->memory = &memory.memory;
    if (inside->request->has_stacks) {
        event->frames = frames;
        event->frame_count = find_frames(inside, &memory.memory, heard->pid, frames);
    }
    inside->request->hear(inside->request->context, event);
}

static void tell_call(struct inside *inside, const struct heard *heard)
{
    struct detail_system_call call;
    struct system_call_event event;

    memcpy(&call, heard->record, sizeof(call));
    event = event_of(inside, heard, call.flags);
    event.number = call.record.function;
    event.result = call.result;
    event.entered_ns = unix_ns(inside, call.entered_time);
    event.system_ns = event.time_ns > event.entered_ns ? event.time_ns - event.entered_ns : 0;
    event.sp = call.record.sp;
    memcpy(event.arguments, call.arguments, sizeof(event.arguments));
    tell(inside, &event, heard);
}

/* Nothing but success keeps it from coming back. */
static void tell_begun(struct inside *inside, const struct heard *heard)
{
    struct detail_system_call_enter enter;
    struct system_call_event event;

    memcpy(&enter, heard->record, sizeof(enter));
    event = event_of(inside, heard, enter.flags);
    event.number = enter.record.function;
    event.entered_ns = event.time_ns;
    event.sp = enter.record.sp;
    memcpy(event.arguments, enter.arguments, sizeof(event.arguments));
    tell(inside, &event, heard);
}

/* Whose it is: a child that shares the thread's memory has records in its lane. */
static uint32_t caller_of(const struct heard *heard)
{
    struct detail_record record;
    uint32_t flags;

    memcpy(&record, heard->record, sizeof(record));
    memcpy(&flags,
           heard->record + (record.kind == DETAIL_SYSTEM_CALL ? offsetof(struct detail_system_call, flags)
                                                              : offsetof(struct detail_system_call_enter, flags)),
           sizeof(flags));
    return flags & DETAIL_SYSTEM_CALL_BY_CHILD ? flags >> DETAIL_SYSTEM_CALL_CHILD_SHIFT : heard->tid;
}

static void forget(struct heard *list, size_t *count, size_t which)
{
    free(list[which].record);
    memmove(&list[which], &list[which + 1], (--*count - which) * sizeof(list[0]));
}

/* Something follows what the thread had begun: the same call, which came back, or what shows that it did not. */
static void end_begun(struct inside *inside, const struct heard *heard)
{
    uint32_t caller = caller_of(heard);

    for (size_t i = 0; i < inside->begun_count; i++) {
        struct detail_system_call_enter enter;
        struct detail_system_call call;

        if (caller_of(&inside->begun[i]) != caller)
            continue;
        memcpy(&enter, inside->begun[i].record, sizeof(enter));
        memcpy(&call, heard->record, sizeof(call));
        if (call.record.kind != DETAIL_SYSTEM_CALL || call.entered_time != enter.record.time ||
            call.record.function != enter.record.function)
            tell_begun(inside, &inside->begun[i]);
        forget(inside->begun, &inside->begun_count, i);
        return;
    }
}

static int keep_begun(struct inside *inside, struct heard *heard)
{
    struct heard *grown = realloc(inside->begun, (inside->begun_count + 1) * sizeof(*grown));

    if (grown == NULL)
        return -ENOMEM;
    inside->begun = grown;
    inside->begun[inside->begun_count++] = *heard;
    heard->record = NULL;
    return 0;
}

static int compare(const void *left_heard, const void *right_heard)
{
    const struct heard *left = left_heard, *right = right_heard;

    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* Tells all that happened before that time. */
static int tell_heard(struct inside *inside, uint64_t before)
{
    size_t told = 0;
    int result = 0;

    if (inside->count != 0)
        qsort(inside->heard, inside->count, sizeof(inside->heard[0]), compare);
    for (; told < inside->count && inside->heard[told].time < before && result == 0; told++) {
        struct heard *heard = &inside->heard[told];
        struct detail_record record;

        memcpy(&record, heard->record, sizeof(record));
        end_begun(inside, heard);
        if (record.kind == DETAIL_SYSTEM_CALL)
            tell_call(inside, heard);
        else
            result = keep_begun(inside, heard);
        free(heard->record);
    }
    inside->count -= told;
    if (told != 0)
        memmove(inside->heard, inside->heard + told, inside->count * sizeof(inside->heard[0]));
    return result;
}

/* ---- hearing ----------------------------------------------------------------------------------------------------- */

static int keep(struct inside *inside, pid_t pid, uint32_t tid, const uint8_t *record, size_t size_bytes)
{
    size_t capacity = inside->capacity == 0 ? 1024 : 2 * inside->capacity;
    struct detail_record header;
    struct heard *grown;
    uint8_t *copy;

    if (inside->count == inside->capacity) {
        grown = realloc(inside->heard, capacity * sizeof(*grown));
        if (grown == NULL)
            return -ENOMEM;
        inside->heard = grown;
        inside->capacity = capacity;
    }
    copy = malloc(size_bytes);
    if (copy == NULL)
        return -ENOMEM;
    memcpy(copy, record, size_bytes);
    memcpy(&header, copy, sizeof(header));
    inside->heard[inside->count++] = (struct heard){header.time, inside->order++, pid, tid, copy};
    return 0;
}

static int hear(void *context, pid_t pid, uint32_t tid, const uint8_t *bytes, size_t size_bytes)
{
    struct inside *inside = context;
    size_t size;
    int result = 0;

    while (result == 0 && (size = detail_record_check(bytes, size_bytes)) != 0) {
        struct detail_record record;

        memcpy(&record, bytes, sizeof(record));
        if (record.kind == DETAIL_SYSTEM_CALL || record.kind == DETAIL_SYSTEM_CALL_ENTER)
            result = keep(inside, pid, tid, bytes, size);
        bytes += size;
        size_bytes -= size;
    }
    return result;
}

/* What was there before is not any more. */
static void forget_files(struct inside *inside, pid_t pid, uint64_t start, uint64_t end)
{
    struct mapped_file **at = &inside->files;

    while (*at != NULL) {
        struct mapped_file *file = *at;

        if (file->pid != pid || file->end <= start || file->start >= end) {
            at = &file->next;
            continue;
        }
        *at = file->next;
        free(file);
    }
}

static void note_module(void *context, pid_t pid, const struct ring_module *module, const char *path)
{
    struct inside *inside = context;
    size_t length = strlen(path);
    struct mapped_file *file;

    if (!inside->request->has_stacks)
        return;
    forget_files(inside, pid, module->start, module->end);
    file = module->is_loaded ? malloc(sizeof(*file) + length + 1) : NULL;
    if (file == NULL)
        return;
    *file = (struct mapped_file){inside->files, pid, module->start, module->end, module->file_offset};
    memcpy(file->path, path, length + 1);
    inside->files = file;
}

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

/* What began the program was made by us, and so is not seen from inside. */
static void tell_start(struct inside *inside, pid_t pid, const char *name)
{
    char path[PATH_MAX];
    static const struct call_memory own = {read_own, NULL};
    static const struct call_frame nowhere; /* in the program, that is: none of it has run yet */
    const struct system_call *execve_call = system_call_by_name("execve", strlen("execve"));
    struct system_call_event event = {
        .kind = SYSTEM_CALL_LEFT, .pid = pid, .tid = pid, .memory = &own, .time_ns = inside->began_unix_ns};

    if (execve_call == NULL || !system_call_set_has(inside->request->set, (uint64_t)execve_call->number))
        return;
    event.number = (uint64_t)execve_call->number;
    event.entered_ns = event.time_ns;
    event.arguments[0] = (uintptr_t)find_program(name, path);
    event.arguments[1] = (uintptr_t)inside->request->program;
    event.arguments[2] = (uintptr_t)environ;
    event.frames = &nowhere;
    inside->request->hear(inside->request->context, &event);
}

static void tell_exit(struct inside *inside, pid_t pid, int status)
{
    const struct system_call_event event = {.kind = SYSTEM_CALL_EXITED,
                                            .pid = pid,
                                            .tid = pid,
                                            .status = status,
                                            .time_ns = unix_ns(inside, clock_pair_read().counter)};

    inside->request->hear(inside->request->context, &event);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Above all numbers that are known, calls are in a set together or not at all. */
static void copy_set(const struct system_call_set *set, uint64_t words_out[AGENT_SYSTEM_CALL_WORDS])
{
    memcpy(words_out, set->bits, sizeof(set->bits));
    if (set->has_others)
        words_out[AGENT_SYSTEM_CALL_WORDS - 1] |= 1ull << 63;
    else
        words_out[AGENT_SYSTEM_CALL_WORDS - 1] &= ~(1ull << 63);
}

static struct agent_injection injection_of(const struct injection *given)
{
    struct agent_injection injection = {
        .result = given->result,
        .delay_enter_ns = given->delay_enter_ns,
        .delay_exit_ns = given->delay_exit_ns,
        .has_result = given->has_result,
        .signal = (uint32_t)given->signal,
        .first = given->first,
        .last = given->last,
        .step = given->step,
    };

    copy_set(&given->set, injection.system_calls);
    return injection;
}

static uint32_t string_bytes(uint32_t shown)
{
    if (shown > STRING_BYTES_MOST)
        return STRING_BYTES_MOST;
    return shown > STRING_BYTES ? shown : STRING_BYTES;
}

static void choose(const struct system_call_request *request, struct agent_options *agent)
{
    agent_options_clear(agent);
    agent->events = EVENTS_HOOKED;
    agent->with_times = 1;
    agent->new_threads = 1;
    agent->children = request->follows ? AGENT_CHILDREN_ALL : AGENT_CHILDREN_EXECUTED;
    agent->overflow = RING_BLOCK;
    agent->tells_system_calls = 1;
    agent->system_call_bytes = string_bytes(request->string_bytes);
    copy_set(request->set, agent->system_calls);
    if (request->has_stacks) {
        agent->system_call_stacks = 1;
        agent->stack_frames = DETAIL_STACK_FRAMES_MAX;
    }
    for (size_t i = 0; request->injections != NULL && i < request->injections->count; i++)
        agent->injections[agent->injection_count++] = injection_of(&request->injections->all[i]);
}

static void say_nothing(void *context, const char *text)
{
    (void)context;
    (void)text;
}

/* Whether nobody is left of whom something would be told: all that it did was drained since. */
static bool is_alone(const struct inside *inside, const struct family *family)
{
    int status;

    return !inside->request->follows && inside->request->pid_count <= 1 && family_first_has_ended(family, &status);
}

/* Until no process is left, or somebody ends it. */
static int run_family(struct inside *inside, struct family *family, struct gait_error *err)
{
    struct drain_pace pace = {.silent_ms = 0};
    int result = 0;

    while (result == 0 && !is_to_end) {
        uint64_t taken = family->recording->taken_bytes, before = update_clock(inside);
        bool is_last = is_alone(inside, family);

        result = family_step(family, err);
        if (result == 0 && tell_heard(inside, before) != 0)
            result = error_set(err, ENOMEM, "cannot show system calls: there is no memory");
        if (result != 0 || is_last || family_is_over(family))
            break;
        if (!is_alone(inside, family))
            family_wait(family, drain_pace_next(&pace, family->recording->taken_bytes != taken));
    }
    return result;
}

static int end_family(struct inside *inside, struct family *family, int result, struct gait_error *err)
{
    struct gait_error why;

    if (!family_is_over(family)) {
        int detached = family_detach(family, result == 0 ? err : &why);

        result = result == 0 ? detached : result;
        (void)!recording_drain(family->recording, &why);
    }
    (void)update_clock(inside);
    (void)!tell_heard(inside, UINT64_MAX);
    for (size_t i = 0; i < inside->begun_count; i++)
        tell_begun(inside, &inside->begun[i]);
    return result;
}

static void take_signals(void)
{
    struct sigaction action = {.sa_handler = note_end};

    is_to_end = 0;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

static int begin_target(struct inside *inside, const struct agent_options *agent, struct target *target,
                        struct gait_error *err)
{
    const struct system_call_request *request = inside->request;

    *target = (struct target){.killed_by = 0};
    if (request->program == NULL)
        return target_attach(request->pids[0], agent, target, err);
    return target_spawn(request->program, agent, target, err);
}

/* The first one is there already. */
static int attach_others(const struct inside *inside, struct family *family, struct gait_error *err)
{
    int result = 0;

    for (size_t i = 1; i < inside->request->pid_count && result == 0; i++) {
        struct target target = {.killed_by = 0};

        result = target_attach(inside->request->pids[i], family->options.agent, &target, err);
        if (result == 0)
            result = family_join(family, &target, err);
    }
    return result;
}

static int watch(struct inside *inside, struct recording *recording, int *status_out, struct gait_error *err)
{
    static struct agent_options agent; /* large */
    struct family_options options = {
        .agent = &agent,
        .is_child = inside->request->program != NULL,
        .tell = say_nothing,
    };
    struct target target;
    struct family family;
    int result, status = -1;

    choose(inside->request, &agent);
    begin_clock(inside);
    result = begin_target(inside, &agent, &target, err);
    if (result != 0)
        return result;
    (void)update_clock(inside);
    take_signals();
    inside->first = target.pid;
    if (inside->request->program != NULL)
        tell_start(inside, target.pid, inside->request->program[0]);
    result = family_begin(&family, recording, &options, &target, err);
    if (result != 0) {
        struct gait_error why;

        (void)!target_detach(&target, &why);
        return result;
    }
    result = attach_others(inside, &family, err);
    if (result == 0)
        result = run_family(inside, &family, err);
    result = end_family(inside, &family, result, err);
    family_wait_for_first(&family);
    if (inside->request->program != NULL && family_first_has_ended(&family, &status) && status != -1)
        tell_exit(inside, target.pid, status);
    *status_out = inside->request->program == NULL ? 0 : status;
    family_end(&family);
    return result;
}

static void release(struct inside *inside)
{
    while (inside->count != 0)
        free(inside->heard[--inside->count].record);
    while (inside->begun_count != 0)
        free(inside->begun[--inside->begun_count].record);
    free(inside->heard);
    free(inside->begun);
    while (inside->files != NULL) {
        struct mapped_file *next = inside->files->next;

        free(inside->files);
        inside->files = next;
    }
}

static int run(const struct system_call_request *request, int *status_out, struct gait_error *err)
{
    struct inside inside = {.request = request};
    struct detail_hearer hearer = {hear, note_module, &inside};
    char *const nothing[] = {NULL};
    struct recording_options options = {
        .program = request->program == NULL ? "process" : request->program[0],
        .arguments = request->program == NULL ? nothing : request->program,
        .events = EVENTS_HOOKED,
        .with_times = true,
        .hearer = &hearer,
    };
    struct temporary_folder *folder;
    struct recording recording;
    int result;

    for (size_t i = 0; request->injections != NULL && i < request->injections->count; i++)
        if (request->injections->all[i].signal != 0 && !request->injections->all[i].has_result)
            return error_set(err, EOPNOTSUPP,
                             "from inside, a signal cannot come while a call is made; try '--via ptrace', or add "
                             "error= or retval= to the injection");
    result = temporary_folder_make(&folder, err);
    if (result != 0)
        return result;
    options.output = folder->path;
    result = recording_create(&options, &recording, err);
    if (result == 0) {
        result = watch(&inside, &recording, status_out, err);
        if (recording.process_count == 0)
            recording_discard(&recording);
        else
            (void)!recording_end(&recording, "exit", NULL);
        free(recording.path);
    }
    release(&inside);
    temporary_folder_remove(folder);
    return result;
}

extern const struct system_call_source system_call_source_inside;
const struct system_call_source system_call_source_inside = {
    .name = "inside",
    .run = run,
};
