/* SPDX-License-Identifier: MIT */
/*
 * What programs in the kernel get, and what they report: shared by those (probe.bpf.c) and the loader. Fixed
 * sizes, the same on both sides.
 */
#ifndef GAIT_KERNEL_PROGRAM_LAYOUT_H
#define GAIT_KERNEL_PROGRAM_LAYOUT_H

#define PROGRAM_CONDITIONS_MAX 16
#define PROGRAM_VALUES_MAX     12
#define PROGRAM_STRINGS_MAX    4
#define PROGRAM_STRING_BYTES   128
#define PROGRAM_KEY_BYTES      16
#define PROGRAM_COUNTS_MAX     16384
#define PROGRAM_FEW_MAX        1024 /* keys below that are counted in an array */
#define PROGRAM_BUCKETS        66

/* What a program does with an event that fulfils its conditions. */
enum program_action {
    PROGRAM_PASSES, /* lets it through to perf */
    PROGRAM_EMITS,  /* writes its values into the ring */
    PROGRAM_COUNTS, /* counts it, by key */
};

/* Where a value is. */
enum program_place {
    PROGRAM_AT_OFFSET, /* in what the program is given */
    PROGRAM_PID,
    PROGRAM_TID,
    PROGRAM_UID,
    PROGRAM_CPU,
    PROGRAM_COMM, /* text */
    PROGRAM_NOTHING,
};

/* What it is. */
enum program_type {
    PROGRAM_SIGNED,
    PROGRAM_UNSIGNED,
    PROGRAM_KERNEL_STRING, /* a pointer to it */
    PROGRAM_USER_STRING,
    PROGRAM_CHARACTERS, /* text in place */
};

struct program_value {
    unsigned place;
    unsigned type;
    unsigned offset;
    unsigned size_bytes; /* of numbers 1, 2, 4 or 8; of characters at most PROGRAM_KEY_BYTES */
    unsigned in_memory;  /* what is there is an address of the program's: so far behind it */
    int displacement;    /* of nothing, the value itself */
};

enum program_comparison {
    PROGRAM_EQUAL,
    PROGRAM_UNEQUAL,
    PROGRAM_LESS,
    PROGRAM_AT_MOST,
    PROGRAM_MORE,
    PROGRAM_AT_LEAST,
    PROGRAM_HAS_BITS,
};

/* All of a group have to hold, of one group at least. */
struct program_condition {
    struct program_value value;
    unsigned comparison;
    unsigned ends_group;
    unsigned long long number;
};

struct program_config {
    unsigned action;
    unsigned source;     /* its number */
    unsigned by_process; /* only those that are in the list */
    unsigned pid;        /* the first of them, which most events are of */
    unsigned result;     /* what to give back after counting or writing */
    unsigned condition_count;
    unsigned value_count; /* to be written */
    unsigned emit_bytes;  /* in all */
    unsigned has_measure; /* counts are by the size of a value, too */
    unsigned few_count;   /* how many entries the array has in which is counted what is below; 0: there is none */
    struct program_condition conditions[PROGRAM_CONDITIONS_MAX];
    struct program_value values[PROGRAM_VALUES_MAX];
    struct program_value key;
    struct program_value measure;
};

/* What is counted together. */
struct program_key {
    unsigned source;
    unsigned bucket; /* of the measure: 0 below zero, 1 zero, n + 2 from 2 to the power of n on */
    unsigned char key[PROGRAM_KEY_BYTES];
};

#endif
