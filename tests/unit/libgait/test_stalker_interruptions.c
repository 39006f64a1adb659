/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Events of code that signals interrupt all the time: each is told once, none is missing. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "support/check.h"
#include "support/code_page.h"
#include "support/followed_call.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

#define ROUNDS  20000u
#define SIGNALS 300u

static struct code_page page;

/* How often each event of the page was told, by kind and the location's offset. */
static struct counts {
    uint64_t calls[64], returns[64], instructions[64], times_missing;
} counts;

static uint64_t at(uint64_t offset)
{
    return code_page_start(&page) + offset;
}

static int count_events(void *context, const struct gait_event *events, size_t count)
{
    struct counts *into = context;

    for (size_t i = 0; i < count; i++) {
        uint64_t offset = events[i].location - at(0);

        into->times_missing += events[i].time == 0;
        if (offset >= 64)
            continue;
        into->calls[offset] += events[i].kind == GAIT_EVENT_CALL;
        into->returns[offset] += events[i].kind == GAIT_EVENT_RET;
        into->instructions[offset] += events[i].kind == GAIT_EVENT_EXEC;
    }
    return 0;
}

static const struct gait_event_sink sink = {count_events, &counts};

/* ---- another thread that sends signals --------------------------------------------------------------------------- */

static _Atomic bool is_over;
static _Atomic uint64_t handled;

static void handle(int signal)
{
    (void)signal;
    atomic_fetch_add(&handled, 1);
}

/* Waits for each to be handled, so that none is merged with another. */
static void *send_signals(void *thread)
{
    uint64_t sent = 0;

    while (!atomic_load(&is_over)) {
        if (atomic_load(&handled) == sent && pthread_kill(*(const pthread_t *)thread, SIGUSR1) == 0)
            sent++;
    }
    return NULL;
}

/* The sum of what the page's function returned, and of the counters, one of which goes with the stalker. */
static uint64_t results, counted;
static uint64_t far_counter, *near_counter;

/* Calls the page's function, followed, until enough signals have arrived; returns how often. */
static uint64_t run_transformed(uint32_t events, bool times, const struct gait_transformer *transformer)
{
    struct gait_stalker *stalker = followed_call_stalker();
    struct gait_follow_options options = followed_options();
    struct sigaction action = {.sa_handler = handle};
    pthread_t self = pthread_self(), sender;
    uint64_t runs = 0;

    counts = (struct counts){0};
    atomic_store(&handled, 0);
    atomic_store(&is_over, false);
    options.events = events;
    options.sink = &sink;
    options.times = times;
    options.transformer = transformer;
    results = 0;
    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_EQUAL(pthread_create(&sender, NULL, send_signals, &self), 0);
    for (; atomic_load(&handled) < SIGNALS; runs++)
        results += followed_call(stalker, &options, at(0), ROUNDS, 0);
    atomic_store(&is_over, true);
    CHECK_EQUAL(pthread_join(sender, NULL), 0);
    counted = far_counter + (near_counter == NULL ? 0 : *near_counter);
    near_counter = NULL;
    gait_stalker_destroy(stalker);
    return runs;
}

static uint64_t run_interrupted(uint32_t events, bool times)
{
    return run_transformed(events, times, NULL);
}

/* Calls f directly and through a register, rdi times. */
static void write_calls(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x48\x8d\x05\x19\x00\x00\x00");                             /*  0: lea rax, [f] */
    CODE_PAGE_PUT(&page, "\xe8\x14\x00\x00\x00");                                     /*  7: call f */
    CODE_PAGE_PUT(&page, "\xff\xd0");                                                 /* 12: call rax */
    CODE_PAGE_PUT(&page, "\xff\xcf");                                                 /* 14: dec edi */
    CODE_PAGE_PUT(&page, "\x75\xf5");                                                 /* 16: jne 7 */
    CODE_PAGE_PUT(&page, "\xc3\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc"); /* 18: ret */
    CODE_PAGE_PUT(&page, "\xff\xc2");                                                 /* 32: f: inc edx */
    CODE_PAGE_PUT(&page, "\xc3");                                                     /* 34: ret */
}

