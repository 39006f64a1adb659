/* SPDX-License-Identifier: MIT */
/*
 * Messages stand one behind the other, each with its length; so do attributes, some of which consist of attributes.
 * Lengths are the program's word: nothing is looked at beyond the message, and what cannot be read is an address.
 */
#define _GNU_SOURCE
#include "syscalls/netlink_text.h"

#include "syscalls/names/constant_set.h"
#include "syscalls/subject_texts.h"
#include "syscalls/value_forms.h"

#include <linux/fib_rules.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_addrlabel.h>
#include <linux/if_link.h>
#include <linux/inet_diag.h>
#include <linux/neighbour.h>
#include <linux/net_namespace.h>
#include <linux/netconf.h>
#include <linux/netlink.h>
#include <linux/netlink_diag.h>
#include <linux/packet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>

#define PIECE_BYTES  4096
#define HEAD_BYTES   sizeof(struct nlmsghdr)
#define DEPTH_MAX    8
#define NESTED_KIND  255 /* in an attribute's form: the detail is which attributes it consists of */
#define TYPE_MASK    (NLA_F_NESTED | NLA_F_NET_BYTEORDER)
#define GROUP_OF_NEW 0
#define GROUP_OF_DEL 1
#define GROUP_OF_GET 2

enum attribute_set {
    ATTRIBUTE_SET_none,
#define ATTRIBUTES(name, types) ATTRIBUTE_SET_##name,
#define ATTRIBUTE(type, size, ...)
#define NEST(type, attributes)
#define END
#include "syscalls/netlink_attributes.def"
#undef ATTRIBUTES
#undef ATTRIBUTE
#undef NEST
#undef END
    ATTRIBUTE_SETS
};

struct attribute {
    uint16_t type;
    uint8_t size_bytes;
    uint8_t kind;
    uint16_t detail;
};

/* clang-format off */
#define ATTRIBUTES(name, types)    static const struct attribute name##_attributes[] = {
#define ATTRIBUTE(type, size, ...) {type, size, __VA_ARGS__},
#define NEST(type, attributes)     {type, 0, NESTED_KIND, ATTRIBUTE_SET_##attributes},
#define END                        {UINT16_MAX, 0, 0, 0}};
#include "syscalls/netlink_attributes.def"
#undef ATTRIBUTES
#undef ATTRIBUTE
#undef NEST
#undef END
/* clang-format on */

#define ATTRIBUTES(name, types) [ATTRIBUTE_SET_##name] = {name##_attributes, SYSTEM_CALL_SET_##types},
#define ATTRIBUTE(type, size, ...)
#define NEST(type, attributes)
#define END
static const struct {
    const struct attribute *attributes; /* behind the last is one of a type that there is not */
    uint16_t types;                     /* the set that their types have names from */
} attribute_sets[ATTRIBUTE_SETS] = {
#include "syscalls/netlink_attributes.def"
};

struct message_form {
    uint8_t protocol; /* of sockets: their family */
    bool is_request;
    uint16_t first_type;
    uint16_t last_type;
    uint16_t layout;
    uint16_t attributes;
};

