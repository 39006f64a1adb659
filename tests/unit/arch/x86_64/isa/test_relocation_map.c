/* SPDX-License-Identifier: MIT */
/* Places and registers are found back from a copy, and only from the copy. */
#include "arch/x86_64/isa/relocation_map.h"

#include "support/check.h"
#include "support/relocation_run.h"

#include <asm/errno.h>

#define APP     0x400000
#define CACHE   0x7f0000001000
#define SIZE    30

#define NOTHING .saved = {{X86_GPR_NONE, 0}, {X86_GPR_NONE, 0}}, .sp_from = X86_GPR_NONE

static struct x86_relocation_point points[] = {
    {{APP}, 0, {NOTHING, .is_start = 1}},
    {{APP + 4}, 4, {NOTHING, .is_start = 1}},
    {{APP + 4}, 8, {NOTHING, .sp_add = 128}},
    {{APP + 4}, 9, {.saved = {{X86_RCX, 0}, {X86_RDI, 8}}, .sp_from = X86_GPR_NONE, .sp_add = 144}},
    {{APP + 9}, 19, {.saved = {{X86_RAX, 8}, {X86_RBX, 0}}, .sp_from = X86_RBX}},
    {{APP + 9}, 22, {.saved = {{X86_RAX, 8}, {X86_RSP, 0}}, .sp_from = X86_GPR_NONE}},
    {{APP + 9}, 24, {NOTHING, .is_rcx_next = 1}},
    {{APP + 9}, 26, {NOTHING, .is_start = 1}},
};

#define COUNT (sizeof(points) / sizeof(points[0]))

static const struct x86_relocation_map map = {
    .points = points,
    .count = COUNT,
    .capacity = COUNT,
    .cache_start = {CACHE},
    .cache_size = SIZE,
};

static const struct relocation_spill_memory on_the_stack;

static void fill(uint64_t gpr[X86_GPR_COUNT])
{
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        gpr[i] = 0x1111111100000000 + i;
}

/* Checks all registers but those in the set. */
static void check_unchanged(const uint64_t gpr[X86_GPR_COUNT], x86_gpr_set but)
{
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        if (!(but & X86_GPR_BIT(i)))
            CHECK_EQUAL(gpr[i], 0x1111111100000000 + i);
}

static void a_new_map_is_empty(void)
{
    struct x86_relocation_point storage[1];
    struct x86_relocation_map empty;
    struct cache_pc pc = {7};

    x86_relocation_map_init(&empty, storage, 1);
    CHECK_EQUAL(empty.count, 0);
    CHECK_EQUAL(empty.capacity, 1);
    CHECK(x86_relocation_map_find(&empty, cache_pc_of(0)) == NULL);
    CHECK_EQUAL(x86_relocation_map_start(&empty, app_pc_of(APP), &pc), -ENOENT);
    CHECK_EQUAL(pc.value, 7);
}

static void every_place_of_the_copy_has_its_point(void)
{
    for (uint64_t offset = 0; offset < SIZE; offset++) {
        const struct x86_relocation_point *point = x86_relocation_map_find(&map, cache_pc_of(CACHE + offset));
        size_t expected = COUNT - 1;

        while (points[expected].cache_offset > offset)
            expected--;
        CHECK(point == &points[expected]);
    }
}

static void no_place_outside_of_the_copy_has_a_point(void)
{
    static const uint64_t outside[] = {0,    1, APP, CACHE - 0x100000000, CACHE - 1, CACHE + SIZE, CACHE + 0x100000000,
                                       -1ull};
    uint64_t gpr[X86_GPR_COUNT];

    fill(gpr);
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        struct app_pc pc = {7};

        CHECK(x86_relocation_map_find(&map, cache_pc_of(outside[i])) == NULL);
        CHECK_EQUAL(relocation_run_recover(&map, &on_the_stack, cache_pc_of(outside[i]), gpr, &pc), -ENOENT);
        CHECK_EQUAL(pc.value, 7);
        check_unchanged(gpr, 0);
    }
}

