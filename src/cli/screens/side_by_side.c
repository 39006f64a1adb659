/* SPDX-License-Identifier: MIT */
/*
 * Walks the original; the copies of its instructions follow each other in the same order, so that one cursor in the
 * copy is enough. What the copy has behind them, jumps that reach far, is printed last. Stateless.
 */
#include "cli/screens/side_by_side.h"

#include "cli/screens/screen.h"
#include "gait/code_copy.h"
#include "gait/instruction.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MARK_COLUMNS     3
#define TEXT_COLUMNS_MIN 16

static int copy_of(const void *copy, uint64_t original, uint64_t *place_out)
{
    return gait_code_copy_address(copy, original, place_out);
}

static int original_of(const void *copy, uint64_t place, uint64_t *original_out)
{
    return gait_code_copy_original_address(copy, place, original_out);
}

const struct side_by_side_map side_by_side_code_copy = {copy_of, original_of};

struct sides_walk {
    struct screen *screen;
    const struct side_by_side *sides;
    struct gait_error *err;
    unsigned text_columns;    /* of each side */
    unsigned digits_original; /* of addresses */
    unsigned digits_copy;
    uint64_t copy_start;
    uint64_t copy_cursor;
};

/* One side of a row; an empty text leaves it empty. */
struct side {
    uint64_t address;
    char text[GAIT_INSTRUCTION_TEXT_BYTES + 32];
};

static const uint8_t *copy_bytes(const struct sides_walk *walk, uint64_t address)
{
    return walk->sides->copy + (address - walk->copy_start);
}

static int decode(const uint8_t *bytes, uint64_t available, uint64_t address, struct gait_instruction *instruction,
                  struct gait_error *err)
{
    instruction->size_bytes = sizeof(*instruction);
    return gait_instruction_decode(bytes, available, address, instruction, err);
}

/* Copies reach far through constants behind their code: says which one. */
static void add_constant(const struct sides_walk *walk, const struct gait_instruction *instruction, struct side *side)
{
    uint64_t offset = instruction->memory_address - walk->copy_start;
    uint64_t total = walk->sides->total_bytes, value;

    if (!(instruction->properties & GAIT_PC_RELATIVE) || offset < walk->sides->copy_bytes || offset >= total ||
        total - offset < sizeof(value))
        return;
    memcpy(&value, copy_bytes(walk, instruction->memory_address), sizeof(value));
    snprintf(side->text + strlen(side->text), sizeof(side->text) - strlen(side->text), " = 0x%" PRIx64, value);
}

static void describe(const struct sides_walk *walk, const struct gait_instruction *instruction, struct side *side_out)
{
    side_out->address = instruction->address;
    /* Too long a text is cut off, which is good enough here. */
    (void)gait_instruction_format(instruction, side_out->text, GAIT_INSTRUCTION_TEXT_BYTES, NULL);
    if (instruction->address - walk->copy_start < walk->sides->copy_bytes)
        add_constant(walk, instruction, side_out);
}

static void print_address(const struct sides_walk *walk, const struct side *side, unsigned digits)
{
    char address[24] = "";

    if (side->text[0] != '\0')
        snprintf(address, sizeof(address), "%*" PRIx64, (int)digits, side->address);
    screen_put(walk->screen, SCREEN_FAINT, digits + 2, address);
}

static void print_row(const struct sides_walk *walk, const struct side *original, const struct side *copy,
                      int is_changed)
{
    bool is_long = strlen(copy->text) > walk->text_columns;

    print_address(walk, original, walk->digits_original);
    screen_put(walk->screen, SCREEN_PLAIN, walk->text_columns, original->text);
    screen_print(walk->screen, is_changed ? " * " : "   ");
    print_address(walk, copy, walk->digits_copy);
    screen_put(walk->screen, is_changed ? SCREEN_CHANGED : SCREEN_PLAIN, is_long ? walk->text_columns : 0, copy->text);
    screen_print(walk->screen, "\n");
}

static int decode_copy(struct sides_walk *walk, struct gait_instruction *instruction_out)
{
    uint64_t size = walk->sides->copy_bytes, offset = walk->copy_cursor - walk->copy_start;

    return decode(copy_bytes(walk, walk->copy_cursor), size - offset, walk->copy_cursor, instruction_out, walk->err);
}

/*
 * Whether the place in the copy still belongs to an original instruction: the copy of the next one does not begin
 * there. Behind the last one, only what stands for that instruction does.
 */
static bool belongs_to(const struct sides_walk *walk, const struct gait_instruction *original)
{
    const struct side_by_side *sides = walk->sides;
    uint64_t next = original->address + original->length, place;

    if (walk->copy_cursor - walk->copy_start >= sides->copy_bytes)
        return false;
    if (next < sides->address + sides->size_bytes && sides->map->copy_of(sides->context, next, &place) == 0)
        return walk->copy_cursor < place;
    return sides->map->original_of(sides->context, walk->copy_cursor, &place) == 0 && place == original->address;
}

static int print_instruction(struct sides_walk *walk, const struct gait_instruction *original)
{
    struct side left = {.text = ""}, right = {.text = ""};
    struct gait_instruction copied;

    describe(walk, original, &left);
    while (belongs_to(walk, original)) {
        int result = decode_copy(walk, &copied);
        int is_changed;

        if (result != 0)
            return result;
        is_changed = copied.length != original->length || memcmp(copied.bytes, original->bytes, copied.length) != 0;
        describe(walk, &copied, &right);
        print_row(walk, &left, &right, is_changed);
        left.text[0] = '\0';
        walk->copy_cursor += copied.length;
    }
    if (left.text[0] != '\0')
        print_row(walk, &left, &(struct side){.text = ""}, 0);
    return 0;
}

static int print_rest(struct sides_walk *walk)
{
    struct gait_instruction copied;
    struct side right;
    int result = 0;

    while (walk->copy_cursor - walk->copy_start < walk->sides->copy_bytes) {
        result = decode_copy(walk, &copied);
        if (result != 0)
            return result;
        describe(walk, &copied, &right);
        print_row(walk, &(struct side){.text = ""}, &right, 1);
        walk->copy_cursor += copied.length;
    }
    return result;
}

static unsigned count_digits(uint64_t value)
{
    unsigned digits = 1;

    while (value >>= 4)
        digits++;
    return digits;
}

int side_by_side_print(struct screen *screen, const struct side_by_side *sides, struct gait_error *err)
{
    uint64_t start = (uintptr_t)sides->copy;
    struct sides_walk walk = {
        .screen = screen,
        .sides = sides,
        .err = err,
        .digits_original = count_digits(sides->address + sides->size_bytes),
        .digits_copy = count_digits(start + sides->total_bytes),
        .copy_start = start,
        .copy_cursor = start,
    };
    unsigned fixed = walk.digits_original + walk.digits_copy + 2 * 2 + MARK_COLUMNS;
    struct gait_instruction original;

    walk.text_columns = screen->width > fixed + 2 * TEXT_COLUMNS_MIN ? (screen->width - fixed) / 2 : TEXT_COLUMNS_MIN;

    for (uint64_t offset = 0; offset < sides->size_bytes; offset += original.length) {
        int result = decode(sides->bytes + offset, sides->size_bytes - offset, sides->address + offset, &original, err);

        if (result == 0)
            result = print_instruction(&walk, &original);
        if (result != 0)
            return result;
    }
    return print_rest(&walk);
}
