/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/thread_stack.h"

#include "support/check.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

static void *check_own(void *context)
{
    struct thread_stack stack = {0, 0};
    pthread_attr_t attributes;
    void *start;
    size_t size_bytes;

    (void)context;
    CHECK_EQUAL(pthread_getattr_np(pthread_self(), &attributes), 0);
    CHECK_EQUAL(pthread_attr_getstack(&attributes, &start, &size_bytes), 0);
    CHECK_EQUAL(thread_stack_find((uintptr_t)&stack, &stack), 0);
    CHECK(stack.low < (uintptr_t)&stack && stack.high > (uintptr_t)&stack);
    CHECK(stack.high >= (uintptr_t)start + size_bytes);
    pthread_attr_destroy(&attributes);
    return NULL;
}

static void stacks_are_what_libc_says(void)
{
    pthread_t thread;

    CHECK_EQUAL(pthread_create(&thread, NULL, check_own, NULL), 0);
    pthread_join(thread, NULL);
    check_own(NULL);
}

static void an_empty_stack_is_found_from_behind(void)
{
    struct thread_stack stack = {0, 0};
    uint8_t *memory = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    munmap(memory, 4096);
    munmap(memory + 2 * 4096, 4096);
    CHECK_EQUAL(thread_stack_find((uintptr_t)memory + 2 * 4096, &stack), 0);
    CHECK_EQUAL(stack.low, (uintptr_t)memory + 4096);
    CHECK_EQUAL(stack.high, (uintptr_t)memory + 2 * 4096);
    munmap(memory + 4096, 4096);
}

static void what_is_no_stack_pointer_is_refused(void)
{
    struct thread_stack stack;

    CHECK_EQUAL(thread_stack_find(0, &stack), -ENOENT);
    CHECK_EQUAL(thread_stack_find(0x100, &stack), -ENOENT);
}

static const struct check_case cases[] = {
    CHECK_CASE(stacks_are_what_libc_says),
    CHECK_CASE(an_empty_stack_is_found_from_behind),
    CHECK_CASE(what_is_no_stack_pointer_is_refused),
};

CHECK_MAIN(cases)
