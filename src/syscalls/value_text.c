/* SPDX-License-Identifier: MIT */
/* See the header. Numbers are as the CPU has them, but those whose names say net. */
#define _GNU_SOURCE
#include "syscalls/value_text.h"

#include "syscalls/constant_set.h"
#include "syscalls/errno_name.h"
#include "syscalls/struct_layout.h"
#include "syscalls/subject_texts.h"

#include <arpa/inet.h>
#include <endian.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <unistd.h>

uint64_t value_unsigned(const void *bytes, size_t size_bytes)
{
    uint64_t value = 0;

    memcpy(&value, bytes, size_bytes < sizeof(value) ? size_bytes : sizeof(value));
    return value;
}

int64_t value_signed(const void *bytes, size_t size_bytes)
{
    unsigned shift = size_bytes < 8 ? 64 - 8 * (unsigned)size_bytes : 0;

    return shift == 64 ? 0 : (int64_t)(value_unsigned(bytes, size_bytes) << shift) >> shift;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void put_shifted(struct text_writer *out, unsigned set, uint64_t value)
{
    bool is_first = true;

    if (value == 0)
        text_put_char(out, '0');
    for (unsigned i = 0; i < 64; i++) {
        const char *name = constant_set_name(set, i);

        if ((value >> i & 1) == 0 || name == NULL)
            continue;
        text_format(out, "%s1<<%s", is_first ? "" : "|", name);
        value &= ~(1ULL << i);
        is_first = false;
    }
    if (value != 0)
        text_format(out, "%s%#lx", is_first ? "" : "|", (unsigned long)value);
    if (value != 0 && is_first)
        constant_set_put_comment(out, set);
}

static void put_interface(struct text_writer *out, uint32_t index)
{
    char name[IF_NAMESIZE];

    if (index != 0 && if_indextoname(index, name) != NULL)
        text_format(out, "if_nametoindex(\"%s\")", name);
    else
        text_put_unsigned(out, index);
}

static void put_error(struct text_writer *out, int64_t value)
{
    const char *name = value < 0 ? errno_name((int)-value) : NULL;

    if (name != NULL)
        text_format(out, "-%s", name);
    else
        text_put_signed(out, value);
}

static void put_error_name(struct text_writer *out, int64_t value)
{
    const char *name = value > 0 ? errno_name((int)value) : NULL;

    if (name != NULL)
        text_put_string(out, name);
    else
        text_put_signed(out, value);
}

static void put_choice_or_hex(const struct call_text *text, unsigned set, uint64_t value)
{
    if (constant_set_name(set, value) != NULL)
        constant_set_put_choice(text->out, set, value);
    else
        call_text_put_hex(text, value);
}

static void put_ethertype(const struct call_text *text, uint16_t value)
{
    text_put_string(text->out, "htons(");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_ethernet_protocol, ntohs(value));
    text_put_char(text->out, ')');
}

static void put_date(const struct call_text *text, int64_t seconds)
{
    text_put_signed(text->out, seconds);
    time_text_put_date(text, seconds, 0);
}

