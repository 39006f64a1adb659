/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/stalker/landing_check.h"

#include "support/check.h"
#include "support/random.h"
#include "support/stalker_lab.h"

#if defined(__x86_64__)

#define OFFSET 0x1000
#define RIGHT  0xcc

static struct stalker_lab lab;

/* Addresses at which a half is 0, the largest or smallest number, or needs more than one addition, and any others. */
static uint64_t start_of(struct random *random, unsigned round)
{
    static const uint64_t halves[] = {0, 1, 0x7f, 0x80, 0x7fff, 0x8000, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff};
    unsigned count = sizeof(halves) / sizeof(halves[0]);

    if (round < count * count)
        return halves[round / count] << 32 | halves[round % count];
    return random_u64(random) >> random_below(random, 20);
}

static size_t write_check(struct app_pc start)
{
    stalker_lab_write_at(&lab, OFFSET);
    x86_put_landing_check(&lab.writer, &lab.writer, start);
    code_writer_put_u8(&lab.writer, RIGHT);
    return code_writer_offset(&lab.writer) - 1;
}

static uint64_t run(uint64_t target, uint64_t *rcx_out)
{
    struct cache_pc code = cache_pc_of((uintptr_t)lab.code.base + OFFSET);
    struct machine_state state;
    struct run_result result;

    stalker_lab_write_end(&lab);
    stalker_lab_state(&lab, app_pc_of(code.value), &state);
    state.gpr[X86_RCX] = target;
    stalker_lab_run_raw(&lab, code, &state, &result);
    *rcx_out = result.state.gpr[X86_RCX];
    CHECK_EQUAL(result.state.gpr[X86_RDI], state.gpr[X86_RDI]);
    return run_result_stop_pc(&result);
}

static void only_the_right_target_passes(void)
{
    struct random random;
    uint64_t rcx;

    random_init(&random, 1);
    stalker_lab_init(&lab, NULL);
    for (unsigned round = 0; round < 400; round++) {
        uint64_t start = start_of(&random, round), wrong = start ^ UINT64_C(1) << random_below(&random, 64);
        size_t size = write_check(app_pc_of(start));

        CHECK_EQUAL(run(start, &rcx), (uintptr_t)lab.code.base + OFFSET + size);
        CHECK_EQUAL(run(wrong, &rcx), stalker_lab_gate_collision(&lab));
        CHECK_EQUAL(rcx, wrong);
    }
    stalker_lab_deinit(&lab);
}

/* Ends the check before each of its bytes where an instruction begins. */
static void the_target_is_known_wherever_a_thread_is_met(void)
{
    static const uint64_t starts[] = {0x7f1234567890, 0x7f9234567890, 0x558080000000, 0x555555554000, 0x401000};
    uint64_t target = 0x7f00deadbeef, rcx;

    stalker_lab_init(&lab, NULL);
    for (unsigned i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        struct app_pc start = app_pc_of(starts[i]), pc = app_pc_of((uintptr_t)lab.code.base + OFFSET);
        size_t size = write_check(start);
        struct x86_insn insn;

        for (size_t offset = 0; offset < size; offset += insn.length) {
            uint8_t *place = lab.code.base + OFFSET + offset, saved;

            CHECK_EQUAL(x86_decode(place, 32, pc, 0, &insn), 0);
            write_check(start);
            saved = *place;
            *place = 0xcc;
            CHECK_EQUAL(run(target, &rcx), (uintptr_t)place);
            CHECK_EQUAL(x86_landing_check_target(start, (uint32_t)offset, rcx), target);
            write_check(start);
            *place = saved;
        }
    }
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(only_the_right_target_passes),
    CHECK_CASE(the_target_is_known_wherever_a_thread_is_met),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    return 77;
}

#endif
