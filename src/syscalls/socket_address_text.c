/* SPDX-License-Identifier: MIT */
/*
 * Addresses of sockets: by family, and by how many bytes there are. What fits none of the forms is written as bytes.
 * Stateless.
 */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"
#include "syscalls/value_forms.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define FIRST_CHANNEL 0x40 /* of L2CAP: those below have names */

/* Families whose addresses are a struct: how many bytes it has at least, and at most if there are several forms. */
struct address_form {
    uint16_t family;
    uint16_t fewest;
    uint16_t most;
    uint16_t layout;
};

static const struct address_form forms[] = {
    {AF_INET, 16, UINT16_MAX, STRUCT_LAYOUT_address_inet},
    {AF_IPX, 16, UINT16_MAX, STRUCT_LAYOUT_address_ipx},
    {AF_NETLINK, 12, UINT16_MAX, STRUCT_LAYOUT_address_netlink},
    {AF_BLUETOOTH, 6, 7, STRUCT_LAYOUT_address_hci},
    {AF_BLUETOOTH, 8, 9, STRUCT_LAYOUT_address_sco},
    {AF_BLUETOOTH, 10, 11, STRUCT_LAYOUT_address_rfcomm},
    {AF_IEEE802154, 20, UINT16_MAX, STRUCT_LAYOUT_address_802154},
    {AF_NFC, 16, 95, STRUCT_LAYOUT_address_nfc},
    {AF_VSOCK, 16, UINT16_MAX, STRUCT_LAYOUT_address_vsock},
    {AF_QIPCRTR, 12, UINT16_MAX, STRUCT_LAYOUT_address_router},
    {AF_XDP, 16, UINT16_MAX, STRUCT_LAYOUT_address_xdp},
    {45, 12, UINT16_MAX, STRUCT_LAYOUT_address_mctp},
};

static bool put_by_form(const struct call_text *text, unsigned family, const void *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (forms[i].family != family || size_bytes < forms[i].fewest || size_bytes > forms[i].most)
            continue;
        text_put_string(text->out, ", ");
        (void)struct_layout_put_fields(text, forms[i].layout, bytes, size_bytes);
        if (family == AF_NFC && size_bytes > 16)
            text_put_string(text->out, ", ...");
        return true;
    }
    return false;
}

static void put_unix(const struct call_text *text, const char *path, size_t length)
{
    text_put_string(text->out, ", sun_path=");
    if (path[0] == '\0' && length > 1) {
        text_put_char(text->out, '@');
        call_text_put_quoted(text, path + 1, length - 1, false);
    } else {
        call_text_put_array_text(text, path, length);
    }
}

static void put_inet6(const struct call_text *text, const unsigned char *bytes, size_t size_bytes)
{
    struct sockaddr_in6 address = {0};
    char name[INET6_ADDRSTRLEN];
    struct value_form form = {UNSIGNED};

    memcpy(&address, bytes, size_bytes < sizeof(address) ? size_bytes : sizeof(address));
    inet_ntop(AF_INET6, &address.sin6_addr, name, sizeof(name));
    text_format(text->out, ", sin6_port=htons(%u), sin6_flowinfo=htonl(%u), inet_pton(AF_INET6, \"%s\", &sin6_addr)",
                ntohs(address.sin6_port), ntohl(address.sin6_flowinfo), name);
    if (size_bytes < sizeof(address))
        return;
    /* Of addresses that hold for a link only, it is that link. */
    if (IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr) || IN6_IS_ADDR_MC_LINKLOCAL(&address.sin6_addr))
        form = (struct value_form){INTERFACE};
    text_put_string(text->out, ", sin6_scope_id=");
    (void)value_text_put(text, form, &address.sin6_scope_id, sizeof(address.sin6_scope_id));
}

static void put_packet(const struct call_text *text, const unsigned char *bytes, size_t size_bytes)
{
    static const unsigned char no_address[8];
    unsigned length = bytes[11], there = size_bytes > 12 ? (unsigned)size_bytes - 12 : 0, shown = length;

    text_put_string(text->out, ", sll_protocol=");
    (void)value_text_put(text, (struct value_form){ETHERTYPE}, bytes + 2, 2);
    text_put_string(text->out, ", sll_ifindex=");
    (void)value_text_put(text, (struct value_form){INTERFACE}, bytes + 4, 4);
    text_put_string(text->out, ", sll_hatype=");
    (void)value_text_put(text, (struct value_form){CHOICE(hardware_type)}, bytes + 8, 2);
    text_put_string(text->out, ", sll_pkttype=");
    (void)value_text_put(text, (struct value_form){CHOICE(packet_type)}, bytes + 10, 1);
    text_format(text->out, ", sll_halen=%u", length);
    if (length == 0)
        return;
    shown = shown < sizeof(no_address) ? shown : sizeof(no_address);
    shown = shown < there ? shown : there;
    text_put_string(text->out, ", sll_addr=[");
    for (unsigned i = 0; i < shown; i++) {
        text_put_string(text->out, i == 0 ? "" : ", ");
        call_text_put_hex(text, bytes[12 + i]);
    }
    text_put_string(text->out, shown < length ? ", ...]" : "]");
}

