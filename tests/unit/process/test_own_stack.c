/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "process/own_stack.h"

#include "hook/hook_thread.h"
#include "support/check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#define MEMORY_BYTES 65536

static unsigned char *memory;

static void check_own(void)
{
    unsigned char here[64], there[4096];
    struct own_stack stack = {0};
    uint64_t pointer = hook_thread_pointer();

    __asm__ volatile("" : : "r"(there) : "memory");
    CHECK(!own_stack_has_one(&stack, (uintptr_t)here));
    CHECK(own_stack_has(&stack, pointer, (uintptr_t)here, (uintptr_t)there));
    CHECK(own_stack_has_one(&stack, (uintptr_t)here));
    CHECK(!own_stack_has(&stack, pointer, (uintptr_t)here, (uintptr_t)memory));
    CHECK(!own_stack_has(&stack, pointer, (uintptr_t)memory, (uintptr_t)memory + 8));
}

static void *check_in_thread(void *unused)
{
    check_own();
    return unused;
}

static void threads_know_the_stack_that_they_began_with(void)
{
    pthread_t thread;

    check_own();
    CHECK_EQUAL(pthread_create(&thread, NULL, check_in_thread, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

/* Where it is looked at first on another stack. */
static void others_are_not_taken_for_it(void)
{
    struct own_stack stack = {0};
    unsigned char here[64];

    CHECK(!own_stack_has(&stack, hook_thread_pointer(), (uintptr_t)memory, (uintptr_t)memory + 64));
    CHECK(own_stack_has(&stack, hook_thread_pointer(), (uintptr_t)here, (uintptr_t)here + 8));
}

static volatile int seen;

static void handle(int number)
{
    unsigned char here[64], outside = 0;

    (void)number;
    seen = own_stack_is_signal_stack((uintptr_t)here, (uintptr_t)&seen) + 1;
    seen += 10 * own_stack_is_signal_stack((uintptr_t)&seen, (uintptr_t)here);
    seen += 100 * own_stack_is_signal_stack((uintptr_t)here, (uintptr_t)&outside);
}

static void the_stack_of_signal_handlers_is_known(void)
{
    stack_t stack = {.ss_sp = memory, .ss_size = MEMORY_BYTES};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    CHECK_EQUAL(seen, 1);
    CHECK_EQUAL(sigaltstack(&stack, NULL), 0);
    raise(SIGUSR1);
    CHECK_EQUAL(seen, 2);
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_know_the_stack_that_they_began_with),
    CHECK_CASE(others_are_not_taken_for_it),
    CHECK_CASE(the_stack_of_signal_handlers_is_known),
};

int main(void)
{
    memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
