/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/x86_engine.h"

#include "arch/engine.h"
#include "arch/x86_64/stalker/translate.h"
#include "gait/stalker.h"
#include "support/check.h"
#include "support/program_code.h"
#include "support/stalker_lab.h"

#include <sys/mman.h>

#if defined(__x86_64__)

static struct stalker_lab lab;
static struct code_writer *const out = &lab.writer;
static struct machine_state initial;
static struct run_result result;

static struct app_pc code_at(size_t offset)
{
    return app_pc_of((uintptr_t)lab.code.base + offset);
}

static void init(uint64_t code, uint32_t events)
{
    struct stalker_lab_options options = {.code = code, .events = events};

    stalker_lab_init(&lab, &options);
    stalker_lab_state(&lab, code_at(0), &initial);
}

static struct block *translate(void)
{
    return stalker_lab_obtain(&lab, code_at(0), false);
}

static void plain_instructions_are_copied_as_they_are(void)
{
    static const uint8_t code[] = {
        0x48, 0x83, 0xc0, 0x05,                   /* add rax, 5 */
        0xc5, 0xfd, 0x6f, 0x04, 0x24,             /* vmovdqa ymm0, [rsp] */
        0xf3, 0x48, 0xa5,                         /* rep movsq */
        0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, /* a long nop */
        0,    0xcc,
    };
    struct block *block;

    init(0, 0);
    code_writer_put_bytes(out, code, sizeof(code));
    block = translate();
    CHECK_EQUAL(block->insn_count, 5);
    CHECK_EQUAL(block->size_bytes, sizeof(code));
    CHECK_EQUAL(block->last_insn_bytes, 1);
    CHECK(memcmp((const void *)(uintptr_t)block->entry.value, code, sizeof(code) - 1) == 0);
    CHECK_EQUAL(block_exit_target(&block->exits[0]).value, code_at(sizeof(code)).value);
    stalker_lab_deinit(&lab);
}

/* What is in reach of the original is mostly in reach of the copy, and if not, all the same read and written. */
static void operands_relative_to_the_pc_mean_what_they_meant(void)
{
    static const uint64_t places[] = {STALKER_LAB_LOW, STALKER_LAB_HIGH};

    for (size_t i = 0; i < 2; i++) {
        init(places[i], 0);
        for (unsigned v = 0; v < 16; v++)
            lab.code.base[0x2000 + v] = (uint8_t)(v + 1);
        x86_mov_reg_mem(out, X86_SIZE_64, X86_RAX, x86_mem_address(code_at(0x2000).value));
        x86_lea(out, X86_SIZE_64, X86_R11, x86_mem_address(code_at(0x123).value));
        x86_arithmetic_reg_mem(out, X86_ADD, X86_SIZE_32, X86_RDX, x86_mem_address(code_at(0x2008).value));
        x86_push_mem(out, x86_mem_address(code_at(0x2000).value));
        code_writer_put_u8(out, 0xcc);
        CHECK_EQUAL(stalker_lab_compare(&lab, &initial), 0);
        stalker_lab_deinit(&lab);
    }
}

static void put_far_operands(uint64_t place)
{
    x86_mov_reg_mem(out, X86_SIZE_64, X86_RAX, x86_mem_address(place));
    program_arithmetic_mem(out, X86_ADD, X86_SIZE_64, x86_mem_address(place), X86_RDX);
    x86_lea(out, X86_SIZE_64, X86_R11, x86_mem_address(place + 8));
    x86_push_mem(out, x86_mem_address(place));
    x86_pop_mem(out, x86_mem_address(place + 16));
    x86_arithmetic_reg_mem(out, X86_CMP, X86_SIZE_64, X86_R11, x86_mem_address(place));
    code_writer_put_u8(out, 0xcc);
}

/* As far from the code as that can reach, on the side where the cache is not: out of the cache's reach. */
static void far_init(struct arena *far)
{
    uint64_t cache = stalker_lab_obtain(&lab, code_at(0x8000), false)->entry.value;
    uint64_t distance = cache > code_at(0).value ? -0x7ffff000ull : 0x7fffe000ull;

    CHECK_EQUAL(arena_init(far, STALKER_LAB_HIGH + distance, 4096, ARENA_DATA), 0);
    CHECK(!address_fits_rel32(cache, (uintptr_t)far->base));
    memset(far->base, 0x5a, far->size_bytes);
}

