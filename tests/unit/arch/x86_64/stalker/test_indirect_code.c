/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/stalker/translate.h"

#include "arch/host_cpu.h"
#include "arch/x86_64/x86_engine.h"
#include "gait/cpu_context.h"
#include "gait/x86_64.h"
#include "ring/event_record.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#if defined(__x86_64__)

static const uint64_t places[] = {STALKER_LAB_LOW, STALKER_LAB_HIGH};
static const uint64_t flag_sets[] = {0, X86_FLAGS_STATUS, X86_FLAG_OF, X86_FLAG_CF | X86_FLAG_ZF, X86_FLAG_DF};

static struct stalker_lab lab;
static struct machine_state initial;
static struct run_result result;

static void init(uint64_t code)
{
    struct stalker_lab_options options = {.code = code, .fill = STALKER_LAB_LEAVES};

    stalker_lab_init(&lab, &options);
}

static uint64_t own_flags(const struct machine_state *state)
{
    return state->rflags & (X86_FLAGS_STATUS | X86_FLAG_DF);
}

/* All registers and flags are as in `initial`. */
static void check_untouched(void)
{
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        CHECK_EQUAL(result.state.gpr[i], initial.gpr[i]);
    CHECK_EQUAL(own_flags(&result.state), own_flags(&initial));
}

/* As a branch to `target` comes to a landing or a gate. */
static void run_branch(struct cache_pc to, uint64_t target)
{
    struct machine_state state = initial;

    gait_x86_64_rcx(&lab.thread.context) = initial.gpr[X86_RCX];
    gait_x86_64_rdi(&lab.thread.context) = initial.gpr[X86_RDI];
    state.gpr[X86_RCX] = target;
    state.gpr[X86_RDI] = target & 0xffff;
    stalker_lab_run_raw(&lab, to, &state, &result);
}

static void for_each_place(void (*check)(const struct block *block))
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct block *block;

        init(places[i]);
        block = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base), true);
        CHECK_EQUAL(block->exits[0].kind, BLOCK_EXIT_LEAVE);
        stalker_lab_state(&lab, block->start, &initial);
        for (size_t f = 0; f < sizeof(flag_sets) / sizeof(flag_sets[0]); f++) {
            initial.rflags = flag_sets[f] | 2;
            check(block);
        }
        stalker_lab_deinit(&lab);
    }
}

static void check_right(const struct block *block)
{
    run_branch(block_landing(block), block->start.value);
    CHECK_EQUAL(run_result_stop_pc(&result), stalker_lab_gate_exit(&lab));
    CHECK_EQUAL(lab.thread.exit, block_exit_number(block, 0));
    check_untouched();
}

static void the_right_landing_gives_all_registers_and_flags_back(void)
{
    for_each_place(check_right);
}

static void check_wrong(const struct block *block)
{
    static const uint64_t distances[] = {0x10000, -0x10000ull, 1ull << 32, 1ull << 47, 1, -1ull};

    for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
        uint64_t target = block->start.value + distances[i];

        run_branch(block_landing(block), target);
        CHECK_EQUAL(run_result_stop_pc(&result), stalker_lab_gate_collision(&lab));
        CHECK_EQUAL(result.state.gpr[X86_RCX], target);
        CHECK_EQUAL(result.state.gpr[X86_RDI], target & 0xffff);
        result.state.gpr[X86_RCX] = gait_x86_64_rcx(&lab.thread.context);
        result.state.gpr[X86_RDI] = gait_x86_64_rdi(&lab.thread.context);
        check_untouched();
    }
}

static void a_wrong_landing_says_where_the_branch_goes(void)
{
    for_each_place(check_wrong);
}

static void landings_can_be_added_in_cold_memory(void)
{
    struct block *block;

    init(STALKER_LAB_HIGH);
    block = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base), false);
    CHECK(!block_has_landing(block));
    CHECK(stalker_lab_obtain(&lab, block->start, true) == block);
    CHECK(block_has_landing(block));
    CHECK_EQUAL(block->landing_bytes, 0);
    stalker_lab_state(&lab, block->start, &initial);
    check_right(block);
    check_wrong(block);
    stalker_lab_deinit(&lab);
}

/* Code that overwrites one of the registers at once; the landing may leave that one as it is. */
static void put_dead(enum x86_gpr gpr, bool faults_before)
{
    if (faults_before)
        x86_mov_reg_mem(&lab.writer, X86_SIZE_64, X86_RAX, x86_mem_base(X86_RSP, 0));
    x86_mov_reg_imm(&lab.writer, X86_SIZE_32, gpr, 5);
    x86_lea(&lab.writer, X86_SIZE_64, X86_RDX, x86_mem_index(X86_RDI, X86_RCX, 1, 0));
    code_writer_put_u8(&lab.writer, 0xcc);
}

