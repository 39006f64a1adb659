/* SPDX-License-Identifier: MIT */
/*
 * The pieces that texts of system calls consist of, spelled as strace spells them: addresses, numbers, quoted bytes,
 * strings out of the program's memory, lists. Nothing here trusts the program: what cannot be read is written as its
 * address, and counts are bounded. One thread at a time.
 */
#ifndef GAIT_SYSCALLS_CALL_TEXT_H
#define GAIT_SYSCALLS_CALL_TEXT_H

#include "base/attributes.h"
#include "base/text_format.h"
#include "syscalls/call_text_options.h"
#include "syscalls/system_call_event.h"

/* Elements of arrays that are shown without being asked for more. */
#define CALL_TEXT_ELEMENTS_MAX 4096

struct call_text {
    struct text_writer *out;
    const struct call_text_options *options;
    const struct call_memory *memory;
    const struct system_call_signature *call; /* NULL: nothing is known of it */
    const uint64_t *arguments;                /* of the call */
    int64_t result;                           /* when it is over */
    int pid;
    bool is_over;
    bool has_failed;
    uint32_t entered_length; /* what the length that a pointer leads to was when the call began */
    uint64_t sp;             /* of the thread, when the call began */
};

/* Whether all of size_bytes at address were read. */
MUST_USE bool call_text_read(const struct call_text *text, uint64_t address, void *bytes_out, size_t size_bytes);

/* NULL, or the address in hexadecimal. */
void call_text_put_address(const struct call_text *text, uint64_t address);

/* 0, or the value in hexadecimal. */
void call_text_put_hex(const struct call_text *text, uint64_t value);

/*
 * Around the name of a number: the number is written as it is asked for, before the name or in its place. False: no
 * name is wanted. The end is to be called behind a name only.
 */
bool call_text_begin_name(struct text_writer *out, const char *number);
void call_text_end_name(struct text_writer *out);

/* At least three octal digits. */
void call_text_put_octal(const struct call_text *text, uint64_t value);

void call_text_put_fd(const struct call_text *text, int fd);
void call_text_put_dirfd(const struct call_text *text, int fd);

/* The number of a process or a thread, with its name where that is wanted. */
void call_text_put_pid(const struct call_text *text, int pid);

/* -1, or an unsigned number. */
void call_text_put_id(const struct call_text *text, uint32_t id);

void call_text_put_device(const struct call_text *text, uint64_t device);

/* Bytes in quotes, with backslashes before what cannot be shown; `is_cut` adds three dots. */
void call_text_put_quoted(const struct call_text *text, const char *bytes, size_t size_bytes, bool is_cut);

/* The string at address, up to its NUL: all of it, or as much as the options say. */
void call_text_put_path(const struct call_text *text, uint64_t address);
void call_text_put_string(const struct call_text *text, uint64_t address);

/* The bytes at address, as many as the options say. */
void call_text_put_bytes(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* The same, each byte in hexadecimal. */
void call_text_put_random(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* A text in an array of capacity bytes, which need not be ended by NUL. */
void call_text_put_array_text(const struct call_text *text, const char *bytes, size_t capacity);

/* [a, b, c] out of an array in the program: put() writes one element. */
struct call_text_array {
    uint64_t address;
    uint64_t count;
    size_t element_bytes;
    void (*put)(const struct call_text *text, const void *element);
};
void call_text_put_array(const struct call_text *text, const struct call_text_array *array);

#endif
