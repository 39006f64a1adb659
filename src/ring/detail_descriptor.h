/* SPDX-License-Identifier: MIT */
/*
 * What a descriptor was when a system call was made: a buffer among the values of the call's record, at an address
 * where no memory can be, which its number makes. Then link_bytes of what /proc says that it is.
 */
#ifndef GAIT_RING_DETAIL_DESCRIPTOR_H
#define GAIT_RING_DETAIL_DESCRIPTOR_H

#include <stdint.h>

/* Is there, 4 bytes long, where descriptors are kept: those that are not found are not known. */
#define DETAIL_DESCRIPTORS_AT (UINT64_MAX - 64)

/* What the thread's CPU had worked when the call was made, and when it returned, in ns: 16 bytes. */
#define DETAIL_CPU_TIMES_AT             (UINT64_MAX - 128)

#define DETAIL_DESCRIPTOR_AT            0xff00000000000000u
#define DETAIL_DESCRIPTOR_SHIFT         14

#define DETAIL_DESCRIPTOR_ADDRESS_BYTES 112

struct detail_descriptor {
    int32_t fd;
    uint32_t mode;
    uint64_t device;
    uint32_t link_bytes;
    int32_t process; /* that a pidfd stands for; 0: it is none */
    uint8_t is_deleted;
    uint8_t local_bytes;
    uint8_t peer_bytes;
    uint8_t protocol_number; /* of a socket, within its family */
    uint8_t reserved[4];
    char protocol[32];                              /* of a socket, as the kernel calls it, ended by NUL */
    uint8_t local[DETAIL_DESCRIPTOR_ADDRESS_BYTES]; /* its addresses, as far as they fit */
    uint8_t peer[DETAIL_DESCRIPTOR_ADDRESS_BYTES];
};

_Static_assert(sizeof(struct detail_descriptor) == 288, "the same on both sides");

static inline uint64_t detail_descriptor_at(int fd)
{
    return DETAIL_DESCRIPTOR_AT + ((uint64_t)(uint32_t)fd << DETAIL_DESCRIPTOR_SHIFT);
}

#endif
