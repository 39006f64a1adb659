/* SPDX-License-Identifier: MIT */
/*
 * Records are handed over as they lie in the rings, by the event that each says it is of. Rings are each by time, but
 * not together. Where that is asked for, what came within the last moment is left for the next time: by then all that
 * was earlier is there. What is read was opened by perf_session.c.
 */
#include "kernel/perf_reader.h"

#include "base/partition_point.h"
#include "kernel/perf_sample.h"
#include "kernel/stack_unwinder.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* How long a CPU may take from reading the clock to telling of a record. */
#define SETTLING_NS 200000u

/* What comes most: an event that was asked for nothing but the bytes that it has. */
struct plain_sample {
    struct perf_event_header header;
    uint64_t id;
    uint32_t pid;
    uint32_t tid;
    uint64_t time;
    uint32_t raw_bytes; /* these follow */
};

#define PLAIN_SAMPLE_BYTES (offsetof(struct plain_sample, raw_bytes) + sizeof(uint32_t))

/* Ids are numbers that the kernel gives out one after the other: they rise, and low bits tell most of them apart. */
static const struct perf_session_event *find_event(struct perf_session *session, uint64_t id)
{
    uint32_t *found = &session->found[id % PERF_SESSION_FOUND];
    size_t low;

    if (*found < session->event_count && session->events[*found].id == id)
        return &session->events[*found];
    low = PARTITION_POINT(session->event_count, i, session->events[i].id < id);
    if (low == session->event_count || session->events[low].id != id)
        return NULL;
    *found = (uint32_t)low;
    return &session->events[low];
}

/* When a record was written, as the kernel has it; 0: it does not say. */
static uint64_t time_of(struct perf_session *session, const struct perf_event_header *header)
{
    const struct perf_session_event *event;
    uint64_t id, time = 0;

    if (header->type != PERF_RECORD_SAMPLE)
        return perf_record_time(header, &time) ? time : 0;
    if (!perf_sample_id(header, &id) || (event = find_event(session, id)) == NULL)
        return 0;
    /* Behind the header: the id, perhaps the ip, the thread. */
    size_t at = sizeof(*header) + 16 + (session->probes[event->probe]->attr.sample_type & PERF_SAMPLE_IP ? 8 : 0);

    if (header->size >= at + sizeof(time))
        memcpy(&time, (const uint8_t *)header + at, sizeof(time));
    return time;
}

/* Later than what came before it from there: clocks are converted by lines that change a little. */
static uint64_t counter_of(const struct perf_session *session, struct perf_session_cpu *cpu, uint64_t time)
{
    uint64_t counter = perf_clock_counter(&session->clock, time);

    if (counter < cpu->last)
        counter = cpu->last;
    cpu->last = counter;
    return counter;
}

/* Those bytes of a sample that are recorded. */
static inline void set_bytes(const struct perf_session_event *from, uint32_t base, const uint8_t *raw, size_t raw_bytes,
                             struct kernel_event *event)
{
    if (raw_bytes > from->raw_max)
        raw_bytes = from->raw_max;
    if (raw_bytes <= base)
        return;
    event->raw = raw + base;
    event->raw_bytes = raw_bytes - base;
}

static void set_raw(const struct perf_session_event *from, const struct source_probe *probe,
                    const struct perf_sample *sample, uint64_t place[2], struct kernel_event *event)
{
    switch (probe->raw) {
    case SOURCE_RAW_BYTES:
        set_bytes(from, probe->raw_base, sample->raw, sample->raw_bytes, event);
        break;
    case SOURCE_RAW_REGISTERS:
        event->raw = (const uint8_t *)sample->registers;
        event->raw_bytes = sample->register_count * sizeof(uint64_t);
        break;
    case SOURCE_RAW_PLACE:
        place[0] = sample->ip;
        place[1] = sample->address;
        event->raw = (const uint8_t *)place;
        event->raw_bytes = probe->field_count * sizeof(uint64_t);
        break;
    }
}

