/* SPDX-License-Identifier: MIT */
/* See the header. Bytes of the program are read in pieces of bounded size, onto the stack. Stateless. */
#include "syscalls/call_text.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#define PATH_BYTES    4095
#define ELEMENT_BYTES 256
#define PIECE_BYTES   4096

static bool read_all(const struct call_text *text, uint64_t address, void *bytes_out, size_t size_bytes)
{
    return address != 0 && text->memory != NULL &&
           text->memory->read(text->memory->context, address, bytes_out, size_bytes) == size_bytes;
}

/* Strings are read in another way: they are shown where structs are not. */
bool call_text_read(const struct call_text *text, uint64_t address, void *bytes_out, size_t size_bytes)
{
    return !text->options->is_shallow && read_all(text, address, bytes_out, size_bytes);
}

void call_text_put_address(const struct call_text *text, uint64_t address)
{
    if (address == 0)
        text_put_string(text->out, "NULL");
    else
        text_format(text->out, "%#lx", (unsigned long)address);
}

void call_text_put_hex(const struct call_text *text, uint64_t value)
{
    if (value == 0)
        text_put_char(text->out, '0');
    else
        text_format(text->out, "%#lx", (unsigned long)value);
}

bool call_text_begin_name(struct text_writer *out, const char *number)
{
    if (out->style == CALL_TEXT_NAMES)
        return true;
    text_put_string(out, number);
    if (out->style == CALL_TEXT_BOTH)
        text_put_string(out, " /* ");
    return out->style == CALL_TEXT_BOTH;
}

void call_text_end_name(struct text_writer *out)
{
    if (out->style == CALL_TEXT_BOTH)
        text_put_string(out, " */");
}

void call_text_put_octal(const struct call_text *text, uint64_t value)
{
    char digits[24];
    size_t count = 0;

    do {
        digits[count++] = (char)('0' + (value & 7));
        value >>= 3;
    } while (value != 0);
    text_put_char(text->out, '0');
    for (size_t i = count; i < 2; i++)
        text_put_char(text->out, '0');
    while (count > 0)
        text_put_char(text->out, digits[--count]);
}

/* What the descriptor is, where that is wanted. */
static void put_fd_details(const struct call_text *text, int fd)
{
    const struct call_fd about = {
        .pid = text->pid,
        .fd = fd,
        .details = text->options->fd_details,
        .hex = text->options->hex,
        .memory = text->memory,
    };

    if (text->options->put_fd != NULL)
        text->options->put_fd(text->out, &about);
}

void call_text_put_fd(const struct call_text *text, int fd)
{
    text_put_signed(text->out, fd);
    if (fd >= 0)
        put_fd_details(text, fd);
}

void call_text_put_dirfd(const struct call_text *text, int fd)
{
    if (fd != AT_FDCWD) {
        call_text_put_fd(text, fd);
        return;
    }
    if (call_text_begin_name(text->out, "-100")) {
        text_put_string(text->out, "AT_FDCWD");
        call_text_end_name(text->out);
    }
    put_fd_details(text, AT_FDCWD);
}

void call_text_put_pid(const struct call_text *text, int pid)
{
    text_put_signed(text->out, pid);
    if (pid > 0 && text->options->put_pid != NULL)
        text->options->put_pid(text->out, pid);
}

void call_text_put_id(const struct call_text *text, uint32_t id)
{
    if (id == UINT32_MAX)
        text_put_string(text->out, "-1");
    else
        text_put_unsigned(text->out, id);
}

void call_text_put_device(const struct call_text *text, uint64_t device)
{
    char number[32];

    snprintf(number, sizeof(number), device == 0 ? "0" : "%#lx", (unsigned long)device);
    if (!call_text_begin_name(text->out, number))
        return;
    text_put_string(text->out, "makedev(");
    call_text_put_hex(text, gnu_dev_major(device));
    text_put_string(text->out, ", ");
    call_text_put_hex(text, gnu_dev_minor(device));
    text_put_char(text->out, ')');
    call_text_end_name(text->out);
}

void call_text_put_quoted(const struct call_text *text, const char *bytes, size_t size_bytes, bool is_cut)
{
    const struct quoted_text_piece piece = {.bytes = bytes, .size_bytes = size_bytes};

    text_put_char(text->out, '"');
    quoted_text_put(text->out, &piece, text->options->hex);
    text_put_string(text->out, is_cut ? "\"..." : "\"");
}

/* Reads a string of at most limit bytes. Returns how many come before its NUL; more than limit: there is more of it. */
static size_t read_string(const struct call_text *text, uint64_t address, char *bytes_out, size_t limit, bool *is_there)
{
    size_t got = address == 0 || text->memory == NULL
                     ? 0
                     : text->memory->read(text->memory->context, address, bytes_out, limit + 1);
    const char *end = memchr(bytes_out, '\0', got);

    *is_there = end != NULL || got > limit;
    return end != NULL ? (size_t)(end - bytes_out) : got;
}

