/* SPDX-License-Identifier: MIT */
/*
 * Registers that contexts have no room for, in all functions that get a context: a program loads all of the vector and
 * floating-point state, passes a place where such a function is called, and stores all of it.
 *
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "gait/cpu_registers.h"

#include "gait/hook.h"
#include "gait/stalker.h"
#include "gait/x86_64.h"
#include "support/check.h"
#include "support/event_list.h"
#include "support/followed_call.h"
#include "support/hook_log.h"
#include "support/machine_state.h"
#include "support/random.h"
#include "support/state_register.h"

#include <asm/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define GENERAL     GAIT_GENERAL_REGISTERS_ONLY
#define SEEDS       12
#define EVENTS_ALL  0x1f
#define NUMBERS_MAX 32

/*
 * registers_pass(in, out): all components of `in`, an XSAVE image, then registers_place, then all of it to `out`.
 * registers_place returns 1, and registers_other 2 to whoever called registers_place.
 */
uint64_t registers_pass(uint64_t in, uint64_t out);
uint64_t registers_place(void);
uint64_t registers_other(void);
extern const char registers_probed[];
uint32_t registers_components;

__asm__(".text\n"
        ".globl registers_pass\n"
        ".type registers_pass, @function\n"
        "registers_pass:\n"
        "push %rbx\n"
        "mov %rsi, %rbx\n"
        "mov registers_components(%rip), %eax\n"
        "xor %edx, %edx\n"
        "xrstor64 (%rdi)\n"
        "call registers_place\n"
        "mov %rax, %rcx\n"
        "mov registers_components(%rip), %eax\n"
        "xor %edx, %edx\n"
        "xsave64 (%rbx)\n"
        "fninit\n"
        "push $0x1f80\n"
        "ldmxcsr (%rsp)\n"
        "pop %rax\n"
        "vzeroupper\n"
        "mov %rcx, %rax\n"
        "pop %rbx\n"
        "ret\n"
        ".size registers_pass, . - registers_pass\n"
        ".p2align 4\n"
        ".globl registers_place\n"
        ".type registers_place, @function\n"
        "registers_place:\n"
        "mov $7, %eax\n"
        "mov $8, %edx\n"
        ".globl registers_probed\n"
        "registers_probed:\n"
        "mov $1, %eax\n"
        "mov $9, %edx\n"
        "mov $10, %ecx\n"
        "ret\n"
        ".size registers_place, . - registers_place\n"
        ".p2align 4\n"
        ".globl registers_other\n"
        ".type registers_other, @function\n"
        "registers_other:\n"
        "mov $2, %eax\n"
        "mov $9, %edx\n"
        "mov $10, %ecx\n"
        "ret\n"
        ".size registers_other, . - registers_other\n");

/* ---- what the functions of the user's do ------------------------------------------------------------------------- */

/* All registers of a machine; `bytes` by kind and number. */
struct values {
    uint8_t bytes[GAIT_REGISTER_BASE][NUMBERS_MAX][STATE_REGISTER_BYTES];
};

/* What was seen at the first call and the second, and what is set there. */
static struct values seen[2], given[2];
static unsigned calls_made, results_bad;
static uint64_t thread_pointer, fs_base, gs_base;
static bool is_set, is_sent_elsewhere;
static int signal_raised;

/* It uses no vector registers, so that it can be called by all. */
static GENERAL void see_and_set(struct gait_cpu_context *cpu)
{
    unsigned which = calls_made++ & 1;

    for (unsigned kind = GAIT_REGISTER_VECTOR; kind < GAIT_REGISTER_BASE; kind++)
        for (unsigned i = 0; i < gait_cpu_register_count((enum gait_register_kind)kind); i++) {
            enum gait_register_kind of = (enum gait_register_kind)kind;
            size_t size = gait_cpu_register_bytes(of);

            results_bad += gait_cpu_register_get(cpu, of, i, seen[which].bytes[kind][i], size) != 0;
            if (is_set)
                results_bad += gait_cpu_register_set(cpu, of, i, given[which].bytes[kind][i], size) != 0;
        }
    thread_pointer = gait_cpu_thread_pointer(cpu);
    results_bad += gait_x86_64_fs_base(cpu, &fs_base) != 0;
    results_bad += gait_x86_64_gs_base(cpu, &gs_base) != 0;
    if (is_sent_elsewhere)
        cpu->pc = (uintptr_t)registers_other;
}

