/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder.h"

#include "base/code_writer.h"
#include "support/check.h"
#include "support/program_code.h"

#if defined(__x86_64__)

#include <sys/mman.h>

#define PAGE 4096

typedef uint64_t (*function)(uint64_t first, uint64_t second);

static uint8_t *page;
static struct code_writer writer;

static void begin(void)
{
    if (page == NULL)
        page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        check_skip("no memory that is writable and executable");
    memset(page, 0xcc, PAGE);
    code_writer_init(&writer, page, PAGE, cache_pc_of((uint64_t)(uintptr_t)page));
}

static uint64_t run(uint64_t first, uint64_t second)
{
    CHECK(!code_writer_overflowed(&writer));
    if (code_writer_overflowed(&writer))
        return 0;
    return ((function)(uintptr_t)page)(first, second);
}

static void a_loop_sums_with_labels_in_both_directions(void)
{
    struct x86_label again = {0}, done = {0};

    begin();
    x86_mov_reg_imm(&writer, X86_SIZE_64, X86_RAX, 0);
    x86_label_bind(&again, &writer);
    program_arithmetic(&writer, X86_AND, X86_SIZE_64, X86_RDI, X86_RDI);
    x86_jcc_label(&writer, X86_EQUAL, &done, X86_REACH_SHORT);
    program_arithmetic(&writer, X86_ADD, X86_SIZE_64, X86_RAX, X86_RDI);
    x86_unary_reg(&writer, X86_DEC, X86_SIZE_64, X86_RDI);
    x86_jmp_label(&writer, &again, X86_REACH_AUTO);
    x86_label_bind(&done, &writer);
    x86_ret(&writer, 0);
    CHECK_EQUAL(run(100, 0), 5050);
    CHECK_EQUAL(run(0, 0), 0);
}

static void rcx_counts_loops(void)
{
    struct x86_label again = {0}, done = {0};

    begin();
    x86_mov_reg_imm(&writer, X86_SIZE_64, X86_RAX, 0);
    x86_mov_reg_reg(&writer, X86_SIZE_64, X86_RCX, X86_RDI);
    x86_loop_label(&writer, X86_JRCXZ, X86_SIZE_64, &done);
    x86_label_bind(&again, &writer);
    x86_lea(&writer, X86_SIZE_64, X86_RAX, x86_mem_index(X86_RAX, X86_RSI, 2, 1));
    x86_loop_label(&writer, X86_LOOP, X86_SIZE_64, &again);
    x86_label_bind(&done, &writer);
    x86_ret(&writer, 0);
    CHECK_EQUAL(run(10, 5), 110);
    CHECK_EQUAL(run(0, 5), 0);
}

static void constants_and_variables_stand_next_to_the_code(void)
{
    struct x86_label constant = {0}, counter = {0};

    begin();
    x86_unary_mem(&writer, X86_INC, X86_SIZE_64, x86_mem_label(&counter));
    x86_mov_reg_mem(&writer, X86_SIZE_64, X86_RAX, x86_mem_label(&constant));
    x86_arithmetic_reg_mem(&writer, X86_ADD, X86_SIZE_64, X86_RAX, x86_mem_label(&counter));
    x86_ret(&writer, 0);
    x86_align(&writer, 8);
    x86_label_bind(&constant, &writer);
    code_writer_put_u64(&writer, 0x1122334455660000);
    x86_label_bind(&counter, &writer);
    code_writer_put_u64(&writer, 7);
    CHECK_EQUAL(run(0, 0), 0x1122334455660008);
    CHECK_EQUAL(run(0, 0), 0x1122334455660009);
}

/* Flags live in ah and al between the two halves, as translated code keeps them. */
static void flags_survive_in_rax(void)
{
    static const uint8_t add_al_7f[] = {0x04, 0x7f};

    begin();
    program_arithmetic(&writer, X86_ADD, X86_SIZE_64, X86_RDI, X86_RSI);
    x86_plain(&writer, X86_PUSHFQ);
    x86_pop_reg(&writer, X86_RCX);
    x86_mov_reg_imm(&writer, X86_SIZE_64, X86_RAX, 0);
    x86_plain(&writer, X86_LAHF);
    program_setcc(&writer, X86_OVERFLOW, X86_RAX);
    program_arithmetic(&writer, X86_CMP, X86_SIZE_64, X86_RSP, X86_RSI);
    code_writer_put_bytes(&writer, add_al_7f, sizeof(add_al_7f));
    x86_plain(&writer, X86_SAHF);
    x86_plain(&writer, X86_PUSHFQ);
    x86_pop_reg(&writer, X86_RAX);
    program_arithmetic(&writer, X86_XOR, X86_SIZE_64, X86_RAX, X86_RCX);
    x86_ret(&writer, 0);
    static const uint64_t numbers[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, 0xf, 0x80};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
            CHECK_EQUAL(run(numbers[i], numbers[k]) & X86_FLAGS_STATUS, 0);
}