#define MESSAGES(protocol, first, last, layout, attributes)                                                            \
    {protocol, false, first, last, STRUCT_LAYOUT_##layout, ATTRIBUTE_SET_##attributes},
#define SOCKET_MESSAGES(family, is_request, layout, attributes)
static const struct message_form message_forms[] = {
#include "syscalls/netlink_messages.def"
#undef MESSAGES
#undef SOCKET_MESSAGES
};

#define MESSAGES(protocol, first, last, layout, attributes)
#define SOCKET_MESSAGES(family, is_request, layout, attributes)                                                        \
    {family, is_request, 0, 0, STRUCT_LAYOUT_##layout, ATTRIBUTE_SET_##attributes},
static const struct message_form socket_forms[] = {
#include "syscalls/netlink_messages.def"
};

/* A piece of the program's memory. */
struct netlink_extent {
    uint64_t address;
    uint64_t size_bytes;
};

static struct netlink_extent extent_behind(struct netlink_extent extent, uint64_t size_bytes)
{
    if (size_bytes > extent.size_bytes)
        size_bytes = extent.size_bytes;
    return (struct netlink_extent){extent.address + size_bytes, extent.size_bytes - size_bytes};
}

/* Where attributes stand. */
struct nest {
    unsigned family; /* that the message is about */
    unsigned depth;
};

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static void put_raw(const struct call_text *text, struct netlink_extent extent)
{
    unsigned char bytes[PIECE_BYTES];
    size_t known = extent.size_bytes < sizeof(bytes) ? (size_t)extent.size_bytes : sizeof(bytes);

    if (!call_text_read(text, extent.address, bytes, known))
        call_text_put_address(text, extent.address);
    else
        (void)value_text_put(text, (struct value_form){VALUE_RAW, 0}, bytes, known);
}

/* Addresses are of the family that the message is about; of others, they are bytes. */
static bool is_of_family(const struct attribute *attribute, unsigned family, size_t size_bytes)
{
    if (attribute->kind != VALUE_INET_ANY)
        return true;
    return family == AF_INET ? size_bytes >= 4 : family == AF_INET6 && size_bytes >= 16;
}

static void put_value(const struct call_text *text, const struct attribute *attribute, struct netlink_extent extent,
                      unsigned family)
{
    unsigned char bytes[PIECE_BYTES];
    size_t known = extent.size_bytes < sizeof(bytes) ? (size_t)extent.size_bytes : sizeof(bytes);
    struct value_form form = {attribute->kind, attribute->detail};

    if (known < attribute->size_bytes) {
        put_raw(text, extent);
        return;
    }
    if (attribute->size_bytes != 0 && attribute->kind != VALUE_UNKNOWN)
        known = attribute->size_bytes;
    if (!call_text_read(text, extent.address, bytes, known))
        call_text_put_address(text, extent.address);
    else if (!is_of_family(attribute, family, known) || !value_text_put(text, form, bytes, known))
        put_raw(text, extent);
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static const struct attribute *find_attribute(enum attribute_set set, unsigned type)
{
    static const struct attribute unknown = {.kind = VALUE_UNKNOWN};
    const struct attribute *attribute = attribute_sets[set].attributes;

    if (attribute == NULL)
        return &unknown;
    while (attribute->type != type && attribute->type != UINT16_MAX)
        attribute++;
    return attribute->type == type && type != UINT16_MAX ? attribute : &unknown;
}

static void put_attribute_head(const struct call_text *text, enum attribute_set set, const struct nlattr *head)
{
    unsigned type = head->nla_type & ~TYPE_MASK;

    text_format(text->out, "{nla_len=%u, nla_type=%s%s", head->nla_len,
                (head->nla_type & NLA_F_NESTED) != 0 ? "NLA_F_NESTED|" : "",
                (head->nla_type & NLA_F_NET_BYTEORDER) != 0 ? "NLA_F_NET_BYTEORDER|" : "");
    if (attribute_sets[set].attributes != NULL)
        constant_set_put_choice(text->out, attribute_sets[set].types, type);
    else
        call_text_put_hex(text, type);
    text_put_char(text->out, '}');
}

/* What is said of a link's protocol depends on which that is. */
static enum attribute_set set_within(const struct attribute *attribute, struct nest nest)
{
    if (attribute->type != IFLA_PROTINFO || attribute->detail != ATTRIBUTE_SET_link_inet6)
        return attribute->detail;
    return nest.family == AF_BRIDGE  ? ATTRIBUTE_SET_bridge_port
           : nest.family == AF_INET6 ? ATTRIBUTE_SET_link_inet6
                                     : ATTRIBUTE_SET_none;
}

static void put_attributes(const struct call_text *text, enum attribute_set set, struct netlink_extent extent,
                           struct nest nest);

static void put_attribute(const struct call_text *text, enum attribute_set set, const struct nlattr *head,
                          struct netlink_extent value, struct nest nest)
{
    const struct attribute *attribute = find_attribute(set, head->nla_type & ~TYPE_MASK);

    if (value.size_bytes == 0) {
        put_attribute_head(text, set, head);
        return;
    }
    text_put_char(text->out, '[');
    put_attribute_head(text, set, head);
    text_put_string(text->out, ", ");
    if (attribute->kind == NESTED_KIND && nest.depth < DEPTH_MAX)
        put_attributes(text, set_within(attribute, nest), value, (struct nest){nest.family, nest.depth + 1});
    else
        put_value(text, attribute, value, nest.family);
    text_put_char(text->out, ']');
}

/* What is behind the one at the extent's beginning. */
static struct netlink_extent next_attribute(struct netlink_extent extent, const struct nlattr *head)
{
    return head->nla_len < sizeof(*head) ? extent_behind(extent, extent.size_bytes)
                                         : extent_behind(extent, NLA_ALIGN(head->nla_len));
}

static void put_attributes(const struct call_text *text, enum attribute_set set, struct netlink_extent extent,
                           struct nest nest)
{
    bool is_list = false;
    struct nlattr head;

    if (extent.size_bytes < sizeof(head)) {
        put_raw(text, extent);
        return;
    }
    for (unsigned count = 0; extent.size_bytes != 0; count++) {
        uint64_t length;

        text_put_string(text->out, count == 0 ? "" : ", ");
        if (extent.size_bytes < sizeof(head)) {
            put_raw(text, extent);
            break;
        }
        if (!call_text_read(text, extent.address, &head, sizeof(head))) {
            if (count == 0)
                call_text_put_address(text, extent.address);
            else
                text_format(text->out, "... /* %#lx */", (unsigned long)extent.address);
            break;
        }
        if (count == text->options->string_bytes && !text->options->is_verbose) {
            text_put_string(text->out, "...");
            break;
        }
        if (count == 0 && next_attribute(extent, &head).size_bytes != 0) {
            is_list = true;
            text_put_char(text->out, '[');
        }
        length = head.nla_len < sizeof(head) ? 0 : head.nla_len - sizeof(head);
        if (length > extent.size_bytes - sizeof(head))
            length = extent.size_bytes - sizeof(head);
        put_attribute(text, set, &head, (struct netlink_extent){extent.address + sizeof(head), length}, nest);
        extent = next_attribute(extent, &head);
    }
    if (is_list)
        text_put_char(text->out, ']');
}

/* ---- what messages carry ----------------------------------------------------------------------------------------- */

static const struct message_form *find_form(unsigned protocol, const struct nlmsghdr *head)
{
    if (constant_set_name(SYSTEM_CALL_SET_netlink_route_type, head->nlmsg_type) == NULL)
        return NULL;
    for (unsigned i = 0; i < sizeof(message_forms) / sizeof(message_forms[0]); i++)
        if (message_forms[i].protocol == protocol && head->nlmsg_type >= message_forms[i].first_type &&
            head->nlmsg_type <= message_forms[i].last_type)
            return &message_forms[i];
    return NULL;
}

static const struct message_form *find_socket_form(unsigned family, bool is_request)
{
    for (unsigned i = 0; i < sizeof(socket_forms) / sizeof(socket_forms[0]); i++)
        if (socket_forms[i].protocol == family && socket_forms[i].is_request == is_request)
            return &socket_forms[i];
    return NULL;
}

/* Only the family is known of it. */
static void put_family(const struct call_text *text, unsigned family, struct netlink_extent rest)
{
    text_put_string(text->out, "{family=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_address_family, family);
    if (rest.size_bytes != 0) {
        text_put_string(text->out, ", data=");
        put_raw(text, rest);
    }
    text_put_char(text->out, '}');
}

/* The struct by which all of these begin, whose first field is the family, and attributes. */
static void put_struct(const struct call_text *text, const struct message_form *form, struct netlink_extent extent)
{
    unsigned char bytes[PIECE_BYTES];
    size_t size_bytes = struct_layout_bytes(form->layout);
    bool is_whole = extent.size_bytes >= size_bytes, is_there = call_text_read(text, extent.address, bytes, 1);

    if (is_whole && call_text_read(text, extent.address, bytes, size_bytes)) {
        struct_layout_put(text, form->layout, bytes, size_bytes);
        extent = extent_behind(extent, NLMSG_ALIGN(size_bytes));
        if (extent.size_bytes != 0) {
            text_put_string(text->out, ", ");
            put_attributes(text, form->attributes, extent, (struct nest){.family = bytes[0]});
        }
        return;
    }
    text_put_char(text->out, '{');
    if (is_there)
        (void)struct_layout_put_fields(text, form->layout, bytes, 1);
    text_put_string(text->out, ", ");
    if (is_whole)
        call_text_put_address(text, extent.address + 1);
    else
        text_put_string(text->out, "...");
    text_put_char(text->out, '}');
}

/* Those of families: routing, sockets. */
static void put_by_family(const struct call_text *text, unsigned protocol, const struct nlmsghdr *head,
                          struct netlink_extent extent)
{
    const struct message_form *form = find_form(protocol, head);
    uint8_t family;

    if (!call_text_read(text, extent.address, &family, sizeof(family))) {
        call_text_put_address(text, extent.address);
        return;
    }
    if (protocol == NETLINK_SOCK_DIAG && (extent.size_bytes > 1 || family == AF_INET || family == AF_INET6))
        form = find_socket_form(family, (head->nlmsg_flags & NLM_F_REQUEST) != 0);
    if (form == NULL || extent.size_bytes == 1)
        put_family(text, family, extent_behind(extent, 1));
    else
        put_struct(text, form, extent);
}

static bool put_message(const struct call_text *text, unsigned protocol, struct netlink_extent *extent, unsigned depth);

/* An error, the message that it is about, and attributes. */
static void put_error(const struct call_text *text, unsigned protocol, const struct nlmsghdr *head,
                      struct netlink_extent extent, unsigned depth)
{
    int32_t error;
    struct nlmsghdr about;
    struct netlink_extent rest = extent_behind(extent, sizeof(error)), message = rest;
    bool has_attributes = (head->nlmsg_flags & (NLM_F_CAPPED | NLM_F_ACK_TLVS)) != 0;

    if (extent.size_bytes < sizeof(error) + sizeof(about)) {
        put_raw(text, extent);
        return;
    }
    if (!call_text_read(text, extent.address, &error, sizeof(error)) ||
        !call_text_read(text, rest.address, &about, sizeof(about))) {
        call_text_put_address(text, extent.address);
        return;
    }
    if (has_attributes)
        message.size_bytes = (head->nlmsg_flags & NLM_F_CAPPED) != 0 ? sizeof(about) : about.nlmsg_len;
    if (message.size_bytes > rest.size_bytes)
        message.size_bytes = rest.size_bytes;
    rest = has_attributes ? extent_behind(rest, NLMSG_ALIGN(message.size_bytes)) : extent_behind(rest, UINT64_MAX);
    text_put_string(text->out, rest.size_bytes != 0 ? "[{error=" : "{error=");
    (void)value_text_put(text, (struct value_form){VALUE_ERROR, 0}, &error, sizeof(error));
    text_put_string(text->out, ", msg=");
    (void)put_message(text, protocol, &message, depth + 1);
    text_put_char(text->out, '}');
    if (rest.size_bytes == 0)
        return;
    text_put_string(text->out, ", ");
    put_attributes(text, ATTRIBUTE_SET_error, rest, (struct nest){.depth = 0});
    text_put_char(text->out, ']');
}

static void put_done(const struct call_text *text, struct netlink_extent extent)
{
    static const struct attribute number = {.size_bytes = 4, .kind = VALUE_SIGNED};

    put_value(text, &number, extent, AF_UNSPEC);
    extent = extent_behind(extent, 4);
    if (extent.size_bytes == 0)
        return;
    text_put_string(text->out, ", ");
    put_attributes(text, ATTRIBUTE_SET_none, extent, (struct nest){.depth = 0});
}

static void put_payload(const struct call_text *text, unsigned protocol, const struct nlmsghdr *head,
                        struct netlink_extent extent, unsigned depth)
{
    if (head->nlmsg_type == NLMSG_ERROR && depth == 0)
        put_error(text, protocol, head, extent, depth);
    else if (head->nlmsg_type == NLMSG_DONE && extent.size_bytes >= sizeof(int32_t))
        put_done(text, extent);
    else if (head->nlmsg_type < NLMSG_MIN_TYPE || (protocol != NETLINK_ROUTE && protocol != NETLINK_SOCK_DIAG))
        put_raw(text, extent);
    else
        put_by_family(text, protocol, head, extent);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void put_type(const struct call_text *text, unsigned protocol, unsigned type)
{
    if (type == NLMSG_NOOP || type == NLMSG_ERROR || type == NLMSG_DONE || type == NLMSG_OVERRUN)
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_netlink_type, type);
    else if (protocol == NETLINK_ROUTE)
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_netlink_route_type, type);
    else if (protocol == NETLINK_SOCK_DIAG)
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_netlink_diag_type, type);
    else if (protocol == NETLINK_AUDIT)
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_audit_type, type);
    else if (protocol == NETLINK_GENERIC && type == GENL_ID_CTRL)
        text_put_string(text->out, "nlctrl");
    else
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_netlink_type, type);
}

