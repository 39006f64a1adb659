/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "hook/hook_gate.h"

#include "base/counters.h"
#include "gait/x86_64.h"
#include "hook/hook_record.h"
#include "hook/hook_thread.h"
#include "support/check.h"
#include "support/hook_lab.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <unistd.h>

#if defined(__x86_64__)

#define LISTENED (HOOK_STUB_LISTEN | HOOK_STUB_RETURNS)
#define RECORDED (HOOK_STUB_RECORD | HOOK_STUB_RETURNS)
#define BOTH     (HOOK_STUB_LISTEN | HOOK_STUB_RECORD | HOOK_STUB_RETURNS)

typedef int two_function(int, int);

static __attribute__((noinline)) int add(int a, int b)
{
    return a + b;
}

static two_function *hook_add(unsigned parts)
{
    return (two_function *)hook_lab_hook((void *)add, 'a', parts);
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static void calls_and_returns_are_told_by_listeners(void)
{
    two_function *hooked = hook_add(LISTENED);

    CHECK_EQUAL(hooked(40, 2), 42);
    CHECK_TEXT(hook_lab_told(), "+a-a");
    for (int i = 0; i < 1000; i++)
        CHECK_EQUAL(hooked(i, 2 * i), 3 * i);
    CHECK_EQUAL(strlen(hook_lab_told()), 4000);
}

static void calls_and_returns_are_recorded(void)
{
    two_function *hooked = hook_add(RECORDED);

    CHECK_EQUAL(hooked(40, 2), 42);
    CHECK_TEXT(hook_lab_recorded(), "+a-a");
    for (int i = 0; i < 1000; i++)
        CHECK_EQUAL(hooked(i, 2 * i), 3 * i);
    CHECK_EQUAL(strlen(hook_lab_recorded()), 4000);
}

/* The lab's ring has room for less. */
static void records_that_find_no_room_are_dropped_and_the_program_goes_on(void)
{
    two_function *hooked = hook_add(RECORDED);
    uint64_t dropped = counter_read(COUNTER_hook_record_bytes_dropped);

    for (int i = 0; i < 100000; i++)
        CHECK_EQUAL(hooked(i, 2 * i), 3 * i);
    CHECK(strlen(hook_lab_recorded()) > 16000);
    for (int i = 0; i < 10000; i++)
        CHECK_EQUAL(hooked(i, 2 * i), 3 * i);
    CHECK(strlen(hook_lab_recorded()) > 0);
    CHECK(counter_read(COUNTER_hook_record_bytes_dropped) > dropped);
}

static void both_can_be_had(void)
{
    two_function *hooked = hook_add(BOTH);

    CHECK_EQUAL(hooked(40, 2), 42);
    CHECK_TEXT(hook_lab_told(), "+a-a");
    CHECK_TEXT(hook_lab_recorded(), "+a-a");
}

static void without_its_return_only_the_call_is_told(void)
{
    two_function *hooked = hook_add(HOOK_STUB_LISTEN), *recorded = hook_add(HOOK_STUB_RECORD);

    CHECK_EQUAL(hooked(40, 2), 42);
    CHECK_TEXT(hook_lab_told(), "?a");
    CHECK_EQUAL(recorded(40, 2), 42);
    CHECK_TEXT(hook_lab_recorded(), "+a-a");
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

struct machine {
    uint64_t registers[16]; /* as in gait_cpu_context; rsp is not set */
    uint64_t flags;
    uint8_t vectors[16][32];
};

/*
 * machine_call(function, before, after): calls it with the registers of *before, and keeps those that it returns with.
 * machine_function keeps those that it is entered with in machine_entered, and returns with those of machine_left.
 */
void machine_call(void *function, const struct machine *before, struct machine *after);
void machine_function(void);
extern struct machine machine_entered, machine_left;
struct machine machine_entered, machine_left;

__asm__(".text\n"
        ".macro LOAD_MACHINE at\n"
        "        pushq   128(\\at)\n"
        "        popfq\n"
        "        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "        vmovdqu 136 + 32 * \\n(\\at), %ymm\\n\n"
        "        .endr\n"
        "        movq    8 * 0(\\at), %rax\n"
        "        movq    8 * 1(\\at), %rcx\n"
        "        movq    8 * 2(\\at), %rdx\n"
        "        movq    8 * 3(\\at), %rbx\n"
        "        movq    8 * 5(\\at), %rbp\n"
        "        movq    8 * 6(\\at), %rsi\n"
        "        movq    8 * 7(\\at), %rdi\n"
        "        movq    8 * 8(\\at), %r8\n"
        "        movq    8 * 9(\\at), %r9\n"
        "        movq    8 * 10(\\at), %r10\n"
        "        movq    8 * 12(\\at), %r12\n"
        "        movq    8 * 13(\\at), %r13\n"
        "        movq    8 * 14(\\at), %r14\n"
        "        movq    8 * 15(\\at), %r15\n"
        "        movq    8 * 11(\\at), %r11\n"
        ".endm\n"
        /* Everything but the flags is left alone; what is pushed are the flags and r11. */
        ".macro STORE_MACHINE place\n"
        "        pushfq\n"
        "        pushq   %r11\n"
        "        leaq    \\place, %r11\n"
        "        movq    %rax, 8 * 0(%r11)\n"
        "        movq    %rcx, 8 * 1(%r11)\n"
        "        movq    %rdx, 8 * 2(%r11)\n"
        "        movq    %rbx, 8 * 3(%r11)\n"
        "        leaq    16(%rsp), %rax\n"
        "        movq    %rax, 8 * 4(%r11)\n"
        "        movq    %rbp, 8 * 5(%r11)\n"
        "        movq    %rsi, 8 * 6(%r11)\n"
        "        movq    %rdi, 8 * 7(%r11)\n"
        "        movq    %r8, 8 * 8(%r11)\n"
        "        movq    %r9, 8 * 9(%r11)\n"
        "        movq    %r10, 8 * 10(%r11)\n"
        "        popq    8 * 11(%r11)\n"
        "        movq    %r12, 8 * 12(%r11)\n"
        "        movq    %r13, 8 * 13(%r11)\n"
        "        movq    %r14, 8 * 14(%r11)\n"
        "        movq    %r15, 8 * 15(%r11)\n"
        "        popq    128(%r11)\n"
        "        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "        vmovdqu %ymm\\n, 136 + 32 * \\n(%r11)\n"
        "        .endr\n"
        "        cld\n"
        ".endm\n"
        "machine_function:\n"
        "        STORE_MACHINE machine_entered(%rip)\n"
        "        leaq    machine_left(%rip), %r11\n"
        "        LOAD_MACHINE %r11\n"
        "        ret\n"
        "machine_call:\n"
        "        pushq   %rbx\n"
        "        pushq   %rbp\n"
        "        pushq   %r12\n"
        "        pushq   %r13\n"
        "        pushq   %r14\n"
        "        pushq   %r15\n"
        "        pushq   %rdx\n"
        "        pushq   %rdi\n"
        "        movq    %rsi, %r11\n"
        "        LOAD_MACHINE %r11\n"
        "        call    *(%rsp)\n"
        "        STORE_MACHINE machine_returned(%rip)\n"
        "        addq    $8, %rsp\n"
        "        popq    %rdi\n"
        "        popq    %r15\n"
        "        popq    %r14\n"
        "        popq    %r13\n"
        "        popq    %r12\n"
        "        popq    %rbp\n"
        "        popq    %rbx\n"
        "        leaq    machine_returned(%rip), %rsi\n"
        "        movl    $648 / 8, %ecx\n"
        "        rep movsq\n"
        "        vzeroupper\n"
        "        ret\n"
        ".local machine_returned\n"
        ".comm machine_returned, 648, 16\n");

_Static_assert(sizeof(struct machine) == 648, "as machine_call has it");

#define FLAGS_OF_ARITHMETIC 0x8d5
#define FLAG_DIRECTION      0x400

static void fill(struct machine *machine, uint64_t seed, uint64_t flags)
{
    uint8_t *vectors = machine->vectors[0];

    for (unsigned i = 0; i < 16; i++)
        machine->registers[i] = seed * 0x0101010101010101ull + i * 0x1000000000000001ull;
    for (unsigned i = 0; i < sizeof(machine->vectors); i++)
        vectors[i] = (uint8_t)(seed * 7 + i);
    machine->flags = flags | 2;
}

static bool are_same(const struct machine *a, const struct machine *b)
{
    for (unsigned i = 0; i < 16; i++)
        if (i != 4 && a->registers[i] != b->registers[i]) {
            printf("register %u: %" PRIx64 " and %" PRIx64 "\n", i, a->registers[i], b->registers[i]);
            return false;
        }
    if (((a->flags ^ b->flags) & (FLAGS_OF_ARITHMETIC | FLAG_DIRECTION)) != 0) {
        printf("flags: %" PRIx64 " and %" PRIx64 "\n", a->flags, b->flags);
        return false;
    }
    return memcmp(a->vectors, b->vectors, sizeof(a->vectors)) == 0;
}

/* Uses all registers that a function may use. */
static void use_registers(struct gait_invocation *invocation)
{
    (void)invocation;
    __asm__ volatile(
        "vpcmpeqb %%ymm0, %%ymm0, %%ymm0; vmovdqa %%ymm0, %%ymm1; vmovdqa %%ymm0, %%ymm15; xorl %%eax, %%eax"
        :
        :
        : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm15", "cc");
}

static void check_machine(void *hooked)
{
    static const uint64_t flags[] = {0, 1, 4, 0x10, 0x40, 0x80, 0x800, 0x8d5, 0x8c1, 0x400, 0xc55};

    for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        for (unsigned j = 0; j < sizeof(flags) / sizeof(flags[0]); j++) {
            struct machine before, after;

            fill(&before, i + 1, flags[i]);
            fill(&machine_left, j + 100, flags[j]);
            machine_call(hooked, &before, &after);
            CHECK(are_same(&machine_entered, &before));
            CHECK(are_same(&after, &machine_left));
            CHECK_EQUAL(after.registers[4], machine_entered.registers[4] + 8);
        }
}

static void all_registers_and_flags_are_the_callers_and_the_functions(void)
{
    const struct hook_listener listener = {.enter = use_registers, .leave = use_registers};

    check_machine((void *)machine_function);
    check_machine(hook_lab_hook((void *)machine_function, 'm', RECORDED));
    check_machine(hook_lab_hook((void *)machine_function, 'm', LISTENED));
    check_machine(hook_lab_hook((void *)machine_function, 'm', BOTH));
    check_machine(hook_lab_hook((void *)machine_function, 'm', HOOK_STUB_RECORD));
    check_machine(hook_lab_hook((void *)machine_function, 'm', HOOK_STUB_LISTEN));
    check_machine(hook_lab_hook_with((void *)machine_function, LISTENED, &listener, 1));
    check_machine(hook_lab_hook_with((void *)machine_function, BOTH, &listener, 1));
    check_machine(hook_lab_hook_with((void *)machine_function, HOOK_STUB_LISTEN, &listener, 1));
    (void)hook_lab_told();
    (void)hook_lab_recorded();
}

static struct gait_cpu_context seen[2];
static struct gait_invocation seen_invocation[2];

static void look(struct gait_invocation *invocation)
{
    unsigned which = invocation->point == GAIT_INVOCATION_LEAVE;

    seen[which] = *invocation->cpu;
    seen_invocation[which] = *invocation;
}

static void check_seen(const struct gait_cpu_context *cpu, const struct machine *machine)
{
    for (unsigned i = 0; i < 16; i++)
        if (i != 4)
            CHECK_EQUAL(cpu->registers[i], machine->registers[i]);
    CHECK_EQUAL(cpu->flags & FLAGS_OF_ARITHMETIC, machine->flags & FLAGS_OF_ARITHMETIC);
}

static void listeners_see_all_of_them(void)
{
    const struct hook_listener listener = {.enter = look, .leave = look, .flags = HOOK_LISTENER_GENERAL_ONLY};
    const unsigned parts[] = {LISTENED, BOTH};

    for (unsigned i = 0; i < 2; i++) {
        void *hooked = hook_lab_hook_with((void *)machine_function, parts[i], &listener, 1);
        struct machine before, after;

        fill(&before, 3, 0x8d5);
        fill(&machine_left, 4, 0x41);
        machine_call(hooked, &before, &after);
        check_seen(&seen[0], &before);
        check_seen(&seen[1], &machine_left);
        CHECK_EQUAL(gait_cpu_stack_pointer(&seen[0]), machine_entered.registers[4]);
        CHECK_EQUAL(gait_cpu_stack_pointer(&seen[1]), after.registers[4]);
        CHECK_EQUAL(seen[0].pc, (uintptr_t)machine_function);
        CHECK_EQUAL(seen[1].pc, seen_invocation[0].return_address);
        CHECK_EQUAL(seen_invocation[0].function, (uintptr_t)machine_function);
        CHECK_EQUAL(seen_invocation[1].function, (uintptr_t)machine_function);
    }
    (void)hook_lab_recorded();
}

static void change_all(struct gait_invocation *invocation)
{
    uint64_t sp = gait_cpu_stack_pointer(invocation->cpu);

    for (unsigned i = 0; i < 16; i++)
        invocation->cpu->registers[i] += 0x1111111111;
    gait_cpu_stack_pointer_set(invocation->cpu, sp);
    invocation->cpu->flags ^= FLAGS_OF_ARITHMETIC;
}

static void what_listeners_change_is_changed(void)
{
    const struct hook_listener listener = {.enter = change_all, .leave = change_all};
    const unsigned parts[] = {LISTENED, BOTH};

    for (unsigned i = 0; i < 2; i++) {
        void *hooked = hook_lab_hook_with((void *)machine_function, parts[i], &listener, 1);
        struct machine before, after, entered, left;

        fill(&before, 3, 0x8d5);
        fill(&machine_left, 4, 0x41);
        machine_call(hooked, &before, &after);
        entered = before;
        left = machine_left;
        for (unsigned j = 0; j < 16; j++) {
            entered.registers[j] += 0x1111111111;
            left.registers[j] += 0x1111111111;
        }
        entered.flags ^= FLAGS_OF_ARITHMETIC;
        left.flags ^= FLAGS_OF_ARITHMETIC;
        CHECK(are_same(&machine_entered, &entered));
        CHECK(are_same(&after, &left));
    }
    (void)hook_lab_recorded();
}

/* ---- arguments and results --------------------------------------------------------------------------------------- */

typedef long many_function(long, long, long, long, long, long, long, long);

static __attribute__((noinline)) long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
    __asm__ volatile("" : "+r"(a));
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

static void double_arguments(struct gait_invocation *invocation)
{
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQUAL(gait_invocation_argument(invocation, i), i + 1);
        gait_invocation_argument_set(invocation, i, gait_invocation_argument(invocation, i) * 2);
    }
}

static void double_result(struct gait_invocation *invocation)
{
    CHECK_EQUAL(gait_invocation_return_value(invocation), 2 * 204);
    gait_invocation_return_value_set(invocation, gait_invocation_return_value(invocation) * 2);
}

static void arguments_and_results_can_be_read_and_changed(void)
{
    const struct hook_listener listener = {.enter = double_arguments, .leave = double_result};
    many_function *hooked = (many_function *)hook_lab_hook_with((void *)many, LISTENED, &listener, 1);

    CHECK_EQUAL(hooked(1, 2, 3, 4, 5, 6, 7, 8), 4 * 204);
}

static void skip_function(struct gait_invocation *invocation)
{
    gait_invocation_return_value_set(invocation, 77);
    invocation->cpu->pc = invocation->return_address;
    gait_cpu_stack_pointer_set(invocation->cpu, gait_cpu_stack_pointer(invocation->cpu) + 8);
}

static int other(int a, int b)
{
    return a * b;
}

static void enter_other(struct gait_invocation *invocation)
{
    invocation->cpu->pc = (uintptr_t)other;
}

static volatile bool was_elsewhere;

static __attribute__((noinline)) void elsewhere(void)
{
    was_elsewhere = true;
}

/* Returns to another function first, which returns to the caller. */
static void return_elsewhere(struct gait_invocation *invocation)
{
    gait_cpu_stack_pointer_set(invocation->cpu, gait_cpu_stack_pointer(invocation->cpu) - 8);
    *(uint64_t *)(uintptr_t)gait_cpu_stack_pointer(invocation->cpu) = invocation->return_address;
    invocation->cpu->pc = (uintptr_t)elsewhere;
}

static void a_listener_can_send_the_thread_elsewhere(void)
{
    const struct hook_listener skipping = {.enter = skip_function}, going = {.enter = enter_other};
    const struct hook_listener returning = {.leave = return_elsewhere};
    const unsigned parts[] = {LISTENED, BOTH, HOOK_STUB_LISTEN, HOOK_STUB_LISTEN | HOOK_STUB_RECORD};

    for (unsigned i = 0; i < 4; i++) {
        two_function *skipped = (two_function *)hook_lab_hook_with((void *)add, parts[i], &skipping, 1);
        two_function *gone = (two_function *)hook_lab_hook_with((void *)add, parts[i], &going, 1);

        CHECK_EQUAL(skipped(6, 7), 77);
        CHECK_EQUAL(gone(6, 7), 42);
    }
    for (unsigned i = 0; i < 2; i++) {
        two_function *returned = (two_function *)hook_lab_hook_with((void *)add, parts[i], &returning, 1);

        was_elsewhere = false;
        (void)returned(6, 7);
        CHECK(was_elsewhere);
    }
    (void)hook_lab_recorded();
}

/* ---- what listeners have ----------------------------------------------------------------------------------------- */

static void set_error(struct gait_invocation *invocation)
{
    CHECK_EQUAL(invocation->error_number, 11);
    errno = 5;
}

static void change_error(struct gait_invocation *invocation)
{
    CHECK_EQUAL(invocation->error_number, 11);
    errno = 5;
    invocation->error_number = 12;
}

static void errno_is_the_programs(void)
{
    const struct hook_listener setting = {.enter = set_error, .leave = set_error};
    const struct hook_listener changing = {.leave = change_error};

    errno = 11;
    CHECK_EQUAL(((two_function *)hook_lab_hook_with((void *)add, LISTENED, &setting, 1))(1, 2), 3);
    CHECK_EQUAL(errno, 11);
    CHECK_EQUAL(((two_function *)hook_lab_hook_with((void *)add, LISTENED, &changing, 1))(1, 2), 3);
    CHECK_EQUAL(errno, 12);
}

static unsigned recursion_depths[64], recursion_count;

static void note_depth(struct gait_invocation *invocation)
{
    unsigned *kept = invocation->call_data;

    CHECK_EQUAL(*kept, 0);
    *kept = invocation->depth + 1000;
    recursion_depths[recursion_count++] = invocation->depth;
    CHECK_EQUAL(invocation->thread_id, (uint32_t)gettid());
}

static void check_depth(struct gait_invocation *invocation)
{
    CHECK_EQUAL(*(unsigned *)invocation->call_data, invocation->depth + 1000);
    CHECK_EQUAL(invocation->depth, recursion_depths[--recursion_count]);
}

static two_function *volatile recursive_hooked;

static __attribute__((noinline)) int recursive(int depth, int sum)
{
    return depth == 0 ? sum : recursive_hooked(depth - 1, sum + depth) + 0 * depth;
}

static void each_listener_has_data_of_each_call(void)
{
    const struct hook_listener listeners[3] = {
        {.enter = note_depth, .leave = check_depth},
        {.enter = note_depth, .leave = check_depth, .flags = HOOK_LISTENER_GENERAL_ONLY},
        {.enter = note_depth, .leave = check_depth},
    };

    recursive_hooked = (two_function *)hook_lab_hook_with((void *)recursive, LISTENED, listeners, 1);
    CHECK_EQUAL(recursive_hooked(10, 0), 55);
    CHECK_EQUAL(recursion_count, 0);
    recursive_hooked = (two_function *)hook_lab_hook_with((void *)recursive, LISTENED, listeners, 3);
    CHECK_EQUAL(recursive_hooked(10, 0), 55);
    CHECK_EQUAL(recursion_count, 0);
}

static void a_listener_is_not_told_of_leaving_what_it_was_not_told_of_entering(void)
{
    static struct hook_listeners *later;
    two_function *hooked = hook_add(LISTENED);
    struct hook_function *function = &hook_lab_last()->function;
    const struct hook_listeners *now = atomic_load(&function->listeners);

    later = calloc(1, sizeof(*later) + 2 * sizeof(later->items[0]));
    *later = *now;
    later->count = later->places = later->last_serial = 2;
    later->items[0] = now->items[0];
    later->items[1] = now->items[0];
    later->items[1].place = 1;
    later->items[1].serial = 2;
    CHECK_EQUAL(hooked(1, 2), 3);
    CHECK_TEXT(hook_lab_told(), "+a-a");
    atomic_store(&function->listeners, later);
    CHECK_EQUAL(hooked(1, 2), 3);
    CHECK_TEXT(hook_lab_told(), "+a+a-a-a");
    atomic_store(&function->listeners, NULL);
    CHECK_EQUAL(hooked(1, 2), 3);
    CHECK_TEXT(hook_lab_told(), "");
}

/* The list is another one when the function returns. */
static struct hook_function *changing_function;
static const struct hook_listeners *changing_list;

static __attribute__((noinline)) int changes_listeners(int a, int b)
{
    atomic_store(&changing_function->listeners, changing_list);
    return a + b;
}

static void listeners_may_change_during_a_call(void)
{
    two_function *hooked = (two_function *)hook_lab_hook((void *)changes_listeners, 'c', LISTENED);
    struct hook_function *function = &hook_lab_last()->function;
    const struct hook_listeners *now = atomic_load(&function->listeners);
    struct hook_listeners *later = calloc(1, sizeof(*later) + 2 * sizeof(later->items[0]));

    *later = *now;
    later->count = later->places = later->last_serial = 2;
    later->items[0] = later->items[1] = now->items[0];
    later->items[1].place = 1;
    later->items[1].serial = 2;
    changing_function = function;
    changing_list = later;
    CHECK_EQUAL(hooked(1, 2), 3);
    CHECK_TEXT(hook_lab_told(), "+c-c");
    atomic_store(&function->listeners, now);
    changing_list = NULL;
    CHECK_EQUAL(hooked(1, 2), 3);
    CHECK_TEXT(hook_lab_told(), "+c");
}

/* ---- ignoring ---------------------------------------------------------------------------------------------------- */

static two_function *volatile called_by_listener;

static void call_hooked(struct gait_invocation *invocation)
{
    (void)invocation;
    CHECK_EQUAL(called_by_listener(1, 2), 3);
}

static void what_listeners_call_is_not_told(void)
{
    const struct hook_listener listener = {.enter = call_hooked, .leave = call_hooked};
    two_function *hooked = (two_function *)hook_lab_hook_with((void *)add, LISTENED, &listener, 1);

    called_by_listener = hook_add(BOTH);
    CHECK_EQUAL(hooked(1, 2), 3);
    called_by_listener = hook_add(LISTENED);
    CHECK_EQUAL(hooked(1, 2), 3);
    called_by_listener = hook_add(RECORDED);
    CHECK_EQUAL(hooked(1, 2), 3);
    called_by_listener = hook_add(HOOK_STUB_LISTEN);
    CHECK_EQUAL(hooked(1, 2), 3);
    CHECK_TEXT(hook_lab_told(), "");
    CHECK_TEXT(hook_lab_recorded(), "");
    CHECK_EQUAL(called_by_listener(1, 2), 3);
    CHECK_TEXT(hook_lab_told(), "?a");
}

static void a_thread_can_be_ignored(void)
{
    two_function *hooked = hook_add(LISTENED), *recorded = hook_add(RECORDED);

    hook_thread_ignore();
    hook_thread_ignore();
    CHECK_EQUAL(hooked(1, 2), 3);
    hook_thread_listen();
    CHECK_EQUAL(hooked(1, 2), 3);
    CHECK_EQUAL(recorded(1, 2), 3);
    CHECK_TEXT(hook_lab_told(), "");
    CHECK_TEXT(hook_lab_recorded(), "");
    hook_thread_listen();
    CHECK_EQUAL(hooked(1, 2), 3);
    CHECK_EQUAL(recorded(1, 2), 3);
    CHECK_TEXT(hook_lab_told(), "+a-a");
    CHECK_TEXT(hook_lab_recorded(), "+a-a");
}

/* ---- replacements ------------------------------------------------------------------------------------------------ */

static two_function *volatile replaced_hooked;

static int replacement(int a, int b)
{
    return replaced_hooked(a, b) * 10;
}

static void a_replacement_may_call_what_it_replaces(void)
{
    const unsigned parts[] = {HOOK_STUB_REPLACE | HOOK_STUB_RETURNS, HOOK_STUB_REPLACE | LISTENED,
                              HOOK_STUB_REPLACE | BOTH, HOOK_STUB_REPLACE | RECORDED};

    for (unsigned i = 0; i < 4; i++) {
        replaced_hooked = (two_function *)hook_lab_hook((void *)replacement, 'r', parts[i]);
        hook_lab_last()->function.trampoline = (uintptr_t)add;
        CHECK_EQUAL(replaced_hooked(1, 2), 30);
        CHECK_TEXT(hook_lab_told(), parts[i] & HOOK_STUB_LISTEN ? "+r-r" : "");
        CHECK_EQUAL(replaced_hooked(1, 2), 30);
        (void)hook_lab_told();
        (void)hook_lab_recorded();
    }
}

/* ---- probes ------------------------------------------------------------------------------------------------------ */

/*
 * probed(value): keeps 16 words below its stack pointer and sets the flags, then jumps to what `probed_at` says, which
 * goes on behind it; and checks that all is as it was. Returns value + 1, or 0.
 */
uint64_t probed(uint64_t value);
void probed_behind(void);
extern void *probed_at;
void *probed_at;

__asm__(".text\n"
        "probed:\n"
        "        .set i, 1\n"
        "        .rept 16\n"
        "        leaq    i(%rdi), %rax\n"
        "        movq    %rax, -8 * i(%rsp)\n"
        "        .set i, i + 1\n"
        "        .endr\n"
        "        movl    $0x7fffffff, %ecx\n"
        "        addl    $1, %ecx\n"
        "        jmpq    *probed_at(%rip)\n"
        "probed_behind:\n"
        "        jno     1f\n"
        "        jns     1f\n"
        "        cmpl    $0x80000000, %ecx\n"
        "        jne     1f\n"
        "        .set i, 1\n"
        "        .rept 16\n"
        "        leaq    i(%rdi), %rax\n"
        "        cmpq    %rax, -8 * i(%rsp)\n"
        "        jne     1f\n"
        "        .set i, i + 1\n"
        "        .endr\n"
        "        leaq    1(%rdi), %rax\n"
        "        ret\n"
        "1:      xorl    %eax, %eax\n"
        "        ret\n");

static uint64_t probe_sp;

static void look_at_probe(struct gait_invocation *invocation)
{
    CHECK_EQUAL(invocation->point, GAIT_INVOCATION_PROBE);
    CHECK_EQUAL(gait_x86_64_rcx(invocation->cpu), 0x80000000);
    /* What it has put below its stack pointer is there. */
    for (unsigned i = 1; i <= 16; i++)
        CHECK_EQUAL(*(uint64_t *)(uintptr_t)(gait_cpu_stack_pointer(invocation->cpu) - 8 * i),
                    gait_x86_64_rdi(invocation->cpu) + i);
    probe_sp = gait_cpu_stack_pointer(invocation->cpu);
    use_registers(invocation);
}

static void probes_leave_what_is_below_the_stack_pointer_alone(void)
{
    const struct hook_listener listener = {.enter = look_at_probe};
    const unsigned parts[] = {HOOK_STUB_PROBE | HOOK_STUB_LISTEN, HOOK_STUB_PROBE | HOOK_STUB_RECORD,
                              HOOK_STUB_PROBE | HOOK_STUB_LISTEN | HOOK_STUB_RECORD};

    for (unsigned i = 0; i < 3; i++) {
        probe_sp = 0;
        probed_at = hook_lab_hook_with((void *)probed_behind, parts[i], &listener, 1);
        hook_lab_last()->name = 'p';
        CHECK_EQUAL(probed(41), 42);
        CHECK_EQUAL(probed(1000), 1001);
        CHECK_EQUAL(probe_sp != 0, (parts[i] & HOOK_STUB_LISTEN) != 0);
    }
    CHECK_EQUAL(strlen(hook_lab_recorded()), 16);
}

/* ---- signals ----------------------------------------------------------------------------------------------------- */

static volatile unsigned signal_count;
static two_function *volatile signal_listened, *volatile signal_recorded;

static void handle(int number)
{
    (void)number;
    signal_count++;
    if (signal_listened(signal_count, 1) != (int)signal_count + 1 ||
        signal_recorded(signal_count, 1) != (int)signal_count + 1)
        abort();
}

/* Handlers come at any instruction of the gates, and go through them, too. */
static void signal_handlers_may_come_anywhere(void)
{
    two_function *listened = hook_add(LISTENED), *recorded = hook_add(RECORDED), *both = hook_add(BOTH);
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    unsigned long wrong = 0;

    signal_listened = hook_add(LISTENED);
    signal_recorded = hook_add(RECORDED);
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; signal_count < 4000; i++) {
        wrong += recorded(i, 1) != i + 1;
        wrong += listened(i, 1) != i + 1;
        wrong += i % 64 == 0 && both(i, 1) != i + 1;
        if (i % 4096 == 0)
            (void)hook_lab_told();
    }
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK_EQUAL(wrong, 0);
    (void)hook_lab_told();
    (void)hook_lab_recorded();
    CHECK(invocation_stack_check(&hook_thread_current()->invocations));
    CHECK_EQUAL(hook_thread_current()->invocations.top[-1].depth, UINT32_MAX);
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(calls_and_returns_are_told_by_listeners),
    CHECK_CASE(calls_and_returns_are_recorded),
    CHECK_CASE(both_can_be_had),
    CHECK_CASE(without_its_return_only_the_call_is_told),
    CHECK_CASE(all_registers_and_flags_are_the_callers_and_the_functions),
    CHECK_CASE(listeners_see_all_of_them),
    CHECK_CASE(what_listeners_change_is_changed),
    CHECK_CASE(arguments_and_results_can_be_read_and_changed),
    CHECK_CASE(a_listener_can_send_the_thread_elsewhere),
    CHECK_CASE(errno_is_the_programs),
    CHECK_CASE(each_listener_has_data_of_each_call),
    CHECK_CASE(a_listener_is_not_told_of_leaving_what_it_was_not_told_of_entering),
    CHECK_CASE(listeners_may_change_during_a_call),
    CHECK_CASE(what_listeners_call_is_not_told),
    CHECK_CASE(a_thread_can_be_ignored),
    CHECK_CASE(a_replacement_may_call_what_it_replaces),
    CHECK_CASE(probes_leave_what_is_below_the_stack_pointer_alone),
    CHECK_CASE(signal_handlers_may_come_anywhere),
    CHECK_CASE(records_that_find_no_room_are_dropped_and_the_program_goes_on),
#endif
};

int main(void)
{
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2"))
        check_skip("this CPU has no AVX");
    hook_lab_begin();
#endif
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