/* Names of constants and people. */
static bool put_named(const struct call_text *text, struct value_form form, const void *bytes, size_t size_bytes)
{
    struct text_writer *out = text->out;
    uint64_t value = value_unsigned(bytes, size_bytes);

    switch ((enum value_kind)form.kind) {
    case VALUE_FLAGS:
        constant_set_put_flags(out, form.detail, value);
        return true;
    case VALUE_CHOICE:
        constant_set_put_choice(out, form.detail, value);
        return true;
    case VALUE_SHIFTED:
        put_shifted(out, form.detail, value);
        return true;
    case VALUE_SIGNAL:
        signal_text_put(out, value_signed(bytes, size_bytes));
        return true;
    case VALUE_SIGNAL_SET:
        signal_text_put_set(out, value);
        return true;
    case VALUE_FILE_MODE:
        file_text_put_mode(text, (uint32_t)value);
        return true;
    case VALUE_DEVICE:
        call_text_put_device(text, value);
        return true;
    case VALUE_DEVICE_PAIR:
        call_text_put_device(text, (value & 0xfff00000) >> 20 << 8 | (value & 0xff) | (value & 0xfff00) << 12);
        return true;
    case VALUE_ERROR:
        put_error(out, value_signed(bytes, size_bytes));
        return true;
    case VALUE_ERROR_NAME:
        put_error_name(out, value_signed(bytes, size_bytes));
        return true;
    case VALUE_CHOICE_OR_HEX:
        put_choice_or_hex(text, form.detail, value);
        return true;
    case VALUE_INTERFACE:
        put_interface(out, (uint32_t)value);
        return true;
    case VALUE_ETHERTYPE:
        put_ethertype(text, (uint16_t)value);
        return true;
    case VALUE_OPEN_FLAGS:
        file_text_put_open_flags(out, value);
        return true;
    default:
        return false;
    }
}

static void put_pair(const struct call_text *text, uint64_t value)
{
    if (value == 0)
        text_put_string(text->out, "00");
    else
        call_text_put_hex(text, value);
}

static bool put_number(const struct call_text *text, struct value_form form, const void *bytes, size_t size_bytes)
{
    struct text_writer *out = text->out;
    uint64_t value = value_unsigned(bytes, size_bytes);

    switch ((enum value_kind)form.kind) {
    case VALUE_SIGNED:
        text_put_signed(out, value_signed(bytes, size_bytes));
        return true;
    case VALUE_UNSIGNED:
        text_put_unsigned(out, value);
        return true;
    case VALUE_HEX:
        call_text_put_hex(text, value);
        return true;
    case VALUE_HEX_WIDE:
        text_put_hex(out, value, 2 * size_bytes);
        return true;
    case VALUE_ADDRESS:
        call_text_put_address(text, value);
        return true;
    case VALUE_DESCRIPTOR:
        call_text_put_fd(text, (int)value_signed(bytes, size_bytes));
        return true;
    case VALUE_ID:
        call_text_put_id(text, (uint32_t)value);
        return true;
    case VALUE_OCTAL:
        call_text_put_octal(text, value);
        return true;
    case VALUE_DATE:
        put_date(text, value_signed(bytes, size_bytes));
        return true;
    case VALUE_TICKS:
        text_format(out, "%lu /* %lu.%02lu s */", (unsigned long)value, (unsigned long)value / 100,
                    (unsigned long)value % 100);
        return true;
    case VALUE_PORT:
        text_format(out, "htons(%u)", ntohs((uint16_t)value));
        return true;
    case VALUE_NET32:
        text_format(out, "htonl(%u)", ntohl((uint32_t)value));
        return true;
    case VALUE_NET32_HEX:
        text_put_string(out, "htonl(");
        call_text_put_hex(text, ntohl((uint32_t)value));
        text_put_char(out, ')');
        return true;
    case VALUE_LITTLE16:
        text_format(out, "htobs(%u)", le16toh((uint16_t)value));
        return true;
    case VALUE_KERNEL_VERSION:
        text_format(out, "KERNEL_VERSION(%u, %u, %u)", (unsigned)value >> 16, (unsigned)value >> 8 & 0xff,
                    (unsigned)value & 0xff);
        return true;
    case VALUE_HEX_PAIR:
        put_pair(text, value);
        return true;
    case VALUE_HEX_PADDED:
        text_put_string(out, value == 0 ? "00" : "0x");
        text_put_hex(out, value, 6);
        return true;
    case VALUE_NET64:
        text_format(out, "htobe64(%lu)", (unsigned long)be64toh(value));
        return true;
    default:
        return put_named(text, form, bytes, size_bytes);
    }
}

/* ---- several bytes ----------------------------------------------------------------------------------------------- */