static void pass_plain(struct perf_session *session, struct perf_session_cpu *cpu,
                       const struct perf_session_event *from, const struct perf_event_header *header,
                       const struct perf_receiver *receiver)
{
    const struct plain_sample *sample = (const void *)header;
    struct kernel_event event;

    if (header->size < PLAIN_SAMPLE_BYTES || sample->raw_bytes > header->size - PLAIN_SAMPLE_BYTES)
        return;
    event = (struct kernel_event){
        .time = counter_of(session, cpu, sample->time),
        .cpu = cpu->number,
        .source = from->probe + 1,
        .pid = sample->pid,
        .tid = sample->tid,
    };
    set_bytes(from, session->probes[from->probe]->raw_base, (const uint8_t *)header + PLAIN_SAMPLE_BYTES,
              sample->raw_bytes, &event);
    receiver->event(receiver->context, &event);
}

/* The stack of the program, which the kernel has copied. */
static void undo_stack(struct perf_session *session, const struct perf_sample *sample, struct kernel_event *event)
{
    const struct copied_stack stack = {sample->registers, sample->register_count, sample->stack, sample->stack_bytes};

    event->user_frame_count = stack_unwinder_walk(session->unwinder, sample->pid, &stack);
    event->user_frames = session->unwinder->pcs;
}

static void pass_sample(struct perf_session *session, struct perf_session_cpu *cpu,
                        const struct perf_event_header *header, const struct perf_receiver *receiver)
{
    const struct perf_session_event *from;
    struct perf_sample sample;
    struct kernel_event event;
    uint64_t id, place[2];

    if (receiver->event == NULL || !perf_sample_id(header, &id) || (from = find_event(session, id)) == NULL ||
        from->is_news)
        return;
    if (from->is_plain) {
        pass_plain(session, cpu, from, header, receiver);
        return;
    }
    if (!perf_sample_read(header, &session->probes[from->probe]->attr, &sample) ||
        (from->is_chosen && !hash_map_lookup(&session->processes, sample.pid, &id)))
        return;
    event = (struct kernel_event){
        .time = counter_of(session, cpu, sample.time),
        .cpu = cpu->number,
        .source = from->probe + 1,
        .pid = sample.pid,
        .tid = sample.tid,
        .kernel_frames = sample.kernel_frames,
        .kernel_frame_count = sample.kernel_frame_count,
        .user_frames = sample.user_frames,
        .user_frame_count = sample.user_frame_count,
    };
    if (from->is_copied)
        undo_stack(session, &sample, &event);
    set_raw(from, session->probes[from->probe], &sample, place, &event);
    receiver->event(receiver->context, &event);
}

static void pass_lost(struct perf_session *session, const struct perf_session_cpu *cpu,
                      const struct perf_event_header *header, const struct perf_receiver *receiver, uint64_t counter)
{
    const struct perf_session_event *event;
    uint64_t words[2];

    if (header->size < sizeof(*header) + sizeof(words))
        return;
    memcpy(words, header + 1, sizeof(words));
    event = find_event(session, words[0]);
    if (event != NULL && !event->is_news)
        session->lost_by_records[event->probe] += words[1];
    if (receiver->lost != NULL)
        receiver->lost(receiver->context, cpu->number, words[1], counter);
}

/* PERF_RECORD_COMM: pid, tid, name. */
static void pass_name(struct perf_session *session, const struct perf_event_header *header,
                      const struct perf_receiver *receiver, uint64_t counter)
{
    uint32_t ids[2];
    char name[17] = "";
    size_t room = header->size - sizeof(*header);
    bool by_exec = (header->misc & PERF_RECORD_MISC_COMM_EXEC) != 0;

    if (room < sizeof(ids) + 1)
        return;
    memcpy(ids, header + 1, sizeof(ids));
    room -= sizeof(ids);
    memcpy(name, (const uint8_t *)(header + 1) + sizeof(ids), room < 16 ? room : 16);
    if (by_exec && session->unwinder != NULL)
        mapped_files_execute(&session->unwinder->files, ids[0]);
    if (receiver->named != NULL)
        receiver->named(receiver->context, ids[0], ids[1], name, counter, by_exec);
}

