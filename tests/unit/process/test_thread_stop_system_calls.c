/* SPDX-License-Identifier: MIT */
/* A thread that waits in a system call does not notice that it was stopped: the call goes on and has its right result.
 */
#define _GNU_SOURCE
#include "process/thread_stop.h"

#include "arch/thread_registers.h"
#include "support/check.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define STOPS          20
#define LONG_WAIT_MS   600000
#define SLEEP_NS       300000000ll
#define NS_IN_A_SECOND 1000000000ll

/* A system call for a thread to wait in. */
struct call {
    long number;
    long arguments[6];
    atomic_long result; /* or -errno */
};

static void make_call(void *context)
{
    struct call *call = context;
    const long *a = call->arguments;
    long result = syscall(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);

    atomic_store(&call->result, result == -1 ? -errno : result);
}

/* Alternately writes all registers back as they are and leaves them alone. */
static int touch(void *context, struct thread_registers *registers)
{
    int *times_in_call = context;

    *times_in_call += thread_registers_in_system_call(registers);
    return *times_in_call % 2;
}

/* Stops the thread again and again, each time when it is back in its system call. */
static void stop_in_call(const struct subject_thread *subject, const struct call *call)
{
    int times_in_call = 0;

    for (int i = 0; i < STOPS; i++) {
        subject_thread_wait_in(subject, call->number);
        CHECK_EQUAL(thread_modify(subject->tid, touch, &times_in_call), 0);
    }
    CHECK_EQUAL(times_in_call, STOPS);
    subject_thread_wait_in(subject, call->number);
}

/* Stops a thread that reads `in` by the call, writes a byte to `out`, and expects the result. */
static void expect_result_of_writing(struct call *call, int out, long expected)
{
    struct subject_thread subject;

    subject_thread_start(&subject, make_call, call);
    stop_in_call(&subject, call);
    CHECK_EQUAL(write(out, "x", 1), 1);
    subject_thread_join(&subject);
    CHECK_EQUAL(call->result, expected);
}

static void reading_a_pipe_goes_on(void)
{
    char byte = 0;
    int ends[2];

    CHECK_EQUAL(pipe(ends), 0);
    expect_result_of_writing(&(struct call){SYS_read, {ends[0], (long)&byte, 1}, 0}, ends[1], 1);
    CHECK_EQUAL(byte, 'x');
    close(ends[0]);
    close(ends[1]);
}

static void poll_goes_on_with_and_without_a_timeout(void)
{
    const int timeouts[] = {-1, LONG_WAIT_MS};

    for (int i = 0; i < 2; i++) {
        struct pollfd polled = {.events = POLLIN};
        int ends[2];

        CHECK_EQUAL(pipe(ends), 0);
        polled.fd = ends[0];
        expect_result_of_writing(&(struct call){SYS_poll, {(long)&polled, 1, timeouts[i]}, 0}, ends[1], 1);
        CHECK_EQUAL(polled.revents, POLLIN);
        close(ends[0]);
        close(ends[1]);
    }
}

static void epoll_goes_on_with_and_without_a_timeout(void)
{
    const int timeouts[] = {-1, LONG_WAIT_MS};

    for (int i = 0; i < 2; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = 77}, seen = {0};
        int ends[2], epoll = epoll_create1(EPOLL_CLOEXEC);

        CHECK_EQUAL(pipe(ends), 0);
        CHECK_EQUAL(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event), 0);
        expect_result_of_writing(&(struct call){SYS_epoll_wait, {epoll, (long)&seen, 1, timeouts[i]}, 0}, ends[1], 1);
        CHECK_EQUAL(seen.data.u64, 77);
        close(epoll);
        close(ends[0]);
        close(ends[1]);
    }
}

static void receiving_with_a_timeout_goes_on(void)
{
    struct timeval timeout = {.tv_sec = LONG_WAIT_MS / 1000};
    char byte = 0;
    int ends[2];

    CHECK_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    CHECK_EQUAL(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)), 0);
    expect_result_of_writing(&(struct call){SYS_recvfrom, {ends[0], (long)&byte, 1}, 0}, ends[1], 1);
    CHECK_EQUAL(byte, 'x');
    close(ends[0]);
    close(ends[1]);
}

static void a_futex_wait_goes_on_with_and_without_a_timeout(void)
{
    struct timespec timeout = {.tv_sec = LONG_WAIT_MS / 1000};
    long timeouts[] = {0, (long)&timeout};

    for (int i = 0; i < 2; i++) {
        atomic_uint word = 0;
        struct call call = {SYS_futex, {(long)&word, FUTEX_WAIT_PRIVATE, 0, timeouts[i]}, 0};
        struct subject_thread subject;

        subject_thread_start(&subject, make_call, &call);
        stop_in_call(&subject, &call);
        CHECK_EQUAL(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), 1);
        subject_thread_join(&subject);
        CHECK_EQUAL(call.result, 0);
    }
}

static void a_wait_for_signals_goes_on(void)
{
    struct timespec timeout = {.tv_sec = LONG_WAIT_MS / 1000};
    struct call call = {SYS_rt_sigtimedwait, {0}, 0};
    struct subject_thread subject;
    sigset_t awaited;

    sigemptyset(&awaited);
    sigaddset(&awaited, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &awaited, NULL);
    call.arguments[0] = (long)&awaited;
    call.arguments[2] = (long)&timeout;
    call.arguments[3] = 8;
    subject_thread_start(&subject, make_call, &call);
    stop_in_call(&subject, &call);
    pthread_kill(subject.thread, SIGUSR1);
    subject_thread_join(&subject);
    CHECK_EQUAL(call.result, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &awaited, NULL);
}

