/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Sanitizers change what is on stacks. What the C library says of the same stack is held against it. */
#define _GNU_SOURCE
#include "agent/call_stack.h"

#include "gait/cpu_context.h"
#include "ring/detail_record.h"
#include "support/check_apart.h"

#include <execinfo.h>
#include <pthread.h>
#include <sys/wait.h>

#if defined(__x86_64__)

#define STACK_REGISTER 4 /* rsp */
#define FRAME_REGISTER 5 /* rbp */

static struct call_stack_walker *walker;
static uint64_t taken[DETAIL_STACK_FRAMES_MAX];
static size_t taken_count;
static bool goes_on;

/* Takes the stack of its caller, as it is at the first instruction of this function. */
static __attribute__((noinline)) void take(size_t capacity)
{
    uint64_t *frame = __builtin_frame_address(0);
    struct gait_cpu_context cpu = {0};

    cpu.registers[STACK_REGISTER] = (uintptr_t)(frame + 1);
    cpu.registers[FRAME_REGISTER] = frame[0];
    taken_count = call_stack_take(walker, &cpu, frame[1], taken, capacity, &goes_on);
}

static void begin(void)
{
    CHECK_EQUAL(call_stack_begin(NULL), 0);
    walker = call_stack_walker_acquire((uintptr_t)__builtin_frame_address(0));
    CHECK(walker != NULL);
}

/* All but the address in the function that asks, which differs: it asks twice. */
static __attribute__((noinline)) void compare(void)
{
    void *expected[DETAIL_STACK_FRAMES_MAX];
    size_t count;

    take(DETAIL_STACK_FRAMES_MAX);
    count = (size_t)backtrace(expected, DETAIL_STACK_FRAMES_MAX);
    CHECK_EQUAL(taken_count, count);
    CHECK(!goes_on);
    for (size_t i = 1; i < taken_count && i < count; i++)
        CHECK_EQUAL(taken[i], (uintptr_t)expected[i]);
    __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) int recurse(unsigned depth, void (*function)(void))
{
    volatile int more = 1;

    if (depth == 0)
        function();
    else
        more += recurse(depth - 1, function);
    return more;
}

static void a_stack_is_as_the_c_library_sees_it(void)
{
    begin();
    compare();
    recurse(20, compare);
    CHECK(taken_count > 20);
}

static void take_ten(void)
{
    take(10);
    __asm__ volatile("" ::: "memory");
}

static void take_none(void)
{
    take(0);
    __asm__ volatile("" ::: "memory");
}

static void a_stack_is_cut_where_there_is_no_more_room(void)
{
    begin();
    recurse(20, take_ten);
    CHECK_EQUAL(taken_count, 10);
    CHECK(goes_on);
    CHECK(taken[0] >= (uintptr_t)take_ten && taken[0] < (uintptr_t)take_ten + 64);
    recurse(20, take_none);
    CHECK_EQUAL(taken_count, 0);
    CHECK(goes_on);
}

static void take_without_limit(void)
{
    take(SIZE_MAX);
    __asm__ volatile("" ::: "memory");
}

static void no_stack_is_longer_than_a_record(void)
{
    begin();
    recurse(200, take_without_limit);
    CHECK_EQUAL(taken_count, DETAIL_STACK_FRAMES_MAX);
    CHECK(goes_on);
}

static void registers_that_make_no_sense_do_no_harm(void)
{
    struct gait_cpu_context cpu = {0};

    begin();
    for (uint64_t sp = 0; sp < 64; sp += 8) {
        cpu.registers[STACK_REGISTER] = cpu.registers[FRAME_REGISTER] = sp * 0x1234567890123;
        taken_count = call_stack_take(walker, &cpu, 0x1234, taken, 8, &goes_on);
        CHECK(taken_count <= 8);
    }
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void *compare_in_thread(void *unused)
{
    (void)unused;
    walker = call_stack_walker_acquire((uintptr_t)__builtin_frame_address(0));
    CHECK(walker != NULL);
    recurse(3, compare);
    call_stack_walker_release(walker);
    return walker;
}

static void threads_come_and_go_and_use_what_others_had(void)
{
    void *first = NULL, *again = NULL;
    pthread_t thread;

    begin();
    CHECK_EQUAL(pthread_create(&thread, NULL, compare_in_thread, NULL), 0);
    pthread_join(thread, &first);
    for (unsigned i = 0; i < 10; i++) {
        CHECK_EQUAL(pthread_create(&thread, NULL, compare_in_thread, NULL), 0);
        pthread_join(thread, &again);
        CHECK(first == again);
    }
    /* One that is used is nobody else's. */
    CHECK(call_stack_walker_acquire(0) == first);
    CHECK(call_stack_walker_acquire(0) != first);
    call_stack_walker_release(NULL);
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static void a_child_goes_on_with_its_parents(void)
{
    int status = -1;
    pid_t child;

    begin();
    compare();
    child = fork();
    if (child == 0) {
        call_stack_begin_in_child();
        recurse(5, compare);
        CHECK(call_stack_walker_acquire(0) != walker);
        fflush(stdout);
        _exit(check_failures != 0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

/* Modules that came are known when the next stack is taken. */
static void changes_of_modules_are_noticed(void)
{
    begin();
    compare();
    call_stack_modules_changed();
    recurse(2, compare);
}

static void before_it_begins_and_after_its_end_nobody_gets_a_walker(void)
{
    CHECK(call_stack_walker_acquire(0) == NULL);
    call_stack_begin_in_child();
    call_stack_end();
    begin();
    call_stack_end();
    CHECK(call_stack_walker_acquire(0) == NULL);
    begin();
    compare();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_stack_is_as_the_c_library_sees_it),
    CHECK_CASE(a_stack_is_cut_where_there_is_no_more_room),
    CHECK_CASE(no_stack_is_longer_than_a_record),
    CHECK_CASE(registers_that_make_no_sense_do_no_harm),
    CHECK_CASE(threads_come_and_go_and_use_what_others_had),
    CHECK_CASE(a_child_goes_on_with_its_parents),
    CHECK_CASE(changes_of_modules_are_noticed),
    CHECK_CASE(before_it_begins_and_after_its_end_nobody_gets_a_walker),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("stacks are walked on x86-64 only so far");
}

#endif
