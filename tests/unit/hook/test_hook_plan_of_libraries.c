/* SPDX-License-Identifier: MIT */
/* time limit: 300 s */
/*
 * Plans of all functions of real libraries, checked by other means: libZydis says where instructions begin and where
 * branches lead, the relocator copies what is displaced, and no two plans share a byte. Then damaged code and lists.
 */
#define _GNU_SOURCE
#include "hook/hook_plan.h"

#include "arch/arch.h"
#include "arch/engine.h"
#include "arch/x86_64/isa/relocator.h"
#include "cli/function_survey.h"
#include "hook/hook_planner.h"
#include "support/check.h"
#include "support/random.h"
#include "support/relocation_run.h"

#include <Zydis/Zydis.h>
#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>

#define DAMAGED_ROUNDS 300
#define POINTS         256
#define FIXUPS         64

static ZydisDecoder zydis;
static struct function_survey survey;
static struct hook_plan *plans; /* for each function; those that are none are impossible */
static uint8_t *patched;        /* for each byte of code: how many plans write it */
static struct hook_code text;   /* the span of code with most functions */
static size_t copied;

static void open_library(const char *name)
{
    struct gait_error err;
    const struct elf_function *middle;

    if (function_survey_open(name, &survey, &err) != 0 || function_survey_prepare(&survey, &err) != 0) {
        printf("%s\n", err.text);
        abort();
    }
    middle = &survey.functions.functions[survey.functions.count / 2];
    CHECK(hook_planner_code(&survey.planner, middle->start, &text));
    for (size_t i = 0; i < survey.module.span_count; i++)
        if (survey.module.spans[i].is_code &&
            survey.module.spans[i].address + survey.module.spans[i].size_bytes == text.end)
            text = (struct hook_code){survey.module.spans[i].bytes, survey.module.spans[i].address, text.end, text.end};
    patched = calloc(1, text.end - text.start);
    plans = calloc(survey.functions.count, sizeof(*plans));
    for (size_t i = 0; i < survey.functions.count; i++) {
        plans[i].method = HOOK_IMPOSSIBLE;
        if (function_survey_has(&survey, &survey.functions.functions[i]))
            hook_planner_plan(&survey.planner, &survey.functions.functions[i], &plans[i]);
    }
}

static void close_library(void)
{
    free(plans);
    free(patched);
    function_survey_close(&survey);
}

static bool is_in_text(uint64_t start, uint64_t end)
{
    return start >= text.start && end <= text.end && start <= end;
}

static void write_bytes(uint64_t start, uint64_t size_bytes)
{
    CHECK(is_in_text(start, start + size_bytes));
    for (uint64_t i = start - text.start; i < start - text.start + size_bytes; i++)
        CHECK_EQUAL(patched[i]++, 0);
}

/* What libZydis decodes from the start on has an instruction that begins there. */
static bool is_boundary(uint64_t start, uint64_t boundary)
{
    ZydisDecodedInstruction insn;

    while (start < boundary) {
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&zydis, ZYAN_NULL, text.bytes + (start - text.start),
                                                        text.end - start, &insn)))
            return false;
        start += insn.length;
    }
    return start == boundary;
}

/* The relocator can move it, and has a copy of each instruction. */
static void check_copy(const struct hook_plan *plan)
{
    static uint8_t memory[4096] __attribute__((aligned(64)));
    struct x86_relocation_point points[POINTS];
    struct x86_relocation_map map = {.points = points, .capacity = POINTS};
    struct x86_relocator_fixup fixups[FIXUPS];
    struct x86_relocator_options options = {.return_address = X86_RETURN_TO_ORIGINAL};
    struct code_writer writer;
    struct x86_relocator_storage storage = {&writer, &map, fixups, FIXUPS};
    uint64_t size_bytes = plan->displaced_end - plan->patch_at;
    struct cache_pc place;

    code_writer_init(&writer, memory, sizeof(memory), cache_pc_of(text.end + 0x10000));
    CHECK_EQUAL(relocation_run(&options, &storage, text.bytes + (plan->patch_at - text.start), size_bytes,
                               app_pc_of(plan->patch_at)),
                0);
    CHECK_EQUAL(x86_relocation_map_start(&map, app_pc_of(plan->patch_at), &place), 0);
    CHECK_EQUAL(place.value, text.end + 0x10000);
    copied++;
}

