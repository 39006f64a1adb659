/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/code_runner.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/random.h"
#include "support/sandbox.h"

#if defined(__x86_64__)

#define CODE_ADDRESS  ARENA_BASE
#define COPY_ADDRESS  (ARENA_BASE + 0x40000000)
#define DATA_ADDRESS  (ARENA_BASE + 0x80000000)
#define STACK_ADDRESS (ARENA_BASE + 0xc0000000)

enum { ARENA_BYTES = 0x10000, TRAP_NUMBER_GENERAL_PROTECTION = 13, TRAP_NUMBER_PAGE = 14 };

static struct code_runner runner;
static struct arena code, copy, data, stack;
static uint64_t thread_slots[8];
static struct machine_state initial;
static struct run_result result, second;
static char report[8192];

/* Code under test, at the start of the code arena and of the copy's. */
#define PLACE(...)                                                                                                     \
    do {                                                                                                               \
        static const uint8_t bytes[] = {__VA_ARGS__};                                                                  \
        memcpy(code.base, bytes, sizeof(bytes));                                                                       \
        memcpy(copy.base, bytes, sizeof(bytes));                                                                       \
    } while (0)

static void begin_state(void)
{
    machine_state_init(&initial);
    initial.rip = CODE_ADDRESS;
    initial.gpr[X86_RSP] = STACK_ADDRESS + ARENA_BYTES / 2;
}

static void run(void)
{
    code_runner_run(&runner, &initial, &result);
}

static void check_ended_at_breakpoint(uint64_t pc)
{
    CHECK_EQUAL(result.end, RUN_SIGNAL);
    CHECK_EQUAL(result.signal, SIGTRAP);
    CHECK_EQUAL(result.trap_number, 3);
    CHECK_EQUAL(run_result_stop_pc(&result), pc);
    CHECK_EQUAL(result.state.rip, pc + 1);
}

static void check_fault(int signal, int code_number, uint64_t pc)
{
    CHECK_EQUAL(result.end, RUN_SIGNAL);
    CHECK_EQUAL(result.signal, signal);
    CHECK_EQUAL(result.code, code_number);
    CHECK_EQUAL(result.state.rip, pc);
    CHECK_EQUAL(run_result_stop_pc(&result), pc);
}

/* All but the pc, which is one after the breakpoint. */
static void check_nothing_changed(void)
{
    initial.rip = result.state.rip;
    if (machine_state_compare(&initial, &result.state, NULL, report, sizeof(report)) == 0)
        return;
    check_failures++;
    printf("%s", report);
}

static void draw_state(struct random *random, uint64_t flags)
{
    const struct arena_span spans[] = {arena_span_of(&data), arena_span_of(&stack)};
    struct machine_random_options options = {spans, 2, arena_span_of(&stack), flags};

    initial.rip = CODE_ADDRESS;
    machine_state_randomize(&initial, random, &options);
}

/* ---- registers -----------------------------------------------------------------------------------------------------
 */

static void breakpoint_alone_leaves_general_registers_alone(void)
{
    PLACE(0xcc);
    begin_state();
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        initial.gpr[i] = 0x1111111111111111ull * i + 0x8000;
    run();
    check_ended_at_breakpoint(CODE_ADDRESS);
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        CHECK_EQUAL(result.state.gpr[i], 0x1111111111111111ull * i + 0x8000);
}

static void breakpoint_alone_leaves_vector_lanes_alone(void)
{
    PLACE(0xcc);
    begin_state();
    for (unsigned i = 0; i < machine_state_vector_count(); i++) {
        struct machine_zmm value;

        for (unsigned lane = 0; lane < 8; lane++)
            value.lane[lane] = 0x0101010101010101ull * (i + 1) + ((uint64_t)lane << 60);
        machine_state_zmm_set(&initial, i, value);
    }
    for (unsigned i = 0; i < 8; i++)
        machine_state_k_set(&initial, i, 0xf0f0f0f0f0f0f0f0 + i);
    run();
    check_ended_at_breakpoint(CODE_ADDRESS);
    for (unsigned i = 0; i < machine_state_vector_count(); i++) {
        for (unsigned lane = 0; lane < machine_state_vector_bytes() / 8; lane++)
            CHECK_EQUAL(machine_state_zmm_get(&result.state, i).lane[lane],
                        0x0101010101010101ull * (i + 1) + ((uint64_t)lane << 60));
    }
    for (unsigned i = 0; i < 8; i++)
        CHECK_EQUAL(machine_state_k_get(&result.state, i), machine_state_k_get(&initial, i));
}