static void operands_out_of_reach_of_the_cache_are_reached(void)
{
    for (unsigned events = 0; events <= GAIT_EVENT_BLOCK; events += GAIT_EVENT_BLOCK) {
        struct arena_image before, after;
        struct run_result expected;
        char report[1000];
        struct arena far;
        size_t offset;

        init(STALKER_LAB_HIGH, events);
        far_init(&far);
        CHECK_EQUAL(arena_image_init(&before, &far), 0);
        stalker_lab_write_at(&lab, 0);
        put_far_operands((uintptr_t)far.base + 64);
        stalker_lab_run_natively(&lab, &initial, &expected);
        CHECK_EQUAL(arena_image_init(&after, &far), 0);
        arena_restore(&far, &before);
        CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_LEFT);
        CHECK_EQUAL(machine_state_compare(&expected.state, &result.state, NULL, report, sizeof(report)), 0);
        CHECK(arena_equals(&far, &after, &offset));
        arena_image_deinit(&before);
        arena_image_deinit(&after);
        arena_deinit(&far);
        stalker_lab_deinit(&lab);
    }
}

static void code_ends_where_its_mapping_does(void)
{
    struct block *block;

    init(0, 0);
    stalker_lab_write_at(&lab, 0xff8);
    x86_nops(out, 3);
    x86_mov_reg_imm(out, X86_SIZE_32, X86_RAX, 1);
    stalker_lab_write_end(&lab);
    CHECK_EQUAL(mprotect(lab.code.base + 0x1000, 0x1000, PROT_READ), 0);
    block = stalker_lab_obtain(&lab, code_at(0xff8), false);
    CHECK_EQUAL(block->size_bytes, 8);
    CHECK_EQUAL(block->exits[0].kind, BLOCK_EXIT_NO_CODE);
    CHECK_EQUAL(block_exit_target(&block->exits[0]).value, code_at(0x1000).value);
    stalker_lab_deinit(&lab);
    /* An instruction whose end is behind that of the mapping. */
    init(0, 0);
    stalker_lab_write_at(&lab, 0xffc);
    x86_mov_reg_imm(out, X86_SIZE_32, X86_RAX, 1);
    stalker_lab_write_end(&lab);
    CHECK_EQUAL(mprotect(lab.code.base + 0x1000, 0x1000, PROT_READ), 0);
    block = stalker_lab_obtain(&lab, code_at(0xffc), false);
    CHECK_EQUAL(block->insn_count, 0);
    CHECK_EQUAL(block->exits[0].kind, BLOCK_EXIT_NO_CODE);
    CHECK_EQUAL(block_exit_target(&block->exits[0]).value, code_at(0xffc).value);
    stalker_lab_deinit(&lab);
}

static void what_cannot_be_done_with_our_segment_is_left_alone(void)
{
    static const struct {
        uint8_t bytes[10];
        uint8_t size;
        bool is_ours;
    } insns[] = {
        {{0x65, 0x48, 0x8b, 0x04, 0x25, 8, 0, 0, 0}, 9, false}, /* mov rax, gs:[8] */
        {{0x65, 0xa4}, 2, true},                                /* movs from gs:[rsi] */
        {{0x8e, 0xe8}, 2, true},                                /* mov gs, eax */
        {{0x64, 0x48, 0x8b, 0x04, 0x25, 8, 0, 0, 0}, 9, false}, /* mov rax, fs:[8] */
        {{0xf3, 0x48, 0x0f, 0xae, 0xc0}, 5, false},             /* rdfsbase rax */
        {{0x48, 0x8b, 0x04, 0x24}, 4, false},                   /* mov rax, [rsp] */
    };

    init(0, 0);
    for (size_t i = 0; i < sizeof(insns) / sizeof(insns[0]); i++) {
        struct app_pc start = stalker_lab_write_at(&lab, i * 64);
        struct block *block;

        x86_nops(out, 2);
        code_writer_put_bytes(out, insns[i].bytes, insns[i].size);
        block = stalker_lab_obtain(&lab, start, false);
        CHECK_EQUAL(block->insn_count, insns[i].is_ours ? 1 : 3);
        /* The others are followed by a trap, which is copied. */
        CHECK_EQUAL(block->exits[0].kind, insns[i].is_ours ? BLOCK_EXIT_LEAVE : BLOCK_EXIT_JUMP);
        CHECK_EQUAL(block_exit_target(&block->exits[0]).value,
                    start.value + 2 + (insns[i].is_ours ? 0 : insns[i].size + 1));
    }
    stalker_lab_deinit(&lab);
}

