/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Probes of calls: what they see and change, in which order, and that they come and go while threads run. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "support/check.h"
#include "support/code_page.h"
#include "support/followed_call.h"
#include "support/subject_thread.h"

#include <stdatomic.h>
#include <sys/mman.h>

static struct code_page page;
static struct gait_stalker *stalker;

static uint64_t at(uint64_t offset)
{
    return code_page_start(&page) + offset;
}

static uint64_t run(uint64_t a, uint64_t b)
{
    struct gait_follow_options options = followed_options();

    return followed_call(stalker, &options, at(0), a, b);
}

static uint32_t add(uint64_t target, gait_call_probe probe, void *data)
{
    uint32_t id = 0;

    CHECK_EQUAL(gait_stalker_add_call_probe(stalker, target, probe, data, &id, NULL), 0);
    return id;
}

/* Calls 32, which returns rdi + the argument on the stack, and drops that argument itself. */
static void write_callee_pops(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x56");                 /*  0: push rsi */
    CODE_PAGE_PUT(&page, "\xe8\x1a\x00\x00\x00"); /*  1: call 32 */
    CODE_PAGE_PUT(&page, "\x83\xc0\x01\xc3");     /*  6: add eax, 1; 9: ret */
    memcpy(page.bytes + 32, "\x48\x89\xf8\x48\x03\x44\x24\x08\xc2\x08\x00",
           11); /* mov rax, rdi; add rax, [rsp+8]; ret 8 */
}

struct seen {
    int count;
    uint64_t target, return_address, pc, argument, on_stack, sp, stack;
};

static void see(struct gait_call *call, void *data)
{
    struct seen *seen = data;

    seen->count++;
    seen->target = call->target;
    seen->return_address = call->return_address;
    seen->pc = call->cpu->pc;
    seen->argument = gait_cpu_argument(call->cpu, 0);
    seen->on_stack = call->stack[1];
    seen->stack = call->stack[0];
    seen->sp = gait_cpu_stack_pointer(call->cpu) - (uintptr_t)call->stack;
}

static void a_probe_sees_arguments_and_where_the_call_returns(void)
{
    struct seen seen = {0};

    write_callee_pops();
    stalker = followed_call_stalker();
    add(at(32), see, &seen);
    CHECK_EQUAL(run(40, 2), 43);
    CHECK_EQUAL(seen.count, 1);
    CHECK_EQUAL(seen.target, at(32));
    CHECK_EQUAL(seen.pc, at(32));
    CHECK_EQUAL(seen.return_address, at(6));
    CHECK_EQUAL(seen.stack, at(6));
    CHECK_EQUAL(seen.argument, 40);
    CHECK_EQUAL(seen.on_stack, 2);
    CHECK_EQUAL(seen.sp, 0);
    gait_stalker_destroy(stalker);
}

static void change(struct gait_call *call, void *data)
{
    (void)data;
    *gait_cpu_argument_place(call->cpu, 0) += 1000;
    call->stack[1] += 10000;
}

static void a_probe_changes_arguments(void)
{
    write_callee_pops();
    stalker = followed_call_stalker();
    add(at(32), change, NULL);
    CHECK_EQUAL(run(40, 2), 11043);
    gait_stalker_destroy(stalker);
}

static char order[64];

static void note(struct gait_call *call, void *data)
{
    (void)call;
    strcat(order, data);
}

static void probes_of_one_function_are_called_in_the_order_of_adding(void)
{
    uint32_t a, b, c;

    write_callee_pops();
    stalker = followed_call_stalker();
    order[0] = 0;
    a = add(at(32), note, "a");
    CHECK_EQUAL(run(40, 2), 43);
    b = add(at(32), note, "b");
    CHECK_EQUAL(run(40, 2), 43);
    c = add(at(32), note, "c");
    CHECK_EQUAL(run(40, 2), 43);
    CHECK_TEXT(order, "aababc");
    order[0] = 0;
    CHECK_EQUAL(gait_stalker_remove_call_probe(stalker, b, NULL), 0);
    CHECK_EQUAL(run(40, 2), 43);
    CHECK_EQUAL(gait_stalker_remove_call_probe(stalker, a, NULL), 0);
    CHECK_EQUAL(run(40, 2), 43);
    CHECK_EQUAL(gait_stalker_remove_call_probe(stalker, c, NULL), 0);
    CHECK_EQUAL(run(40, 2), 43);
    CHECK_TEXT(order, "acc");
    add(at(32), note, "d");
    CHECK_EQUAL(run(40, 2), 43);
    CHECK_TEXT(order, "accd");
    gait_stalker_destroy(stalker);
}

