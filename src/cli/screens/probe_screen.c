/* SPDX-License-Identifier: MIT */
/* Everything that comes from the kernel and from files goes through printable(). */
#define _GNU_SOURCE
#include "cli/screens/probe_screen.h"

#include "base/clock_pair.h"
#include "base/time_counter.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/growing_array.h"
#include "kernel/chosen_probes.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/stack_names.h"
#include "trace/kernel_event_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_BYTES 4096
#define NAME_BYTES 17
#define NAMES_MAX  65536
#define BAR_WIDTH  40

/* ---- live -------------------------------------------------------------------------------------------------------- */

/* How long a tick is, well enough for times that are looked at: from a few milliseconds. */
static double measure_tick(void)
{
    struct clock_pair first = clock_pair_read(), last;
    const struct timespec moment = {.tv_nsec = 2000000};

    nanosleep(&moment, NULL);
    last = clock_pair_read();
    return (double)(last.monotonic_ns - first.monotonic_ns) / (double)(last.counter - first.counter);
}

int probe_screen_init(struct probe_screen *shown, struct screen *screen, const struct chosen_probes *list)
{
    int result;

    *shown = (struct probe_screen){.screen = screen, .list = list, .tick_ns = measure_tick()};
    shown->began = time_counter();
    named_code_init(&shown->kernel);
    function_names_init(&shown->functions);
    result = hash_map_init(&shown->names, 256);
    if (result == 0)
        result = mapped_files_init(&shown->files);
    shown->texts = malloc((size_t)NAMES_MAX * NAME_BYTES);
    return result == 0 && shown->texts == NULL ? -ENOMEM : result;
}

void probe_screen_deinit(struct probe_screen *shown)
{
    named_code_deinit(&shown->kernel);
    function_names_deinit(&shown->functions);
    mapped_files_deinit(&shown->files);
    hash_map_deinit(&shown->names);
    free(shown->texts);
}

static void set_name(struct probe_screen *shown, uint32_t tid, const char *name)
{
    uint64_t at;

    if (!hash_map_lookup(&shown->names, tid, &at)) {
        /* When there are too many, old ones are forgotten. */
        at = shown->text_count++ % NAMES_MAX;
        if (hash_map_set(&shown->names, tid, at) != 0)
            return;
    }
    snprintf(shown->texts + at * NAME_BYTES, NAME_BYTES, "%s", name);
}

static const char *name_of(struct probe_screen *shown, uint32_t tid)
{
    char path[64], name[32] = "";
    uint64_t at;
    int fd;

    if (tid == 0)
        return "idle";
    if (!hash_map_lookup(&shown->names, tid, &at)) {
        snprintf(path, sizeof(path), "/proc/%u/comm", tid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && read(fd, name, sizeof(name) - 1) < 0)
            name[0] = '\0';
        if (fd >= 0)
            close(fd);
        name[strcspn(name, "\n")] = '\0';
        set_name(shown, tid, name);
        if (!hash_map_lookup(&shown->names, tid, &at))
            return "";
    }
    return shown->texts + at * NAME_BYTES;
}

static void put_kernel_frame(struct probe_screen *shown, uint64_t address)
{
    const struct named_range *range;
    char clean[TEXT_BYTES];

    if (!shown->has_kernel && kernel_symbols_read(&shown->kernel, NULL) != 0)
        named_code_finish(&shown->kernel);
    shown->has_kernel = true;
    range = named_code_find(&shown->kernel, address, 0);
    if (range == NULL)
        screen_print(shown->screen, "        0x%" PRIx64 "\n", address);
    else
        screen_print(shown->screen, "        %s+0x%" PRIx64 "\n",
                     printable(clean, sizeof(clean), named_code_name(&shown->kernel, range)), address - range->begin);
}

/* All but the innermost are behind a call. */
static void put_user_frame(struct probe_screen *shown, const struct modules *modules, const struct kernel_event *event,
                           size_t which)
{
    uint64_t address = event->user_frames[which];
    const struct recorded_module *module =
        which == 0 ? modules_find(modules, address, UINT64_MAX - 1, UINT64_MAX - 1) : NULL;
    char text[TEXT_BYTES], clean[TEXT_BYTES];

    if (module != NULL)
        (void)function_names_find(&shown->functions, module, address, text, sizeof(text));
    else
        stack_names_find(modules, &shown->functions, UINT64_MAX - 1, address, text, sizeof(text));
    screen_print(shown->screen, "        %s\n", printable(clean, sizeof(clean), text));
}

static void put_stacks(struct probe_screen *shown, const struct kernel_event *event)
{
    static const struct modules none;
    const struct mapped_process *process =
        event->user_frame_count == 0 ? NULL : mapped_files_look(&shown->files, event->pid);

    for (size_t i = 0; i < event->kernel_frame_count; i++)
        put_kernel_frame(shown, event->kernel_frames[i]);
    for (size_t i = 0; i < event->user_frame_count; i++)
        put_user_frame(shown, process == NULL ? &none : &process->modules, event, i);
}