static void a_native_function_returns_to_the_cache(void)
{
    static const uint32_t events[] = {0, GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC, GAIT_EVENT_CALL};

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        uint64_t sp;

        init(STALKER_LAB_HIGH, events[i]);
        CHECK_EQUAL(stalker_engine_add_native(lab.engine, code_at(0x1000)), 0);
        x86_call_pc(out, cache_pc_of(code_at(0x1000).value));
        stalker_lab_write_at(&lab, 0x1000);
        x86_lea(out, X86_SIZE_64, X86_R11, x86_mem_base(X86_R11, 7));
        x86_ret(out, 0);
        sp = initial.gpr[X86_RSP];
        CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_NATIVE_RETURN);
        CHECK_EQUAL(lab.thread.native_return, code_at(5).value);
        CHECK_EQUAL(result.state.gpr[X86_RSP], sp);
        CHECK_EQUAL(result.state.gpr[X86_R11], initial.gpr[X86_R11] + 7);
        CHECK_EQUAL(result.state.gpr[X86_RCX], initial.gpr[X86_RCX]);
        stalker_lab_deinit(&lab);
    }
}

/* Instructions that use r11 in all ways, with the position of events in it otherwise. */
static void put_uses_of_r11(void)
{
    x86_mov_reg_reg(out, X86_SIZE_64, X86_RAX, X86_R11);
    x86_nops(out, 1);
    x86_mov_reg_imm(out, X86_SIZE_64, X86_R11, 0x1234);
    x86_push_reg(out, X86_R11);
    program_arithmetic(out, X86_ADD, X86_SIZE_64, X86_R11, X86_RBX);
    x86_jcc_pc(out, X86_NOT_BELOW, cache_pc_of(code_writer_pc(out).value + 2), X86_REACH_SHORT);
    x86_mov_mem_reg(out, X86_SIZE_64, x86_mem_base(X86_RSP, -64), X86_R11);
    x86_pop_reg(out, X86_R11);
    x86_call_pc(out, cache_pc_of(code_at(0x1000).value));
    x86_mov_reg_reg(out, X86_SIZE_8, X86_R11, X86_RAX);
    code_writer_put_u8(out, 0xcc);
    stalker_lab_write_at(&lab, 0x1000);
    x86_extend_reg_reg(out, X86_MOVZX_16, X86_SIZE_32, X86_R11, X86_R11);
    x86_ret(out, 0);
}

static void r11_is_the_programs_wherever_it_is_used(void)
{
    for (uint32_t events = 0; events < 16; events++) {
        init(STALKER_LAB_HIGH, events);
        put_uses_of_r11();
        CHECK_EQUAL(stalker_lab_compare(&lab, &initial), 0);
        stalker_lab_deinit(&lab);
    }
}

static void the_trail_knows_each_instruction(void)
{
    const struct x86_block *decoded;
    const struct block *block;

    init(STALKER_LAB_HIGH, GAIT_EVENT_BLOCK);
    x86_nops(out, 1);
    x86_mov_reg_imm(out, X86_SIZE_64, X86_R11, 0x1234);
    x86_jmp_pc(out, cache_pc_of(code_at(0x1000).value), X86_REACH_NEAR);
    block = translate();
    decoded = (const void *)lab.engine->draft;
    CHECK_EQUAL(decoded->draft.count, 3);
    for (unsigned i = 0; i < decoded->draft.count; i++) {
        bool found = false;

        for (unsigned p = 0; p < decoded->draft.point_count; p++)
            found |= (uint64_t)decoded->draft.points[p].app_offset == decoded->insns[i].pc.value - block->start.value;
        CHECK(found);
    }
    for (unsigned p = 1; p < decoded->draft.point_count; p++)
        CHECK(decoded->draft.points[p - 1].cache_offset <= decoded->draft.points[p].cache_offset);
    for (unsigned p = 0; p < decoded->draft.point_count; p++)
        CHECK(decoded->draft.points[p].cache_offset <= stalker_lab_code_bytes(&lab, block));
    /* At first r11 is at home, and not where the program's own is in it. */
    CHECK(decoded->draft.points[0].state.homes & X86_GPR_BIT(X86_R11));
    stalker_lab_deinit(&lab);
}

