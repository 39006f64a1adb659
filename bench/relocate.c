/* SPDX-License-Identifier: MIT */
/*
 * How fast is code relocated? Straight-line runs of real functions, decoded and copied with the map that leads back,
 * beside decoding alone and a plain copy of the same bytes.
 */
#include "arch/x86_64/isa/relocator.h"
#include "support/library_code.h"
#include "support/relocation_run.h"
#include "support/stopwatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS     9
#define MAX_RUNS   200000
#define MAX_POINTS 65536
#define MAX_FIXUPS 1024

/* Instructions up to the next one that changes the flow of control. */
struct run {
    const uint8_t *bytes;
    size_t size;
};

struct runs {
    struct run *list;
    size_t count, instructions, bytes;
    uint8_t *copies;
    size_t copy_capacity;
    uint64_t cache_pc; /* where the copies are meant to run */
    struct x86_relocation_map map;
    struct x86_relocation_point points[MAX_POINTS];
    struct x86_relocator_fixup fixups[MAX_FIXUPS];
};

static void add_run(struct runs *runs, const uint8_t *bytes, size_t size, size_t instructions)
{
    if (instructions == 0 || runs->count == MAX_RUNS)
        return;
    runs->list[runs->count++] = (struct run){bytes, size};
    runs->instructions += instructions;
    runs->bytes += size;
}

static void find_runs(struct runs *runs, const struct library_code *code)
{
    size_t start = 0, instructions = 0;

    for (size_t offset = 0; offset < code->size;) {
        const uint8_t *bytes = code->bytes + offset;
        struct x86_insn insn;
        bool is_insn = x86_decode(bytes, code->size - offset, app_pc_of((uint64_t)bytes), 0, &insn) == 0;

        if (is_insn && insn.flow == X86_FLOW_NEXT) {
            instructions++;
            offset += insn.length;
            continue;
        }
        add_run(runs, code->bytes + start, offset - start, instructions);
        offset += is_insn ? insn.length : 1;
        start = offset;
        instructions = 0;
    }
}

static size_t run_relocate(void *context)
{
    static const struct x86_relocator_options options = {.spill = X86_SPILL_STACK};
    struct runs *runs = context;
    struct code_writer writer;
    struct x86_relocator_storage storage = {&writer, &runs->map, runs->fixups, MAX_FIXUPS};

    code_writer_init(&writer, runs->copies, runs->copy_capacity, cache_pc_of(runs->cache_pc));
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->list[i];

        x86_relocation_map_init(&runs->map, runs->points, MAX_POINTS);
        if (relocation_run(&options, &storage, run->bytes, run->size, app_pc_of((uint64_t)run->bytes)) != 0) {
            fprintf(stderr, "bench: a run could not be relocated\n");
            exit(1);
        }
    }
    return runs->instructions;
}

static size_t run_decode(void *context)
{
    struct runs *runs = context;

    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->list[i];
        struct x86_insn insn;

        for (size_t offset = 0; offset < run->size; offset += insn.length)
            if (x86_decode(run->bytes + offset, run->size - offset, app_pc_of((uint64_t)run->bytes + offset), 0,
                           &insn) != 0)
                exit(1);
    }
    return runs->instructions;
}

static size_t run_copy(void *context)
{
    struct runs *runs = context;
    uint8_t *place = runs->copies;

    for (size_t i = 0; i < runs->count; i++) {
        memcpy(place, runs->list[i].bytes, runs->list[i].size);
        place += runs->list[i].size;
    }
    return runs->instructions;
}

int main(void)
{
    struct contestant contestants[] = {
        {.name = "relocate", .run = run_relocate},
        {.name = "decode", .run = run_decode},
        {.name = "memcpy", .run = run_copy},
    };
    struct library_code code;
    static struct runs runs;

    if (library_code_load("libcrypto.so.3", &code) != 0) {
        printf("libcrypto.so.3 is not here\n");
        return 1;
    }
    runs.list = calloc(MAX_RUNS, sizeof(*runs.list));
    runs.copy_capacity = 16 * code.size;
    runs.copies = malloc(runs.copy_capacity);
    if (runs.list == NULL || runs.copies == NULL)
        return 1;
    memset(runs.copies, 0, runs.copy_capacity);
    find_runs(&runs, &code);
    printf("%zu runs of libcrypto.so.3, %zu instructions, %zu bytes\n", runs.count, runs.instructions, runs.bytes);
    printf("%-28s %12s %14s %10s %10s\n", "copies", "relocate ns", "million insn/s", "decode ns", "memcpy ns");
    for (int is_far = 0; is_far < 2; is_far++) {
        runs.cache_pc = (uint64_t)code.bytes + (is_far ? UINT64_C(1) << 40 : UINT64_C(1) << 26);
        stopwatch_compare(contestants, 3, ROUNDS, &runs);
        printf("%-28s %12.2f %14.1f %10.2f %10.2f\n", is_far ? "out of reach of operands" : "within reach of operands",
               contestants[0].best_ns, 1000 / contestants[0].best_ns, contestants[1].best_ns, contestants[2].best_ns);
        printf("%-28s %12.1f times memcpy\n", "", contestants[0].best_ns / contestants[2].best_ns);
    }
    return 0;
}
