/* SPDX-License-Identifier: MIT */
/*
 * How much memory an argument points at, and when: by its kind, and for the few calls that are many in one, by what
 * they were asked to do. Stateless.
 */
#include "process/system_call_memory.h"

#include "base/memory_map.h"

#include <linux/futex.h>

/* Operations that decide what another argument is, which headers for the kernel's users name only together with libc's.
 */
#define FCNTL_GETLK       5
#define FCNTL_SETLKW      7
#define FCNTL_SETOWN_EX   15
#define FCNTL_GETOWN_EX   16
#define FCNTL_OFD_GETLK   36
#define FCNTL_OFD_SETLKW  38
#define FCNTL_GET_RW_HINT 1035
#define FCNTL_SET_FILE_RW 1038
#define FLOCK_BYTES       32
#define PRCTL_SET_NAME    15
#define PRCTL_GET_NAME    16
#define NAME_BYTES        16
#define EPOLL_DELETE      2
#define OPEN_CREATES      0100
#define ARCH_PRCTL_GET_FS 0x1003
#define ARCH_PRCTL_GET_GS 0x1004
#define SECCOMP_FILTER    1
#define SECCOMP_SIZES     3
#define IOVEC_BYTES       16
/* Strings that are passed to programs have no count: this many pointers are looked at. */
#define STRINGS_LOOKED_AT 33

static uint64_t read_u32(const struct system_call_moment *moment, uint64_t address)
{
    uint32_t value;

    if (address == 0 || moment->read == NULL || !moment->read(moment->context, address, &value, sizeof(value)))
        return 0;
    return value;
}

/* What the length of the argument says, in bytes or elements. */
static uint64_t count_of(const struct system_call_argument *argument, const struct system_call_moment *moment)
{
    unsigned number = SYSTEM_CALL_LENGTH_NUMBER(argument->length);
    uint64_t result = moment->is_after && moment->result > 0 ? (uint64_t)moment->result : 0;

    switch (SYSTEM_CALL_LENGTH_SOURCE(argument->length)) {
    case SYSTEM_CALL_LENGTH_ARGUMENT:
        return moment->arguments[number];
    case SYSTEM_CALL_LENGTH_AT_MOST:
        return result < moment->arguments[number] ? result : moment->arguments[number];
    case SYSTEM_CALL_LENGTH_POINTED_AT:
        return read_u32(moment, moment->arguments[number]);
    case SYSTEM_CALL_LENGTH_RESULT:
        return result;
    case SYSTEM_CALL_LENGTH_FIXED:
        return number;
    default:
        return 1;
    }
}

/* Commands that are older than sizes in them: how much is worth a look, by what they begin with. */
struct old_commands {
    uint8_t type;
    uint16_t size_bytes;
};

static const struct old_commands old_commands[] = {
    {0x03, 16},  /* disks of IDE */
    {0x12, 72},  /* blocks */
    {0x4b, 32},  /* keyboards and screens */
    {0x4c, 232}, /* loop devices */
    {0x56, 8},   /* consoles */
    {0x89, 40},  /* sockets and interfaces */
};

/* Terminals: settings, their older form, sizes of windows; all others take or answer a number. */
static uint64_t terminal_bytes(uint32_t command, unsigned *direction_out)
{
    bool is_read = command == 0x5401 || command == 0x5405 || command == 0x5413 || command == 0x5456;

    *direction_out = is_read ? SYSTEM_CALL_OUT : SYSTEM_CALL_IN;
    switch (command) {
    case 0x5401: /* TCGETS, TCSETS, TCSETSW, TCSETSF */
    case 0x5402:
    case 0x5403:
    case 0x5404:
    case 0x5456: /* TIOCGLCKTRMIOS, TIOCSLCKTRMIOS */
    case 0x5457:
        return 36;
    case 0x5405: /* TCGETA, TCSETA, TCSETAW, TCSETAF */
    case 0x5406:
    case 0x5407:
    case 0x5408:
        return 18;
    case 0x5413: /* TIOCGWINSZ, TIOCSWINSZ */
    case 0x5414:
        return 8;
    case 0x5410: /* TIOCSPGRP, TIOCSTI, TIOCSSOFTCAR, TIOCPKT, TIOCSETD, TIOCMBIS and the like, FIONBIO, FIOASYNC */
    case 0x5412:
    case 0x541a:
    case 0x5420:
    case 0x5423:
    case 0x5416:
    case 0x5417:
    case 0x5418:
    case 0x5421:
    case 0x5452:
        return 4;
    default: /* TIOCGPGRP, FIONREAD, TIOCGSID and the like answer with a number */
        *direction_out = SYSTEM_CALL_OUT;
        return 4;
    }
}

