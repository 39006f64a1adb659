/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"
#include "syscalls/netlink_text.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#define VALUE_BYTES   256
#define CONTROL_BYTES 1024

static void put_unix(const struct call_text *text, const struct sockaddr_un *address, size_t size_bytes)
{
    size_t length = size_bytes - offsetof(struct sockaddr_un, sun_path);

    if (size_bytes <= offsetof(struct sockaddr_un, sun_path))
        return;
    text_put_string(text->out, ", sun_path=");
    if (address->sun_path[0] == '\0' && length > 1) {
        text_put_char(text->out, '@');
        call_text_put_quoted(text, address->sun_path + 1, length - 1, false);
    } else {
        call_text_put_array_text(text, address->sun_path, length);
    }
}

static void put_inet6(const struct call_text *text, const struct sockaddr_in6 *address)
{
    char name[INET6_ADDRSTRLEN];

    inet_ntop(AF_INET6, &address->sin6_addr, name, sizeof(name));
    text_format(text->out, ", sin6_port=htons(%u), sin6_flowinfo=htonl(%u), inet_pton(AF_INET6, \"%s\", &sin6_addr)",
                ntohs(address->sin6_port), ntohl(address->sin6_flowinfo), name);
    text_format(text->out, ", sin6_scope_id=%u", address->sin6_scope_id);
}

static void put_inet(const struct call_text *text, const struct sockaddr_in *address)
{
    char name[INET_ADDRSTRLEN];

    inet_ntop(AF_INET, &address->sin_addr, name, sizeof(name));
    text_format(text->out, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")", ntohs(address->sin_port), name);
}

static void put_netlink(const struct call_text *text, const struct sockaddr_nl *address)
{
    text_format(text->out, ", nl_pid=%u, nl_groups=%08x", address->nl_pid, address->nl_groups);
}

void socket_text_put_address(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    union {
        struct sockaddr any;
        struct sockaddr_un local;
        struct sockaddr_in inet;
        struct sockaddr_in6 inet6;
        struct sockaddr_nl netlink;
        struct sockaddr_storage all;
    } socket = {0};
    size_t known = size_bytes < sizeof(socket) ? (size_t)size_bytes : sizeof(socket);

    if (known < sizeof(sa_family_t) || !call_text_read(text, address, &socket, known)) {
        call_text_put_address(text, address);
        return;
    }
    text_put_string(text->out, "{sa_family=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_address_family, socket.any.sa_family);
    if (socket.any.sa_family == AF_UNIX) {
        put_unix(text, &socket.local, known < sizeof(socket.local) ? known : sizeof(socket.local));
    } else if (socket.any.sa_family == AF_INET && known >= sizeof(socket.inet)) {
        put_inet(text, &socket.inet);
    } else if (socket.any.sa_family == AF_INET6 && known >= sizeof(socket.inet6)) {
        put_inet6(text, &socket.inet6);
    } else if (socket.any.sa_family == AF_NETLINK && known >= sizeof(socket.netlink)) {
        put_netlink(text, &socket.netlink);
    } else if (known > sizeof(sa_family_t)) {
        text_put_string(text->out, ", sa_data=");
        call_text_put_quoted(text, socket.any.sa_data, known - sizeof(sa_family_t), false);
    }
    text_put_char(text->out, '}');
}

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

static void put_rights(const struct call_text *text, const unsigned char *data, size_t size_bytes)
{
    text_put_string(text->out, ", cmsg_data=[");
    for (size_t i = 0; i + 4 <= size_bytes; i += 4) {
        int fd;

        memcpy(&fd, data + i, sizeof(fd));
        text_put_string(text->out, i == 0 ? "" : ", ");
        call_text_put_fd(text, fd);
    }
    text_put_char(text->out, ']');
}

static void put_control_data(const struct call_text *text, const struct cmsghdr *header, const unsigned char *data,
                             size_t size_bytes)
{
    struct ucred credentials;

    if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        put_rights(text, data, size_bytes);
    } else if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_CREDENTIALS &&
               size_bytes >= sizeof(credentials)) {
        memcpy(&credentials, data, sizeof(credentials));
        text_format(text->out, ", cmsg_data={pid=%d, uid=%u, gid=%u}", credentials.pid, credentials.uid,
                    credentials.gid);
    } else if (size_bytes > 0) {
        text_put_string(text->out, ", cmsg_data=");
        call_text_put_quoted(text, (const char *)data, size_bytes, false);
    }
}

