/* SPDX-License-Identifier: MIT */
/*
 * Rows are printed as they are measured. Ratios are added up as logarithms, for the geometric means of the last row.
 */
#include "support/followed_table.h"

#include "support/workload.h"

#include <math.h>
#include <stdio.h>

struct sums {
    unsigned count;
    double native_ns;
    double followed_ns[FOLLOWED_WAYS_MAX];
    double logarithms[FOLLOWED_WAYS_MAX];
};

static void print_head(const struct followed_table *table)
{
    const struct followed_contest *contest = &table->contest;

    printf("%s: measured elsewhere, from reference. CPU time, best of %d rounds, %u %% of the work.\n\n", PEER_NAME,
           contest->rounds, contest->scale_percent);
    printf("| %-16s | %9s |", "workload", "native ms");
    for (size_t i = 0; i < contest->way_count; i++)
        printf(" %12s ms | %7s |%s", contest->ways[i].name, "ratio",
               table->peers[i] == PEER_NONE ? "" : " " PEER_NAME " |");
    printf("\n|---|---|");
    for (size_t i = 0; i < contest->way_count; i++)
        printf("---|---|%s", table->peers[i] == PEER_NONE ? "" : "---|");
    printf("\n");
}

static void print_peer(const char *row, enum peer_way way)
{
    double ratio = peer_figure(row, way);

    if (way == PEER_NONE)
        return;
    if (ratio == 0)
        printf(" %9s |", "");
    else
        printf(" %9.*f |", ratio < 50 ? 2 : 0, ratio);
}

static void print_row(const struct followed_table *table, const char *name, const struct followed_times *times)
{
    printf("| %-16s | %9.2f |", name, times->native_ns / 1e6);
    for (size_t i = 0; i < table->contest.way_count; i++) {
        printf(" %15.2f | %7.2f |", times->followed_ns[i] / 1e6, times->followed_ns[i] / times->native_ns);
        print_peer(name, table->peers[i]);
    }
    printf("\n");
    fflush(stdout);
}

static void add(struct sums *sums, const struct followed_table *table, const struct followed_times *times)
{
    sums->count++;
    sums->native_ns += times->native_ns;
    for (size_t i = 0; i < table->contest.way_count; i++) {
        sums->followed_ns[i] += times->followed_ns[i];
        sums->logarithms[i] += log(times->followed_ns[i] / times->native_ns);
    }
}

static void print_sums(const struct followed_table *table, const struct sums *sums)
{
    printf("| **%s**%-5s | %9.2f |", PEER_GEOMEAN, "", sums->native_ns / 1e6);
    for (size_t i = 0; i < table->contest.way_count; i++) {
        char ratio[24];

        snprintf(ratio, sizeof(ratio), "**%.2f**", exp(sums->logarithms[i] / sums->count));
        printf(" %15.2f | %7s |", sums->followed_ns[i] / 1e6, ratio);
        /* A mean of some says nothing beside one of all. */
        print_peer(sums->count == WORKLOAD_COUNT ? PEER_GEOMEAN : "", table->peers[i]);
    }
    printf("\n");
}

static int find_workloads(int argument_count, char **arguments, const struct workload **chosen, size_t *count_out)
{
    size_t count = 0;

    for (int i = 1; i < argument_count && count < WORKLOAD_COUNT; i++, count++) {
        chosen[count] = workload_find(arguments[i]);
        if (chosen[count] == NULL) {
            fprintf(stderr, "bench: there is no workload '%s'; bench/support/workloads.def lists them\n", arguments[i]);
            return 2;
        }
    }
    for (size_t i = 0; argument_count < 2 && i < WORKLOAD_COUNT; i++)
        chosen[count++] = workloads[i];
    *count_out = count;
    return 0;
}

int followed_table_print(const struct followed_table *table, int argument_count, char **arguments)
{
    const struct workload *chosen[WORKLOAD_COUNT];
    struct gait_stalker *stalker;
    struct sums sums = {0};
    size_t count;
    int status = find_workloads(argument_count, arguments, chosen, &count);

    if (status != 0)
        return status;
    stalker = followed_run_stalker();
    if (stalker == NULL)
        return 1;
    print_head(table);
    for (size_t i = 0; i < count; i++) {
        struct followed_times times;

        if (followed_run_compare(stalker, &table->contest, chosen[i], &times) != 0) {
            status = 1;
            continue;
        }
        print_row(table, chosen[i]->name, &times);
        add(&sums, table, &times);
    }
    if (sums.count > 0)
        print_sums(table, &sums);
    gait_stalker_destroy(stalker);
    return status;
}
