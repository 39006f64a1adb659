/* SPDX-License-Identifier: MIT */
/* On the kernel that runs here: what is counted in it is what the process did. */
#define _GNU_SOURCE
#include "kernel/watch.h"

#include "kernel/perf_reader.h"
#include "support/check.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gait_error err;
static uint64_t total, wanted_key, wanted_total;
static uint32_t wanted_bucket;

static void add(void *context, const struct program_key *key, uint64_t count)
{
    uint64_t number;

    (void)context;
    memcpy(&number, key->key, sizeof(number));
    total += count;
    wanted_total += number == wanted_key && key->bucket == wanted_bucket ? count : 0;
}

static void call(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        syscall(SYS_getppid);
}

/* One that was there before anybody watched: what it does is not counted. It begins when the descriptor is closed. */
static pid_t begin_bystander(int *go_out)
{
    int go[2];
    char byte;
    pid_t pid;

    CHECK_EQUAL(pipe(go), 0);
    pid = fork();
    if (pid == 0) {
        close(go[1]);
        (void)!read(go[0], &byte, 1);
        call(400);
        _exit(0);
    }
    close(go[0]);
    *go_out = go[1];
    return pid;
}

/* How many of these the kernel counted while the process and a child made 300 and 200. */
static uint64_t count_calls(const char *spec, const struct watch_options *options)
{
    struct chosen_probes list = {.count = 0};
    struct watch watch;
    int go;
    pid_t bystander = begin_bystander(&go);

    total = wanted_total = 0;
    if (chosen_probes_add(&list, spec, &err) != 0 || watch_open(&watch, &list, options, &err) != 0)
        check_skip(err.text);
    CHECK_EQUAL(watch_start(&watch, &err), 0);
    close(go);
    CHECK_EQUAL(waitpid(bystander, NULL, 0), bystander);
    call(300);
    if (fork() == 0) {
        call(200);
        _exit(0);
    }
    wait(NULL);
    CHECK_EQUAL(kernel_programs_counts(&watch.programs, add, NULL), 0);
    CHECK_EQUAL(kernel_programs_left_out(&watch.programs), 0);
    watch_close(&watch);
    chosen_probes_deinit(&list);
    return total;
}

static void what_happens_is_counted_of_the_process_and_its_children(void)
{
    const struct watch_options options = {.session = {.pid = getpid()}, .is_counting = true};

    CHECK_EQUAL(count_calls("tracepoint:syscalls:sys_enter_getppid", &options), 500);
}

/* These are called for all processes, and it is the program in the kernel that chooses. */
static void raw_tracepoints_are_counted_of_the_same(void)
{
    const struct watch_options options = {
        .session = {.pid = getpid()}, .is_counting = true, .condition = "arg1 == 110"};

    CHECK_EQUAL(count_calls("rawtracepoint:sys_enter", &options), 500);
}

static void conditions_choose(void)
{
    struct watch_options options = {.session = {.pid = getpid()}, .is_counting = true, .condition = "id == 110"};
    char own[64];

    CHECK_EQUAL(SYS_getppid, 110);
    CHECK_EQUAL(count_calls("tracepoint:raw_syscalls:sys_enter", &options), 500);
    snprintf(own, sizeof(own), "id == 110 && pid == %d", (int)getpid());
    options.condition = own;
    CHECK_EQUAL(count_calls("tracepoint:raw_syscalls:sys_enter", &options), 300);
}

