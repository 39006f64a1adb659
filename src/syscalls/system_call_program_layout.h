/* SPDX-License-Identifier: MIT */
/*
 * What the programs in the kernel that see system calls (bpf/system_call.bpf.c) get, and what they report: shared by
 * those and who loads them. Fixed sizes, the same on both sides.
 */
#ifndef GAIT_SYSCALLS_SYSTEM_CALL_PROGRAM_LAYOUT_H
#define GAIT_SYSCALLS_SYSTEM_CALL_PROGRAM_LAYOUT_H

#define CALL_PROGRAM_NUMBERS      512        /* the last one stands for all from there on */
#define CALL_PROGRAM_FOREIGN      (1u << 31) /* in a number: it is that of 32-bit code, where numbers mean others */
#define CALL_PROGRAM_THREADS_MAX  32768      /* that are watched at the same time */
#define CALL_PROGRAM_WORDS        8
#define CALL_PROGRAM_VALUES_BYTES 16384 /* a piece may begin before them */
#define CALL_PROGRAM_PIECE_BYTES  4096  /* of one piece of memory, at most */
#define CALL_PROGRAM_IOVECS_MAX   8
#define CALL_PROGRAM_STRINGS_MAX  32
#define CALL_PROGRAM_POINTERS_MAX 512 /* to strings that are only counted */

/* What is behind an argument. */
enum call_program_piece_kind {
    CALL_PIECE_NONE,
    CALL_PIECE_STRING,
    CALL_PIECE_BYTES,
    CALL_PIECE_IOVECS,
    CALL_PIECE_MESSAGE,  /* struct msghdr; with `more`, nothing of what it points at is read before the call */
    CALL_PIECE_STRINGS,  /* pointers to them, up to a NULL */
    CALL_PIECE_POINTERS, /* the same, which are only counted */
    CALL_PIECE_MASK,     /* a pointer to a set of signals */
    CALL_PIECE_CLONE,    /* struct clone_args, and what is answered behind its pointers */
    CALL_PIECE_FRAME,    /* not behind the argument, but where the stack pointer is */
};

/* When it is read. */
enum call_program_piece_moment {
    CALL_PIECE_BEFORE = 1,
    CALL_PIECE_AFTER = 2,       /* if the call succeeded */
    CALL_PIECE_AFTER_ERROR = 4, /* if it did not */
};

/* Of `count` elements these are (count * unit >> shift) + more bytes, and no more than `most`. */
struct call_program_piece {
    unsigned char kind;
    unsigned char moments;
    unsigned char length; /* what the count is: enum system_call_length */
    unsigned char shift;
    unsigned unit;
    unsigned more;
    unsigned most;
};

/* One for each number. */
struct call_program_plan {
    unsigned is_wanted;
    unsigned descriptors; /* a bit for each argument that is one; the next one: the result is one */
    struct call_program_piece pieces[6];
};

enum call_program_record_kind {
    CALL_RECORD_ENTER,  /* words: the arguments, the stack pointer, where the thread goes on */
    CALL_RECORD_LEAVE,  /* words: the result */
    CALL_RECORD_SIGNAL, /* number: of the signal; words: the first 48 bytes of what is known of it */
    CALL_RECORD_END,    /* words: the status, as of wait() */
    CALL_RECORD_EXEC,   /* words: the number of the thread before */
};

enum call_program_record_flag {
    CALL_RECORD_MISSES = 1,    /* memory that was to be read was not there */
    CALL_RECORD_NO_STATUS = 2, /* nobody knows how it ended */
};

/*
 * Which file a descriptor was: a buffer among the values, at an address where no memory can be, which its number makes.
 * Of a folder's, AT_FDCWD, it is that of the thread.
 */
#define CALL_PROGRAM_FILE_AT(fd) (0xfe00000000000000ull + ((unsigned long long)(unsigned)(fd) << 14))
#define CALL_PROGRAM_FDCWD       (-100)

struct call_program_file {
    unsigned long long inode;
    unsigned mode;
    unsigned reserved;
};

/* Behind it are values (ring/detail_value.h): for each piece a pointer, and a string or a buffer. */
struct call_program_record {
    unsigned values_bytes;
    unsigned short kind;
    unsigned short flags;
    unsigned pid;
    unsigned tid;
    unsigned long long time_ns; /* CLOCK_MONOTONIC */
    unsigned long long number;
    unsigned long long words[CALL_PROGRAM_WORDS];
};

#endif