static GENERAL void called_generally(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    see_and_set(cpu);
}

/* As compilers use registers, and more. */
static void clobber(void)
{
    __asm__ volatile("fninit\n fldpi\n fldz\n pcmpeqb %%xmm0, %%xmm0\n movdqa %%xmm0, %%xmm7\n movdqa %%xmm0, %%xmm15"
                     :
                     :
                     : "xmm0", "xmm7", "xmm15", "st", "st(1)");
    __asm__ volatile("fninit");
}

static void called(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    clobber();
    see_and_set(cpu);
    if (signal_raised != 0)
        raise(signal_raised);
    clobber();
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static struct machine_state states[3]; /* the program's, and what is given */
static uint8_t out[MACHINE_IMAGE_BYTES] __attribute__((aligned(64)));

static void choose_states(uint64_t seed)
{
    static const struct machine_random_options options = {.flags = 0};
    struct random random;

    random_init(&random, seed);
    for (unsigned i = 0; i < 3; i++) {
        machine_state_init(&states[i]);
        if (seed % 4 != i + 1)
            machine_state_randomize(&states[i], &random, &options);
    }
    for (unsigned i = 0; i < 2; i++)
        for (unsigned kind = GAIT_REGISTER_VECTOR; kind < GAIT_REGISTER_BASE; kind++)
            for (unsigned n = 0; n < gait_cpu_register_count((enum gait_register_kind)kind); n++)
                state_register_get(&states[i + 1], kind, n, given[i].bytes[kind][n]);
    registers_components = (uint32_t)machine_state_components();
    memset(seen, 0, sizeof(seen));
    memset(out, 0, sizeof(out));
    calls_made = results_bad = 0;
    is_set = true;
    is_sent_elsewhere = false;
    signal_raised = 0;
}

static void check_seen(const struct values *values, const struct machine_state *expected)
{
    for (unsigned kind = GAIT_REGISTER_VECTOR; kind < GAIT_REGISTER_BASE; kind++)
        for (unsigned i = 0; i < gait_cpu_register_count((enum gait_register_kind)kind); i++) {
            uint8_t bytes[STATE_REGISTER_BYTES];

            state_register_get(expected, kind, i, bytes);
            if (memcmp(bytes, values->bytes[kind][i], sizeof(bytes)) != 0)
                printf("kind %u, register %u\n", kind, i);
            CHECK(memcmp(bytes, values->bytes[kind][i], sizeof(bytes)) == 0);
        }
}

static void check_out(const struct machine_state *expected)
{
    static const struct machine_ignore ignore = {
        .gprs = UINT16_MAX, .rip = true, .rflags = UINT64_MAX, .x87_pointers = true};
    struct machine_state after;
    char report[2000];

    machine_state_init(&after);
    machine_state_image_load(&after, out);
    if (machine_state_compare(expected, &after, &ignore, report, sizeof(report)) != 0) {
        check_failures++;
        printf("%s", report);
    }
    CHECK_EQUAL(results_bad, 0);
}

static uint64_t pass_natively(void)
{
    return registers_pass((uintptr_t)states[0].image, (uintptr_t)out);
}

/* ---- callouts ---------------------------------------------------------------------------------------------------- */

static struct {
    enum gait_callout_use use;
    gait_callout function;
} put;

static void put_at_place(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};

    (void)context;
    while (gait_iterator_next(iterator, &instruction)) {
        if (instruction.address == (uintptr_t)registers_place)
            gait_iterator_put_callout(iterator, put.function, NULL, put.use);
        gait_iterator_keep(iterator);
    }
}

static const struct gait_transformer at_place = {.transform = put_at_place};

static uint64_t pass_with_callout(enum gait_callout_use use, uint32_t events)
{
    static struct event_list ignored;
    struct gait_stalker *stalker = followed_call_stalker();
    struct gait_follow_options options = followed_options();
    uint64_t result;

    put.use = use;
    put.function = use == GAIT_CALLOUT_ANY ? called : called_generally;
    event_list_init(&ignored, 1);
    options.transformer = &at_place;
    options.events = events;
    options.sink = events == 0 ? NULL : &ignored.sink;
    result = followed_call(stalker, &options, (uintptr_t)registers_pass, (uintptr_t)states[0].image, (uintptr_t)out);
    gait_stalker_destroy(stalker);
    event_list_deinit(&ignored);
    return result;
}

