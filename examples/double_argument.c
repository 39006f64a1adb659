/* SPDX-License-Identifier: MIT */
/*
 * Sees and changes floating-point numbers. A function computes interest; a listener prints the rate that it is called
 * with, lowers one that is too high, and rounds the result to whole cents before the caller gets it.
 *
 * Shows: registers that a context has no room for, which a listener asks for where it needs them. Uses gait/hook.h and
 * gait/cpu_registers.h.
 */
#include "gait/cpu_registers.h"
#include "gait/hook.h"

#include <stdio.h>

#define RATE_MAX 0.1

/* ---- what is hooked ---------------------------------------------------------------------------------------------- */
static __attribute__((noinline)) double interest(double amount, double rate)
{
    __asm__ volatile("");
    return amount * rate;
}

/* ---- the listener ------------------------------------------------------------------------------------------------ */
static void entered(struct gait_invocation *invocation)
{
    unsigned *lowered = invocation->data;
    double amount, rate, limit = RATE_MAX;

    if (gait_cpu_float_argument_get(invocation->cpu, 0, &amount, sizeof(amount)) != 0 ||
        gait_cpu_float_argument_get(invocation->cpu, 1, &rate, sizeof(rate)) != 0)
        return;
    printf("  interest(%.2f, %.3f)\n", amount, rate);
    if (rate > limit && gait_cpu_float_argument_set(invocation->cpu, 1, &limit, sizeof(limit)) == 0)
        ++*lowered;
}

static void left(struct gait_invocation *invocation)
{
    double result;

    if (gait_cpu_float_result_get(invocation->cpu, &result, sizeof(result)) != 0)
        return;
    result = (double)(long)(result * 100 + 0.5) / 100;
    (void)gait_cpu_float_result_set(invocation->cpu, &result, sizeof(result));
}

/* ---- showing it -------------------------------------------------------------------------------------------------- */
static void show(void)
{
    static const double rates[] = {0.031, 0.098, 0.5};

    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
        printf("  %.5f\n", interest(123.45, rates[i]));
}

int main(void)
{
    unsigned lowered = 0;
    const struct gait_listener listener = {
        .size_bytes = sizeof(listener), .enter = entered, .leave = left, .data = &lowered};
    struct gait_hooks *hooks = NULL;
    struct gait_error err;

    printf("natively\n");
    show();
    if (gait_hooks_acquire(NULL, &hooks, &err) != 0 ||
        gait_hook_attach(hooks, (uintptr_t)interest, &listener, NULL, &err) != 0) {
        fprintf(stderr, "double_argument: %s\n", err.text);
        return 1;
    }
    printf("hooked\n");
    show();
    if (gait_hooks_release(hooks, &err) != 0) {
        fprintf(stderr, "double_argument: %s\n", err.text);
        return 1;
    }
    printf("%u rates lowered\n", lowered);
    return lowered == 1 ? 0 : 1;
}
