/* SPDX-License-Identifier: MIT */
/*
 * Programs at the kernel's raw tracepoints. Which threads are watched is a map, which the programs themselves keep:
 * what a thread makes is added before it runs, and who ends is taken out. All write into one ring, so records come in
 * the order of time.
 */
#define _GNU_SOURCE
#include "syscalls/call_feed.h"

#include "hosted/error_text.h"
#include "syscalls/system_call_plan.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In call_program_object.S. */
extern const uint8_t call_program_object[], call_program_object_end[];

#define LINKS_MAX 8
/* As the programs have it: a thread that is in no call. */
#define THREAD_CALL_BYTES (8 * (1 + CALL_PROGRAM_WORDS) + 8)

struct call_programs {
    struct bpf_object *object;
    struct bpf_link *links[LINKS_MAX];
    size_t link_count;
    struct ring_buffer *ring;
    int threads;
    call_feed_hear hear;
    void *context;
};

/* What libbpf, or the kernel's verifier, says last. */
static char last_words[256];

static int note(enum libbpf_print_level level, const char *format, va_list arguments)
{
    if (level == LIBBPF_WARN)
        vsnprintf(last_words, sizeof(last_words), format, arguments);
    last_words[strcspn(last_words, "\n")] = '\0';
    return 0;
}

static int explain(int code, struct gait_error *err)
{
    if (code == -EPERM || code == -EACCES)
        return error_set(err, code, "the kernel lets this user load no programs into it");
    return error_set(err, code, "the kernel takes no programs: %s%s%s", strerror(-code),
                     last_words[0] == '\0' ? "" : ": ", last_words);
}

static int take(void *context, void *bytes, size_t size_bytes)
{
    const struct call_programs *programs = context;
    const struct call_program_record *record = bytes;

    if (size_bytes >= sizeof(*record) && record->values_bytes <= size_bytes - sizeof(*record))
        programs->hear(programs->context, record);
    return 0;
}

/* ---- which threads ----------------------------------------------------------------------------------------------- */

static bool is_watched(const struct call_programs *programs, uint32_t tid)
{
    uint8_t value[THREAD_CALL_BYTES];

    return bpf_map_lookup_elem(programs->threads, &tid, value) == 0;
}

static int watch_thread(const struct call_programs *programs, uint32_t tid)
{
    const uint8_t nothing[THREAD_CALL_BYTES] = {0};

    return bpf_map_update_elem(programs->threads, &tid, nothing, BPF_NOEXIST) == 0 || errno == EEXIST ? 0 : -errno;
}

/* New threads may come while we look, made by those that are not watched yet: until nothing is new. */
static int watch_process(const struct call_programs *programs, int pid)
{
    char path[64];
    bool found = true;
    int result = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    while (result == 0 && found) {
        DIR *folder = opendir(path);
        const struct dirent *entry;

        found = false;
        while (folder != NULL && result == 0 && (entry = readdir(folder)) != NULL) {
            uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

            if (tid == 0 || is_watched(programs, tid))
                continue;
            found = true;
            result = watch_thread(programs, tid);
        }
        if (folder != NULL)
            closedir(folder);
    }
    return result;
}

