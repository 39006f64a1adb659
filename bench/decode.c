/* SPDX-License-Identifier: MIT */
/*
 * How fast is the decoder? Against libZydis, with its operands (as ours decodes) and in its minimal mode.
 * `valgrind --tool=callgrind build/bench/decode gait` (or full, or minimal) counts the instructions of one of them, for
 * a single sweep over libc.
 */
#include "arch/x86_64/isa/decoder.h"
#include "support/library_code.h"
#include "support/stopwatch.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 7

static const char *const libraries[] = {"libc.so.6", "libcrypto.so.3", "libstdc++.so.6"};

static ZydisDecoder full, minimal;

static size_t run_ours(void *context)
{
    const struct library_code *code = context;
    size_t count = 0;

    for (size_t offset = 0; offset < code->size; count++) {
        struct x86_insn insn;

        offset +=
            x86_decode(code->bytes + offset, code->size - offset, app_pc_of(offset), 0, &insn) == 0 ? insn.length : 1;
    }
    return count;
}

static size_t run_zydis_full(void *context)
{
    const struct library_code *code = context;
    size_t count = 0;

    for (size_t offset = 0; offset < code->size; count++) {
        ZydisDecodedInstruction insn;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

        offset +=
            ZYAN_SUCCESS(ZydisDecoderDecodeFull(&full, code->bytes + offset, code->size - offset, &insn, operands))
                ? insn.length
                : 1;
    }
    return count;
}

static size_t run_zydis_minimal(void *context)
{
    const struct library_code *code = context;
    size_t count = 0;

    for (size_t offset = 0; offset < code->size; count++) {
        ZydisDecodedInstruction insn;

        offset += ZYAN_SUCCESS(
                      ZydisDecoderDecodeInstruction(&minimal, NULL, code->bytes + offset, code->size - offset, &insn))
                      ? insn.length
                      : 1;
    }
    return count;
}

/* One sweep by one contestant, and nothing else. */
static int run_alone(const char *name)
{
    static const struct {
        const char *name;
        size_t (*run)(void *context);
    } sweeps[] = {{"gait", run_ours}, {"full", run_zydis_full}, {"minimal", run_zydis_minimal}};
    struct library_code code;

    for (size_t i = 0; i < sizeof(sweeps) / sizeof(sweeps[0]); i++) {
        if (strcmp(name, sweeps[i].name) == 0 && library_code_load(libraries[0], &code) == 0) {
            printf("%s: %zu instructions of %s\n", name, sweeps[i].run(&code), libraries[0]);
            return 0;
        }
    }
    fprintf(stderr, "bench: there is no sweep '%s' over %s; try gait, full or minimal\n", name, libraries[0]);
    return 2;
}

int main(int argc, char **argv)
{
    ZydisDecoderInit(&full, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecoderInit(&minimal, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecoderEnableMode(&minimal, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
    if (argc > 1)
        return run_alone(argv[1]);
    printf("%-16s %12s %10s %14s %8s %17s %8s\n", "code", "instructions", "gait ns", "zydis full ns", "ratio",
           "zydis minimal ns", "ratio");
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        struct contestant contestants[] = {
            {.name = "gait", .run = run_ours},
            {.name = "zydis full", .run = run_zydis_full},
            {.name = "zydis minimal", .run = run_zydis_minimal},
        };
        struct library_code code;

        if (library_code_load(libraries[i], &code) != 0) {
            printf("%-16s not here\n", libraries[i]);
            continue;
        }
        stopwatch_compare(contestants, 3, ROUNDS, &code);
        printf("%-16s %12zu %10.2f %14.2f %8.2f %17.2f %8.2f\n", code.name, contestants[0].count,
               contestants[0].best_ns, contestants[1].best_ns, contestants[1].best_ns / contestants[0].best_ns,
               contestants[2].best_ns, contestants[2].best_ns / contestants[0].best_ns);
    }
    return 0;
}