static void random_states_survive_a_breakpoint(void)
{
    struct random random;

    PLACE(0xcc);
    for (uint64_t seed = 0; seed < 2000; seed++) {
        random_init(&random, seed);
        draw_state(&random, X86_FLAGS_STATUS | X86_FLAG_DF | X86_FLAG_AC | X86_FLAG_ID | X86_FLAG_NT);
        if (seed % 2)
            initial.gpr[X86_RSP] = random_u64(&random);
        run();
        check_ended_at_breakpoint(CODE_ADDRESS);
        check_nothing_changed();
    }
}

static void upper_halves_are_zero_after_vzeroupper(void)
{
    struct random random;

    if ((machine_state_components() & MACHINE_AVX) == 0)
        return;
    PLACE(0xc5, 0xf8, 0x77, 0xcc); /* vzeroupper */
    random_init(&random, 1);
    draw_state(&random, 0);
    for (unsigned i = 16; i < 32; i++)
        machine_state_zmm_set(&initial, i, (struct machine_zmm){{0}});
    for (unsigned i = 0; i < 8; i++)
        machine_state_k_set(&initial, i, 0);
    run();
    check_ended_at_breakpoint(CODE_ADDRESS + 3);
    for (unsigned i = 0; i < 16; i++) {
        struct machine_zmm wanted = machine_state_zmm_get(&initial, i);

        memset(&wanted.lane[2], 0, 6 * sizeof(wanted.lane[0]));
        machine_state_zmm_set(&initial, i, wanted);
    }
    check_nothing_changed();
}

static void initial_vector_state_reads_as_zero(void)
{
    if ((machine_state_components() & MACHINE_AVX) == 0)
        return;
    PLACE(0xcc);
    begin_state();
    run();
    check_nothing_changed();
    PLACE(0xc5, 0xfc, 0x77, 0xdb, 0xe3, 0xcc); /* vzeroall; fninit */
    machine_state_zmm_set(&initial, 3, (struct machine_zmm){{1, 2, 3, 4, 5, 6, 7, 8}});
    initial.rip = CODE_ADDRESS;
    initial.legacy.x87_tag = 0xff;
    initial.legacy.x87_control = 0x27f;
    initial.legacy.st[1] = (struct machine_st){1ull << 63, 0x3fff, {0}};
    run();
    CHECK_EQUAL(result.state.legacy.x87_control, 0x37f);
    CHECK_EQUAL(result.state.legacy.x87_tag, 0);
    for (unsigned lane = 0; lane < 8; lane++)
        CHECK_EQUAL(machine_state_zmm_get(&result.state, 3).lane[lane], 0);
}

static void flags_are_loaded_and_reported(void)
{
    static const uint64_t flags[] = {X86_FLAG_CF, X86_FLAG_PF, X86_FLAG_AF, X86_FLAG_ZF, X86_FLAG_SF,     X86_FLAG_DF,
                                     X86_FLAG_OF, X86_FLAG_AC, X86_FLAG_ID, X86_FLAG_NT, X86_FLAGS_STATUS};

    PLACE(0x9c, 0x58, 0xcc); /* pushfq; pop rax */
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        begin_state();
        initial.rflags |= flags[i];
        run();
        check_ended_at_breakpoint(CODE_ADDRESS + 2);
        CHECK_EQUAL(result.state.gpr[X86_RAX], 0x202 | flags[i]);
        CHECK_EQUAL(result.state.rflags, 0x202 | flags[i]);
    }
}

