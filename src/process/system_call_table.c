/* SPDX-License-Identifier: MIT */
/*
 * The table of system_calls.def, twice indexed: by number through an array of positions, by name through a search,
 * since only people and option texts ask for names. Everything here is constant.
 */
#include "process/system_call_table.h"

#include "arch/system_call_layout.h"

#define NONE (-1)

enum {
#define SYSTEM_CALL_NUMBER(label, number) NUMBER_##label = number,
#include "arch/system_call_numbers.def"
#undef SYSTEM_CALL_NUMBER
};

/* The words of system_calls.def. */
#define FILE       SYSTEM_CALL_CLASS_FILE
#define DESC       SYSTEM_CALL_CLASS_DESC
#define NETWORK    SYSTEM_CALL_CLASS_NETWORK
#define PROCESS    SYSTEM_CALL_CLASS_PROCESS
#define SIGNALS    SYSTEM_CALL_CLASS_SIGNALS
#define IPC        SYSTEM_CALL_CLASS_IPC
#define MEMORY     SYSTEM_CALL_CLASS_MEMORY
#define CREDS      SYSTEM_CALL_CLASS_CREDS
#define CLOCK      SYSTEM_CALL_CLASS_CLOCK
#define STAT       SYSTEM_CALL_CLASS_STAT
#define LSTAT      SYSTEM_CALL_CLASS_LSTAT
#define FSTAT      SYSTEM_CALL_CLASS_FSTAT
#define STATFS     SYSTEM_CALL_CLASS_STATFS
#define FSTATFS    SYSTEM_CALL_CLASS_FSTATFS
#define ANY_STAT   SYSTEM_CALL_CLASS_ANY_STAT
#define ANY_STATFS SYSTEM_CALL_CLASS_ANY_STATFS
#define PURE       SYSTEM_CALL_CLASS_PURE

#define PLAIN(kind)                                                                                                    \
    {                                                                                                                  \
        SYSTEM_CALL_##kind, 0, 0, 0                                                                                    \
    }
#define POINTER(kind, way, from)                                                                                       \
    {                                                                                                                  \
        SYSTEM_CALL_##kind, SYSTEM_CALL_##way, 0, from                                                                 \
    }
#define TYPED(kind, way, what, from)                                                                                   \
    {                                                                                                                  \
        SYSTEM_CALL_##kind, SYSTEM_CALL_##way, SYSTEM_CALL_STRUCT_##what, from                                         \
    }
#define BY_ARGUMENT(which) (SYSTEM_CALL_LENGTH_ARGUMENT | (which))
#define AT_MOST(which)     (SYSTEM_CALL_LENGTH_AT_MOST | (which))
#define POINTED_AT(which)  (SYSTEM_CALL_LENGTH_POINTED_AT | (which))
#define FIXED(count)       (SYSTEM_CALL_LENGTH_FIXED | (count))
#define INT                PLAIN(INT)
#define UNSIGNED           PLAIN(UNSIGNED)
#define LONG               PLAIN(LONG)
#define SIZE               PLAIN(SIZE)
#define OFFSET             PLAIN(OFFSET)
#define HEX                PLAIN(HEX)
#define HEX32              PLAIN(HEX32)
#define IO_PRIORITY        PLAIN(IO_PRIORITY)
#define BARRIER_CPU        PLAIN(BARRIER_CPU)
#define ADDRESS            PLAIN(ADDRESS)
#define MODE               PLAIN(MODE)
#define FD                 PLAIN(FD)
#define DIRFD              PLAIN(DIRFD)
#define PID                PLAIN(PID)
#define UID                PLAIN(UID)
#define SIGNAL             PLAIN(SIGNAL)
#define DEVICE             PLAIN(DEVICE)
#define KEY                PLAIN(KEY)
#define OPEN_MODE          PLAIN(OPEN_MODE)
#define MAP_FLAGS          PLAIN(MAP_FLAGS)
#define MREMAP_ADDRESS     PLAIN(MREMAP_ADDRESS)
#define SOCKET_TYPE        PLAIN(SOCKET_TYPE)
#define SOCKET_PROTOCOL    PLAIN(SOCKET_PROTOCOL)
#define SOCKET_OPTION      PLAIN(SOCKET_OPTION)
#define CLONE_FLAGS        PLAIN(CLONE_FLAGS)
#define NODE_MODE          PLAIN(NODE_MODE)
#define NODE_DEVICE        PLAIN(NODE_DEVICE)
#define POSITION_HIGH      PLAIN(POSITION_HIGH)
#define FUTEX_OPERATION    PLAIN(FUTEX_OPERATION)
#define FUTEX_VALUE        PLAIN(FUTEX_VALUE)
#define FUTEX_ADDRESS      PLAIN(FUTEX_ADDRESS)
#define FUTEX_LAST         PLAIN(FUTEX_LAST)
#define IOCTL_COMMAND      PLAIN(IOCTL_COMMAND)
#define PTRACE_PID         PLAIN(PTRACE_PID)
#define PTRACE_ADDRESS     PLAIN(PTRACE_ADDRESS)
#define PTRACE_DATA        PLAIN(PTRACE_DATA)
#define SECCOMP_FLAGS      PLAIN(SECCOMP_FLAGS)
#define SIGRETURN_FRAME    PLAIN(SIGRETURN_FRAME)
#define PATH               POINTER(PATH, IN, 0)
#define STRING             POINTER(STRING, IN, 0)
#define STRINGS            POINTER(STRINGS, IN, 0)
#define ENVIRONMENT        POINTER(ENVIRONMENT, IN, 0)
#define SOCKLEN            POINTER(SOCKLEN, INOUT, 0)
#define TEXT_OUT(which)    POINTER(TEXT, OUT, AT_MOST(which))
#define BYTES_IN(which)    POINTER(BYTES, IN, BY_ARGUMENT(which))
#define BYTES_OUT(which)   POINTER(BYTES, OUT, AT_MOST(which))
#define RANDOM_OUT(which)                                                                                              \
    {                                                                                                                  \
        SYSTEM_CALL_BYTES, SYSTEM_CALL_OUT, 1, AT_MOST(which)                                                          \
    }
