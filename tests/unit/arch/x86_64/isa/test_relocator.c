/* SPDX-License-Identifier: MIT */
/* Runs as a whole: their ends, their limits, and what the relocator leaves alone. */
#include "arch/x86_64/isa/relocator.h"

#include "support/check.h"
#include "support/relocation_case.h"

#include <asm/errno.h>

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))

#define MAX_COPY_BYTES 2048
#define MARGIN_BYTES   64
#define MARGIN         0xa5

static struct relocation_lab lab;

/* Codes that together take every way through the relocator. */
static const char *const samples[] = {
    "90",
    "c3",
    "48 03 0d @8",                                              /* add rcx, [rip] */
    "48 03 25 @8; 48 ff c1",                                    /* add rsp, [rip] */
    "ff 35 @8; 8f 05 @18",                                      /* push [rip]; pop [rip] */
    "8b 05 @8; 48 8d 0d @8",                                    /* mov eax, [rip]; lea rcx, [rip] */
    "e2 03; 48 ff c1; e3 fb",                                   /* loop and jrcxz, in the run */
    "67 f3 e1 20",                                              /* loope, out of it */
    "eb 03; 48 ff c1; 72 fb; 0f 84 00 01 00 00",                /* jumps in the run and out of it */
    "e9 00 01 00 00; 0f 85 fb 00 00 00; 74 01; b8 48 ff c1 90", /* and into the middle of an instruction */
    "e8 00 00 00 00; 58; e8 f9 ff ff ff; e8 00 01 00 00",       /* calls */
    "ff d0; ff d4; ff 15 @8; ff 54 24 08; ff 54 c8 08",         /* calls through registers and memory */
    "ff 25 @8",                                                 /* jmp [rip] */
    "0f 05; cc; 0f 0b",                                         /* syscall; int3; ud2 */
    "c7 f8 00 01 00 00; c7 f8 00 00 00 00; 0f 01 d5",           /* xbegin, xend */
};

/* What is made with which room. */
struct attempt {
    size_t before; /* bytes of other code that the writer already holds */
    size_t room;
    uint32_t points, fixups;
};

static const struct attempt plenty = {0, MAX_COPY_BYTES, RELOCATION_LAB_POINTS, RELOCATION_LAB_FIXUPS};

static uint8_t memory[MARGIN_BYTES + MAX_COPY_BYTES + MARGIN_BYTES];
static struct x86_relocation_map map;
static size_t copy_size;
static uint32_t fixup_count;

static void check_margins(const struct attempt *attempt)
{
    for (size_t i = 0; i < MARGIN_BYTES + attempt->before; i++)
        CHECK_EQUAL(memory[i], MARGIN);
    for (size_t i = MARGIN_BYTES + attempt->before + attempt->room; i < sizeof(memory); i++)
        CHECK_EQUAL(memory[i], MARGIN);
}

/* Relocates instruction by instruction, so that all of the relocator can be looked at. */
static int put_all(struct x86_relocator *relocator, const struct relocation_code *code, struct app_pc pc)
{
    struct x86_insn insn;

    for (size_t offset = 0; offset < code->run_size; offset += insn.length) {
        CHECK_EQUAL(x86_decode(code->bytes + offset, code->run_size - offset, app_pc_of(pc.value + offset), 0, &insn),
                    0);
        x86_relocator_put(relocator, &insn, code->bytes + offset);
    }
    return x86_relocator_end(relocator);
}

static int relocate(const char *text, const struct relocation_setup *setup, const struct attempt *attempt)
{
    struct app_pc pc = {relocation_lab_code_pc(&lab)};
    struct x86_relocator_options options = setup->options;
    struct x86_relocator relocator;
    struct relocation_code code;
    struct code_writer writer;
    struct x86_relocator_storage storage = {&writer, &map, lab.fixups, attempt->fixups};
    int result;

    CHECK(relocation_code_read(&lab, text, &code));
    options.decode_options = 0;
    options.segment = X86_GS;
    options.slots[1] = 8;
    memset(memory, MARGIN, sizeof(memory));
    code_writer_init(&writer, memory + MARGIN_BYTES, attempt->before + attempt->room,
                     cache_pc_of(pc.value + (setup->is_far ? 1ull << 40 : 1 << 20)));
    CHECK(code_writer_claim(&writer, attempt->before) != NULL);
    x86_relocation_map_init(&map, lab.points, attempt->points);
    x86_relocator_begin(&relocator, &options, &storage, pc, code.run_size);
    result = put_all(&relocator, &code, pc);
    copy_size = code_writer_offset(&writer) - attempt->before;
    fixup_count = relocator.fixup_count;
    check_margins(attempt);
    return result;
}

