/* SPDX-License-Identifier: MIT */
#include "stalker/vectors.h"

#include "support/check.h"
#include "support/machine_state.h"
#include "support/program_code.h"
#include "support/stalker_lab.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct stalker_lab lab;
static struct machine_state initial;
static struct run_result result;

static void there_is_room_for_what_the_system_has_enabled(void)
{
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;

    CHECK(__get_cpuid_count(13, 0, &eax, &ebx, &ecx, &edx));
    CHECK(vector_state_bytes() >= ebx);
    CHECK(vector_state_bytes() >= 576);
}

static void fill_registers(struct machine_state *state)
{
    for (unsigned i = 0; i < machine_state_vector_count(); i++) {
        struct machine_zmm value;

        for (unsigned lane = 0; lane < 8; lane++)
            value.lane[lane] = 0x1111111111111111ull * (i % 15 + 1) + lane * 0x10000 + i;
        machine_state_zmm_set(state, i, value);
    }
    for (unsigned i = 0; i < 8; i++)
        machine_state_k_set(state, i, 0x0123456789abcdefull * (i + 1));
    for (unsigned i = 0; i < 8; i++) {
        state->legacy.st[i].mantissa = 0x8000000000000000ull + i;
        state->legacy.st[i].sign_exponent = (uint16_t)(0x3fff + i);
    }
    state->legacy.x87_tag = 0xff;
    state->legacy.x87_control = 0x0f7f;
    state->legacy.mxcsr = 0x7fa0;
}

/* Calls a function with the area in rdi: the lab runs it from an exact state. */
static struct app_pc write_call(void (*function)(void *), uint8_t *area)
{
    struct app_pc start = app_pc_of(code_writer_pc(&lab.writer).value);

    x86_mov_reg_imm(&lab.writer, X86_SIZE_64, X86_RDI, (uintptr_t)area);
    x86_mov_reg_imm(&lab.writer, X86_SIZE_64, X86_RBX, (uintptr_t)function);
    program_call(&lab.writer, X86_RBX);
    return start;
}

static void check_vectors(const struct machine_state *expected)
{
    static const struct machine_ignore ignore = {
        .gprs = UINT16_MAX, .rip = true, .rflags = UINT64_MAX, .x87_pointers = true};
    char report[2000];

    CHECK_EQUAL(result.signal, SIGTRAP);
    if (machine_state_compare(expected, &result.state, &ignore, report, sizeof(report)) != 0) {
        check_failures++;
        printf("%s", report);
    }
}

/* Memory as it is prepared for this system, which moves most of the state, or zeroed: then all of it is left to xsave.
 */
static uint8_t *make_area(bool is_prepared)
{
    size_t size_bytes = vector_state_bytes();
    uint8_t *area = aligned_alloc(64, (size_bytes + 63) / 64 * 64);

    memset(area, 0, size_bytes);
    if (is_prepared)
        vector_state_init(area);
    return area;
}

static void check_others_find(bool is_prepared)
{
    uint8_t *area = make_area(is_prepared);

    stalker_lab_init(&lab, NULL);
    stalker_lab_state(&lab, write_call(vector_state_save, area), &initial);
    code_writer_put_u8(&lab.writer, 0xcc);
    fill_registers(&initial);
    stalker_lab_run_natively(&lab, &initial, &result);
    CHECK_EQUAL(result.signal, SIGTRAP);
    /* As a function expects them that is just called. */
    CHECK_EQUAL(result.state.legacy.mxcsr, 0x1f80);
    CHECK_EQUAL(result.state.legacy.x87_control, 0x037f);
    CHECK_EQUAL(result.state.legacy.x87_tag, 0);
    stalker_lab_deinit(&lab);
    free(area);
}

static void others_find_floating_point_as_functions_expect_it(void)
{
    check_others_find(false);
    check_others_find(true);
}

static void check_all_registers(bool is_prepared)
{
    uint8_t *area = make_area(is_prepared);
    struct machine_state other;
    struct app_pc save, restore;

    stalker_lab_init(&lab, NULL);
    save = write_call(vector_state_save, area);
    code_writer_put_u8(&lab.writer, 0xcc);
    restore = write_call(vector_state_restore, area);
    code_writer_put_u8(&lab.writer, 0xcc);

    stalker_lab_state(&lab, save, &initial);
    fill_registers(&initial);
    stalker_lab_run_natively(&lab, &initial, &result);
    stalker_lab_state(&lab, restore, &other);
    stalker_lab_run_natively(&lab, &other, &result);
    check_vectors(&initial);

    /* States in their first configuration too, which need no room in memory. */
    machine_state_init(&other);
    stalker_lab_state(&lab, save, &other);
    stalker_lab_run_natively(&lab, &other, &result);
    initial.rip = restore.value;
    stalker_lab_run_natively(&lab, &initial, &result);
    check_vectors(&other);
    stalker_lab_deinit(&lab);
    free(area);
}

static void all_registers_go_to_memory_and_back(void)
{
    check_all_registers(false);
    check_all_registers(true);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

#define STATE_TILES 18

struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t column_bytes[16];
    uint8_t rows[16];
};

static bool may_use_tiles(void)
{
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;

    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && edx >> 24 & 1 &&
           syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, STATE_TILES) == 0;
}

static void check_tiles(bool is_prepared)
{
    struct tile_config config = {.palette = 1, .column_bytes = {64}, .rows = {16}}, other = config, now;
    uint8_t *area = make_area(is_prepared), tile[1024], after[1024] = {0};

    for (unsigned i = 0; i < sizeof(tile); i++)
        tile[i] = (uint8_t)(i * 37 + 11);
    other.rows[0] = 3;
    __asm__ volatile("ldtilecfg %0\n tileloadd (%1,%2), %%tmm0" : : "m"(config), "r"(tile), "r"(64l) : "memory");
    vector_state_save(area);
    __asm__ volatile("ldtilecfg %0\n tilezero %%tmm0" : : "m"(other) : "memory");
    vector_state_restore(area);
    __asm__ volatile("sttilecfg %0\n tilestored %%tmm0, (%1,%2)\n tilerelease"
                     : "=m"(now)
                     : "r"(after), "r"(64l)
                     : "memory");
    CHECK(memcmp(&now, &config, sizeof(now)) == 0);
    CHECK(memcmp(tile, after, sizeof(tile)) == 0);
    free(area);
}

static void tiles_go_to_memory_and_back(void)
{
    if (!may_use_tiles()) {
        printf("this CPU has no tiles\n");
        return;
    }
    check_tiles(false);
    check_tiles(true);
}

static const struct check_case cases[] = {
    CHECK_CASE(there_is_room_for_what_the_system_has_enabled),
    CHECK_CASE(others_find_floating_point_as_functions_expect_it),
    CHECK_CASE(all_registers_go_to_memory_and_back),
    CHECK_CASE(tiles_go_to_memory_and_back),
};

CHECK_MAIN(cases)