static void an_unfinished_copy_has_no_places(void)
{
    struct x86_relocation_map unfinished = map;

    unfinished.cache_size = 0;
    CHECK(x86_relocation_map_find(&unfinished, cache_pc_of(CACHE)) == NULL);
}

static void copies_of_instructions_are_found_by_their_start(void)
{
    static const struct {
        uint64_t app_pc, offset;
    } starts[] = {{APP, 0}, {APP + 4, 4}, {APP + 9, 26}};

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        struct cache_pc pc = {7};

        CHECK_EQUAL(x86_relocation_map_start(&map, app_pc_of(starts[i].app_pc), &pc), 0);
        CHECK_EQUAL(pc.value, CACHE + starts[i].offset);
    }
}

static void addresses_at_which_no_copy_starts_are_unknown(void)
{
    static const uint64_t unknown[] = {0, APP - 1, APP + 1, APP + 5, APP + 10, CACHE, -1ull};

    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        struct cache_pc pc = {7};

        CHECK_EQUAL(x86_relocation_map_start(&map, app_pc_of(unknown[i]), &pc), -ENOENT);
        CHECK_EQUAL(pc.value, 7);
    }
}

static void nothing_is_undone_where_an_instruction_starts(void)
{
    uint64_t gpr[X86_GPR_COUNT];
    struct app_pc pc;

    fill(gpr);
    CHECK_EQUAL(relocation_run_recover(&map, &on_the_stack, cache_pc_of(CACHE + 5), gpr, &pc), 0);
    CHECK_EQUAL(pc.value, APP + 4);
    check_unchanged(gpr, 0);
}

static void rsp_is_moved_back(void)
{
    uint64_t gpr[X86_GPR_COUNT];
    struct app_pc pc;

    fill(gpr);
    CHECK_EQUAL(relocation_run_recover(&map, &on_the_stack, cache_pc_of(CACHE + 8), gpr, &pc), 0);
    CHECK_EQUAL(pc.value, APP + 4);
    CHECK_EQUAL(gpr[X86_RSP], 0x1111111100000000 + X86_RSP + 128);
    check_unchanged(gpr, X86_GPR_BIT(X86_RSP));
}

static void saved_registers_are_read_from_the_stack(void)
{
    uint64_t stack[2] = {0xc0ffee, 0xd1ce}, gpr[X86_GPR_COUNT];
    struct app_pc pc;

    fill(gpr);
    gpr[X86_RSP] = (uint64_t)stack;
    CHECK_EQUAL(relocation_run_recover(&map, &on_the_stack, cache_pc_of(CACHE + 9), gpr, &pc), 0);
    CHECK_EQUAL(gpr[X86_RCX], 0xc0ffee);
    CHECK_EQUAL(gpr[X86_RDI], 0xd1ce);
    CHECK_EQUAL(gpr[X86_RSP], (uint64_t)stack + 144);
    check_unchanged(gpr, X86_GPR_BIT(X86_RCX) | X86_GPR_BIT(X86_RDI) | X86_GPR_BIT(X86_RSP));
}

static void rsp_need_not_be_aligned(void)
{
    uint8_t stack[24] = {0, 0, 0, 0xee, 0xff, 0xc0};
    uint64_t gpr[X86_GPR_COUNT];
    struct app_pc pc;

    fill(gpr);
    gpr[X86_RSP] = (uint64_t)stack + 3;
    CHECK_EQUAL(relocation_run_recover(&map, &on_the_stack, cache_pc_of(CACHE + 9), gpr, &pc), 0);
    CHECK_EQUAL(gpr[X86_RCX], 0xc0ffee);
    CHECK_EQUAL(gpr[X86_RDI], 0);
}

