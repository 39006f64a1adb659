/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/stalker/translate.h"

#include "gait/stalker.h"
#include "stalker/call_piece.h"
#include "support/check.h"
#include "support/program_code.h"
#include "support/stalker_lab.h"

#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)

#define FUNCTION_OFFSET 0x1000
#define POINTER_OFFSET  0x40 /* in the data, of a pointer to the function */

static struct stalker_lab lab;
static struct code_writer *const out = &lab.writer;
static struct machine_state initial;
static struct run_result result;
static const char *program;
static uint32_t program_events;

static uint64_t code_at(size_t offset)
{
    return (uintptr_t)lab.code.base + offset;
}

static void mark(enum x86_gpr gpr, int32_t value)
{
    x86_lea(out, X86_SIZE_64, gpr, x86_mem_base(gpr, value));
}

static void put_end(void)
{
    code_writer_put_u8(out, 0xcc);
}

/* Puts a function for programs to call, and a pointer to it in the data. */
static void put_function(uint16_t drop_bytes)
{
    uint64_t pointer = code_at(FUNCTION_OFFSET);

    stalker_lab_write_at(&lab, FUNCTION_OFFSET);
    mark(X86_R14, 100);
    x86_ret(out, drop_bytes);
    memcpy(lab.data.base + POINTER_OFFSET, &pointer, sizeof(pointer));
    stalker_lab_write_at(&lab, 0);
}

static void compare(void)
{
    unsigned differences = stalker_lab_compare(&lab, &initial);

    if (differences != 0)
        printf("that was %s at 0x%llx with events 0x%x\n", program, (unsigned long long)code_at(0), program_events);
    CHECK_EQUAL(differences, 0);
}

/* Writes a program at each place, with each kind of events, and lets `run` compare it. */
static void with_program(const char *name, void (*write)(void), void (*run)(void))
{
    static const uint64_t places[] = {STALKER_LAB_LOW, STALKER_LAB_HIGH};
    static const uint32_t events[] = {
        0,
        GAIT_EVENT_BLOCK,
        GAIT_EVENT_CALL,
        GAIT_EVENT_RET,
        GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK,
    };

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        for (size_t e = 0; e < sizeof(events) / sizeof(events[0]); e++) {
            struct stalker_lab_options options = {.code = places[i], .events = events[e]};

            program = name;
            program_events = events[e];
            stalker_lab_init(&lab, &options);
            put_function(0);
            write();
            stalker_lab_state(&lab, app_pc_of(code_at(0)), &initial);
            run();
            stalker_lab_deinit(&lab);
        }
}

#define WITH_PROGRAM(write, run) with_program(#write, write, run)

/* ---- branches ---------------------------------------------------------------------------------------------------- */

static void write_conditions(void)
{
    for (unsigned condition = 0; condition < 16; condition++) {
        struct x86_label skipped;

        x86_label_init(&skipped);
        x86_jcc_label(out, condition, &skipped, X86_REACH_AUTO);
        mark(X86_RAX, 1 << condition);
        x86_label_bind(&skipped, out);
    }
    put_end();
}

static void run_all_flags(void)
{
    for (unsigned flags = 0; flags < 32; flags++) {
        initial.rflags = 2 | (flags & 1 ? X86_FLAG_CF : 0) | (flags & 2 ? X86_FLAG_PF : 0) |
                         (flags & 4 ? X86_FLAG_ZF : 0) | (flags & 8 ? X86_FLAG_SF : 0) | (flags & 16 ? X86_FLAG_OF : 0);
        compare();
    }
}

static void every_condition_goes_where_it_should(void)
{
    WITH_PROGRAM(write_conditions, run_all_flags);
}

static void write_loops(void)
{
    for (unsigned i = 0; i < 8; i++) {
        enum x86_size counter = i % 2 == 0 ? X86_SIZE_64 : X86_SIZE_32;
        struct x86_label skipped;

        x86_label_init(&skipped);
        x86_loop_label(out, X86_LOOPNE + i / 2, counter, &skipped);
        mark(X86_RAX, 1 << i);
        x86_label_bind(&skipped, out);
    }
    put_end();
}

static void run_counters(void)
{
    static const uint64_t counters[] = {0, 1, 2, 5, 0x100000000, 0x100000001, UINT64_MAX};

    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        for (int zero = 0; zero < 2; zero++) {
            initial.gpr[X86_RCX] = counters[i];
            initial.rflags = 2 | (zero ? X86_FLAG_ZF : 0);
            compare();
        }
}

static void branches_that_count_do_so(void)
{
    WITH_PROGRAM(write_loops, run_counters);
}