static uint64_t ioctl_bytes(uint32_t command, unsigned *direction_out)
{
    *direction_out = command >> 30 & 3; /* 1: the program writes, the kernel reads; 2: the other way round */
    if (command >> 16 != 0)
        return command >> 16 & 0x3fff;
    if (command >> 8 == 0x54)
        return terminal_bytes(command, direction_out);
    for (unsigned i = 0; i < sizeof(old_commands) / sizeof(old_commands[0]); i++) {
        if (old_commands[i].type == command >> 8) {
            *direction_out = SYSTEM_CALL_INOUT;
            return old_commands[i].size_bytes;
        }
    }
    return 0;
}

static uint64_t fcntl_bytes(uint64_t command)
{
    if ((command >= FCNTL_GETLK && command <= FCNTL_SETLKW) ||
        (command >= FCNTL_OFD_GETLK && command <= FCNTL_OFD_SETLKW))
        return FLOCK_BYTES;
    if (command == FCNTL_SETOWN_EX || command == FCNTL_GETOWN_EX)
        return 8;
    return command >= FCNTL_GET_RW_HINT && command <= FCNTL_SET_FILE_RW ? 8 : 0;
}

static bool futex_waits(uint64_t operation)
{
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_WAIT_REQUEUE_PI:
        return true;
    default:
        return false;
    }
}

static uint64_t struct_bytes(const struct system_call_argument *argument, uint64_t count)
{
    uint64_t size_bytes = system_call_struct_bytes(argument->detail);

    /* The program says how much of it it knows. */
    if (SYSTEM_CALL_LENGTH_SOURCE(argument->length) == SYSTEM_CALL_LENGTH_ARGUMENT)
        return count < size_bytes ? count : size_bytes;
    return size_bytes;
}

/* Bytes of what is pointed at by kinds that do not ask other arguments what they are; 0: it is none of them. */
static uint64_t plain_bytes(const struct system_call_argument *argument, uint64_t count)
{
    switch (argument->kind) {
    case SYSTEM_CALL_BYTES:
    case SYSTEM_CALL_SOCKADDR:
    case SYSTEM_CALL_SOCKET_VALUE:
    case SYSTEM_CALL_CPU_SET:
    case SYSTEM_CALL_DIRENTS:
        return count;
    case SYSTEM_CALL_STRUCT:
    case SYSTEM_CALL_REMAINDER:
        return struct_bytes(argument, count);
    case SYSTEM_CALL_ARRAY:
        return count > UINT32_MAX ? 0 : count * system_call_struct_bytes(argument->detail);
    case SYSTEM_CALL_IOVEC:
    case SYSTEM_CALL_IOVEC_ONLY:
        return count > UINT32_MAX ? 0 : count * IOVEC_BYTES;
    case SYSTEM_CALL_FD_SET:
    case SYSTEM_CALL_NODE_SET: /* a bit each, in whole longs */
        return count > INT32_MAX ? 0 : (count + 63) / 64 * 8;
    case SYSTEM_CALL_MINCORE_PAGES:
        return count / memory_page_size() + (count % memory_page_size() != 0);
    case SYSTEM_CALL_SOCKLEN:
        return 4;
    case SYSTEM_CALL_UTIME_PAIR:
        return 32;
    case SYSTEM_CALL_SIGMASK:
        return 16;
    case SYSTEM_CALL_STRINGS:
    case SYSTEM_CALL_ENVIRONMENT:
        return STRINGS_LOOKED_AT * 8;
    default:
        return 0;
    }
}

