/* SPDX-License-Identifier: MIT */
#include "support/machine_state.h"

#include "support/check.h"
#include "support/random.h"

#if defined(__x86_64__)

static struct machine_state state, other;
static char report[4096];

static void initial_state_is_that_of_the_cpu(void)
{
    machine_state_init(&state);
    CHECK_EQUAL(state.rflags, 0x202);
    CHECK_EQUAL(state.legacy.x87_control, 0x37f);
    CHECK_EQUAL(state.legacy.x87_tag, 0);
    CHECK_EQUAL(state.legacy.mxcsr, 0x1f80);
    for (unsigned i = 0; i < 32; i++)
        CHECK_EQUAL(machine_state_zmm_get(&state, i).lane[0], 0);
}

static void every_lane_is_a_place_of_its_own(void)
{
    unsigned lanes = machine_state_vector_bytes() / 8;

    machine_state_init(&state);
    for (unsigned i = 0; i < 32; i++) {
        struct machine_zmm value;

        for (unsigned lane = 0; lane < 8; lane++)
            value.lane[lane] = 0x1000 * (i + 1) + lane;
        machine_state_zmm_set(&state, i, value);
    }
    for (unsigned i = 0; i < 8; i++)
        machine_state_k_set(&state, i, 0xabcd00 + i);
    for (unsigned i = 0; i < 32; i++) {
        for (unsigned lane = 0; lane < 8; lane++) {
            bool exists = i < machine_state_vector_count() && lane < lanes;

            CHECK_EQUAL(machine_state_zmm_get(&state, i).lane[lane], exists ? 0x1000 * (i + 1) + lane : 0);
        }
    }
    for (unsigned i = 0; i < 8; i++)
        CHECK_EQUAL(machine_state_k_get(&state, i), machine_state_vector_count() == 32 ? 0xabcd00 + i : 0);
    CHECK_EQUAL(state.legacy.x87_control, 0x37f);
    CHECK_EQUAL(state.legacy.xmm[15][1], 0x10001);
}

static void component_that_the_cpu_left_out_reads_as_initial(void)
{
    static uint8_t image[MACHINE_IMAGE_BYTES] __attribute__((aligned(64)));
    struct machine_image_header *header = (void *)(image + 512);
    struct machine_legacy *legacy = (void *)image;

    memset(image, 0xee, sizeof(image));
    header->present = MACHINE_SSE;
    legacy->mxcsr = 0x9fc0;
    machine_state_init(&state);
    machine_state_image_load(&state, image);
    CHECK_EQUAL(state.legacy.x87_control, 0x37f);
    CHECK_EQUAL(state.legacy.st[3].mantissa, 0);
    CHECK_EQUAL(state.legacy.mxcsr, 0x9fc0);
    CHECK_EQUAL(machine_state_zmm_get(&state, 4).lane[1], 0xeeeeeeeeeeeeeeee);
    CHECK_EQUAL(machine_state_zmm_get(&state, 4).lane[2], 0);
    CHECK_EQUAL(machine_state_zmm_get(&state, 4).lane[4], 0);
    CHECK_EQUAL(machine_state_zmm_get(&state, 20).lane[0], 0);
    CHECK_EQUAL(machine_state_k_get(&state, 1), 0);

    header->present = 0;
    machine_state_image_load(&state, image);
    machine_state_init(&other);
    other.legacy.mxcsr = 0x9fc0;
    CHECK_EQUAL(memcmp(&state, &other, sizeof(state)), 0);
}

static void storing_drops_mxcsr_bits_that_do_not_exist(void)
{
    static uint8_t image[MACHINE_IMAGE_BYTES] __attribute__((aligned(64)));
    struct machine_image_header *header = (void *)(image + 512);
    struct machine_legacy *legacy = (void *)image;

    legacy->mxcsr_mask = 0xffff;
    legacy->unused[95] = 0x5a;
    header->present = 1ull << 9;
    machine_state_init(&state);
    state.legacy.mxcsr = 0xffff1f80;
    machine_state_image_store(&state, image);
    CHECK_EQUAL(legacy->mxcsr, 0x1f80);
    CHECK_EQUAL(legacy->unused[95], 0x5a);
    CHECK_EQUAL(header->present, machine_state_components() | 1ull << 9);
}

