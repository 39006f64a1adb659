/* SPDX-License-Identifier: MIT */
/*
 * What is known of each system call: its name, number and classes, and what its arguments are. Enough for the agent to
 * know which memory of the program to keep when a call begins or ends (system_call_memory.h), and for
 * syscalls/system_call_text.h to write it down as people know it. Constant tables, no locks, no memory, no system
 * calls: usable from any thread, inside the target.
 */
#ifndef GAIT_PROCESS_SYSTEM_CALL_TABLE_H
#define GAIT_PROCESS_SYSTEM_CALL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define SYSTEM_CALL_ARGUMENTS_MAX 6
/* Above every number that there is. Numbers outside of the table are calls of which nothing is known. */
#define SYSTEM_CALL_NUMBERS 512

/* The sets that people choose system calls by, as in strace -e trace=%file. */
enum system_call_class {
    SYSTEM_CALL_CLASS_FILE = 1 << 0,        /* takes the name of a file */
    SYSTEM_CALL_CLASS_DESC = 1 << 1,        /* takes or makes file descriptors */
    SYSTEM_CALL_CLASS_NETWORK = 1 << 2,     /* sockets */
    SYSTEM_CALL_CLASS_PROCESS = 1 << 3,     /* begins, ends, waits for or changes processes */
    SYSTEM_CALL_CLASS_SIGNALS = 1 << 4,     /* signals */
    SYSTEM_CALL_CLASS_IPC = 1 << 5,         /* semaphores, messages and shared memory of System V */
    SYSTEM_CALL_CLASS_MEMORY = 1 << 6,      /* the memory map */
    SYSTEM_CALL_CLASS_CREDS = 1 << 7,       /* users, groups, capabilities */
    SYSTEM_CALL_CLASS_CLOCK = 1 << 8,       /* reads or sets clocks */
    SYSTEM_CALL_CLASS_STAT = 1 << 9,        /* stat by name */
    SYSTEM_CALL_CLASS_LSTAT = 1 << 10,      /* lstat */
    SYSTEM_CALL_CLASS_FSTAT = 1 << 11,      /* fstat, fstatat, statx */
    SYSTEM_CALL_CLASS_STATFS = 1 << 12,     /* statfs */
    SYSTEM_CALL_CLASS_FSTATFS = 1 << 13,    /* fstatfs */
    SYSTEM_CALL_CLASS_ANY_STAT = 1 << 14,   /* what tells of files, in any way */
    SYSTEM_CALL_CLASS_ANY_STATFS = 1 << 15, /* what tells of file systems, in any way */
    SYSTEM_CALL_CLASS_PURE = 1 << 16,       /* only answers, without arguments, and never fails */
};

/*
 * What an argument is. Those behind SYSTEM_CALL_FIRST_POINTER point at memory; how much of it, and when it is worth
 * reading, is what system_call_memory() says.
 */