static void check_calls(uint64_t runs)
{
    CHECK_EQUAL(counts.calls[7], runs * ROUNDS);
    CHECK_EQUAL(counts.calls[12], runs * ROUNDS);
    CHECK_EQUAL(counts.returns[34], runs * 2 * ROUNDS);
    CHECK_EQUAL(counts.returns[18], runs);
}

static void check_instructions(uint64_t runs)
{
    CHECK_EQUAL(counts.instructions[0], runs);
    for (unsigned offset = 7; offset < 18; offset++)
        CHECK_EQUAL(counts.instructions[offset],
                    offset == 7 || offset == 12 || offset == 14 || offset == 16 ? runs * ROUNDS : 0);
    CHECK_EQUAL(counts.instructions[18], runs);
    CHECK_EQUAL(counts.instructions[32], runs * 2 * ROUNDS);
    CHECK_EQUAL(counts.instructions[34], runs * 2 * ROUNDS);
}

static void calls_and_returns_are_told_once(void)
{
    uint64_t runs;

    write_calls();
    runs = run_interrupted(GAIT_EVENT_CALL | GAIT_EVENT_RET, false);
    check_calls(runs);
}

static void instructions_are_told_once(void)
{
    uint64_t runs;

    write_calls();
    runs = run_interrupted(GAIT_EVENT_EXEC, false);
    check_instructions(runs);
}

static void all_events_are_told_once(void)
{
    uint64_t runs;

    write_calls();
    runs = run_interrupted(GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK | GAIT_EVENT_CALL | GAIT_EVENT_RET, false);
    check_calls(runs);
    check_instructions(runs);
}

static void events_with_times_are_told_once(void)
{
    uint64_t runs;

    write_calls();
    runs = run_interrupted(GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK | GAIT_EVENT_CALL | GAIT_EVENT_RET, true);
    check_calls(runs);
    check_instructions(runs);
    CHECK_EQUAL(counts.times_missing, 0);
}

/* ---- what transformers put ----------------------------------------------------------------------------------------
 */

static uint64_t calls_out[64];

/* Flags are free before some of its instructions only. */
static void write_counted(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x45\x31\xc0");     /*  0: xor r8d, r8d */
    CODE_PAGE_PUT(&page, "\x48\x8d\x49\x05"); /*  3: lea rcx, [rcx+5] */
    CODE_PAGE_PUT(&page, "\x48\x83\xc1\x01"); /*  7: add rcx, 1 */
    CODE_PAGE_PUT(&page, "\x48\x8b\x14\x24"); /* 11: mov rdx, [rsp] */
    CODE_PAGE_PUT(&page, "\x90");             /* 15: nop */
    CODE_PAGE_PUT(&page, "\x48\x8d\x7f\xff"); /* 16: lea rdi, [rdi-1] */
    CODE_PAGE_PUT(&page, "\x48\x85\xff");     /* 20: test rdi, rdi */
    CODE_PAGE_PUT(&page, "\x75\xea");         /* 23: jne 3 */
    CODE_PAGE_PUT(&page, "\x4c\x89\xc0");     /* 25: mov rax, r8 */
    CODE_PAGE_PUT(&page, "\xc3");             /* 28: ret */
}

#define COUNTED_INSNS (7 * ROUNDS + 3)

static bool is_on_page(uint64_t address)
{
    return address - at(0) < 64;
}

static void put_counts(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (near_counter == NULL)
        near_counter = gait_iterator_new_counter(iterator);
    gait_iterator_put_count(iterator, instruction->address % 2 ? near_counter : &far_counter);
}

/* Code that counts in r8, which nobody else has. */
static void put_code(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    static const uint8_t count[] = {0x4d, 0x8d, 0x40, 0x01};

    if (instruction->address != at(0))
        gait_iterator_put_code(iterator, count, sizeof(count));
}

static void call_out(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    calls_out[(cpu->pc - at(0)) % 64]++;
}

static void put_callouts(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    gait_iterator_put_callout(iterator, call_out, NULL, GAIT_CALLOUT_ANY);
}

static void (*put_before)(struct gait_iterator *iterator, const struct gait_instruction *instruction);