static void put_channel(const struct call_text *text, unsigned channel)
{
    text_put_string(text->out, ", l2_cid=htobs(");
    if (channel >= FIRST_CHANNEL)
        text_format(text->out, "L2CAP_CID_DYN_START+%u", channel - FIRST_CHANNEL);
    else
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_bluetooth_channel_id, channel);
    text_put_char(text->out, ')');
}

static void put_l2cap(const struct call_text *text, const unsigned char *bytes, size_t size_bytes)
{
    text_put_string(text->out, ", l2_psm=htobs(");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_bluetooth_port, value_unsigned(bytes + 2, 2));
    text_put_string(text->out, "), l2_bdaddr=");
    (void)value_text_put(text, (struct value_form){HARDWARE}, bytes + 4, 6);
    put_channel(text, (unsigned)value_unsigned(bytes + 10, 2));
    if (size_bytes < 14)
        return;
    text_put_string(text->out, ", l2_bdaddr_type=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_bluetooth_address, bytes[12]);
}

static void put_algorithm(const struct call_text *text, const unsigned char *bytes, size_t size_bytes)
{
    text_put_string(text->out, ", ");
    (void)struct_layout_put_fields(text, STRUCT_LAYOUT_address_algorithm, bytes, size_bytes);
    text_put_string(text->out, ", salg_name=");
    (void)value_text_put(text, (struct value_form){NAME}, bytes + 24, size_bytes - 24);
}

static void put_x25(const struct call_text *text, const unsigned char *bytes)
{
    text_put_string(text->out, ", sx25_addr={x25_addr=");
    (void)value_text_put(text, (struct value_form){NAME}, bytes + 2, 16);
    text_put_char(text->out, '}');
}

static bool put_special(const struct call_text *text, unsigned family, const unsigned char *bytes, size_t size_bytes)
{
    size_t path = offsetof(struct sockaddr_un, sun_path);

    if (family == AF_UNIX && size_bytes <= path)
        return true;
    if (family == AF_UNIX)
        put_unix(text, (const char *)bytes + path,
                 (size_bytes < sizeof(struct sockaddr_un) ? size_bytes : sizeof(struct sockaddr_un)) - path);
    else if (family == AF_INET6 && size_bytes >= 24)
        put_inet6(text, bytes, size_bytes);
    else if (family == AF_PACKET && size_bytes >= sizeof(struct sockaddr_ll))
        put_packet(text, bytes, size_bytes);
    else if (family == AF_BLUETOOTH && size_bytes >= 12 && size_bytes < 16)
        put_l2cap(text, bytes, size_bytes);
    else if (family == AF_ALG && size_bytes >= 25)
        put_algorithm(text, bytes, size_bytes);
    else if (family == AF_X25 && size_bytes >= 18)
        put_x25(text, bytes);
    else
        return false;
    return true;
}

void socket_address_text_put(const struct call_text *text, const void *bytes, size_t size_bytes)
{
    uint16_t family = (uint16_t)value_unsigned(bytes, sizeof(family));

    text_put_string(text->out, "{sa_family=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_address_family, family);
    if (!put_special(text, family, bytes, size_bytes) && !put_by_form(text, family, bytes, size_bytes) &&
        size_bytes > sizeof(family)) {
        text_put_string(text->out, ", sa_data=");
        call_text_put_quoted(text, (const char *)bytes + sizeof(family), size_bytes - sizeof(family), false);
    }
    text_put_char(text->out, '}');
}

void socket_text_put_address(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    uint64_t bytes[sizeof(struct sockaddr_storage) / 8] = {0};
    size_t known = size_bytes < sizeof(bytes) ? (size_t)size_bytes : sizeof(bytes);

    if (known < sizeof(sa_family_t) || !call_text_read(text, address, bytes, known))
        call_text_put_address(text, address);
    else
        socket_address_text_put(text, bytes, known);
}