void call_text_put_path(const struct call_text *text, uint64_t address)
{
    char path[PATH_BYTES + 1];
    bool is_there;
    size_t length = read_string(text, address, path, PATH_BYTES, &is_there);

    if (!is_there)
        call_text_put_address(text, address);
    else
        call_text_put_quoted(text, path, length > PATH_BYTES ? PATH_BYTES : length, length > PATH_BYTES);
}

void call_text_put_string(const struct call_text *text, uint64_t address)
{
    char bytes[PIECE_BYTES + 1];
    size_t limit = text->options->string_bytes < PIECE_BYTES ? text->options->string_bytes : PIECE_BYTES;
    bool is_there;
    size_t length = read_string(text, address, bytes, limit, &is_there);

    if (!is_there)
        call_text_put_address(text, address);
    else
        call_text_put_quoted(text, bytes, length > limit ? limit : length, length > limit);
}

/* Whether all of them are to be numbers, for one that cannot be shown as it is. */
static enum quoted_text_hex find_hex(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    enum quoted_text_hex hex = text->options->hex;
    char piece[PIECE_BYTES];

    for (uint64_t at = 0; hex == QUOTED_HEX_IF_NOT_ASCII && at < size_bytes; at += sizeof(piece)) {
        size_t wanted = size_bytes - at < sizeof(piece) ? (size_t)(size_bytes - at) : sizeof(piece);

        if (read_all(text, address + at, piece, wanted) && quoted_text_is_hex(piece, wanted, hex))
            hex = QUOTED_HEX;
    }
    return hex;
}

void call_text_put_bytes(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    uint64_t shown = size_bytes < text->options->string_bytes ? size_bytes : text->options->string_bytes;
    char bytes[PIECE_BYTES + 1]; /* one more, to know whether a digit follows */
    enum quoted_text_hex hex;

    if (address == 0 || text->memory == NULL || (shown > 0 && !read_all(text, address + shown - 1, bytes, 1)) ||
        (shown > 0 && !read_all(text, address, bytes, 1))) {
        call_text_put_address(text, address);
        return;
    }
    hex = find_hex(text, address, shown);
    text_put_char(text->out, '"');
    for (uint64_t at = 0; at < shown; at += PIECE_BYTES) {
        size_t wanted = shown - at < PIECE_BYTES ? (size_t)(shown - at) : PIECE_BYTES;
        struct quoted_text_piece piece = {.bytes = bytes, .size_bytes = wanted};

        if (!read_all(text, address + at, bytes, wanted))
            break;
        if (at + wanted < shown && read_all(text, address + at + wanted, bytes + wanted, 1))
            piece.next = bytes[wanted];
        quoted_text_put(text->out, &piece, hex);
    }
    text_put_string(text->out, shown < size_bytes ? "\"..." : "\"");
}

void call_text_put_random(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    uint64_t shown = size_bytes < text->options->string_bytes ? size_bytes : text->options->string_bytes;
    unsigned char byte;

    if (shown > 0 && !read_all(text, address, &byte, 1)) {
        call_text_put_address(text, address);
        return;
    }
    text_put_char(text->out, '"');
    for (uint64_t i = 0; i < shown && read_all(text, address + i, &byte, 1); i++) {
        text_put_string(text->out, "\\x");
        text_put_hex(text->out, byte, 2);
    }
    text_put_string(text->out, shown < size_bytes ? "\"..." : "\"");
}

void call_text_put_array_text(const struct call_text *text, const char *bytes, size_t capacity)
{
    call_text_put_quoted(text, bytes, strnlen(bytes, capacity), false);
}

void call_text_put_array(const struct call_text *text, const struct call_text_array *array)
{
    /* As strings, arrays are cut where people have seen enough. */
    uint64_t limit = text->options->is_verbose ? CALL_TEXT_ELEMENTS_MAX : text->options->string_bytes;
    uint64_t element[ELEMENT_BYTES / 8];

    if (array->count == 0 && array->address != 0) {
        text_put_string(text->out, "[]");
        return;
    }
    if (array->element_bytes > sizeof(element) ||
        !call_text_read(text, array->address, element, array->element_bytes)) {
        call_text_put_address(text, array->address);
        return;
    }
    text_put_char(text->out, '[');
    for (uint64_t i = 0; i < array->count; i++) {
        uint64_t address = array->address + i * array->element_bytes;

        if (i > 0)
            text_put_string(text->out, ", ");
        if (!call_text_read(text, address, element, array->element_bytes)) {
            text_format(text->out, "... /* %#lx */", (unsigned long)address);
            break;
        }
        if (i == limit) {
            text_put_string(text->out, "...");
            break;
        }
        array->put(text, element);
    }
    text_put_char(text->out, ']');
}