static void functions_have_probes_of_their_own(void)
{
    struct seen outer = {0}, inner = {0}, other = {0};

    write_callee_pops();
    stalker = followed_call_stalker();
    add(at(0), see, &outer);
    add(at(32), see, &inner);
    add(at(64), see, &other);
    CHECK_EQUAL(run(40, 2), 43);
    CHECK_EQUAL(outer.count, 1);
    CHECK_EQUAL(inner.count, 1);
    CHECK_EQUAL(other.count, 0);
    gait_stalker_destroy(stalker);
}

/* The call becomes a jump elsewhere; the function returns from there. */
static void divert(struct gait_call *call, void *data)
{
    (void)data;
    call->cpu->pc = at(64);
}

static void a_probe_diverts_a_call(void)
{
    write_callee_pops();
    memcpy(page.bytes + 64, "\x31\xc0\xc2\x08\x00", 5); /* 64: xor eax, eax; ret 8 */
    stalker = followed_call_stalker();
    order[0] = 0;
    add(at(32), note, "a");
    add(at(32), divert, NULL);
    add(at(32), note, "b");
    CHECK_EQUAL(run(40, 2), 1);
    CHECK_TEXT(order, "a");
    gait_stalker_destroy(stalker);
}

static uint32_t own_id;

static void remove_itself(struct gait_call *call, void *data)
{
    (void)call;
    ++*(int *)data;
    CHECK_EQUAL(gait_stalker_remove_call_probe(stalker, own_id, NULL), 0);
}

static void a_probe_removes_itself(void)
{
    int count = 0;

    write_callee_pops();
    stalker = followed_call_stalker();
    own_id = add(at(32), remove_itself, &count);
    CHECK_EQUAL(run(40, 2), 43);
    CHECK_EQUAL(run(40, 2), 43);
    CHECK_EQUAL(count, 1);
    gait_stalker_destroy(stalker);
}

static void add_another(struct gait_call *call, void *data)
{
    (void)call;
    add(at(32), note, data);
}

static void a_probe_adds_another(void)
{
    write_callee_pops();
    stalker = followed_call_stalker();
    order[0] = 0;
    add(at(32), add_another, "x");
    CHECK_EQUAL(run(40, 2), 43);
    CHECK_TEXT(order, "");
    CHECK_EQUAL(run(40, 2), 43);
    CHECK_TEXT(order, "x");
    gait_stalker_destroy(stalker);
}

static volatile double product = 1.5;

static void compute(struct gait_call *call, void *data)
{
    (void)call;
    (void)data;
    product *= 1.25;
    __asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n\tpcmpeqd %%xmm1, %%xmm1\n\tcmpb $1, %%al" ::: "xmm0", "xmm1", "cc");
}

/* Floating point arguments and flags are what they were. */
static void a_probe_does_not_disturb_vector_registers_and_flags(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x66\x48\x0f\x6e\xc7");                            /*  0: movq xmm0, rdi */
    CODE_PAGE_PUT(&page, "\xf9");                                            /*  5: stc */
    CODE_PAGE_PUT(&page, "\xe8\x15\x00\x00\x00\xc3");                        /*  6: call 32; ret */
    memcpy(page.bytes + 32, "\x66\x48\x0f\x7e\xc0\x48\x83\xd0\x00\xc3", 10); /* 32: movq rax, xmm0; adc rax, 0; ret */
    stalker = followed_call_stalker();
    add(at(32), compute, NULL);
    CHECK_EQUAL(run(77, 0), 78);
    gait_stalker_destroy(stalker);
}

/* Calls 32 rdi times; through rsi, which may hold it as well. */
static void write_loop(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x31\xc0\x53\x48\x8d\x1d\x16\x00\x00\x00"); /*  0: xor eax, eax; push rbx; 3: lea rbx, [32] */
    CODE_PAGE_PUT(&page, "\xe8\x11\x00\x00\x00");                     /* 10: call 32 */
    CODE_PAGE_PUT(&page, "\xff\xd3\x48\xff\xcf\x75\xf4\x5b\xc3");     /* 15: call rbx; dec rdi; jnz 10; pop rbx; ret */
    memset(page.bytes + 24, 0xcc, 8);
    memcpy(page.bytes + 32, "\xff\xc0\xc3", 3); /* 32: inc eax; ret */
}