static void moves_leave_the_flags_alone(void)
{
    begin();
    program_arithmetic(&writer, X86_SUB, X86_SIZE_64, X86_RDI, X86_RSI);
    x86_mov_reg_imm(&writer, X86_SIZE_64, X86_RAX, 0);
    x86_mov_reg_imm(&writer, X86_SIZE_32, X86_RCX, 0);
    x86_lea(&writer, X86_SIZE_64, X86_RCX, x86_mem_base(X86_RCX, -1));
    x86_unary_reg(&writer, X86_NOT, X86_SIZE_64, X86_RCX);
    x86_nops(&writer, 40);
    program_setcc(&writer, X86_EQUAL, X86_RAX);
    x86_ret(&writer, 0);
    CHECK_EQUAL(run(5, 5), 1);
    CHECK_EQUAL(run(5, 6), 0);
}

static uint64_t twice_and_more(uint64_t first, uint64_t second)
{
    return 2 * first + second;
}

static void calls_reach_anything(void)
{
    struct cache_pc target = cache_pc_of((uint64_t)(uintptr_t)twice_and_more);
    struct x86_label inner = {0};

    begin();
    x86_push_reg(&writer, X86_RBX);
    x86_mov_reg_reg(&writer, X86_SIZE_64, X86_RBX, X86_RDI);
    x86_call_anywhere(&writer, target);
    x86_mov_reg_reg(&writer, X86_SIZE_64, X86_RDI, X86_RAX);
    x86_mov_reg_reg(&writer, X86_SIZE_64, X86_RSI, X86_RBX);
    x86_call_anywhere(&writer, target);
    x86_call_label(&writer, &inner);
    x86_pop_reg(&writer, X86_RBX);
    x86_ret(&writer, 0);
    x86_align(&writer, 16);
    x86_label_bind(&inner, &writer);
    x86_mov_reg_reg(&writer, X86_SIZE_64, X86_RDI, X86_RAX);
    x86_mov_reg_imm(&writer, X86_SIZE_64, X86_RSI, 1);
    x86_jmp_absolute(&writer, target);
    /* 2 * 10 + 3 = 23; 2 * 23 + 10 = 56; 2 * 56 + 1 */
    CHECK_EQUAL(run(10, 3), 113);
}

static void tables_of_labels_are_jumped_through(void)
{
    struct x86_label table = {0}, arms[3] = {{0}}, out = {0};

    begin();
    x86_lea(&writer, X86_SIZE_64, X86_RCX, x86_mem_label(&table));
    x86_jmp_mem(&writer, x86_mem_index(X86_RCX, X86_RDI, 8, 0));
    for (unsigned i = 0; i < 3; i++) {
        x86_label_bind(&arms[i], &writer);
        x86_mov_reg_imm(&writer, X86_SIZE_64, X86_RAX, 100 + i);
        x86_jmp_label(&writer, &out, i == 1 ? X86_REACH_SHORT : X86_REACH_AUTO);
    }
    x86_label_bind(&out, &writer);
    x86_ret(&writer, 0);
    x86_align(&writer, 8);
    x86_label_bind(&table, &writer);
    for (unsigned i = 0; i < 3; i++)
        code_writer_put_u64(&writer, x86_label_pc(&arms[i], &writer).value);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(run(i, 0), 100 + i);
}

static void exchanges_keep_what_they_carry(void)
{
    struct x86_mem slot = x86_mem_base(X86_RSP, -24);

    begin();
    x86_mov_mem_reg(&writer, X86_SIZE_64, slot, X86_RDI);
    x86_exchange_mem_reg(&writer, X86_XADD, X86_SIZE_64, slot, X86_RSI);
    x86_exchange_mem_reg(&writer, X86_XCHG, X86_SIZE_64, slot, X86_RSI);
    x86_mov_reg_mem(&writer, X86_SIZE_64, X86_RAX, slot);
    x86_lea(&writer, X86_SIZE_64, X86_RAX, x86_mem_index(X86_RAX, X86_RSI, 8, 0));
    x86_ret(&writer, 0);
    CHECK_EQUAL(run(0x11, 0x22), 0x11 + 8 * 0x33);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_loop_sums_with_labels_in_both_directions),
    CHECK_CASE(rcx_counts_loops),
    CHECK_CASE(constants_and_variables_stand_next_to_the_code),
    CHECK_CASE(flags_survive_in_rax),
    CHECK_CASE(moves_leave_the_flags_alone),
    CHECK_CASE(calls_reach_anything),
    CHECK_CASE(tables_of_labels_are_jumped_through),
    CHECK_CASE(exchanges_keep_what_they_carry),
};

#else

static void composed_code_runs(void)
{
    check_skip("composed code runs on x86-64 only");
}

static const struct check_case cases[] = {CHECK_CASE(composed_code_runs)};

#endif

CHECK_MAIN(cases)