static void a_wait_for_a_semaphore_goes_on(void)
{
    struct sembuf take = {.sem_op = -1}, give = {.sem_op = 1};
    int set = semget(IPC_PRIVATE, 1, 0600);
    struct call call = {SYS_semop, {set, (long)&take, 1}, 0};
    struct subject_thread subject;

    if (set < 0) {
        printf("there are no semaphores here\n");
        return;
    }
    subject_thread_start(&subject, make_call, &call);
    stop_in_call(&subject, &call);
    CHECK_EQUAL(semop(set, &give, 1), 0);
    subject_thread_join(&subject);
    CHECK_EQUAL(call.result, 0);
    semctl(set, 0, IPC_RMID);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_IN_A_SECOND + now.tv_nsec;
}

static void a_sleep_lasts_as_long_as_it_should(void)
{
    struct timespec request = {.tv_nsec = SLEEP_NS}, left = {-1, -1};
    struct call call = {SYS_clock_nanosleep, {CLOCK_MONOTONIC, 0, (long)&request, (long)&left}, 1};
    struct subject_thread subject;
    int64_t start = now_ns();
    int times_in_call = 0, stops = 0;

    subject_thread_start(&subject, make_call, &call);
    subject_thread_wait_in(&subject, call.number);
    while (atomic_load(&call.result) == 1) {
        int result = thread_modify(subject.tid, touch, &times_in_call);

        CHECK(result == 0 || result == -ESRCH);
        stops++;
    }
    subject_thread_join(&subject);
    CHECK_EQUAL(call.result, 0);
    CHECK(now_ns() - start >= SLEEP_NS);
    CHECK(times_in_call > 0 && stops >= times_in_call);
}

/* Two places to read at: the second comes to 1000 more. */
__asm__("        .text\n"
        "read_here_or_there:\n"
        "        xorl    %eax, %eax\n"
        "        syscall\n"
        "read_here:\n"
        "        ret\n"
        "        nop\n"
        "        syscall\n"
        "read_there:\n"
        "        addq    $1000, %rax\n"
        "        ret\n");

long read_here_or_there(int fd, char *bytes, size_t size);
extern const char read_here[], read_there[];

struct moved_read {
    int fd;
    char byte;
    long result;
};

static void read_and_be_moved(void *context)
{
    struct moved_read *moved = context;

    moved->result = read_here_or_there(moved->fd, &moved->byte, 1);
}

static int move_behind_other_system_call(void *context, struct thread_registers *registers)
{
    (void)context;
    CHECK(thread_registers_in_system_call(registers));
    CHECK_EQUAL(thread_registers_pc(registers), (uintptr_t)read_here);
    thread_registers_set_pc(registers, (uintptr_t)read_there);
    return 0;
}

static void a_moved_thread_makes_the_system_call_in_front_of_its_new_pc(void)
{
    struct subject_thread subject;
    struct moved_read moved = {0};
    int ends[2];

    CHECK_EQUAL(pipe(ends), 0);
    moved.fd = ends[0];
    subject_thread_start(&subject, read_and_be_moved, &moved);
    subject_thread_wait_in(&subject, SYS_read);
    CHECK_EQUAL(thread_modify(subject.tid, move_behind_other_system_call, NULL), 0);
    CHECK_EQUAL(write(ends[1], "x", 1), 1);
    subject_thread_join(&subject);
    CHECK_EQUAL(moved.result, 1001);
    CHECK_EQUAL(moved.byte, 'x');
    close(ends[0]);
    close(ends[1]);
}

/* With the restart taken over, the pc is where the thread goes on: at the very `syscall`. */
static int take_restart_and_move(void *context, struct thread_registers *registers)
{
    (void)context;
    thread_registers_take_restart(registers);
    CHECK(!thread_registers_in_system_call(registers));
    CHECK_EQUAL(thread_registers_pc(registers), (uintptr_t)read_here - 2);
    thread_registers_set_pc(registers, (uintptr_t)read_there - 2);
    return 0;
}

static void a_restart_that_was_taken_over_happens_where_the_pc_is(void)
{
    struct subject_thread subject;
    struct moved_read moved = {0};
    int ends[2];

    CHECK_EQUAL(pipe(ends), 0);
    moved.fd = ends[0];
    subject_thread_start(&subject, read_and_be_moved, &moved);
    subject_thread_wait_in(&subject, SYS_read);
    CHECK_EQUAL(thread_modify(subject.tid, take_restart_and_move, NULL), 0);
    CHECK_EQUAL(write(ends[1], "x", 1), 1);
    subject_thread_join(&subject);
    CHECK_EQUAL(moved.result, 1001);
    close(ends[0]);
    close(ends[1]);
}

static const struct check_case cases[] = {
    CHECK_CASE(reading_a_pipe_goes_on),
    CHECK_CASE(poll_goes_on_with_and_without_a_timeout),
    CHECK_CASE(epoll_goes_on_with_and_without_a_timeout),
    CHECK_CASE(receiving_with_a_timeout_goes_on),
    CHECK_CASE(a_futex_wait_goes_on_with_and_without_a_timeout),
    CHECK_CASE(a_wait_for_signals_goes_on),
    CHECK_CASE(a_wait_for_a_semaphore_goes_on),
    CHECK_CASE(a_sleep_lasts_as_long_as_it_should),
    CHECK_CASE(a_moved_thread_makes_the_system_call_in_front_of_its_new_pc),
    CHECK_CASE(a_restart_that_was_taken_over_happens_where_the_pc_is),
};

CHECK_MAIN(cases)
