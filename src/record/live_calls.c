/* SPDX-License-Identifier: MIT */
#include "record/live_calls.h"

#include "base/clock_pair.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "hosted/system_clock.h"
#include "record/thread_numbers.h"
#include "ring/detail_descriptor.h"
#include "ring/detail_record.h"
#include "ring/ring_layout.h"
#include "ring/ring_reader.h"
#include "syscalls/program_memories.h"
#include "syscalls/system_call_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How many calls of one thread may have begun, each in a signal handler that came during the one before. */
#define NESTED_MOST 8

/* How much later than other processes a new one may begin to tell, where lines are in the order of time. */
#define LATE_NS 2e8

/* A record that waits for its turn. */
struct waiting_call {
    uint64_t time; /* when it is reported */
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

struct live_calls {
    const struct system_call_request *request;
    struct mapped_file *files; /* if stacks are wanted */
    struct waiting_call *waiting;
    size_t count;
    size_t capacity;
    uint64_t order;
    struct waiting_call *begun; /* programs that are being executed, a thread each */
    size_t begun_count;
    struct waiting_call *told; /* calls whose beginnings were told, and whose ends were not */
    size_t told_count;
    struct thread_numbers numbers;
    pid_t first;
    uint64_t looked_time; /* the counter, when the look at all rings began */
    struct clock_pair began;
    uint64_t began_unix_ns;
    double tick_ns;
};

/* ---- time -------------------------------------------------------------------------------------------------------- */

static void begin_clock(struct live_calls *calls)
{
    calls->began_unix_ns = system_clock_ns(CLOCK_REALTIME);
    calls->began = clock_pair_read();
}

static uint64_t update_clock(struct live_calls *calls)
{
    struct clock_pair now = clock_pair_read();

    if (now.counter > calls->began.counter)
        calls->tick_ns =
            (double)(now.monotonic_ns - calls->began.monotonic_ns) / (double)(now.counter - calls->began.counter);
    return now.counter;
}

static uint64_t unix_ns(const struct live_calls *calls, uint64_t counter)
{
    return calls->began_unix_ns +
           (uint64_t)(int64_t)((double)(int64_t)(counter - calls->began.counter) * calls->tick_ns);
}

/* ---- reporting --------------------------------------------------------------------------------------------------- */

static struct system_call_event event_of(const struct live_calls *calls, const struct waiting_call *waiting,
                                         uint32_t flags)
{
    struct system_call_event event = {
        .kind = SYSTEM_CALL_LEFT,
        .flags = (flags & DETAIL_SYSTEM_CALL_NEVER_RETURNED ? SYSTEM_CALL_NEVER_RETURNS : 0) |
                 (flags & DETAIL_SYSTEM_CALL_INJECTED ? SYSTEM_CALL_INJECTED : 0) |
                 (flags & DETAIL_SYSTEM_CALL_DELAYED ? SYSTEM_CALL_DELAYED : 0),
        .pid = waiting->pid,
        .tid = (int)waiting->tid,
        .time_ns = unix_ns(calls, waiting->time),
    };

    if (flags & DETAIL_SYSTEM_CALL_BY_CHILD)
        event.pid = event.tid = (int)(flags >> DETAIL_SYSTEM_CALL_CHILD_SHIFT);
    return event;
}

/* Other threads, and children, only if that is asked for. */
static bool is_meant(const struct live_calls *calls, int tid)
{
    if (calls->request->follows || tid == calls->first)
        return true;
    for (size_t i = 0; i < calls->request->pid_count; i++)
        if (tid == calls->request->pids[i])
            return true;
    return false;
}

static struct call_frame frame_of(const struct live_calls *calls, pid_t pid, uint64_t address)
{
    struct call_frame frame = {.address = address};

    for (const struct mapped_file *file = calls->files; file != NULL; file = file->next)
        if (file->pid == pid && address >= file->start && address < file->end) {
            frame.path = file->path;
            frame.file_offset = address - file->start + file->file_offset;
            break;
        }
    return frame;
}

/* Returns how many there are: the record has them where no memory can be. */
static size_t find_frames(const struct live_calls *calls, const struct call_memory *memory, pid_t pid,
                          struct call_frame frames_out[DETAIL_STACK_FRAMES_MAX])
{
    uint64_t addresses[DETAIL_STACK_FRAMES_MAX];
    size_t count =
        memory->read(memory->context, DETAIL_SYSTEM_CALL_STACK_AT, addresses, sizeof(addresses)) / sizeof(addresses[0]);

