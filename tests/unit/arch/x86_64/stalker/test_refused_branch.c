/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/stalker/refused_branch.h"

#include "arch/host_cpu.h"
#include "gait/cpu_context.h"
#include "gait/x86_64.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#if defined(__x86_64__)

#define SP 0x7000

static struct stalker_lab lab;

static bool is_refused(const struct block *block, uint64_t target, struct gait_cpu_context *cpu_out)
{
    *cpu_out = (struct gait_cpu_context){.registers = {[GAIT_X86_64_RSP] = SP}, .pc = target};
    lab.thread.cache = lab.cache;
    lab.thread.exit = block_exit_number(block, 0);
    return x86_refuse_branch(&lab.thread, cpu_out);
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

static const struct check_case cases[] = {
    CHECK_CASE(the_stack_and_the_pc_are_those_before_the_branch),
    CHECK_CASE(only_what_the_cpu_refuses_is),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    return 77;
}

#endif
