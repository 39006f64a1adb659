/* SPDX-License-Identifier: MIT */
/*
 * Differences between the decoder and another disassembler, and the list of those that are explained. A line of a list:
 *     field mnemonic condition reason
 * where field is what differs, mnemonic is a shell pattern, condition is "-" or one of the keywords that the test
 * defines, and the reason is for people. Lines are tried in order, the first that fits takes the difference. A line
 * that takes none fails the test: a list only shrinks by being true.
 */
#ifndef GAIT_TESTS_DIFFERENCE_LIST_H
#define GAIT_TESTS_DIFFERENCE_LIST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct x86_insn;

struct difference {
    const char *field;
    const char *mnemonic;
    const uint8_t *bytes;
    size_t available;            /* of the bytes */
    const struct x86_insn *insn; /* ours; NULL where we refuse */
    const char *other_text;      /* what the other side printed, if it prints */
    uint64_t ours, theirs;
};

struct difference_condition {
    const char *keyword;
    bool (*holds)(const struct difference *difference);
};

struct difference_line {
    char field[24], mnemonic[32], condition[32];
    bool (*holds)(const struct difference *difference);
    unsigned number; /* in the file */
    atomic_ullong uses;
};

/* Unexplained differences in the same field of the same instruction, shown by their first. */
struct difference_kind {
    char field[24], mnemonic[32], text[256];
    unsigned long long count;
};

#define DIFFERENCE_MAX_KINDS 4000

struct difference_list {
    const char *path;
    struct difference_line *lines;
    size_t line_count;
    atomic_ullong explained;
    pthread_mutex_t lock; /* for all below */
    unsigned long long unexplained;
    struct difference_kind *kinds;
    size_t kind_count;
};

/* Reads the list. Returns 0, or -errno after printing what is wrong with it. */
__attribute__((warn_unused_result)) int difference_list_init(struct difference_list *list, const char *path,
                                                             const struct difference_condition *conditions);

void difference_list_deinit(struct difference_list *list);

/* Whether a line explains the difference; that line is then in use. Any thread. */
bool difference_list_explains(struct difference_list *list, const struct difference *difference);

/* Explains the difference, or notes it as unexplained. Returns whether it was explained. Any thread. */
bool difference_list_judge(struct difference_list *list, const struct difference *difference);

/* Prints the unexplained differences, one of each kind, and the totals. */
void difference_list_print_unexplained(const struct difference_list *list);

/* Prints these, and the lines without use. Returns how many of both there are: 0 if all is well. */
unsigned long long difference_list_finish(const struct difference_list *list);

#endif
