/* SPDX-License-Identifier: MIT */
/*
 * Of each CPU, the first event is one that never happens but brings the news of processes; its ring takes those of all
 * others there. Events of one process are opened for each of its threads, and inherited by what these make. What comes
 * is read by perf_reader.c.
 */
#define _GNU_SOURCE
#include "kernel/perf_session.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "kernel/perf_sample.h"
#include "kernel/stack_unwinder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_BYTES_MIN          (64u << 10)
#define RING_BYTES_UNPRIVILEGED (2u << 20) /* halved until it is allowed */

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
            if (ARRAY_RESERVE_NEXT(session->cpus, session->cpu_count) != 0)
                break;
            session->cpus[session->cpu_count++] = (struct perf_session_cpu){.number = cpu, .fd = -1};
        }
    }
    if (file != NULL)
        fclose(file);
    return session->cpu_count == 0 ? -ENOENT : 0;
}

static int add_tid(struct perf_session *session, pid_t tid)
{
    if (ARRAY_RESERVE_NEXT(session->tids, session->tid_count) != 0)
        return -ENOMEM;
    session->tids[session->tid_count++] = tid;
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
    if (ARRAY_RESERVE(session->events, session->event_capacity, session->event_count + 1) != 0)
        return -ENOMEM;
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
    stack_unwinder_destroy(session->unwinder);
    if (session->cpu_count != 0)
        hash_map_deinit(&session->processes);
    *session = (struct perf_session){.cpu_count = 0};
}

/* Where an event's own fields are registers, there is no room for others. */
static bool can_be_copied(const struct perf_session *session, const struct source_probe *probe)
{
    return session->unwinder != NULL && probe->raw != SOURCE_RAW_REGISTERS;
}

/* A part of a ring, so that many of them fit into it. */
static uint32_t stack_copy_bytes(const struct perf_session *session)
{
    size_t part = session->options.ring_bytes / 16;

    return part < STACK_COPY_BYTES_MAX ? (uint32_t)part & ~7u : STACK_COPY_BYTES_MAX;
}

static void ask_for_stacks(const struct perf_session *session, const struct source_probe *probe,
                           struct perf_event_attr *attr)
{
    attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
    if (!can_be_copied(session, probe))
        return;
    attr->exclude_callchain_user = 1;
    attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr->sample_regs_user = stack_unwinder_mask();
    attr->sample_stack_user = stack_copy_bytes(session);
}

/* Where the memory for it is missing, the kernel follows frame pointers, as it does for CPUs without tables. */
static void begin_copies(struct perf_session *session)
{
    if (!session->options.with_stacks || !session->options.with_copies || stack_unwinder_mask() == 0 ||
        stack_unwinder_create(&session->unwinder) != 0)
        return;
    /* What a stack leads through was mapped before. */
    session->options.is_ordered = true;
}

/* What programs write they have chosen themselves. */
static struct perf_session_event describe(const struct perf_session *session, const struct source_probe *probe,
                                          uint32_t number)
{
    bool is_chosen = session->options.pid != 0 && is_for_all(&probe->attr) && !is_output(&probe->attr);

    return (struct perf_session_event){
        .probe = number,
        .is_chosen = is_chosen,
        .is_copied = (probe->attr.sample_type & PERF_SAMPLE_STACK_USER) != 0,
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
    begin_copies(session);
    session->probes = probes;
    session->probe_count = count;
    for (size_t i = 0; i < count; i++) {
        struct perf_event_attr *attr = &probes[i]->attr;
        int result;

        /* A child's events may not come before the news of it. */
        if (session->options.pid != 0 && is_for_all(attr) && !is_output(attr))
            session->options.is_ordered = true;
        if (session->options.with_stacks)
            ask_for_stacks(session, probes[i], attr);
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
