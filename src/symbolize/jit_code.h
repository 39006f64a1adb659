/* SPDX-License-Identifier: MIT */
/*
 * Code that a process made while it ran, by what its runtime wrote down: /tmp/perf-PID.map, a list of names, or
 * jit-PID.dump, with times and lines. Files that were last written before the recording began are those of another
 * process that had the same number, and are not used. Nothing in them is trusted.
 */
#ifndef GAIT_SYMBOLIZE_JIT_CODE_H
#define GAIT_SYMBOLIZE_JIT_CODE_H

#include "base/attributes.h"
#include "symbolize/named_code.h"

#include <stdint.h>

#define JIT_DUMP_MAGIC   0x4a695444
#define JIT_DUMP_VERSION 1

enum jit_dump_kind { JIT_DUMP_LOAD, JIT_DUMP_MOVE, JIT_DUMP_LINES, JIT_DUMP_CLOSE };

struct jit_dump_header {
    uint32_t magic;
    uint32_t version;
    uint32_t size_bytes;
    uint32_t machine;
    uint32_t padding;
    uint32_t pid;
    uint64_t time;
    uint64_t flags;
};

struct jit_dump_record {
    uint32_t kind;
    uint32_t size_bytes; /* with this */
    uint64_t time;
};

/* The name and the code follow. */
struct jit_dump_load {
    uint32_t pid, tid;
    uint64_t mapped;
    uint64_t address;
    uint64_t size_bytes;
    uint64_t number;
};

struct jit_dump_move {
    uint32_t pid, tid;
    uint64_t mapped;
    uint64_t from;
    uint64_t to;
    uint64_t size_bytes;
    uint64_t number;
};

/* The lines follow: each is an address, a number, a discriminator and the name of a file. */
struct jit_dump_lines {
    uint64_t address;
    uint64_t count;
};

struct jit_code {
    struct named_code functions;
    struct named_code lines; /* the names are files */
};

void jit_code_init(struct jit_code *code);
void jit_code_deinit(struct jit_code *code);

/* Reads a file of either kind, whatever it is called, if it was written since (seconds since 1970). -ENOENT; -EPROTO:
 * it is something else; -ENOMEM. What was read before it went wrong stays. */
MUST_USE int jit_code_read_map(struct jit_code *code, const char *path, int64_t since);
MUST_USE int jit_code_read_dump(struct jit_code *code, const char *path, int64_t since);

/* Reads all that is found for a process in the usual places, also those of the container that it is in; finishes. */
void jit_code_read_process(struct jit_code *code, uint32_t pid, int64_t since);

/* After reading. */
void jit_code_finish(struct jit_code *code);

#endif
