/* SPDX-License-Identifier: MIT */
/* Which handlers get on the stack, and when it is disarmed. */
#include "stalker/signal_stack.h"

#include "support/check.h"

#include <signal.h>

static void it_is_free_unless_somebody_is_on_it(void)
{
    struct signal_stack stack = {.start = 0x10000, .size_bytes = 0x1000}, none = {.flags = SS_DISABLE};

    CHECK(signal_stack_is_free(&stack, 0x9000));
    CHECK(signal_stack_is_free(&stack, 0x10000));
    CHECK(!signal_stack_is_free(&stack, 0x10800));
    CHECK(!signal_stack_is_free(&stack, 0x11000));
    CHECK(signal_stack_is_free(&stack, 0x11008));
    CHECK(!signal_stack_is_free(&none, 0x9000));
}

static void one_that_is_disarmed_comes_back_with_the_return(void)
{
    struct signal_stack stack = {.start = 0x10000, .size_bytes = 0x1000, .flags = (int32_t)(1u << 31)}, saved = stack;

    signal_stack_enter(&stack);
    CHECK(!signal_stack_is_free(&stack, 0x9000));
    signal_stack_return(&stack, &saved, 0x9000);
    CHECK(signal_stack_is_free(&stack, 0x10800));
    stack = (struct signal_stack){.start = 0x10000, .size_bytes = 0x1000};
    signal_stack_enter(&stack);
    CHECK_EQUAL(stack.size_bytes, 0x1000);
    saved = (struct signal_stack){.start = 0x20000, .size_bytes = 0x1000};
    signal_stack_return(&stack, &saved, 0x10800);
    CHECK_EQUAL(stack.start, 0x10000);
}

static const struct check_case cases[] = {
    CHECK_CASE(it_is_free_unless_somebody_is_on_it),
    CHECK_CASE(one_that_is_disarmed_comes_back_with_the_return),
};

CHECK_MAIN(cases)
