/* SPDX-License-Identifier: MIT */
/*
 * Of each CPU, the first event is one that never happens but brings the news of processes; its ring takes those of all
 * others there. Events of one process are opened for each of its threads, and inherited by what these make.
 *
 * Rings are each by time, but not together. Where that is asked for, what came within the last moment is left for the
 * next time: by then all that was earlier is there.
 */
#define _GNU_SOURCE
#include "source/perf_session.h"

#include "libgait/error.h"
#include "source/perf_sample.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How long a CPU may take from reading the clock to telling of a record. */
#define SETTLING_NS             200000u

#define RING_BYTES_MIN          (64u << 10)
#define RING_BYTES_UNPRIVILEGED (2u << 20) /* halved until it is allowed */

struct perf_session_cpu {
    uint32_t number;
    int fd; /* of the event that has the ring */
    struct perf_ring ring;
    uint64_t last; /* the counter of the event told last: the next is not before it */
};

struct perf_session_event {
    int fd;
    uint32_t cpu; /* in the list */
    uint32_t probe;
    uint64_t id;
    bool is_news;
    bool is_plain;    /* its samples are a struct plain_sample, and all of them are wanted */
    bool is_chosen;   /* samples of processes that are not watched are left out */
    uint32_t raw_max; /* bytes behind these mean nothing */
};

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

/* ---- what there is ----------------------------------------------------------------------------------------------- */

/* "0-3,5" */
static int read_cpus(struct perf_session *session)
{
    FILE *file = fopen("/sys/devices/system/cpu/online", "re");
    unsigned first, last;
    char mark = ',';

    while (file != NULL && mark == ',' && fscanf(file, "%u", &first) == 1) {
        last = first;
        if (fscanf(file, "%c", &mark) == 1 && mark == '-' && fscanf(file, "%u%c", &last, &mark) < 1)
            last = first;
        for (unsigned cpu = first; cpu <= last && cpu - first < 65536; cpu++) {
            struct perf_session_cpu *grown = realloc(session->cpus, (session->cpu_count + 1) * sizeof(*grown));

            if (grown == NULL)
                break;
            session->cpus = grown;
            grown[session->cpu_count++] = (struct perf_session_cpu){.number = cpu, .fd = -1};
        }
    }
    if (file != NULL)
        fclose(file);
    return session->cpu_count == 0 ? -ENOENT : 0;
}

static int add_tid(struct perf_session *session, pid_t tid)
{
    pid_t *grown = realloc(session->tids, (session->tid_count + 1) * sizeof(*grown));

    if (grown == NULL)
        return -ENOMEM;
    session->tids = grown;
    grown[session->tid_count++] = tid;
    return 0;
}

