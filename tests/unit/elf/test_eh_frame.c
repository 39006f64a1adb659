/* SPDX-License-Identifier: MIT */
#include "elf/eh_frame.h"

#include "support/check.h"
#include "support/frame_sections.h"
#include "support/random.h"

#include <errno.h>

#define CODE 0x401000u

static const uint8_t program[] = {0x41, 0x0e, 16};

/* How many entries there are; the last result in *result_out. */
static size_t count_entries(const struct eh_frame *frame, int *result_out)
{
    struct eh_frame_entry entry;
    size_t offset = 0, count = 0;

    while ((*result_out = eh_frame_next(frame, &offset, &entry)) == 1) {
        CHECK(offset <= frame->size_bytes);
        CHECK(entry.end > entry.start);
        CHECK(entry.program.start <= entry.program.end && entry.common_program.start <= entry.common_program.end);
        count++;
    }
    return count;
}

static size_t count_good(const struct made_section *section)
{
    struct eh_frame frame = made_section_frame(section);
    int result;
    size_t count = count_entries(&frame, &result);

    CHECK_EQUAL(result, 0);
    return count;
}

static void entries_are_read_with_their_common_part(void)
{
    struct made_section section = {.address = 0x500000};
    struct eh_frame_entry entry;
    struct eh_frame frame;
    size_t common = made_section_add_usual(&section), offset = 0;

    made_section_add_entry(&section, common, CODE, 0x20, program, sizeof(program));
    made_section_add_entry(&section, common, CODE + 0x20, 0x10, program, 0);
    frame = made_section_frame(&section);
    CHECK_EQUAL(eh_frame_next(&frame, &offset, &entry), 1);
    CHECK_EQUAL(entry.start, CODE);
    CHECK_EQUAL(entry.end, CODE + 0x20);
    CHECK_EQUAL(entry.code_alignment, 1);
    CHECK_EQUAL(entry.data_alignment, -8);
    CHECK_EQUAL(entry.return_register, 16);
    CHECK(!entry.is_signal_frame);
    CHECK_EQUAL(entry.program.end - entry.program.start, sizeof(program));
    CHECK(memcmp(entry.program.start, program, sizeof(program)) == 0);
    CHECK_EQUAL(entry.common_program.end - entry.common_program.start, 5);
    CHECK_EQUAL(eh_frame_next(&frame, &offset, &entry), 1);
    CHECK_EQUAL(entry.start, CODE + 0x20);
    CHECK_EQUAL(entry.end, CODE + 0x30);
    CHECK_EQUAL(eh_frame_next(&frame, &offset, &entry), 0);
}

static void letters_say_what_else_there_is(void)
{
    /* A personality routine (4 bytes), where exception tables are, pointers, a signal frame. */
    static const uint8_t data[] = {0x9b, 1, 2, 3, 4, 0x1b, 0x1b};
    struct made_section section = {.address = 0x500000};
    struct eh_frame frame;
    struct eh_frame_entry entry;
    size_t offset = 0, common = made_section_add_common(&section, "zPLRS", data, sizeof(data));

    made_section_add_entry(&section, common, CODE, 0x20, program, sizeof(program));
    frame = made_section_frame(&section);
    CHECK_EQUAL(eh_frame_next(&frame, &offset, &entry), 1);
    CHECK(entry.is_signal_frame);
    CHECK_EQUAL(entry.start, CODE);
}

static void pointers_may_be_absolute(void)
{
    struct made_section section = {.address = 0x500000};
    struct eh_frame frame;
    struct eh_frame_entry entry;
    size_t offset = 0, common = made_section_add_common(&section, "", NULL, 0);

    made_section_put_number(&section, 4 + 16 + sizeof(program), 4);
    made_section_put_number(&section, section.size_bytes - common, 4);
    made_section_put_number(&section, CODE, 8);
    made_section_put_number(&section, 0x40, 8);
    made_section_put(&section, program, sizeof(program));
    frame = made_section_frame(&section);
    CHECK_EQUAL(eh_frame_next(&frame, &offset, &entry), 1);
    CHECK_EQUAL(entry.start, CODE);
    CHECK_EQUAL(entry.end, CODE + 0x40);
    CHECK_EQUAL(entry.program.end - entry.program.start, sizeof(program));
}

