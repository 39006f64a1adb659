/* SPDX-License-Identifier: MIT */
/*
 * A call is told when it begins, unless memory was missing then: that is looked at again when it ends, so both halves
 * are told then. What is answered is read first in what came with the end, what was asked in what came with the
 * beginning; and in the other where that has less of it.
 */
#include "syscalls/call_assembler.h"

#include "hosted/growing_array.h"
#include "hosted/system_clock.h"
#include "syscalls/program_memories.h"
#include "syscalls/system_call_set.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIGINFO_BYTES   128
#define SIGINFO_BROUGHT 48

struct told_thread {
    struct told_thread *next;
    int tid;
    bool in_call;
    bool was_told;
    struct call_program_record *begun; /* with its values */
    size_t capacity;
};

/* Memory as two records have it. */
struct both_memories {
    struct recorded_memory first;
    struct recorded_memory second;
    struct call_memory memory;
};

void call_assembler_init(struct call_assembler *assembler, const struct system_call_request *request, int hidden)
{
    *assembler = (struct call_assembler){
        .request = request,
        .hidden = hidden,
        .unix_ns = system_clock_ns(CLOCK_REALTIME) - system_clock_ns(CLOCK_MONOTONIC),
    };
}

static void forget(struct call_assembler *assembler, struct told_thread *thread)
{
    struct told_thread **at = &assembler->threads;

    while (*at != thread)
        at = &(*at)->next;
    *at = thread->next;
    free(thread->begun);
    free(thread);
}

void call_assembler_deinit(struct call_assembler *assembler)
{
    while (assembler->threads != NULL)
        forget(assembler, assembler->threads);
}

static struct told_thread *thread_of(struct call_assembler *assembler, int tid)
{
    struct told_thread *thread;