static void write_loop_backwards(void)
{
    struct x86_label again;

    x86_label_init(&again);
    x86_mov_reg_imm(out, X86_SIZE_32, X86_RCX, 1000);
    x86_label_bind(&again, out);
    mark(X86_R11, 3);
    x86_loop_label(out, X86_LOOP, X86_SIZE_64, &again);
    x86_mov_reg_imm(out, X86_SIZE_32, X86_RDX, 700);
    x86_label_init(&again);
    x86_label_bind(&again, out);
    mark(X86_RAX, 1);
    x86_unary_reg(out, X86_DEC, X86_SIZE_32, X86_RDX);
    x86_jcc_label(out, X86_NOT_EQUAL, &again, X86_REACH_AUTO);
    put_end();
}

static void loops_come_to_their_end(void)
{
    WITH_PROGRAM(write_loop_backwards, compare);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void write_calls(void)
{
    x86_call_pc(out, cache_pc_of(code_at(FUNCTION_OFFSET)));
    mark(X86_RAX, 1);
    x86_call_pc(out, cache_pc_of(code_at(FUNCTION_OFFSET)));
    mark(X86_RAX, 1);
    put_end();
}

/* The stack is compared, so it has the original return addresses. */
static void calls_push_the_original_return_address(void)
{
    WITH_PROGRAM(write_calls, compare);
}

static void write_call_next(void)
{
    x86_call_pc(out, cache_pc_of(code_writer_pc(out).value + 5));
    x86_pop_reg(out, X86_RAX);
    x86_call_pc(out, cache_pc_of(code_writer_pc(out).value + 5));
    x86_pop_reg(out, X86_R11);
    put_end();
}

static void code_may_call_itself_to_find_out_where_it_is(void)
{
    WITH_PROGRAM(write_call_next, compare);
}

static void write_return_with_arguments(void)
{
    put_function(24);
    for (int i = 0; i < 3; i++)
        x86_push_imm(out, i);
    x86_call_pc(out, cache_pc_of(code_at(FUNCTION_OFFSET)));
    put_end();
}

static void returns_drop_arguments(void)
{
    WITH_PROGRAM(write_return_with_arguments, compare);
}

/* Jumps through a register to what is written next. */
static void put_jump_on(enum x86_gpr gpr)
{
    size_t next = code_writer_pc(out).value - code_at(0) + 64;

    x86_mov_reg_imm(out, X86_SIZE_64, gpr, code_at(next));
    x86_jmp_reg(out, gpr);
    stalker_lab_write_at(&lab, next);
}

static void write_calls_of_registers(void)
{
    for (enum x86_gpr gpr = X86_RAX; gpr < X86_GPR_COUNT; gpr++) {
        if (gpr == X86_RSP)
            continue;
        x86_mov_reg_imm(out, X86_SIZE_64, gpr, code_at(FUNCTION_OFFSET));
        program_call(out, gpr);
        put_jump_on(gpr);
    }
    put_end();
}

static void run_once_and_again(void)
{
    compare();
    /* Now everything is translated and landed. */
    initial.rflags |= X86_FLAGS_STATUS;
    compare();
}

static void any_register_can_be_branched_to(void)
{
    WITH_PROGRAM(write_calls_of_registers, run_once_and_again);
}

static void write_calls_of_memory(void)
{
    int32_t pointer = (int32_t)STALKER_LAB_DATA + POINTER_OFFSET;

    x86_call_mem(out, x86_mem_absolute(pointer));
    for (enum x86_gpr gpr = X86_RAX; gpr < X86_GPR_COUNT; gpr++) {
        if (gpr == X86_RSP || gpr == X86_R14)
            continue;
        x86_mov_reg_imm(out, X86_SIZE_64, gpr, (uint64_t)pointer - 8);
        x86_call_mem(out, x86_mem_base(gpr, 8));
        x86_mov_reg_imm(out, X86_SIZE_64, gpr, POINTER_OFFSET / 8);
        x86_call_mem(out, x86_mem_index(X86_GPR_NONE, gpr, 8, (int32_t)STALKER_LAB_DATA));
    }
    /* The address is computed before the return address is pushed. */
    x86_mov_reg_imm(out, X86_SIZE_64, X86_RAX, code_at(FUNCTION_OFFSET));
    x86_push_reg(out, X86_RAX);
    x86_push_imm(out, 5);
    x86_call_mem(out, x86_mem_base(X86_RSP, 8));
    x86_mov_reg_imm(out, X86_SIZE_64, X86_RAX, 0xabcd00000000 | (uint64_t)pointer);
    x86_call_mem(out, x86_mem_address_32(x86_mem_base(X86_RAX, 0)));
    put_end();
}

static void pointers_in_memory_can_be_called(void)
{
    WITH_PROGRAM(write_calls_of_memory, run_once_and_again);
}

/* A pointer next to the code, through rip. */
static void write_calls_of_constants(void)
{
    uint64_t pointer = code_at(0x2000);

    memcpy(lab.code.base + 0x2000, &(uint64_t){code_at(FUNCTION_OFFSET)}, 8);
    x86_call_mem(out, x86_mem_address(pointer));
    mark(X86_RAX, 1);
    memcpy(lab.code.base + 0x2008, &(uint64_t){code_writer_pc(out).value + 6}, 8);
    x86_jmp_mem(out, x86_mem_address(pointer + 8));
    mark(X86_RAX, 2);
    put_end();
}

static void pointers_beside_the_code_can_be_called(void)
{
    WITH_PROGRAM(write_calls_of_constants, run_once_and_again);
}

static void write_return_to_elsewhere(void)
{
    x86_mov_reg_imm(out, X86_SIZE_64, X86_RAX, code_at(0x3000));
    x86_push_reg(out, X86_RAX);
    x86_ret(out, 0);
    stalker_lab_write_at(&lab, 0x3000);
    mark(X86_RBX, 5);
    put_end();
}

static void returns_go_where_the_stack_says(void)
{
    WITH_PROGRAM(write_return_to_elsewhere, compare);
}

/* What lies below the stack pointer belongs to the program. */
static void write_red_zone(void)
{
    for (int32_t offset = 8; offset <= 128; offset += 8)
        x86_mov_mem_imm(out, X86_SIZE_64, x86_mem_base(X86_RSP, -offset), offset);
    put_jump_on(X86_RAX);
    x86_jmp_pc(out, cache_pc_of(code_at(0x3000)), X86_REACH_NEAR);
    stalker_lab_write_at(&lab, 0x3000);
    put_end();
}

static void nothing_is_written_below_the_stack_pointer(void)
{
    WITH_PROGRAM(write_red_zone, run_once_and_again);
}

/* ---- system calls ------------------------------------------------------------------------------------------------ */

static void write_system_calls(void)
{
    x86_mov_reg_imm(out, X86_SIZE_32, X86_RAX, SYS_getpid);
    x86_plain(out, X86_SYSCALL);
    mark(X86_RCX, 1);
    x86_mov_reg_imm(out, X86_SIZE_64, X86_RAX, 0xffff);
    x86_plain(out, X86_SYSCALL);
    put_end();
}

static void run_with_flags(void)
{
    compare();
    initial.rflags |= X86_FLAG_CF | X86_FLAG_OF | X86_FLAG_DF;
    compare();
}

/* rcx is the original address behind it, r11 the flags. */
static void system_calls_run_in_place(void)
{
    WITH_PROGRAM(write_system_calls, run_with_flags);
}

static void write_special_system_call(void)
{
    x86_mov_reg_imm(out, X86_SIZE_32, X86_RAX, SYS_munmap);
    x86_plain(out, X86_SYSCALL);
    put_end();
}

static void run_to_system_call(void)
{
    struct machine_state expected = initial;

    expected.gpr[X86_RAX] = SYS_munmap;
    expected.rip = code_at(5);
    CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_SYSTEM_CALL);
    CHECK_EQUAL(machine_state_compare(&expected, &result.state, NULL, (char[1]){0}, 1), 0);
}

