/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

static struct call_text_run run;

static void polls_and_what_came_of_them(void)
{
    struct pollfd fds[2] = {{3, POLLIN, 0}, {4, POLLOUT, POLLOUT}};

    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "poll", 1, AT(fds), 2, 100),
               "poll([{fd=3, events=POLLIN}, {fd=4, events=POLLOUT}], 2, 100) = 1 ([{fd=4, revents=POLLOUT}])");
    CHECK_TEXT(CALL(&run, "poll", 0, AT(fds), 1, 100), "poll([{fd=3, events=POLLIN}], 1, 100) = 0 (Timeout)");
}

static void selects_and_what_came_of_them(void)
{
    fd_set in;
    struct timeval left = {0, 5};

    FD_ZERO(&in);
    FD_SET(3, &in);
    FD_SET(5, &in);
    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "select", 2, 6, AT(&in), 0, 0, AT(&left)),
               "select(6, [3 5], NULL, NULL, {tv_sec=0, tv_usec=5}) = 2 (in [3 5], left {tv_sec=0, tv_usec=5})");
    CHECK_TEXT(CALL(&run, "select", 0, 6, AT(&in), 0, 0, 0), "select(6, [3 5], NULL, NULL, NULL) = 0 (Timeout)");
}

static void events_of_epoll(void)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = 7};

    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "epoll_wait", 1, 4, AT(&event), 10, UINT64_MAX),
               "epoll_wait(4, [{events=EPOLLIN|EPOLLET, data={u32=7, u64=7}}], 10, -1) = 1");
    CHECK_TEXT(CALL(&run, "epoll_wait", 0, 4, AT(&event), 10, 0), "epoll_wait(4, [], 10, 0) = 0");
}

static void sets_of_cpus(void)
{
    uint64_t cpus = 0x15;
    struct call_text *text = call_text_run_init(&run);

    poll_text_put_cpu_set(text, AT(&cpus), 8);
    poll_text_put_cpu_set(text, 0x10, 8);
    poll_text_put_fd_set(text, 0x10, 8);
    poll_text_put_fd_set(text, AT(&cpus), UINT64_MAX);
    CHECK_EQUAL(strncmp(run.buffer, "[0 2 4]0x100x100x", 16), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(polls_and_what_came_of_them),
    CHECK_CASE(selects_and_what_came_of_them),
    CHECK_CASE(events_of_epoll),
    CHECK_CASE(sets_of_cpus),
};

CHECK_MAIN(cases)