/* The original instruction that the trail has for one in the cache. */
static uint64_t recovered_pc(const struct x86_insn *insn)
{
    struct gait_cpu_context cpu = {.pc = insn->pc.value};
    struct code_place place;

    CHECK(code_cache_place_at(lab.cache, cache_pc_of(cpu.pc), &place));
    CHECK_EQUAL(trail_recover(&lab.thread, &place, &cpu), 0);
    return cpu.pc;
}

/* Each instruction in the cache belongs to the original one or the next, and none is passed over. */
static void check_recovery(const struct block *block)
{
    const struct x86_block *decoded = (const void *)lab.engine->draft;
    struct x86_insn insns[64];
    size_t count = stalker_lab_decode(block->entry, stalker_lab_code_bytes(&lab, block), insns, 64);
    unsigned at = 0;

    CHECK(count >= decoded->draft.count);
    for (size_t i = 0; i < count; i++) {
        uint64_t pc = recovered_pc(&insns[i]);

        if (at + 1 < decoded->draft.count && pc == decoded->insns[at + 1].pc.value)
            at++;
        CHECK_EQUAL(pc, decoded->insns[at].pc.value);
    }
    CHECK_EQUAL(at, decoded->draft.count - 1);
}

/* In a run of copies, behind what was put in their place, and with events between them. */
static void a_thread_is_found_at_each_instruction(void)
{
    for (unsigned events = 0; events <= GAIT_EVENT_BLOCK; events += GAIT_EVENT_BLOCK) {
        const struct block *block;
        struct arena far;

        init(STALKER_LAB_HIGH, events);
        far_init(&far);
        stalker_lab_write_at(&lab, 0);
        x86_nops(out, 1);
        x86_mov_reg_imm(out, X86_SIZE_64, X86_RAX, 0x123456789a);
        x86_mov_reg_reg(out, X86_SIZE_32, X86_RDX, X86_RAX);
        x86_lea(out, X86_SIZE_64, X86_RSI, x86_mem_address(code_at(0x100).value));
        x86_nops(out, 3);
        x86_mov_reg_mem(out, X86_SIZE_64, X86_RBX, x86_mem_address((uintptr_t)far.base));
        x86_push_reg(out, X86_RBX);
        x86_pop_reg(out, X86_RCX);
        x86_jmp_pc(out, cache_pc_of(code_at(0x1000).value), X86_REACH_NEAR);
        block = translate();
        CHECK_EQUAL(block->insn_count, 9);
        check_recovery(block);
        arena_deinit(&far);
        stalker_lab_deinit(&lab);
    }
}

static void the_contract_is_this_cpus(void)
{
    CHECK(engine_host()->emit == &x86_emit);
}

static const struct check_case cases[] = {
    CHECK_CASE(plain_instructions_are_copied_as_they_are),
    CHECK_CASE(operands_relative_to_the_pc_mean_what_they_meant),
    CHECK_CASE(operands_out_of_reach_of_the_cache_are_reached),
    CHECK_CASE(code_ends_where_its_mapping_does),
    CHECK_CASE(what_cannot_be_done_with_our_segment_is_left_alone),
    CHECK_CASE(a_native_function_returns_to_the_cache),
    CHECK_CASE(r11_is_the_programs_wherever_it_is_used),
    CHECK_CASE(the_trail_knows_each_instruction),
    CHECK_CASE(a_thread_is_found_at_each_instruction),
    CHECK_CASE(the_contract_is_this_cpus),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif
