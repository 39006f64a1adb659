/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/remote.h"

#include "arch/system_call_registers.h"
#include "arch/thread_landing.h"
#include "base/alignment.h"
#include "base/memory_map.h"
#include "inject/shelter.h"
#include "inject/start_stack.h"
#include "protocol/agent_call.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#define VDSO_BYTES_MAX 65536
#define PIECE_BYTES    8192

/* An instruction that makes a system call, and what leads back from there. */
#define PLACE_BYTES 8

/* How long until a thread is looked at that runs for us, and again: longer each time. */
#define LOOK_NANOSECONDS     10000
#define LOOK_NANOSECONDS_MAX 1000000

#define START_SIGNAL_BIT     (1ull << (AGENT_START_SIGNAL - 1))

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

/* The best place in some bytes of code, if it is better than the one that is known. */
static void find_places(const uint8_t *bytes, size_t size_bytes, uint64_t address, struct remote_place *best)
{
    size_t insn_bytes;
    const uint8_t *insn = system_call_instruction(&insn_bytes), *found = bytes;

    while ((found = memmem(found, size_bytes - (size_t)(found - bytes), insn, insn_bytes)) != NULL) {
        size_t offset = (size_t)(found - bytes);
        unsigned words = system_call_return_words(found, size_bytes - offset);

        if (best->address == 0 || (best->return_words == 0 && words != 0))
            *best = (struct remote_place){.address = address + offset, .return_words = words};
        found++;
    }
}

/* How much can be read there: a piece, the rest of a page, nothing. */
static size_t read_piece(pid_t pid, uint64_t start, uint64_t end, uint8_t *bytes_out)
{
    size_t piece = end - start < PIECE_BYTES ? (size_t)(end - start) : PIECE_BYTES;
    size_t rest = align_rest(start, memory_page_size());

    if (process_memory_read(pid, start, bytes_out, piece) == 0)
        return piece;
    return rest < piece && process_memory_read(pid, start, bytes_out, rest) == 0 ? rest : 0;
}

/* In as much of a range as can be read, and is worth it. */
static void find_between(pid_t pid, uint64_t start, uint64_t end, struct remote_place *best)
{
    static uint8_t bytes[PIECE_BYTES];

    while (start < end && best->return_words == 0) {
        size_t size = read_piece(pid, start, end, bytes);

        find_places(bytes, size, start, best);
        if (size == 0)
            return;
        start += size;
    }
}

/* Where the vdso is not, since the program has no use for it: in all other code. */
static void find_in_code(pid_t pid, struct memory_range except, struct remote_place *best)
{
    char line[512], path[64];
    unsigned long start, end;
    char access[5];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return;
    while (best->return_words == 0 && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "%lx-%lx %4s", &start, &end, access) == 3 && access[0] == 'r' && access[2] == 'x' &&
            (start >= except.high || end <= except.low))
            find_between(pid, start, end, best);
    fclose(file);
}

int remote_find_system_call(pid_t pid, struct memory_range except, struct remote_place *place_out)
{
    struct remote_place best = {0};
    uint64_t vdso = find_vdso(pid);

    if (vdso != 0)
        find_between(pid, vdso, vdso + VDSO_BYTES_MAX, &best);
    if (best.address == 0)
        find_in_code(pid, except, &best);
    if (best.address == 0)
        return -ENOENT;
    *place_out = best;
    return 0;
}

/* In what we have mapped of the same vdso, from its start: the kernel gives one to all programs of a kind. */
static const uint8_t *find_in_own_vdso(struct remote_place *place_out)
{
    const uint8_t *vdso = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)vdso;
    const Elf64_Phdr *segments;

    *place_out = (struct remote_place){0};
    if (vdso == NULL)
        return NULL;
    segments = (const Elf64_Phdr *)(const void *)(vdso + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
            find_places(vdso, segments[i].p_filesz, 0, place_out);
    return vdso + place_out->address;
}

/* Whether the program has one where its vdso begins as ours does, and the same stands there. */
static bool find_by_own_vdso(const struct tracee *tracee, struct remote_place *place_out)
{
    uint8_t its[PLACE_BYTES];
    const uint8_t *ours;
    uint64_t vdso;

    if (!tracee->is_fresh || start_stack_auxiliary(tracee, AT_SYSINFO_EHDR, &vdso) != 0)
        return false;
    ours = find_in_own_vdso(place_out);
    if (place_out->return_words == 0)
        return false;
    place_out->address += vdso;
    return process_memory_read(tracee->pid, place_out->address, its, sizeof(its)) == 0 &&
           memcmp(its, ours, sizeof(its)) == 0;
}

