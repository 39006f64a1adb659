/* SPDX-License-Identifier: MIT */
/* Threads that ask for the same at the same time both ask the CPU, and write down the same answer. */
#include "arch/x86_64/host/cpu_leaves.h"

#include <cpuid.h>
#include <stdatomic.h>
#include <stdbool.h>

static const struct {
    uint32_t leaf, subleaf;
} questions[X86_LEAF_COUNT] = {
    [X86_LEAF_IDENTITY] = {0, 0},     [X86_LEAF_FEATURES] = {1, 0},     [X86_LEAF_MORE_FEATURES] = {7, 0},
    [X86_LEAF_STATE_SIZES] = {13, 0}, [X86_LEAF_STATE_WAYS] = {13, 1},  [X86_LEAF_STATE_AVX] = {13, 2},
    [X86_LEAF_STATE_MASKS] = {13, 5}, [X86_LEAF_STATE_UPPER] = {13, 6}, [X86_LEAF_STATE_HIGH] = {13, 7},
};

static struct {
    _Atomic uint32_t eax, ebx, ecx, edx;
    _Atomic bool is_known;
} answers[X86_LEAF_COUNT];

static struct x86_cpu_answer ask(enum x86_cpu_leaf leaf)
{
    struct x86_cpu_answer answer = {0};

    if (leaf != X86_LEAF_IDENTITY && questions[leaf].leaf > x86_cpu_leaf(X86_LEAF_IDENTITY).eax)
        return answer;
    __cpuid_count(questions[leaf].leaf, questions[leaf].subleaf, answer.eax, answer.ebx, answer.ecx, answer.edx);
    return answer;
}

struct x86_cpu_answer x86_cpu_leaf(enum x86_cpu_leaf leaf)
{
    struct x86_cpu_answer answer;

    /* Acquire: pairs with the release below, so that a known answer is there as a whole. */
    if (atomic_load_explicit(&answers[leaf].is_known, memory_order_acquire))
        return (struct x86_cpu_answer){
            .eax = atomic_load_explicit(&answers[leaf].eax, memory_order_relaxed),
            .ebx = atomic_load_explicit(&answers[leaf].ebx, memory_order_relaxed),
            .ecx = atomic_load_explicit(&answers[leaf].ecx, memory_order_relaxed),
            .edx = atomic_load_explicit(&answers[leaf].edx, memory_order_relaxed),
        };
    answer = ask(leaf);
    atomic_store_explicit(&answers[leaf].eax, answer.eax, memory_order_relaxed);
    atomic_store_explicit(&answers[leaf].ebx, answer.ebx, memory_order_relaxed);
    atomic_store_explicit(&answers[leaf].ecx, answer.ecx, memory_order_relaxed);
    atomic_store_explicit(&answers[leaf].edx, answer.edx, memory_order_relaxed);
    atomic_store_explicit(&answers[leaf].is_known, true, memory_order_release);
    return answer;
}
