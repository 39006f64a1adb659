/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"
#include "syscalls/netlink_text.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Of the socket that the call is about, which is its first argument. -1: it is none of netlink's. */
static int protocol_of(const struct call_text *text)
{
    if (text->call == NULL || (text->call->classes & SYSTEM_CALL_CLASS_NETWORK) == 0 ||
        text->options->netlink_protocol == NULL)
        return -1;
    return text->options->netlink_protocol(text->pid, (int)text->arguments[0]);
}

static void put_sent(const struct call_text *text, int protocol, uint64_t address, uint64_t size_bytes)
{
    if (protocol < 0 || !netlink_text_put(text, (unsigned)protocol, address, size_bytes))
        call_text_put_bytes(text, address, size_bytes);
}

void socket_text_put_bytes(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    put_sent(text, protocol_of(text), address, size_bytes);
}

static void put_vectors(const struct call_text *text, uint64_t address, uint64_t count, uint64_t bytes_max, bool only)
{
    uint64_t limit = text->options->is_verbose ? CALL_TEXT_ELEMENTS_MAX : text->options->string_bytes;
    struct iovec vector;
    int protocol;

    if (count == 0 && address != 0) {
        text_put_string(text->out, "[]");
        return;
    }
    if (!call_text_read(text, address, &vector, sizeof(vector))) {
        call_text_put_address(text, address);
        return;
    }
    protocol = only ? -1 : protocol_of(text);
    text_put_char(text->out, '[');
    for (uint64_t i = 0; i < count; i++) {
        uint64_t here = address + i * sizeof(vector), shown;

        text_put_string(text->out, i == 0 ? "" : ", ");
        if (i == limit) {
            text_put_string(text->out, "...");
            break;
        }
        if (!call_text_read(text, here, &vector, sizeof(vector))) {
            text_format(text->out, "... /* %#lx */", (unsigned long)here);
            break;
        }
        shown = vector.iov_len < bytes_max ? vector.iov_len : bytes_max;
        bytes_max -= shown;
        text_put_string(text->out, "{iov_base=");
        if (only)
            call_text_put_address(text, (uintptr_t)vector.iov_base);
        else
            put_sent(text, protocol, (uintptr_t)vector.iov_base, shown);
        text_format(text->out, ", iov_len=%lu}", (unsigned long)vector.iov_len);
    }
    text_put_char(text->out, ']');
}

void socket_text_put_iovec(const struct call_text *text, uint64_t address, uint64_t count, uint64_t bytes_max)
{
    put_vectors(text, address, count, bytes_max, false);
}

void socket_text_put_iovec_only(const struct call_text *text, uint64_t address, uint64_t count)
{
    put_vectors(text, address, count, UINT64_MAX, true);
}

static void put_header(const struct call_text *text, const struct msghdr *header, uint64_t bytes_max)
{
    text_put_string(text->out, "{msg_name=");
    if (header->msg_namelen > 0 && header->msg_name != NULL)
        socket_text_put_address(text, (uintptr_t)header->msg_name, header->msg_namelen);
    else
        call_text_put_address(text, (uintptr_t)header->msg_name);
    text_put_string(text->out, ", msg_namelen=");
    if (text->is_over && text->entered_length != header->msg_namelen)
        text_format(text->out, "%u => ", text->entered_length);
    text_format(text->out, "%u, msg_iov=", header->msg_namelen);
    socket_text_put_iovec(text, (uintptr_t)header->msg_iov, header->msg_iovlen, bytes_max);
    text_format(text->out, ", msg_iovlen=%lu", (unsigned long)header->msg_iovlen);
    if (header->msg_controllen > 0) {
        text_put_string(text->out, ", msg_control=");
        control_text_put(text, (uintptr_t)header->msg_control, header->msg_controllen);
    }
    text_format(text->out, ", msg_controllen=%lu, msg_flags=", (unsigned long)header->msg_controllen);
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_message, (uint32_t)header->msg_flags);
    text_put_char(text->out, '}');
}

void socket_text_put_message(const struct call_text *text, uint64_t address, uint64_t bytes_max)
{
    struct msghdr header;

    if (call_text_read(text, address, &header, sizeof(header)))
        put_header(text, &header, bytes_max);
    else
        call_text_put_address(text, address);
}

void socket_text_put_mmessage(const struct call_text *text, const void *bytes)
{
    struct mmsghdr message;
    struct call_text same = *text;

    memcpy(&message, bytes, sizeof(message));
    same.entered_length = message.msg_hdr.msg_namelen;
    text_put_string(text->out, "{msg_hdr=");
    put_header(&same, &message.msg_hdr, text->is_over ? message.msg_len : UINT64_MAX);
    if (text->is_over)
        text_format(text->out, ", msg_len=%u", message.msg_len);
    text_put_char(text->out, '}');
}

void socket_text_put_type(struct text_writer *out, uint32_t type)
{
    uint32_t flags = type & (SOCK_CLOEXEC | SOCK_NONBLOCK), kind = type & 0xf;
    const char *name = constant_set_name(SYSTEM_CALL_SET_socket_type, kind);
    bool is_first = name == NULL;

    if (name == NULL && type == 0) {
        text_put_char(out, '0');
        return;
    }
    if (name != NULL)
        text_put_string(out, name);
    (void)constant_set_put_bits(out, SYSTEM_CALL_SET_socket, flags, &is_first);
    flags = type & ~flags & (name == NULL ? UINT32_MAX : ~0xfU);
    if (flags != 0)
        text_format(out, "%s%#x%s", is_first ? "" : "|", flags,
                    (type & (SOCK_CLOEXEC | SOCK_NONBLOCK)) == 0 ? " /* SOCK_??? */" : "");
}

void socket_text_put_protocol(const struct call_text *text, uint64_t family, uint64_t protocol)
{
    switch (family) {
    case AF_INET:
    case AF_INET6:
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_in6_protocol, protocol);
        break;
    case AF_NETLINK:
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_netlink_protocol, protocol);
        break;
    case AF_PACKET:
        text_put_string(text->out, "htons(");
        call_text_put_hex(text, ntohs((uint16_t)protocol));
        text_put_string(text->out, " /* ETH_P_??? */)");
        break;
    default:
        text_put_unsigned(text->out, protocol);
        break;
    }
}