static void difference_is_reported_by_register_and_lane(void)
{
    struct machine_zmm value = {{0}};

    machine_state_init(&state);
    other = state;
    CHECK_EQUAL(machine_state_compare(&state, &other, NULL, report, sizeof(report)), 0);
    CHECK_TEXT(report, "");
    other.gpr[X86_R9] = 0x1234;
    other.rip = 1;
    other.rflags |= X86_FLAG_ZF | X86_FLAG_DF | X86_FLAG_RF;
    value.lane[1] = 0xfeed;
    machine_state_zmm_set(&other, 7, value);
    other.legacy.st[2].sign_exponent = 0x3fff;
    other.legacy.x87_data_pointer = 99;
    CHECK_EQUAL(machine_state_compare(&state, &other, NULL, report, sizeof(report)), 5);
    CHECK_TEXT(report, "r9: expected 0x0, is 0x1234\n"
                       "rip: expected 0x0, is 0x1\n"
                       "rflags: expected 0x202, is 0x10642: ZF is set DF is set\n"
                       "st(2): expected 0000:0000000000000000, is 3fff:0000000000000000\n"
                       "zmm7[1] (bits 64-127): expected 0x0000000000000000, is 0x000000000000feed\n");
}

static void ignored_registers_are_not_reported(void)
{
    struct machine_ignore all = {
        .gprs = 0xffff, .rip = true, .rflags = ~0ull, .zmm = ~0u, .k = 0xff, .mxcsr = true, .x87 = true};
    static const struct arena_span span = {0x1000, 0x1000};
    struct machine_random_options options = {.spans = &span, .span_count = 1, .flags = X86_FLAGS_STATUS};
    struct random random;

    random_init(&random, 3);
    machine_state_init(&state);
    machine_state_randomize(&other, &random, &options);
    CHECK_EQUAL(machine_state_compare(&state, &other, &all, report, sizeof(report)), 0);
    all.gprs = (x86_gpr_set)~X86_GPR_BIT(X86_RBX);
    other.gpr[X86_RBX] = 5;
    CHECK_EQUAL(machine_state_compare(&state, &other, &all, report, sizeof(report)), 1);
    CHECK_TEXT(report, "rbx: expected 0x0, is 0x5\n");
}

static void report_that_does_not_fit_is_cut_off(void)
{
    char small[16];

    machine_state_init(&state);
    other = state;
    other.gpr[0] = 1;
    other.gpr[1] = 1;
    CHECK_EQUAL(machine_state_compare(&state, &other, NULL, small, sizeof(small)), 2);
    CHECK_TEXT(small, "rax: expected 0");
    CHECK_EQUAL(machine_state_compare(&state, &other, NULL, NULL, 0), 2);
}

static void random_state_belongs_to_its_seed(void)
{
    static const struct arena_span span = {0x100000, 0x1000};
    struct machine_random_options options = {
        .spans = &span, .span_count = 1, .stack = {0x200000, 0x1000}, .flags = X86_FLAGS_STATUS | X86_FLAG_DF};
    struct random random;
    unsigned pointers = 0;

    for (uint64_t seed = 0; seed < 50; seed++) {
        memset(&state, 0x11, sizeof(state));
        memset(&other, 0x22, sizeof(other));
        state.rip = other.rip = 0x4444;
        random_init(&random, seed);
        machine_state_randomize(&state, &random, &options);
        random_init(&random, seed);
        machine_state_randomize(&other, &random, &options);
        CHECK_EQUAL(memcmp(&state, &other, sizeof(state)), 0);
        CHECK_EQUAL(state.rip, 0x4444);
        CHECK_EQUAL(state.gpr[X86_RSP] % 8, 0);
        CHECK(state.gpr[X86_RSP] >= 0x200400 && state.gpr[X86_RSP] < 0x200c00);
        CHECK_EQUAL(state.rflags & ~(uint64_t)(X86_FLAGS_STATUS | X86_FLAG_DF), 0x202);
        for (unsigned i = 0; i < X86_GPR_COUNT; i++)
            pointers += state.gpr[i] - span.address < span.size_bytes;
    }
    CHECK(pointers > 100);
}

static const struct check_case cases[] = {
    CHECK_CASE(initial_state_is_that_of_the_cpu),
    CHECK_CASE(every_lane_is_a_place_of_its_own),
    CHECK_CASE(component_that_the_cpu_left_out_reads_as_initial),
    CHECK_CASE(storing_drops_mxcsr_bits_that_do_not_exist),
    CHECK_CASE(difference_is_reported_by_register_and_lane),
    CHECK_CASE(ignored_registers_are_not_reported),
    CHECK_CASE(report_that_does_not_fit_is_cut_off),
    CHECK_CASE(random_state_belongs_to_its_seed),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("machine states are of x86-64");
}

#endif