#define IOVEC_IN(which)              POINTER(IOVEC, IN, BY_ARGUMENT(which))
#define IOVEC_OUT(which)             POINTER(IOVEC, OUT, BY_ARGUMENT(which))
#define IOVEC_ONLY(which)            POINTER(IOVEC_ONLY, IN, BY_ARGUMENT(which))
#define SOCKADDR_IN(which)           POINTER(SOCKADDR, IN, BY_ARGUMENT(which))
#define SOCKADDR_OUT(which)          POINTER(SOCKADDR, OUT, POINTED_AT(which))
#define SOCKET_VALUE_IN(which)       POINTER(SOCKET_VALUE, IN, BY_ARGUMENT(which))
#define SOCKET_VALUE_OUT(which)      POINTER(SOCKET_VALUE, OUT, POINTED_AT(which))
#define FD_SET(which)                POINTER(FD_SET, INOUT, BY_ARGUMENT(which))
#define CPU_SET_IN(which)            POINTER(CPU_SET, IN, BY_ARGUMENT(which))
#define CPU_SET_OUT(which)           POINTER(CPU_SET, OUT, AT_MOST(which))
#define NODE_SET(which)              POINTER(NODE_SET, IN, BY_ARGUMENT(which))
#define DIRENTS(which)               POINTER(DIRENTS, OUT, AT_MOST(which))
#define MINCORE_PAGES                POINTER(MINCORE_PAGES, OUT, BY_ARGUMENT(1))
#define EPOLL_EVENT_IN               POINTER(EPOLL_EVENT, IN, 0)
#define UTIME_PAIR                   POINTER(UTIME_PAIR, IN, 0)
#define MQ_ATTRIBUTE                 POINTER(MQ_ATTRIBUTE, IN, 0)
#define SIGMASK_ARGUMENT             POINTER(SIGMASK, IN, 0)
#define FILE_HANDLE_IN               POINTER(FILE_HANDLE, IN, 0)
#define FILE_HANDLE_INOUT            POINTER(FILE_HANDLE, INOUT, 0)
#define MOUNT_DATA                   POINTER(MOUNT_DATA, IN, 0)
#define IOCTL_ARGUMENT               POINTER(IOCTL_ARGUMENT, INOUT, 0)
#define FCNTL_ARGUMENT               POINTER(FCNTL_ARGUMENT, INOUT, 0)
#define PRCTL_ARGUMENT               POINTER(PRCTL_ARGUMENT, INOUT, 0)
#define ARCH_PRCTL_ARGUMENT          POINTER(ARCH_PRCTL_ARGUMENT, OUT, 0)
#define FUTEX_TIMEOUT                POINTER(FUTEX_TIMEOUT, IN, 0)
#define SECCOMP_ARGUMENT             POINTER(SECCOMP_ARGUMENT, IN, 0)
#define STRUCT_IN(what)              TYPED(STRUCT, IN, what, 0)
#define STRUCT_OUT(what)             TYPED(STRUCT, OUT, what, 0)
#define STRUCT_INOUT(what)           TYPED(STRUCT, INOUT, what, 0)
#define REMAINDER(what)              TYPED(REMAINDER, OUT, what, 0)
#define SIZED_IN(what, which)        TYPED(STRUCT, IN, what, BY_ARGUMENT(which))
#define SIZED_OUT(what, which)       TYPED(STRUCT, OUT, what, BY_ARGUMENT(which))
#define ARRAY_IN(what, which)        TYPED(ARRAY, IN, what, BY_ARGUMENT(which))
#define ARRAY_INOUT(what, which)     TYPED(ARRAY, INOUT, what, BY_ARGUMENT(which))
#define ARRAY_OUT(what, from)        TYPED(ARRAY, OUT, what, SYSTEM_CALL_LENGTH_##from)
#define ARRAY_FIXED_IN(what, count)  TYPED(ARRAY, IN, what, FIXED(count))
#define ARRAY_FIXED_OUT(what, count) TYPED(ARRAY, OUT, what, FIXED(count))
/* Sets that arguments have stand in front of those that only structs have, so that their numbers fit. */
_Static_assert(SYSTEM_CALL_SET_xattr <= UINT8_MAX, "the detail of an argument has 8 bits");
#define FLAGS(set)                                                                                                     \
    {                                                                                                                  \
        SYSTEM_CALL_FLAGS, 0, SYSTEM_CALL_SET_##set, 0                                                                 \
    }