static void registers_that_are_live_are_restored(void)
{
    static const enum x86_gpr registers[] = {X86_RCX, X86_RDI, X86_RBX};
    struct run_result expected;

    init(STALKER_LAB_LOW);
    for (size_t i = 0; i < 6; i++) {
        struct app_pc start = stalker_lab_write_at(&lab, i * 256);
        struct block *block;

        put_dead(registers[i / 2], i % 2);
        block = stalker_lab_obtain(&lab, start, true);
        stalker_lab_state(&lab, start, &initial);
        stalker_lab_run_natively(&lab, &initial, &expected);
        run_branch(block_landing(block), start.value);
        /* At the copy of the trap. */
        CHECK(run_result_stop_pc(&result) - block_code(block).value < stalker_lab_code_bytes(&lab, block));
        for (unsigned gpr = 0; gpr < X86_GPR_COUNT; gpr++)
            CHECK_EQUAL(result.state.gpr[gpr], expected.state.gpr[gpr]);
    }
    stalker_lab_deinit(&lab);
}

/* A handler of a fault would see it. */
static void a_register_is_live_where_a_fault_can_come_before_it_is_overwritten(void)
{
    struct block *block;

    init(STALKER_LAB_LOW);
    stalker_lab_write_at(&lab, 0);
    x86_mov_reg_mem(&lab.writer, X86_SIZE_64, X86_RAX, x86_mem_absolute(8));
    x86_mov_reg_imm(&lab.writer, X86_SIZE_64, X86_RCX, 1);
    x86_mov_reg_imm(&lab.writer, X86_SIZE_64, X86_RDI, 1);
    block = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base), true);
    stalker_lab_state(&lab, block->start, &initial);
    run_branch(block_landing(block), block->start.value);
    CHECK_EQUAL(result.signal, SIGSEGV);
    check_untouched();
    stalker_lab_deinit(&lab);
}

static void a_branch_looks_into_the_table_with_the_registers_saved(void)
{
    struct block *branch, *to;

    init(STALKER_LAB_HIGH);
    stalker_lab_write_at(&lab, 0);
    x86_jmp_reg(&lab.writer, X86_R9);
    branch = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base), false);
    stalker_lab_state(&lab, branch->start, &initial);
    initial.rflags |= X86_FLAGS_STATUS;
    initial.gpr[X86_R9] = branch->start.value + 0x5678;

    stalker_lab_run_raw(&lab, branch->entry, &initial, &result);
    CHECK_EQUAL(run_result_stop_pc(&result), stalker_lab_gate_indirect(&lab));
    CHECK_EQUAL(result.state.gpr[X86_RCX], initial.gpr[X86_R9]);
    CHECK_EQUAL(result.state.gpr[X86_RDI] >> BRANCH_INDEX_BITS, block_exit_number(branch, 0));
    result.state.gpr[X86_RCX] = gait_x86_64_rcx(&lab.thread.context);
    result.state.gpr[X86_RDI] = gait_x86_64_rdi(&lab.thread.context);
    check_untouched();

    to = stalker_lab_obtain(&lab, app_pc_of(initial.gpr[X86_R9]), true);
    stalker_lab_run_raw(&lab, branch->entry, &initial, &result);
    CHECK_EQUAL(run_result_stop_pc(&result), stalker_lab_gate_exit(&lab));
    CHECK_EQUAL(lab.thread.exit, block_exit_number(to, 0));
    check_untouched();

    /* Another address with the same low bits. */
    initial.gpr[X86_R9] += INDIRECT_TABLE_ENTRIES;
    stalker_lab_run_raw(&lab, branch->entry, &initial, &result);
    CHECK_EQUAL(run_result_stop_pc(&result), stalker_lab_gate_collision(&lab));
    CHECK_EQUAL(result.state.gpr[X86_RCX], initial.gpr[X86_R9]);
    CHECK_EQUAL(result.state.gpr[X86_RDI] >> BRANCH_INDEX_BITS, block_exit_number(branch, 0));
    stalker_lab_deinit(&lab);
}

