/* SPDX-License-Identifier: MIT */
#include "inject/seccomp_check.h"

#include "support/check.h"

#define RUN(data, ...)                                                                                                 \
    seccomp_program_run((const struct sock_filter[]){__VA_ARGS__},                                                     \
                        sizeof((const struct sock_filter[]){__VA_ARGS__}) / sizeof(struct sock_filter), data)

static const struct seccomp_data sample = {
    .nr = 42, .arch = 7, .instruction_pointer = 0x1122334455667788, .args = {0xaabbccdd00000005, 3}};

static void words_of_the_call_are_read(void)
{
    static const uint32_t expected[] = {42, 7, 0x55667788, 0x11223344, 5, 0xaabbccdd, 3};

    for (uint32_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        CHECK_EQUAL(RUN(&sample, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4 * i), BPF_STMT(BPF_RET | BPF_A, 0)), expected[i]);
    CHECK_EQUAL(RUN(&sample, BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), BPF_STMT(BPF_RET | BPF_A, 0)), 64);
}

static void it_branches(void)
{
    static const struct {
        uint16_t operation;
        uint32_t value;
        uint32_t expected;
    } branches[] = {
        {BPF_JEQ, 42, 1}, {BPF_JEQ, 43, 2}, {BPF_JGT, 41, 1}, {BPF_JGT, 42, 2},
        {BPF_JGE, 42, 1}, {BPF_JGE, 43, 2}, {BPF_JSET, 2, 1}, {BPF_JSET, 4, 2},
    };

    for (unsigned i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
        uint16_t code = BPF_JMP | branches[i].operation;

        CHECK_EQUAL(RUN(&sample, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                        BPF_JUMP((uint16_t)(code | BPF_K), branches[i].value, 0, 1), BPF_STMT(BPF_RET | BPF_K, 1),
                        BPF_STMT(BPF_RET | BPF_K, 2)),
                    branches[i].expected);
        CHECK_EQUAL(RUN(&sample, BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, branches[i].value),
                        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP((uint16_t)(code | BPF_X), 0, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, 1), BPF_STMT(BPF_RET | BPF_K, 2)),
                    branches[i].expected);
    }
    CHECK_EQUAL(RUN(&sample, BPF_STMT(BPF_JMP | BPF_JA, 1), BPF_STMT(BPF_RET | BPF_K, 1), BPF_STMT(BPF_RET | BPF_K, 2)),
                2);
}

static uint32_t calculated(uint16_t operation, uint32_t a, uint32_t b)
{
    return RUN(&sample, BPF_STMT(BPF_LD | BPF_IMM, a), BPF_STMT((uint16_t)(BPF_ALU | operation | BPF_K), b),
               BPF_STMT(BPF_RET | BPF_A, 0));
}

static void it_calculates(void)
{
    CHECK_EQUAL(calculated(BPF_ADD, 0xffffffff, 2), 1);
    CHECK_EQUAL(calculated(BPF_SUB, 1, 2), 0xffffffff);
    CHECK_EQUAL(calculated(BPF_MUL, 7, 6), 42);
    CHECK_EQUAL(calculated(BPF_DIV, 42, 5), 8);
    CHECK_EQUAL(calculated(BPF_OR, 5, 2), 7);
    CHECK_EQUAL(calculated(BPF_AND, 7, 12), 4);
    CHECK_EQUAL(calculated(BPF_XOR, 7, 12), 11);
    CHECK_EQUAL(calculated(BPF_LSH, 3, 4), 48);
    CHECK_EQUAL(calculated(BPF_RSH, 48, 4), 3);
    CHECK_EQUAL(calculated(BPF_NEG, 1, 0), 0xffffffff);
    CHECK_EQUAL(RUN(&sample, BPF_STMT(BPF_LD | BPF_IMM, 9), BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_LD | BPF_IMM, 1),
                    BPF_STMT(BPF_LDX | BPF_MEM, 3), BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
                    BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_STMT(BPF_LD | BPF_IMM, 0), BPF_STMT(BPF_MISC | BPF_TXA, 0),
                    BPF_STMT(BPF_RET | BPF_A, 0)),
                10);
}

static void what_makes_no_sense_forbids(void)
{
    const uint32_t forbidden = SECCOMP_RET_KILL_PROCESS;

    CHECK_EQUAL(seccomp_program_run(NULL, 0, &sample), forbidden);
    CHECK_EQUAL(RUN(&sample, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), BPF_STMT(BPF_RET | BPF_K, 1)), forbidden);
    CHECK_EQUAL(RUN(&sample, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), BPF_STMT(BPF_RET | BPF_K, 1)), forbidden);
    CHECK_EQUAL(RUN(&sample, BPF_STMT(BPF_ST, 16), BPF_STMT(BPF_RET | BPF_K, 1)), forbidden);
    CHECK_EQUAL(RUN(&sample, BPF_STMT(BPF_LD | BPF_MEM, 16), BPF_STMT(BPF_RET | BPF_K, 1)), forbidden);
    CHECK_EQUAL(RUN(&sample, BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), BPF_STMT(BPF_RET | BPF_K, 1)), forbidden);
    CHECK_EQUAL(RUN(&sample, BPF_STMT(BPF_LD | BPF_IMM, 1)), forbidden);
    CHECK_EQUAL(calculated(BPF_DIV, 1, 0), forbidden);
}

static const struct check_case cases[] = {
    CHECK_CASE(words_of_the_call_are_read),
    CHECK_CASE(it_branches),
    CHECK_CASE(it_calculates),
    CHECK_CASE(what_makes_no_sense_forbids),
};

CHECK_MAIN(cases)