static int watch_all(const struct call_programs *programs, const struct call_feed_options *options)
{
    int result = 0;

    for (size_t i = 0; i < options->tid_count && result == 0; i++) {
        result = watch_thread(programs, (uint32_t)options->tids[i]);
        if (result == 0 && options->follows)
            result = watch_process(programs, options->tids[i]);
    }
    return result;
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static int set_follows(const struct call_programs *programs, bool follows)
{
    uint32_t value = follows;
    struct bpf_map *map;

    bpf_object__for_each_map(map, programs->object)
    {
        if (strstr(bpf_map__name(map), ".rodata") != NULL)
            return bpf_map__set_initial_value(map, &value, sizeof(value));
    }
    return -ENOENT;
}

static int set_plans(const struct call_programs *programs, const struct call_feed_options *options)
{
    int map = bpf_object__find_map_fd_by_name(programs->object, "plans");
    uint32_t string_bytes =
        options->string_bytes < CALL_PROGRAM_PIECE_BYTES - 2 ? options->string_bytes : CALL_PROGRAM_PIECE_BYTES - 2;

    for (uint32_t number = 0; number < CALL_PROGRAM_NUMBERS; number++) {
        bool is_last = number == CALL_PROGRAM_NUMBERS - 1;
        struct call_program_plan plan =
            system_call_plan(number, system_call_set_has(options->set, is_last ? UINT64_MAX : number), string_bytes);

        if (!options->has_descriptors)
            plan.descriptors = 0;
        if (bpf_map_update_elem(map, &number, &plan, BPF_ANY) != 0)
            return -errno;
    }
    return 0;
}

static int fasten(struct call_programs *programs)
{
    struct bpf_program *program;

    bpf_object__for_each_program(program, programs->object)
    {
        struct bpf_link *link = bpf_program__attach(program);

        if (link == NULL)
            return -errno;
        programs->links[programs->link_count++] = link;
    }
    return 0;
}

static int load(struct call_programs *programs, const struct call_feed_options *options)
{
    LIBBPF_OPTS(bpf_object_open_opts, open_options, .object_name = "gait");
    int result;

    programs->object = bpf_object__open_mem(call_program_object,
                                            (size_t)(call_program_object_end - call_program_object), &open_options);
    if (programs->object == NULL)
        return -errno;
    result = set_follows(programs, options->follows);
    if (result == 0)
        result = bpf_object__load(programs->object);
    if (result == 0)
        result = set_plans(programs, options);
    if (result != 0)
        return result;
    programs->threads = bpf_object__find_map_fd_by_name(programs->object, "threads");
    programs->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(programs->object, "ring"), take, programs, NULL);
    if (programs->ring == NULL)
        return -errno;
    result = fasten(programs);
    return result == 0 ? watch_all(programs, options) : result;
}

static void end(void *feed)
{
    struct call_programs *programs = feed;

    if (programs == NULL)
        return;
    for (size_t i = 0; i < programs->link_count; i++)
        bpf_link__destroy(programs->links[i]);
    ring_buffer__free(programs->ring);
    bpf_object__close(programs->object);
    free(programs);
}

static int begin(const struct call_feed_options *options, void **feed_out, struct gait_error *err)
{
    struct call_programs *programs = calloc(1, sizeof(*programs));
    int result;

    last_words[0] = '\0';
    libbpf_set_print(note);
    if (programs == NULL)
        return error_set(err, ENOMEM, "there is no memory");
    result = load(programs, options);
    if (result != 0) {
        end(programs);
        return explain(result, err);
    }
    *feed_out = programs;
    return 0;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static size_t drain(void *feed, int timeout_ms, call_feed_hear hear, void *context)
{
    struct call_programs *programs = feed;
    int count;

    programs->hear = hear;
    programs->context = context;
    /* What came without a word is not waited for: the programs call only when there is much. */
    count = ring_buffer__consume(programs->ring);
    if (count == 0 && timeout_ms != 0) {
        (void)ring_buffer__poll(programs->ring, timeout_ms);
        count = ring_buffer__consume(programs->ring);
    }
    return count > 0 ? (size_t)count : 0;
}

/* One that ended before the programs were told of it is taken out here. */
static bool is_over(void *feed)
{
    const struct call_programs *programs = feed;
    char path[64];
    uint32_t tid;

    while (bpf_map_get_next_key(programs->threads, NULL, &tid) == 0) {
        snprintf(path, sizeof(path), "/proc/%u", tid);
        if (access(path, F_OK) == 0)
            return false;
        (void)!bpf_map_delete_elem(programs->threads, &tid);
    }
    return true;
}

/* What the ring had no room for, and what the kernel did not start a program for. */
static uint64_t lost(void *feed)
{
    const struct call_programs *programs = feed;
    int cpus = libbpf_num_possible_cpus(), map = bpf_object__find_map_fd_by_name(programs->object, "lost");
    uint64_t *values = cpus <= 0 ? NULL : calloc((size_t)cpus, sizeof(*values)), total = 0;
    uint32_t zero = 0;
    struct bpf_program *program;

    if (values != NULL && bpf_map_lookup_elem(map, &zero, values) == 0)
        for (int i = 0; i < cpus; i++)
            total += values[i];
    free(values);
    bpf_object__for_each_program(program, programs->object)
    {
        struct bpf_prog_info info = {0};
        uint32_t size = sizeof(info);

        if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0)
            total += info.recursion_misses;
    }
    return total;
}

const struct call_feed call_feed_program = {
    .has_memory = true,
    .begin = begin,
    .end = end,
    .drain = drain,
    .is_over = is_over,
    .lost = lost,
};