static void system_calls_that_need_the_engine_leave_with_all_registers(void)
{
    WITH_PROGRAM(write_special_system_call, run_to_system_call);
}

/* Where the engine lets it be made after all: a result of 0 is a child's, which goes on natively. */
static void a_child_goes_on_in_the_original_code(void)
{
    struct cache_pc piece = {0};

    stalker_lab_init(&lab, NULL);
    x86_plain(out, X86_SYSCALL);
    put_end();
    CHECK_EQUAL(call_piece_obtain(lab.engine, app_pc_of(code_at(2)), 0, &piece), 0);
    stalker_lab_state(&lab, app_pc_of(code_at(0)), &initial);
    initial.gpr[X86_RAX] = SYS_getpid;
    stalker_lab_run_raw(&lab, piece, &initial, &result);
    CHECK_EQUAL(run_result_stop_pc(&result), stalker_lab_gate_called(&lab));
    CHECK_EQUAL(result.state.gpr[X86_RAX], (uint64_t)getpid());
    CHECK_EQUAL(result.state.gpr[X86_RCX], code_at(2));
    initial.gpr[X86_RAX] = SYS_sched_yield;
    stalker_lab_run_raw(&lab, piece, &initial, &result);
    CHECK_EQUAL(run_result_stop_pc(&result), code_at(2));
    CHECK_EQUAL(result.state.gpr[X86_RCX], code_at(2));
    CHECK_EQUAL(result.state.gpr[X86_RAX], 0);
    stalker_lab_deinit(&lab);
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

static void what_cannot_be_translated_is_left_alone(void)
{
    static const char *const ends[] = {"\xcf", "\xcb", "\xff\x2c\x24"};

    stalker_lab_init(&lab, NULL);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct app_pc start = stalker_lab_write_at(&lab, i * 64);
        struct block *block;

        mark(X86_RAX, 1);
        code_writer_put_bytes(out, ends[i], strlen(ends[i]));
        block = stalker_lab_obtain(&lab, start, false);
        CHECK_EQUAL(block->exits[0].kind, BLOCK_EXIT_LEAVE);
        CHECK_EQUAL(block_exit_target(&block->exits[0]).value, start.value + 4);
        stalker_lab_state(&lab, start, &initial);
        CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_LEFT);
        CHECK_EQUAL(result.state.rip, start.value + 4);
        CHECK_EQUAL(result.state.gpr[X86_RAX], initial.gpr[X86_RAX] + 1);
    }
    stalker_lab_deinit(&lab);
}

