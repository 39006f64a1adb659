/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/agent_target.h"

#include "arch/thread_landing.h"
#include "base/own_code.h"
#include "inject/remote.h"
#include "support/agent_lab.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES  (256u << 10)
#define VECTOR_BYTES (64u << 10)
#define LEAVE_TRIES  2000

struct agent_target agent_target;

void agent_main(void *context, struct thread_registers *registers);
void thread_landing_routine(void);

/* At the same addresses in the process that is forked. */
static struct agent_call call_place;
static struct thread_landing landing;
static _Alignas(64) uint8_t stack[STACK_BYTES];
static _Alignas(64) uint8_t vector_state[VECTOR_BYTES];

static void must(int result, const char *what)
{
    if (result == 0)
        return;
    printf("the target cannot be %s: %s\n", what, strerror(-result));
    fflush(stdout);
    exit(1);
}

void agent_target_start(int (*run)(void))
{
    fflush(stdout);
    agent_target.pid = fork();
    if (agent_target.pid == 0) {
        int status;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        status = run();
        fflush(stdout);
        _exit(status);
    }
    must(agent_target.pid < 0 ? -ENOMEM : 0, "made");
}

void agent_target_stop(void)
{
    struct gait_error err;

    must(thread_group_stop(&agent_target.group, agent_target.pid, &err), "stopped");
}

void agent_target_go(void)
{
    (void)thread_group_release(&agent_target.group);
}

static void list_threads(size_t first)
{
    struct agent_call *call = &agent_target.call;

    call->thread_count = 0;
    for (size_t i = first; i < agent_target.group.count && call->thread_count < AGENT_THREADS_AT_ONCE; i++) {
        struct agent_thread *thread = &call->threads[call->thread_count++];

        thread->tid = agent_target.group.threads[i].tid;
        thread->result = 1;
        must(tracee_get_registers(&agent_target.group.threads[i], &thread->registers), "looked at");
    }
}

static void set_threads(size_t first)
{
    const struct agent_call *call = &agent_target.call;

    for (uint32_t i = 0; i < call->thread_count; i++)
        if (call->threads[i].result == 0 && first + i != 0)
            must(tracee_set_registers(&agent_target.group.threads[first + i], &call->threads[i].registers), "set");
}

int agent_target_ask(enum agent_operation operation, size_t first)
{
    const struct remote_agent agent = {
        .file_fd = -1,
        .main = (uintptr_t)agent_main,
        .routine = (uintptr_t)thread_landing_routine,
        .landing = (uintptr_t)&landing,
        .call = (uintptr_t)&call_place,
        .stack_end = (uintptr_t)stack + STACK_BYTES,
        .vector_state = (uintptr_t)vector_state,
    };

    must(thread_landing_vector_bytes() <= VECTOR_BYTES ? 0 : -ENOSPC, "called");
    agent_target.call.operation = operation;
    /* Threads that are there are not out of the agent's hands. */
    agent_target.call.segment_count = 1;
    agent_target.call.segments[0] =
        (struct agent_segment){.start = (uintptr_t)own_code_first,
                               .size_bytes = (uintptr_t)own_code_last - (uintptr_t)own_code_first,
                               .access = MEMORY_READ | MEMORY_EXECUTE};
    list_threads(first);
    must(remote_agent_call(&agent_target.group.threads[0], &agent, &agent_target.call), "called");
    set_threads(first);
    return agent_target.call.result;
}

void agent_target_open_ring(void)
{
    int process = (int)syscall(SYS_pidfd_open, agent_target.pid, 0);
    int fd = (int)syscall(SYS_pidfd_getfd, process, agent_target.call.ring_fd, 0);

    must(fd < 0 ? -EBADF : 0, "read");
    agent_lab_open(fd);
    close(fd);
    close(process);
}

bool agent_target_leave(void)
{
    for (unsigned i = 0; i < LEAVE_TRIES; i++) {
        bool is_left;

        agent_target_stop();
        is_left = agent_target_ask(AGENT_LEAVE, 0) == 0 && agent_target.call.followed_count == 0 &&
                  agent_target_ask(AGENT_LOOK, 0) == 0 && agent_target_ask(AGENT_END, 0) == 0;
        agent_target_go();
        if (is_left)
            return true;
        usleep(1000);
    }
    return false;
}

int agent_target_end(void)
{
    int status = -1;

    return waitpid(agent_target.pid, &status, 0) == agent_target.pid ? status : -1;
}
