/* SPDX-License-Identifier: MIT */
/* Options of sockets by name, and their values by the table socket_options.def. Stateless. */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"
#include "syscalls/value_forms.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#define VALUE_MAX 4096
/* Levels that libc's headers do not have together with its own. */
#define LEVEL_NETLINK 270
#define LEVEL_PACKET  263
#define LEVEL_ICMP    255
/* Options that are no plain values. */
#define PACKET_JOIN        1
#define PACKET_LEAVE       2
#define SOCKET_FILTER      26
#define SOCKET_REUSE       51
#define ICMP_FILTER_OPTION 1
#define MEMBERSHIP_BYTES   16
#define HARDWARE_BYTES     8

struct option_form {
    uint32_t level;
    uint32_t option;
    struct value_form form;
};

static const struct option_form options[] = {
#define OPTION(level, option, ...) {level, option, {__VA_ARGS__}},
#define NUMBER(level, first, last)
#include "syscalls/socket_options.def"
#undef OPTION
#undef NUMBER
};

struct option_range {
    uint32_t level;
    uint32_t first;
    uint32_t last;
};

static const struct option_range numbers[] = {
#define OPTION(level, option, ...)
#define NUMBER(level, first, last) {level, first, last},
#include "syscalls/socket_options.def"
#undef OPTION
#undef NUMBER
};

struct level_names {
    uint32_t level;
    uint16_t set;
};

static const struct level_names level_names[] = {
    {SOL_SOCKET, SYSTEM_CALL_SET_so_option},       {IPPROTO_TCP, SYSTEM_CALL_SET_tcp_option},
    {IPPROTO_IP, SYSTEM_CALL_SET_ip_option},       {IPPROTO_IPV6, SYSTEM_CALL_SET_ipv6_option},
    {IPPROTO_UDP, SYSTEM_CALL_SET_udp_option},     {LEVEL_NETLINK, SYSTEM_CALL_SET_netlink_option},
    {LEVEL_PACKET, SYSTEM_CALL_SET_packet_option}, {LEVEL_ICMP, SYSTEM_CALL_SET_raw_option},
    {279, SYSTEM_CALL_SET_algorithm_option},       {AF_VSOCK, SYSTEM_CALL_SET_vsock_option},
};

void socket_text_put_option(const struct call_text *text, uint64_t level, uint64_t option)
{
    for (size_t i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
        if (level_names[i].level != (uint32_t)level)
            continue;
        /* One that is got by the number that it is set by. */
        if (level == SOL_SOCKET && option == SOCKET_FILTER && strcmp(text->call->name, "getsockopt") == 0)
            text_put_string(text->out, "SO_GET_FILTER");
        else
            constant_set_put_choice(text->out, level_names[i].set, option);
        return;
    }
    text_put_unsigned(text->out, (uint32_t)option);
}

static bool is_number_option(uint32_t level, uint32_t option)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i].level == level && option >= numbers[i].first && option <= numbers[i].last)
            return true;
    return false;
}

static bool find_form(uint32_t level, uint32_t option, struct value_form *form_out)
{
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (options[i].level == level && options[i].option == option) {
            *form_out = options[i].form;
            return true;
        }
    }
    if (!is_number_option(level, option))
        return false;
    *form_out = (struct value_form){SIGNED};
    return true;
}

/* Bytes that a value of that form has. */
static size_t bytes_of(struct value_form form)
{
    switch ((enum value_kind)form.kind) {
    case VALUE_LAYOUT:
        return struct_layout_bytes(form.detail);
    case VALUE_TIMEVAL:
        return 16;
    case VALUE_NUMBERS:
        return form.detail;
    case VALUE_TEXT:
        return 1;
    case VALUE_SOCKET_ADDRESS:
        return sizeof(sa_family_t);
    default:
        return 4;
    }
}

static bool is_number(struct value_form form)
{
    return form.kind < VALUE_TIMESPEC;
}

static void put_raw(const struct call_text *text, uint64_t address, size_t size_bytes)
{
    call_text_put_random(text, address, size_bytes);
}

static bool is_open_ended(struct value_form form)
{
    return form.kind == VALUE_NUMBERS || form.kind == VALUE_TEXT || form.kind == VALUE_SOCKET_ADDRESS;
}

static void put_value(const struct call_text *text, struct value_form form, const void *value, size_t size_bytes)
{
    text_put_string(text->out, is_number(form) ? "[" : "");
    (void)value_text_put(text, form, value, size_bytes);
    text_put_string(text->out, is_number(form) ? "]" : "");
}

/* A value that is shorter than it should be: the kernel writes as much of it as there is room for. */
static void put_short(const struct call_text *text, struct value_form form, uint64_t address, size_t size_bytes)
{
    uint64_t value[VALUE_MAX / 8];

    if (text->arguments[1] != SOL_SOCKET && text->arguments[1] != LEVEL_PACKET)
        call_text_put_address(text, address);
    else if (size_bytes == 0 || !call_text_read(text, address, value, size_bytes))
        call_text_put_address(text, address);
    else if (form.kind == VALUE_LAYOUT)
        struct_layout_put_beginning(text, form.detail, value, size_bytes);
    else
        put_raw(text, address, size_bytes);
}

