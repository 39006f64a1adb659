/* SPDX-License-Identifier: MIT */
/* The laboratory finds good copies equal and damaged ones different: it can fail. */
#include "support/check.h"
#include "support/random.h"
#include "support/relocation_case.h"

#include <asm/errno.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct relocation_lab lab;
static struct relocation_setup setup;
static char report[512];

/* Code with a bit of everything: an operand out of reach, flags, the stack, a branch. */
static const char sample[] = "48 03 0d @8; 72 03; 48 ff c2; 52; 48 8d 64 24 08; 89 15 @20";

static void copy_far(const char *text, enum x86_spill spill)
{
    struct random random;

    random_init(&random, 1);
    setup = (struct relocation_setup){.is_far = true, .options.spill = spill};
    CHECK_EQUAL(relocation_code_copy(&lab, &setup, text), 0);
    relocation_lab_randomize(&lab, &random, &setup.initial);
}

static enum relocation_verdict compare(void)
{
    return relocation_lab_compare(&lab, &setup, report, sizeof(report));
}

static enum relocation_verdict compare_steps(void)
{
    return relocation_lab_compare_steps(&lab, &setup, report, sizeof(report));
}

/* Changes the copy, as a relocator with a mistake in it would have written it. */
static void damage(size_t offset, uint8_t flipped)
{
    lab.far.base[offset] ^= flipped;
    arena_image_capture(&lab.far_image, &lab.far);
}

/* Where in the copy an instruction with this name begins. */
static size_t offset_of(unsigned mnemonic)
{
    struct x86_insn insn = {0};

    CHECK(relocation_copy_find(&lab, mnemonic, &insn));
    return insn.pc.value - (uint64_t)lab.far.base;
}

static void a_good_copy_is_equal(void)
{
    copy_far(sample, X86_SPILL_SEGMENT);
    CHECK_EQUAL(compare(), RELOCATION_EQUAL);
    CHECK_EQUAL(compare_steps(), RELOCATION_EQUAL);
    copy_far(sample, X86_SPILL_STACK);
    CHECK_EQUAL(compare(), RELOCATION_EQUAL);
    CHECK_EQUAL(compare_steps(), RELOCATION_EQUAL);
}

static void another_register_is_different(void)
{
    copy_far("48 ff c2", X86_SPILL_SEGMENT);
    damage(offset_of(X86_MNEMONIC_inc) + 2, 1);
    CHECK_EQUAL(compare(), RELOCATION_DIFFERENT);
    CHECK_EQUAL(compare_steps(), RELOCATION_DIFFERENT);
}

static void another_flag_is_different(void)
{
    copy_far("f8", X86_SPILL_SEGMENT); /* clc becomes stc */
    damage(0, 1);
    CHECK_EQUAL(compare(), RELOCATION_DIFFERENT);
    CHECK_EQUAL(compare_steps(), RELOCATION_DIFFERENT);
}

static void another_vector_register_is_different(void)
{
    copy_far("0f 28 c1", X86_SPILL_SEGMENT); /* movaps xmm0, xmm1 becomes movaps xmm0, xmm2 */
    damage(2, 3);
    CHECK_EQUAL(compare(), RELOCATION_DIFFERENT);
}

static void another_value_in_memory_is_different(void)
{
    copy_far("c6 05 @8 55", X86_SPILL_SEGMENT);
    lab.data.base[8] = 0;
    damage(offset_of(X86_MNEMONIC_mov), 0);
    for (size_t i = 0; i < lab.copy_size; i++)
        if (lab.far.base[i] == 0x55)
            damage(i, 1);
    CHECK_EQUAL(compare(), RELOCATION_DIFFERENT);
    copy_far("6a 55", X86_SPILL_SEGMENT);
    damage(1, 1);
    CHECK_EQUAL(compare(), RELOCATION_DIFFERENT);
}