static int read_threads(struct perf_session *session)
{
    char path[64];
    struct dirent *entry;
    DIR *directory;
    int result = 0;

    if (session->options.pid == 0)
        return add_tid(session, -1);
    snprintf(path, sizeof(path), "/proc/%d/task", (int)session->options.pid);
    directory = opendir(path);
    if (directory == NULL)
        return -ESRCH;
    while (result == 0 && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.')
            result = add_tid(session, (pid_t)strtol(entry->d_name, NULL, 10));
    closedir(directory);
    return result;
}

/* Each CPU, thread and probe takes one. */
static void allow_many_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* What programs in the kernel write to: they run in any process, and choose themselves which count. */
static bool is_output(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT;
}

/*
 * Probes of functions are named by texts in our memory, which the kernel would read again in the process that makes a
 * child, where they are not: that would fail, and so would the making. They are opened for all processes, and what is
 * not of the one that is watched is left out here, unless a program has done so in the kernel.
 */
static bool is_for_all(const struct perf_event_attr *attr)
{
    return is_output(attr) || attr->type >= PERF_TYPE_MAX;
}

static struct perf_event_attr complete(const struct perf_session *session, const struct perf_event_attr *given)
{
    struct perf_event_attr attr = *given;
    size_t ring_bytes = session->options.ring_bytes;

    attr.size = sizeof(attr);
    attr.sample_type |= PERF_SAMPLE_COMMON;
    attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
    attr.disabled = 1;
    attr.enable_on_exec = session->options.starts_on_exec && !is_for_all(given);
    attr.inherit = session->options.pid != 0 && !is_for_all(given);
    attr.sample_id_all = 1;
    attr.watermark = 1;
    attr.wakeup_watermark = (uint32_t)(ring_bytes / 4);
    attr.exclude_kernel |= session->is_user_only;
    attr.exclude_hv = 1;
    perf_clock_choose(&session->clock, &attr);
    return attr;
}

static int add_event(struct perf_session *session, const struct perf_session_event *event)
{
    if (session->event_count == session->event_capacity) {
        size_t capacity = session->event_capacity == 0 ? 64 : 2 * session->event_capacity;
        struct perf_session_event *grown = realloc(session->events, capacity * sizeof(*grown));

        if (grown == NULL)
            return -ENOMEM;
        session->events = grown;
        session->event_capacity = capacity;
    }
    session->events[session->event_count++] = *event;
    return 0;
}

static int open_at(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
    struct perf_event_attr wanted = *attr;
    int fd = (int)syscall(SYS_perf_event_open, &wanted, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

    /* Kernels before 6.0 do not count losses by event. */
    if (fd < 0 && errno == EINVAL && wanted.read_format & PERF_FORMAT_LOST) {
        wanted.read_format &= ~(uint64_t)PERF_FORMAT_LOST;
        fd = (int)syscall(SYS_perf_event_open, &wanted, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    }
    return fd < 0 ? -errno : fd;
}

/* Where nobody said how large, it is as large as this user may have it. */
static int map_ring(struct perf_session *session, struct perf_ring *ring, int fd)
{
    int result = perf_ring_map(ring, fd, session->options.ring_bytes);

    while ((result == -EPERM || result == -ENOMEM) && !session->is_sized &&
           session->options.ring_bytes > RING_BYTES_MIN) {
        session->options.ring_bytes /= 2;
        result = perf_ring_map(ring, fd, session->options.ring_bytes);
    }
    return result;
}

/* One event; the first of a CPU gets the ring. A thread or a CPU that is gone since has none. */
static int open_one(struct perf_session *session, const struct perf_event_attr *attr, size_t cpu, size_t tid,
                    struct perf_session_event event)
{
    struct perf_session_cpu *where = &session->cpus[cpu];
    int result;

    event.fd = open_at(attr, is_for_all(attr) ? -1 : session->tids[tid], (int)where->number);
    if (event.fd < 0)
        return (event.fd == -ESRCH && session->tid_count > 1) || event.fd == -ENXIO ? 0 : event.fd;
    event.cpu = (uint32_t)cpu;
    result = ioctl(event.fd, PERF_EVENT_IOC_ID, &event.id) != 0 ? -errno : 0;
    if (result == 0 && where->fd == -1) {
        result = map_ring(session, &where->ring, event.fd);
        if (result == 0)
            where->fd = event.fd;
    } else if (result == 0 && ioctl(event.fd, PERF_EVENT_IOC_SET_OUTPUT, where->fd) != 0) {
        result = -errno;
    }
    if (result == 0)
        result = add_event(session, &event);
    if (result != 0)
        close(event.fd);
    return result;
}

static int open_everywhere(struct perf_session *session, const struct perf_event_attr *attr,
                           struct perf_session_event event)
{
    int result = 0;

    for (size_t cpu = 0; cpu < session->cpu_count && result == 0; cpu++)
        for (size_t tid = 0; tid < (is_for_all(attr) ? 1 : session->tid_count) && result == 0; tid++)
            result = open_one(session, attr, cpu, tid, event);
    return result;
}

static int open_news(struct perf_session *session)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_period = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .context_switch = session->options.with_switches,
    };

    attr = complete(session, &attr);
    return open_everywhere(session, &attr, (struct perf_session_event){.is_news = true});
}

static int explain_begin(const struct perf_session *session, int code, struct gait_error *err)
{
    char what[64];

    if (code == -ESRCH)
        return error_set(err, code, "cannot watch process %d: there is none", (int)session->options.pid);
    if (code == -EPERM && session->cpu_count != 0 && session->event_count != 0)
        return error_set(err, code,
                         "cannot watch anything: rings of %zu KiB are more than this user may lock "
                         "(perf_event_mlock_kb); try a smaller --buffer",
                         session->options.ring_bytes >> 10);
    if (session->options.pid == 0)
        snprintf(what, sizeof(what), "the whole system");
    else
        snprintf(what, sizeof(what), "process %d", (int)session->options.pid);
    return source_explain(what, code, err);
}

int perf_session_create(const struct perf_session_options *options, struct perf_session *session_out,
                        struct gait_error *err)
{
    struct perf_session session = {.options = *options};
    int result;

    session.is_sized = session.options.ring_bytes != 0;
    if (!session.is_sized)
        session.options.ring_bytes = geteuid() == 0 ? PERF_SESSION_RING_BYTES : RING_BYTES_UNPRIVILEGED;
    allow_many_files();
    perf_clock_init(&session.clock);
    result = hash_map_init(&session.processes, 16);
    if (result != 0)
        return error_set(err, ENOMEM, "cannot watch anything: there is no memory");
    if (options->pid != 0)
        (void)!hash_map_set(&session.processes, (uint64_t)options->pid, 1);
    result = read_cpus(&session);
    if (result == 0)
        result = read_threads(&session);
    if (result == 0)
        result = open_news(&session);
    if (result == -EACCES && session.event_count == 0) {
        session.is_user_only = true;
        result = open_news(&session);
    }
    if (result != 0) {
        (void)explain_begin(&session, result, err);
        perf_session_destroy(&session);
        return result;
    }
    *session_out = session;
    return 0;
}

void perf_session_destroy(struct perf_session *session)
{
    for (size_t i = 0; i < session->cpu_count; i++)
        perf_ring_unmap(&session->cpus[i].ring);
    for (size_t i = 0; i < session->event_count; i++)
        close(session->events[i].fd);
    free(session->events);
    free(session->cpus);
    free(session->tids);
    free(session->lost_by_records);
    if (session->cpu_count != 0)
        hash_map_deinit(&session->processes);
    *session = (struct perf_session){.cpu_count = 0};
}

/* What programs write they have chosen themselves. */
static struct perf_session_event describe(const struct perf_session *session, const struct source_probe *probe,
                                          uint32_t number)
{
    bool is_chosen = session->options.pid != 0 && is_for_all(&probe->attr) && !is_output(&probe->attr);

    return (struct perf_session_event){
        .probe = number,
        .is_chosen = is_chosen,
        /* What programs write, the kernel fills up to whole words, with what happened to be there. */
        .raw_max = is_output(&probe->attr) ? (uint32_t)probe->value_bytes : UINT32_MAX,
        .is_plain = !is_chosen && probe->raw == SOURCE_RAW_BYTES &&
                    probe->attr.sample_type == (PERF_SAMPLE_COMMON | PERF_SAMPLE_RAW),
    };
}

int perf_session_open(struct perf_session *session, struct source_probe *const *probes, size_t count,
                      struct gait_error *err)
{
    session->lost_by_records = calloc(count + 1, sizeof(*session->lost_by_records));
    if (session->lost_by_records == NULL)
        return error_set(err, ENOMEM, "cannot watch anything: there is no memory");
    session->probes = probes;
    session->probe_count = count;
    for (size_t i = 0; i < count; i++) {
        struct perf_event_attr *attr = &probes[i]->attr;
        int result;

        /* A child's events may not come before the news of it. */
        if (session->options.pid != 0 && is_for_all(attr) && !is_output(attr))
            session->options.is_ordered = true;
        if (session->options.with_stacks)
            attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
        *attr = complete(session, attr);
        result = open_everywhere(session, attr, describe(session, probes[i], (uint32_t)i));
        if (result != 0)
            return source_explain(probes[i]->spec, result, err);
    }
    return 0;
}

static int for_events_of(struct perf_session *session, size_t probe, unsigned long request, unsigned long argument)
{
    for (size_t i = 0; i < session->event_count; i++) {
        struct perf_session_event *event = &session->events[i];

        if (!event->is_news && event->probe == probe && ioctl(event->fd, request, argument) != 0)
            return -errno;
    }
    return 0;
}

int perf_session_filter(struct perf_session *session, size_t probe, const char *filter)
{
    return for_events_of(session, probe, PERF_EVENT_IOC_SET_FILTER, (unsigned long)(uintptr_t)filter);
}

/* A program belongs to what is watched, not to a descriptor of it: for some kinds of events one is enough. */
int perf_session_set_program(struct perf_session *session, size_t probe, int program)
{
    int result = for_events_of(session, probe, PERF_EVENT_IOC_SET_BPF, (unsigned long)program);

    return result == -EEXIST ? 0 : result;
}

uint32_t perf_session_cpu(const struct perf_session *session, size_t cpu)
{
    return session->cpus[cpu].number;
}

int perf_session_descriptor(const struct perf_session *session, size_t probe, size_t cpu)
{
    for (size_t i = 0; i < session->event_count; i++)
        if (!session->events[i].is_news && session->events[i].probe == probe && session->events[i].cpu == cpu)
            return session->events[i].fd;
    return -1;
}

static bool starts_now(const struct perf_session *session, const struct perf_session_event *event)
{
    return !session->options.starts_on_exec || (!event->is_news && is_for_all(&session->probes[event->probe]->attr));
}

int perf_session_enable(struct perf_session *session, struct gait_error *err)
{
    for (size_t i = 0; i < session->event_count; i++)
        if (starts_now(session, &session->events[i]) && ioctl(session->events[i].fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
            return source_explain("anything", errno, err);
    return 0;
}

void perf_session_disable(struct perf_session *session)
{
    for (size_t i = 0; i < session->event_count; i++)
        (void)ioctl(session->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Ids are numbers that the kernel gives out one after the other: they rise, and low bits tell most of them apart. */
static const struct perf_session_event *find_event(struct perf_session *session, uint64_t id)
{
    uint32_t *found = &session->found[id % PERF_SESSION_FOUND];
    size_t low = 0, high = session->event_count;

    if (*found < session->event_count && session->events[*found].id == id)
        return &session->events[*found];
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (session->events[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
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
static void pass_name(const struct perf_event_header *header, const struct perf_receiver *receiver, uint64_t counter)
{
    uint32_t ids[2];
    char name[17] = "";
    size_t room = header->size - sizeof(*header);

    if (room < sizeof(ids) + 1 || receiver->named == NULL)
        return;
    memcpy(ids, header + 1, sizeof(ids));
    room -= sizeof(ids);
    memcpy(name, (const uint8_t *)(header + 1) + sizeof(ids), room < 16 ? room : 16);
    receiver->named(receiver->context, ids[0], ids[1], name, counter, (header->misc & PERF_RECORD_MISC_COMM_EXEC) != 0);
}

/* PERF_RECORD_MMAP2: pid, tid, address, size, offset, 24 bytes that say which file, protection, flags, path. */
static void pass_mapping(const struct perf_event_header *header, const struct perf_receiver *receiver, uint64_t counter)
{
    const uint8_t *bytes = (const uint8_t *)(header + 1);
    size_t room = header->size - sizeof(*header);
    struct perf_mapping mapping = {.time = counter};

    if (room < 72 || receiver->mapped == NULL || memchr(bytes + 64, '\0', room - 64) == NULL)
        return;
    memcpy(&mapping.pid, bytes, sizeof(mapping.pid));
    memcpy(&mapping.start, bytes + 8, sizeof(mapping.start));
    memcpy(&mapping.size_bytes, bytes + 16, sizeof(mapping.size_bytes));
    memcpy(&mapping.file_offset, bytes + 24, sizeof(mapping.file_offset));
    mapping.path = (const char *)bytes + 64;
    receiver->mapped(receiver->context, &mapping);
}

/* PERF_RECORD_FORK and _EXIT: pid, the parent's pid, tid, the parent's tid. */
static void pass_task(struct perf_session *session, const struct perf_event_header *header,
                      const struct perf_receiver *receiver, uint64_t counter)
{
    uint32_t ids[4];

    if (header->size < sizeof(*header) + sizeof(ids))
        return;
    memcpy(ids, header + 1, sizeof(ids));
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
        pass_name(header, receiver, counter);
        break;
    case PERF_RECORD_MMAP2:
        pass_mapping(header, receiver, counter);
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

size_t perf_session_drain(struct perf_session *session, const struct perf_receiver *receiver, bool is_last)
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

void perf_session_wait(const struct perf_session *session, int other, int timeout_ms)
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

/* Exactly, by the kernel: of inherited events with the one that they come from. Before 6.0, what the rings say is all.
 */
uint64_t perf_session_lost(const struct perf_session *session, size_t probe)
{
    uint64_t lost = 0;

    for (size_t i = 0; i < session->event_count; i++) {
        const struct perf_session_event *event = &session->events[i];
        struct {
            uint64_t value;
            uint64_t id;
            uint64_t lost;
        } counts = {.lost = 0};

        if (!event->is_news && event->probe == probe &&
            read(event->fd, &counts, sizeof(counts)) == (ssize_t)sizeof(counts))
            lost += counts.lost;
    }
    return lost > session->lost_by_records[probe] ? lost : session->lost_by_records[probe];
}