/* The upper flags mean what the message does. 0: nothing is known of them. */
static unsigned special_flags(unsigned protocol, unsigned type)
{
    static const uint16_t of_groups[] = {
        [GROUP_OF_NEW] = SYSTEM_CALL_SET_netlink_new_flags,
        [GROUP_OF_DEL] = SYSTEM_CALL_SET_netlink_delete_flags,
        [GROUP_OF_GET] = SYSTEM_CALL_SET_netlink_get_flags,
    };

    if (type == NLMSG_ERROR)
        return SYSTEM_CALL_SET_netlink_error_flags;
    if (type < NLMSG_MIN_TYPE)
        return 0;
    if (protocol == NETLINK_SOCK_DIAG)
        return SYSTEM_CALL_SET_netlink_get_flags;
    if (protocol != NETLINK_ROUTE)
        return 0;
    if (type == RTM_DELACTION)
        return SYSTEM_CALL_SET_netlink_get_flags;
    return (type & 3) <= GROUP_OF_GET ? of_groups[type & 3] : 0;
}

static void put_flags(const struct call_text *text, unsigned protocol, const struct nlmsghdr *head)
{
    unsigned special = special_flags(protocol, head->nlmsg_type);
    bool is_first = true;
    uint64_t rest = constant_set_put_bits(text->out, SYSTEM_CALL_SET_netlink_flags, head->nlmsg_flags, &is_first);

    if (special != 0)
        rest = constant_set_put_bits(text->out, special, rest, &is_first);
    if (rest == 0 && !is_first)
        return;
    text_put_string(text->out, is_first ? "" : "|");
    call_text_put_hex(text, rest);
    if (is_first && rest != 0)
        text_put_string(text->out, " /* NLM_F_??? */");
}