#define CHOICE(set)                                                                                                    \
    {                                                                                                                  \
        SYSTEM_CALL_CHOICE, 0, SYSTEM_CALL_SET_##set, 0                                                                \
    }
#define IPC_FLAGS(set)                                                                                                 \
    {                                                                                                                  \
        SYSTEM_CALL_IPC_FLAGS, 0, SYSTEM_CALL_SET_##set, 0                                                             \
    }
#define IPC_COMMAND(set)                                                                                               \
    {                                                                                                                  \
        SYSTEM_CALL_IPC_COMMAND, 0, SYSTEM_CALL_SET_##set, 0                                                           \
    }

/* The empty one in front lets calls without arguments be counted. */
#define COUNT(...) (sizeof((struct system_call_argument[]){{0, 0, 0, 0}, ##__VA_ARGS__}) / 4 - 1)

static const struct system_call_signature calls[] = {
#define SYSTEM_CALL(label, sets, kind, ...)                                                                            \
    {#label, sets, NUMBER_##label, SYSTEM_CALL_##kind, COUNT(__VA_ARGS__), {__VA_ARGS__}},
#include "process/system_calls.def"
#undef SYSTEM_CALL
};

#define CALL_COUNT (sizeof(calls) / sizeof(calls[0]))

enum call_index {
#define SYSTEM_CALL(label, ...) INDEX_##label,
#include "process/system_calls.def"
#undef SYSTEM_CALL
};

/* Those that are not here on this CPU share the last place, which compilers wonder about. 0 means none. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const uint16_t index_by_number[SYSTEM_CALL_NUMBERS + 1] = {
#define SYSTEM_CALL(label, ...) [(int)NUMBER_##label < 0 ? SYSTEM_CALL_NUMBERS : NUMBER_##label] = INDEX_##label + 1,
#include "process/system_calls.def"
#undef SYSTEM_CALL
};
#pragma GCC diagnostic pop

static const uint16_t struct_bytes[] = {
#define SYSTEM_CALL_STRUCT(name, size_bytes) size_bytes,
#include "process/system_call_structs.def"
#undef SYSTEM_CALL_STRUCT
};

size_t system_call_count(void)
{
    return CALL_COUNT;
}

const struct system_call_signature *system_call_at(size_t index)
{
    return &calls[index];
}

const struct system_call_signature *system_call_by_number(uint64_t number)
{
    size_t index = number < SYSTEM_CALL_NUMBERS ? index_by_number[number] : 0;

    return index == 0 ? NULL : &calls[index - 1];
}

const struct system_call_signature *system_call_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < CALL_COUNT; i++) {
        size_t same = 0;

        while (same < length && same < sizeof(calls[i].name) && calls[i].name[same] == name[same] && name[same] != '\0')
            same++;
        if (same == length && same < sizeof(calls[i].name) && calls[i].name[same] == '\0' && calls[i].number >= 0)
            return &calls[i];
    }
    return NULL;
}

size_t system_call_struct_bytes(enum system_call_struct which)
{
    return struct_bytes[which];
}