    for (size_t i = 0; i < count; i++)
        frames_out[i] = frame_of(calls, pid, addresses[i]);
    return count;
}

/* Memory as a call's end has it, and as its beginning has it where that has more of it. */
struct two_memories {
    struct recorded_memory end;
    struct recorded_memory beginning;
    struct call_memory memory;
};

static size_t read_two(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    const struct two_memories *two = context;
    size_t got = two->end.memory.read(two->end.memory.context, address, bytes_out, size_bytes), earlier;
    uint8_t *other;

    if (got == size_bytes)
        return got;
    other = malloc(size_bytes);
    if (other == NULL)
        return got;
    earlier = two->beginning.memory.read(two->beginning.memory.context, address, other, size_bytes);
    if (earlier > got) {
        memcpy(bytes_out, other, earlier);
        got = earlier;
    }
    free(other);
    return got;
}

static uint64_t read_cpu(const struct call_memory *memory)
{
    uint64_t times[2];

    if (memory->read(memory->context, DETAIL_CPU_TIMES_AT, times, sizeof(times)) != sizeof(times))
        return 0;
    return times[1] > times[0] ? times[1] - times[0] : 0;
}

/* earlier: what was kept when the call began; NULL: nothing. */
static void report(struct live_calls *calls, struct system_call_event *event, const struct waiting_call *waiting,
                   const struct waiting_call *earlier)
{
    struct call_frame frames[DETAIL_STACK_FRAMES_MAX];
    struct two_memories two;

    if (!is_meant(calls, event->tid))
        return;
    recorded_memory_init(&two.end, detail_record_values(waiting->record));
    event->memory = &two.end.memory;
    if (earlier != NULL) {
        recorded_memory_init(&two.beginning, detail_record_values(earlier->record));
        two.memory = (struct call_memory){read_two, &two};
        event->memory = &two.memory;
    }
    if (calls->request->has_stacks) {
        event->frames = frames;
        event->frame_count = find_frames(calls, event->memory, waiting->pid, frames);
    }
    event->cpu_ns = calls->request->wants_cpu ? read_cpu(event->memory) : 0;
    calls->request->hear(calls->request->context, event);
}

static void report_call(struct live_calls *calls, const struct waiting_call *waiting,
                        const struct waiting_call *earlier)
{
    struct detail_system_call call;
    struct system_call_event event;

    memcpy(&call, waiting->record, sizeof(call));
    event = event_of(calls, waiting, call.flags);
    event.number = call.record.function;
    event.result = call.result;
    event.entered_ns = unix_ns(calls, call.entered_time);
    event.system_ns = event.time_ns > event.entered_ns ? event.time_ns - event.entered_ns : 0;
    event.sp = call.record.sp;
    memcpy(event.arguments, call.arguments, sizeof(event.arguments));
    report(calls, &event, waiting, earlier);
}

/* The call has begun: it may have ended, too. */
static void report_beginning(struct live_calls *calls, const struct waiting_call *waiting,
                             enum system_call_event_kind kind)
{
    struct detail_system_call_enter enter;
    struct system_call_event event;