static void put_head(const struct call_text *text, unsigned protocol, const struct nlmsghdr *head)
{
    text_format(text->out, "{nlmsg_len=%u, nlmsg_type=", head->nlmsg_len);
    put_type(text, protocol, head->nlmsg_type);
    text_put_string(text->out, ", nlmsg_flags=");
    put_flags(text, protocol, head);
    text_format(text->out, ", nlmsg_seq=%u, nlmsg_pid=%d}", head->nlmsg_seq, (int)head->nlmsg_pid);
}

/* The first message of the extent, which goes on behind it. False: its head cannot be read. */
static bool put_message(const struct call_text *text, unsigned protocol, struct netlink_extent *extent, unsigned depth)
{
    struct nlmsghdr head;
    struct netlink_extent payload;

    if (!call_text_read(text, extent->address, &head, sizeof(head)))
        return false;
    payload = (struct netlink_extent){extent->address + sizeof(head), extent->size_bytes - sizeof(head)};
    if (head.nlmsg_len < sizeof(head))
        payload.size_bytes = 0;
    else if (payload.size_bytes > head.nlmsg_len - sizeof(head))
        payload.size_bytes = head.nlmsg_len - sizeof(head);
    text_put_string(text->out, payload.size_bytes == 0 ? "" : "[");
    put_head(text, protocol, &head);
    if (payload.size_bytes != 0) {
        text_put_string(text->out, ", ");
        put_payload(text, protocol, &head, payload, depth);
        text_put_char(text->out, ']');
    }
    *extent =
        extent_behind(*extent, head.nlmsg_len < sizeof(head) ? UINT64_MAX : NLMSG_ALIGN((uint64_t)head.nlmsg_len));
    return true;
}

