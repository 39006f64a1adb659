/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_branch.h"

#include "base/code_writer.h"
#include "support/check.h"
#include "support/encoding_check.h"

/* From the start of the branch to its target. */
static const int64_t distances[] = {
    0,
    1,
    2,
    5,
    16,
    127,
    128,
    129,
    130,
    131,
    132,
    133,
    -1,
    -16,
    -121,
    -122,
    -123,
    -124,
    -125,
    -126,
    -127,
    -128,
    -129,
    4096,
    INT32_MAX,
    (int64_t)INT32_MAX + 5,
    (int64_t)INT32_MIN + 6,
};

static struct cache_pc at(int64_t distance)
{
    return cache_pc_of(ENCODING_PC + (uint64_t)distance);
}

static bool reaches_short(int64_t distance)
{
    return distance - 2 == (int8_t)(distance - 2);
}

static const char *hex(int64_t distance)
{
    static char texts[4][32];
    static unsigned next;
    char *text = texts[next++ % 4];

    sprintf(text, "%c0x%" PRIx64, distance < 0 ? '-' : '+', distance < 0 ? -(uint64_t)distance : (uint64_t)distance);
    return text;
}

#define CHECK_BRANCH(emission, hint, name, distance)                                                                   \
    do {                                                                                                               \
        ENCODES(emission, "%s %s", name, hex(distance));                                                               \
        encoding_assembles_as("%s %s .%s", hint, name, hex(distance));                                                 \
    } while (0)