static void direction_flag_moves_strings_down(void)
{
    PLACE(0xf3, 0xa4, 0xcc); /* rep movsb */
    begin_state();
    memcpy(data.base, "abcd....", 8);
    initial.rflags |= X86_FLAG_DF;
    initial.gpr[X86_RSI] = DATA_ADDRESS + 3;
    initial.gpr[X86_RDI] = DATA_ADDRESS + 7;
    initial.gpr[X86_RCX] = 4;
    run();
    check_ended_at_breakpoint(CODE_ADDRESS + 2);
    CHECK_EQUAL(memcmp(data.base, "abcdabcd", 8), 0);
    CHECK_EQUAL(result.state.gpr[X86_RSI], DATA_ADDRESS - 1);
    CHECK_EQUAL(result.state.rflags, 0x202 | X86_FLAG_DF);
}

static void x87_stack_is_loaded_and_reported(void)
{
    PLACE(0xd9, 0xe8, 0xde, 0xc1, 0xcc); /* fld1; faddp */
    begin_state();
    initial.legacy.x87_status = 3 << 11;
    initial.legacy.x87_tag = 0x18;
    initial.legacy.st[0] = (struct machine_st){1ull << 63, 0x3fff, {0}};
    initial.legacy.st[1] = (struct machine_st){3ull << 62, 0x4000, {0}};
    run();
    check_ended_at_breakpoint(CODE_ADDRESS + 4);
    CHECK_EQUAL(result.state.legacy.st[0].mantissa, 1ull << 63);
    CHECK_EQUAL(result.state.legacy.st[0].sign_exponent, 0x4000);
    CHECK_EQUAL(result.state.legacy.st[1].mantissa, 3ull << 62);
    CHECK_EQUAL(result.state.legacy.x87_tag, 0x18);
    CHECK_EQUAL(result.state.legacy.x87_status >> 11 & 7, 3);
}

static void mxcsr_is_loaded_and_reported(void)
{
    PLACE(0x0f, 0xae, 0x18, 0x0f, 0xae, 0x10, 0xcc); /* stmxcsr [rax]; ldmxcsr [rax] */
    begin_state();
    initial.gpr[X86_RAX] = DATA_ADDRESS;
    initial.legacy.mxcsr = 0xffc1;
    run();
    check_ended_at_breakpoint(CODE_ADDRESS + 6);
    CHECK_EQUAL(*(uint32_t *)data.base, 0xffc1);
    CHECK_EQUAL(result.state.legacy.mxcsr, 0xffc1);
}

/* ---- faults --------------------------------------------------------------------------------------------------------
 */

static void load_from_nowhere_reports_the_address(void)
{
    PLACE(0x90, 0x48, 0x8b, 0x03, 0xcc); /* nop; mov rax, [rbx] */
    begin_state();
    initial.gpr[X86_RBX] = DATA_ADDRESS + ARENA_BYTES + 5;
    initial.gpr[X86_RAX] = 77;
    run();
    check_fault(SIGSEGV, SEGV_MAPERR, CODE_ADDRESS + 1);
    CHECK_EQUAL(result.fault_address, DATA_ADDRESS + ARENA_BYTES + 5);
    CHECK_EQUAL(result.cr2, DATA_ADDRESS + ARENA_BYTES + 5);
    CHECK_EQUAL(result.trap_number, TRAP_NUMBER_PAGE);
    CHECK_EQUAL(result.error_code, 4); /* by user code, a read, nothing there */
    CHECK_EQUAL(result.state.gpr[X86_RAX], 77);

    run_result_describe(&result, report, sizeof(report));
    CHECK(strstr(report, "SIGSEGV (code 1, trap 14, error 4) at 0x") == report);
}

static void address_that_is_none_is_a_protection_fault(void)
{
    PLACE(0x48, 0x8b, 0x03, 0xcc); /* mov rax, [rbx] */
    begin_state();
    initial.gpr[X86_RBX] = 1ull << 63;
    run();
    check_fault(SIGSEGV, SI_KERNEL, CODE_ADDRESS);
    CHECK_EQUAL(result.trap_number, TRAP_NUMBER_GENERAL_PROTECTION);
    CHECK_EQUAL(result.cr2, 0);
}

