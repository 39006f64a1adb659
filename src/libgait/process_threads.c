/* SPDX-License-Identifier: MIT */
/* The threads of the process, and how one is stopped and changed: the core's functions, with words for people. */
#include "arch/engine.h"
#include "arch/thread_registers.h"
#include "gait/process.h"
#include "hosted/error_text.h"
#include "libgait/export.h"
#include "process/thread_list.h"
#include "process/thread_name.h"
#include "process/thread_stack.h"
#include "process/thread_stop.h"
#include "stalker/stalker_gate.h"

#include <errno.h>
#include <string.h>

_Static_assert(GAIT_THREAD_NAME_BYTES == THREAD_NAME_BYTES, "the public name has another size");

_Static_assert((int)GAIT_THREAD_RUNNING == (int)THREAD_RUNNING && (int)GAIT_THREAD_OTHER == (int)THREAD_STATE_OTHER &&
                   (int)GAIT_THREAD_ENDED == (int)THREAD_ENDED && (int)GAIT_THREAD_TRACED == (int)THREAD_TRACED,
               "the public states have other numbers");

/* So much of a gait_thread every caller has. */
#define FIRST_SIZE sizeof(struct gait_thread)

EXPORT int gait_process_threads(bool (*visit)(void *context, int tid), void *context, struct gait_error *err)
{
    int result;

    if (visit == NULL)
        return error_set(err, EINVAL, "cannot list threads: visit is NULL");
    result = thread_list_visit(visit, context);
    if (result != 0)
        return error_set(err, result, "cannot list threads: /proc/self/task: %s", strerror(-result));
    return 0;
}

/* ---- changing one ------------------------------------------------------------------------------------------------ */

static int change_failed(int result, int tid, struct gait_error *err)
{
    switch (result) {
    case -EINVAL:
        return error_set(err, result, "cannot stop thread %d: it is the calling one", tid);
    case -ESRCH:
        return error_set(err, result, "cannot stop thread %d: this process has no such thread", tid);
    case -EPERM:
    case -EACCES:
        return error_set(err, result,
                         "cannot stop thread %d: a debugger or tracer has it, or the system forbids tracing; detach "
                         "the other tool",
                         tid);
    case -ETIMEDOUT:
        return error_set(err, result,
                         "cannot stop thread %d: for two seconds it waited in a way that cannot be interrupted, or the "
                         "change took as long; try again later",
                         tid);
    case -EOPNOTSUPP:
        return error_set(err, result, "cannot stop thread %d: gait cannot do that on this CPU or in this namespace yet",
                         tid);
    default:
        return error_set(err, result, "cannot stop and change thread %d: %s", tid, strerror(-result));
    }
}

struct changed_registers {
    const struct engine *machine;
    gait_thread_change change;
    void *context;
    int result; /* of the caller's own */
};

static int change_registers(void *context, struct thread_registers *registers)
{
    struct changed_registers *change = context;
    struct gait_cpu_context cpu;
    uint64_t thread_base, pc;
    int result;

    change->machine->registers->get(registers, &cpu, &thread_base);
    pc = cpu.pc;
    result = change->change(change->context, &cpu);
    if (result != 0) {
        change->result = result;
        return result;
    }
    /* Where it goes on is not in front of the new pc. */
    if (cpu.pc != pc)
        thread_registers_take_restart(registers);
    change->machine->registers->set(registers, &cpu, thread_base);
    return 0;
}

EXPORT int gait_process_modify_thread(int tid, gait_thread_change change, void *context, struct gait_error *err)
{
    struct changed_registers all = {engine_host(), change, context, 0};
    int result;

    if (change == NULL)
        return error_set(err, EINVAL, "cannot change thread %d: change is NULL", tid);
    result = all.machine == NULL ? -EOPNOTSUPP : thread_modify(tid, change_registers, &all);
    if (result == 0)
        return 0;
    if (result == all.result)
        return error_set(err, result, "thread %d was left as it was, as its change wanted: %s", tid, strerror(-result));
    return change_failed(result, tid, err);
}

/* ---- seeing one -------------------------------------------------------------------------------------------------- */

static int take_registers(void *context, struct gait_cpu_context *cpu)
{
    *(struct gait_cpu_context *)context = *cpu;
    return 1;
}

static int read_registers(int tid, struct gait_thread *thread, struct gait_error *err)
{
    const struct engine *machine = engine_host();
    struct thread_stack stack;
    int result;

    if (tid != thread_current()) {
        result = gait_process_modify_thread(tid, take_registers, &thread->cpu, err);
        if (result != 0)
            return result;
    } else if (machine != NULL) {
        stalker_capture(&thread->cpu);
    } else {
        return change_failed(-EOPNOTSUPP, tid, err);
    }
    if (thread_stack_find(gait_cpu_stack_pointer(&thread->cpu), &stack) == 0) {
        thread->stack_low = stack.low;
        thread->stack_high = stack.high;
    }
    return 0;
}

EXPORT int gait_process_thread(int tid, bool with_registers, struct gait_thread *thread_out, struct gait_error *err)
{
    struct gait_thread thread = {.size_bytes = FIRST_SIZE, .tid = tid};
    enum thread_state state;
    int result;

    if (thread_out == NULL || thread_out->size_bytes < FIRST_SIZE)
        return error_set(err, EINVAL, "cannot describe thread %d: set size_bytes to sizeof(struct gait_thread)", tid);
    result = thread_exists(tid) ? thread_state_read(tid, &state) : -ESRCH;
    if (result == -ESRCH)
        return error_set(err, result, "this process has no thread %d", tid);
    if (result != 0)
        return error_set(err, result, "cannot describe thread %d: /proc/self/task: %s", tid, strerror(-result));
    thread.state = (uint32_t)state;
    thread_name_of(tid, thread.name);
    if (with_registers) {
        result = read_registers(tid, &thread, err);
        if (result != 0)
            return result;
    }
    *thread_out = thread;
    return 0;
}