static void for_each_sample(void (*callback)(void *context, const struct relocation_setup *setup))
{
    for (size_t i = 0; i < COUNT(samples); i++)
        relocation_setup_for_each(callback, (void *)samples[i]);
}

/* ---- limits ---------------------------------------------------------------------------------------------------------
 */

static void shrink_room(void *text, const struct relocation_setup *setup)
{
    struct attempt attempt = plenty;
    size_t needed;

    CHECK_EQUAL(relocate(text, setup, &plenty), 0);
    needed = copy_size;
    attempt.room = needed;
    CHECK_EQUAL(relocate(text, setup, &attempt), 0);
    for (attempt.room = 0; attempt.room < needed; attempt.room++)
        CHECK_EQUAL(relocate(text, setup, &attempt), -ENOSPC);
}

static void a_writer_that_is_too_small_is_never_exceeded(void)
{
    for_each_sample(shrink_room);
}

static void shrink_room_behind_code(void *text, const struct relocation_setup *setup)
{
    struct attempt attempt = plenty;
    size_t needed;

    attempt.before = 100;
    attempt.room -= attempt.before;
    CHECK_EQUAL(relocate(text, setup, &attempt), 0);
    CHECK_EQUAL(map.cache_start.value & 0xfff, (relocation_lab_code_pc(&lab) + attempt.before) & 0xfff);
    CHECK_EQUAL(map.cache_size, copy_size);
    needed = copy_size;
    for (attempt.room = 0; attempt.room < needed; attempt.room++)
        CHECK_EQUAL(relocate(text, setup, &attempt), -ENOSPC);
}

static void code_in_front_of_the_copy_is_left_alone(void)
{
    for_each_sample(shrink_room_behind_code);
}

static void shrink_storage(void *text, const struct relocation_setup *setup)
{
    struct attempt attempt = plenty;
    uint32_t points, fixups;

    CHECK_EQUAL(relocate(text, setup, &plenty), 0);
    points = map.count;
    fixups = fixup_count;
    attempt.points = points;
    attempt.fixups = fixups;
    CHECK_EQUAL(relocate(text, setup, &attempt), 0);
    for (attempt.points = 0; attempt.points < points; attempt.points++)
        CHECK_EQUAL(relocate(text, setup, &attempt), -E2BIG);
    attempt.points = points;
    for (attempt.fixups = 0; attempt.fixups < fixups; attempt.fixups++)
        CHECK_EQUAL(relocate(text, setup, &attempt), -E2BIG);
}

static void too_few_points_or_fixups_are_reported(void)
{
    for_each_sample(shrink_storage);
}

static void a_failed_copy_has_no_places(void)
{
    struct relocation_setup setup = {.is_far = true};
    struct attempt attempt = plenty;

    attempt.room = 4;
    CHECK_EQUAL(relocate("90; 90; 90", &setup, &attempt), -ENOSPC);
    CHECK(x86_relocation_map_find(&map, map.cache_start) == NULL);
}

/* ---- ends -----------------------------------------------------------------------------------------------------------
 */

static int relocate_bytes(const char *text, size_t size)
{
    struct relocation_setup setup = {.is_far = true};
    struct relocation_code code;

    CHECK(relocation_code_read(&lab, text, &code));
    relocation_lab_place(&lab, code.bytes, code.size);
    return relocation_lab_copy(&lab, &setup, size);
}

static void an_empty_run_goes_to_the_original(void)
{
    static const struct relocation_case nothing = {"nothing", "| 48 ff c1", 0};
    struct cache_pc pc;

    CHECK_EQUAL(relocation_case_try(&lab, &nothing), 0);
    CHECK_EQUAL(relocate_bytes("48 ff c1", 0), 0);
    CHECK_EQUAL(x86_relocation_map_start(&lab.map, app_pc_of(relocation_lab_code_pc(&lab)), &pc), -ENOENT);
}

