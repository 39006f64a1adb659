/* SPDX-License-Identifier: MIT */
/*
 * Pages are counted, and tsan has some for itself.
 * configurations: debug-* asan-*
 */
#include "hook/invocation_stack.h"

#include "support/check.h"

#include <stdatomic.h>

#define SLOT(depth) (0x7ffff0000000ull - 16ull * (depth))
#define STUB        0x1000

static struct invocation_stack stack;

static uint64_t slot_of(const struct invocation *invocation)
{
    return invocation == NULL ? 0 : atomic_load(&invocation->slot);
}

static struct invocation *push(unsigned depth)
{
    return invocation_stack_push(&stack, SLOT(depth), depth, STUB);
}

static struct invocation *innermost(void)
{
    struct invocation_cursor cursor;

    invocation_cursor_begin(&cursor, &stack);
    return invocation_cursor_next(&cursor);
}

static size_t count(void)
{
    struct invocation_cursor cursor;
    size_t found = 0;

    invocation_cursor_begin(&cursor, &stack);
    while (invocation_cursor_next(&cursor) != NULL)
        found++;
    return found;
}

static long pages_mapped(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (file == NULL || fscanf(file, "%ld", &pages) != 1)
        check_skip("there is no /proc");
    fclose(file);
    return pages;
}

/* As gates do. */
static void pop_as_gates_do(void)
{
    struct invocation *top = stack.top - 1;

    atomic_store(&top->slot, ~atomic_load(&top->slot));
    stack.top = top;
}

static void calls_are_found_from_the_innermost_on(void)
{
    struct invocation_cursor cursor;

    CHECK_EQUAL(invocation_stack_init(&stack), 0);
    CHECK(innermost() == NULL);
    for (unsigned i = 0; i < 5000; i++) {
        struct invocation *invocation = push(i);

        CHECK(invocation != NULL && invocation->depth == i && innermost() == invocation);
    }
    CHECK(invocation_stack_check(&stack));
    invocation_cursor_begin(&cursor, &stack);
    for (unsigned i = 5000; i-- > 0;)
        CHECK_EQUAL(slot_of(invocation_cursor_next(&cursor)), SLOT(i));
    CHECK(invocation_cursor_next(&cursor) == NULL);
    CHECK_EQUAL(invocation_stack_find(&stack, SLOT(1234), STUB)->return_address, 1234);
    CHECK(invocation_stack_find(&stack, SLOT(1234), STUB + 1) == NULL);
    CHECK(invocation_stack_find(&stack, SLOT(5000), 0) == NULL);
    for (unsigned i = 5000; i-- > 0;) {
        CHECK_EQUAL(innermost()->return_address, i);
        invocation_stack_remove(&stack, innermost());
    }
    CHECK(innermost() == NULL && invocation_stack_check(&stack));
    invocation_stack_deinit(&stack);
}

static void those_in_the_middle_can_be_removed(void)
{
    struct invocation *kept[10];

    CHECK_EQUAL(invocation_stack_init(&stack), 0);
    for (unsigned i = 0; i < 10; i++)
        kept[i] = push(i);
    for (unsigned i = 0; i < 9; i += 2)
        invocation_stack_remove(&stack, kept[i]);
    CHECK_EQUAL(count(), 5);
    CHECK(stack.top == kept[9] + 1);
    invocation_stack_remove(&stack, kept[9]);
    /* With it go the holes below it. */
    CHECK(stack.top == kept[7] + 1);
    invocation_stack_remove(&stack, kept[1]);
    invocation_stack_remove(&stack, kept[3]);
    invocation_stack_remove(&stack, kept[5]);
    invocation_stack_remove(&stack, kept[7]);
    CHECK(innermost() == NULL && stack.top == kept[0]);
    invocation_stack_deinit(&stack);
}

/* Those of coroutines: there is always one under way, but never many. */
static void calls_that_overlap_forever_take_no_more_memory(void)
{
    struct invocation *ring[64] = {0};
    long pages = pages_mapped();

    CHECK_EQUAL(invocation_stack_init(&stack), 0);
    for (unsigned i = 0; i < 300000; i++) {
        if (ring[i % 64] != NULL)
            invocation_stack_remove(&stack, ring[i % 64]);
        ring[i % 64] = push(i % 64);
        CHECK(ring[i % 64] != NULL);
        CHECK(ring[i % 64]->depth < 1000);
        if (i % 1024 == 0)
            CHECK_EQUAL(count(), i < 64 ? i + 1 : 64);
    }
    CHECK(invocation_stack_check(&stack));
    /* All of them would take ten megabytes. */
    CHECK(pages_mapped() - pages < 1024);
    invocation_stack_deinit(&stack);
}

