/* SPDX-License-Identifier: MIT */
/*
 * A sequence of records, each a length and so many bytes: common parts (CIE), and entries (FDE) that say how far back
 * the common part of theirs is, which is read again for each of them: nothing has to be kept.
 */
#include "elf/eh_frame.h"

#include "elf/byte_cursor.h"

#include <asm/errno.h>

/* DW_EH_PE_*: how pointers are written. */
#define POINTER_ABSOLUTE 0x00
#define POINTER_ULEB     0x01
#define POINTER_SLEB     0x09
#define POINTER_FORM     0x0f
#define POINTER_RELATIVE 0x10 /* to its own place */
#define POINTER_BASE     0x70
#define POINTER_INDIRECT 0x80
#define POINTER_NONE     0xff

/* Real ones have some 20. They are read for each entry, so a huge one would take forever. */
#define COMMON_BYTES_MAX 1024

struct common_part {
    struct eh_frame_entry entry; /* what entries take over */
    unsigned encoding;
    bool has_augmentation_size;
};

struct frame_record {
    uint64_t id_offset; /* of the word that tells what it is */
    uint64_t id;        /* 0: a common part; else how far back that is, from the word */
    struct byte_cursor rest;
};

/* 1, 0 and -EPROTO as eh_frame_next. */
static int read_record(const struct eh_frame *frame, size_t *offset, struct frame_record *record_out)
{
    struct byte_cursor cursor = {frame->bytes, frame->bytes + frame->size_bytes, false};
    uint64_t size_bytes;
    bool is_long;

    if (*offset >= frame->size_bytes)
        return 0;
    cursor.at += *offset;
    size_bytes = byte_cursor_number(&cursor, 4);
    is_long = size_bytes == UINT32_MAX;
    if (is_long)
        size_bytes = byte_cursor_number(&cursor, 8);
    if (cursor.is_bad)
        return -EPROTO;
    if (size_bytes == 0)
        return 0;
    if (size_bytes < 4 || size_bytes > (size_t)(cursor.end - cursor.at))
        return -EPROTO;
    cursor.end = cursor.at + size_bytes;
    record_out->id_offset = (uint64_t)(cursor.at - frame->bytes);
    /* In .eh_frame it has 32 bits in either case. */
    record_out->id = byte_cursor_number(&cursor, 4);
    record_out->rest = cursor;
    *offset = (size_t)(cursor.end - frame->bytes);
    return 1;
}

static uint64_t read_form(struct byte_cursor *cursor, unsigned form)
{
    switch (form) {
    case POINTER_ULEB:
        return byte_cursor_uleb(cursor);
    case POINTER_SLEB:
        return (uint64_t)byte_cursor_sleb(cursor);
    case 0x02:
        return byte_cursor_number(cursor, 2);
    case 0x03:
        return byte_cursor_number(cursor, 4);
    case POINTER_ABSOLUTE:
    case 0x04:
    case 0x0c:
        return byte_cursor_number(cursor, 8);
    case 0x0a:
        return (uint64_t)byte_cursor_signed(cursor, 2);
    case 0x0b:
        return (uint64_t)byte_cursor_signed(cursor, 4);
    default:
        cursor->is_bad = true;
        return 0;
    }
}

/* Relative to itself, or absolute; others are not known here and bad. */
static uint64_t read_pointer(const struct eh_frame *frame, struct byte_cursor *cursor, unsigned encoding)
{
    uint64_t place = frame->address + (uint64_t)(cursor->at - frame->bytes);
    uint64_t value = read_form(cursor, encoding & POINTER_FORM);
    unsigned base = encoding & POINTER_BASE;

    if ((base != POINTER_ABSOLUTE && base != POINTER_RELATIVE) || encoding & POINTER_INDIRECT)
        cursor->is_bad = true;
    return base == POINTER_RELATIVE ? value + place : value;
}

/* The letters behind "z" that have something in the data; false: one that is not known, and all behind it is not. */
static bool take_letter(const struct eh_frame *frame, struct byte_cursor *data, char letter, struct common_part *common)
{
    unsigned encoding;

    switch (letter) {
    case 'R':
        common->encoding = (unsigned)byte_cursor_number(data, 1);
        return true;
    case 'P':
        encoding = (unsigned)byte_cursor_number(data, 1);
        /* Where it points does not matter, only how long it is. */
        (void)read_pointer(frame, data, encoding & POINTER_FORM);
        return true;
    case 'L':
        (void)byte_cursor_number(data, 1);
        return true;
    case 'S':
        common->entry.is_signal_frame = true;
        return true;
    case 'B':
        return true;
    default:
        return false;
    }
}