    for (struct told_thread **at = &assembler->threads; *at != NULL; at = &(*at)->next) {
        thread = *at;
        if (thread->tid != tid)
            continue;
        *at = thread->next;
        thread->next = assembler->threads;
        assembler->threads = thread;
        return thread;
    }
    thread = calloc(1, sizeof(*thread));
    if (thread == NULL)
        return NULL;
    thread->tid = tid;
    thread->next = assembler->threads;
    assembler->threads = thread;
    return thread;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static struct detail_values values_of(const struct call_program_record *record)
{
    if (record == NULL)
        return (struct detail_values){NULL, 0};
    return (struct detail_values){(const uint8_t *)(record + 1), record->values_bytes};
}

static size_t read_both(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    struct both_memories *both = context;
    size_t first = both->first.memory.read(both->first.memory.context, address, bytes_out, size_bytes), second;
    uint8_t *other;

    if (first == size_bytes)
        return first;
    other = malloc(size_bytes);
    if (other == NULL)
        return first;
    second = both->second.memory.read(both->second.memory.context, address, other, size_bytes);
    if (second > first) {
        memcpy(bytes_out, other, second);
        first = second;
    }
    free(other);
    return first;
}

static void join_memories(struct both_memories *both, const struct call_program_record *first,
                          const struct call_program_record *second)
{
    recorded_memory_init(&both->first, values_of(first));
    recorded_memory_init(&both->second, values_of(second));
    both->memory = (struct call_memory){read_both, both};
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

/* What is known of the thread's call, and when this happens. */
static struct system_call_event event_of(const struct call_assembler *assembler, const struct told_thread *thread,
                                         const struct call_program_record *record)
{
    struct system_call_event event = {
        .pid = (int)record->pid,
        .tid = (int)record->tid,
        .time_ns = record->time_ns + assembler->unix_ns,
    };

    if (!thread->in_call)
        return event;
    event.number = thread->begun->number;
    event.entered_ns = thread->begun->time_ns + assembler->unix_ns;
    event.system_ns = record->time_ns > thread->begun->time_ns ? record->time_ns - thread->begun->time_ns : 0;
    event.sp = thread->begun->words[6];
    event.pc = thread->begun->words[7];
    for (unsigned i = 0; i < SYSTEM_CALL_ARGUMENTS_MAX; i++)
        event.arguments[i] = thread->begun->words[i];
    return event;
}

static void tell(const struct call_assembler *assembler, const struct system_call_event *event)
{
    assembler->request->hear(assembler->request->context, event);
}

/* later: what came when the call ended; NULL: it has not. */
static void tell_beginning(const struct call_assembler *assembler, struct told_thread *thread,
                           const struct call_program_record *later)
{
    struct system_call_event event = event_of(assembler, thread, thread->begun);
    struct both_memories both;

    join_memories(&both, thread->begun, later);
    event.kind = SYSTEM_CALL_ENTERED;
    event.memory = &both.memory;
    thread->was_told = true;
    tell(assembler, &event);
}

static void tell_end_of_call(const struct call_assembler *assembler, struct told_thread *thread,
                             const struct call_program_record *record, unsigned flags)
{
    struct system_call_event event = event_of(assembler, thread, record);
    struct both_memories both;

    if (!thread->was_told)
        tell_beginning(assembler, thread, record);
    join_memories(&both, record, thread->begun);
    event.kind = SYSTEM_CALL_LEFT;
    event.flags = flags;
    event.memory = &both.memory;
    event.result = flags & SYSTEM_CALL_NEVER_RETURNS ? 0 : (int64_t)record->words[0];
    tell(assembler, &event);
    thread->in_call = false;
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static bool keep(struct told_thread *thread, const struct call_program_record *record)
{
    size_t size_bytes = sizeof(*record) + record->values_bytes;

    if (growing_array_reserve(&thread->begun, &thread->capacity, size_bytes, 1) != 0)
        return false;
    memcpy(thread->begun, record, size_bytes);
    return true;
}

static void take_enter(struct call_assembler *assembler, struct told_thread *thread,
                       const struct call_program_record *record)
{
    thread->in_call = false;
    thread->was_told = false;
    if (!system_call_set_has(assembler->request->set, record->number))
        return;
    thread->in_call = keep(thread, record);
    assembler->is_out_of_memory |= !thread->in_call;
    if (thread->in_call && (record->flags & CALL_RECORD_MISSES) == 0)
        tell_beginning(assembler, thread, NULL);
}

static void take_signal(const struct call_assembler *assembler, const struct told_thread *thread,
                        const struct call_program_record *record)
{
    struct system_call_event event = event_of(assembler, thread, record);
    uint8_t siginfo[SIGINFO_BYTES] = {0};

    memcpy(siginfo, record->words, SIGINFO_BROUGHT);
    event.kind = SYSTEM_CALL_SIGNALLED;
    event.signal = (int)record->number;
    event.siginfo = siginfo;
    tell(assembler, &event);
}

/* As of wait(), where the record does not say: by the call that ended it. False: it was something else. */
static bool find_status(const struct told_thread *thread, int *status_out)
{
    const struct system_call_signature *call = thread->in_call ? system_call_by_number(thread->begun->number) : NULL;

    if (call == NULL || strncmp(call->name, "exit", strlen("exit")) != 0)
        return false;
    *status_out = (int)(thread->begun->words[0] & 0xff) << 8;
    return true;
}

static void take_end(struct call_assembler *assembler, struct told_thread *thread,
                     const struct call_program_record *record)
{
    struct system_call_event event = event_of(assembler, thread, record);
    bool is_known = true;

    event.kind = SYSTEM_CALL_EXITED;
    event.status = (int)record->words[0];
    if (record->flags & CALL_RECORD_NO_STATUS)
        is_known = find_status(thread, &event.status);
    if (thread->in_call)
        tell_end_of_call(assembler, thread, record, SYSTEM_CALL_NEVER_RETURNS);
    if (is_known)
        tell(assembler, &event);
    forget(assembler, thread);
}

/* A thread that is not the first goes on under the first one's number. */
static void take_exec(struct call_assembler *assembler, struct told_thread *first,
                      const struct call_program_record *record)
{
    struct told_thread *thread = thread_of(assembler, (int)record->words[0]);
    struct system_call_event event = event_of(assembler, first, record);

    event.kind = SYSTEM_CALL_REPLACED;
    event.status = (int)record->words[0];
    tell(assembler, &event);
    forget(assembler, first);
    if (thread != NULL)
        thread->tid = (int)record->tid;
}

/* Executing the program is the first that is not ours. */
static bool is_hidden(struct call_assembler *assembler, const struct call_program_record *record)
{
    const struct system_call_signature *call = system_call_by_name("execve", strlen("execve"));

    if (assembler->hidden == 0 || (int)record->tid != assembler->hidden)
        return false;
    if (record->kind != CALL_RECORD_END &&
        (record->kind != CALL_RECORD_ENTER || record->number != (uint64_t)call->number))
        return true;
    assembler->hidden = 0;
    return false;
}

void call_assembler_take(struct call_assembler *assembler, const struct call_program_record *record)
{
    struct told_thread *thread = is_hidden(assembler, record) ? NULL : thread_of(assembler, (int)record->tid);

    if (thread == NULL)
        return;
    switch (record->kind) {
    case CALL_RECORD_ENTER:
        take_enter(assembler, thread, record);
        break;
    case CALL_RECORD_LEAVE:
        if (thread->in_call)
            tell_end_of_call(assembler, thread, record, 0);
        break;
    case CALL_RECORD_SIGNAL:
        take_signal(assembler, thread, record);
        break;
    case CALL_RECORD_END:
        take_end(assembler, thread, record);
        break;
    case CALL_RECORD_EXEC:
        take_exec(assembler, thread, record);
        break;
    default:
        break;
    }
}