static void check_callout(enum gait_callout_use use, uint32_t events, uint64_t seed)
{
    choose_states(seed);
    CHECK_EQUAL(pass_with_callout(use, events), 1);
    CHECK_EQUAL(calls_made, 1);
    check_seen(&seen[0], &states[0]);
    check_out(&states[1]);
}

static void a_callout_reads_and_changes_all_registers(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        check_callout(GAIT_CALLOUT_ANY, 0, seed);
        check_callout(GAIT_CALLOUT_ANY, EVENTS_ALL, seed);
    }
}

static void a_callout_that_keeps_off_vectors_does_so_too(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        check_callout(GAIT_CALLOUT_GENERAL_ONLY, 0, seed);
        check_callout(GAIT_CALLOUT_GENERAL_ONLY, EVENTS_ALL, seed);
    }
}

static void where_a_callout_sends_the_thread_it_has_what_was_set(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        choose_states(seed);
        is_sent_elsewhere = true;
        CHECK_EQUAL(pass_with_callout(seed % 2 ? GAIT_CALLOUT_ANY : GAIT_CALLOUT_GENERAL_ONLY, seed % 3 ? 0 : 4), 2);
        check_seen(&seen[0], &states[0]);
        check_out(&states[1]);
    }
}

static void reading_changes_nothing(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        choose_states(seed);
        is_set = false;
        CHECK_EQUAL(pass_with_callout(seed % 2 ? GAIT_CALLOUT_ANY : GAIT_CALLOUT_GENERAL_ONLY, 0), 1);
        check_seen(&seen[0], &states[0]);
        check_out(&states[0]);
    }
}

/* ---- call probes ------------------------------------------------------------------------------------------------- */

static void probed(struct gait_call *call, void *data)
{
    called(call->cpu, data);
}

static void a_call_probe_reads_and_changes_all_registers(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct gait_stalker *stalker = followed_call_stalker();
        struct gait_follow_options options = followed_options();
        uint32_t id;

        choose_states(seed);
        CHECK_EQUAL(gait_stalker_add_call_probe(stalker, (uintptr_t)registers_place, probed, NULL, &id, NULL), 0);
        CHECK_EQUAL(gait_stalker_add_call_probe(stalker, (uintptr_t)registers_place, probed, NULL, &id, NULL), 0);
        CHECK_EQUAL(
            followed_call(stalker, &options, (uintptr_t)registers_pass, (uintptr_t)states[0].image, (uintptr_t)out), 1);
        CHECK_EQUAL(calls_made, 2);
        check_seen(&seen[0], &states[0]);
        /* The second one sees what the first one set. */
        check_seen(&seen[1], &states[1]);
        check_out(&states[2]);
        gait_stalker_destroy(stalker);
    }
}

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

static void invoked(struct gait_invocation *invocation)
{
    called(invocation->cpu, NULL);
}

static GENERAL void invoked_generally(struct gait_invocation *invocation)
{
    see_and_set(invocation->cpu);
}

static struct gait_listener listener_of(bool is_general_only, bool with_leave)
{
    gait_invocation_function function = is_general_only ? invoked_generally : invoked;

    return (struct gait_listener){.size_bytes = sizeof(struct gait_listener),
                                  .enter = function,
                                  .leave = with_leave ? function : NULL,
                                  .general_only = is_general_only};
}

static void check_listener(bool is_general_only)
{
    struct gait_listener listener = listener_of(is_general_only, true);

    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)registers_place, &listener, NULL, &error), 0);
    /* The first time the gate goes the slow way. */
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        choose_states(seed);
        CHECK_EQUAL(pass_natively(), 1);
        CHECK_EQUAL(calls_made, 2);
        check_seen(&seen[0], &states[0]);
        check_seen(&seen[1], &states[1]);
        check_out(&states[2]);
    }
    end();
}

static void a_listener_reads_and_changes_all_registers_at_both_ends(void)
{
    check_listener(false);
}

