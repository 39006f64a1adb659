/* SPDX-License-Identifier: MIT */
/*
 * Strings are taken page by page: one that ends in its page is good whatever is behind it. That costs a system call for
 * each, but there is no other way that a thread which unmaps the memory meanwhile could not make a fault of.
 */
#include "agent/detail_capture.h"

#include "base/alignment.h"
#include "base/memory_map.h"
#include "gait/cpu_numbers.h"
#include "process/memory_probe.h"

/* A word that a register or the stack has. */
struct captured_word {
    uint64_t bits;
    bool is_known;
};

struct capture {
    struct detail_value_writer writer;
    const struct detail_declaration *declaration;
    const struct detail_registers *registers;
    uint32_t string_bytes;
};

static struct captured_word known(uint64_t bits)
{
    return (struct captured_word){bits, true};
}

/* What is in the page of the stack pointer, where a call leaves its return address, can be read as that can. */
static struct captured_word read_stack(uint64_t sp, uint32_t which)
{
    uint64_t place = sp + sizeof(uint64_t) * (which + GAIT_CPU_ARGUMENT_STACK_WORDS), bits;

    if (place / MEMORY_PAGE_MIN == sp / MEMORY_PAGE_MIN && place % sizeof(uint64_t) == 0)
        return known(*(const uint64_t *)(uintptr_t)place);
    if (memory_probe_copy(place, &bits, sizeof(bits)) != 0)
        return (struct captured_word){0, false};
    return known(bits);
}

