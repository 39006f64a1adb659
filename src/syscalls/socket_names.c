/* SPDX-License-Identifier: MIT */
/*
 * The kernel lists sockets through netlink (sock_diag). A socket that is bound or connected stays so with its inode, so
 * what was found once is kept for some of them.
 */
#define _GNU_SOURCE
#include "syscalls/socket_names.h"

#include "syscalls/names/constant_set.h"
#include "syscalls/quoted_text.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/netlink_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_BYTES 8192
#define KEPT         128
#define NAME_BYTES   256
#define WAIT_MS      200

static struct {
    unsigned long inode;
    char name[NAME_BYTES];
} kept[KEPT];

/* What is looked for, and where it goes. */
struct socket_lookup {
    struct text_writer *out;
    unsigned long inode;
    bool was_found; /* it is there */
    bool is_named;  /* and was written */
    bool is_final;  /* and stays so */
};

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static void put_inet(struct text_writer *out, int family, const void *address, unsigned port)
{
    char text[INET6_ADDRSTRLEN];

    if (inet_ntop(family, address, text, sizeof(text)) == NULL)
        text[0] = '\0';
    text_format(out, family == AF_INET6 ? "[%s]:%u" : "%s:%u", text, port);
}

static bool put_address(struct text_writer *out, const void *address, size_t size_bytes)
{
    struct sockaddr_in inet;
    struct sockaddr_in6 inet6;

    if (size_bytes >= sizeof(inet)) {
        memcpy(&inet, address, sizeof(inet));
        if (inet.sin_family == AF_INET && inet.sin_port != 0) {
            put_inet(out, AF_INET, &inet.sin_addr, ntohs(inet.sin_port));
            return true;
        }
    }
    if (size_bytes >= sizeof(inet6)) {
        memcpy(&inet6, address, sizeof(inet6));
        if (inet6.sin6_family == AF_INET6 && inet6.sin6_port != 0) {
            put_inet(out, AF_INET6, &inet6.sin6_addr, ntohs(inet6.sin6_port));
            return true;
        }
    }
    return false;
}

/* "ROUTE:1234" */
static void put_netlink(struct text_writer *out, unsigned protocol, unsigned port)
{
    char text[NAME_BYTES];
    struct text_writer name;
    const char *word;

    text_init(&name, text, sizeof(text));
    constant_set_put_choice(&name, SYSTEM_CALL_SET_netlink_protocol, protocol);
    word = strncmp(text, "NETLINK_", strlen("NETLINK_")) == 0 ? text + strlen("NETLINK_") : text;
    text_format(out, "%s:%u", word, port);
}

/* Names begin with a NUL where they are in no file system. */
static void put_unix_path(struct text_writer *out, const char *path, size_t size_bytes)
{
    bool is_abstract = size_bytes > 0 && path[0] == '\0';
    const struct quoted_text_piece piece = {.bytes = path + is_abstract,
                                            .size_bytes = is_abstract ? size_bytes - 1 : strnlen(path, size_bytes)};

    text_put_string(out, is_abstract ? ",@\"" : ",\"");
    quoted_text_put(out, &piece, QUOTED_OCTAL);
    text_put_char(out, '"');
}

bool socket_addresses_put(struct text_writer *out, const struct socket_addresses *addresses)
{
    char peer[NAME_BYTES];
    struct text_writer text;
    sa_family_t family = AF_UNSPEC;
    struct sockaddr_nl netlink = {.nl_pid = 0};

    if (addresses->local_bytes >= sizeof(family))
        memcpy(&family, addresses->local, sizeof(family));
    if (family == AF_NETLINK && addresses->local_bytes >= sizeof(netlink))
        memcpy(&netlink, addresses->local, sizeof(netlink));
    if (netlink.nl_pid != 0) {
        put_netlink(out, addresses->protocol, netlink.nl_pid);
        return true;
    }
    if (family == AF_UNIX && addresses->local_bytes > offsetof(struct sockaddr_un, sun_path)) {
        text_put_unsigned(out, addresses->inode);
        put_unix_path(out, (const char *)addresses->local + offsetof(struct sockaddr_un, sun_path),
                      addresses->local_bytes - offsetof(struct sockaddr_un, sun_path));
        return true;
    }
    if (!put_address(out, addresses->local, addresses->local_bytes))
        return false;
    text_init(&text, peer, sizeof(peer));
    if (put_address(&text, addresses->peer, addresses->peer_bytes))
        text_format(out, "->%s", peer);
    return true;
}