static void a_listener_that_keeps_off_vectors_does_so_too(void)
{
    check_listener(true);
}

static void check_once(bool is_general_only, bool is_elsewhere)
{
    struct gait_listener listener = listener_of(is_general_only, false);

    begin();
    CHECK_EQUAL(gait_hook_probe(hooks, (uintptr_t)registers_probed, &listener, NULL, &error), 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        choose_states(seed);
        is_sent_elsewhere = is_elsewhere;
        CHECK_EQUAL(pass_natively(), is_elsewhere ? 2 : 1);
        CHECK_EQUAL(calls_made, 1);
        check_seen(&seen[0], &states[0]);
        check_out(&states[1]);
    }
    end();
}

static void a_probe_of_an_instruction_reads_and_changes_all_registers(void)
{
    check_once(false, false);
    check_once(true, false);
}

static void where_a_listener_sends_the_thread_it_has_what_was_set(void)
{
    check_once(false, true);
    check_once(true, true);
}

static void ignore(struct gait_invocation *invocation)
{
    (void)invocation;
    clobber();
}

static void who_does_not_ask_disturbs_nothing(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = ignore, .leave = ignore};

    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)registers_place, &listener, NULL, &error), 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        choose_states(seed);
        CHECK_EQUAL(pass_natively(), 1);
        check_out(&states[0]);
    }
    end();
}

/* ---- floating-point arguments and results ------------------------------------------------------------------------ */

static double double_seen, double_result;
static float float_seen;

static NOINLINE double weigh(double a, float b, double c)
{
    __asm__ volatile("");
    return a + 10 * (double)b + 100 * c;
}

static void change_arguments(struct gait_invocation *invocation)
{
    struct gait_cpu_context *cpu = invocation->cpu;
    double new_a = 4;
    float new_b = 5;

    CHECK_EQUAL(gait_cpu_float_argument_get(cpu, 0, &double_seen, sizeof(double_seen)), 0);
    CHECK_EQUAL(gait_cpu_float_argument_get(cpu, 1, &float_seen, sizeof(float_seen)), 0);
    CHECK_EQUAL(gait_cpu_float_argument_set(cpu, 0, &new_a, sizeof(new_a)), 0);
    CHECK_EQUAL(gait_cpu_float_argument_set(cpu, 1, &new_b, sizeof(new_b)), 0);
    CHECK_EQUAL(gait_cpu_float_argument_get(cpu, GAIT_CPU_FLOAT_ARGUMENT_COUNT, &new_a, sizeof(new_a)), -EINVAL);
    CHECK_EQUAL(gait_cpu_float_argument_set(cpu, GAIT_CPU_FLOAT_ARGUMENT_COUNT, &new_a, sizeof(new_a)), -EINVAL);
}

static void change_result(struct gait_invocation *invocation)
{
    double better;

    CHECK_EQUAL(gait_cpu_float_result_get(invocation->cpu, &double_result, sizeof(double_result)), 0);
    better = double_result + 0.5;
    CHECK_EQUAL(gait_cpu_float_result_set(invocation->cpu, &better, sizeof(better)), 0);
}

static void floating_point_arguments_and_results_are_changed(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = change_arguments, .leave = change_result};

    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)weigh, &listener, NULL, &error), 0);
    for (unsigned i = 0; i < 3; i++) {
        double result = weigh(1, 2, 3);

        CHECK(double_seen == 1 && float_seen == 2);
        CHECK(double_result == 354 && result == 354.5);
    }
    end();
    CHECK(weigh(1, 2, 3) == 321);
}

static double (*original)(double a, float b, double c);

static double weigh_otherwise(double a, float b, double c)
{
    return original(a + 1, b, c) * 2;
}

static void a_replacement_has_floating_point_arguments_as_any_function(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = change_arguments, .leave = change_result};
    void *place;

    begin();
    CHECK_EQUAL(gait_hook_replace(hooks, (uintptr_t)weigh, (uintptr_t)weigh_otherwise, &place, &error), 0);
    memcpy(&original, &place, sizeof(original));
    CHECK(weigh(1, 2, 3) == 2 * 322);
    /* Listeners see and change what it gets and returns. */
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)weigh, &listener, NULL, &error), 0);
    CHECK(weigh(1, 2, 3) == 2 * 355 + 0.5);
    CHECK(double_seen == 1 && float_seen == 2);
    end();
}