static struct captured_word read_argument(const struct detail_registers *registers, uint32_t place)
{
    if (place < DETAIL_ARGUMENTS)
        return known(registers->arguments[place]);
    if (place >= DETAIL_PLACE_VECTOR && place < DETAIL_PLACE_VECTOR + DETAIL_VECTORS && registers->vectors != NULL)
        return known(registers->vectors[place - DETAIL_PLACE_VECTOR]);
    if (place >= DETAIL_PLACE_STACK && place != DETAIL_PLACE_NONE)
        return read_stack(registers->sp, place - DETAIL_PLACE_STACK);
    return (struct captured_word){0, false};
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* How much of the bytes comes before a NUL. */
static uint32_t length_of(const uint8_t *bytes, uint32_t size_bytes)
{
    uint32_t length = 0;

    while (length < size_bytes && bytes[length] != '\0')
        length++;
    return length;
}

/*
 * Copies up to `most` bytes, of a string up to its NUL. Whether it was that, or there was no more to be had. Not a byte
 * could be read if that is false and *copied_out 0.
 */
static bool copy(uint64_t address, uint8_t *place, uint32_t most, bool is_string, uint32_t *copied_out)
{
    uint32_t copied = 0;

    while (copied < most) {
        uint32_t in_page = (uint32_t)align_rest(address + copied, memory_page_size());
        uint32_t step = in_page < most - copied ? in_page : most - copied, length;

        if (address + copied < address || memory_probe_copy(address + copied, place + copied, step) != 0)
            break;
        length = is_string ? length_of(place + copied, step) : step;
        copied += length;
        if (length < step) {
            *copied_out = copied;
            return true;
        }
    }
    *copied_out = copied;
    return !is_string && copied == most;
}

static void put_unreadable(struct capture *capture, uint32_t type, uint64_t address)
{
    const struct detail_value value = {
        .type = (uint8_t)type,
        .flags = DETAIL_VALUE_UNREADABLE,
        .data_bytes = sizeof(address),
    };

    detail_value_put(&capture->writer, value, &address);
}

/* How much there is, as far as that is known, and how much of it is taken at most. */
struct extent {
    uint64_t size_bytes;
    uint64_t limit_bytes;
};

/* The bytes at an address: those of a string, or as many as there are. */
static void put_memory(struct capture *capture, uint32_t type, uint64_t address, struct extent extent)
{
    bool is_string = type == DETAIL_TYPE_STRING, is_whole;
    uint32_t room = detail_value_room(&capture->writer), copied;
    uint64_t wanted = extent.size_bytes < extent.limit_bytes ? extent.size_bytes : extent.limit_bytes;
    struct detail_value value = {.type = (uint8_t)type};

    /* One more than is wanted tells whether a string ends there. */
    if (is_string)
        wanted++;
    wanted = wanted < room ? wanted : room;
    is_whole = copy(address, detail_value_place(&capture->writer), (uint32_t)wanted, is_string, &copied);
    if (copied == 0 && !is_whole && wanted != 0) {
        put_unreadable(capture, type, address);
        return;
    }
    if (copied > extent.limit_bytes)
        copied = (uint32_t)extent.limit_bytes;
    if (!is_whole || (!is_string && copied < extent.size_bytes))
        value.flags = room == 0 ? DETAIL_VALUE_LEFT_OUT : DETAIL_VALUE_CLIPPED;
    value.data_bytes = (uint16_t)copied;
    detail_value_put(&capture->writer, value, detail_value_place(&capture->writer));
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* As many bytes as an argument of that type says. */
static uint64_t size_in(const struct detail_field *field, uint64_t bits)
{
    switch (field->type) {
    case DETAIL_TYPE_I8:
        return (int8_t)bits < 0 ? 0 : (uint8_t)bits;
    case DETAIL_TYPE_I16:
        return (int16_t)bits < 0 ? 0 : (uint16_t)bits;
    case DETAIL_TYPE_I32:
        return (int32_t)bits < 0 ? 0 : (uint32_t)bits;
    case DETAIL_TYPE_I64:
        return (int64_t)bits < 0 ? 0 : bits;
    case DETAIL_TYPE_U8:
        return (uint8_t)bits;
    case DETAIL_TYPE_U16:
        return (uint16_t)bits;
    case DETAIL_TYPE_U32:
        return (uint32_t)bits;
    default:
        return bits;
    }
}

/* Of a buffer whose size the program says, no more is taken than of a string. */
static struct extent extent_of(const struct capture *capture, const struct detail_field *field)
{
    uint32_t which = field->size & ~DETAIL_SIZE_IN_ARGUMENT;
    struct extent extent = {field->size, field->size};
    struct captured_word word = {0, false};

    if (field->type == DETAIL_TYPE_STRING && field->size == 0)
        return (struct extent){capture->string_bytes, capture->string_bytes};
    if (!(field->size & DETAIL_SIZE_IN_ARGUMENT))
        return extent;
    if (capture->registers != NULL && which < DETAIL_FIELDS_MAX)
        word = read_argument(capture->registers, capture->declaration->fields[which].place);
    extent.limit_bytes = capture->string_bytes;
    extent.size_bytes = word.is_known ? size_in(&capture->declaration->fields[which], word.bits) : 0;
    return extent;
}

static void put_field(struct capture *capture, const struct detail_field *field, struct captured_word word)
{
    struct detail_value value = {.type = field->type, .data_bytes = (uint16_t)detail_type_bytes(field->type)};
    bool is_memory = field->type == DETAIL_TYPE_STRING || field->type == DETAIL_TYPE_BUFFER;

    if (field->type != DETAIL_TYPE_SKIPPED && !word.is_known) {
        value.flags = DETAIL_VALUE_UNREADABLE;
        value.data_bytes = 0;
    } else if (is_memory) {
        put_memory(capture, field->type, word.bits, extent_of(capture, field));
        return;
    }
    detail_value_put(&capture->writer, value, &word.bits);
}

uint32_t detail_capture_arguments(const struct detail_declaration *declaration,
                                  const struct detail_registers *registers, uint32_t string_bytes, void *bytes_out,
                                  uint32_t room)
{
    struct capture capture = {.declaration = declaration, .registers = registers, .string_bytes = string_bytes};
    uint32_t count = declaration->count < DETAIL_FIELDS_MAX ? declaration->count : DETAIL_FIELDS_MAX;

    detail_value_writer_init(&capture.writer, bytes_out, room, count);
    for (uint32_t i = 0; i < count; i++)
        put_field(&capture, &declaration->fields[i], read_argument(registers, declaration->fields[i].place));
    return capture.writer.used;
}

bool detail_capture_has_failed(const struct detail_declaration *declaration, uint64_t value)
{
    uint32_t bytes = detail_type_bytes(declaration->result.type);
    uint64_t all_ones = bytes == 0 || bytes == 8 ? UINT64_MAX : (1ull << bytes * 8) - 1;

    if (!declaration->has_errno)
        return false;
    if (declaration->result.type >= DETAIL_TYPE_POINTER && declaration->result.type <= DETAIL_TYPE_BUFFER && value == 0)
        return true;
    return (value & all_ones) == all_ones;
}

static void put_errno(struct capture *capture, uint64_t place)
{
    const struct detail_value value = {.type = DETAIL_TYPE_ERRNO, .data_bytes = sizeof(int32_t)};
    int32_t number;

    if (place != 0 && memory_probe_copy(place, &number, sizeof(number)) == 0)
        detail_value_put(&capture->writer, value, &number);
}

uint32_t detail_capture_result(const struct detail_declaration *declaration, const struct detail_result *result,
                               uint32_t string_bytes, void *bytes_out, uint32_t room)
{
    struct capture capture = {.declaration = declaration, .string_bytes = string_bytes};
    struct captured_word word = known(result->value);

    if (declaration->result.type == DETAIL_TYPE_SKIPPED)
        return 0;
    if (detail_declaration_has_vectors(declaration, true))
        word = result->vectors == NULL ? (struct captured_word){0, false} : known(result->vectors[0]);
    detail_value_writer_init(&capture.writer, bytes_out, room, 2);
    put_field(&capture, &declaration->result, word);
    if (detail_capture_has_failed(declaration, result->value))
        put_errno(&capture, result->errno_place);
    return capture.writer.used;
}