static void invalid_opcode_is_reported(void)
{
    PLACE(0x90, 0x0f, 0x0b); /* nop; ud2 */
    begin_state();
    run();
    check_fault(SIGILL, ILL_ILLOPN, CODE_ADDRESS + 1);
    CHECK_EQUAL(result.trap_number, 6);
}

static void division_by_zero_is_reported(void)
{
    PLACE(0x48, 0xf7, 0xf1, 0xcc); /* div rcx */
    begin_state();
    run();
    check_fault(SIGFPE, FPE_INTDIV, CODE_ADDRESS);
    CHECK_EQUAL(result.trap_number, 0);
}

static void misaligned_access_faults_when_ac_is_set(void)
{
    PLACE(0x8b, 0x03, 0xcc); /* mov eax, [rbx] */
    begin_state();
    initial.rflags |= X86_FLAG_AC;
    initial.gpr[X86_RBX] = DATA_ADDRESS + 1;
    run();
    check_fault(SIGBUS, BUS_ADRALN, CODE_ADDRESS);
    CHECK_EQUAL(result.trap_number, 17);
}

static void entry_at_unmapped_code_is_reported(void)
{
    begin_state();
    initial.rip = CODE_ADDRESS - 0x1000;
    run();
    check_fault(SIGSEGV, SEGV_MAPERR, CODE_ADDRESS - 0x1000);
    CHECK_EQUAL(result.fault_address, CODE_ADDRESS - 0x1000);
    initial.rip = 0x8000000000000000;
    run();
    CHECK_EQUAL(result.signal, SIGSEGV);
    CHECK_EQUAL(result.state.rip, 0x8000000000000000);
}

static void stack_pointer_may_be_anything(void)
{
    static const uint64_t pointers[] = {0, 1, 8, STACK_ADDRESS + 0x101, STACK_ADDRESS - 0x1000, 1ull << 63, ~0ull};

    PLACE(0x48, 0x8d, 0x64, 0x24, 0x03, 0xcc); /* lea rsp, [rsp + 3] */
    for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
        begin_state();
        initial.gpr[X86_RSP] = pointers[i];
        run();
        check_ended_at_breakpoint(CODE_ADDRESS + 5);
        CHECK_EQUAL(result.state.gpr[X86_RSP], pointers[i] + 3);
    }
    PLACE(0x50, 0xcc); /* push rax */
    begin_state();
    initial.gpr[X86_RSP] = STACK_ADDRESS;
    run();
    check_fault(SIGSEGV, SEGV_MAPERR, CODE_ADDRESS);
    CHECK_EQUAL(result.fault_address, STACK_ADDRESS - 8);
    CHECK_EQUAL(result.state.gpr[X86_RSP], STACK_ADDRESS);
}

static void trap_flag_stops_after_one_instruction(void)
{
    PLACE(0x90, 0x90, 0xcc);
    begin_state();
    initial.rflags |= X86_FLAG_TF;
    run();
    check_fault(SIGTRAP, TRAP_TRACE, CODE_ADDRESS + 1);
    CHECK_EQUAL(result.state.rflags, 0x202 | X86_FLAG_TF);
}

static void nothing_is_written_to_the_stack_of_the_code(void)
{
    struct arena_image before;
    size_t offset;

    PLACE(0xcc);
    CHECK_EQUAL(arena_image_init(&before, &stack), 0);
    begin_state();
    for (unsigned i = 0; i < 100; i++)
        run();
    CHECK(arena_equals(&stack, &before, &offset));
    arena_image_deinit(&before);
}

/* ---- time ----------------------------------------------------------------------------------------------------------
 */

static void endless_loop_is_stopped(void)
{
    PLACE(0xff, 0xc0, 0xeb, 0xfc); /* inc eax; jmp to it */
    begin_state();
    initial.gpr[X86_RBX] = 0x1234;
    for (unsigned i = 0; i < 3; i++) {
        run();
        CHECK_EQUAL(result.end, RUN_TIMEOUT);
        CHECK_EQUAL(result.signal, 0);
        CHECK(result.state.rip == CODE_ADDRESS || result.state.rip == CODE_ADDRESS + 2);
        CHECK_EQUAL(result.state.gpr[X86_RBX], 0x1234);
        CHECK(result.state.gpr[X86_RAX] != 0);
    }
}