static void change_argument_of_call(struct gait_call *call, void *data)
{
    double value = 7;

    (void)data;
    CHECK_EQUAL(gait_cpu_float_argument_get(call->cpu, 2, &double_seen, sizeof(double_seen)), 0);
    CHECK_EQUAL(gait_cpu_float_argument_set(call->cpu, 2, &value, sizeof(value)), 0);
}

static uint64_t weigh_all(uint64_t a, uint64_t b)
{
    return (uint64_t)weigh((double)a, (float)b, 3);
}

static void a_call_probe_changes_a_floating_point_argument(void)
{
    struct gait_stalker *stalker = followed_call_stalker();
    struct gait_follow_options options = followed_options();
    uint32_t id;

    CHECK_EQUAL(gait_stalker_add_call_probe(stalker, (uintptr_t)weigh, change_argument_of_call, NULL, &id, NULL), 0);
    CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)weigh_all, 1, 2), 721);
    CHECK(double_seen == 3);
    gait_stalker_destroy(stalker);
}

/* ---- signals ----------------------------------------------------------------------------------------------------- */

static uint8_t xmm_in_frame[16];
static unsigned handled;

static void handle(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *ucontext = context;

    (void)signal;
    (void)info;
    memcpy(xmm_in_frame, &ucontext->uc_mcontext.fpregs->_xmm[5], sizeof(xmm_in_frame));
    handled++;
    clobber();
}

static void install_handler(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};

    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    handled = 0;
}

static void a_handler_comes_behind_a_callout_and_finds_what_was_set(void)
{
    install_handler();
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        choose_states(seed);
        signal_raised = SIGUSR1;
        CHECK_EQUAL(pass_with_callout(GAIT_CALLOUT_ANY, seed % 2 ? EVENTS_ALL : 0), 1);
        CHECK_EQUAL(handled, seed + 1);
        CHECK(memcmp(xmm_in_frame, given[0].bytes[GAIT_REGISTER_VECTOR][5], sizeof(xmm_in_frame)) == 0);
        check_seen(&seen[0], &states[0]);
        check_out(&states[1]);
    }
}

static void a_handler_that_interrupts_a_listener_leaves_what_was_set(void)
{
    struct gait_listener listener = listener_of(false, true);

    install_handler();
    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)registers_place, &listener, NULL, &error), 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        choose_states(seed);
        signal_raised = SIGUSR1;
        CHECK_EQUAL(pass_natively(), 1);
        CHECK_EQUAL(handled, 2 * seed + 2);
        check_seen(&seen[0], &states[0]);
        check_seen(&seen[1], &states[1]);
        check_out(&states[2]);
    }
    end();
}

/* ---- bases ------------------------------------------------------------------------------------------------------- */

static uint64_t base_by_system_call(int which)
{
    uint64_t base = 0;

    CHECK_EQUAL(syscall(SYS_arch_prctl, which, &base), 0);
    return base;
}

static void set_gs_base(uint64_t base)
{
    CHECK_EQUAL(syscall(SYS_arch_prctl, ARCH_SET_GS, base), 0);
}

static void the_bases_are_those_of_the_program(void)
{
    uint64_t pointer = base_by_system_call(ARCH_GET_FS), own = base_by_system_call(ARCH_GET_GS);
    static uint64_t word;

    for (unsigned i = 0; i < 2; i++) {
        uint64_t base = i == 0 ? 0 : (uintptr_t)&word;

        set_gs_base(base);
        choose_states(1);
        CHECK_EQUAL(pass_with_callout(i == 0 ? GAIT_CALLOUT_ANY : GAIT_CALLOUT_GENERAL_ONLY, 0), 1);
        CHECK_EQUAL(results_bad, 0);
        CHECK_EQUAL(thread_pointer, pointer);
        CHECK_EQUAL(fs_base, pointer);
        CHECK_EQUAL(gs_base, base);
    }
    set_gs_base(own);
}

