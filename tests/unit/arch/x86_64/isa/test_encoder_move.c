/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_move.h"

#include "support/check.h"
#include "support/encoding_check.h"

static const int64_t values[] = {
    0,         1,           -1,
    0x7f,      -0x80,       0x80,
    0xff,      -0x81,       0x7fff,
    0x8000,    0xffff,      -0x8000,
    INT32_MAX, 0x80000000,  0xffffffff,
    INT32_MIN, 0x100000000, INT32_MIN - INT64_C(1),
    INT64_MAX, INT64_MIN,   0x123456789abcdef0,
};

static void registers_move_in_every_pair_and_size(void)
{
    FOR_EACH_SIZE(size)
    {
        FOR_EACH_GPR(to)
        {
            FOR_EACH_GPR(from)
            ENCODES(x86_mov_reg_reg(writer, size, to, from), "mov %s, %s", encoding_gpr(size, to),
                    encoding_gpr(size, from));
        }
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void memory_moves_with_every_register_and_size(void)
{
    FOR_EACH_SIZE(size)
    {
        FOR_EACH_GPR(reg)
        {
            FOR_EACH_MEM(n)
            {
                struct x86_mem memory = encoding_sample_mem(n);

                ENCODES(x86_mov_reg_mem(writer, size, reg, memory), "mov %s, %s", encoding_gpr(size, reg),
                        encoding_mem(size, memory));
                ENCODES(x86_mov_mem_reg(writer, size, memory, reg), "mov %s, %s", encoding_mem(size, memory),
                        encoding_gpr(size, reg));
            }
        }
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

/* The assembler takes mov of 64 bits literally, so it is told which of the forms the shortest is. */
static void check_mov_imm_64(enum x86_gpr reg, uint64_t value)
{
    bool is_unsigned_32 = value == (uint32_t)value;
    bool is_signed_32 = (int64_t)value == (int32_t)value;

    ENCODES(x86_mov_reg_imm(writer, X86_SIZE_64, reg, value), "mov %s, 0x%" PRIx64,
            encoding_gpr(is_unsigned_32 ? X86_SIZE_32 : X86_SIZE_64, reg), value);
    if (!is_unsigned_32 && !is_signed_32)
        encoding_assembles_as("movabs %s, 0x%" PRIx64, encoding_gpr(X86_SIZE_64, reg), value);
    size_t extended = reg >= X86_R8;

    CHECK_EQUAL(encoding_length(), is_unsigned_32 ? 5 + extended : is_signed_32 ? 7 : 10);
}

static void immediates_reach_every_register_in_the_shortest_form(void)
{
    FOR_EACH_GPR(reg)
    {
        FOR_EACH(i, values)
        {
            for (enum x86_size size = X86_SIZE_8; size < X86_SIZE_64; size = (enum x86_size)(size * 2))
                ENCODES(x86_mov_reg_imm(writer, size, reg, (uint64_t)values[i]), "mov %s, 0x%llx",
                        encoding_gpr(size, reg), encoding_imm(size, values[i]));
            check_mov_imm_64(reg, (uint64_t)values[i]);
        }
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void immediates_are_stored_in_every_size(void)
{
    static const int64_t stored[] = {0, 1, -1, 0x7f, -0x80};
    static const int64_t limits[] = {INT32_MAX, INT32_MIN, 0x12345678};

    FOR_EACH_MEM(n)
    {
        struct x86_mem memory = encoding_sample_mem(n);

        FOR_EACH_SIZE(size)
        FOR_EACH(i, stored)
        ENCODES(x86_mov_mem_imm(writer, size, memory, stored[i]), "mov %s, 0x%llx", encoding_mem(size, memory),
                encoding_imm(size, stored[i]));
        FOR_EACH_SIZE_FROM(size, X86_SIZE_32)
        FOR_EACH(i, limits)
        ENCODES(x86_mov_mem_imm(writer, size, memory, limits[i]), "mov %s, 0x%llx", encoding_mem(size, memory),
                encoding_imm(size, limits[i]));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void accumulators_move_to_and_from_any_address(void)
{
    static const uint64_t addresses[] = {0x1122334455667788, 0xffffffffffffffff, 0x10};
    static const struct {
        enum x86_segment segment;
        const char *text;
    } segments[] = {{X86_SEGMENT_NONE, ""}, {X86_FS, "fs:"}, {X86_GS, "gs:"}};
    static const char *const sizes[] = {"byte", "word", "dword", "qword"};

    FOR_EACH(s, segments)
    FOR_EACH(i, addresses)
    FOR_EACH_SIZE(size)
    {
        char text[64];

        snprintf(text, sizeof(text), "%s ptr %s[0x%" PRIx64 "]", sizes[__builtin_ctz(size)], segments[s].text,
                 addresses[i]);
        ENCODES(x86_movabs_load(writer, size, segments[s].segment, addresses[i]), "mov %s, %s",
                encoding_gpr(size, X86_RAX), text);
        encoding_assembles_as("movabs %s, %s", encoding_gpr(size, X86_RAX), text);
        ENCODES(x86_movabs_store(writer, size, segments[s].segment, addresses[i]), "mov %s, %s", text,
                encoding_gpr(size, X86_RAX));
        encoding_assembles_as("movabs %s, %s", text, encoding_gpr(size, X86_RAX));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static const struct {
    enum x86_extend extend;
    const char *name;
    enum x86_size source;
} extends[] = {
    {X86_MOVZX_8, "movzx", X86_SIZE_8},   {X86_MOVZX_16, "movzx", X86_SIZE_16},  {X86_MOVSX_8, "movsx", X86_SIZE_8},
    {X86_MOVSX_16, "movsx", X86_SIZE_16}, {X86_MOVSX_32, "movsxd", X86_SIZE_32},
};

static void extensions_take_every_register_and_memory(void)
{
    FOR_EACH(i, extends)
    FOR_EACH_SIZE_FROM(size, (enum x86_size)(extends[i].source * 2))
    FOR_EACH_GPR(to)
    {
        FOR_EACH_GPR(from)
        ENCODES(x86_extend_reg_reg(writer, extends[i].extend, size, to, from), "%s %s, %s", extends[i].name,
                encoding_gpr(size, to), encoding_gpr(extends[i].source, from));
        FOR_EACH_MEM(n)
        ENCODES(x86_extend_reg_mem(writer, extends[i].extend, size, to, encoding_sample_mem(n)), "%s %s, %s",
                extends[i].name, encoding_gpr(size, to), encoding_mem(extends[i].source, encoding_sample_mem(n)));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void lea_takes_the_address_without_the_segment(void)
{
    FOR_EACH_SIZE_FROM(size, X86_SIZE_16)
    FOR_EACH_GPR(to)
    FOR_EACH_MEM(n)
    {
        struct x86_mem memory = encoding_sample_mem(n);

        ENCODES(x86_lea(writer, size, to, memory), "lea %s, %s", encoding_gpr(size, to),
                encoding_mem(0, x86_mem_segment(X86_SEGMENT_NONE, memory)));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void bytes_swap_in_both_sizes(void)
{
    FOR_EACH_SIZE_FROM(size, X86_SIZE_32)
    FOR_EACH_GPR(reg)
    ENCODES(x86_bswap(writer, size, reg), "bswap %s", encoding_gpr(size, reg));
    CHECK_EQUAL(encoding_finish(), 0);
}

static void moves_that_do_not_exist_are_refused(void)
{
    struct x86_mem memory = x86_mem_base(X86_RCX, 0);

    CHECK(REFUSES(x86_extend_reg_reg(writer, X86_MOVZX_8, X86_SIZE_8, X86_RAX, X86_RCX)));
    CHECK(REFUSES(x86_extend_reg_mem(writer, X86_MOVSX_32, X86_SIZE_32, X86_RAX, memory)));
    CHECK(REFUSES(x86_lea(writer, X86_SIZE_8, X86_RAX, memory)));
    CHECK(REFUSES(x86_bswap(writer, X86_SIZE_16, X86_RAX)));
    CHECK(REFUSES(x86_mov_mem_imm(writer, X86_SIZE_64, memory, INT64_MAX)));
}

static void every_register_is_pushed_and_popped(void)
{
    FOR_EACH_GPR(reg)
    {
        ENCODES(x86_push_reg(writer, reg), "push %s", encoding_gpr(X86_SIZE_64, reg));
        ENCODES(x86_pop_reg(writer, reg), "pop %s", encoding_gpr(X86_SIZE_64, reg));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void memory_is_pushed_and_popped(void)
{
    FOR_EACH_MEM(n)
    {
        ENCODES(x86_push_mem(writer, encoding_sample_mem(n)), "push %s", encoding_mem(8, encoding_sample_mem(n)));
        ENCODES(x86_pop_mem(writer, encoding_sample_mem(n)), "pop %s", encoding_mem(8, encoding_sample_mem(n)));
    }
    CHECK_EQUAL(encoding_finish(), 0);
}

static void immediates_are_pushed_sign_extended(void)
{
    static const int32_t pushed[] = {0, 1, -1, 127, -128, 128, -129, INT32_MAX, INT32_MIN};

    FOR_EACH(i, pushed)
    ENCODES(x86_push_imm(writer, pushed[i]), "push 0x%llx", encoding_imm(X86_SIZE_64, pushed[i]));
    CHECK_EQUAL(encoding_finish(), 0);
}

static const char *const exchange_names[] = {"xchg", "xadd", "cmpxchg"};

static void memory_exchanges_with_every_register_and_size(void)
{
    FOR_EACH(i, exchange_names)
    FOR_EACH_SIZE(size)
    FOR_EACH_GPR(from)
    FOR_EACH_MEM(n)
    ENCODES(x86_exchange_mem_reg(writer, (enum x86_exchange)i, size, encoding_sample_mem(n), from), "%s %s, %s",
            exchange_names[i], encoding_mem(size, encoding_sample_mem(n)), encoding_gpr(size, from));
    CHECK_EQUAL(encoding_finish(), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(every_register_is_pushed_and_popped),
    CHECK_CASE(memory_is_pushed_and_popped),
    CHECK_CASE(immediates_are_pushed_sign_extended),
    CHECK_CASE(memory_exchanges_with_every_register_and_size),
    CHECK_CASE(registers_move_in_every_pair_and_size),
    CHECK_CASE(memory_moves_with_every_register_and_size),
    CHECK_CASE(immediates_reach_every_register_in_the_shortest_form),
    CHECK_CASE(immediates_are_stored_in_every_size),
    CHECK_CASE(accumulators_move_to_and_from_any_address),
    CHECK_CASE(extensions_take_every_register_and_memory),
    CHECK_CASE(lea_takes_the_address_without_the_segment),
    CHECK_CASE(bytes_swap_in_both_sizes),
    CHECK_CASE(moves_that_do_not_exist_are_refused),
};

CHECK_MAIN(cases)
