/* SPDX-License-Identifier: MIT */
/* The tables of struct_layouts.def, and who writes by them. Names stand one behind the other, as in constant_set.c. */
#define _GNU_SOURCE
#include "syscalls/struct_layout.h"

#include "syscalls/value_forms.h"

#include <arpa/inet.h>
#include <string.h>

#define LAYOUT_BYTES_MAX 4096

enum field_presence {
    PRESENT_ALWAYS,
    PRESENT_IF_SET,  /* not 0 */
    PRESENT_IF_DONE, /* the kernel's answer */
    PRESENT_IF_VERBOSE,
    PRESENT_LATER, /* older kernels and programs do not know it */
    PRESENT_REST,  /* no field: what comes behind is for those who want all */
};

struct layout_field {
    uint16_t at;
    uint16_t size_bytes;
    uint8_t presence;
    uint8_t kind;
    uint16_t detail;
};

struct described_struct {
    const char *names;
    const struct layout_field *fields;
    uint16_t field_count;
    uint16_t size_bytes;
};

/* clang-format off */
#define LAYOUT(name, size_bytes)                     static const char name##_names[] =
#define FIELD(name, at, size_bytes, ...)    #name "\0"
#define OPTIONAL(name, at, size_bytes, ...) #name "\0"
#define ANSWER(name, at, size_bytes, ...)   #name "\0"
#define LATER(name, at, size_bytes, ...)    #name "\0"
#define VERBOSE(name, at, size_bytes, ...)    #name "\0"
#define REST                                         "...\0"
#define END                                          "";
#include "syscalls/struct_layouts.def"
#undef LAYOUT
#undef FIELD
#undef OPTIONAL
#undef ANSWER
#undef LATER
#undef VERBOSE
#undef REST
#undef END