static void put_address(struct text_writer *out, int family, const void *bytes)
{
    char name[INET6_ADDRSTRLEN];

    inet_ntop(family, bytes, name, sizeof(name));
    if (family == AF_INET)
        text_format(out, "inet_addr(\"%s\")", name);
    else
        text_format(out, "inet_pton(AF_INET6, \"%s\")", name);
}

static void put_hardware(struct text_writer *out, const unsigned char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++) {
        text_put_string(out, i == 0 ? "" : ":");
        text_put_hex(out, bytes[i], 2);
    }
}

static void put_digits(struct text_writer *out, const unsigned char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        text_put_hex(out, bytes[i], 2);
}

static void put_list(const struct call_text *text, bool is_hex, size_t each, const unsigned char *bytes,
                     size_t size_bytes)
{
    text_put_char(text->out, '[');
    for (size_t at = 0; at + each <= size_bytes; at += each) {
        text_put_string(text->out, at == 0 ? "" : ", ");
        if (at / each == text->options->string_bytes && !text->options->is_verbose) {
            text_put_string(text->out, "...");
            break;
        }
        if (is_hex)
            call_text_put_hex(text, value_unsigned(bytes + at, each));
        else
            text_put_unsigned(text->out, value_unsigned(bytes + at, each));
    }
    text_put_char(text->out, ']');
}

static void put_pairs(const struct call_text *text, const unsigned char *bytes, size_t size_bytes)
{
    text_put_char(text->out, '[');
    for (size_t i = 0; i < size_bytes; i++) {
        text_put_string(text->out, i == 0 ? "" : ", ");
        put_pair(text, bytes[i]);
    }
    text_put_char(text->out, ']');
}

static void put_layouts(const struct call_text *text, unsigned layout, const unsigned char *bytes, size_t size_bytes)
{
    size_t each = struct_layout_bytes(layout);

    text_put_char(text->out, '[');
    for (size_t at = 0; at + each <= size_bytes; at += each) {
        text_put_string(text->out, at == 0 ? "" : ", ");
        struct_layout_put(text, layout, bytes + at, each);
    }
    text_put_char(text->out, ']');
}

/* Bytes in quotes, as many as are wanted. */
static void put_bytes(const struct call_text *text, bool is_raw, const void *bytes, size_t size_bytes)
{
    size_t shown = size_bytes < text->options->string_bytes ? size_bytes : text->options->string_bytes;

    if (!is_raw) {
        call_text_put_quoted(text, bytes, shown, shown < size_bytes);
        return;
    }
    text_put_char(text->out, '"');
    for (size_t i = 0; i < shown; i++) {
        text_put_string(text->out, "\\x");
        text_put_hex(text->out, ((const unsigned char *)bytes)[i], 2);
    }
    text_put_string(text->out, shown < size_bytes ? "\"..." : "\"");
}

static void put_array_name(const struct call_text *text, const char *bytes, size_t size_bytes)
{
    size_t length = strnlen(bytes, size_bytes);

    call_text_put_quoted(text, bytes, length < size_bytes ? length : size_bytes - 1, length == size_bytes);
}

/* Addresses of Ethernet and of the loop have six bytes; of others all are shown. */
static void put_typed_hardware(const struct call_text *text, const unsigned char *bytes, size_t size_bytes)
{
    uint64_t type = value_unsigned(bytes - 2, 2);

    put_hardware(text->out, bytes,
                 (type == ARPHRD_ETHER || type == ARPHRD_LOOPBACK) && size_bytes > 6 ? 6 : size_bytes);
}

