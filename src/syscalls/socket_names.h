/* SPDX-License-Identifier: MIT */
/*
 * Names of sockets, by their inodes: what the kernel says of those of our network. Only what it says now: a socket that
 * is gone has none. One thread at a time.
 */
#ifndef GAIT_SYSCALLS_SOCKET_NAMES_H
#define GAIT_SYSCALLS_SOCKET_NAMES_H

#include "base/text_format.h"

#include <stdbool.h>

/* Whether sockets of that protocol are called by it, rather than by their inode alone. */
bool socket_protocol_is_known(const char *protocol);

/*
 * Writes "127.0.0.1:41326->127.0.0.1:80" and the like. protocol: as the kernel calls it, "TCP" or "UNIX-STREAM". False:
 * nothing is written, for nothing is known but the inode.
 */
bool socket_name_put(struct text_writer *out, const char *protocol, unsigned long inode);

/* The same of addresses that are known: an unconnected one has no peer; no bytes: it is not known. */
struct socket_addresses {
    unsigned long inode;
    unsigned protocol; /* of one of netlink's sockets */
    const void *local;
    size_t local_bytes;
    const void *peer;
    size_t peer_bytes;
};
bool socket_addresses_put(struct text_writer *out, const struct socket_addresses *addresses);

#endif