/* The same for those that do. */
static uint64_t dependent_bytes(const struct system_call_argument *argument, uint64_t address,
                                const struct system_call_moment *moment, unsigned *direction)
{
    const uint64_t *arguments = moment->arguments;

    switch (argument->kind) {
    case SYSTEM_CALL_EPOLL_EVENT:
        return arguments[1] == EPOLL_DELETE ? 0 : system_call_struct_bytes(SYSTEM_CALL_STRUCT_epoll_event);
    case SYSTEM_CALL_MQ_ATTRIBUTE:
        return (arguments[1] & OPEN_CREATES) == 0 ? 0 : system_call_struct_bytes(SYSTEM_CALL_STRUCT_mq_attr);
    case SYSTEM_CALL_FILE_HANDLE:
        return 8 + read_u32(moment, address);
    case SYSTEM_CALL_IOCTL_ARGUMENT:
        return ioctl_bytes((uint32_t)arguments[1], direction);
    case SYSTEM_CALL_FCNTL_ARGUMENT:
        return fcntl_bytes(arguments[1]);
    case SYSTEM_CALL_PRCTL_ARGUMENT:
        *direction = arguments[0] == PRCTL_GET_NAME ? SYSTEM_CALL_OUT : SYSTEM_CALL_IN;
        return address == arguments[1] && (arguments[0] == PRCTL_SET_NAME || arguments[0] == PRCTL_GET_NAME)
                   ? NAME_BYTES
                   : 0;
    case SYSTEM_CALL_ARCH_PRCTL_ARGUMENT:
        return arguments[0] == ARCH_PRCTL_GET_FS || arguments[0] == ARCH_PRCTL_GET_GS ? 8 : 0;
    case SYSTEM_CALL_FUTEX_TIMEOUT:
        return futex_waits(arguments[1]) ? system_call_struct_bytes(SYSTEM_CALL_STRUCT_timespec) : 0;
    case SYSTEM_CALL_SECCOMP_ARGUMENT:
        *direction = (uint32_t)arguments[0] == SECCOMP_SIZES ? SYSTEM_CALL_OUT : SYSTEM_CALL_IN;
        return (uint32_t)arguments[0] == SECCOMP_FILTER ? 16 : (uint32_t)arguments[0] <= SECCOMP_SIZES ? 6 : 0;
    default:
        return 0;
    }
}

static bool is_string(unsigned kind)
{
    return kind == SYSTEM_CALL_PATH || kind == SYSTEM_CALL_STRING || kind == SYSTEM_CALL_TEXT ||
           kind == SYSTEM_CALL_MOUNT_DATA;
}

static bool is_the_moment(const struct system_call_argument *argument, unsigned direction,
                          const struct system_call_moment *moment)
{
    if (!moment->is_after)
        return (direction & SYSTEM_CALL_IN) != 0;
    if (argument->kind == SYSTEM_CALL_REMAINDER)
        return moment->result < 0;
    return (direction & SYSTEM_CALL_OUT) != 0 && moment->result >= 0;
}

bool system_call_memory(const struct system_call_signature *call, unsigned which,
                        const struct system_call_moment *moment, struct system_call_memory *memory_out)
{
    const struct system_call_argument *argument = &call->arguments[which];
    uint64_t address = moment->arguments[which];
    unsigned direction = argument->direction;
    uint64_t size_bytes;

    if (which >= call->argument_count || argument->kind < SYSTEM_CALL_FIRST_POINTER || address == 0)
        return false;
    if (is_string(argument->kind)) {
        if (!is_the_moment(argument, direction, moment))
            return false;
        *memory_out = (struct system_call_memory){.address = address, .is_string = true};
        return true;
    }
    size_bytes = plain_bytes(argument, count_of(argument, moment));
    if (size_bytes == 0)
        size_bytes = dependent_bytes(argument, address, moment, &direction);
    if (size_bytes == 0 || !is_the_moment(argument, direction, moment))
        return false;
    *memory_out = (struct system_call_memory){.address = address, .size_bytes = size_bytes};
    return true;
}