static void put_fields(const struct probe_screen *shown, const struct source_probe *probe,
                       const struct kernel_event *event)
{
    const struct kernel_source source = {
        .raw_base = probe->raw_base,
        .fields = (struct kernel_field *)(uintptr_t)probe->fields,
        .field_count = probe->field_count,
    };
    char text[TEXT_BYTES], clean[TEXT_BYTES];

    (void)kernel_event_fields_write(&source, event, text, sizeof(text));
    screen_put(shown->screen, SCREEN_STRONG, 0, printable(clean, sizeof(clean), probe->name));
    screen_print(shown->screen, " %s\n", printable(clean, sizeof(clean), text));
}

static void put_event(void *context, const struct kernel_event *event)
{
    struct probe_screen *shown = context;
    char name[64];
    double seconds = (double)(int64_t)(event->time - shown->began) * shown->tick_ns / 1e9;

    if (probe_screen_is_full(shown))
        return;
    shown->shown++;
    screen_print(shown->screen, "%12.6f [%03u] %7u %-15s ", seconds, event->cpu, event->tid,
                 printable(name, sizeof(name), name_of(shown, event->tid)));
    put_fields(shown, shown->list->probes[event->source - 1], event);
    put_stacks(shown, event);
}

static void take_name(void *context, uint32_t pid, uint32_t tid, const char *name, uint64_t time, bool by_exec)
{
    struct probe_screen *shown = context;

    (void)time;
    set_name(shown, tid, name);
    if (by_exec)
        mapped_files_execute(&shown->files, pid);
}

static void take_mapping(void *context, const struct perf_mapping *mapping)
{
    struct probe_screen *shown = context;

    mapped_files_map(&shown->files, mapping);
}

/* A thread that is made has the name of its maker, until it gets another. */
static void take_fork(void *context, uint32_t pid, uint32_t parent_pid, uint32_t tid, uint64_t time)
{
    struct probe_screen *shown = context;
    char name[NAME_BYTES];

    snprintf(name, sizeof(name), "%s", name_of(shown, parent_pid));
    set_name(shown, tid, name);
    mapped_files_fork(&shown->files, pid, parent_pid, time);
}

static void take_exit(void *context, uint32_t pid, uint32_t tid, uint64_t time)
{
    struct probe_screen *shown = context;

    (void)time;
    (void)hash_map_remove(&shown->names, tid);
    if (pid == tid)
        mapped_files_exit(&shown->files, pid);
}

static void take_lost(void *context, uint32_t cpu, uint64_t count, uint64_t time)
{
    struct probe_screen *shown = context;

    (void)time;
    shown->lost += count;
    screen_print(shown->screen, "%" PRIu64 " events of CPU %u were lost here\n", count, cpu);
}

struct perf_receiver probe_screen_receiver(struct probe_screen *shown)
{
    return (struct perf_receiver){.event = put_event,
                                  .named = take_name,
                                  .forked = take_fork,
                                  .mapped = take_mapping,
                                  .exited = take_exit,
                                  .lost = take_lost,
                                  .context = shown};
}

