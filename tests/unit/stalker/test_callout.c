/* SPDX-License-Identifier: MIT */
#include "stalker/callout.h"

#include "gait/x86_64.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#if defined(__x86_64__)

static struct stalker_lab lab;

/* What a callout sees and does. */
struct visit {
    unsigned count;
    uint64_t pc, rax, rsp;
    uint64_t new_pc; /* 0: stays */
};

static void look(struct gait_cpu_context *cpu, void *data)
{
    struct visit *visit = data;

    visit->count++;
    visit->pc = cpu->pc;
    visit->rax = gait_x86_64_rax(cpu);
    visit->rsp = gait_cpu_stack_pointer(cpu);
    gait_x86_64_rax(cpu)++;
    CHECK(lab.thread.vectors_saved);
    if (visit->new_pc != 0)
        cpu->pc = visit->new_pc;
}

#define BEHIND 0x7000

static bool make(const struct callout *callout)
{
    struct callout_call call = {BEHIND, callout};

    return stalker_callout(&lab.thread, &call, false);
}

static void the_function_gets_the_threads_registers(void)
{
    struct visit visit = {0};
    struct callout callout = {look, &visit, app_pc_of(0x5000), false};

    stalker_lab_init(&lab, NULL);
    gait_x86_64_rax(&lab.thread.context) = 41;
    gait_cpu_stack_pointer_set(&lab.thread.context, 0x8000);
    lab.thread.context.pc = 0x9999;
    lab.thread.resume = 7;
    CHECK(!make(&callout));
    CHECK_EQUAL(visit.count, 1);
    CHECK_EQUAL(visit.pc, 0x5000);
    CHECK_EQUAL(visit.rax, 41);
    CHECK_EQUAL(visit.rsp, 0x8000);
    CHECK_EQUAL(gait_x86_64_rax(&lab.thread.context), 42);
    CHECK_EQUAL(lab.thread.resume, 7);
    CHECK(!lab.thread.vectors_saved);
    stalker_lab_deinit(&lab);
}

static void a_new_pc_is_where_the_thread_goes_on(void)
{
    struct visit visit = {0};
    struct callout callout = {look, &visit, app_pc_of(0x5000), false};
    struct block *block;

    stalker_lab_init(&lab, NULL);
    gait_cpu_stack_pointer_set(&lab.thread.context, (uintptr_t)lab.stack.base + 0x1000);
    visit.new_pc = (uintptr_t)lab.code.base + 0x40;
    stalker_lab_write_end(&lab);
    CHECK(make(&callout));
    block = code_cache_find(lab.cache, app_pc_of(visit.new_pc));
    CHECK(block != NULL && lab.thread.resume == block->entry.value);
    CHECK(!lab.thread.vectors_saved);
    stalker_lab_deinit(&lab);
}

static void count_only(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    ++*(unsigned *)data;
    CHECK(!lab.thread.vectors_saved);
}

static void functions_that_use_no_vectors_are_called_as_they_are(void)
{
    unsigned count = 0;
    struct callout callout = {count_only, &count, app_pc_of(0x5000), true};

    stalker_lab_init(&lab, NULL);
    CHECK(!make(&callout));
    CHECK_EQUAL(count, 1);
    stalker_lab_deinit(&lab);
}

static void ask_to_be_unfollowed(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    atomic_store(&lab.thread.requests, STALKER_REQUEST_UNFOLLOW);
}

static void a_request_is_seen_right_behind_it(void)
{
    struct callout callout = {ask_to_be_unfollowed, NULL, app_pc_of(0x5000), false};

    stalker_lab_init(&lab, NULL);
    list_add_last(&lab.engine->threads, &lab.thread.node);
    CHECK(make(&callout));
    CHECK(lab.thread.is_leaving);
    CHECK_EQUAL(lab.thread.resume, 0x5000);
    list_remove(&lab.thread.node);
    stalker_lab_deinit(&lab);
}

static void what_was_interrupted_goes_on_behind_it(void)
{
    struct callout callout = {.pc = app_pc_of(0x5000)};
    struct callout_call call = {BEHIND, &callout};

    stalker_lab_init(&lab, NULL);
    lab.thread.with_position = true;
    stalker_callout_interrupted(&lab.thread, &call, true);
    CHECK_EQUAL(lab.thread.resume, BEHIND);
    CHECK_EQUAL(lab.thread.enter, (uintptr_t)stalker_enter_with_position);
    stalker_callout_interrupted(&lab.thread, &call, false);
    CHECK_EQUAL(lab.thread.resume, BEHIND);
    CHECK_EQUAL(lab.thread.enter, (uintptr_t)stalker_enter);
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_request_is_seen_right_behind_it),
    CHECK_CASE(what_was_interrupted_goes_on_behind_it),
    CHECK_CASE(the_function_gets_the_threads_registers),
    CHECK_CASE(a_new_pc_is_where_the_thread_goes_on),
    CHECK_CASE(functions_that_use_no_vectors_are_called_as_they_are),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif
