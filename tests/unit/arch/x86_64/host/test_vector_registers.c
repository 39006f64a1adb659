/* SPDX-License-Identifier: MIT */
/*
 * Registers in a saved state, differentially: a state that the CPU has saved is read and changed here, and what the CPU
 * has when it is restored is compared with a state that was changed by the test.
 */
#include "arch/vector_registers.h"

#include "arch/vector_state.h"
#include "gait/x86_64.h"
#include "support/check.h"
#include "support/machine_state.h"
#include "support/program_code.h"
#include "support/stalker_lab.h"
#include "support/state_register.h"

#include <errno.h>
#include <stdlib.h>

static struct stalker_lab lab;
static uint8_t *area;
static struct app_pc save, restore;

/* Calls a function with the area, from an exact state. */
static struct app_pc write_call(void (*function)(void *))
{
    struct app_pc start = app_pc_of(code_writer_pc(&lab.writer).value);

    x86_mov_reg_imm(&lab.writer, X86_SIZE_64, X86_RDI, (uintptr_t)area);
    x86_mov_reg_imm(&lab.writer, X86_SIZE_64, X86_RBX, (uintptr_t)function);
    program_call(&lab.writer, X86_RBX);
    code_writer_put_u8(&lab.writer, 0xcc);
    return start;
}

/* Memory that is prepared for this system, which moves most of the state, or only zeroed, which leaves all to xsave. */
static void begin(bool is_prepared)
{
    size_t size_bytes = vector_state_bytes();

    area = aligned_alloc(64, (size_bytes + 63) / 64 * 64);
    memset(area, 0, size_bytes);
    if (is_prepared)
        vector_state_init(area);
    stalker_lab_init(&lab, NULL);
    save = write_call(vector_state_save);
    restore = write_call(vector_state_restore);
}

static void end(void)
{
    stalker_lab_deinit(&lab);
    free(area);
}

static void run(struct app_pc start, struct machine_state *state, struct run_result *result)
{
    struct machine_state initial = *state;
    struct machine_state registers;

    stalker_lab_state(&lab, start, &registers);
    memcpy(initial.gpr, registers.gpr, sizeof(initial.gpr));
    initial.rip = registers.rip;
    initial.rflags = registers.rflags;
    stalker_lab_run_natively(&lab, &initial, result);
    CHECK_EQUAL(result->signal, SIGTRAP);
}

static void fill(struct machine_state *state, unsigned seed)
{
    machine_state_init(state);
    for (unsigned i = 0; i < machine_state_vector_count(); i++) {
        struct machine_zmm value;

        for (unsigned lane = 0; lane < 8; lane++)
            value.lane[lane] = 0x1111111111111111ull * ((i + seed) % 15 + 1) + lane * 0x10000 + i;
        machine_state_zmm_set(state, i, value);
    }
    for (unsigned i = 0; i < 8; i++)
        machine_state_k_set(state, i, 0x0123456789abcdefull * (i + seed));
    for (unsigned i = 0; i < 8; i++) {
        state->legacy.st[i].mantissa = 0x8000000000000000ull + i + seed;
        state->legacy.st[i].sign_exponent = (uint16_t)(0x3fff + i);
    }
    state->legacy.x87_tag = (uint8_t)(0xff - seed % 2);
    state->legacy.x87_status = (uint16_t)(seed % 8 << 11);
    state->legacy.x87_control = (uint16_t)(0x0f7f - seed % 2 * 0x400);
    state->legacy.mxcsr = 0x7fa0 - seed % 2 * 0x2000;
}

static void check_all(const struct machine_state *state)
{
    for (unsigned kind = GAIT_REGISTER_VECTOR; kind <= GAIT_REGISTER_CONTROL; kind++)
        for (unsigned i = 0; i < vector_registers_count(kind); i++) {
            uint8_t expected[64], found[64];

            state_register_get(state, kind, i, expected);
            memset(found, 0xee, sizeof(found));
            vector_registers_get(area, kind, i, found, vector_registers_bytes(kind));
            if (memcmp(expected, found, vector_registers_bytes(kind)) != 0)
                printf("kind %u, register %u\n", kind, i);
            CHECK(memcmp(expected, found, vector_registers_bytes(kind)) == 0);
            CHECK(vector_registers_bytes(kind) == 64 || found[vector_registers_bytes(kind)] == 0xee);
        }
}