/* PERF_RECORD_MMAP2: pid, tid, address, size, offset, 24 bytes that say which file, protection, flags, path. */
static void pass_mapping(struct perf_session *session, const struct perf_event_header *header,
                         const struct perf_receiver *receiver, uint64_t counter)
{
    const uint8_t *bytes = (const uint8_t *)(header + 1);
    size_t room = header->size - sizeof(*header);
    struct perf_mapping mapping = {.time = counter};

    if (room < 72 || memchr(bytes + 64, '\0', room - 64) == NULL)
        return;
    memcpy(&mapping.pid, bytes, sizeof(mapping.pid));
    memcpy(&mapping.start, bytes + 8, sizeof(mapping.start));
    memcpy(&mapping.size_bytes, bytes + 16, sizeof(mapping.size_bytes));
    memcpy(&mapping.file_offset, bytes + 24, sizeof(mapping.file_offset));
    mapping.path = (const char *)bytes + 64;
    if (session->unwinder != NULL)
        mapped_files_map(&session->unwinder->files, &mapping);
    if (receiver->mapped != NULL)
        receiver->mapped(receiver->context, &mapping);
}

/* What a process has mapped follows from these, for who undoes its stacks. */
static void note_task(struct mapped_files *files, uint32_t type, const uint32_t ids[4], uint64_t counter)
{
    if (type == PERF_RECORD_FORK)
        mapped_files_fork(files, ids[0], ids[1], counter);
    else if (ids[0] == ids[2])
        mapped_files_exit(files, ids[0]);
}

/* PERF_RECORD_FORK and _EXIT: pid, the parent's pid, tid, the parent's tid. */
static void pass_task(struct perf_session *session, const struct perf_event_header *header,
                      const struct perf_receiver *receiver, uint64_t counter)
{
    uint32_t ids[4];

    if (header->size < sizeof(*header) + sizeof(ids))
        return;
    memcpy(ids, header + 1, sizeof(ids));
    if (session->unwinder != NULL)
        note_task(&session->unwinder->files, header->type, ids, counter);
    /* News come only of the process and of what it makes. */
    if (header->type == PERF_RECORD_FORK && session->options.pid != 0)
        (void)!hash_map_set(&session->processes, ids[0], 1);
    if (header->type == PERF_RECORD_FORK && receiver->forked != NULL)
        receiver->forked(receiver->context, ids[0], ids[1], ids[2], counter);
    if (header->type == PERF_RECORD_EXIT && receiver->exited != NULL)
        receiver->exited(receiver->context, ids[0], ids[2], counter);
}