static void check_plan(const struct elf_function *function, const struct hook_plan *plan)
{
    uint64_t patch_end = plan->patch_at + plan->patch_bytes;

    CHECK_EQUAL(plan->address, function->start);
    CHECK(plan->patch_at == function->start || plan->patch_at == function->start + 4);
    CHECK(plan->displaced_end > plan->patch_at);
    CHECK(plan->displaced_end - plan->patch_at <= HOOK_DISPLACED_BYTES_MAX);
    CHECK(is_boundary(function->start, plan->patch_at));
    CHECK(is_boundary(plan->patch_at, plan->displaced_end));
    CHECK_EQUAL(plan->hop_at != 0, plan->method == HOOK_HOP);
    if (plan->method == HOOK_JUMP)
        CHECK(plan->patch_bytes == 5 && patch_end <= plan->displaced_end);
    if (plan->method == HOOK_JUMP_INTO_PADDING)
        CHECK(plan->patch_bytes == 5 && patch_end > plan->displaced_end);
    if (plan->method == HOOK_HOP) {
        int64_t distance = (int64_t)(plan->hop_at - patch_end);

        CHECK(plan->patch_bytes == 2 && distance >= -128 && distance <= 127);
        write_bytes(plan->hop_at, plan->hop_bytes);
    }
    if (plan->method == HOOK_TRAP)
        CHECK_EQUAL(plan->patch_bytes, 1);
    write_bytes(plan->patch_at, plan->patch_bytes);
    check_copy(plan);
}

/* Whether somebody who is not displaced with it goes to the middle of what is overwritten. */
static void check_branch(uint64_t from, uint64_t target)
{
    const struct elf_function *function = elf_function_list_find(&survey.functions, target);
    const struct hook_plan *plan = function == NULL ? NULL : &plans[function - survey.functions.functions];

    if (!is_in_text(target, target + 1) || !patched[target - text.start])
        return;
    CHECK(plan != NULL && plan->method != HOOK_IMPOSSIBLE);
    if (plan == NULL || target == plan->patch_at)
        return;
    if (target > plan->patch_at && target < plan->patch_at + plan->patch_bytes && from >= plan->patch_at &&
        from < plan->displaced_end)
        return;
    printf("%llx goes to %llx, which is overwritten\n", (unsigned long long)from, (unsigned long long)target);
    CHECK(!"a branch into overwritten bytes");
}

/* All branches that libZydis sees in functions; and no function begins in overwritten bytes but with its own. */
static void check_branches(const struct elf_function *function)
{
    uint64_t end = function->start + function->size_bytes;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

    for (uint64_t at = function->start; at < end && is_in_text(at, end); at += insn.length) {
        ZyanU64 target;

        if (!ZYAN_SUCCESS(
                ZydisDecoderDecodeFull(&zydis, text.bytes + (at - text.start), text.end - at, &insn, operands)))
            return;
        if (insn.operand_count > 0 && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[0].imm.is_relative &&
            ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&insn, &operands[0], at, &target)))
            check_branch(at, target);
    }
}

static void check_library(const char *name, size_t least)
{
    size_t planned = 0;

    open_library(name);
    for (size_t i = 0; i < survey.functions.count; i++)
        if (plans[i].method != HOOK_IMPOSSIBLE && is_in_text(plans[i].address, plans[i].address + 1)) {
            check_plan(&survey.functions.functions[i], &plans[i]);
            planned++;
        }
    for (size_t i = 0; i < survey.functions.count; i++)
        check_branches(&survey.functions.functions[i]);
    CHECK(planned >= least);
    CHECK(copied >= least);
    copied = 0;
    close_library();
}

static const char *libc_path(void)
{
    static Dl_info info;

    CHECK(dladdr((void *)(uintptr_t)gnu_get_libc_version, &info) != 0);
    return info.dli_fname;
}

static void plans_for_the_c_library_hold(void)
{
    check_library(libc_path(), 2000);
}

static void plans_for_this_program_hold(void)
{
    check_library("/proc/self/exe", 200);
}

static void plans_for_a_library_in_assembly_hold(void)
{
    void *crypto = dlopen("libcrypto.so.3", RTLD_LAZY);

    if (crypto == NULL)
        return;
    check_library("libcrypto.so.3", 5000);
}