static void saved_registers_are_read_from_slots(void)
{
    uint64_t slots[4] = {1, 0xc0ffee, 3, 0xd1ce}, gpr[X86_GPR_COUNT];
    struct x86_relocation_point point = {{APP}, 0, {.saved = {{X86_RCX, 0}, {X86_RDI, 1}}, .sp_from = X86_GPR_NONE}};
    struct x86_relocation_map small = {&point, 1, 1, {CACHE}, 1};
    struct relocation_spill_memory memory = {.is_segment = true, .thread_base = (uint64_t)&slots[2], .slots = {-8, 8}};
    struct app_pc pc;

    fill(gpr);
    CHECK_EQUAL(relocation_run_recover(&small, &memory, cache_pc_of(CACHE), gpr, &pc), 0);
    CHECK_EQUAL(gpr[X86_RCX], 0xc0ffee);
    CHECK_EQUAL(gpr[X86_RDI], 0xd1ce);
    check_unchanged(gpr, X86_GPR_BIT(X86_RCX) | X86_GPR_BIT(X86_RDI));
}

static void rsp_is_taken_from_the_register_that_holds_it(void)
{
    uint64_t stack[2] = {0xb, 0xa}, gpr[X86_GPR_COUNT];
    struct app_pc pc;

    fill(gpr);
    gpr[X86_RSP] = (uint64_t)stack;
    gpr[X86_RBX] = 0x5555;
    CHECK_EQUAL(relocation_run_recover(&map, &on_the_stack, cache_pc_of(CACHE + 19), gpr, &pc), 0);
    CHECK_EQUAL(pc.value, APP + 9);
    CHECK_EQUAL(gpr[X86_RSP], 0x5555);
    CHECK_EQUAL(gpr[X86_RAX], 0xa);
    CHECK_EQUAL(gpr[X86_RBX], 0xb);
}

static void rsp_itself_can_be_saved(void)
{
    uint64_t stack[2] = {0x5555, 0xa}, gpr[X86_GPR_COUNT];
    struct app_pc pc;

    fill(gpr);
    gpr[X86_RSP] = (uint64_t)stack;
    CHECK_EQUAL(relocation_run_recover(&map, &on_the_stack, cache_pc_of(CACHE + 22), gpr, &pc), 0);
    CHECK_EQUAL(gpr[X86_RSP], 0x5555);
    CHECK_EQUAL(gpr[X86_RAX], 0xa);
    check_unchanged(gpr, X86_GPR_BIT(X86_RSP) | X86_GPR_BIT(X86_RAX));
}

static void rcx_is_the_address_behind_a_system_call(void)
{
    uint64_t gpr[X86_GPR_COUNT];
    struct app_pc pc;

    fill(gpr);
    CHECK_EQUAL(relocation_run_recover(&map, &on_the_stack, cache_pc_of(CACHE + 25), gpr, &pc), 0);
    CHECK_EQUAL(pc.value, APP + 9);
    CHECK_EQUAL(gpr[X86_RCX], APP + 9);
    check_unchanged(gpr, X86_GPR_BIT(X86_RCX));
}

static const struct check_case cases[] = {
    CHECK_CASE(a_new_map_is_empty),
    CHECK_CASE(every_place_of_the_copy_has_its_point),
    CHECK_CASE(no_place_outside_of_the_copy_has_a_point),
    CHECK_CASE(an_unfinished_copy_has_no_places),
    CHECK_CASE(copies_of_instructions_are_found_by_their_start),
    CHECK_CASE(addresses_at_which_no_copy_starts_are_unknown),
    CHECK_CASE(nothing_is_undone_where_an_instruction_starts),
    CHECK_CASE(rsp_is_moved_back),
    CHECK_CASE(saved_registers_are_read_from_the_stack),
    CHECK_CASE(rsp_need_not_be_aligned),
    CHECK_CASE(saved_registers_are_read_from_slots),
    CHECK_CASE(rsp_is_taken_from_the_register_that_holds_it),
    CHECK_CASE(rsp_itself_can_be_saved),
    CHECK_CASE(rcx_is_the_address_behind_a_system_call),
};

CHECK_MAIN(cases)