/* Long enough that ticks come at every place in the harness and in the code, too short for one run to be stopped. */
static void ticks_are_not_seen_by_the_code(void)
{
    struct random random;

    PLACE(0xff, 0xc9, 0x75, 0xfc, 0xcc); /* dec ecx; jnz to it */
    random_init(&random, 9);
    for (unsigned i = 0; i < 100; i++) {
        draw_state(&random, X86_FLAGS_STATUS | X86_FLAG_DF | X86_FLAG_AC | X86_FLAG_NT | X86_FLAG_ID);
        initial.gpr[X86_RCX] = 2000000;
        run();
        check_ended_at_breakpoint(CODE_ADDRESS + 4);
        initial.gpr[X86_RCX] = 0;
        initial.rflags = (initial.rflags & ~(uint64_t)X86_FLAGS_STATUS) | (initial.rflags & X86_FLAG_CF);
        initial.rflags |= X86_FLAG_ZF | X86_FLAG_PF;
        check_nothing_changed();
    }
}

static void forked_child_can_run_and_stop_loops(void)
{
    fflush(stdout);

    pid_t pid = fork();
    if (pid == 0) {
        PLACE(0xeb, 0xfe); /* jmp to itself */
        begin_state();
        run();
        _exit(result.end == RUN_TIMEOUT ? 0 : 1);
    }

    int status = -1;
    CHECK_EQUAL(waitpid(pid, &status, 0), pid);
    CHECK_EQUAL(status, 0);
}

static void many_runs_take_little_time(void)
{
    enum { RUNS = 100000 };
    struct timespec begin, end;

    PLACE(0xcc);
    begin_state();
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned i = 0; i < RUNS; i++)
        run();
    clock_gettime(CLOCK_MONOTONIC, &end);
    check_ended_at_breakpoint(CODE_ADDRESS);

    double us = (double)(end.tv_sec - begin.tv_sec) * 1e6 + (double)(end.tv_nsec - begin.tv_nsec) / 1e3;
    printf("%.2f us per run\n", us / RUNS);
}

/* ---- segment bases -------------------------------------------------------------------------------------------------
 */

static void gs_base_is_the_test_s(void)
{
    PLACE(0x65, 0x48, 0xff, 0x04, 0x25, 0x10, 0, 0, 0, 0xcc); /* inc qword gs:[0x10] */
    begin_state();
    thread_slots[2] = 40;
    run();
    run();
    check_ended_at_breakpoint(CODE_ADDRESS + 9);
    CHECK_EQUAL(thread_slots[2], 42);
}

static void changed_bases_are_reported_and_put_back(void)
{
    PLACE(0xf3, 0x48, 0x0f, 0xae, 0xd0, 0xf3, 0x48, 0x0f, 0xae, 0xd9, 0xcc); /* wrfsbase rax; wrgsbase rcx */
    begin_state();
    initial.gpr[X86_RAX] = 0x1000;
    initial.gpr[X86_RCX] = 0x2000;
    run();
    if (result.signal == SIGILL)
        return;
    check_ended_at_breakpoint(CODE_ADDRESS + 10);
    CHECK_EQUAL(result.fs_base, 0x1000);
    CHECK_EQUAL(result.gs_base, 0x2000);
    gs_base_is_the_test_s();
    CHECK(result.fs_base != 0x1000);
    CHECK_EQUAL(result.gs_base, (uintptr_t)thread_slots);
}

/* ---- single steps --------------------------------------------------------------------------------------------------
 */

struct trail {
    unsigned count;
    unsigned stop_after;
    struct run_step steps[64];
};

static bool follow(void *context, const struct run_step *step)
{
    struct trail *trail = context;

    if (trail->count < 64)
        trail->steps[trail->count] = *step;
    trail->count++;
    return trail->count != trail->stop_after;
}