enum system_call_kind {
    /* numbers */
    SYSTEM_CALL_NUMBER, /* of results only: as the kernel returns it */
    SYSTEM_CALL_INT,
    SYSTEM_CALL_UNSIGNED,
    SYSTEM_CALL_LONG,
    SYSTEM_CALL_SIZE, /* unsigned, 64 bits */
    SYSTEM_CALL_OFFSET,
    SYSTEM_CALL_HEX,
    SYSTEM_CALL_HEX32,   /* the lower half of one */
    SYSTEM_CALL_ADDRESS, /* that is not followed */
    SYSTEM_CALL_MODE,
    SYSTEM_CALL_FD,
    SYSTEM_CALL_DIRFD, /* or AT_FDCWD */
    SYSTEM_CALL_PID,
    SYSTEM_CALL_UID, /* users and groups */
    SYSTEM_CALL_SIGNAL,
    SYSTEM_CALL_DEVICE,
    SYSTEM_CALL_KEY,    /* of System V's */
    SYSTEM_CALL_FLAGS,  /* several bits of the set `detail` */
    SYSTEM_CALL_CHOICE, /* one value of the set `detail` */
    /* numbers whose meaning, or being there at all, depends on other arguments */
    SYSTEM_CALL_OPEN_MODE, /* only where a file is created */
    SYSTEM_CALL_MAP_FLAGS,
    SYSTEM_CALL_MREMAP_ADDRESS, /* only with MREMAP_FIXED */
    SYSTEM_CALL_IPC_FLAGS,      /* bits of the set `detail`, and a mode */
    SYSTEM_CALL_IPC_COMMAND,
    SYSTEM_CALL_SOCKET_TYPE,
    SYSTEM_CALL_SOCKET_PROTOCOL, /* of the family in argument 0 */
    SYSTEM_CALL_SOCKET_OPTION,   /* of the level in argument 1 */
    SYSTEM_CALL_CLONE_FLAGS,
    SYSTEM_CALL_NODE_MODE, /* of mknod: with the type of file */
    SYSTEM_CALL_NODE_DEVICE,
    SYSTEM_CALL_POSITION_HIGH, /* 32 more bits of the offset before it: not used where long has 64 */
    SYSTEM_CALL_FUTEX_OPERATION,
    SYSTEM_CALL_FUTEX_VALUE,
    SYSTEM_CALL_FUTEX_ADDRESS,
    SYSTEM_CALL_FUTEX_LAST,
    SYSTEM_CALL_IOCTL_COMMAND,
    SYSTEM_CALL_PTRACE_PID,
    SYSTEM_CALL_PTRACE_ADDRESS,
    SYSTEM_CALL_PTRACE_DATA,
    SYSTEM_CALL_SECCOMP_FLAGS,
    SYSTEM_CALL_IO_PRIORITY,
    SYSTEM_CALL_BARRIER_CPU,     /* only with flags */
    SYSTEM_CALL_SIGRETURN_FRAME, /* no argument: it is on the stack */
    /* of results only */
    SYSTEM_CALL_FCNTL,
    SYSTEM_CALL_SCHEDULER,
    SYSTEM_CALL_TIMEX,
    SYSTEM_CALL_PERSONALITY,
    SYSTEM_CALL_TIME,
    SYSTEM_CALL_PRCTL,      /* what the operation says */
    SYSTEM_CALL_PRIORITIES, /* of input and output */
    SYSTEM_CALL_MEMBARRIER, /* flags, if they were asked for */
    SYSTEM_CALL_POLL,       /* a number, and what happened to which descriptor */
    SYSTEM_CALL_SELECT,     /* the same */
    /* memory */
    SYSTEM_CALL_FIRST_POINTER,
    SYSTEM_CALL_PATH = SYSTEM_CALL_FIRST_POINTER, /* ended by NUL */
    SYSTEM_CALL_STRING,                           /* the same, that is no path */
    SYSTEM_CALL_TEXT,                             /* the same, out, with room for as much as an argument says */
    SYSTEM_CALL_BYTES,
    SYSTEM_CALL_STRUCT,
    SYSTEM_CALL_REMAINDER,  /* a struct that is written only when the call was interrupted */
    SYSTEM_CALL_ARRAY,      /* of structs */
    SYSTEM_CALL_IOVEC,      /* an array of them, and what they point at */
    SYSTEM_CALL_IOVEC_ONLY, /* what they point at is in another process */
    SYSTEM_CALL_SOCKADDR,
    SYSTEM_CALL_SOCKLEN, /* an int, in and out */
    SYSTEM_CALL_SOCKET_VALUE,
    SYSTEM_CALL_STRINGS,     /* pointers to strings, the last of them NULL */
    SYSTEM_CALL_ENVIRONMENT, /* the same, which are only counted */
    SYSTEM_CALL_FD_SET,
    SYSTEM_CALL_CPU_SET,
    SYSTEM_CALL_NODE_SET,
    SYSTEM_CALL_DIRENTS,
    SYSTEM_CALL_MINCORE_PAGES, /* a byte for each page of arguments 0 and 1 */
    SYSTEM_CALL_EPOLL_EVENT,   /* not with EPOLL_CTL_DEL */
    SYSTEM_CALL_UTIME_PAIR,    /* two timespecs with UTIME_NOW and UTIME_OMIT */
    SYSTEM_CALL_MQ_ATTRIBUTE,  /* only where a queue is created */
    SYSTEM_CALL_SIGMASK,       /* of pselect6: a pointer to a sigset, and its size */
    SYSTEM_CALL_FILE_HANDLE,
    SYSTEM_CALL_MOUNT_DATA,
    SYSTEM_CALL_IOCTL_ARGUMENT, /* as many bytes as the command says, which also says in which direction */
    SYSTEM_CALL_FCNTL_ARGUMENT, /* struct flock, f_owner_ex or a number, by the command */
    SYSTEM_CALL_PRCTL_ARGUMENT, /* a number, or a name of 16 bytes, by the operation */
    SYSTEM_CALL_ARCH_PRCTL_ARGUMENT,
    SYSTEM_CALL_FUTEX_TIMEOUT, /* a timespec or a number, by the operation */
    SYSTEM_CALL_SECCOMP_ARGUMENT,
};