    memcpy(&enter, waiting->record, sizeof(enter));
    event = event_of(calls, waiting, enter.flags);
    event.kind = kind;
    event.number = enter.record.function;
    event.entered_ns = unix_ns(calls, enter.record.time);
    event.sp = enter.record.sp;
    memcpy(event.arguments, enter.arguments, sizeof(event.arguments));
    report(calls, &event, waiting, NULL);
}

/* Nothing but success keeps it from coming back: it was there at that time, at the latest. */
static void report_begun(struct live_calls *calls, struct waiting_call *waiting, uint64_t time)
{
    waiting->time = time;
    report_beginning(calls, waiting, SYSTEM_CALL_LEFT);
}

/* Whose it is: a child that shares the thread's memory has records in its lane. */
static uint32_t caller_of(const struct waiting_call *waiting)
{
    struct detail_record record;
    uint32_t flags;

    memcpy(&record, waiting->record, sizeof(record));
    memcpy(&flags,
           waiting->record + (record.kind == DETAIL_SYSTEM_CALL ? offsetof(struct detail_system_call, flags)
                                                                : offsetof(struct detail_system_call_enter, flags)),
           sizeof(flags));
    return flags & DETAIL_SYSTEM_CALL_BY_CHILD ? flags >> DETAIL_SYSTEM_CALL_CHILD_SHIFT : waiting->tid;
}

static void forget(struct waiting_call *list, size_t *count, size_t which)
{
    free(list[which].record);
    memmove(&list[which], &list[which + 1], (--*count - which) * sizeof(list[0]));
}

static bool is_return_of(const struct waiting_call *waiting, const struct detail_system_call_enter *enter)
{
    struct detail_system_call call;

    memcpy(&call.record, waiting->record, sizeof(call.record));
    if (call.record.kind != DETAIL_SYSTEM_CALL)
        return false;
    memcpy(&call, waiting->record, sizeof(call));
    return call.entered_time == enter->record.time && call.record.function == enter->record.function;
}

/* Something follows what the thread had begun: the same call, which came back, or what shows that it did not. */
static void end_begun(struct live_calls *calls, const struct waiting_call *waiting)
{
    uint32_t caller = caller_of(waiting);

    for (size_t i = 0; i < calls->begun_count; i++) {
        struct detail_system_call_enter enter;

        if (caller_of(&calls->begun[i]) != caller)
            continue;
        memcpy(&enter, calls->begun[i].record, sizeof(enter));
        if (!is_return_of(waiting, &enter))
            report_begun(calls, &calls->begun[i], waiting->time);
        forget(calls->begun, &calls->begun_count, i);
        return;
    }
}

static int keep_begun(struct live_calls *calls, struct waiting_call *waiting)
{
    if (calls->request->wants_beginnings)
        report_beginning(calls, waiting, SYSTEM_CALL_ENTERED);
    if (ARRAY_RESERVE_NEXT(calls->begun, calls->begun_count) != 0)
        return -ENOMEM;
    calls->begun[calls->begun_count++] = *waiting;
    waiting->record = NULL;
    return 0;
}

/* Those that a handler has left by a long jump have no end: the oldest of a thread's go when there are many. */
static void forget_abandoned(struct live_calls *calls, uint32_t caller)
{
    size_t count = 0, oldest = 0;

    for (size_t i = calls->told_count; i-- > 0;)
        if (caller_of(&calls->told[i]) == caller) {
            count++;
            oldest = i;
        }
    if (count >= NESTED_MOST)
        forget(calls->told, &calls->told_count, oldest);
}

static int tell_beginning(struct live_calls *calls, struct waiting_call *waiting)
{
    report_beginning(calls, waiting, SYSTEM_CALL_ENTERED);
    forget_abandoned(calls, caller_of(waiting));
    if (ARRAY_RESERVE_NEXT(calls->told, calls->told_count) != 0)
        return -ENOMEM;
    calls->told[calls->told_count++] = *waiting;
    waiting->record = NULL;
    return 0;
}

/* The end of a call, whose beginning may have been told. */
static void tell_end(struct live_calls *calls, const struct waiting_call *waiting)
{
    for (size_t i = calls->told_count; i-- > 0;) {
        struct detail_system_call_enter enter;

        if (caller_of(&calls->told[i]) != caller_of(waiting))
            continue;
        memcpy(&enter, calls->told[i].record, sizeof(enter));
        if (!is_return_of(waiting, &enter))
            continue;
        report_call(calls, waiting, &calls->told[i]);
        forget(calls->told, &calls->told_count, i);
        return;
    }
    report_call(calls, waiting, NULL);
}

/* A program is being executed: what follows tells whether it was. */
static bool executes(const struct waiting_call *waiting)
{
    const struct system_call_signature *call;
    struct detail_record record;

    memcpy(&record, waiting->record, sizeof(record));
    call = system_call_by_number(record.function);
    return call != NULL && strncmp(call->name, "execve", strlen("execve")) == 0;
}

static int compare(const void *left_call, const void *right_call)
{
    const struct waiting_call *left = left_call, *right = right_call;

    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* Reports all that happened before that time. */
static int report_until(struct live_calls *calls, uint64_t before)
{
    size_t reported = 0;
    int result = 0;

    if (calls->count != 0)
        qsort(calls->waiting, calls->count, sizeof(calls->waiting[0]), compare);
    for (; reported < calls->count && calls->waiting[reported].time < before && result == 0; reported++) {
        struct waiting_call *waiting = &calls->waiting[reported];
        struct detail_record record;

        memcpy(&record, waiting->record, sizeof(record));
        end_begun(calls, waiting);
        if (record.kind == DETAIL_SYSTEM_CALL)
            tell_end(calls, waiting);
        else
            result = executes(waiting) ? keep_begun(calls, waiting) : tell_beginning(calls, waiting);
        free(waiting->record);
    }
    calls->count -= reported;
    if (reported != 0)
        memmove(calls->waiting, calls->waiting + reported, calls->count * sizeof(calls->waiting[0]));
    return result;
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static int keep(struct live_calls *calls, pid_t pid, uint32_t tid, const uint8_t *record, size_t size_bytes)
{
    struct detail_record header;
    uint8_t *copy;

    if (ARRAY_RESERVE(calls->waiting, calls->capacity, calls->count + 1) != 0)
        return -ENOMEM;
    copy = malloc(size_bytes);
    if (copy == NULL)
        return -ENOMEM;
    memcpy(copy, record, size_bytes);
    memcpy(&header, copy, sizeof(header));
    calls->waiting[calls->count++] = (struct waiting_call){header.time, calls->order++, pid, tid, copy};
    return 0;
}

static int take_records(struct drained_process *process, struct drained_lane *lane, const struct ring_batch *batch)
{
    struct live_calls *calls = process->owner;
    const uint8_t *bytes = batch->bytes;
    size_t size_bytes = batch->size_bytes, size;
    uint32_t tid = thread_numbers_outer(&calls->numbers, process->pid, batch->tid);
    int result = 0;

    (void)lane;
    while (batch->kind == RING_LANE_DETAIL && result == 0 && (size = detail_record_check(bytes, size_bytes)) != 0) {
        struct detail_record record;

        memcpy(&record, bytes, sizeof(record));
        if (record.kind == DETAIL_SYSTEM_CALL || record.kind == DETAIL_SYSTEM_CALL_ENTER)
            result = keep(calls, process->pid, tid, bytes, size);
        bytes += size;
        size_bytes -= size;
    }
    return result;
}

/* What was there before is not any more. */
static void forget_files(struct live_calls *calls, pid_t pid, uint64_t start, uint64_t end)
{
    struct mapped_file **at = &calls->files;

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

static void note_module(struct live_calls *calls, pid_t pid, const struct ring_module *module, const char *path)
{
    size_t length = strlen(path);
    struct mapped_file *file;

    forget_files(calls, pid, module->start, module->end);
    file = module->is_loaded ? malloc(sizeof(*file) + length + 1) : NULL;
    if (file == NULL)
        return;
    *file = (struct mapped_file){calls->files, pid, module->start, module->end, module->file_offset};
    memcpy(file->path, path, length + 1);
    calls->files = file;
}

static int take_modules(struct drained_process *process, struct drained_log *log)
{
    struct live_calls *calls = process->owner;
    char path[DRAINED_PATH_BYTES_MAX + 1];
    struct ring_module module;
    int got = 0;

    while (calls->request->has_stacks && (got = drained_modules_next(log, &module, path)) > 0)
        note_module(calls, process->pid, &module, path);
    return got;
}

static int process_came(void *context, struct drained_process *process, struct gait_error *err)
{
    struct live_calls *calls = context;

    (void)err;
    process->owner = calls;
    thread_numbers_add_process(&calls->numbers, process->pid);
    return 0;
}

static int begin_look(void *context, struct gait_error *err)
{
    struct live_calls *calls = context;

    (void)err;
    calls->looked_time = update_clock(calls);
    return 0;
}

/* What happened before that time is known; what a new process does comes a little later than its first call. */
static uint64_t known_until(const struct live_calls *calls)
{
    uint64_t late = calls->request->wants_beginnings && calls->tick_ns > 0 ? (uint64_t)(LATE_NS / calls->tick_ns) : 0;

    return calls->looked_time > late ? calls->looked_time - late : 0;
}

static int end_look(void *context, struct gait_error *err)
{
    struct live_calls *calls = context;

    if (report_until(calls, known_until(calls)) == 0)
        return 0;
    return error_set(err, ENOMEM, "cannot show system calls: there is no memory");
}

static int explain(const struct drained_process *process, int result, struct gait_error *err)
{
    return error_set(err, result, "cannot show the system calls of process %d: %s", (int)process->pid,
                     strerror(-result));
}

const struct drain_receiver live_calls_receiver = {
    .begin = begin_look,
    .end = end_look,
    .process_came = process_came,
    .modules = take_modules,
    .records = take_records,
    .explain = explain,
};

/* ---- from the beginning to the end ------------------------------------------------------------------------------- */

int live_calls_create(const struct system_call_request *request, struct live_calls **calls_out)
{
    struct live_calls *calls = calloc(1, sizeof(*calls));

    if (calls == NULL)
        return -ENOMEM;
    calls->request = request;
    begin_clock(calls);
    *calls_out = calls;
    return 0;
}

void live_calls_destroy(struct live_calls *calls)
{
    if (calls == NULL)
        return;
    while (calls->count != 0)
        free(calls->waiting[--calls->count].record);
    while (calls->begun_count != 0)
        free(calls->begun[--calls->begun_count].record);
    while (calls->told_count != 0)
        free(calls->told[--calls->told_count].record);
    while (calls->files != NULL) {
        struct mapped_file *next = calls->files->next;

        free(calls->files);
        calls->files = next;
    }
    thread_numbers_deinit(&calls->numbers);
    free(calls->waiting);
    free(calls->begun);
    free(calls->told);
    free(calls);
}

void live_calls_set_first(struct live_calls *calls, pid_t first)
{
    calls->first = first;
}

void live_calls_finish(struct live_calls *calls)
{
    (void)update_clock(calls);
    (void)!report_until(calls, UINT64_MAX);
    for (size_t i = 0; i < calls->begun_count; i++)
        report_begun(calls, &calls->begun[i], calls->begun[i].time);
}

uint64_t live_calls_began_ns(const struct live_calls *calls)
{
    return calls->began_unix_ns;
}

uint64_t live_calls_now_ns(struct live_calls *calls)
{
    return unix_ns(calls, update_clock(calls));
}
