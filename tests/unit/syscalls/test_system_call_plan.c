/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/system_call_plan.h"

#include "process/system_call_table.h"
#include "support/check.h"

#include <sys/syscall.h>

static void what_is_passed_is_read_before_and_what_is_answered_after(void)
{
    struct call_program_plan reads = system_call_plan(SYS_read, true, 100);
    struct call_program_plan writes = system_call_plan(SYS_write, false, 100);

    CHECK_EQUAL(reads.is_wanted, 1);
    CHECK_EQUAL(writes.is_wanted, 0);
    CHECK_EQUAL(reads.pieces[0].kind, CALL_PIECE_NONE);
    CHECK_EQUAL(reads.pieces[1].kind, CALL_PIECE_BYTES);
    CHECK_EQUAL(reads.pieces[1].moments, CALL_PIECE_AFTER);
    CHECK_EQUAL(reads.pieces[1].length, SYSTEM_CALL_LENGTH_AT_MOST | 2);
    CHECK_EQUAL(reads.pieces[1].unit, 1);
    CHECK_EQUAL(reads.pieces[1].most, 100);
    CHECK_EQUAL(writes.pieces[1].moments, CALL_PIECE_BEFORE);
    CHECK_EQUAL(writes.pieces[1].length, SYSTEM_CALL_LENGTH_ARGUMENT | 2);
}

static void paths_come_whole(void)
{
    struct call_program_plan plan = system_call_plan(SYS_openat, true, 10);

    CHECK_EQUAL(plan.descriptors, 1u | 1u << 6);
    CHECK_EQUAL(plan.pieces[1].kind, CALL_PIECE_STRING);
    CHECK_EQUAL(plan.pieces[1].most, CALL_PROGRAM_PIECE_BYTES);
}

static void arrays_are_as_long_as_their_elements(void)
{
    struct call_program_plan plan = system_call_plan(SYS_ppoll, true, 10);

    CHECK_EQUAL(plan.pieces[0].unit, 8);
    CHECK_EQUAL(plan.pieces[0].moments, CALL_PIECE_BEFORE | CALL_PIECE_AFTER);
    plan = system_call_plan(SYS_clock_nanosleep, true, 10);
    CHECK_EQUAL(plan.pieces[3].moments, CALL_PIECE_AFTER_ERROR);
    plan = system_call_plan(SYS_rt_sigreturn, true, 10);
    CHECK_EQUAL(plan.pieces[0].kind, CALL_PIECE_FRAME);
    CHECK_EQUAL(plan.pieces[0].moments, CALL_PIECE_BEFORE);
}

/* Whatever points at memory has a way to read it, and a moment. */
static void no_pointer_is_left_out(void)
{
    for (uint64_t number = 0; number < CALL_PROGRAM_NUMBERS; number++) {
        const struct system_call_signature *call = system_call_by_number(number);
        struct call_program_plan plan = system_call_plan(number, true, 10);

        for (unsigned i = 0; call != NULL && i < call->argument_count; i++) {
            bool is_pointer = call->arguments[i].kind >= SYSTEM_CALL_FIRST_POINTER;

            CHECK_EQUAL(is_pointer && plan.pieces[i].kind == CALL_PIECE_NONE, 0);
            CHECK_EQUAL(plan.pieces[i].kind != CALL_PIECE_NONE && plan.pieces[i].moments == 0, 0);
            CHECK_EQUAL(plan.pieces[i].kind != CALL_PIECE_NONE && plan.pieces[i].most == 0, 0);
        }
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_passed_is_read_before_and_what_is_answered_after),
    CHECK_CASE(paths_come_whole),
    CHECK_CASE(arrays_are_as_long_as_their_elements),
    CHECK_CASE(no_pointer_is_left_out),
};

CHECK_MAIN(cases)
