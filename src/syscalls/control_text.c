/* SPDX-License-Identifier: MIT */
/*
 * Control messages of sockets: what is in each, by its level and type. They are read one at a time, so that those
 * before the first that cannot be read are written. Stateless.
 */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"
#include "syscalls/value_forms.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define DATA_BYTES 4096
/* Timestamps, as two generations of headers number them. */
#define TIMES_OLD      29
#define NANO_TIMES_OLD 35
#define STAMPS_OLD     37
#define TIMES_NEW      63
#define NANO_TIMES_NEW 64
#define STAMPS_NEW     65

enum control_shape {
    CONTROL_ONE,  /* a struct */
    CONTROL_LIST, /* as many as there are */
    CONTROL_TEXT,
    CONTROL_TIME,  /* a struct that is nothing if it is cut */
    CONTROL_THREE, /* three of them */
};

struct control_form {
    int level;
    int type;
    uint8_t shape;
    uint8_t each; /* bytes, at least so many of which are needed */
    struct value_form form;
};

static const struct control_form forms[] = {
    {SOL_SOCKET, SCM_RIGHTS, CONTROL_LIST, 4, {DESCRIPTOR}},
    {SOL_SOCKET, SCM_CREDENTIALS, CONTROL_ONE, 12, {LAYOUT_OF(socket_credentials)}},
    {SOL_SOCKET, 3, CONTROL_TEXT, 1, {BYTES}},
    {SOL_SOCKET, TIMES_OLD, CONTROL_TIME, 16, {TIMEVAL}},
    {SOL_SOCKET, TIMES_NEW, CONTROL_TIME, 16, {TIMEVAL}},
    {SOL_SOCKET, NANO_TIMES_OLD, CONTROL_TIME, 16, {TIMESPEC}},
    {SOL_SOCKET, NANO_TIMES_NEW, CONTROL_TIME, 16, {TIMESPEC}},
    {SOL_SOCKET, STAMPS_OLD, CONTROL_THREE, 48, {TIMESPEC}},
    {SOL_SOCKET, STAMPS_NEW, CONTROL_THREE, 48, {TIMESPEC}},
    {SOL_IP, IP_PKTINFO, CONTROL_ONE, 12, {LAYOUT_OF(packet_info)}},
    {SOL_IP, IP_TTL, CONTROL_LIST, 4, {UNSIGNED}},
    {SOL_IP, IP_TOS, CONTROL_LIST, 1, {HEX}},
    {SOL_IP, IP_RECVOPTS, CONTROL_LIST, 1, {HEX}},
    {SOL_IP, IP_RETOPTS, CONTROL_LIST, 1, {HEX}},
    {SOL_IP, IP_RECVERR, CONTROL_ONE, 32, {LAYOUT_OF(extended_error)}},
    {SOL_IP, IP_ORIGDSTADDR, CONTROL_ONE, 16, {SOCKET_ADDRESS}},
    {SOL_IP, IP_CHECKSUM, CONTROL_LIST, 4, {UNSIGNED}},
    {SOL_IP, 18, CONTROL_TEXT, 1, {BYTES}},
};

static const struct control_form *find_form(const struct cmsghdr *header)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (forms[i].level == header->cmsg_level && forms[i].type == header->cmsg_type)
            return &forms[i];
    return NULL;
}

static void put_list(const struct call_text *text, const struct control_form *form, size_t each,
                     const unsigned char *data, size_t size_bytes)
{
    text_put_char(text->out, '[');
    for (size_t at = 0; at + each <= size_bytes; at += each) {
        text_put_string(text->out, at == 0 ? "" : ", ");
        if (at / each == text->options->string_bytes && !text->options->is_verbose) {
            text_put_string(text->out, "...");
            break;
        }
        (void)value_text_put(text, form->form, data + at, each);
    }
    text_put_char(text->out, ']');
}

static void put_data(const struct call_text *text, const struct cmsghdr *header, uint64_t address, size_t size_bytes)
{
    const struct control_form *form = find_form(header);
    unsigned char data[DATA_BYTES];

    if (size_bytes == 0 || form == NULL || (form->shape == CONTROL_LIST && size_bytes < form->each))
        return;
    text_put_string(text->out, ", cmsg_data=");
    if (size_bytes > sizeof(data))
        size_bytes = sizeof(data);
    if (!call_text_read(text, address, data, size_bytes))
        call_text_put_address(text, address);
    else if (size_bytes < form->each && form->shape >= CONTROL_TIME)
        text_put_string(text->out, "???");
    else if (size_bytes < form->each || form->shape == CONTROL_TEXT)
        call_text_put_quoted(text, (const char *)data, size_bytes, false);
    else if (form->shape == CONTROL_THREE)
        put_list(text, form, 16, data, form->each);
    else if (form->shape == CONTROL_LIST)
        put_list(text, form, form->each, data, size_bytes);
    else
        (void)value_text_put(text, form->form, data, form->form.kind == VALUE_SOCKET_ADDRESS ? size_bytes : form->each);
}

static void put_type(const struct call_text *text, const struct cmsghdr *header)
{
    if (header->cmsg_level == SOL_SOCKET)
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_cmsg_type, (uint32_t)header->cmsg_type);
    else if (header->cmsg_level == SOL_IP)
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_ip_control, (uint32_t)header->cmsg_type);
    else
        call_text_put_hex(text, (uint32_t)header->cmsg_type);
}

void control_text_put(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    struct cmsghdr header;

    if (size_bytes < sizeof(header) || !call_text_read(text, address, &header, sizeof(header))) {
        call_text_put_address(text, address);
        return;
    }
    text_put_char(text->out, '[');
    for (unsigned count = 0; size_bytes > 0; count++) {
        uint64_t length;

        text_put_string(text->out, count == 0 ? "" : ", ");
        if (count == text->options->string_bytes && !text->options->is_verbose) {
            text_put_string(text->out, "...");
            break;
        }
        if (size_bytes < sizeof(header) || !call_text_read(text, address, &header, sizeof(header))) {
            text_format(text->out, "... /* %#lx */", (unsigned long)address);
            break;
        }
        text_format(text->out, "{cmsg_len=%lu, cmsg_level=", (unsigned long)header.cmsg_len);
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_socket_level, (uint32_t)header.cmsg_level);
        text_put_string(text->out, ", cmsg_type=");
        put_type(text, &header);
        length = header.cmsg_len < size_bytes ? header.cmsg_len : size_bytes;
        put_data(text, &header, address + sizeof(header),
                 length > sizeof(header) ? (size_t)(length - sizeof(header)) : 0);
        text_put_char(text->out, '}');
        /* One that is shorter than its own head is taken for its head. */
        length = CMSG_ALIGN(length < sizeof(header) ? sizeof(header) : length);
        address += length;
        size_bytes -= length < size_bytes ? length : size_bytes;
    }
    text_put_char(text->out, ']');
}