static void count(struct gait_call *call, void *data)
{
    (void)call;
    ++*(uint64_t *)data;
}

static void direct_and_indirect_calls_are_probed_alike(void)
{
    uint64_t calls = 0;

    write_loop();
    stalker = followed_call_stalker();
    add(at(32), count, &calls);
    CHECK_EQUAL(run(10000, 0), 20000);
    CHECK_EQUAL(calls, 20000);
    gait_stalker_destroy(stalker);
}

static uint64_t calls_while_running;
static uint64_t calls_at_removal;
static uint32_t late_id;

static void add_when_half_done(struct gait_call *call, void *data)
{
    (void)data;
    if (gait_cpu_argument(call->cpu, 0) == 600 && late_id == 0)
        late_id = add(at(32), count, &calls_while_running);
    if (gait_cpu_argument(call->cpu, 0) == 300 && late_id != 0) {
        gait_stalker_remove_call_probe(stalker, late_id, NULL);
        late_id = 0;
        calls_at_removal = calls_while_running;
    }
}

/* The loop runs linked all the time. */
static void probes_that_change_in_a_loop_are_exact(void)
{
    write_loop();
    stalker = followed_call_stalker();
    calls_while_running = late_id = 0;
    add(at(32), add_when_half_done, NULL);
    CHECK_EQUAL(run(1000, 0), 2000);
    /* From the second call with 600 on; the first one with 300 goes on through the probes that there were. */
    CHECK_EQUAL(calls_at_removal, 599);
    CHECK_EQUAL(calls_while_running, 600);
    gait_stalker_destroy(stalker);
}

static atomic_bool stop;
static atomic_long loops[2];
static atomic_long probed;

static void count_shared(struct gait_call *call, void *data)
{
    (void)call;
    (void)data;
    atomic_fetch_add(&probed, 1);
}

static void loop_followed(void *context)
{
    struct gait_follow_options options = followed_options();
    struct gait_error err = {0};
    int failed = gait_stalker_follow_me(stalker, &options, &err);

    followed_call_require(failed, &err);
    while (!atomic_load(&stop)) {
        if (native_call(at(0), 50, 0) != 100)
            abort();
        atomic_fetch_add((atomic_long *)context, 1);
    }
    failed = gait_stalker_unfollow_me(stalker, &err);
    followed_call_require(failed, &err);
}

/* Comes back when whatever the threads were doing is done. */
static void wait_for_loops(void)
{
    for (size_t i = 0; i < 2; i++)
        subject_thread_wait_count(&loops[i], atomic_load(&loops[i]) + 2);
}

/* Each time that one is added, the threads get to it; when it is gone, they do not any more, after those on their way.
 */
static void probes_come_and_go_while_threads_run(void)
{
    struct subject_thread threads[2];

    write_loop();
    stalker = followed_call_stalker();
    atomic_store(&stop, false);
    for (size_t i = 0; i < 2; i++)
        subject_thread_start(&threads[i], loop_followed, &loops[i]);
    for (int round = 0; round < 60; round++) {
        long before = atomic_load(&probed), after;
        uint32_t first = add(at(32), count_shared, NULL), second = add(at(32), count_shared, NULL);

        subject_thread_wait_count(&probed, before + 10);
        CHECK_EQUAL(gait_stalker_remove_call_probe(stalker, first, NULL), 0);
        CHECK_EQUAL(gait_stalker_remove_call_probe(stalker, second, NULL), 0);
        wait_for_loops();
        after = atomic_load(&probed);
        wait_for_loops();
        CHECK_EQUAL(atomic_load(&probed), after);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 2; i++)
        subject_thread_join(&threads[i]);
    gait_stalker_destroy(stalker);
}

/* Whatever else is observed. */
static void probes_work_with_every_kind_of_event(void)
{
    write_callee_pops();
    for (uint32_t events = 0; events <= 0x1f; events++) {
        struct gait_follow_options options = followed_options();
        struct seen seen = {0};

        stalker = followed_call_stalker();
        options.events = events;
        add(at(32), see, &seen);
        add(at(32), change, NULL);
        CHECK_EQUAL(followed_call(stalker, &options, at(0), 40, 2), 11043);
        CHECK_EQUAL(seen.count, 1);
        CHECK_EQUAL(seen.return_address, at(6));
        CHECK_EQUAL(seen.on_stack, 2);
        gait_stalker_destroy(stalker);
    }
}

