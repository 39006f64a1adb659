/* SPDX-License-Identifier: MIT */
/* As the CPU itself says it, each time that one asks, and to many who ask at once. */
#include "support/check.h"

#if defined(__x86_64__)

#include "arch/x86_64/host/cpu_leaves.h"

#include <cpuid.h>
#include <pthread.h>
#include <string.h>

#define THREADS 4

static const struct {
    enum x86_cpu_leaf leaf;
    unsigned number, part;
} questions[] = {
    {X86_LEAF_STATE_WAYS, 13, 1},  {X86_LEAF_MORE_FEATURES, 7, 0}, {X86_LEAF_IDENTITY, 0, 0},
    {X86_LEAF_STATE_SIZES, 13, 0}, {X86_LEAF_FEATURES, 1, 0},
};

/* Which CPU answers is told too, in the highest byte of ebx of leaf 1. */
static struct x86_cpu_answer without_place(enum x86_cpu_leaf leaf, struct x86_cpu_answer answer)
{
    if (leaf == X86_LEAF_FEATURES)
        answer.ebx &= 0xffffff;
    return answer;
}

static void check_answers(void)
{
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        struct x86_cpu_answer expected = {0}, answer = x86_cpu_leaf(questions[i].leaf);

        (void)__get_cpuid_count(questions[i].number, questions[i].part, &expected.eax, &expected.ebx, &expected.ecx,
                                &expected.edx);
        expected = without_place(questions[i].leaf, expected);
        answer = without_place(questions[i].leaf, answer);
        CHECK_EQUAL(answer.eax, expected.eax);
        CHECK_EQUAL(answer.ebx, expected.ebx);
        CHECK_EQUAL(answer.ecx, expected.ecx);
        CHECK_EQUAL(answer.edx, expected.edx);
    }
}

static void *ask(void *all_out)
{
    struct x86_cpu_answer *all = all_out;

    for (unsigned i = 0; i < X86_LEAF_COUNT; i++)
        all[i] = x86_cpu_leaf((enum x86_cpu_leaf)i);
    return NULL;
}

/* First, while nothing is known. */
static void threads_get_the_same(void)
{
    static struct x86_cpu_answer answers[THREADS][X86_LEAF_COUNT];
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, ask, answers[i]), 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 1; i < THREADS; i++) {
        answers[0][X86_LEAF_FEATURES] = without_place(X86_LEAF_FEATURES, answers[0][X86_LEAF_FEATURES]);
        answers[i][X86_LEAF_FEATURES] = without_place(X86_LEAF_FEATURES, answers[i][X86_LEAF_FEATURES]);
        CHECK_EQUAL(memcmp(answers[i], answers[0], sizeof(answers[0])), 0);
    }
}

static void answers_are_the_cpus(void)
{
    check_answers();
    check_answers();
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_get_the_same),
    CHECK_CASE(answers_are_the_cpus),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("this test is for x86_64");
}

#endif