/* Rings and statistics of packets are looked at when they are as long as they should be. */
static bool fits(struct value_form form, uint64_t size_bytes, bool is_set)
{
    return !is_set || form.kind != VALUE_LAYOUT || form.detail != STRUCT_LAYOUT_packet_request ||
           size_bytes == struct_layout_bytes(form.detail);
}

/* A number or bytes, as nothing is known of the option. */
static void put_plain(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    int number;

    if (size_bytes == sizeof(number) && call_text_read(text, address, &number, sizeof(number)))
        text_format(text->out, "[%d]", number);
    else if ((int32_t)size_bytes < 0 || (size_bytes == 0 && strcmp(text->call->name, "getsockopt") == 0))
        call_text_put_address(text, address);
    else
        call_text_put_bytes(text, address, size_bytes);
}

static void put_formed(const struct call_text *text, struct value_form form, uint64_t address, uint64_t size_bytes,
                       bool is_set)
{
    uint64_t value[VALUE_MAX / 8];
    size_t wanted = bytes_of(form);

    if ((int32_t)size_bytes < 0 || !fits(form, size_bytes, is_set)) {
        call_text_put_address(text, address);
        return;
    }
    if (size_bytes < wanted && form.kind == VALUE_TIMEVAL) {
        put_plain(text, address, size_bytes);
        return;
    }
    if (size_bytes < wanted) {
        if (form.kind == VALUE_NUMBERS && address != 0 && !is_set)
            text_put_string(text->out, "[]");
        else if (is_set)
            call_text_put_address(text, address);
        else
            put_short(text, form, address, (size_t)size_bytes);
        return;
    }
    if (is_open_ended(form))
        wanted = size_bytes < sizeof(value) ? (size_t)size_bytes : sizeof(value);
    if (call_text_read(text, address, value, wanted))
        put_value(text, form, value, wanted);
    else
        call_text_put_address(text, address);
}

/* Who joins a group of packets: its address is as long as it says. */
static void put_membership(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    unsigned char bytes[MEMBERSHIP_BYTES];
    unsigned length;

    if (size_bytes != sizeof(bytes) || !call_text_read(text, address, bytes, sizeof(bytes))) {
        call_text_put_address(text, address);
        return;
    }
    length = (unsigned)value_unsigned(bytes + 6, 2);
    text_put_string(text->out, "{mr_ifindex=");
    (void)value_text_put(text, (struct value_form){INTERFACE}, bytes, 4);
    text_put_string(text->out, ", mr_type=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_packet_membership, value_unsigned(bytes + 4, 2));
    text_format(text->out, ", mr_alen=%u, mr_address=", length);
    (void)value_text_put(text, (struct value_form){HARDWARE}, bytes + 8,
                         length < HARDWARE_BYTES ? length : HARDWARE_BYTES);
    text_put_char(text->out, '}');
}

/* A bit for each type of message: those that are not let through, or if they are most, those that are. */
static void put_icmp_filter(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    uint32_t bits;
    bool is_first = true, is_inverted;

    if ((int32_t)size_bytes < 4 || !call_text_read(text, address, &bits, sizeof(bits))) {
        if ((int32_t)size_bytes > 0)
            call_text_put_bytes(text, address, size_bytes);
        else
            call_text_put_address(text, address);
        return;
    }
    is_inverted = __builtin_popcount(bits) > 16;
    bits = is_inverted ? ~bits : bits;
    text_put_string(text->out, is_inverted ? "~[" : "[");
    for (unsigned i = 0; i < 32; i++) {
        const char *name = constant_set_name(SYSTEM_CALL_SET_icmp_type, i);

        if ((bits >> i & 1) == 0)
            continue;
        text_put_string(text->out, is_first ? "" : " ");
        is_first = false;
        if (name != NULL)
            text_put_string(text->out, name);
        else
            text_put_unsigned(text->out, i);
    }
    text_put_char(text->out, ']');
}

/* Those that are no plain values. False: it is none of them. */
static bool put_special(const struct call_text *text, uint64_t address, uint64_t size_bytes, bool is_set)
{
    uint64_t level = text->arguments[1], option = text->arguments[2];

    if (level == LEVEL_PACKET && is_set && (option == PACKET_JOIN || option == PACKET_LEAVE))
        put_membership(text, address, size_bytes);
    else if (level == LEVEL_ICMP && option == ICMP_FILTER_OPTION)
        put_icmp_filter(text, address, size_bytes);
    else if (level != SOL_SOCKET || (option != SOCKET_FILTER && option != SOCKET_REUSE))
        return false;
    else if (!is_set || size_bytes < 16)
        call_text_put_address(text, address);
    else
        filter_text_put(text, address, false);
    return true;
}

void socket_text_put_value(const struct call_text *text, uint64_t address, uint64_t size_bytes, bool is_set)
{
    struct value_form form;

    if (put_special(text, address, size_bytes, is_set))
        return;
    /* Errors and who is at the other end are only asked for. */
    if (is_set && text->arguments[1] == SOL_SOCKET &&
        (text->arguments[2] == SO_ERROR || text->arguments[2] == SO_PEERCRED)) {
        put_plain(text, address, size_bytes);
        return;
    }
    if (find_form((uint32_t)text->arguments[1], (uint32_t)text->arguments[2], &form))
        put_formed(text, form, address, size_bytes, is_set);
    else
        put_plain(text, address, size_bytes);
}
