/* SPDX-License-Identifier: MIT */
/* Functions are looked at as bytes: those of x86-64. */
#include "agent/entry_loop.h"

#include "support/check_apart.h"
#include "support/guarded_bytes.h"

#include <sys/mman.h>

static struct guarded_bytes guarded;

/* Whether the code, which ends where memory ends, may jump to its beginning. */
static bool may_loop(const char *hex)
{
    size_t size_bytes;
    const uint8_t *code;

    guarded_bytes_init(&guarded);
    code = guarded_bytes_put_hex(&guarded, hex, &size_bytes);
    return entry_loop_may_be((uintptr_t)code, size_bytes);
}

static void straight_code_does_not_loop(void)
{
    /* push rbp; mov rbp, rsp; mov eax, 5; pop rbp; ret */
    CHECK(!may_loop("55 48 89 e5 b8 05 00 00 00 5d c3"));
}

static void jumps_elsewhere_do_not_count(void)
{
    /* push rbp; 1: dec edi; jnz 1b; pop rbp; ret; nop... */
    CHECK(!may_loop("55 ff cf 75 fc 5d c3 90 90"));
    /* A call of itself is a call. */
    CHECK(!may_loop("55 ff cf e8 f8 ff ff ff 5d c3"));
}

static void jumps_to_the_first_instruction_do(void)
{
    /* dec edi; jnz to the beginning; and jmp. */
    CHECK(may_loop("ff cf 75 fc 5d c3 90 90"));
    CHECK(may_loop("55 48 89 e5 90 90 eb f8"));
    CHECK(may_loop("55 48 89 e5 90 90 e9 f5 ff ff ff"));
    CHECK(may_loop("90 90 90 90 0f 84 f6 ff ff ff c3"));
}

static void what_is_not_known_may_loop(void)
{
    static const uint8_t code[64] = {0x90};

    CHECK(entry_loop_may_be((uintptr_t)code, 0));
    CHECK(entry_loop_may_be((uintptr_t)code, 7));
    CHECK(entry_loop_may_be((uintptr_t)code, (1u << 20) + 1));
    CHECK(entry_loop_may_be(4096, 64));
    /* Bytes that are no instructions, or end in the middle of one. */
    CHECK(may_loop("90 90 90 90 90 90 90 06 c3"));
    CHECK(may_loop("90 90 90 90 90 90 90 e9 00"));
}

static void code_that_ends_in_memory_that_cannot_be_read_may_loop(void)
{
    uint8_t *code;

    guarded_bytes_init(&guarded);
    code = guarded.end - 16;
    memset(code, 0x90, 16);
    CHECK(!entry_loop_may_be((uintptr_t)code, 16));
    CHECK(entry_loop_may_be((uintptr_t)code, 17));
}

static const struct check_case cases[] = {
    CHECK_CASE(straight_code_does_not_loop),
    CHECK_CASE(jumps_elsewhere_do_not_count),
    CHECK_CASE(jumps_to_the_first_instruction_do),
    CHECK_CASE(what_is_not_known_may_loop),
    CHECK_CASE(code_that_ends_in_memory_that_cannot_be_read_may_loop),
};

CHECK_APART_MAIN(cases)
