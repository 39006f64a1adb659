/* SPDX-License-Identifier: MIT */
#include "trace/detail_numbers.h"

#include <string.h>

/* False: it was not kept. */
static bool find_word(const struct detail_enter *enter, const uint8_t *stack, uint32_t place, uint64_t *word_out)
{
    /* The return address comes first. */
    size_t at = sizeof(*word_out) * (place - DETAIL_PLACE_STACK + 1);

    if (place < DETAIL_ARGUMENTS) {
        *word_out = enter->arguments[place];
        return true;
    }
    if (place < DETAIL_PLACE_STACK || place == DETAIL_PLACE_NONE || at + sizeof(*word_out) > enter->stack_bytes)
        return false;
    memcpy(word_out, stack + at, sizeof(*word_out));
    return true;
}

/* Of a string only the pointer is there. */
static void put_word(struct detail_value_writer *writer, uint32_t type, bool is_known, uint64_t word)
{
    struct detail_value value = {.type = (uint8_t)type};

    if (type == DETAIL_TYPE_STRING || type == DETAIL_TYPE_BUFFER)
        value.type = DETAIL_TYPE_POINTER;
    if (type != DETAIL_TYPE_SKIPPED && !is_known)
        value.flags = DETAIL_VALUE_UNREADABLE;
    else
        value.data_bytes = (uint16_t)detail_type_bytes(value.type);
    detail_value_put(writer, value, &word);
}

struct detail_values detail_numbers_arguments(const struct detail_declaration *declaration,
                                              const struct detail_enter *enter, const uint8_t *stack,
                                              uint8_t *bytes_out)
{
    struct detail_value_writer writer;

    detail_value_writer_init(&writer, bytes_out, DETAIL_NUMBERS_BYTES, 0);
    for (unsigned i = 0; i < declaration->count && i < DETAIL_FIELDS_MAX; i++) {
        uint64_t word = 0;
        bool is_known = find_word(enter, stack, declaration->fields[i].place, &word);

        put_word(&writer, declaration->fields[i].type, is_known, word);
    }
    return (struct detail_values){bytes_out, writer.used};
}

struct detail_values detail_numbers_result(const struct detail_declaration *declaration,
                                           const struct detail_leave *leave, uint8_t *bytes_out)
{
    struct detail_value_writer writer;

    detail_value_writer_init(&writer, bytes_out, DETAIL_NUMBERS_BYTES, 0);
    if (declaration->result.type != DETAIL_TYPE_SKIPPED && leave->record.kind == DETAIL_LEAVE)
        put_word(&writer, declaration->result.type, declaration->result.place == 0, leave->value);
    return (struct detail_values){bytes_out, writer.used};
}