bool netlink_text_put(const struct call_text *text, unsigned protocol, uint64_t address, uint64_t size_bytes)
{
    struct netlink_extent extent = {address, size_bytes};
    struct nlmsghdr head;
    bool is_list;

    if (size_bytes > 0 && size_bytes < HEAD_BYTES) {
        put_raw(text, extent);
        return true;
    }
    if (size_bytes == 0 || !call_text_read(text, address, &head, sizeof(head)))
        return false;
    is_list = head.nlmsg_len >= HEAD_BYTES && NLMSG_ALIGN((uint64_t)head.nlmsg_len) < size_bytes;
    text_put_string(text->out, is_list ? "[" : "");
    for (unsigned count = 0; extent.size_bytes != 0; count++) {
        text_put_string(text->out, count == 0 ? "" : ", ");
        if (count == text->options->string_bytes && !text->options->is_verbose) {
            text_put_string(text->out, "...");
            break;
        }
        if (extent.size_bytes < HEAD_BYTES) {
            put_raw(text, extent);
            break;
        }
        if (!put_message(text, protocol, &extent, 0)) {
            text_format(text->out, "... /* %#lx */", (unsigned long)extent.address);
            break;
        }
    }
    text_put_string(text->out, is_list ? "]" : "");
    return true;
}