/* Sets of named values: the values are in syscalls/constant_sets.def. */
enum system_call_constants {
#define CONSTANT_SET(name) SYSTEM_CALL_SET_##name,
#include "process/system_call_sets.def"
#undef CONSTANT_SET
    SYSTEM_CALL_SET_COUNT
};

enum system_call_struct {
#define SYSTEM_CALL_STRUCT(name, size_bytes) SYSTEM_CALL_STRUCT_##name,
#include "process/system_call_structs.def"
#undef SYSTEM_CALL_STRUCT
    SYSTEM_CALL_STRUCT_COUNT
};

/* When the memory that an argument points at is worth reading. */
enum system_call_direction {
    SYSTEM_CALL_IN = 1,  /* before the call */
    SYSTEM_CALL_OUT = 2, /* after it, if it succeeded */
    SYSTEM_CALL_INOUT = 3,
};

/* What the number of bytes, or elements of an array, is taken from: one of these, with a number in the low bits. */
enum system_call_length {
    SYSTEM_CALL_LENGTH_ONE = 0,           /* it is one struct, or ends by itself */
    SYSTEM_CALL_LENGTH_ARGUMENT = 0x10,   /* the argument of that position */
    SYSTEM_CALL_LENGTH_AT_MOST = 0x20,    /* the result, which is no more than that argument */
    SYSTEM_CALL_LENGTH_POINTED_AT = 0x30, /* the int that this argument points at */
    SYSTEM_CALL_LENGTH_RESULT = 0x40,     /* the result */
    SYSTEM_CALL_LENGTH_FIXED = 0x50,      /* that number itself */
};

#define SYSTEM_CALL_LENGTH_SOURCE(length) ((length)&0xf0)
#define SYSTEM_CALL_LENGTH_NUMBER(length) ((length)&0x0f)

struct system_call_argument {
    uint8_t kind;      /* enum system_call_kind */
    uint8_t direction; /* enum system_call_direction, of pointers */
    uint8_t detail;    /* enum system_call_constants or system_call_struct, by kind; of bytes 1: no text, random ones */
    uint8_t length;    /* enum system_call_length, of pointers */
};

/* No pointers in it, so that the agent has nothing to relocate. */
struct system_call_signature {
    char name[24];
    uint32_t classes; /* bits of enum system_call_class */
    int16_t number;   /* on this CPU; negative: it is not there */
    uint8_t result;   /* enum system_call_kind */
    uint8_t argument_count;
    struct system_call_argument arguments[SYSTEM_CALL_ARGUMENTS_MAX];
};

/* All system calls, also of other CPUs, for index 0 .. count - 1. */
size_t system_call_count(void);
const struct system_call_signature *system_call_at(size_t index);

/* The call of that number on this CPU, or NULL. */
const struct system_call_signature *system_call_by_number(uint64_t number);

/* The call of that name, of `length` characters, which this CPU has; or NULL. */
const struct system_call_signature *system_call_by_name(const char *name, size_t length);

/* Bytes of one struct, on this CPU. */
size_t system_call_struct_bytes(enum system_call_struct which);

#endif
