/* SPDX-License-Identifier: MIT */
#include "stalker/vectors.h"

#include "base/memory_map.h"
#include "stalker/thread.h"
#include "support/check.h"

static struct stalker_thread thread;

static void begin(void)
{
    memset(&thread, 0, sizeof(thread));
    if (vector_state_bytes() == 0)
        check_skip("this CPU has no XSAVE");
    CHECK_EQUAL(vectors_prepare(&thread), 0);
}

static void end(void)
{
    memory_unmap(thread.vectors, vector_state_bytes());
}

static void memory_is_taken_once(void)
{
    uint8_t *first;

    begin();
    first = thread.vectors;
    CHECK(first != NULL);
    CHECK_EQUAL((uintptr_t)first % 64, 0);
    CHECK_EQUAL(vectors_prepare(&thread), 0);
    CHECK(thread.vectors == first);
    CHECK(!thread.vectors_saved);
    end();
}

/* A value in a vector register, past everything that the compiler does with those. */
static void set_register(uint64_t value)
{
    __asm__ volatile("movq %0, %%xmm9" : : "r"(value) : "xmm9");
}

static uint64_t get_register(void)
{
    uint64_t value;

    __asm__ volatile("movq %%xmm9, %0" : "=r"(value));
    return value;
}

static void what_is_set_aside_comes_back(void)
{
    uint64_t got;

    begin();
    set_register(111);
    vectors_set_aside(&thread);
    set_register(222);
    vectors_put_back(&thread);
    got = get_register();
    CHECK_EQUAL(got, 111);
    CHECK(!thread.vectors_saved);
    end();
}

static void the_first_values_are_kept(void)
{
    uint64_t got;

    begin();
    set_register(111);
    vectors_set_aside(&thread);
    set_register(222);
    vectors_set_aside(&thread);
    set_register(333);
    vectors_put_back(&thread);
    got = get_register();
    CHECK_EQUAL(got, 111);
    end();
}

static void nothing_is_put_back_that_was_not_set_aside(void)
{
    uint64_t got;

    begin();
    set_register(111);
    vectors_set_aside(&thread);
    vectors_put_back(&thread);
    set_register(222);
    vectors_put_back(&thread);
    got = get_register();
    CHECK_EQUAL(got, 222);
    set_register(444);
    vectors_set_aside(&thread);
    set_register(555);
    vectors_put_back(&thread);
    got = get_register();
    CHECK_EQUAL(got, 444);
    end();
}

static void they_are_found_where_a_function_of_the_users_runs(void)
{
    struct vector_state_place place = {NULL, false};
    struct gait_cpu_context copy = {.pc = 0};

    begin();
    CHECK(vectors_find(&thread.context, (uintptr_t)&thread, &place));
    CHECK(place.area == thread.vectors && place.is_in_cpu);
    vectors_set_aside(&thread);
    CHECK(vectors_find(&thread.context, (uintptr_t)&thread, &place));
    CHECK(place.area == thread.vectors && !place.is_in_cpu);
    vectors_put_back(&thread);
    CHECK(!vectors_find(&copy, (uintptr_t)&thread, &place));
    CHECK(!vectors_find(&thread.context, 0, &place));
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(memory_is_taken_once),
    CHECK_CASE(what_is_set_aside_comes_back),
    CHECK_CASE(the_first_values_are_kept),
    CHECK_CASE(nothing_is_put_back_that_was_not_set_aside),
    CHECK_CASE(they_are_found_where_a_function_of_the_users_runs),
};

CHECK_MAIN(cases)