static void records_may_have_a_long_length(void)
{
    struct made_section section = {.address = 0x500000};
    size_t common = made_section_add_usual(&section);

    made_section_put_number(&section, UINT32_MAX, 4);
    made_section_put_number(&section, 13, 8);
    made_section_put_number(&section, section.size_bytes - common, 4);
    made_section_put_number(&section, CODE - (section.address + section.size_bytes), 4);
    made_section_put_number(&section, 0x10, 4);
    made_section_put_number(&section, 0, 1);
    made_section_add_entry(&section, common, CODE + 0x10, 0x10, program, sizeof(program));
    CHECK_EQUAL(count_good(&section), 2);
}

static void nothing_is_read_behind_the_end_mark(void)
{
    struct made_section section = {.address = 0x500000};
    size_t common = made_section_add_usual(&section);

    made_section_add_entry(&section, common, CODE, 0x20, program, sizeof(program));
    made_section_put_number(&section, 0, 4);
    made_section_add_entry(&section, common, CODE + 0x20, 0x20, program, sizeof(program));
    CHECK_EQUAL(count_good(&section), 1);
}

static void what_is_not_known_is_left_out(void)
{
    static const uint8_t indirect = 0x9b, of_data = 0x3b, usual = 0x1b;
    struct made_section section = {.address = 0x500000};
    size_t good = made_section_add_usual(&section), entry;

    made_section_add_entry(&section, made_section_add_common(&section, "zR", &indirect, 1), CODE, 4, program, 3);
    made_section_add_entry(&section, made_section_add_common(&section, "zR", &of_data, 1), CODE, 4, program, 3);
    made_section_add_entry(&section, made_section_add_common(&section, "eh", &usual, 1), CODE, 4, program, 3);
    CHECK_EQUAL(count_good(&section), 0);
    entry = section.size_bytes;
    made_section_add_entry(&section, good, CODE, 4, program, 3);
    CHECK_EQUAL(count_good(&section), 1);
    /* Of no length; with something that is no common part; with one before the section. */
    made_section_add_entry(&section, good, CODE, 0, program, 3);
    made_section_add_entry(&section, entry, CODE, 4, program, 3);
    made_section_add_entry(&section, (size_t)-400, CODE, 4, program, 3);
    CHECK_EQUAL(count_good(&section), 1);
}

static void huge_common_parts_are_left_out(void)
{
    static const uint8_t nothing[1100];
    struct made_section section = {.address = 0x500000};
    size_t common = made_section_add_usual(&section);
    uint32_t length;

    made_section_put(&section, nothing, sizeof(nothing));
    memcpy(&length, section.bytes + common, 4);
    length += sizeof(nothing);
    memcpy(section.bytes + common, &length, 4);
    made_section_add_entry(&section, common, CODE, 4, program, 3);
    CHECK_EQUAL(count_good(&section), 0);
}

static void a_section_that_is_cut_off_is_an_error(void)
{
    struct made_section section = {.address = 0x500000};
    struct eh_frame frame;
    size_t common = made_section_add_usual(&section), first;
    int result;

    made_section_add_entry(&section, common, CODE, 0x20, program, sizeof(program));
    first = section.size_bytes;
    made_section_add_entry(&section, common, CODE + 0x20, 0x20, program, sizeof(program));
    for (size_t size_bytes = 0; size_bytes < section.size_bytes; size_bytes++) {
        frame = (struct eh_frame){section.bytes, size_bytes, section.address};
        CHECK_EQUAL(count_entries(&frame, &result), size_bytes >= first ? 1 : 0);
        CHECK_EQUAL(result, size_bytes == 0 || size_bytes == common + 4 + section.bytes[common] || size_bytes == first
                                ? 0
                                : -EPROTO);
    }
}