static void a_mark_keeps_stacks_apart(void)
{
    struct invocation *outer;

    CHECK_EQUAL(invocation_stack_init(&stack), 0);
    outer = push(3);
    CHECK(invocation_stack_mark(&stack));
    CHECK_EQUAL(atomic_load(&stack.top[-1].slot), INVOCATION_OUTER);
    CHECK_EQUAL(push(1)->depth, 1);
    CHECK_EQUAL(count(), 2);
    invocation_stack_remove(&stack, innermost());
    CHECK(innermost() == outer && stack.top == outer + 1);
    invocation_stack_deinit(&stack);
}

/* A gate that was interrupted when its invocation had no slot yet; the handler's are above it. */
static void what_is_in_the_making_is_left_alone(void)
{
    struct invocation *made, *handlers;

    CHECK_EQUAL(invocation_stack_init(&stack), 0);
    push(1);
    push(2);
    pop_as_gates_do();
    made = stack.top++;
    CHECK(atomic_load(&made->slot) >= INVOCATION_NO_SLOT);
    handlers = push(5);
    CHECK(handlers == made + 1);
    invocation_stack_remove(&stack, handlers);
    CHECK(stack.top == made + 1);
    CHECK_EQUAL(count(), 1);
    atomic_store(&made->slot, SLOT(2));
    CHECK(innermost() == made);
    invocation_stack_deinit(&stack);
}

static void what_was_popped_is_found_until_its_memory_is_used(void)
{
    CHECK_EQUAL(invocation_stack_init(&stack), 0);
    push(1);
    push(2);
    pop_as_gates_do();
    CHECK(invocation_stack_find(&stack, SLOT(2), STUB) == NULL);
    CHECK(invocation_stack_find_popped(&stack, SLOT(2), STUB) != NULL);
    CHECK(invocation_stack_find_popped(&stack, SLOT(1), STUB) == NULL);
    push(3);
    CHECK(invocation_stack_find_popped(&stack, SLOT(2), STUB) == NULL);
    invocation_stack_deinit(&stack);
}

static void one_can_be_taken_once(void)
{
    struct invocation *invocation;

    CHECK_EQUAL(invocation_stack_init(&stack), 0);
    invocation = push(1);
    push(2);
    CHECK(invocation_take(invocation, SLOT(1)));
    CHECK(!invocation_take(invocation, SLOT(1)));
    CHECK_EQUAL(count(), 1);
    invocation_stack_clear(&stack);
    CHECK_EQUAL(count(), 0);
    CHECK(invocation_stack_check(&stack));
    invocation_stack_deinit(&stack);
}

/* Gates go the slow way at a fence, or where there is a floor; nobody takes a fence for a call. */
static void gates_find_no_room_where_there_is_a_floor(void)
{
    CHECK_EQUAL(invocation_stack_init(&stack), 0);
    push(1);
    CHECK(invocation_stack_fence(&stack, SLOT(5)));
    CHECK_EQUAL(slot_of(stack.top - 1), SLOT(5));
    CHECK_EQUAL(slot_of(innermost()), SLOT(1));
    CHECK(invocation_stack_find(&stack, SLOT(5), 0) == NULL);
    CHECK_EQUAL(invocation_stack_next_depth(&stack), 1);
    invocation_stack_watch(&stack, SLOT(9));
    CHECK(stack.limit == NULL && invocation_stack_check(&stack));
    for (unsigned depth = 2; depth < 3000; depth++)
        CHECK(push(depth) != NULL && stack.top[-1].depth == depth - 1);
    CHECK(stack.limit == NULL && invocation_stack_check(&stack));
    invocation_stack_watch(&stack, 0);
    CHECK(stack.limit == stack.full && invocation_stack_check(&stack));
    while (count() > 1)
        invocation_stack_remove(&stack, innermost());
    CHECK_EQUAL(slot_of(stack.top - 1), SLOT(1));
    invocation_stack_deinit(&stack);
}

