/* SPDX-License-Identifier: MIT */
/*
 * Values by their form: what tables of structs, of netlink's attributes, of ioctl's arguments and of options of sockets
 * say that bytes are. Stateless; callable from any thread.
 */
#ifndef GAIT_SYSCALLS_VALUE_TEXT_H
#define GAIT_SYSCALLS_VALUE_TEXT_H

#include "syscalls/call_text.h"

/* Those of one number have 1, 2, 4 or 8 bytes. */
enum value_kind {
    VALUE_UNKNOWN, /* nothing is known of it */
    VALUE_SIGNED,
    VALUE_UNSIGNED,
    VALUE_HEX,      /* 0x1f, or 0 */
    VALUE_HEX_WIDE, /* 000000000000001f: as many digits as there can be */
    VALUE_ADDRESS,  /* 0x1f, or NULL */
    VALUE_FLAGS,    /* of the set `detail` */
    VALUE_CHOICE,   /* of the set `detail` */
    VALUE_SHIFTED,  /* 1<<A|1<<B: bits whose numbers are in the set `detail` */
    VALUE_DESCRIPTOR,
    VALUE_ID, /* -1, or unsigned */
    VALUE_SIGNAL,
    VALUE_SIGNAL_SET,
    VALUE_OCTAL,
    VALUE_FILE_MODE,
    VALUE_DEVICE,         /* as in stat */
    VALUE_DEVICE_PAIR,    /* the same in 32 bits, as the kernel packs it */
    VALUE_ERROR,          /* -EPERM, or a number */
    VALUE_DATE,           /* seconds, with the date as a comment */
    VALUE_TICKS,          /* of a clock: hundredths of seconds */
    VALUE_INTERFACE,      /* if_nametoindex("lo") */
    VALUE_PORT,           /* htons(80) */
    VALUE_NET32,          /* htonl(1) */
    VALUE_KERNEL_VERSION, /* KERNEL_VERSION(6, 1, 0) */
    VALUE_HEX_PAIR,       /* 0x1, or 00 */
    VALUE_NET32_HEX,      /* htonl(0x1) */
    VALUE_LITTLE16,       /* htobs(1) */
    VALUE_HEX_PADDED,     /* 0x0000ff: eight characters in all */
    VALUE_CHOICE_OR_HEX,  /* of the set `detail`; others are numbers without a comment */
    VALUE_ERROR_NAME,     /* EPERM, or a number */
    VALUE_NET64,          /* htobe64(1) */
    VALUE_ETHERTYPE,      /* htons(ETH_P_IP) */
    VALUE_OPEN_FLAGS,
    VALUE_TIMESPEC, /* {tv_sec=1, tv_nsec=2} */
    VALUE_TIMEVAL,
    /* of many bytes */
    VALUE_INET, /* inet_addr("127.0.0.1") */
    VALUE_INET6,
    VALUE_INET6_OF_FIELD,   /* inet_pton(AF_INET6, "::1", &name), in place of name=value */
    VALUE_SOCKET_ADDRESS,   /* struct sockaddr, of the family that it names */
    VALUE_INET_ANY,         /* either, by how many bytes there are */
    VALUE_HARDWARE,         /* 00:11:22:33:44:55 */
    VALUE_TEXT,             /* up to its NUL, or to the end */
    VALUE_STRING,           /* the same, where something is missing without a NUL: "abc"... */
    VALUE_NAME,             /* the same, of an array whose last byte is to be NUL: all of it, however long */
    VALUE_HARDWARE_OF_TYPE, /* VALUE_HARDWARE behind its type, which says how long it is */
    VALUE_BYTES,            /* all of them, in quotes */
    VALUE_RAW,              /* the same, each in hexadecimal */
    VALUE_DIGITS,           /* without anything between them: 00ff */
    VALUE_NUMBERS,          /* [1, 2], of `detail` bytes each */
    VALUE_HEX_PAIRS,        /* [0x1, 00] */
    VALUE_HEX_LIST,         /* [0x1, 0x2] */
    VALUE_LAYOUT,           /* a struct: `detail` is its layout */
    VALUE_LAYOUTS,          /* as many of them as there are */
    VALUE_STRING_AT,        /* pointers: to a string, a path, a struct */
    VALUE_PATH_AT,
    VALUE_LAYOUT_AT,
};

struct value_form {
    uint8_t kind;
    uint16_t detail;
};

/* Writes what `size_bytes` bytes are. False, and nothing is written: they are too few, or nothing is known of it. */
bool value_text_put(const struct call_text *text, struct value_form form, const void *bytes, size_t size_bytes);

/* The number in 1, 2, 4 or 8 bytes. */
uint64_t value_unsigned(const void *bytes, size_t size_bytes);
int64_t value_signed(const void *bytes, size_t size_bytes);

#endif