static void jumps_are_short_when_that_reaches(void)
{
    FOR_EACH(i, distances)
    {
        int64_t distance = distances[i];

        CHECK_BRANCH(x86_jmp_pc(writer, at(distance), X86_REACH_AUTO), "", "jmp", distance);
        CHECK_EQUAL(encoding_length(), reaches_short(distance) ? 2 : 5);
        CHECK_BRANCH(x86_jmp_pc(writer, at(distance), X86_REACH_NEAR), "{disp32}", "jmp", distance);
        CHECK_EQUAL(encoding_length(), 5);
        if (reaches_short(distance))
            CHECK_BRANCH(x86_jmp_pc(writer, at(distance), X86_REACH_SHORT), "", "jmp", distance);
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void conditional_jumps_take_every_condition(void)
{
    FOR_EACH_CONDITION(condition)
    FOR_EACH(i, distances)
    {
        int64_t distance = distances[i];
        char name[8];

        sprintf(name, "j%s", encoding_condition(condition));
        CHECK_BRANCH(x86_jcc_pc(writer, condition, at(distance), X86_REACH_AUTO), "", name, distance);
        CHECK_EQUAL(encoding_length(), reaches_short(distance) ? 2 : 6);
        CHECK_BRANCH(x86_jcc_pc(writer, condition, at(distance), X86_REACH_NEAR), "{disp32}", name, distance);
        CHECK_EQUAL(encoding_length(), 6);
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void calls_and_transactions_are_near(void)
{
    FOR_EACH(i, distances)
    {
        CHECK_BRANCH(x86_call_pc(writer, at(distances[i])), "", "call", distances[i]);
        CHECK_BRANCH(x86_call_anywhere(writer, at(distances[i])), "", "call", distances[i]);
        CHECK_BRANCH(x86_xbegin_pc(writer, at(distances[i])), "", "xbegin", distances[i]);
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void pointers_are_followed(void)
{
    FOR_EACH_GPR(reg)
    ENCODES(x86_jmp_reg(writer, reg), "jmp %s", encoding_gpr(X86_SIZE_64, reg));
    FOR_EACH_MEM(n)
    {
        ENCODES(x86_jmp_mem(writer, encoding_sample_mem(n)), "jmp %s", encoding_mem(8, encoding_sample_mem(n)));
        ENCODES(x86_call_mem(writer, encoding_sample_mem(n)), "call %s", encoding_mem(8, encoding_sample_mem(n)));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void returns_drop_arguments(void)
{
    ENCODES(x86_ret(writer, 0), "ret");
    ENCODES(x86_ret(writer, 8), "ret 0x8");
    ENCODES(x86_ret(writer, 0xffff), "ret 0xffff");
    CHECK_EQUAL(encoding_finish(), 0);
}

static uint8_t buffer[64];
static struct code_writer writer_of_buffer;

static struct code_writer *fresh_writer(size_t capacity)
{
    memset(buffer, 0, sizeof(buffer));
    code_writer_init(&writer_of_buffer, buffer, capacity, cache_pc_of(ENCODING_PC));
    return &writer_of_buffer;
}

#define CHECK_WRITES(emission, capacity, bytes)                                                                        \
    do {                                                                                                               \
        struct code_writer *w = fresh_writer(capacity);                                                                \
        emission;                                                                                                      \
        CHECK(!code_writer_overflowed(w));                                                                             \
        CHECK_EQUAL(code_writer_offset(w), sizeof(bytes) - 1);                                                         \
        CHECK(memcmp(buffer, bytes, sizeof(bytes) - 1) == 0);                                                          \
    } while (0)

#define CHECK_FAILS(emission, capacity)                                                                                \
    do {                                                                                                               \
        struct code_writer *w = fresh_writer(capacity);                                                                \
        emission;                                                                                                      \
        CHECK(code_writer_overflowed(w));                                                                              \
        CHECK_EQUAL(code_writer_offset(w), 0);                                                                         \
    } while (0)

static void absolute_branches_carry_their_pointer(void)
{
    struct cache_pc target = cache_pc_of(0x1122334455667788);

    CHECK_WRITES(x86_jmp_absolute(w, target), 14, "\xff\x25\0\0\0\0\x88\x77\x66\x55\x44\x33\x22\x11");
    CHECK_WRITES(x86_call_anywhere(w, target), 16, "\xff\x15\2\0\0\0\xeb\x08\x88\x77\x66\x55\x44\x33\x22\x11");
    for (size_t room = 0; room < 14; room++)
        CHECK_FAILS(x86_jmp_absolute(w, target), room);
    for (size_t room = 0; room < 16; room++)
        CHECK_FAILS(x86_call_anywhere(w, target), room);
}

static void targets_out_of_reach_fail(void)
{
    CHECK_FAILS(x86_jmp_pc(w, at(130), X86_REACH_SHORT), sizeof(buffer));
    CHECK_FAILS(x86_jmp_pc(w, at(-127), X86_REACH_SHORT), sizeof(buffer));
    CHECK_FAILS(x86_jcc_pc(w, X86_BELOW, at(130), X86_REACH_SHORT), sizeof(buffer));
    CHECK_FAILS(x86_jmp_pc(w, at((int64_t)INT32_MAX + 6), X86_REACH_NEAR), sizeof(buffer));
    CHECK_FAILS(x86_jmp_pc(w, at((int64_t)INT32_MIN + 4), X86_REACH_AUTO), sizeof(buffer));
    CHECK_FAILS(x86_jcc_pc(w, X86_BELOW, at((int64_t)INT32_MAX + 7), X86_REACH_AUTO), sizeof(buffer));
    CHECK_FAILS(x86_call_pc(w, cache_pc_of(0)), sizeof(buffer));
    CHECK_FAILS(x86_xbegin_pc(w, cache_pc_of(0)), sizeof(buffer));
}

static const struct check_case cases[] = {
    CHECK_CASE(jumps_are_short_when_that_reaches),
    CHECK_CASE(conditional_jumps_take_every_condition),
    CHECK_CASE(calls_and_transactions_are_near),
    CHECK_CASE(pointers_are_followed),
    CHECK_CASE(returns_drop_arguments),
    CHECK_CASE(absolute_branches_carry_their_pointer),
    CHECK_CASE(targets_out_of_reach_fail),
};

CHECK_MAIN(cases)
