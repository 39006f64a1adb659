/* SPDX-License-Identifier: MIT */
/*
 * Tables of code that were made before, in files by build ID: reading them is much quicker than debug information. They
 * are in a folder of the user's, $XDG_CACHE_HOME/gait or ~/.cache/gait; all of them may be deleted at any time. Where
 * the folder cannot be used there is no cache, and nothing else changes. Nothing in a file is trusted. One thread at a
 * time; several processes may use the same folder.
 *
 *   header | ranges | units | tables, each aligned to 8 bytes
 */
#ifndef GAIT_SYMBOLIZE_CODE_TABLE_CACHE_H
#define GAIT_SYMBOLIZE_CODE_TABLE_CACHE_H

#include "base/attributes.h"
#include "symbolize/code_units.h"

#include <stddef.h>
#include <stdint.h>

#define CODE_TABLE_CACHE_VERSION    1
#define CODE_TABLE_CACHE_FILE_BYTES (512ull << 20) /* no file becomes larger */
#define CODE_TABLE_CACHE_ALL_BYTES  (2ull << 30)   /* what was used longest ago is deleted when there is more */
#define CODE_TABLE_CACHE_ID_BYTES   32

struct code_table_cache_header {
    uint8_t magic[8]; /* "gaitcode" */
    uint32_t version;
    uint32_t sum; /* CRC-32C of the ranges and units */
    uint64_t size_bytes;
    uint32_t id_bytes;
    uint32_t range_count;
    uint32_t unit_count;
    uint32_t padding;
    uint8_t id[CODE_TABLE_CACHE_ID_BYTES];
};

struct code_table_cache_range {
    uint64_t begin;
    uint64_t end;
    uint64_t unit;
};

struct code_table_cache_unit {
    uint64_t unit;
    uint64_t place;      /* of its table in the file */
    uint32_t size_bytes; /* 0: it has none here */
    uint32_t sum;        /* CRC-32C of the table */
};

_Static_assert(sizeof(struct code_table_cache_header) == 72, "in files");
_Static_assert(sizeof(struct code_table_cache_range) == 24, "in files");
_Static_assert(sizeof(struct code_table_cache_unit) == 24, "in files");

/* Which file it is. */
struct code_table_cache_name {
    const char *folder; /* NULL: there is no cache */
    const uint8_t *id;
    size_t id_bytes;
};

/* Where people keep such things, written to the text. NULL: nowhere. */
const char *code_table_cache_folder(char *text, size_t text_bytes);

/* Opens what is there. fd_out is for code_table_cache_read. -ENOENT: there is nothing, or nothing that can be used. */
MUST_USE int code_table_cache_open(const struct code_table_cache_name *name, struct code_units *units_out, int *fd_out);

/* Gives a unit that is kept its table. -EPROTO: it is damaged; -ENOMEM. */
MUST_USE int code_table_cache_read(int fd, struct code_unit *unit);

/* Writes the tables of all units that are whole; fd is the file they came from, or -1. What fails changes nothing. */
MUST_USE int code_table_cache_write(const struct code_table_cache_name *name, const struct code_units *units, int fd);

#endif