static void a_run_that_ends_in_an_instruction_is_no_run(void)
{
    CHECK_EQUAL(relocate_bytes("48 ff c1; 48 03 0d @8", 10), 0);
    for (size_t size = 4; size < 10; size++)
        CHECK_EQUAL(relocate_bytes("48 ff c1; 48 03 0d @8", size), -ENODATA);
}

static void bytes_that_are_no_instruction_are_reported(void)
{
    CHECK_EQUAL(relocate_bytes("48 ff c1; 06 00 00", 6), -EILSEQ);
    CHECK_EQUAL(relocate_bytes("06; 48 ff c1", 4), -EILSEQ);
}

static void only_what_falls_through_goes_on_behind_the_run(void)
{
    static const struct {
        const char *text;
        size_t size; /* of the copy, near the original */
    } ends[] = {
        {"90", 1 + 5}, {"c3", 1},    {"c2 08 00", 3},  {"ff e0", 2},
        {"cc", 1 + 5}, {"eb 20", 5}, {"0f 0b", 2 + 5}, {"cf", 1},
    };
    struct relocation_setup setup = {.is_far = false};

    for (size_t i = 0; i < COUNT(ends); i++) {
        CHECK_EQUAL(relocate(ends[i].text, &setup, &plenty), 0);
        CHECK_EQUAL(copy_size, ends[i].size);
    }
}

/* ---- the map --------------------------------------------------------------------------------------------------------
 */

static void check_starts(void *context, const struct relocation_setup *setup)
{
    uint64_t pc = relocation_lab_code_pc(&lab);
    struct relocation_code code;
    struct x86_insn insn = {0};
    size_t next = 0;

    CHECK(relocation_code_read(&lab, context, &code));
    CHECK_EQUAL(relocate(context, setup, &plenty), 0);
    for (size_t offset = 0; offset < code.run_size; offset++) {
        struct cache_pc place = {0};
        const struct x86_relocation_point *point;

        if (offset != next) {
            CHECK_EQUAL(x86_relocation_map_start(&map, app_pc_of(pc + offset), &place), -ENOENT);
            continue;
        }
        CHECK_EQUAL(x86_relocation_map_start(&map, app_pc_of(pc + offset), &place), 0);
        point = x86_relocation_map_find(&map, place);
        CHECK(point != NULL && point->app_pc.value == pc + offset);
        CHECK_EQUAL(x86_decode(code.bytes + offset, code.run_size - offset, app_pc_of(0), 0, &insn), 0);
        next += insn.length;
    }
}

static void every_instruction_has_its_place_in_the_copy(void)
{
    for_each_sample(check_starts);
}

static void check_bounds(void *context, const struct relocation_setup *setup)
{
    CHECK_EQUAL(relocate(context, setup, &plenty), 0);
    CHECK_EQUAL(map.cache_size, copy_size);
    for (size_t offset = 0; offset < copy_size; offset++)
        CHECK(x86_relocation_map_find(&map, cache_pc_of(map.cache_start.value + offset)) != NULL);
    CHECK(x86_relocation_map_find(&map, cache_pc_of(map.cache_start.value + copy_size)) == NULL);
    CHECK(x86_relocation_map_find(&map, cache_pc_of(map.cache_start.value - 1)) == NULL);
}

static void no_place_outside_of_the_copy_is_known(void)
{
    for_each_sample(check_bounds);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_writer_that_is_too_small_is_never_exceeded),
    CHECK_CASE(code_in_front_of_the_copy_is_left_alone),
    CHECK_CASE(too_few_points_or_fixups_are_reported),
    CHECK_CASE(a_failed_copy_has_no_places),
    CHECK_CASE(an_empty_run_goes_to_the_original),
    CHECK_CASE(a_run_that_ends_in_an_instruction_is_no_run),
    CHECK_CASE(bytes_that_are_no_instruction_are_reported),
    CHECK_CASE(only_what_falls_through_goes_on_behind_the_run),
    CHECK_CASE(every_instruction_has_its_place_in_the_copy),
    CHECK_CASE(no_place_outside_of_the_copy_is_known),
};

int main(void)
{
    return relocation_lab_ready(&lab) ? check_run(cases, COUNT(cases)) : 1;
}
