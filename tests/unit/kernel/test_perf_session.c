/* SPDX-License-Identifier: MIT */
/* On the kernel that runs here, with the process's own events. */
#define _GNU_SOURCE
#include "kernel/perf_session.h"

#include "kernel/chosen_probes.h"
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct gait_error err;

static void open_own(struct perf_session *session, struct chosen_probes *list, const char *spec)
{
    const struct perf_session_options options = {.pid = getpid(), .ring_bytes = 64u << 10};

    if (chosen_probes_add(list, spec, &err) != 0 || perf_session_create(&options, session, &err) != 0 ||
        perf_session_open(session, list->probes, list->count, &err) != 0)
        check_skip(err.text);
}

/* Those of a probe are there for each CPU, are not handed on to other programs, and are gone with the session. */
static void events_hang_on_descriptors(void)
{
    struct chosen_probes list = {.count = 0};
    struct perf_session session;
    int first = -1;

    open_own(&session, &list, "software:page-faults:1");
    CHECK_EQUAL(session.cpu_count, (size_t)sysconf(_SC_NPROCESSORS_ONLN));
    for (size_t cpu = 0; cpu < session.cpu_count; cpu++) {
        int fd = perf_session_descriptor(&session, 0, cpu);

        CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        CHECK(perf_session_cpu(&session, cpu) >= cpu);
        first = cpu == 0 ? fd : first;
    }
    CHECK_EQUAL(perf_session_descriptor(&session, 1, 0), -1);
    perf_session_destroy(&session);
    CHECK_EQUAL(fcntl(first, F_GETFD), -1);
    chosen_probes_deinit(&list);
}

static void filters_that_cannot_be_read_are_told(void)
{
    struct chosen_probes list = {.count = 0};
    struct perf_session session;

    open_own(&session, &list, "tracepoint:raw_syscalls:sys_enter");
    CHECK_EQUAL(perf_session_filter(&session, 0, "no_such_field == 1"), -EINVAL);
    CHECK_EQUAL(perf_session_filter(&session, 0, "id == "), -EINVAL);
    CHECK_EQUAL(perf_session_filter(&session, 0, "id == 110"), 0);
    perf_session_destroy(&session);
    chosen_probes_deinit(&list);
}

static void processes_that_are_not_there_are_told(void)
{
    const struct perf_session_options options = {.pid = 0x7ffffffe};
    struct perf_session session;

    CHECK_EQUAL(perf_session_create(&options, &session, &err), -ESRCH);
    CHECK(strstr(err.text, "there is none") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(processes_that_are_not_there_are_told),
    CHECK_CASE(events_hang_on_descriptors),
    CHECK_CASE(filters_that_cannot_be_read_are_told),
};

CHECK_MAIN(cases)