static void read_augmentation(const struct eh_frame *frame, struct byte_cursor *cursor, const uint8_t *letters,
                              struct common_part *common)
{
    uint64_t size_bytes = byte_cursor_uleb(cursor);
    const uint8_t *start = byte_cursor_skip(cursor, size_bytes);
    struct byte_cursor data = {start, cursor->at, false};

    common->has_augmentation_size = true;
    while (*letters != '\0' && take_letter(frame, &data, (char)*letters, common))
        letters++;
    cursor->is_bad |= data.is_bad;
}

/* The letters, which are ended by a zero if nothing is bad. */
static const uint8_t *read_letters(struct byte_cursor *cursor)
{
    const uint8_t *letters = cursor->at;

    while (byte_cursor_number(cursor, 1) != 0)
        ;
    return letters;
}

static bool read_common(const struct eh_frame *frame, struct byte_cursor cursor, struct common_part *common_out)
{
    bool is_huge = cursor.end - cursor.at > COMMON_BYTES_MAX;
    uint64_t version = byte_cursor_number(&cursor, 1);
    const uint8_t *letters = is_huge ? cursor.end : read_letters(&cursor);

    *common_out = (struct common_part){.encoding = POINTER_ABSOLUTE};
    if (is_huge || cursor.is_bad || (version != 1 && version != 3 && version != 4))
        return false;
    /* The sizes of addresses and of segments' selectors. */
    if (version == 4 && byte_cursor_number(&cursor, 2) != 8)
        return false;
    common_out->entry.code_alignment = byte_cursor_uleb(&cursor);
    common_out->entry.data_alignment = byte_cursor_sleb(&cursor);
    common_out->entry.return_register = version == 1 ? byte_cursor_number(&cursor, 1) : byte_cursor_uleb(&cursor);
    if (*letters == 'z')
        read_augmentation(frame, &cursor, letters + 1, common_out);
    else if (*letters != '\0')
        return false;
    common_out->entry.common_program = (struct byte_range){cursor.at, cursor.end};
    return !cursor.is_bad;
}

static bool read_entry(const struct eh_frame *frame, const struct frame_record *record,
                       struct eh_frame_entry *entry_out)
{
    size_t common_offset = (size_t)(record->id_offset - record->id);
    struct byte_cursor cursor = record->rest;
    struct common_part common;
    struct frame_record part;

    if (record->id > record->id_offset || read_record(frame, &common_offset, &part) != 1 || part.id != 0 ||
        !read_common(frame, part.rest, &common))
        return false;
    *entry_out = common.entry;
    entry_out->start = read_pointer(frame, &cursor, common.encoding);
    entry_out->end = entry_out->start + read_form(&cursor, common.encoding & POINTER_FORM);
    if (common.has_augmentation_size)
        byte_cursor_skip(&cursor, byte_cursor_uleb(&cursor));
    entry_out->program = (struct byte_range){cursor.at, cursor.end};
    return !cursor.is_bad && entry_out->end > entry_out->start;
}

int eh_frame_next(const struct eh_frame *frame, size_t *offset, struct eh_frame_entry *entry_out)
{
    struct frame_record record;
    int result;

    while ((result = read_record(frame, offset, &record)) == 1)
        if (record.id != 0 && read_entry(frame, &record, entry_out))
            return 1;
    return result;
}

bool eh_frame_has_end(const struct eh_frame *frame, size_t *offset)
{
    struct frame_record record;
    int result;

    while ((result = read_record(frame, offset, &record)) == 1)
        ;
    return result == 0 && *offset < frame->size_bytes;
}

int eh_frame_find(const struct eh_frame *header, uint64_t *address_out)
{
    struct byte_cursor cursor = {header->bytes, header->bytes + header->size_bytes, false};
    uint64_t version = byte_cursor_number(&cursor, 1);
    unsigned encoding = (unsigned)byte_cursor_number(&cursor, 1);
    uint64_t address;

    /* How the table is written, which is not needed. */
    (void)byte_cursor_number(&cursor, 2);
    address = read_pointer(header, &cursor, encoding);
    if (cursor.is_bad || version != 1 || encoding == POINTER_NONE)
        return -EPROTO;
    *address_out = address;
    return 0;
}