/* The abort of a transaction is a branch like another. */
static void transactions_have_an_exit_for_their_abort(void)
{
    struct x86_insn insns[8];
    struct block *block;

    stalker_lab_init(&lab, NULL);
    x86_xbegin_pc(out, cache_pc_of(code_at(0x100)));
    put_end();
    block = stalker_lab_obtain(&lab, app_pc_of(code_at(0)), false);
    CHECK_EQUAL(block_exit_target(&block->exits[0]).value, code_at(0x100));
    CHECK_EQUAL(block_exit_target(&block->exits[1]).value, code_at(6));
    CHECK(block_exit_place(&block->exits[0]).value / 8 == (block_exit_place(&block->exits[0]).value + 3) / 8);
    CHECK(stalker_lab_decode(block->entry, stalker_lab_code_bytes(&lab, block), insns, 8) > 0);
    CHECK_EQUAL(x86_decode((const uint8_t *)(uintptr_t)(block_exit_place(&block->exits[0]).value - 2), 6,
                           app_pc_of(block_exit_place(&block->exits[0]).value - 2), 0, &insns[0]),
                0);
    CHECK_EQUAL(insns[0].flow, X86_FLOW_TRANSACTION);
    CHECK_EQUAL(insns[0].target, block_exit_stub(&block->exits[0]).value);
    stalker_lab_deinit(&lab);
}

/* Programs may ask for faults where data is not aligned. */
static void constants_are_aligned(void)
{
    struct stalker_lab_options options = {.code = STALKER_LAB_HIGH};

    stalker_lab_init(&lab, &options);
    for (size_t lead = 0; lead < 8; lead++) {
        struct app_pc start = stalker_lab_write_at(&lab, lead * 64);
        struct x86_insn insns[32];
        struct block *block;
        size_t count, pushes = 0;

        x86_nops(out, lead);
        x86_call_pc(out, cache_pc_of(code_at(FUNCTION_OFFSET)));
        block = stalker_lab_obtain(&lab, start, false);
        count = stalker_lab_decode(block->entry, stalker_lab_code_bytes(&lab, block), insns, 32);
        CHECK(count > 0);
        for (size_t i = 0; i < count; i++) {
            if (insns[i].mnemonic != X86_MNEMONIC_push)
                continue;
            pushes++;
            CHECK_EQUAL(insns[i].target % 8, 0);
            CHECK_EQUAL(*(const uint64_t *)(uintptr_t)insns[i].target, start.value + lead + 5);
        }
        CHECK_EQUAL(pushes, 1);
    }
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(every_condition_goes_where_it_should),
    CHECK_CASE(branches_that_count_do_so),
    CHECK_CASE(loops_come_to_their_end),
    CHECK_CASE(calls_push_the_original_return_address),
    CHECK_CASE(code_may_call_itself_to_find_out_where_it_is),
    CHECK_CASE(returns_drop_arguments),
    CHECK_CASE(any_register_can_be_branched_to),
    CHECK_CASE(pointers_in_memory_can_be_called),
    CHECK_CASE(pointers_beside_the_code_can_be_called),
    CHECK_CASE(returns_go_where_the_stack_says),
    CHECK_CASE(nothing_is_written_below_the_stack_pointer),
    CHECK_CASE(system_calls_run_in_place),
    CHECK_CASE(system_calls_that_need_the_engine_leave_with_all_registers),
    CHECK_CASE(a_child_goes_on_in_the_original_code),
    CHECK_CASE(what_cannot_be_translated_is_left_alone),
    CHECK_CASE(transactions_have_an_exit_for_their_abort),
    CHECK_CASE(constants_are_aligned),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif
