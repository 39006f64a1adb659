/* SPDX-License-Identifier: MIT */
/*
 * Plans for what is in memory: functions and instructions of files, code of none, and what cannot be planned.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "hook/live_plans.h"

#include "elf/function_list.h"
#include "support/check.h"
#include "support/libc_hammer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

__asm__("        .text\n"
        "        .p2align 4\n"
        "        .type   planned, @function\n"
        "planned:\n"
        "        movl    $1, %eax\n"
        "        movl    $2, %ecx\n"
        "        addl    %ecx, %eax\n"
        "        ret\n"
        "        .size   planned, . - planned\n");

int planned(void);

static struct live_plans plans;

static void functions_and_instructions_are_planned_where_they_are(void)
{
    uint64_t address = (uintptr_t)planned;
    struct hook_plan plan;

    live_plans_init(&plans);
    CHECK_EQUAL(live_plans_at(&plans, address, &plan), 0);
    CHECK_EQUAL(plan.method, HOOK_JUMP);
    CHECK_EQUAL(plan.address, address);
    CHECK_EQUAL(plan.patch_at, address);
    CHECK_EQUAL(plan.displaced_end, address + 5);
    live_plans_release(&plans, &plan);
    CHECK_EQUAL(live_plans_at(&plans, address + 5, &plan), 0);
    CHECK_EQUAL(plan.address, address + 5);
    CHECK_EQUAL(plan.displaced_end, address + 10);
    CHECK_EQUAL(live_plans_at(&plans, address + 2, &plan), -EILSEQ);
    live_plans_deinit(&plans);
}

static void code_without_a_file_is_planned(void)
{
    uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct hook_plan plan;

    live_plans_init(&plans);
    memcpy(page, (void *)planned, 16);
    CHECK_EQUAL(live_plans_at(&plans, (uintptr_t)page, &plan), 0);
    CHECK_EQUAL(plan.method, HOOK_JUMP);
    CHECK_EQUAL(plan.displaced_end, (uintptr_t)page + 5);
    live_plans_release(&plans, &plan);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    CHECK_EQUAL(live_plans_at(&plans, (uintptr_t)page, &plan), -EACCES);
    live_plans_deinit(&plans);
    munmap(page, 4096);
}

static void what_is_no_code_is_refused(void)
{
    struct hook_plan plan;
    int number;

    live_plans_init(&plans);
    CHECK_EQUAL(live_plans_at(&plans, (uintptr_t)&number, &plan), -EACCES);
    CHECK_EQUAL(live_plans_at(&plans, 16, &plan), -EFAULT);
    live_plans_deinit(&plans);
}

static uint64_t last_address;
static size_t wanted_count;

static bool take_half(void *context, const struct elf_function *function, const struct hook_plan *plan)
{
    (void)function;
    (*(size_t *)context)++;
    CHECK(plan->address > last_address);
    last_address = plan->address;
    wanted_count += plan->method != HOOK_IMPOSSIBLE;
    return *(size_t *)context % 2 == 0;
}

static void all_functions_of_a_module_are_planned_in_their_order(void)
{
    size_t count = 0;

    live_plans_init(&plans);
    CHECK_EQUAL(live_plans_module(&plans, libc_hammer_address(), take_half, &count), 0);
    CHECK(count > 1000);
    CHECK(wanted_count > count * 9 / 10);
    CHECK(live_plans_module(&plans, 16, take_half, &count) != 0);
    live_plans_deinit(&plans);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(functions_and_instructions_are_planned_where_they_are),
        CHECK_CASE(code_without_a_file_is_planned),
        CHECK_CASE(what_is_no_code_is_refused),
        CHECK_CASE(all_functions_of_a_module_are_planned_in_their_order),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