#define ROW(at, size_bytes, presence, ...) {at, size_bytes, presence, __VA_ARGS__},
#define LAYOUT(name, size_bytes)                     static const struct layout_field name##_fields[] = {
#define FIELD(name, at, size_bytes, ...)    ROW(at, size_bytes, PRESENT_ALWAYS, __VA_ARGS__)
#define OPTIONAL(name, at, size_bytes, ...) ROW(at, size_bytes, PRESENT_IF_SET, __VA_ARGS__)
#define ANSWER(name, at, size_bytes, ...)   ROW(at, size_bytes, PRESENT_IF_DONE, __VA_ARGS__)
#define LATER(name, at, size_bytes, ...)    ROW(at, size_bytes, PRESENT_LATER, __VA_ARGS__)
#define VERBOSE(name, at, size_bytes, ...)  ROW(at, size_bytes, PRESENT_IF_VERBOSE, __VA_ARGS__)
#define REST                                         {0, 0, PRESENT_REST, 0, 0},
#define END                                          };
#include "syscalls/struct_layouts.def"
#undef LAYOUT
#undef FIELD
#undef OPTIONAL
#undef ANSWER
#undef LATER
#undef VERBOSE
#undef REST
#undef END
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LAYOUT(name, size_bytes)                                                                                       \
    [STRUCT_LAYOUT_##name] = {name##_names, name##_fields, COUNT(name##_fields), size_bytes},
#define FIELD(name, at, size_bytes, ...)
#define OPTIONAL(name, at, size_bytes, ...)
#define ANSWER(name, at, size_bytes, ...)
#define LATER(name, at, size_bytes, ...)
#define VERBOSE(name, at, size_bytes, ...)
#define REST
#define END
static const struct described_struct layouts[STRUCT_LAYOUTS] = {
#include "syscalls/struct_layouts.def"
};

size_t struct_layout_bytes(enum struct_layout which)
{
    return layouts[which].size_bytes;
}

size_t struct_layout_fewest_bytes(enum struct_layout which)
{
    const struct described_struct *layout = &layouts[which];
    size_t fewest = 0;

    for (unsigned i = 0; i < layout->field_count; i++) {
        const struct layout_field *field = &layout->fields[i];

        if (field->presence != PRESENT_LATER && fewest < (size_t)field->at + field->size_bytes)
            fewest = (size_t)field->at + field->size_bytes;
    }
    return fewest;
}

static bool is_zero(const unsigned char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* What is there of a field that ends behind the bytes: only where that is asked for. */
static void put_part(const struct call_text *text, const struct layout_field *field, const unsigned char *bytes,
                     size_t size_bytes)
{
    (void)value_text_put(text, (struct value_form){VALUE_RAW, 0}, bytes + field->at, size_bytes - field->at);
}

static void put_inet6(const struct call_text *text, const char *name, const unsigned char *bytes)
{
    char address[INET6_ADDRSTRLEN];

    inet_ntop(AF_INET6, bytes, address, sizeof(address));
    text_format(text->out, "inet_pton(AF_INET6, \"%s\", &%s)", address, name);
}

static bool is_present(const struct call_text *text, const struct layout_field *field, const unsigned char *bytes,
                       size_t size_bytes)
{
    if ((size_t)field->at + field->size_bytes > size_bytes)
        return false;
    switch ((enum field_presence)field->presence) {
    case PRESENT_IF_SET:
        return !is_zero(bytes + field->at, field->size_bytes);
    case PRESENT_IF_DONE:
        return text->is_over && !text->has_failed;
    case PRESENT_IF_VERBOSE:
        return text->options->is_verbose;
    default:
        return true;
    }
}

bool struct_layout_put_fields(const struct call_text *text, enum struct_layout which, const void *bytes,
                              size_t size_bytes)
{
    const struct described_struct *layout = &layouts[which];
    const char *name = layout->names;
    bool is_first = true;

    for (unsigned i = 0; i < layout->field_count; i++, name += strlen(name) + 1) {
        const struct layout_field *field = &layout->fields[i];
        const unsigned char *value = (const unsigned char *)bytes + field->at;

        if (field->presence == PRESENT_REST) {
            if (text->options->is_verbose)
                continue;
            text_put_string(text->out, is_first ? "..." : ", ...");
            return true;
        }
        if (!is_present(text, field, bytes, size_bytes))
            continue;
        text_put_string(text->out, is_first ? "" : ", ");
        is_first = false;
        if (field->kind == VALUE_INET6_OF_FIELD) {
            put_inet6(text, name, value);
            continue;
        }
        text_format(text->out, "%s=", name);
        if (!value_text_put(text, (struct value_form){field->kind, field->detail}, value, field->size_bytes))
            text_put_string(text->out, "???");
    }
    return !is_first;
}

void struct_layout_put(const struct call_text *text, enum struct_layout which, const void *bytes, size_t size_bytes)
{
    text_put_char(text->out, '{');
    (void)struct_layout_put_fields(text, which, bytes, size_bytes);
    text_put_char(text->out, '}');
}

void struct_layout_put_beginning(const struct call_text *text, enum struct_layout which, const void *bytes,
                                 size_t size_bytes)
{
    const struct described_struct *layout = &layouts[which];
    const char *name = layout->names;
    bool is_first = true;

    text_put_char(text->out, '{');
    for (unsigned i = 0; i < layout->field_count; i++, name += strlen(name) + 1) {
        const struct layout_field *field = &layout->fields[i];

        if (field->presence == PRESENT_REST || field->at >= size_bytes)
            continue;
        text_format(text->out, "%s%s=", is_first ? "" : ", ", name);
        is_first = false;
        if ((size_t)field->at + field->size_bytes > size_bytes)
            put_part(text, field, bytes, size_bytes);
        else
            (void)value_text_put(text, (struct value_form){field->kind, field->detail},
                                 (const unsigned char *)bytes + field->at, field->size_bytes);
    }
    text_put_char(text->out, '}');
}

void struct_layout_put_at(const struct call_text *text, enum struct_layout which, uint64_t address)
{
    unsigned char bytes[LAYOUT_BYTES_MAX];
    size_t size_bytes = layouts[which].size_bytes;

    if (call_text_read(text, address, bytes, size_bytes))
        struct_layout_put(text, which, bytes, size_bytes);
    else
        call_text_put_address(text, address);
}

/* What is behind the last field is read, as far as it is worth a look. False: it cannot be. */
static bool read_tail(const struct call_text *text, uint64_t address, uint64_t size_bytes, bool *is_empty_out)
{
    unsigned char bytes[LAYOUT_BYTES_MAX];
    size_t there = size_bytes < sizeof(bytes) ? (size_t)size_bytes : sizeof(bytes);

    if (there > 0 && !call_text_read(text, address, bytes, there))
        return false;
    *is_empty_out = is_zero(bytes, there);
    return true;
}

/* What is behind the last field, and is not 0: that there is something, or what. */
static void put_tail(const struct call_text *text, uint64_t address, uint64_t at, uint64_t size_bytes)
{
    struct call_text_options options = *text->options;
    struct call_text whole = *text;

    if (!options.is_verbose) {
        text_put_string(text->out, ", ...");
        return;
    }
    options.string_bytes = LAYOUT_BYTES_MAX;
    whole.options = &options;
    text_put_string(text->out, ", extra_data=");
    call_text_put_random(&whole, address + at, size_bytes - at);
    text_format(text->out, " /* bytes %lu..%lu */", (unsigned long)at, (unsigned long)size_bytes - 1);
}

/* How many bytes of fields are shown: those that have been there always, and those that the program knows. */
static size_t bytes_shown(const struct described_struct *layout, size_t there)
{
    size_t shown = 0;

    for (unsigned i = 0; i < layout->field_count; i++) {
        const struct layout_field *field = &layout->fields[i];
        size_t end = (size_t)field->at + field->size_bytes;

        if ((field->presence != PRESENT_LATER || field->at < there) && end > shown)
            shown = end;
    }
    return shown;
}

bool struct_layout_put_sized(const struct call_text *text, enum struct_layout which, uint64_t address,
                             uint64_t size_bytes)
{
    unsigned char bytes[LAYOUT_BYTES_MAX] = {0};
    size_t whole = layouts[which].size_bytes, there = size_bytes < whole ? (size_t)size_bytes : whole;
    bool is_tail_empty = true;

    if (there == 0 || !call_text_read(text, address, bytes, there) ||
        !read_tail(text, address + there, size_bytes - there, &is_tail_empty))
        return false;
    text_put_char(text->out, '{');
    (void)struct_layout_put_fields(text, which, bytes, bytes_shown(&layouts[which], there));
    if (!is_tail_empty)
        put_tail(text, address, there, size_bytes);
    text_put_char(text->out, '}');
    return true;
}

void struct_layout_put_array(const struct call_text *text, enum struct_layout which, uint64_t address, uint64_t count)
{
    uint64_t limit = text->options->is_verbose ? CALL_TEXT_ELEMENTS_MAX : text->options->string_bytes;
    unsigned char bytes[LAYOUT_BYTES_MAX];
    size_t each = layouts[which].size_bytes;

    if (count == 0 && address != 0) {
        text_put_string(text->out, "[]");
        return;
    }
    if (!call_text_read(text, address, bytes, each)) {
        call_text_put_address(text, address);
        return;
    }
    text_put_char(text->out, '[');
    for (uint64_t i = 0; i < count; i++, address += each) {
        text_put_string(text->out, i == 0 ? "" : ", ");
        if (i == limit) {
            text_put_string(text->out, "...");
            break;
        }
        if (!call_text_read(text, address, bytes, each)) {
            text_format(text->out, "... /* %#lx */", (unsigned long)address);
            break;
        }
        struct_layout_put(text, which, bytes, each);
    }
    text_put_char(text->out, ']');
}