/* ---- what the kernel says ---------------------------------------------------------------------------------------- */

typedef void answer_taker(struct socket_lookup *lookup, const void *answer, size_t size_bytes);

static void take_inet(struct socket_lookup *lookup, const void *answer, size_t size_bytes)
{
    const struct inet_diag_msg *socket = answer;
    int family = socket->idiag_family;

    if (size_bytes < sizeof(*socket) || socket->idiag_inode != lookup->inode)
        return;
    lookup->was_found = true;
    if (socket->id.idiag_sport == 0)
        return;
    put_inet(lookup->out, family, socket->id.idiag_src, ntohs(socket->id.idiag_sport));
    if (socket->id.idiag_dport != 0) {
        text_put_string(lookup->out, "->");
        put_inet(lookup->out, family, socket->id.idiag_dst, ntohs(socket->id.idiag_dport));
        lookup->is_final = true;
    }
    lookup->is_named = true;
}

static void take_unix(struct socket_lookup *lookup, const void *answer, size_t size_bytes)
{
    const struct unix_diag_msg *socket = answer;
    const struct rtattr *attribute = (const void *)(socket + 1), *name = NULL;
    size_t left = size_bytes - sizeof(*socket);
    unsigned peer = 0;

    if (size_bytes < sizeof(*socket) || socket->udiag_ino != lookup->inode)
        return;
    for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
        if (attribute->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(attribute) >= sizeof(peer))
            memcpy(&peer, RTA_DATA(attribute), sizeof(peer));
        if (attribute->rta_type == UNIX_DIAG_NAME && RTA_PAYLOAD(attribute) != 0)
            name = attribute;
    }
    lookup->was_found = true;
    if (peer == 0 && name == NULL)
        return;
    text_put_unsigned(lookup->out, lookup->inode);
    if (peer != 0)
        text_format(lookup->out, "->%u", peer);
    if (name != NULL)
        put_unix_path(lookup->out, RTA_DATA(name), RTA_PAYLOAD(name));
    lookup->is_named = true;
    lookup->is_final = peer != 0;
}

static void take_netlink(struct socket_lookup *lookup, const void *answer, size_t size_bytes)
{
    const struct netlink_diag_msg *socket = answer;

    if (size_bytes < sizeof(*socket) || socket->ndiag_ino != lookup->inode)
        return;
    lookup->was_found = true;
    if (socket->ndiag_portid == 0)
        return;
    put_netlink(lookup->out, socket->ndiag_protocol, socket->ndiag_portid);
    lookup->is_named = lookup->is_final = true;
}

