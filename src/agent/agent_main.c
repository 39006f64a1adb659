/* SPDX-License-Identifier: MIT */
/*
 * The agent's only entrance, for threads that the controller sends here (protocol/agent_call.h). While one is here, all
 * other threads of the target are stopped or followed, and those that are stopped may hold the engine's locks: so what
 * is done about them is tried, never waited for.
 */
#include "agent/session.h"
#include "base/attributes.h"
#include "base/raw_syscall.h"
#include "protocol/agent_call.h"

#include <asm/errno.h>
#include <asm/unistd.h>

static int run(struct agent_call *call, struct thread_registers *registers)
{
    switch ((enum agent_operation)call->operation) {
    case AGENT_BEGIN:
        return session_begin(call, registers);
    case AGENT_FOLLOW:
        return session_follow(call);
    case AGENT_LEAVE:
        return session_leave(call, registers);
    case AGENT_END:
        return session_end(call, registers);
    }
    return -EINVAL;
}

/* The calling thread goes on with the registers, changed or not. */
__attribute__((visibility("default"))) void agent_main(void *context, struct thread_registers *registers);

void agent_main(void *context, struct thread_registers *registers)
{
    struct agent_call *call = context;

    call->result = run(call, registers);
    call->followed_count = session_followed_count();
    (void)raw_syscall(__NR_getpid, (long)AGENT_DONE_MARK, 0, 0, 0, 0, 0);
}
