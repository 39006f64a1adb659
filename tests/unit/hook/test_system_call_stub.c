/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#include "hook/system_call_stub.h"

#include "gait/cpu_context.h"
#include "gait/x86_64.h"
#include "support/check.h"
#include "support/patched_call.h"

#if defined(__x86_64__)

static struct system_call_stub stub;
static struct hook_plan plan;

static void begin(void)
{
    static const struct system_call_watcher nobody;

    CHECK_EQUAL(system_calls_begin(&nobody), 0);
    (void)patched_call_make(&stub, &plan);
}

/* Both ways, for each place that a thread can be at. */
static void places_have_their_copies(void)
{
    const struct system_call_knowledge *known = &stub.knowledge;
    uint64_t found;

    CHECK(!system_call_stub_find_copy(&stub, &plan, plan.patch_at, &found));
    CHECK(!system_call_stub_find_copy(&stub, &plan, plan.displaced_end, &found));
    CHECK(system_call_stub_find_copy(&stub, &plan, plan.address, &found));
    CHECK_EQUAL(found, known->plain_at);
    CHECK(system_call_stub_find_copy(&stub, &plan, plan.address + 2, &found));
    CHECK_EQUAL(found, known->after);
    CHECK_EQUAL(known->after, known->plain_at + 2);
    CHECK(system_call_stub_find_original(&stub, &plan, stub.entry, &found));
    CHECK_EQUAL(found, plan.patch_at);
    CHECK(system_call_stub_find_original(&stub, &plan, known->call_at, &found));
    CHECK_EQUAL(found, plan.address);
    CHECK(system_call_stub_find_original(&stub, &plan, known->call_at + 2, &found));
    CHECK_EQUAL(found, plan.address + 2);
    CHECK(system_call_stub_find_original(&stub, &plan, known->child_at + 2, &found));
    CHECK_EQUAL(found, plan.address + 2);
    CHECK(system_call_stub_find_original(&stub, &plan, known->after, &found));
    CHECK_EQUAL(found, plan.address + 2);
    /* At the jump back all is done that was displaced. */
    CHECK(system_call_stub_find_original(&stub, &plan, known->after + 5, &found));
    CHECK_EQUAL(found, plan.displaced_end);
    CHECK(!system_call_stub_find_original(&stub, &plan, known->call_at + 3, &found));
    CHECK(!system_call_stub_find_original(&stub, &plan, stub.end, &found));
}

/* Without knowing which stub it is. */
static void interrupted_places_are_found(void)
{
    const struct system_call_knowledge *known = &stub.knowledge;
    uint64_t found;

    CHECK(system_call_stub_undo(known->call_at, &found));
    CHECK_EQUAL(found, plan.address);
    CHECK(system_call_stub_undo(known->call_at + 2, &found));
    CHECK_EQUAL(found, plan.address + 2);
    CHECK(system_call_stub_undo(known->child_at + 2, &found));
    CHECK_EQUAL(found, plan.address + 2);
    CHECK(system_call_stub_undo(known->after, &found));
    CHECK_EQUAL(found, plan.address + 2);
    CHECK(!system_call_stub_undo(known->call_at + 3, &found));
    CHECK(!system_call_stub_undo(plan.address, &found));
    CHECK(!system_call_stub_undo(0x1000, &found));
}

static void registers_are_those_of_a_function_that_was_called(void)
{
    const struct system_call_knowledge known = {.behind = 0x4000, .after = 0x9000};
    const struct system_call_frame frame = {.sp = 0x7000, .stub = &known, .registers = {1, 2, 3, 4, 5, 6}};
    struct gait_cpu_context context;

    CHECK_EQUAL(system_call_stub_context(&frame, &context), 0);
    CHECK_EQUAL(gait_x86_64_rbx(&context), 1);
    CHECK_EQUAL(gait_x86_64_rbp(&context), 2);
    CHECK_EQUAL(gait_x86_64_r12(&context), 3);
    CHECK_EQUAL(gait_x86_64_r15(&context), 6);
    CHECK_EQUAL(context.pc, 0x4000);
    CHECK_EQUAL(gait_cpu_stack_pointer(&context), 0x7000 - 8);
}

static void all(void)
{
    begin();
    places_have_their_copies();
    interrupted_places_are_found();
    registers_are_those_of_a_function_that_was_called();
    CHECK(stub.end - stub.start <= SYSTEM_CALL_STUB_BYTES_MAX);
    system_calls_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(all),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    return 77;
}

#endif
