/* SPDX-License-Identifier: MIT */
/* The kernel is asked by the thread whose call it is, so it is its own descriptors that are looked at. Stateless. */
#include "agent/descriptor_note.h"

#include "base/raw_syscall.h"
#include "base/text_format.h"
#include "ring/detail_descriptor.h"

#include <asm/socket.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <stddef.h>

#define LINK_BYTES_MAX 4096
#define FILE_TYPE      0170000u
#define FILE_SOCKET    0140000u

/* Kernels that can tell which process a descriptor stands for do so by this; others fail. */
#define PIDFD_INFO_REQUEST 0xc040ff0bl

struct pidfd_answer {
    uint64_t mask;
    uint64_t group;
    uint32_t pid;
    uint32_t process;
    uint32_t others[10];
};

_Static_assert(sizeof(struct pidfd_answer) == 64, "as the request says");

static long pointer(const void *object)
{
    return (long)(uintptr_t)object;
}

static void put_address(struct detail_value_writer *writer, uint64_t address)
{
    const struct detail_value value = {.type = DETAIL_TYPE_POINTER, .data_bytes = sizeof(address)};

    detail_value_put(writer, value, &address);
}

void descriptor_note_begin(struct detail_value_writer *writer)
{
    const struct detail_value value = {.type = DETAIL_TYPE_BUFFER, .data_bytes = sizeof(uint32_t)};
    const uint32_t mark = 1;

    put_address(writer, DETAIL_DESCRIPTORS_AT);
    detail_value_put(writer, value, &mark);
}

static uint8_t address_of(int fd, long number, uint8_t bytes_out[DETAIL_DESCRIPTOR_ADDRESS_BYTES])
{
    uint32_t length = DETAIL_DESCRIPTOR_ADDRESS_BYTES;

    if (raw_syscall(number, fd, pointer(bytes_out), pointer(&length), 0, 0, 0) < 0)
        return 0;
    return (uint8_t)(length < DETAIL_DESCRIPTOR_ADDRESS_BYTES ? length : DETAIL_DESCRIPTOR_ADDRESS_BYTES);
}

static void note_socket(struct detail_descriptor *facts, int fd)
{
    static const char name[] = "system.sockprotoname";
    uint32_t protocol = 0, length = sizeof(protocol);

    if (raw_syscall(__NR_fgetxattr, fd, pointer(name), pointer(facts->protocol), sizeof(facts->protocol) - 1, 0, 0) < 0)
        facts->protocol[0] = '\0';
    if (raw_syscall(__NR_getsockopt, fd, SOL_SOCKET, SO_PROTOCOL, pointer(&protocol), pointer(&length), 0) == 0)
        facts->protocol_number = (uint8_t)protocol;
    facts->local_bytes = address_of(fd, __NR_getsockname, facts->local);
    facts->peer_bytes = address_of(fd, __NR_getpeername, facts->peer);
}

static void note_kind(struct detail_descriptor *facts, int fd)
{
    struct statx info;

    if (raw_syscall(__NR_statx, fd, pointer(""), AT_EMPTY_PATH, STATX_BASIC_STATS, pointer(&info), 0) != 0)
        return;
    facts->mode = info.stx_mode;
    facts->device = ((uint64_t)(info.stx_rdev_major & 0xfffff000u) << 32) | ((info.stx_rdev_major & 0xfffu) << 8) |
                    ((uint64_t)(info.stx_rdev_minor & 0xffffff00u) << 12) | (info.stx_rdev_minor & 0xffu);
    facts->is_deleted = info.stx_nlink == 0;
    if ((info.stx_mode & FILE_TYPE) == FILE_SOCKET)
        note_socket(facts, fd);
}

static bool is_pidfd(const uint8_t *link, uint32_t size_bytes)
{
    static const char pidfd[] = "anon_inode:[pidfd]";

    return size_bytes == sizeof(pidfd) - 1 && __builtin_memcmp(link, pidfd, sizeof(pidfd) - 1) == 0;
}

void descriptor_note_put(struct detail_value_writer *writer, int fd)
{
    struct detail_value value = {.type = DETAIL_TYPE_BUFFER};
    struct detail_descriptor facts = {.fd = fd};
    struct pidfd_answer answer = {.mask = 1};
    char path[64];
    struct text_writer text;
    uint8_t *place;
    long length;

    put_address(writer, detail_descriptor_at(fd));
    place = detail_value_place(writer);
    text_init(&text, path, sizeof(path));
    text_put_string(&text, fd == AT_FDCWD ? "/proc/thread-self/cwd" : "/proc/thread-self/fd/");
    if (fd != AT_FDCWD)
        text_put_signed(&text, fd);
    length = detail_value_room(writer) < sizeof(facts) + LINK_BYTES_MAX
                 ? 0
                 : raw_syscall(__NR_readlinkat, AT_FDCWD, pointer(path), pointer(place + sizeof(facts)), LINK_BYTES_MAX,
                               0, 0);
    if (length <= 0) {
        value.flags = DETAIL_VALUE_UNREADABLE;
        detail_value_put(writer, value, place);
        return;
    }
    facts.link_bytes = (uint32_t)length;
    if (fd != AT_FDCWD)
        note_kind(&facts, fd);
    if (is_pidfd(place + sizeof(facts), facts.link_bytes) &&
        raw_syscall(__NR_ioctl, fd, PIDFD_INFO_REQUEST, pointer(&answer), 0, 0, 0) == 0)
        facts.process = (int32_t)answer.process;
    __builtin_memcpy(place, &facts, sizeof(facts));
    value.data_bytes = (uint16_t)(sizeof(facts) + facts.link_bytes);
    detail_value_put(writer, value, place);
}