static bool put_many(const struct call_text *text, struct value_form form, const void *bytes, size_t size_bytes)
{
    size_t length;

    switch ((enum value_kind)form.kind) {
    case VALUE_HARDWARE:
        put_hardware(text->out, bytes, size_bytes);
        return true;
    case VALUE_TEXT:
        put_bytes(text, false, bytes, strnlen(bytes, size_bytes));
        return true;
    case VALUE_STRING:
        length = strnlen(bytes, size_bytes);
        if (length < size_bytes)
            put_bytes(text, false, bytes, length);
        else
            call_text_put_quoted(text, bytes,
                                 length < text->options->string_bytes ? length : text->options->string_bytes, true);
        return true;
    case VALUE_NAME:
        put_array_name(text, bytes, size_bytes);
        return true;
    case VALUE_HARDWARE_OF_TYPE:
        put_typed_hardware(text, bytes, size_bytes);
        return true;
    case VALUE_BYTES:
    case VALUE_RAW:
        put_bytes(text, form.kind == VALUE_RAW, bytes, size_bytes);
        return true;
    case VALUE_DIGITS:
        put_digits(text->out, bytes, size_bytes);
        return true;
    case VALUE_NUMBERS:
    case VALUE_HEX_LIST:
        put_list(text, form.kind == VALUE_HEX_LIST, form.detail, bytes, size_bytes);
        return true;
    case VALUE_HEX_PAIRS:
        put_pairs(text, bytes, size_bytes);
        return true;
    case VALUE_LAYOUT:
        struct_layout_put(text, form.detail, bytes, size_bytes);
        return true;
    case VALUE_SOCKET_ADDRESS:
        socket_address_text_put(text, bytes, size_bytes);
        return true;
    case VALUE_LAYOUTS:
        put_layouts(text, form.detail, bytes, size_bytes);
        return true;
    case VALUE_TIMESPEC:
        time_text_put_timespec(text, bytes);
        return true;
    case VALUE_TIMEVAL:
        time_text_put_timeval(text, bytes);
        return true;
    default:
        return false;
    }
}

static bool put_inet(const struct call_text *text, struct value_form form, const void *bytes, size_t size_bytes)
{
    bool is_six = form.kind == VALUE_INET6 || (form.kind != VALUE_INET && size_bytes >= sizeof(struct in6_addr));

    if (size_bytes < (is_six ? sizeof(struct in6_addr) : sizeof(struct in_addr)))
        return false;
    put_address(text->out, is_six ? AF_INET6 : AF_INET, bytes);
    return true;
}

static bool put_pointed(const struct call_text *text, struct value_form form, uint64_t address)
{
    if (form.kind == VALUE_STRING_AT)
        call_text_put_string(text, address);
    else if (form.kind == VALUE_PATH_AT)
        call_text_put_path(text, address);
    else
        struct_layout_put_at(text, form.detail, address);
    return true;
}

/* The fewest bytes that such a value has. */
static size_t fewest_bytes(struct value_form form)
{
    switch ((enum value_kind)form.kind) {
    case VALUE_LAYOUT:
        return struct_layout_fewest_bytes(form.detail);
    case VALUE_TIMESPEC:
    case VALUE_TIMEVAL:
        return 16;
    case VALUE_NUMBERS:
    case VALUE_HEX_LIST:
        return form.detail;
    case VALUE_STRING_AT:
    case VALUE_PATH_AT:
    case VALUE_LAYOUT_AT:
        return 8;
    default:
        return 1;
    }
}

bool value_text_put(const struct call_text *text, struct value_form form, const void *bytes, size_t size_bytes)
{
    if (size_bytes < fewest_bytes(form))
        return false;
    switch ((enum value_kind)form.kind) {
    case VALUE_INET:
    case VALUE_INET6:
    case VALUE_INET_ANY:
        return put_inet(text, form, bytes, size_bytes);
    case VALUE_STRING_AT:
    case VALUE_PATH_AT:
    case VALUE_LAYOUT_AT:
        return put_pointed(text, form, value_unsigned(bytes, 8));
    default:
        return put_number(text, form, bytes, size_bytes) || put_many(text, form, bytes, size_bytes);
    }
}