static void the_end_is_found_with_bytes_that_come_piece_by_piece(void)
{
    struct made_section section = {.address = 0x500000};
    size_t common = made_section_add_usual(&section), offset = 0, end;

    for (unsigned i = 0; i < 20; i++)
        made_section_add_entry(&section, common, CODE + 16 * i, 16, program, sizeof(program));
    end = section.size_bytes;
    made_section_put_number(&section, 0, 4);
    made_section_put_number(&section, 0x12345678, 8);
    for (size_t size_bytes = 0; size_bytes <= section.size_bytes; size_bytes += 5) {
        struct eh_frame frame = {section.bytes, size_bytes, section.address};

        CHECK_EQUAL(eh_frame_has_end(&frame, &offset), size_bytes >= end + 4);
        CHECK(offset <= end);
    }
    CHECK_EQUAL(offset, end);
}

static void the_header_leads_to_the_section(void)
{
    uint8_t bytes[8] = {1, 0x1b, 0x03, 0x3b, 0x34, 0x12, 0, 0};
    struct eh_frame header = {bytes, sizeof(bytes), 0x1000};
    uint64_t address = 0;

    CHECK_EQUAL(eh_frame_find(&header, &address), 0);
    CHECK_EQUAL(address, 0x1004 + 0x1234);
    bytes[0] = 2;
    CHECK_EQUAL(eh_frame_find(&header, &address), -EPROTO);
    bytes[0] = 1;
    bytes[1] = 0xff;
    CHECK_EQUAL(eh_frame_find(&header, &address), -EPROTO);
    bytes[1] = 0x1b;
    header.size_bytes = 7;
    CHECK_EQUAL(eh_frame_find(&header, &address), -EPROTO);
    header.size_bytes = 0;
    CHECK_EQUAL(eh_frame_find(&header, &address), -EPROTO);
}

/* The linker counted them for its table: version, three encodings, where the section is, how many. */
static void real_sections_have_as_many_entries_as_the_linker_says(void)
{
    static struct loaded_frames frames[LOADED_FRAMES_MAX];
    size_t count = loaded_frames_list(frames), compared = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t expected;
        int result;

        if (frames[i].header.bytes[2] != 0x03)
            continue;
        memcpy(&expected, frames[i].header.bytes + 8, sizeof(expected));
        CHECK_EQUAL(count_entries(&frames[i].frame, &result), expected);
        CHECK_EQUAL(result, 0);
        compared++;
    }
    CHECK(compared >= 3);
}

static void damaged_sections_do_no_harm(void)
{
    struct loaded_frames libc = loaded_frames_of("libc.so");
    size_t size_bytes = libc.frame.size_bytes < 40000 ? libc.frame.size_bytes : 40000;
    uint8_t *copy = malloc(size_bytes);
    struct random random;
    size_t found = 0;

    random_init(&random, 5);
    for (unsigned round = 0; round < 300; round++) {
        struct eh_frame frame = {copy, size_bytes - random_below(&random, 100), libc.frame.address};
        int result;

        if (round % 10 == 0)
            random_fill(&random, copy, size_bytes);
        else
            memcpy(copy, libc.frame.bytes, size_bytes);
        for (unsigned i = 0; i < 1 + round % 20; i++)
            copy[random_below(&random, size_bytes)] = (uint8_t)random_u64(&random);
        found += count_entries(&frame, &result);
        CHECK(result == 0 || result == -EPROTO);
    }
    CHECK(found > 1000);
    free(copy);
}

static const struct check_case cases[] = {
    CHECK_CASE(entries_are_read_with_their_common_part),
    CHECK_CASE(letters_say_what_else_there_is),
    CHECK_CASE(pointers_may_be_absolute),
    CHECK_CASE(records_may_have_a_long_length),
    CHECK_CASE(nothing_is_read_behind_the_end_mark),
    CHECK_CASE(what_is_not_known_is_left_out),
    CHECK_CASE(huge_common_parts_are_left_out),
    CHECK_CASE(a_section_that_is_cut_off_is_an_error),
    CHECK_CASE(the_end_is_found_with_bytes_that_come_piece_by_piece),
    CHECK_CASE(the_header_leads_to_the_section),
    CHECK_CASE(real_sections_have_as_many_entries_as_the_linker_says),
    CHECK_CASE(damaged_sections_do_no_harm),
};

CHECK_MAIN(cases)