static void the_bases_are_those_of_the_program_in_listeners(void)
{
    struct gait_listener listener = listener_of(false, true);
    uint64_t pointer = base_by_system_call(ARCH_GET_FS);
    static uint64_t word;

    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)registers_place, &listener, NULL, &error), 0);
    for (unsigned i = 0; i < 3; i++) {
        /* The program has one of its own only the last time. */
        uint64_t base = i < 2 ? 0 : (uintptr_t)&word;

        if (base != 0)
            set_gs_base(base);
        choose_states(1);
        CHECK_EQUAL(pass_natively(), 1);
        CHECK_EQUAL(results_bad, 0);
        CHECK_EQUAL(thread_pointer, pointer);
        CHECK_EQUAL(fs_base, pointer);
        CHECK_EQUAL(gs_base, base);
    }
    set_gs_base(0);
    end();
}

static void the_bases_are_those_of_the_program_where_a_followed_thread_is_hooked(void)
{
    struct gait_stalker *stalker = followed_call_stalker();
    struct gait_follow_options options = followed_options();
    struct gait_listener listener = listener_of(false, true);
    static uint64_t word;

    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)registers_place, &listener, NULL, &error), 0);
    set_gs_base((uintptr_t)&word);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        choose_states(seed);
        CHECK_EQUAL(
            followed_call(stalker, &options, (uintptr_t)registers_pass, (uintptr_t)states[0].image, (uintptr_t)out), 1);
        CHECK_EQUAL(calls_made, 2);
        CHECK_EQUAL(gs_base, (uintptr_t)&word);
        check_seen(&seen[0], &states[0]);
        check_seen(&seen[1], &states[1]);
        check_out(&states[2]);
    }
    set_gs_base(0);
    end();
    gait_stalker_destroy(stalker);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void check_refusals(struct gait_cpu_context *cpu)
{
    size_t width = gait_cpu_register_bytes(GAIT_REGISTER_VECTOR);
    unsigned count = gait_cpu_register_count(GAIT_REGISTER_VECTOR);
    uint8_t bytes[STATE_REGISTER_BYTES + 1] = {0};
    uint64_t base = 0;

    CHECK_EQUAL(gait_cpu_vector_get(cpu, count, bytes, width), -EINVAL);
    CHECK_EQUAL(gait_cpu_vector_set(cpu, count, bytes, width), -EINVAL);
    CHECK_EQUAL(gait_cpu_vector_get(cpu, 0, bytes, width + 1), -EINVAL);
    CHECK_EQUAL(gait_cpu_vector_get(cpu, 0, bytes, 0), -EINVAL);
    CHECK_EQUAL(gait_x86_64_st_get(cpu, 8, bytes), -EINVAL);
    CHECK_EQUAL(gait_x86_64_control_set(cpu, GAIT_X86_64_MXCSR, 0x1000000), -EINVAL);
    CHECK_EQUAL(gait_x86_64_control_set(cpu, GAIT_X86_64_CONTROL_COUNT, 0), -EINVAL);
    CHECK_EQUAL(gait_cpu_register_get(cpu, (enum gait_register_kind)99, 0, bytes, 1), -EINVAL);
    CHECK_EQUAL(gait_cpu_register_set(cpu, GAIT_REGISTER_BASE, 0, &base, sizeof(base)), -EPERM);
    CHECK_EQUAL(gait_cpu_register_set(cpu, GAIT_REGISTER_BASE, 1, &base, sizeof(base)), -EPERM);
    CHECK_EQUAL(gait_cpu_register_get(cpu, GAIT_REGISTER_BASE, 2, &base, sizeof(base)), -EINVAL);
    CHECK_EQUAL(gait_x86_64_xmm_get(cpu, 0, bytes), 0);
}

static struct gait_cpu_context copied;

static void refuse(struct gait_cpu_context *cpu, void *data)
{
    uint8_t bytes[16];

    (void)data;
    check_refusals(cpu);
    copied = *cpu;
    CHECK_EQUAL(gait_x86_64_xmm_get(&copied, 0, bytes), -ESRCH);
    CHECK_EQUAL(gait_x86_64_xmm_set(&copied, 0, bytes), -ESRCH);
    CHECK_EQUAL(gait_cpu_thread_pointer(&copied), 0);
}

static void *ask_elsewhere(void *context)
{
    uint8_t bytes[16];

    return (void *)(intptr_t)gait_x86_64_xmm_get(context, 0, bytes);
}