static void set_all(const struct machine_state *state)
{
    for (unsigned kind = GAIT_REGISTER_VECTOR; kind <= GAIT_REGISTER_CONTROL; kind++)
        for (unsigned i = 0; i < vector_registers_count(kind); i++) {
            uint8_t bytes[64];

            state_register_get(state, kind, i, bytes);
            CHECK_EQUAL(vector_registers_set(area, kind, i, bytes, vector_registers_bytes(kind)), 0);
        }
}

/* Restores the area over another state, and compares with what should be there then. */
static void check_restored(const struct machine_state *expected, struct machine_state *other)
{
    static const struct machine_ignore ignore = {
        .gprs = UINT16_MAX, .rip = true, .rflags = UINT64_MAX, .x87_pointers = true};
    struct run_result result;
    char report[2000];

    run(restore, other, &result);
    if (machine_state_compare(expected, &result.state, &ignore, report, sizeof(report)) != 0) {
        check_failures++;
        printf("%s", report);
    }
}

/* ---- what the machine has ---------------------------------------------------------------------------------------- */

static void the_machine_says_how_many_there_are_and_how_wide(void)
{
    bool has_avx512 = machine_state_components() & MACHINE_AVX512;

    CHECK_EQUAL(vector_registers_count(GAIT_REGISTER_VECTOR), machine_state_vector_count());
    CHECK_EQUAL(vector_registers_bytes(GAIT_REGISTER_VECTOR), machine_state_vector_bytes());
    CHECK_EQUAL(vector_registers_count(GAIT_REGISTER_MASK), has_avx512 ? 8 : 0);
    CHECK_EQUAL(vector_registers_bytes(GAIT_REGISTER_MASK), has_avx512 ? 8 : 0);
    CHECK_EQUAL(vector_registers_count(GAIT_REGISTER_FLOAT), 8);
    CHECK_EQUAL(vector_registers_bytes(GAIT_REGISTER_FLOAT), 10);
    CHECK_EQUAL(vector_registers_count(GAIT_REGISTER_CONTROL), 4);
    CHECK_EQUAL(vector_registers_count(GAIT_REGISTER_BASE), 2);
    CHECK_EQUAL(vector_registers_count(0), 0);
    CHECK_EQUAL(vector_registers_count(GAIT_REGISTER_BASE + 1), 0);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void check_reading_and_changing(bool is_prepared)
{
    struct machine_state first, second, plain;
    struct run_result result;

    begin(is_prepared);
    fill(&first, 1);
    fill(&second, 2);
    machine_state_init(&plain);
    run(save, &first, &result);
    check_all(&first);
    check_restored(&first, &second);

    run(save, &first, &result);
    set_all(&second);
    check_all(&second);
    check_restored(&second, &first);
    check_restored(&second, &plain);
    end();
}

static void all_are_read_and_changed(void)
{
    check_reading_and_changing(true);
    check_reading_and_changing(false);
}

/* The memory has what it had the last time, of which the CPU saves nothing. */
static void check_initial_state(bool is_prepared)
{
    struct machine_state full, plain;
    struct run_result result;

    begin(is_prepared);
    fill(&full, 1);
    machine_state_init(&plain);
    run(save, &full, &result);
    run(save, &plain, &result);
    check_all(&plain);
    set_all(&plain);
    check_all(&plain);
    check_restored(&plain, &full);

    run(save, &full, &result);
    run(save, &plain, &result);
    set_all(&full);
    check_all(&full);
    check_restored(&full, &plain);
    end();
}

static void what_was_not_in_use_has_its_initial_values(void)
{
    check_initial_state(true);
    check_initial_state(false);
}

/* ---- single ones ------------------------------------------------------------------------------------------------- */

/* The state of a machine where none was in use but the one that is changed, each in turn. */
static void check_single(bool is_prepared)
{
    struct machine_state full, plain;
    struct run_result result;

    begin(is_prepared);
    fill(&full, 3);
    for (unsigned i = 0; i < machine_state_vector_count(); i++) {
        for (size_t size = 1; size <= machine_state_vector_bytes(); size += size < 16 ? 7 : 8) {
            struct machine_zmm value = {0}, whole = machine_state_zmm_get(&full, i);

            machine_state_init(&plain);
            run(save, &full, &result);
            run(save, &plain, &result);
            CHECK_EQUAL(vector_registers_set(area, GAIT_REGISTER_VECTOR, i, &whole, size), 0);
            memcpy(&value, &whole, size);
            machine_state_zmm_set(&plain, i, value);
            check_restored(&plain, &full);
        }
    }
    end();
}

static void one_is_changed_and_no_other(void)
{
    check_single(true);
    check_single(false);
}

static void check_part(bool is_prepared)
{
    struct machine_state full;
    struct machine_zmm value;
    struct run_result result;
    double number = 0.1, found;

    begin(is_prepared);
    fill(&full, 1);
    run(save, &full, &result);
    value = machine_state_zmm_get(&full, 3);
    memcpy(&value, &number, sizeof(number));
    machine_state_zmm_set(&full, 3, value);
    CHECK_EQUAL(vector_registers_set(area, GAIT_REGISTER_VECTOR, 3, &number, sizeof(number)), 0);
    vector_registers_get(area, GAIT_REGISTER_VECTOR, 3, &found, sizeof(found));
    CHECK(found == number);
    check_all(&full);
    end();
}

static void the_upper_part_stays_when_the_lower_one_is_changed(void)
{
    check_part(true);
    check_part(false);
}

static void check_x87(bool is_prepared)
{
    struct machine_state full, plain;
    struct run_result result;
    uint32_t control = 0x27f;

    begin(is_prepared);
    fill(&full, 1);
    machine_state_init(&plain);
    run(save, &full, &result);
    run(save, &plain, &result);
    CHECK_EQUAL(vector_registers_set(area, GAIT_REGISTER_CONTROL, GAIT_X86_64_X87_CONTROL, &control, 4), 0);
    plain.legacy.x87_control = 0x27f;
    check_all(&plain);
    check_restored(&plain, &full);
    end();
}

static void an_x87_that_was_not_in_use_is_changed(void)
{
    check_x87(true);
    check_x87(false);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static int set_control(unsigned number, uint32_t value)
{
    return vector_registers_set(area, GAIT_REGISTER_CONTROL, number, &value, sizeof(value));
}

static void check_refused(bool is_prepared)
{
    struct machine_state full, plain;
    struct run_result result;

    begin(is_prepared);
    fill(&full, 1);
    machine_state_init(&plain);
    run(save, &full, &result);
    CHECK_EQUAL(set_control(GAIT_X86_64_MXCSR, 0x1000000), -EINVAL);
    CHECK_EQUAL(set_control(GAIT_X86_64_X87_CONTROL, 0x10000), -EINVAL);
    CHECK_EQUAL(set_control(GAIT_X86_64_X87_STATUS, 0x10000), -EINVAL);
    CHECK_EQUAL(set_control(GAIT_X86_64_X87_IN_USE, 0x100), -EINVAL);
    check_restored(&full, &plain);
    CHECK_EQUAL(set_control(GAIT_X86_64_MXCSR, 0xff80), 0);
    end();
}

static void values_that_the_cpu_does_not_load_are_refused(void)
{
    check_refused(true);
    check_refused(false);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_machine_says_how_many_there_are_and_how_wide),   CHECK_CASE(all_are_read_and_changed),
    CHECK_CASE(what_was_not_in_use_has_its_initial_values),         CHECK_CASE(one_is_changed_and_no_other),
    CHECK_CASE(the_upper_part_stays_when_the_lower_one_is_changed), CHECK_CASE(an_x87_that_was_not_in_use_is_changed),
    CHECK_CASE(values_that_the_cpu_does_not_load_are_refused),
};

CHECK_MAIN(cases)