/* Asks for all sockets of a kind, and looks through them. */
static void ask(struct socket_lookup *lookup, const void *question, size_t question_bytes, answer_taker *take)
{
    struct {
        struct nlmsghdr header;
        char question[128];
    } request = {.header = {.nlmsg_len = (uint32_t)(sizeof(request.header) + question_bytes),
                            .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
    const struct timeval longest = {.tv_usec = WAIT_MS * 1000};
    union {
        struct nlmsghdr header;
        char bytes[ANSWER_BYTES];
    } answer;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    bool is_over = fd < 0;

    memcpy(request.question, question, question_bytes);
    if (fd >= 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof(longest));
    is_over = is_over || send(fd, &request, request.header.nlmsg_len, 0) < 0;
    while (!is_over) {
        ssize_t got = recv(fd, &answer, sizeof(answer), 0);
        const struct nlmsghdr *header = &answer.header;

        for (is_over = got <= 0; !is_over && NLMSG_OK(header, (size_t)got); header = NLMSG_NEXT(header, got)) {
            is_over = header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR;
            if (!is_over && !lookup->was_found)
                take(lookup, NLMSG_DATA(header), header->nlmsg_len - NLMSG_LENGTH(0));
        }
    }
    if (fd >= 0)
        close(fd);
}

static void ask_inet(struct socket_lookup *lookup, int family, int protocol)
{
    const struct inet_diag_req_v2 question = {
        .sdiag_family = (uint8_t)family, .sdiag_protocol = (uint8_t)protocol, .idiag_states = UINT32_MAX};

    ask(lookup, &question, sizeof(question), take_inet);
}

static void ask_unix(struct socket_lookup *lookup)
{
    const struct unix_diag_req question = {.sdiag_family = AF_UNIX,
                                           .udiag_states = UINT32_MAX,
                                           .udiag_ino = (uint32_t)lookup->inode,
                                           .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER,
                                           .udiag_cookie = {UINT32_MAX, UINT32_MAX}};

    ask(lookup, &question, sizeof(question), take_unix);
}

static void ask_netlink(struct socket_lookup *lookup)
{
    const struct netlink_diag_req question = {.sdiag_family = AF_NETLINK, .sdiag_protocol = NDIAG_PROTO_ALL};

    ask(lookup, &question, sizeof(question), take_netlink);
}

/* The families and protocols that the kernel's names stand for. */
static const struct {
    const char *name;
    int family;
    int protocol;
} protocols[] = {
    {"TCP", AF_INET, IPPROTO_TCP},
    {"TCPv6", AF_INET6, IPPROTO_TCP},
    {"UDP", AF_INET, IPPROTO_UDP},
    {"UDPv6", AF_INET6, IPPROTO_UDP},
    {"UDP-Lite", AF_INET, IPPROTO_UDPLITE},
    {"UDPLITEv6", AF_INET6, IPPROTO_UDPLITE},
    {"DCCP", AF_INET, IPPROTO_DCCP},
    {"DCCPv6", AF_INET6, IPPROTO_DCCP},
    {"SCTP", AF_INET, IPPROTO_SCTP},
    {"SCTPv6", AF_INET6, IPPROTO_SCTP},
    {"UNIX", AF_UNIX, 0},
    {"UNIX-STREAM", AF_UNIX, 0},
    {"NETLINK", AF_NETLINK, 0},
    {"RAW", AF_UNSPEC, 0},
    {"RAWv6", AF_UNSPEC, 0},
    {"PING", AF_UNSPEC, 0},
    {"PINGv6", AF_UNSPEC, 0},
};

bool socket_protocol_is_known(const char *protocol)
{
    for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
        if (strcmp(protocols[i].name, protocol) == 0)
            return true;
    return false;
}

static void look_up(struct socket_lookup *lookup, const char *protocol)
{
    for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
        if (strcmp(protocols[i].name, protocol) != 0)
            continue;
        if (protocols[i].family == AF_UNIX)
            ask_unix(lookup);
        else if (protocols[i].family == AF_NETLINK)
            ask_netlink(lookup);
        else if (protocols[i].family != AF_UNSPEC)
            ask_inet(lookup, protocols[i].family, protocols[i].protocol);
        return;
    }
}

bool socket_name_put(struct text_writer *out, const char *protocol, unsigned long inode)
{
    char name[NAME_BYTES];
    struct text_writer text;
    struct socket_lookup lookup = {.out = &text, .inode = inode};

    if (kept[inode % KEPT].inode == inode) {
        text_put_string(out, kept[inode % KEPT].name);
        return true;
    }
    text_init(&text, name, sizeof(name));
    look_up(&lookup, protocol);
    if (!lookup.is_named)
        return false;
    if (lookup.is_final) {
        kept[inode % KEPT].inode = inode;
        memcpy(kept[inode % KEPT].name, name, sizeof(name));
    }
    text_put_string(out, name);
    return true;
}