/* What is pushed then is in what is not suspended, and one that is raised is in that, too. */
static void calls_that_are_suspended_are_in_nothing_and_nothing_is_in_them(void)
{
    struct invocation_cursor cursor;
    struct invocation *suspended, *raised;

    CHECK_EQUAL(invocation_stack_init(&stack), 0);
    push(1);
    suspended = push(2);
    suspended->flags = INVOCATION_SUSPENDED;
    invocation_stack_trim(&stack);
    CHECK(stack.top - 1 != suspended && slot_of(stack.top - 1) >= INVOCATION_NO_SLOT);
    CHECK_EQUAL(push(3)->depth, 1);
    CHECK_EQUAL(push(4)->depth, 2);
    invocation_cursor_begin(&cursor, &stack);
    CHECK_EQUAL(slot_of(invocation_cursor_next_active(&cursor)), SLOT(4));
    CHECK_EQUAL(slot_of(invocation_cursor_next_active(&cursor)), SLOT(3));
    CHECK_EQUAL(slot_of(invocation_cursor_next_active(&cursor)), SLOT(1));
    raised = invocation_stack_raise(&stack, suspended);
    CHECK(raised == innermost() && slot_of(raised) == SLOT(2) && raised->stub == STUB && raised->depth == 3);
    CHECK_EQUAL(count(), 4);
    CHECK(invocation_stack_check(&stack));
    invocation_stack_deinit(&stack);
}

static void those_that_are_suspended_sink_into_holes_in_order(void)
{
    struct invocation_cursor cursor;
    struct invocation *removed[2];

    CHECK_EQUAL(invocation_stack_init(&stack), 0);
    push(1);
    removed[0] = push(2);
    removed[1] = push(3);
    push(4)->flags = INVOCATION_SUSPENDED;
    push(5)->flags = INVOCATION_SUSPENDED;
    invocation_stack_remove(&stack, removed[0]);
    invocation_stack_remove(&stack, removed[1]);
    push(6);
    invocation_stack_sink(&stack);
    CHECK_EQUAL(slot_of(removed[0]), SLOT(4));
    CHECK_EQUAL(slot_of(removed[1]), SLOT(5));
    invocation_cursor_begin(&cursor, &stack);
    CHECK_EQUAL(slot_of(invocation_cursor_next(&cursor)), SLOT(6));
    CHECK_EQUAL(slot_of(invocation_cursor_next(&cursor)), SLOT(5));
    CHECK_EQUAL(slot_of(invocation_cursor_next(&cursor)), SLOT(4));
    CHECK_EQUAL(slot_of(invocation_cursor_next(&cursor)), SLOT(1));
    CHECK(invocation_stack_check(&stack));
    invocation_stack_deinit(&stack);
}

static void see(void *context, const struct invocation *invocation)
{
    unsigned *seen = context;

    CHECK_EQUAL(slot_of(invocation), SLOT(*seen));
    (*seen)++;
}

static void calls_are_shown_from_the_outermost_on(void)
{
    unsigned seen = 0;

    CHECK_EQUAL(invocation_stack_init(&stack), 0);
    for (unsigned depth = 0; depth < 5000; depth++)
        push(depth);
    CHECK(invocation_stack_mark(&stack));
    push(5000);
    invocation_stack_visit(&stack, see, &seen);
    CHECK_EQUAL(seen, 5001);
    invocation_stack_deinit(&stack);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_found_from_the_innermost_on),
    CHECK_CASE(those_in_the_middle_can_be_removed),
    CHECK_CASE(calls_that_overlap_forever_take_no_more_memory),
    CHECK_CASE(a_mark_keeps_stacks_apart),
    CHECK_CASE(what_is_in_the_making_is_left_alone),
    CHECK_CASE(what_was_popped_is_found_until_its_memory_is_used),
    CHECK_CASE(one_can_be_taken_once),
    CHECK_CASE(calls_are_shown_from_the_outermost_on),
    CHECK_CASE(gates_find_no_room_where_there_is_a_floor),
    CHECK_CASE(those_that_are_suspended_sink_into_holes_in_order),
    CHECK_CASE(calls_that_are_suspended_are_in_nothing_and_nothing_is_in_them),
};

int main(void)
{
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