static void every_instruction_is_traced(void)
{
    static struct trail trail;

    PLACE(0xb8, 2, 0, 0, 0, 0xff, 0xc8, 0x75, 0xfc, 0xcc); /* mov eax, 2; dec eax; jnz to dec */
    memset(&trail, 0, sizeof(trail));
    begin_state();
    code_runner_trace(&runner, &initial, follow, &trail, &result);
    check_ended_at_breakpoint(CODE_ADDRESS + 9);
    CHECK_EQUAL(trail.count, 5);
    CHECK_EQUAL(result.steps, 5);
    CHECK_EQUAL(trail.steps[0].rip, CODE_ADDRESS + 5);
    CHECK_EQUAL(trail.steps[0].gpr[X86_RAX], 2);
    CHECK_EQUAL(trail.steps[0].rflags, 0x202);
    CHECK_EQUAL(trail.steps[2].rip, CODE_ADDRESS + 5);
    CHECK_EQUAL(trail.steps[4].rip, CODE_ADDRESS + 9);
    CHECK_EQUAL(trail.steps[4].number, 5);
    CHECK_EQUAL(result.state.rflags & X86_FLAG_TF, 0);
}

static void trace_survives_popf_and_shows_in_pushf(void)
{
    static struct trail trail;

    /* push 0x202; popfq; pushfq; pop rax; nop */
    PLACE(0x68, 0x02, 0x02, 0, 0, 0x9d, 0x9c, 0x58, 0x90, 0xcc);
    memset(&trail, 0, sizeof(trail));
    begin_state();
    code_runner_trace(&runner, &initial, follow, &trail, &result);
    check_ended_at_breakpoint(CODE_ADDRESS + 9);
    CHECK_EQUAL(trail.count, 5);
    CHECK_EQUAL(result.state.gpr[X86_RAX], 0x202 | X86_FLAG_TF);
}

static void trace_is_stopped_by_callback_and_by_limit(void)
{
    static struct trail trail;

    PLACE(0xeb, 0xfe); /* jmp to itself */
    memset(&trail, 0, sizeof(trail));
    trail.stop_after = 7;
    begin_state();
    code_runner_trace(&runner, &initial, follow, &trail, &result);
    CHECK_EQUAL(result.end, RUN_STOPPED);
    CHECK_EQUAL(result.steps, 7);
    CHECK_EQUAL(result.state.rip, CODE_ADDRESS);
    trail.stop_after = 0;
    code_runner_trace(&runner, &initial, follow, &trail, &result);
    CHECK_EQUAL(result.end, RUN_STEP_LIMIT);
    CHECK_EQUAL(result.steps, 30000);
}

static void traced_run_ends_like_an_untraced_one(void)
{
    static struct trail trail;

    struct random random;

    /* add rax, rbx; vpaddd zmm1, zmm2, zmm3 (an end by SIGILL where there is none); mov rax, [rbx] */
    PLACE(0x48, 0x01, 0xd8, 0x62, 0xf1, 0x6d, 0x48, 0xfe, 0xcb, 0x48, 0x8b, 0x03, 0xcc);
    random_init(&random, 4);
    for (unsigned i = 0; i < 200; i++) {
        draw_state(&random, X86_FLAGS_STATUS | X86_FLAG_AC | X86_FLAG_NT | X86_FLAG_ID);
        run();
        code_runner_trace(&runner, &initial, follow, &trail, &second);
        CHECK(run_result_equal_end(&result, &second));
        CHECK_EQUAL(machine_state_compare(&result.state, &second.state, NULL, report, sizeof(report)), 0);
    }
}

/* ---- the whole -----------------------------------------------------------------------------------------------------
 */

struct memory {
    struct arena_image data, stack;
};

static void memory_capture(struct memory *memory)
{
    arena_image_capture(&memory->data, &data);
    arena_image_capture(&memory->stack, &stack);
}

static void memory_restore(const struct memory *memory)
{
    arena_restore(&data, &memory->data);
    arena_restore(&stack, &memory->stack);
}

static bool memory_equals(const struct memory *memory)
{
    size_t offset;

    return arena_equals(&data, &memory->data, &offset) && arena_equals(&stack, &memory->stack, &offset);
}