static void transform(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};

    (void)context;
    while (gait_iterator_next(iterator, &instruction)) {
        if (is_on_page(instruction.address))
            put_before(iterator, &instruction);
        gait_iterator_keep(iterator);
    }
}

static const struct gait_transformer transformer = {.transform = transform};

static void counters_are_exact(void)
{
    static const uint32_t kinds[] = {0, GAIT_EVENT_CALL | GAIT_EVENT_RET};

    put_before = put_counts;
    for (size_t i = 0; i < 2; i++) {
        uint64_t runs;

        write_counted();
        far_counter = 0;
        runs = run_transformed(kinds[i], false, &transformer);
        CHECK_EQUAL(counted, runs * COUNTED_INSNS);
    }
}

static void code_that_was_put_runs_once(void)
{
    static const uint32_t kinds[] = {0, GAIT_EVENT_CALL | GAIT_EVENT_RET};

    put_before = put_code;
    for (size_t i = 0; i < 2; i++) {
        uint64_t runs;

        write_counted();
        runs = run_transformed(kinds[i], false, &transformer);
        /* The first instruction, which resets it, and the last one, which is behind the result, have none that shows.
         */
        CHECK_EQUAL(results, runs * (COUNTED_INSNS - 2));
    }
}

static void callouts_are_made_and_told_once(void)
{
    static const uint32_t kinds[] = {0, GAIT_EVENT_EXEC, GAIT_EVENT_EXEC | GAIT_EVENT_CALL | GAIT_EVENT_RET};

    put_before = put_callouts;
    for (size_t i = 0; i < 3; i++) {
        uint64_t runs;

        write_calls();
        memset(calls_out, 0, sizeof(calls_out));
        runs = run_transformed(kinds[i], false, &transformer);
        if (kinds[i] & GAIT_EVENT_EXEC)
            check_instructions(runs);
        memcpy(counts.instructions, calls_out, sizeof(calls_out));
        check_instructions(runs);
    }
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static unsigned faults_left;

/* Lets the instruction be tried again some times, then steps over it. */
static void handle_fault(int signal, siginfo_t *info, void *ucontext)
{
    ucontext_t *context = ucontext;

    (void)signal;
    (void)info;
    if (--faults_left == 0)
        context->uc_mcontext.gregs[REG_RIP] += 2;
}

static void instructions_behind_a_fault_are_told_when_they_run(void)
{
    struct gait_stalker *stalker = followed_call_stalker();
    struct gait_follow_options options = followed_options();
    struct sigaction action = {.sa_sigaction = handle_fault, .sa_flags = SA_SIGINFO};

    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x31\xc9"); /* 0: xor ecx, ecx */
    CODE_PAGE_PUT(&page, "\x89\x09"); /* 2: mov [rcx], ecx */
    CODE_PAGE_PUT(&page, "\xff\xc2"); /* 4: inc edx */
    CODE_PAGE_PUT(&page, "\xc3");     /* 6: ret */
    CHECK_EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
    options.sink = &sink;
    for (unsigned i = 0; i < 2; i++) {
        options.events = GAIT_EVENT_EXEC | (i == 0 ? 0 : GAIT_EVENT_RET);
        counts = (struct counts){0};
        faults_left = 3;
        followed_call(stalker, &options, at(0), 0, 0);
        CHECK_EQUAL(counts.instructions[0], 1);
        CHECK_EQUAL(counts.instructions[2], 3);
        CHECK_EQUAL(counts.instructions[4], 1);
        CHECK_EQUAL(counts.instructions[6], 1);
    }
    action.sa_flags = 0;
    action.sa_handler = SIG_DFL;
    CHECK_EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_and_returns_are_told_once),
    CHECK_CASE(instructions_are_told_once),
    CHECK_CASE(all_events_are_told_once),
    CHECK_CASE(events_with_times_are_told_once),
    CHECK_CASE(instructions_behind_a_fault_are_told_when_they_run),
    CHECK_CASE(counters_are_exact),
    CHECK_CASE(code_that_was_put_runs_once),
    CHECK_CASE(callouts_are_made_and_told_once),
};

int main(void)
{
    code_page_init(&page, 4096);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}

#else

int main(void)
{
    check_skip("the code is for x86-64");
}

#endif