static __attribute__((noinline)) uint64_t ask_twice(uint64_t a, uint64_t b)
{
    (void)b;
    return a + gait_stalker_is_following_me(stalker) + gait_stalker_is_following_me(stalker);
}

static void calls_of_gait_itself_are_probed(void)
{
    struct gait_follow_options options = followed_options();
    uint64_t calls = 0;

    stalker = followed_call_stalker();
    add((uintptr_t)gait_stalker_is_following_me, count, &calls);
    CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)ask_twice, 5, 0), 7);
    CHECK_EQUAL(calls, 2);
    gait_stalker_destroy(stalker);
}

static void see_stack(struct gait_call *call, void *data)
{
    struct seen *seen = data;

    seen->count++;
    seen->return_address = call->return_address;
    seen->stack = (uintptr_t)call->stack;
}

/* Jumps to 32 with rsi for a stack pointer, which is put back there. */
static void write_jump_without_stack(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x49\x89\xe0");                   /*  0: mov r8, rsp */
    CODE_PAGE_PUT(&page, "\x48\x89\xf4");                   /*  3: mov rsp, rsi */
    CODE_PAGE_PUT(&page, "\xeb\x18");                       /*  6: jmp 32 */
    memcpy(page.bytes + 32, "\x4c\x89\xc4\x89\xf8\xc3", 6); /* mov rsp, r8; mov eax, edi; ret */
}

static void a_probe_is_told_that_there_is_no_stack(void)
{
    uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t border = (uintptr_t)pages + 4096, addresses[] = {0, 8, border, border - 4, 0x4141414141414141, -8ull};
    struct seen seen = {0};

    CHECK(pages != MAP_FAILED);
    mprotect(pages + 4096, 4096, PROT_NONE);
    memset(pages, 0x77, 4096);
    write_jump_without_stack();
    stalker = followed_call_stalker();
    add(at(32), see_stack, &seen);
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        CHECK_EQUAL(run(5, addresses[i]), 5);
        CHECK_EQUAL(seen.stack, 0);
        CHECK_EQUAL(seen.return_address, 0);
        CHECK_EQUAL(run(6, border - 8), 6);
        CHECK_EQUAL(seen.stack, border - 8);
        CHECK_EQUAL(seen.return_address, 0x7777777777777777);
    }
    gait_stalker_destroy(stalker);
    munmap(pages, 8192);
}

static uint64_t vanishing;

/* Twice with the same stack, which is unmapped in between. */
static __attribute__((noinline)) uint64_t unmap_stack(uint64_t a, uint64_t b)
{
    uint64_t (*function)(uint64_t, uint64_t) = (uint64_t(*)(uint64_t, uint64_t))at(0);
    uint64_t result = function(a, vanishing);

    munmap((void *)(uintptr_t)(vanishing & ~4095ull), 4096);
    return result + function(b, vanishing);
}

static void a_stack_that_was_unmapped_is_not_read(void)
{
    struct gait_follow_options options = followed_options();
    struct seen seen = {0};

    vanishing = (uintptr_t)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 64;
    write_jump_without_stack();
    stalker = followed_call_stalker();
    add(at(32), see_stack, &seen);
    CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)unmap_stack, 3, 4), 7);
    CHECK_EQUAL(seen.count, 2);
    CHECK_EQUAL(seen.stack, 0);
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_probe_is_told_that_there_is_no_stack),
    CHECK_CASE(a_stack_that_was_unmapped_is_not_read),
    CHECK_CASE(a_probe_sees_arguments_and_where_the_call_returns),
    CHECK_CASE(a_probe_changes_arguments),
    CHECK_CASE(probes_of_one_function_are_called_in_the_order_of_adding),
    CHECK_CASE(functions_have_probes_of_their_own),
    CHECK_CASE(a_probe_diverts_a_call),
    CHECK_CASE(a_probe_removes_itself),
    CHECK_CASE(a_probe_adds_another),
    CHECK_CASE(a_probe_does_not_disturb_vector_registers_and_flags),
    CHECK_CASE(direct_and_indirect_calls_are_probed_alike),
    CHECK_CASE(probes_that_change_in_a_loop_are_exact),
    CHECK_CASE(probes_come_and_go_while_threads_run),
    CHECK_CASE(probes_work_with_every_kind_of_event),
    CHECK_CASE(calls_of_gait_itself_are_probed),
};

int main(void)
{
    code_page_init(&page, 1 << 16);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
