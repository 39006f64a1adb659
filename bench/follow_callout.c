/* SPDX-License-Identifier: MIT */
/*
 * What does it cost to call a function of ours before each block, which reads two of the program's registers? First
 * for a function without vector registers, on all workloads; then what each call of it takes, and of one around which
 * vector and floating point registers are saved. Arguments and environment are those of bench/follow.c.
 */
#include "support/followed_table.h"
#include "support/workload.h"

#include <stdio.h>

#define ROUNDS        3
#define SCALE_PERCENT 10
/* For the time of one: there are enough of them in little work. */
#define SCALE_PERCENT_EACH 2

static struct tally {
    uint64_t calls;
    uint64_t sum; /* of registers, so that they are read */
} tally;

static GAIT_GENERAL_REGISTERS_ONLY void read_registers(struct gait_cpu_context *cpu, void *data)
{
    struct tally *found = data;

    found->calls++;
    found->sum += cpu->registers[0] ^ cpu->registers[1];
}

static void call_before_block(void *context, struct gait_iterator *iterator)
{
    const enum gait_callout_use *use = context;

    if (gait_iterator_next(iterator, NULL)) {
        gait_iterator_put_callout(iterator, read_registers, &tally, *use);
        gait_iterator_keep(iterator);
    }
    while (gait_iterator_next(iterator, NULL))
        gait_iterator_keep(iterator);
}

static enum gait_callout_use general_only = GAIT_CALLOUT_GENERAL_ONLY, any = GAIT_CALLOUT_ANY;
static const struct gait_transformer general_transformer = {call_before_block, &general_only};
static const struct gait_transformer any_transformer = {call_before_block, &any};

/* How many callouts one run makes. */
static int count_calls(struct gait_stalker *stalker, const struct followed_way *way,
                       const struct followed_contest *contest, uint64_t *calls_out)
{
    struct followed_subject subject;
    int error = followed_subject_init(&subject, &workload_lua_fib, contest->scale_percent);
    double ns;

    if (error != 0)
        return error;
    tally.calls = 0;
    error = followed_run_once(stalker, way, &subject, &ns);
    *calls_out = tally.calls;
    followed_subject_deinit(&subject);
    return error;
}

/* The time of each callout: what it adds to following alone. */
static int print_each(struct gait_stalker *stalker)
{
    static const struct followed_way ways[] = {
        {.name = "followed"},
        {.name = "general-only callouts", .options.transformer = &general_transformer},
        {.name = "ordinary callouts", .options.transformer = &any_transformer},
    };
    struct followed_contest contest = {ways, 3, followed_run_scale(SCALE_PERCENT_EACH), ROUNDS};
    struct followed_times times;
    uint64_t calls = 0;
    int error = followed_run_compare(stalker, &contest, &workload_lua_fib, &times);

    if (error == 0)
        error = count_calls(stalker, &ways[1], &contest, &calls);
    if (error != 0)
        return error;
    printf("\n| one callout (of %.1f million in %s) | ns |\n|---|---|\n", (double)calls / 1e6, workload_lua_fib.name);
    for (size_t i = 1; i < 3; i++)
        printf("| %s | %.1f |\n", ways[i].name, (times.followed_ns[i] - times.followed_ns[0]) / (double)calls);
    printf("| %s (from reference) | 111 to 137 |\n", PEER_NAME);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct followed_way ways[] = {{.name = "callouts", .options.transformer = &general_transformer}};
    struct followed_table table = {
        .contest = {ways, 1, followed_run_scale(SCALE_PERCENT), ROUNDS},
        .peers = {PEER_CALLOUT},
    };
    int status = followed_table_print(&table, argc, argv);
    struct gait_stalker *stalker;

    if (status != 0)
        return status;
    stalker = followed_run_stalker();
    if (stalker == NULL)
        return 1;
    status = print_each(stalker) == 0 ? 0 : 1;
    gait_stalker_destroy(stalker);
    return status;
}