bool probe_screen_is_full(const struct probe_screen *shown)
{
    return shown->limit != 0 && shown->shown >= shown->limit;
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

struct program_count {
    struct program_key key;
    uint64_t count;
};

struct counts {
    struct program_count *list;
    size_t count;
    size_t capacity;
};

static void take_count(void *context, const struct program_key *key, uint64_t count)
{
    struct counts *counts = context;

    if (ARRAY_RESERVE(counts->list, counts->capacity, counts->count + 1) != 0)
        return;
    counts->list[counts->count++] = (struct program_count){*key, count};
}

static int compare_keys(const struct program_key *left, const struct program_key *right)
{
    if (left->source != right->source)
        return left->source < right->source ? -1 : 1;
    return memcmp(left->key, right->key, sizeof(left->key));
}

/* Of each source the most frequent first. */
static int compare_counts(const void *left_count, const void *right_count)
{
    const struct program_count *left = left_count, *right = right_count;

    if (left->key.source != right->key.source)
        return left->key.source < right->key.source ? -1 : 1;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return compare_keys(&left->key, &right->key);
}

static int compare_buckets(const void *left_count, const void *right_count)
{
    const struct program_count *left = left_count, *right = right_count;
    int order = compare_keys(&left->key, &right->key);

    return order != 0 ? order : left->key.bucket < right->key.bucket ? -1 : left->key.bucket > right->key.bucket;
}

static void write_key(const struct source_probe *probe, const struct program_key *key, const char *by, char *text,
                      size_t text_bytes)
{
    struct program_value value;
    int64_t number;

    text[0] = '\0';
    if (by == NULL || probe_value_find(probe, by, &value) != 0)
        return;
    memcpy(&number, key->key, sizeof(number));
    if (value.type == PROGRAM_CHARACTERS)
        snprintf(text, text_bytes, "%.*s", PROGRAM_KEY_BYTES, (const char *)key->key);
    else if (value.type == PROGRAM_SIGNED)
        snprintf(text, text_bytes, "%" PRId64, number);
    else
        snprintf(text, text_bytes, "%" PRIu64, (uint64_t)number);
}

static void write_bound(uint64_t number, char *text, size_t text_bytes)
{
    static const char *const units[] = {"", "K", "M", "G", "T", "P", "E"};
    unsigned unit = 0;

    while (number >= 1024 && number % 1024 == 0 && unit < 6) {
        number /= 1024;
        unit++;
    }
    snprintf(text, text_bytes, "%" PRIu64 "%s", number, units[unit]);
}

static void put_bucket(struct screen *screen, unsigned bucket, uint64_t count, uint64_t most)
{
    static const char bar[] = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";
    char from[32], to[32], range[72];
    int width = most == 0 ? 0 : (int)(count * BAR_WIDTH / most);

    if (bucket == 0)
        snprintf(range, sizeof(range), "(..., 0)");
    else if (bucket == 1)
        snprintf(range, sizeof(range), "[0]");
    else {
        write_bound(1ull << (bucket - 2), from, sizeof(from));
        if (bucket == 65)
            snprintf(to, sizeof(to), "...");
        else
            write_bound(1ull << (bucket - 1), to, sizeof(to));
        snprintf(range, sizeof(range), "[%s, %s)", from, to);
    }
    screen_print(screen, "  %-16s %10" PRIu64 " |%-*.*s|\n", range, count, BAR_WIDTH, width, bar);
}

static void put_heading(struct screen *screen, const struct source_probe *probe, const char *by, const char *key)
{
    char clean[TEXT_BYTES];

    screen_put(screen, SCREEN_STRONG, 0, printable(clean, sizeof(clean), probe->spec));
    if (by != NULL)
        screen_print(screen, "  %s=%s", by, printable(clean, sizeof(clean), key));
    screen_print(screen, "\n");
}

static void put_histograms(struct screen *screen, const struct chosen_probes *list, struct counts *counts,
                           const char *by)
{
    qsort(counts->list, counts->count, sizeof(counts->list[0]), compare_buckets);
    for (size_t i = 0; i < counts->count;) {
        const struct source_probe *probe = list->probes[counts->list[i].key.source - 1];
        uint64_t most = 0;
        size_t end = i;
        char key[64];

        for (; end < counts->count && compare_keys(&counts->list[end].key, &counts->list[i].key) == 0; end++)
            most = counts->list[end].count > most ? counts->list[end].count : most;
        write_key(probe, &counts->list[i].key, by, key, sizeof(key));
        put_heading(screen, probe, by, key);
        for (unsigned bucket = counts->list[i].key.bucket; bucket <= counts->list[end - 1].key.bucket; bucket++) {
            bool is_there = i < end && counts->list[i].key.bucket == bucket;

            put_bucket(screen, bucket, is_there ? counts->list[i].count : 0, most);
            i += is_there;
        }
    }
}

static void put_table(struct screen *screen, const struct chosen_probes *list, struct counts *counts, const char *by)
{
    unsigned source = 0;
    char key[64], clean[128];

    qsort(counts->list, counts->count, sizeof(counts->list[0]), compare_counts);
    for (size_t i = 0; i < counts->count; i++) {
        const struct program_count *counted = &counts->list[i];
        const struct source_probe *probe = list->probes[counted->key.source - 1];

        if (by == NULL) {
            screen_print(screen, "%12" PRIu64 "  ", counted->count);
            put_heading(screen, probe, NULL, NULL);
            continue;
        }
        if (counted->key.source != source)
            put_heading(screen, probe, NULL, NULL);
        source = counted->key.source;
        write_key(probe, &counted->key, by, key, sizeof(key));
        screen_print(screen, "%12" PRIu64 "  %s=%s\n", counted->count, by, printable(clean, sizeof(clean), key));
    }
}

void probe_screen_put_counts(struct screen *screen, const struct chosen_probes *list,
                             const struct kernel_programs *programs, const char *by, const char *measure)
{
    struct counts counts = {.count = 0};
    uint64_t left_out = kernel_programs_left_out(programs);

    if (kernel_programs_counts(programs, take_count, &counts) != 0 || counts.count == 0)
        screen_print(screen, "nothing was counted\n");
    else if (measure != NULL)
        put_histograms(screen, list, &counts, by);
    else
        put_table(screen, list, &counts, by);
    if (left_out != 0)
        screen_print(screen, "%" PRIu64 " events were not counted, for there are more than %d keys\n", left_out,
                     PROGRAM_COUNTS_MAX);
    free(counts.list);
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

void probe_screen_put_probe(struct screen *screen, const struct source_probe *probe)
{
    char text[256], clean[TEXT_BYTES];

    screen_put(screen, SCREEN_PLAIN, 0, printable(clean, sizeof(clean), probe->spec));
    if (probe->field_count != 0)
        screen_print(screen, "(");
    for (size_t i = 0; i < probe->field_count; i++) {
        (void)kernel_field_declare(&probe->fields[i], text, sizeof(text));
        screen_print(screen, "%s%s", i == 0 ? "" : ", ", printable(clean, sizeof(clean), text));
    }
    screen_print(screen, probe->field_count == 0 ? "\n" : ")\n");
}