int remote_find_first_system_call(const struct tracee *tracee, struct remote_place *place_out)
{
    if (find_by_own_vdso(tracee, place_out))
        return 0;
    return remote_find_system_call(tracee->pid, (struct memory_range){0, 0}, place_out);
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

static int call_from_anywhere(struct tracee *tracee, uint64_t place, struct thread_registers *registers)
{
    uint64_t mask;
    int result = tracee_get_mask(tracee, &mask);

    if (result == 0)
        result = tracee_set_mask(tracee, UINT64_MAX);
    if (result == 0)
        result = tracee_set_registers(tracee, registers);
    if (result == 0)
        result = step_from(tracee, place, registers);
    return result == 0 ? tracee_set_mask(tracee, mask) : result;
}

/* To the beginning of the system call, and to its end. */
static int run_through_call(struct tracee *tracee, struct thread_registers *registers_out)
{
    struct tracee_call call;
    int result;

    do
        result = tracee_run_until(tracee, TRACEE_SYSTEM_CALL, NULL);
    while (result == 0 && !tracee_system_call(tracee, &call));
    if (result == 0)
        result = tracee_run_until(tracee, TRACEE_SYSTEM_CALL, NULL);
    return result == 0 ? tracee_get_registers(tracee, registers_out) : result;
}

/* A step stops it once, at the end of the call; it would stop twice if it were to tell of the call. */
static int call_as_function(struct tracee *tracee, uint64_t place, struct thread_registers *registers)
{
    int result = tracee_set_registers(tracee, registers);

    return result == 0 ? step_from(tracee, place, registers) : result;
}

/* The thread is stopped behind the call, from where it would come back by itself. */
static int call_in_shelter(struct tracee *tracee, uint64_t shelter, long number, const long arguments[6],
                           struct thread_registers *registers_out)
{
    uint64_t mask;
    int result = shelter_enter(tracee, shelter, number, arguments, &mask);

    if (result == 0)
        result = run_through_call(tracee, registers_out);
    return result == 0 ? tracee_set_mask(tracee, mask) : result;
}

/* If we die at any time from now on, the thread comes back by itself to where it is. */
static int prepare_return(const struct tracee *tracee, unsigned return_words, struct thread_registers *registers)
{
    uint64_t words[SYSTEM_CALL_RETURN_WORDS_MAX];
    uint64_t address = system_call_registers_set_returning(registers, return_words, words);

    return process_memory_write(tracee->pid, address, words, return_words * sizeof(words[0]));
}

int remote_system_call(struct tracee *tracee, const struct remote_place *place, long number, const long arguments[6],
                       long *result_out)
{
    bool can_return = tracee->is_fresh && place->return_words != 0;
    uint64_t shelter = can_return ? 0 : shelter_find(tracee->pid);
    struct thread_registers before, registers;
    int result = tracee_get_registers(tracee, &before);

    registers = before;
    if (result == 0 && can_return)
        result = prepare_return(tracee, place->return_words, &registers);
    if (result != 0)
        return result;
    system_call_registers_set(&registers, place->address, number, arguments);
    if (shelter != 0)
        result = call_in_shelter(tracee, shelter, number, arguments, &registers);
    else
        result = can_return ? call_as_function(tracee, place->address, &registers)
                            : call_from_anywhere(tracee, place->address, &registers);
    if (result != 0)
        return result;
    *result_out = system_call_registers_result(&registers);
    result = tracee_set_registers(tracee, &before);
    if (shelter != 0 && result == 0)
        shelter_clear(tracee->pid, shelter);
    return result;
}

/*
 * With all signals held back, or nearly: where timers send one after the other, the thread would never come to do that
 * itself. Last, so that if we die the thread gets back what it had.
 */
static int send_to_agent(struct tracee *tracee, const struct remote_agent *agent, uint64_t mask, uint64_t held)
{
    struct thread_registers registers;
    struct thread_landing landing = {
        .function = (thread_function)(uintptr_t)agent->main,
        .context = (void *)(uintptr_t)agent->call,
        .stack_end = (void *)(uintptr_t)agent->stack_end,
        .vector_state = (void *)(uintptr_t)agent->vector_state,
        .signal_mask = mask,
        .is_held = 1,
    };
    int result = tracee_get_registers(tracee, &registers);

    if (result == 0)
        result = thread_landing_prepare_at(&landing, &registers, agent->landing, agent->routine);
    if (result == 0)
        result = process_memory_write(tracee->pid, agent->landing, &landing, sizeof(landing));
    if (result == 0)
        result = tracee_set_registers(tracee, &registers);
    return result == 0 ? tracee_set_mask(tracee, held) : result;
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
    struct timespec pause = {0, LOOK_NANOSECONDS};
    uint32_t phase = AGENT_CALL_RUNS;
    int result = tracee_resume(tracee, TRACEE_EXEC, 0);

    /* The first one may be of what it did before it was stopped. */
    tracee->faults_left = 2;
    while (result == 0 && phase == AGENT_CALL_RUNS) {
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < LOOK_NANOSECONDS_MAX)
            pause.tv_nsec *= 2;
        result = tracee_keep_signals(tracee);
        if (result == 0)
            result = read_phase(tracee, agent, &phase);
    }
    tracee->faults_left = 0;
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

/* The call and its threads, as many as there are. */
static size_t head_bytes(const struct agent_call *call)
{
    return offsetof(struct agent_call, threads) + call->thread_count * sizeof(call->threads[0]);
}

/* Only what is used of it. */
static int write_call(const struct tracee *tracee, const struct remote_agent *agent, const struct agent_call *call)
{
    const struct agent_options *options = &call->options;
    const struct agent_known *known = &options->known;
    uint64_t options_place = agent->call + offsetof(struct agent_call, options);
    uint64_t known_place = agent->call + offsetof(struct agent_call, options.known);
    int result = process_memory_write(tracee->pid, agent->call, call, head_bytes(call));

    if (result == 0)
        result = process_memory_write(tracee->pid, options_place, options, agent_options_bytes(options));
    if (result == 0)
        result = process_memory_write(tracee->pid, known_place, known, agent_known_bytes(known));
    return result == 0 ? process_memory_write(tracee->pid, agent->call + offsetof(struct agent_call, options.places),
                                              &options->places, agent_places_bytes(&options->places))
                       : result;
}

static int read_answer(const struct tracee *tracee, const struct remote_agent *agent, struct agent_call *call)
{
    return process_memory_read(tracee->pid, agent->call, call, head_bytes(call));
}

int remote_agent_call(struct tracee *tracee, const struct remote_agent *agent, struct agent_call *call)
{
    static struct extra_state extra; /* large, and there is one call at a time */
    uint32_t phase = AGENT_CALL_RUNS;
    int result;

    atomic_store_explicit(&call->phase, AGENT_CALL_RUNS, memory_order_relaxed);
    result = write_call(tracee, agent, call);
    if (result == 0)
        result = save_extra(tracee, &extra);
    if (result == 0)
        result = send_to_agent(tracee, agent, extra.mask, UINT64_MAX);
    if (result == 0)
        result = run_until_done(tracee, agent, &phase);
    /* Out of there, whatever it has left undone; the program is to go on. */
    if (result == -EFAULT && take_back(tracee, agent, &extra) != 0)
        result = -ESRCH;
    if (result == 0)
        result = read_answer(tracee, agent, call);
    return result == 0 && phase == AGENT_CALL_DONE ? take_back(tracee, agent, &extra) : result;
}

/* ---- beginning a program ----------------------------------------------------------------------------------------- */

/*
 * Lets the thread run until it stops itself and is done. Whoever sends it the same signal meanwhile sends what a
 * program that has yet to begin would not notice.
 */
static int run_until_raised(struct tracee *tracee, const struct remote_agent *agent)
{
    uint32_t phase = AGENT_CALL_RUNS;
    int result = tracee_resume(tracee, TRACEE_EXEC, 0);

    tracee->faults_left = 2;
    while (result == 0) {
        result = tracee_await_signal(tracee, AGENT_START_SIGNAL);
        if (result == 0)
            result = read_phase(tracee, agent, &phase);
        if (result != 0 || phase == AGENT_CALL_DONE)
            break;
        result = tracee_resume(tracee, TRACEE_EXEC, 0);
    }
    tracee->faults_left = 0;
    return result;
}

/* The agent uses no vector registers, and the routine only sets them as they are when a program begins. */
static int take_back_new(struct tracee *tracee, const struct remote_agent *agent, uint64_t mask)
{
    static struct extra_state extra; /* large */
    int result = save_extra(tracee, &extra);

    extra.mask = mask;
    return result == 0 ? take_back(tracee, agent, &extra) : result;
}

bool remote_agent_can_start(const struct tracee *tracee)
{
    uint64_t mask;

    /* One that was sent before the program began may be waiting. */
    return tracee->is_fresh && tracee_get_mask(tracee, &mask) == 0 && !(mask & START_SIGNAL_BIT);
}

int remote_agent_start(struct tracee *tracee, const struct remote_agent *agent, struct agent_call *call)
{
    uint64_t mask = 0;
    int result = tracee_get_mask(tracee, &mask);

    atomic_store_explicit(&call->phase, AGENT_CALL_RUNS, memory_order_relaxed);
    if (result == 0)
        result = write_call(tracee, agent, call);
    if (result == 0)
        result = send_to_agent(tracee, agent, mask, ~START_SIGNAL_BIT);
    if (result == 0)
        result = run_until_raised(tracee, agent);
    if (result == -EFAULT && take_back_new(tracee, agent, mask) != 0)
        result = -ESRCH;
    if (result == 0)
        result = read_answer(tracee, agent, call);
    return result == 0 && call->result != 0 ? take_back_new(tracee, agent, mask) : result;
}

int remote_agent_let_start(const struct tracee *tracee, const struct remote_agent *agent)
{
    const uint32_t phase = AGENT_CALL_TAKEN;

    return process_memory_write(tracee->pid, agent->call + offsetof(struct agent_call, phase), &phase, sizeof(phase));
}