/* Runs the initial state at both places; true if nothing tells them apart. Memory is as before afterwards. */
static bool places_agree(const struct memory *before, struct memory *after)
{
    run();
    memory_capture(after);
    memory_restore(before);
    initial.rip = COPY_ADDRESS;
    code_runner_run(&runner, &initial, &second);
    second.state.rip = second.state.rip - COPY_ADDRESS + CODE_ADDRESS;

    bool agree = run_result_equal_end(&result, &second) && memory_equals(after) &&
                 machine_state_compare(&result.state, &second.state, NULL, report, sizeof(report)) == 0;
    memory_restore(before);
    return agree;
}

/* Into an arena or just outside of it; any other address may be mapped, under a sanitizer many are. */
static uint64_t draw_address(struct random *random)
{
    return random_chance(random, 1, 2) ? DATA_ADDRESS - 0x8000 + random_below(random, 2 * ARENA_BYTES)
                                       : STACK_ADDRESS - 0x8000 + random_below(random, 2 * ARENA_BYTES);
}

static void copy_elsewhere_behaves_the_same(void)
{
    struct memory before, after;
    struct random random;
    unsigned ends = 0, faults = 0, disagreements = 0;

    /* push rax; add rax, rbx; adc [rsi], rax; mul qword [rdi]; pop r8; fld st(1) */
    PLACE(0x50, 0x48, 0x01, 0xd8, 0x48, 0x11, 0x06, 0x48, 0xf7, 0x27, 0x41, 0x58, 0xd9, 0xc1, 0xcc);
    random_init(&random, 11);
    arena_fill(&data, &random);
    arena_fill(&stack, &random);
    CHECK_EQUAL(arena_image_init(&before.data, &data), 0);
    CHECK_EQUAL(arena_image_init(&before.stack, &stack), 0);
    CHECK_EQUAL(arena_image_init(&after.data, &data), 0);
    CHECK_EQUAL(arena_image_init(&after.stack, &stack), 0);
    for (unsigned i = 0; i < 1000; i++) {
        draw_state(&random, X86_FLAGS_STATUS | X86_FLAG_DF | X86_FLAG_AC);
        initial.gpr[X86_RSI] = draw_address(&random);
        initial.gpr[X86_RDI] = draw_address(&random);
        disagreements += !places_agree(&before, &after);
        ends += result.signal == SIGTRAP;
        faults += result.signal == SIGSEGV;
    }
    CHECK_EQUAL(disagreements, 0);
    CHECK(ends > 50 && faults > 50);

    copy.base[3] = 0xd0; /* add rax, rdx */
    for (unsigned i = 0; i < 100; i++) {
        draw_state(&random, X86_FLAGS_STATUS);
        initial.gpr[X86_RSI] = initial.gpr[X86_RDI] = DATA_ADDRESS;
        disagreements += !places_agree(&before, &after);
    }
    CHECK(disagreements > 50);
    arena_image_deinit(&before.data);
    arena_image_deinit(&before.stack);
    arena_image_deinit(&after.data);
    arena_image_deinit(&after.stack);
}

/* What the harness gives back to a sanitizer's handler would be a long report of a death that is wanted. */
static int begin_without_sanitizer(void *context)
{
    (void)context;
    code_runner_deinit(&runner);
    signal(SIGSEGV, SIG_DFL);
    return code_runner_init(&runner, NULL);
}

static enum sandbox_verdict destroy_sometimes(void *context, const struct sandbox_case *now)
{
    (void)context;
    if (now->number == 2)
        PLACE(0x89, 0x03, 0xcc); /* mov [rbx], eax */
    else
        PLACE(0xcc);
    begin_state();
    /* The handler's pointer to the result: nothing can be captured any more. */
    initial.gpr[X86_RBX] = (uintptr_t)&runner.result;
    run();
    return result.signal == SIGTRAP ? SANDBOX_PASSED : SANDBOX_FAILED;
}