static void put_control(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    unsigned char bytes[CONTROL_BYTES];
    size_t known = size_bytes < sizeof(bytes) ? (size_t)size_bytes : sizeof(bytes), at = 0;
    struct cmsghdr header;

    if (!call_text_read(text, address, bytes, known)) {
        call_text_put_address(text, address);
        return;
    }
    text_put_char(text->out, '[');
    while (at + sizeof(header) <= known) {
        size_t data;

        memcpy(&header, bytes + at, sizeof(header));
        text_format(text->out, "%s{cmsg_len=%lu, cmsg_level=", at == 0 ? "" : ", ", (unsigned long)header.cmsg_len);
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_socket_level, (uint32_t)header.cmsg_level);
        text_put_string(text->out, ", cmsg_type=");
        if (header.cmsg_level == SOL_SOCKET)
            constant_set_put_choice(text->out, SYSTEM_CALL_SET_cmsg_type, (uint32_t)header.cmsg_type);
        else
            call_text_put_hex(text, (uint32_t)header.cmsg_type);
        data = header.cmsg_len < sizeof(header) ? 0 : header.cmsg_len - sizeof(header);
        if (data > known - at - sizeof(header))
            data = known - at - sizeof(header);
        put_control_data(text, &header, bytes + at + sizeof(header), data);
        text_put_char(text->out, '}');
        if (header.cmsg_len < sizeof(header) || header.cmsg_len > known - at)
            break;
        at += CMSG_ALIGN(header.cmsg_len);
    }
    text_put_char(text->out, ']');
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
        put_control(text, (uintptr_t)header->msg_control, header->msg_controllen);
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

void socket_text_put_option(struct text_writer *out, uint64_t level, uint64_t option)
{
    switch ((uint32_t)level) {
    case SOL_SOCKET:
        constant_set_put_choice(out, SYSTEM_CALL_SET_so_option, option);
        break;
    case IPPROTO_TCP:
        constant_set_put_choice(out, SYSTEM_CALL_SET_tcp_option, option);
        break;
    case IPPROTO_IP:
        constant_set_put_choice(out, SYSTEM_CALL_SET_ip_option, option);
        break;
    case IPPROTO_IPV6:
        constant_set_put_choice(out, SYSTEM_CALL_SET_ipv6_option, option);
        break;
    default:
        text_put_unsigned(out, (uint32_t)option);
        break;
    }
}

static bool put_known_value(const struct call_text *text, const void *value, size_t size_bytes)
{
    uint64_t option = text->arguments[2];
    int numbers[3];

    if (text->arguments[1] != SOL_SOCKET)
        return false;
    memcpy(numbers, value, size_bytes < sizeof(numbers) ? size_bytes : sizeof(numbers));
    if (option == SO_LINGER && size_bytes >= 8)
        text_format(text->out, "{l_onoff=%d, l_linger=%d}", numbers[0], numbers[1]);
    else if (option == SO_PEERCRED && size_bytes >= 12)
        text_format(text->out, "{pid=%d, uid=%d, gid=%d}", numbers[0], numbers[1], numbers[2]);
    else if ((option == SO_RCVTIMEO || option == SO_SNDTIMEO) && size_bytes >= 16)
        time_text_put_timeval(text, value);
    else
        return false;
    return true;
}

void socket_text_put_value(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    uint64_t value[VALUE_BYTES / 8] = {0};
    uint64_t level = text->arguments[1];
    int number;

    if (size_bytes > 0 && size_bytes <= sizeof(value) && call_text_read(text, address, value, (size_t)size_bytes) &&
        put_known_value(text, value, (size_t)size_bytes))
        return;
    if (size_bytes == sizeof(number) && call_text_read(text, address, &number, sizeof(number)) &&
        (level == SOL_SOCKET || level == IPPROTO_TCP || level == IPPROTO_IP || level == IPPROTO_IPV6 ||
         level == SOL_NETLINK))
        text_format(text->out, "[%d]", number);
    else
        call_text_put_bytes(text, address, size_bytes);
}