/* By small numbers, in an array, and by large ones, in a table; by what the record says, and without one. */
static void counts_are_by_what_was_asked_for(void)
{
    struct watch_options options = {.session = {.pid = getpid()}, .is_counting = true, .by = "id"};

    wanted_bucket = 0;
    wanted_key = SYS_getppid;
    CHECK(count_calls("tracepoint:raw_syscalls:sys_enter", &options) > 500);
    CHECK_EQUAL(wanted_total, 500);
    CHECK(count_calls("tracepoint:raw_syscalls:sys_exit", &options) > 500);
    CHECK_EQUAL(wanted_total, 500);
    options.by = "__syscall_nr";
    CHECK_EQUAL(count_calls("tracepoint:syscalls:sys_enter_getppid", &options), 500);
    CHECK_EQUAL(wanted_total, 500);
    options.by = "pid";
    options.condition = "id == 110";
    wanted_key = (uint64_t)getpid();
    CHECK_EQUAL(count_calls("tracepoint:raw_syscalls:sys_enter", &options), 500);
    CHECK_EQUAL(wanted_total, 300);
    CHECK_EQUAL(count_calls("tracepoint:raw_syscalls:sys_exit", &options), 500);
    CHECK_EQUAL(wanted_total, 300);
}

static void histograms_are_by_size(void)
{
    struct watch_options options = {
        .session = {.pid = getpid()}, .is_counting = true, .measure = "id", .condition = "id == 110"};

    /* From 64 on. */
    wanted_bucket = 6 + 2;
    wanted_key = 0;
    CHECK_EQUAL(count_calls("tracepoint:raw_syscalls:sys_enter", &options), 500);
    CHECK_EQUAL(wanted_total, 500);
    options.by = "id";
    wanted_key = SYS_getppid;
    CHECK_EQUAL(count_calls("tracepoint:raw_syscalls:sys_enter", &options), 500);
    CHECK_EQUAL(wanted_total, 500);
    /* The process asks for its parent, the child for the process. */
    options.by = NULL;
    options.measure = "ret";
    wanted_key = 0;
    wanted_bucket = 63 - (uint32_t)__builtin_clzll((unsigned long long)getpid()) + 2;
    CHECK_EQUAL(count_calls("tracepoint:raw_syscalls:sys_exit", &options), 500);
    CHECK(wanted_total >= 200);
}

static void check_size(void *context, const struct kernel_event *event)
{
    size_t *counts = context;

    counts[event->raw_bytes == 2 * sizeof(uint64_t)]++;
}

/* The kernel puts something behind what programs write; that is not handed on. */
static void events_have_what_programs_wrote(void)
{
    const struct watch_options options = {.session = {.pid = getpid(), .ring_bytes = 1u << 20},
                                          .condition = "arg1 == 110"};
    struct chosen_probes list = {.count = 0};
    size_t counts[2] = {0, 0};
    const struct perf_receiver receiver = {.event = check_size, .context = counts};
    struct watch watch;

    if (chosen_probes_add(&list, "rawtracepoint:sys_enter", &err) != 0 ||
        watch_open(&watch, &list, &options, &err) != 0)
        check_skip(err.text);
    CHECK_EQUAL(watch_start(&watch, &err), 0);
    call(300);
    (void)perf_reader_drain(&watch.session, &receiver, true);
    CHECK_EQUAL(counts[true], 300);
    CHECK_EQUAL(counts[false], 0);
    watch_close(&watch);
    chosen_probes_deinit(&list);
}

static void what_cannot_be_counted_by_is_told(void)
{
    const struct watch_options options = {.is_counting = true, .by = "nonsense"};
    struct chosen_probes list = {.count = 0};
    struct watch watch;

    CHECK_EQUAL(chosen_probes_add(&list, "tracepoint:raw_syscalls:sys_enter", &err), 0);
    CHECK_EQUAL(watch_open(&watch, &list, &options, &err), -ENOENT);
    CHECK(strstr(err.text, "cannot count by 'nonsense'") != NULL);
    chosen_probes_deinit(&list);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(what_happens_is_counted_of_the_process_and_its_children),
        CHECK_CASE(raw_tracepoints_are_counted_of_the_same),
        CHECK_CASE(conditions_choose),
        CHECK_CASE(counts_are_by_what_was_asked_for),
        CHECK_CASE(histograms_are_by_size),
        CHECK_CASE(events_have_what_programs_wrote),
        CHECK_CASE(what_cannot_be_counted_by_is_told),
    };

    if (kernel_program_check(&err) != 0 || source_of(PROBE_TRACEPOINT)->check(&err) != 0)
        check_skip(err.text);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
