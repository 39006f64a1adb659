/* SPDX-License-Identifier: MIT */
#include "unwind/full_unwind.h"

#include "arch/arch.h"
#include "support/check.h"
#include "support/frame_sections.h"
#include "support/random.h"

#include <errno.h>

#define SP     7
#define FP     6
#define RETURN 16
#define CODE   0x401000u
#define STACK  0x7000u

static const struct arch_frame_registers numbers = {.stack_pointer = SP, .frame_pointer = FP, .return_address = RETURN};
static struct full_unwind_storage storage;
static uint64_t stack[64]; /* at STACK */

static bool read_stack(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    (void)context;
    if (address < STACK || address + size_bytes > STACK + sizeof(stack) || address + size_bytes < address)
        return false;
    memcpy(bytes_out, (const uint8_t *)stack + (address - STACK), size_bytes);
    return true;
}

static const struct full_unwind way = {&numbers, {read_stack, NULL}, &storage};

/* Undoes a frame at CODE + 8 of a function with that program; sp is STACK + 64, fp STACK + 128, rbx (3) 333. */
static int undo(const uint8_t *program, size_t program_bytes, struct unwind_registers *registers)
{
    static const uint8_t common[] = {0x0c, 7, 8, 0x80 | 16, 1};
    const struct eh_frame_entry entry = {
        .start = CODE,
        .end = CODE + 64,
        .common_program = {common, common + sizeof(common)},
        .program = {program, program + program_bytes},
        .code_alignment = 1,
        .data_alignment = -8,
    };

    for (unsigned i = 0; i < 64; i++)
        stack[i] = 1000 + i;
    *registers = (struct unwind_registers){.known = 0};
    unwind_registers_set(registers, SP, STACK + 64);
    unwind_registers_set(registers, FP, STACK + 128);
    unwind_registers_set(registers, 3, 333);
    unwind_registers_set(registers, RETURN, CODE + 8);
    return full_unwind_step(&way, &entry, CODE + 8, registers);
}

#define UNDO(registers, ...) undo((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), registers)

static void a_simple_frame_is_undone(void)
{
    struct unwind_registers registers;

    CHECK_EQUAL(UNDO(&registers, 0x0e, 32, 0x83, 2), 1);
    CHECK_EQUAL(registers.values[SP], STACK + 96);
    CHECK_EQUAL(registers.values[RETURN], 1000 + 11);
    CHECK_EQUAL(registers.values[3], 1000 + 10);
    CHECK_EQUAL(registers.values[FP], STACK + 128);
    CHECK(!unwind_registers_know(&registers, 0));
}

static void the_row_of_the_address_counts(void)
{
    struct unwind_registers registers;

    CHECK_EQUAL(UNDO(&registers, 0x48, 0x0e, 32, 0x41, 0x0e, 64), 1);
    CHECK_EQUAL(registers.values[SP], STACK + 96);
    CHECK_EQUAL(UNDO(&registers, 0x49, 0x0e, 32), 1);
    CHECK_EQUAL(registers.values[SP], STACK + 72);
    /* What comes behind it does not matter. */
    CHECK_EQUAL(UNDO(&registers, 0x49, 0x0e, 32, 0x3f), 1);
    CHECK_EQUAL(registers.values[SP], STACK + 72);
    CHECK_EQUAL(UNDO(&registers, 0x47, 0x3f), -EPROTO);
}

static void realigned_stacks_are_undone_by_expressions(void)
{
    struct unwind_registers registers;

    /* The frame is in the word below the frame pointer; so is, there, the frame pointer itself. */
    stack[0] = 0;
    CHECK_EQUAL(UNDO(&registers, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0), -EFAULT);
    CHECK_EQUAL(UNDO(&registers, 0x0f, 5, 0x76, 0x78, 0x23, 8, 0x96, 0x10, 6, 2, 0x76, 0x70), 1);
    CHECK_EQUAL(registers.values[SP], STACK + 128);
    CHECK_EQUAL(registers.values[RETURN], 1000 + 15);
    CHECK_EQUAL(registers.values[FP], 1000 + 14);
}

static void stack_pointers_may_be_saved(void)
{
    struct unwind_registers registers;

    /* As in signal frames: all are somewhere above. */
    CHECK_EQUAL(UNDO(&registers, 0x10, 7, 2, 0x77, 16, 0x10, 16, 2, 0x77, 24, 0x16, 3, 1, 0x35), 1);
    CHECK_EQUAL(registers.values[SP], 1000 + 10);
    CHECK_EQUAL(registers.values[RETURN], 1000 + 11);
    CHECK_EQUAL(registers.values[3], 5);
}

static void registers_that_are_not_known_are_said_so(void)
{
    struct unwind_registers registers;

    CHECK_EQUAL(UNDO(&registers, 0x0c, 12, 8), -ENODATA);
    CHECK_EQUAL(UNDO(&registers, 0x09, 16, 12), -ENODATA);
    CHECK_EQUAL(UNDO(&registers, 0x09, 16, 3), 1);
    CHECK_EQUAL(registers.values[RETURN], 333);
    /* One that does not matter may be unknown, or unreadable. */
    CHECK_EQUAL(UNDO(&registers, 0x07, 3, 0x86, 0xe8, 7), 1);
    CHECK(!unwind_registers_know(&registers, 3));
    CHECK(!unwind_registers_know(&registers, FP));
}

static void the_outermost_frame_has_no_caller(void)
{
    struct unwind_registers registers;

    CHECK_EQUAL(UNDO(&registers, 0x07, 16), 0);
    CHECK_EQUAL(registers.values[SP], STACK + 64);
}

static void frames_outside_of_the_stack_are_errors(void)
{
    struct unwind_registers registers;

    CHECK_EQUAL(UNDO(&registers, 0x0e, 0x80, 0x20), -EFAULT);
    CHECK_EQUAL(UNDO(&registers, 0x0f, 1, 0x30), -EFAULT);
    CHECK_EQUAL(UNDO(&registers, 0x0f, 1, 0x22), -EPROTO);
    CHECK_EQUAL(registers.values[SP], STACK + 64);
}

static void random_programs_do_no_harm(void)
{
    struct loaded_frames libc = loaded_frames_of("libc.so");
    struct random random;
    uint8_t *program = malloc(100);
    unsigned done = 0;

    random_init(&random, 13);
    for (unsigned i = 0; i < 20000; i++) {
        struct unwind_registers registers;
        size_t size_bytes = random_below(&random, 100);
        int result;

        memcpy(program, libc.frame.bytes + random_below(&random, 20000), size_bytes);
        for (unsigned j = 0; size_bytes > 0 && j < i % 8; j++)
            program[random_below(&random, size_bytes)] = (uint8_t)(random_u64(&random) & 0x7f);
        result = undo(program, size_bytes, &registers);
        CHECK(result == 1 || result == 0 || result == -EPROTO || result == -EFAULT || result == -ENODATA);
        done += result == 1;
    }
    CHECK(done > 100);
    free(program);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_simple_frame_is_undone),
    CHECK_CASE(the_row_of_the_address_counts),
    CHECK_CASE(realigned_stacks_are_undone_by_expressions),
    CHECK_CASE(stack_pointers_may_be_saved),
    CHECK_CASE(registers_that_are_not_known_are_said_so),
    CHECK_CASE(the_outermost_frame_has_no_caller),
    CHECK_CASE(frames_outside_of_the_stack_are_errors),
    CHECK_CASE(random_programs_do_no_harm),
};

CHECK_MAIN(cases)