static void another_end_is_different(void)
{
    copy_far("0f 0b", X86_SPILL_SEGMENT); /* ud2 becomes a system call */
    damage(1, 0x0b ^ 0xa2);
    CHECK_EQUAL(compare(), RELOCATION_DIFFERENT);
    copy_far("90; 0f 0b", X86_SPILL_SEGMENT); /* ud2 in the place of nop: the wrong pc */
    damage(0, 0x90 ^ 0x0f);
    damage(1, 0x0f ^ 0x0b);
    CHECK_EQUAL(compare(), RELOCATION_DIFFERENT);
}

/* A map with a mistake in it shows only on the way. */
static void another_way_back_is_different(void)
{
    for (unsigned i = 0; i < 4; i++) {
        bool found = false;

        copy_far("48 03 0d @8", X86_SPILL_STACK);
        for (uint32_t point = 0; point < lab.map.count && !found; point++) {
            struct x86_relocation_point *changed = &lab.points[point];

            found = changed->undo.saved[0].gpr != X86_GPR_NONE;
            if (!found)
                continue;
            switch (i) {
            case 0:
                changed->undo.sp_add += 8;
                break;
            case 1:
                changed->undo.saved[0].gpr = X86_R15;
                break;
            case 2:
                changed->undo.saved[0].place += 8;
                break;
            default:
                changed->app_pc.value++;
                break;
            }
        }
        CHECK(found);
        CHECK_EQUAL(compare(), RELOCATION_EQUAL);
        CHECK_EQUAL(compare_steps(), RELOCATION_DIFFERENT);
    }
}

static void what_never_ends_is_untold(void)
{
    copy_far("eb fe", X86_SPILL_SEGMENT);
    CHECK_EQUAL(compare(), RELOCATION_UNTOLD);
    CHECK_EQUAL(compare_steps(), RELOCATION_UNTOLD);
}

static void what_reads_below_the_red_zone_is_untold_with_spills_there(void)
{
    copy_far("48 03 0d @8; 48 8b 94 24 78 ff ff ff", X86_SPILL_STACK); /* mov rdx, [rsp-0x88] */
    CHECK_EQUAL(compare(), RELOCATION_UNTOLD);
    copy_far("48 03 0d @8; 48 8b 94 24 78 ff ff ff", X86_SPILL_SEGMENT);
    CHECK_EQUAL(compare(), RELOCATION_EQUAL);
}

static void texts_become_code(void)
{
    struct relocation_code code;
    uint64_t pc = relocation_lab_code_pc(&lab), address;
    int32_t displacement;

    CHECK(relocation_code_read(&lab, "81 3d @10 01 02 03 04; 48 b8 #8 | 48 b9 $2", &code));
    CHECK_EQUAL(code.size, 30);
    CHECK_EQUAL(code.run_size, 20);
    memcpy(&displacement, code.bytes + 2, 4);
    CHECK_EQUAL(pc + 10 + (uint64_t)(int64_t)displacement, (uint64_t)lab.data.base + 0x10);
    memcpy(&address, code.bytes + 12, 8);
    CHECK_EQUAL(address, (uint64_t)lab.data.base + 8);
    memcpy(&address, code.bytes + 22, 8);
    CHECK_EQUAL(address, pc + 2);
}

static void other_texts_are_refused(void)
{
    static const char *const texts[] = {"4", "484", "48 @", "48 zz", "#", "x"};
    struct relocation_code code;

    for (size_t i = 0; i < COUNT(texts); i++)
        CHECK(!relocation_code_read(&lab, texts[i], &code));
    CHECK_EQUAL(relocation_code_copy(&lab, &setup, "zz"), -EINVAL);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_good_copy_is_equal),
    CHECK_CASE(another_register_is_different),
    CHECK_CASE(another_flag_is_different),
    CHECK_CASE(another_vector_register_is_different),
    CHECK_CASE(another_value_in_memory_is_different),
    CHECK_CASE(another_end_is_different),
    CHECK_CASE(another_way_back_is_different),
    CHECK_CASE(what_never_ends_is_untold),
    CHECK_CASE(what_reads_below_the_red_zone_is_untold_with_spills_there),
    CHECK_CASE(texts_become_code),
    CHECK_CASE(other_texts_are_refused),
};

int main(void)
{
    return relocation_lab_ready(&lab) ? check_run(cases, COUNT(cases)) : 1;
}