static void code_that_destroys_the_harness_costs_one_case(void)
{
    static struct sandbox_outcome outcome;
    struct sandbox_batch batch = {
        .count = 5, .begin = begin_without_sanitizer, .run = destroy_sometimes, .case_limit_ms = 5000};

    CHECK_EQUAL(sandbox_run(&batch, &outcome), 0);
    CHECK_EQUAL(outcome.passed, 4);
    CHECK_EQUAL(outcome.died, 1);
    CHECK_EQUAL(outcome.reports[0].number, 2);
}

static void one_runner_at_a_time(void)
{
    struct code_runner another;

    CHECK_EQUAL(code_runner_init(&another, NULL), -EBUSY);
    code_runner_deinit(&runner);
    CHECK_EQUAL(code_runner_init(&runner, NULL), 0);
    PLACE(0xcc);
    begin_state();
    run();
    check_ended_at_breakpoint(CODE_ADDRESS);
}

static const struct check_case cases[] = {
    CHECK_CASE(breakpoint_alone_leaves_general_registers_alone),
    CHECK_CASE(breakpoint_alone_leaves_vector_lanes_alone),
    CHECK_CASE(random_states_survive_a_breakpoint),
    CHECK_CASE(upper_halves_are_zero_after_vzeroupper),
    CHECK_CASE(initial_vector_state_reads_as_zero),
    CHECK_CASE(flags_are_loaded_and_reported),
    CHECK_CASE(direction_flag_moves_strings_down),
    CHECK_CASE(x87_stack_is_loaded_and_reported),
    CHECK_CASE(mxcsr_is_loaded_and_reported),
    CHECK_CASE(load_from_nowhere_reports_the_address),
    CHECK_CASE(address_that_is_none_is_a_protection_fault),
    CHECK_CASE(invalid_opcode_is_reported),
    CHECK_CASE(division_by_zero_is_reported),
    CHECK_CASE(misaligned_access_faults_when_ac_is_set),
    CHECK_CASE(entry_at_unmapped_code_is_reported),
    CHECK_CASE(stack_pointer_may_be_anything),
    CHECK_CASE(trap_flag_stops_after_one_instruction),
    CHECK_CASE(nothing_is_written_to_the_stack_of_the_code),
    CHECK_CASE(endless_loop_is_stopped),
    CHECK_CASE(ticks_are_not_seen_by_the_code),
    CHECK_CASE(forked_child_can_run_and_stop_loops),
    CHECK_CASE(many_runs_take_little_time),
    CHECK_CASE(gs_base_is_the_test_s),
    CHECK_CASE(changed_bases_are_reported_and_put_back),
    CHECK_CASE(every_instruction_is_traced),
    CHECK_CASE(trace_survives_popf_and_shows_in_pushf),
    CHECK_CASE(trace_is_stopped_by_callback_and_by_limit),
    CHECK_CASE(traced_run_ends_like_an_untraced_one),
    CHECK_CASE(copy_elsewhere_behaves_the_same),
    CHECK_CASE(code_that_destroys_the_harness_costs_one_case),
    CHECK_CASE(one_runner_at_a_time),
};

int main(void)
{
    struct code_runner_options options = {.gs_base = (uintptr_t)thread_slots, .step_limit = 30000};

    if (arena_init(&code, CODE_ADDRESS, ARENA_BYTES, ARENA_CODE) != 0 ||
        arena_init(&copy, COPY_ADDRESS, ARENA_BYTES, ARENA_CODE) != 0 ||
        arena_init(&data, DATA_ADDRESS, ARENA_BYTES, ARENA_DATA) != 0 ||
        arena_init(&stack, STACK_ADDRESS, ARENA_BYTES, ARENA_STACK) != 0)
        check_skip("the arenas' addresses are in use");

    int status = code_runner_init(&runner, &options);
    if (status == -ENOTSUP)
        check_skip("the CPU has no XSAVE");
    CHECK_EQUAL(status, 0);

    int exit_status = status == 0 ? check_run(cases, sizeof(cases) / sizeof(cases[0])) : 1;
    if (status == 0)
        code_runner_deinit(&runner);
    arena_deinit(&stack);
    arena_deinit(&data);
    arena_deinit(&copy);
    arena_deinit(&code);
    return exit_status;
}

#else

int main(void)
{
    check_skip("the code runner is for x86-64");
}

#endif