/* Numbers that do not fit into the index register's lower half are brought along too. */
static void a_branch_says_where_it_comes_from_whatever_its_number(void)
{
    static const uint32_t numbers[] = {0, 1, 0x7fff, 0x8000, 0xffff, 0x10000, EVENT_NUMBER_MAX};
    struct block *branch;

    init(STALKER_LAB_HIGH);
    stalker_lab_write_at(&lab, 0);
    x86_jmp_reg(&lab.writer, X86_R9);
    branch = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base), false);
    stalker_lab_state(&lab, branch->start, &initial);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct block block = {.index = numbers[i], .entry = cache_pc_of((uintptr_t)lab.code.base + 0x1000)};
        struct translation translation = {.cache = lab.cache, .block = &block};

        stalker_lab_write_at(&lab, 0x1000);
        translation.hot = lab.writer;
        x86_mov_reg_reg(&translation.hot, X86_SIZE_64, TARGET_REGISTER, X86_R9);
        x86_put_branch_indirect(&translation);
        initial.gpr[X86_R9] = 0x123456789abc + i;
        stalker_lab_write_end(&lab);
        stalker_lab_run_raw(&lab, block.entry, &initial, &result);
        CHECK_EQUAL(run_result_stop_pc(&result), stalker_lab_gate_indirect(&lab));
        CHECK_EQUAL(result.state.gpr[X86_RDI], (uint64_t)numbers[i] * 2 << 16 | (0x9abc + i));
    }
    stalker_lab_deinit(&lab);
}

/* ---- branches that the CPU refuses --------------------------------------------------------------------------------
 */

#define SP 0x7000

static bool is_refused(const struct block *block, uint64_t target, struct gait_cpu_context *cpu_out)
{
    *cpu_out = (struct gait_cpu_context){.registers = {[GAIT_X86_64_RSP] = SP}, .pc = target};
    lab.thread.cache = lab.cache;
    lab.thread.exit = block_exit_number(block, 0);
    return trail_refuse_branch(&lab.thread, cpu_out);
}

static struct block *block_that_ends_with(const uint8_t *bytes, size_t size)
{
    static size_t offset;
    struct app_pc start = stalker_lab_write_at(&lab, offset += 64);

    x86_lea(&lab.writer, X86_SIZE_64, X86_RAX, x86_mem_base(X86_RAX, 1));
    code_writer_put_bytes(&lab.writer, bytes, size);
    return stalker_lab_obtain(&lab, start, false);
}

static void the_stack_and_the_pc_are_those_before_the_branch(void)
{
    static const struct {
        uint8_t bytes[3];
        size_t size;
        int64_t sp_change;
    } branches[] = {
        {{0xff, 0xe0}, 2, 0},         /* jmp *%rax */
        {{0xff, 0xd0}, 2, 8},         /* call *%rax */
        {{0xc3}, 1, -8},              /* ret */
        {{0xc2, 0x18, 0x00}, 3, -32}, /* ret $24 */
    };

    stalker_lab_init(&lab, NULL);
    for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
        struct block *block = block_that_ends_with(branches[i].bytes, branches[i].size);
        struct gait_cpu_context cpu;

        CHECK(is_refused(block, 0x4141414141414141, &cpu));
        CHECK_EQUAL(cpu.pc, block->start.value + 4);
        CHECK_EQUAL(gait_x86_64_rsp(&cpu), SP + (uint64_t)branches[i].sp_change);
    }
    stalker_lab_deinit(&lab);
}

static void only_what_the_cpu_refuses_is(void)
{
    static const uint8_t jump[] = {0xff, 0xe0};
    uint64_t limit = UINT64_C(1) << (host_cpu_address_bits() - 1);
    struct gait_cpu_context cpu;
    struct block *block;

    stalker_lab_init(&lab, NULL);
    block = block_that_ends_with(jump, sizeof(jump));
    CHECK(!is_refused(block, 0, &cpu));
    CHECK(!is_refused(block, limit - 1, &cpu));
    CHECK_EQUAL(cpu.pc, limit - 1);
    CHECK(is_refused(block, limit, &cpu));
    CHECK(is_refused(block, -limit - 1, &cpu));
    CHECK(!is_refused(block, -limit, &cpu));
    CHECK_EQUAL(cpu.pc, -limit);
    CHECK(!is_refused(block, UINT64_MAX, &cpu));
    stalker_lab_deinit(&lab);
}

static void the_contract_is_this_cpus(void)
{
    CHECK(engine_host()->place == &x86_place);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_right_landing_gives_all_registers_and_flags_back),
    CHECK_CASE(a_wrong_landing_says_where_the_branch_goes),
    CHECK_CASE(landings_can_be_added_in_cold_memory),
    CHECK_CASE(registers_that_are_live_are_restored),
    CHECK_CASE(a_register_is_live_where_a_fault_can_come_before_it_is_overwritten),
    CHECK_CASE(a_branch_looks_into_the_table_with_the_registers_saved),
    CHECK_CASE(a_branch_says_where_it_comes_from_whatever_its_number),
    CHECK_CASE(the_stack_and_the_pc_are_those_before_the_branch),
    CHECK_CASE(only_what_the_cpu_refuses_is),
    CHECK_CASE(the_contract_is_this_cpus),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif
