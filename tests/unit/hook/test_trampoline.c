/* SPDX-License-Identifier: MIT */
/*
 * Copies of displaced instructions: they do what the originals did, and it is known where each of them begins.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "hook/trampoline.h"

#include "process/near_memory.h"
#include "support/check.h"

#include <errno.h>

__asm__("        .text\n"
        "        .p2align 4\n"
        "sum_of_three:\n"
        "        movq    %rdi, %rax\n"
        "        addq    number(%rip), %rax\n"
        "        addq    %rsi, %rax\n"
        "        ret\n"
        "sum_of_three_end:\n"
        "        .data\n"
        "number: .quad   1000\n"
        "        .text\n");

long sum_of_three(long first, long second);
extern const char sum_of_three_end[];

static struct near_memory memory;

static struct hook_plan plan_of(uint64_t bytes)
{
    return (struct hook_plan){
        .patch_at = (uintptr_t)sum_of_three, .displaced_end = (uintptr_t)sum_of_three + bytes, .patch_bytes = 5};
}

static void a_trampoline_goes_on_where_the_function_does(void)
{
    struct hook_plan plan = plan_of(10);
    struct trampoline trampoline;
    struct near_piece piece;
    struct near_chunk *chunk;
    uint64_t copy;

    near_memory_init(&memory, CODE_VIEW_AUTO, 0);
    CHECK_EQUAL(near_memory_begin(&memory, plan.patch_at, TRAMPOLINE_BYTES(10), &chunk), 0);
    CHECK_EQUAL(trampoline_write(&chunk->writer, &plan, (const uint8_t *)sum_of_three, &trampoline), 0);
    CHECK_EQUAL(near_memory_end(chunk, &piece), 0);
    CHECK_EQUAL(near_memory_commit(&memory), 0);
    CHECK_EQUAL(((long (*)(long, long))(uintptr_t)trampoline.start)(5, 7), 1012);
    CHECK(trampoline.end - trampoline.start <= TRAMPOLINE_BYTES(10));
    CHECK_EQUAL(trampoline_find_copy(trampoline.start, &plan, (const uint8_t *)sum_of_three, plan.patch_at, &copy), 0);
    CHECK_EQUAL(copy, trampoline.start);
    CHECK_EQUAL(trampoline_find_copy(trampoline.start, &plan, (const uint8_t *)sum_of_three, plan.patch_at + 3, &copy),
                0);
    CHECK_EQUAL(copy, trampoline.start + 3);
    CHECK_EQUAL(trampoline_find_copy(trampoline.start, &plan, (const uint8_t *)sum_of_three, plan.patch_at + 4, &copy),
                -ENOENT);
    near_memory_deinit(&memory);
}

static void what_is_no_code_or_too_much_is_refused(void)
{
    uint8_t room[TRAMPOLINE_BYTES_MAX];
    struct hook_plan plan = plan_of(4);
    struct trampoline trampoline;
    struct code_writer writer;

    code_writer_init(&writer, room, sizeof(room), cache_pc_of(plan.patch_at + 4096));
    CHECK_EQUAL(trampoline_write(&writer, &plan, (const uint8_t *)sum_of_three, &trampoline), -ENODATA);
    plan = plan_of(HOOK_DISPLACED_BYTES_MAX + 1);
    CHECK_EQUAL(trampoline_write(&writer, &plan, (const uint8_t *)sum_of_three, &trampoline), -E2BIG);
    plan = plan_of(0);
    CHECK_EQUAL(trampoline_write(&writer, &plan, (const uint8_t *)sum_of_three, &trampoline), -E2BIG);
    plan = plan_of(2);
    CHECK_EQUAL(trampoline_write(&writer, &plan, (const uint8_t *)"\x06\x06", &trampoline), -EILSEQ);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_trampoline_goes_on_where_the_function_does),
        CHECK_CASE(what_is_no_code_or_too_much_is_refused),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