static void refuse_in_listener(struct gait_invocation *invocation)
{
    pthread_t thread;
    void *result = NULL;

    refuse(invocation->cpu, NULL);
    CHECK_EQUAL(pthread_create(&thread, NULL, ask_elsewhere, invocation->cpu), 0);
    CHECK_EQUAL(pthread_join(thread, &result), 0);
    CHECK_EQUAL((intptr_t)result, -ESRCH);
}

static void what_cannot_be_is_refused(void)
{
    struct gait_listener listener = {
        .size_bytes = sizeof(listener), .enter = refuse_in_listener, .leave = refuse_in_listener};
    struct gait_stalker *stalker = followed_call_stalker();
    struct gait_follow_options options = followed_options();

    choose_states(1);
    put.use = GAIT_CALLOUT_ANY;
    put.function = refuse;
    options.transformer = &at_place;
    CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)registers_pass, (uintptr_t)states[0].image, (uintptr_t)out),
                1);
    gait_stalker_destroy(stalker);

    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)registers_place, &listener, NULL, &error), 0);
    CHECK_EQUAL(pass_natively(), 1);
    CHECK_EQUAL(pass_natively(), 1);
    end();
    CHECK_EQUAL(gait_cpu_register_get(&copied, GAIT_REGISTER_VECTOR, 0, out, 16), -ESRCH);
}

/* ---- calls that do not return ------------------------------------------------------------------------------------ */

static void *place_of_jump[5];
static unsigned unwound;

static NOINLINE void jump_back(void)
{
    __asm__ volatile("");
    __builtin_longjmp(place_of_jump, 1);
}

static void note_unwound(struct gait_invocation *invocation)
{
    uint8_t bytes[16] = {0};

    if (invocation->point != GAIT_INVOCATION_UNWOUND)
        return;
    unwound++;
    CHECK_EQUAL(gait_x86_64_xmm_get(invocation->cpu, 0, bytes), -ESRCH);
    CHECK_EQUAL(gait_x86_64_xmm_set(invocation->cpu, 0, bytes), -ESRCH);
    CHECK_EQUAL(gait_cpu_thread_pointer(invocation->cpu), base_by_system_call(ARCH_GET_FS));
}

static void of_a_call_that_does_not_return_nothing_is_known_but_bases(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .leave = note_unwound, .unwound = true};

    begin();
    unwound = 0;
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)jump_back, &listener, NULL, &error), 0);
    if (__builtin_setjmp(place_of_jump) == 0)
        jump_back();
    /* Noticed at the next call from where it was. */
    if (__builtin_setjmp(place_of_jump) == 0)
        jump_back();
    CHECK_EQUAL(unwound, 1);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_callout_reads_and_changes_all_registers),
    CHECK_CASE(a_callout_that_keeps_off_vectors_does_so_too),
    CHECK_CASE(where_a_callout_sends_the_thread_it_has_what_was_set),
    CHECK_CASE(reading_changes_nothing),
    CHECK_CASE(a_call_probe_reads_and_changes_all_registers),
    CHECK_CASE(a_listener_reads_and_changes_all_registers_at_both_ends),
    CHECK_CASE(a_listener_that_keeps_off_vectors_does_so_too),
    CHECK_CASE(a_probe_of_an_instruction_reads_and_changes_all_registers),
    CHECK_CASE(where_a_listener_sends_the_thread_it_has_what_was_set),
    CHECK_CASE(who_does_not_ask_disturbs_nothing),
    CHECK_CASE(floating_point_arguments_and_results_are_changed),
    CHECK_CASE(a_replacement_has_floating_point_arguments_as_any_function),
    CHECK_CASE(a_call_probe_changes_a_floating_point_argument),
    CHECK_CASE(a_handler_comes_behind_a_callout_and_finds_what_was_set),
    CHECK_CASE(a_handler_that_interrupts_a_listener_leaves_what_was_set),
    CHECK_CASE(the_bases_are_those_of_the_program),
    CHECK_CASE(the_bases_are_those_of_the_program_in_listeners),
    CHECK_CASE(the_bases_are_those_of_the_program_where_a_followed_thread_is_hooked),
    CHECK_CASE(what_cannot_be_is_refused),
    CHECK_CASE(of_a_call_that_does_not_return_nothing_is_known_but_bases),
};

CHECK_MAIN(cases)