static void released_plans_can_be_made_again(void)
{
    struct hook_plan again;

    open_library(libc_path());
    for (size_t i = 0; i < survey.functions.count; i++)
        hook_planner_release(&survey.planner, &plans[i]);
    for (size_t i = 0; i < survey.functions.count; i++) {
        if (plans[i].method == HOOK_IMPOSSIBLE)
            continue;
        hook_planner_plan(&survey.planner, &survey.functions.functions[i], &again);
        CHECK_EQUAL(again.method, plans[i].method);
        CHECK_EQUAL(again.patch_at, plans[i].patch_at);
        CHECK_EQUAL(again.displaced_end, plans[i].displaced_end);
        CHECK_EQUAL(again.hop_at, plans[i].hop_at);
    }
    close_library();
}

/* Functions of any size anywhere, in order, as lists have them; with frames that may be of others. */
static void damage_list(struct random *random, struct elf_function_list *list)
{
    for (uint64_t changes = random_below(random, 20); changes > 0; changes--) {
        struct elf_function *function = &list->functions[random_below(random, list->count)];

        function->size_bytes = random_chance(random, 1, 2) ? random_below(random, 64) : random_edge(random);
        function->frame_offset = (uint32_t)random_u64(random);
        function->covered_end = random_edge(random);
        if (random_chance(random, 1, 4))
            function->name = NULL;
    }
}

static void damage_code(struct random *random, uint8_t *bytes, size_t size_bytes)
{
    for (uint64_t changes = random_below(random, size_bytes / 8); changes > 0; changes--)
        bytes[random_below(random, size_bytes)] = (uint8_t)random_u64(random);
}

/* A piece of real code with its functions; sanitizers see what is read beside it. */
static void try_piece(struct random *random, size_t first, size_t count)
{
    struct elf_function_list list = {.count = count, .capacity = count};
    struct hook_module module = survey.module;
    uint64_t start = survey.functions.functions[first].start, end = survey.functions.functions[first + count].start;
    uint8_t *bytes = malloc(end - start);
    struct hook_planner planner;
    void *memory;

    list.functions = malloc(count * sizeof(*list.functions));
    memcpy(list.functions, survey.functions.functions + first, count * sizeof(*list.functions));
    memcpy(bytes, text.bytes + (start - text.start), end - start);
    damage_code(random, bytes, end - start);
    damage_list(random, &list);
    module.spans[0] = (struct hook_span){bytes, start, end - start, true};
    module.span_count = 1;
    module.functions = &list;
    memory = calloc(1, hook_planner_memory_bytes(&module));
    CHECK_EQUAL(hook_planner_init(&planner, &module, memory), 0);
    for (size_t i = 0; i < count; i++) {
        struct hook_plan plan;

        hook_planner_plan(&planner, &list.functions[i], &plan);
        if (plan.method == HOOK_IMPOSSIBLE)
            continue;
        CHECK(plan.patch_at >= start && plan.patch_at + plan.patch_bytes <= end && plan.displaced_end <= end);
        CHECK(plan.method != HOOK_HOP || (plan.hop_at >= start && plan.hop_at + plan.hop_bytes <= end));
    }
    free(memory);
    free(bytes);
    free(list.functions);
}

static void damaged_code_does_no_harm(void)
{
    struct random random;

    open_library(libc_path());
    random_init(&random, 13);
    for (unsigned round = 0; round < DAMAGED_ROUNDS; round++) {
        size_t count = 1 + random_below(&random, 60);
        size_t first = random_below(&random, survey.functions.count - count - 1);
        const struct elf_function *functions = survey.functions.functions;

        if (is_in_text(functions[first].start, functions[first + count].start))
            try_piece(&random, first, count);
    }
    close_library();
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(plans_for_the_c_library_hold),
        CHECK_CASE(plans_for_this_program_hold),
        CHECK_CASE(plans_for_a_library_in_assembly_hold),
        CHECK_CASE(released_plans_can_be_made_again),
        CHECK_CASE(damaged_code_does_no_harm),
    };

    if (engine_host() == NULL)
        check_skip("functions of this CPU cannot be hooked yet");
    ZydisDecoderInit(&zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
