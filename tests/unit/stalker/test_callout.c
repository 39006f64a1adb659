/* SPDX-License-Identifier: MIT */
#include "stalker/callout.h"

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
    visit->rax = cpu->rax;
    visit->rsp = cpu->rsp;
    cpu->rax++;
    CHECK(lab.thread.vectors_saved);
    if (visit->new_pc != 0)
        cpu->pc = visit->new_pc;
}

static void the_function_gets_the_threads_registers(void)
{
    struct visit visit = {0};
    struct callout callout = {look, &visit, app_pc_of(0x5000), false};

    stalker_lab_init(&lab, NULL);
    lab.thread.context.rax = 41;
    lab.thread.context.rsp = 0x8000;
    lab.thread.context.pc = 0x9999;
    lab.thread.resume = 7;
    CHECK(!stalker_callout(&lab.thread, &callout));
    CHECK_EQUAL(visit.count, 1);
    CHECK_EQUAL(visit.pc, 0x5000);
    CHECK_EQUAL(visit.rax, 41);
    CHECK_EQUAL(visit.rsp, 0x8000);
    CHECK_EQUAL(lab.thread.context.rax, 42);
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
    lab.thread.context.rsp = (uintptr_t)lab.stack.base + 0x1000;
    visit.new_pc = (uintptr_t)lab.code.base + 0x40;
    stalker_lab_write_end(&lab);
    CHECK(stalker_callout(&lab.thread, &callout));
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
    CHECK(!stalker_callout(&lab.thread, &callout));
    CHECK_EQUAL(count, 1);
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
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
