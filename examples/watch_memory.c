/* SPDX-License-Identifier: MIT */
/*
 * Finds out who changes a variable: the CPU watches it, and tells after each write. Then it stops a function before it
 * begins, and changes its argument.
 *
 *   build/examples/watch_memory
 *
 * Shows: breakpoints of the CPU, the registers at a hit, and stacks from there. Uses gait/process.h and gait/stack.h.
 */
#define _GNU_SOURCE
#include "gait/process.h"
#include "gait/stack.h"

#include <stdio.h>

static volatile long balance = 100;

__attribute__((noinline)) void pay(long amount);
__attribute__((noinline)) void forget(void);

void pay(long amount)
{
    balance -= amount;
}

void forget(void)
{
    balance = 0;
}

/* ---- who was it -------------------------------------------------------------------------------------------------- */
static struct {
    uint64_t pc;
    uint64_t caller;
    long value;
} writes[8];
static unsigned write_count;

/* In a signal handler: nothing is printed here. */
static void note_write(const struct gait_breakpoint_hit *hit, void *data)
{
    uint64_t pcs[2];
    struct gait_stack stack = {.size_bytes = sizeof(stack), .pcs = pcs, .capacity = 2};

    (void)data;
    if (write_count == sizeof(writes) / sizeof(writes[0]))
        return;
    writes[write_count].pc = hit->cpu->pc;
    writes[write_count].value = balance;
    if (gait_stack_capture_from(hit->cpu, &stack) == 0 && stack.count == 2)
        writes[write_count].caller = pcs[1];
    write_count++;
}

static void pay_less(const struct gait_breakpoint_hit *hit, void *data)
{
    (void)data;
    gait_cpu_argument_set(hit->cpu, 0, 1);
}

static const char *name_of(uint64_t pc)
{
    uint64_t from_pay = pc - (uintptr_t)pay, from_forget = pc - (uintptr_t)forget;

    if (from_pay > 64 && from_forget > 64)
        return "something else";
    return from_pay < from_forget ? "pay" : "forget";
}

int main(void)
{
    struct gait_breakpoint_options write = {
        .size_bytes = sizeof(write),
        .kind = GAIT_BREAKPOINT_WRITE,
        .address = (uintptr_t)&balance,
        .watched_bytes = sizeof(balance),
        .hit = note_write,
    };
    struct gait_breakpoint_options execute = {
        .size_bytes = sizeof(execute),
        .kind = GAIT_BREAKPOINT_EXECUTE,
        .address = (uintptr_t)pay,
        .hit = pay_less,
    };
    struct gait_breakpoint *on_write, *on_pay;
    struct gait_error err;

    if (gait_stack_prepare() != 0 || gait_breakpoint_set(&write, &on_write, &err) != 0) {
        fprintf(stderr, "watch_memory: %s\n", err.text);
        return 0;
    }
    pay(30);
    if (gait_breakpoint_set(&execute, &on_pay, &err) == 0) {
        pay(30);
        gait_breakpoint_remove(on_pay);
    }
    forget();
    gait_breakpoint_remove(on_write);
    balance = 5;

    for (unsigned i = 0; i < write_count; i++)
        printf("%ld was written by %s, at 0x%lx\n", writes[i].value, name_of(writes[i].pc),
               (unsigned long)writes[i].pc);
    return 0;
}
