/* SPDX-License-Identifier: MIT */
/* On the kernel that runs here: what is counted in it is what the process did. */
#define _GNU_SOURCE
#include "source/watch.h"

#include "support/check.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gait_error err;
static uint64_t total;

static void add(void *context, const struct program_key *key, uint64_t count)
{
    (void)context;
    (void)key;
    total += count;
}

static void call(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        syscall(SYS_getppid);
}

/* How many of these the kernel counted while the process and a child made 300 and 200. */
static uint64_t count_calls(const char *spec, const struct watch_options *options)
{
    struct probe_list list = {.count = 0};
    struct watch watch;

    total = 0;
    if (probe_list_add(&list, spec, &err) != 0 || watch_open(&watch, &list, options, &err) != 0)
        check_skip(err.text);
    CHECK_EQUAL(watch_start(&watch, &err), 0);
    call(300);
    if (fork() == 0) {
        call(200);
        _exit(0);
    }
    wait(NULL);
    CHECK_EQUAL(kernel_programs_counts(&watch.programs, add, NULL), 0);
    CHECK_EQUAL(kernel_programs_left_out(&watch.programs), 0);
    watch_close(&watch);
    probe_list_deinit(&list);
    return total;
}

static void what_happens_is_counted_of_the_process_and_its_children(void)
{
    const struct watch_options options = {.session = {.pid = getpid()}, .is_counting = true};

    CHECK_EQUAL(count_calls("tracepoint:syscalls:sys_enter_getppid", &options), 500);
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

static void what_cannot_be_counted_by_is_told(void)
{
    const struct watch_options options = {.is_counting = true, .by = "nonsense"};
    struct probe_list list = {.count = 0};
    struct watch watch;

    CHECK_EQUAL(probe_list_add(&list, "tracepoint:raw_syscalls:sys_enter", &err), 0);
    CHECK_EQUAL(watch_open(&watch, &list, &options, &err), -ENOENT);
    CHECK(strstr(err.text, "cannot count by 'nonsense'") != NULL);
    probe_list_deinit(&list);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(what_happens_is_counted_of_the_process_and_its_children),
        CHECK_CASE(conditions_choose),
        CHECK_CASE(what_cannot_be_counted_by_is_told),
    };

    if (kernel_program_check(&err) != 0 || source_of(PROBE_TRACEPOINT)->check(&err) != 0)
        check_skip(err.text);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
