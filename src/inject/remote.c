/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/remote.h"

#include "arch/system_call_registers.h"
#include "arch/thread_landing.h"
#include "protocol/agent_call.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define VDSO_BYTES_MAX   65536
#define LOOK_NANOSECONDS 10000

static uint64_t find_vdso(pid_t pid)
{
    Elf64_auxv_t entry;
    char path[64];
    uint64_t place = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    while (place == 0 && fread(&entry, sizeof(entry), 1, file) == 1)
        if (entry.a_type == AT_SYSINFO_EHDR)
            place = entry.a_un.a_val;
    fclose(file);
    return place;
}

int remote_find_system_call(pid_t pid, uint64_t *place_out)
{
    uint64_t vdso = find_vdso(pid);
    size_t size, page = (size_t)sysconf(_SC_PAGESIZE);
    const uint8_t *wanted = system_call_instruction(&size);
    uint8_t bytes[4096];

    if (vdso == 0)
        return -ENOENT;
    for (uint64_t offset = 0; offset < VDSO_BYTES_MAX; offset += sizeof(bytes)) {
        const uint8_t *found;

        if (process_memory_read(pid, vdso + offset, bytes, page < sizeof(bytes) ? page : sizeof(bytes)) != 0)
            break;
        found = memmem(bytes, sizeof(bytes), wanted, size);
        if (found != NULL) {
            *place_out = vdso + offset + (uint64_t)(found - bytes);
            return 0;
        }
    }
    return -ENOENT;
}

/* Does one instruction. A thread that is stopped in a system call has the end of that for its first step. */
static int step_from(struct tracee *tracee, uint64_t place, struct thread_registers *registers_out)
{
    int result;

    do {
        result = tracee_run_until(tracee, TRACEE_STEP, NULL);
        if (result == 0)
            result = tracee_get_registers(tracee, registers_out);
    } while (result == 0 && thread_registers_pc(registers_out) == place);
    return result;
}

int remote_system_call(struct tracee *tracee, uint64_t place, long number, const long arguments[6], long *result_out)
{
    struct thread_registers before, registers;
    uint64_t mask;
    int result = tracee_get_registers(tracee, &before);

    if (result == 0)
        result = tracee_get_mask(tracee, &mask);
    if (result == 0)
        result = tracee_set_mask(tracee, UINT64_MAX);
    if (result != 0)
        return result;
    registers = before;
    system_call_registers_set(&registers, place, number, arguments);
    result = tracee_set_registers(tracee, &registers);
    if (result == 0)
        result = step_from(tracee, place, &registers);
    if (result != 0)
        return result;
    *result_out = system_call_registers_result(&registers);
    result = tracee_set_registers(tracee, &before);
    return result == 0 ? tracee_set_mask(tracee, mask) : result;
}

static int send_to_agent(struct tracee *tracee, const struct remote_agent *agent)
{
    struct thread_registers registers;
    struct thread_landing landing = {
        .function = (thread_function)(uintptr_t)agent->main,
        .context = (void *)(uintptr_t)agent->call,
        .stack_end = (void *)(uintptr_t)agent->stack_end,
        .vector_state = (void *)(uintptr_t)agent->vector_state,
    };
    int result = tracee_get_registers(tracee, &registers);

    if (result == 0)
        result = thread_landing_prepare_at(&landing, &registers, agent->landing, agent->routine);
    if (result == 0)
        result = process_memory_write(tracee->pid, agent->landing, &landing, sizeof(landing));
    return result == 0 ? tracee_set_registers(tracee, &registers) : result;
}

/* What a thread has besides its general registers. */
struct extra_state {
    struct tracee_vectors vectors;
    uint64_t mask;
};

static int save_extra(const struct tracee *tracee, struct extra_state *extra)
{
    int result = tracee_get_vectors(tracee, &extra->vectors);

    return result == 0 ? tracee_get_mask(tracee, &extra->mask) : result;
}

static int read_phase(const struct tracee *tracee, const struct remote_agent *agent, uint32_t *phase_out)
{
    return process_memory_read(tracee->pid, agent->call + offsetof(struct agent_call, phase), phase_out,
                               sizeof(*phase_out));
}

/*
 * Lets the thread run until it is done, and stops it: then it waits for us. The phase afterwards: it has left, and is
 * where it should be, if we were that slow.
 */
static int run_until_done(struct tracee *tracee, const struct remote_agent *agent, uint32_t *phase_out)
{
    const struct timespec pause = {0, LOOK_NANOSECONDS};
    uint32_t phase = AGENT_CALL_RUNS;
    int result = tracee_resume(tracee, TRACEE_EXEC, 0);

    while (result == 0 && phase == AGENT_CALL_RUNS) {
        nanosleep(&pause, NULL);
        result = tracee_keep_signals(tracee);
        if (result == 0)
            result = read_phase(tracee, agent, &phase);
    }
    if (result == 0)
        result = tracee_interrupt_begin(tracee);
    if (result == 0)
        result = tracee_run_until(tracee, TRACEE_INTERRUPTED, NULL);
    return result == 0 ? read_phase(tracee, agent, phase_out) : result;
}

/* As the routine would do it, if we were not there. */
static int take_back(struct tracee *tracee, const struct remote_agent *agent, const struct extra_state *extra)
{
    struct thread_landing landing;
    int result = process_memory_read(tracee->pid, agent->landing, &landing, sizeof(landing));

    if (result == 0)
        result = tracee_set_vectors(tracee, &extra->vectors);
    if (result == 0)
        result = tracee_set_mask(tracee, extra->mask);
    return result == 0 ? tracee_set_registers(tracee, &landing.registers) : result;
}

int remote_agent_call(struct tracee *tracee, const struct remote_agent *agent, struct agent_call *call)
{
    static struct extra_state extra; /* large, and there is one call at a time */
    uint32_t phase = AGENT_CALL_RUNS;
    int result;

    atomic_store_explicit(&call->phase, AGENT_CALL_RUNS, memory_order_relaxed);
    result = process_memory_write(tracee->pid, agent->call, call, sizeof(*call));
    if (result == 0)
        result = save_extra(tracee, &extra);
    if (result == 0)
        result = send_to_agent(tracee, agent);
    if (result == 0)
        result = run_until_done(tracee, agent, &phase);
    if (result == 0)
        result = process_memory_read(tracee->pid, agent->call, call, sizeof(*call));
    return result == 0 && phase == AGENT_CALL_DONE ? take_back(tracee, agent, &extra) : result;
}