/* Whose it is stands where all records have it: three words before the end. */
static void pass_switch(const struct perf_session_cpu *cpu, const struct perf_event_header *header,
                        const struct perf_receiver *receiver, uint64_t counter)
{
    uint32_t ids[2];

    if (receiver->switched == NULL || header->size < sizeof(*header) + 3 * sizeof(uint64_t))
        return;
    memcpy(ids, (const uint8_t *)header + header->size - 3 * sizeof(uint64_t), sizeof(ids));
    receiver->switched(receiver->context, &(struct perf_switch){
                                              .time = counter,
                                              .cpu = cpu->number,
                                              .pid = ids[0],
                                              .tid = ids[1],
                                              .is_out = (header->misc & PERF_RECORD_MISC_SWITCH_OUT) != 0,
                                              .is_preempted = (header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0,
                                          });
}

static void pass_record(struct perf_session *session, struct perf_session_cpu *cpu,
                        const struct perf_event_header *header, const struct perf_receiver *receiver)
{
    uint64_t time = 0, counter = cpu->last;

    if (header->type == PERF_RECORD_SAMPLE) {
        pass_sample(session, cpu, header, receiver);
        return;
    }
    if (perf_record_time(header, &time))
        counter = counter_of(session, cpu, time);
    switch (header->type) {
    case PERF_RECORD_LOST:
        pass_lost(session, cpu, header, receiver, counter);
        break;
    case PERF_RECORD_COMM:
        pass_name(session, header, receiver, counter);
        break;
    case PERF_RECORD_MMAP2:
        pass_mapping(session, header, receiver, counter);
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        pass_task(session, header, receiver, counter);
        break;
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        pass_switch(cpu, header, receiver, counter);
        break;
    default:
        break;
    }
}

static size_t drain_cpu(struct perf_session *session, struct perf_session_cpu *cpu,
                        const struct perf_receiver *receiver)
{
    const struct perf_event_header *header;
    size_t count = 0;

    while ((header = perf_ring_peek(&cpu->ring)) != NULL) {
        pass_record(session, cpu, header, receiver);
        perf_ring_pass(&cpu->ring, header);
        /* The kernel waits for room: it gets some while there is more to read. */
        if ((++count & 1023) == 0)
            perf_ring_release(&cpu->ring);
    }
    perf_ring_release(&cpu->ring);
    return count;
}

/* The CPU whose next record is the earliest, and not later than that. NULL: there is none. */
static struct perf_session_cpu *find_first(struct perf_session *session, uint64_t limit,
                                           const struct perf_event_header **header_out)
{
    struct perf_session_cpu *first = NULL;
    uint64_t first_time = limit;

    for (size_t i = 0; i < session->cpu_count; i++) {
        const struct perf_event_header *header = perf_ring_peek(&session->cpus[i].ring);
        uint64_t time = header == NULL ? UINT64_MAX : time_of(session, header);

        if (header != NULL && (time < first_time || (first == NULL && time <= limit))) {
            first = &session->cpus[i];
            first_time = time;
            *header_out = header;
        }
    }
    return first;
}

static size_t drain_ordered(struct perf_session *session, const struct perf_receiver *receiver, uint64_t limit)
{
    const struct perf_event_header *header = NULL;
    struct perf_session_cpu *cpu;
    size_t count = 0;

    while ((cpu = find_first(session, limit, &header)) != NULL) {
        pass_record(session, cpu, header, receiver);
        perf_ring_pass(&cpu->ring, header);
        if ((++count & 255) == 0)
            perf_ring_release(&cpu->ring);
    }
    for (size_t i = 0; i < session->cpu_count; i++)
        if (session->cpus[i].fd != -1)
            perf_ring_release(&session->cpus[i].ring);
    return count;
}

size_t perf_reader_drain(struct perf_session *session, const struct perf_receiver *receiver, bool is_last)
{
    uint64_t limit = is_last ? UINT64_MAX : perf_clock_now(&session->clock) - SETTLING_NS;
    size_t count = 0;

    for (size_t i = 0; i < session->cpu_count; i++)
        if (session->cpus[i].fd != -1)
            perf_ring_look(&session->cpus[i].ring);
    perf_clock_update(&session->clock);
    if (session->options.is_ordered)
        return drain_ordered(session, receiver, limit);
    for (size_t i = 0; i < session->cpu_count; i++)
        if (session->cpus[i].fd != -1)
            count += drain_cpu(session, &session->cpus[i], receiver);
    return count;
}

void perf_reader_wait(const struct perf_session *session, int other, int timeout_ms)
{
    struct pollfd *waits = calloc(session->cpu_count + 1, sizeof(*waits));
    size_t count = 0;

    if (waits == NULL) {
        (void)poll(NULL, 0, timeout_ms);
        return;
    }
    for (size_t i = 0; i < session->cpu_count; i++)
        if (session->cpus[i].fd != -1)
            waits[count++] = (struct pollfd){.fd = session->cpus[i].fd, .events = POLLIN};
    if (other != -1)
        waits[count++] = (struct pollfd){.fd = other, .events = POLLIN};
    (void)poll(waits, count, timeout_ms);
    /* Rings of a process that is gone are always ready: there is no hurry then. */
    for (size_t i = 0; i < count; i++)
        if (waits[i].revents & POLLHUP) {
            (void)poll(NULL, 0, timeout_ms < 10 ? timeout_ms : 10);
            break;
        }
    free(waits);
}
