/* SPDX-License-Identifier: MIT */
/*
 * What a test of the agent's parts needs of the other side: a ring as the agent makes it, with a reader that looks at
 * what was written there. One in a process; a child that is forked shares the ring's memory, as a target does.
 */
#ifndef GAIT_TESTS_AGENT_LAB_H
#define GAIT_TESTS_AGENT_LAB_H

#include "protocol/agent_call.h"
#include "ring/detail_record.h"
#include "ring/detail_value.h"
#include "ring/event_record.h"
#include "ring/ring_layout.h"
#include "ring/ring_reader.h"
#include "ring/ring_region.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stalker_engine;

#define AGENT_LAB_RECORDS 4096
#define AGENT_LAB_MODULES 512
#define AGENT_LAB_PATH    256
#define AGENT_LAB_CALLS   16384
#define AGENT_LAB_BLOCKS  16384

/* Of functions that are hooked or followed by name: compilers know much of functions that they see. */
#if defined(__clang__)
#define AGENT_LAB_FUNCTION __attribute__((noinline, optnone))
#else
#define AGENT_LAB_FUNCTION __attribute__((noinline, noipa))
#endif

struct agent_lab_module {
    struct ring_module module;
    char path[AGENT_LAB_PATH]; /* of a longer one, its beginning */
};

/* A record of a hooked function. */
struct agent_lab_call {
    uint64_t function; /* its address, as the ring has it; 0: the ring has none with that number */
    uint64_t time;
    enum event_record record;
    uint32_t depth;
    uint32_t tid;
};

struct agent_lab_block {
    uint64_t start;
    uint32_t space;
    uint32_t number;
    uint32_t size_bytes;
};

struct agent_lab {
    struct ring_region *ring;
    struct ring_reader *reader;
    struct agent_options options; /* as the controller would send them; nothing is asked for at first */
    /* What was taken out of the ring so far: */
    uint8_t bytes[4u << 20];
    size_t used;
    const struct detail_record *records[AGENT_LAB_RECORDS]; /* of detail lanes */
    unsigned record_count;
    unsigned bad_bytes;   /* what was no whole record */
    uint64_t lost_bytes;  /* of records that were told to be missing */
    uint64_t index_bytes; /* of records of index lanes */
    unsigned ended_lanes;
    uint32_t tid; /* of the last piece with records */
    uint32_t serial;
    struct agent_lab_module modules[AGENT_LAB_MODULES];
    unsigned module_count;
    struct agent_lab_call calls[AGENT_LAB_CALLS]; /* of hooked functions */
    unsigned call_count;
    struct agent_lab_block blocks[AGENT_LAB_BLOCKS];
    unsigned block_count;
};

extern struct agent_lab agent_lab;

/* Makes the ring, with its reader; ends the program if there is none to be had. buffer_bytes 0: the ring's default. */
void agent_lab_begin(size_t buffer_bytes, enum ring_overflow overflow);

/* Looks at a ring that the code under test has made, by its descriptor. */
void agent_lab_open(int fd);

/* Adds a pattern to the options; its number there. */
uint32_t agent_lab_add_pattern(enum agent_pattern_use use, const char *text);

/* Takes what has come into the ring since; how many detail records there are by now. */
unsigned agent_lab_take(void);

/* Forgets what was taken. */
void agent_lab_clear(void);

/* The record with that number, if it is there and of that kind; ends the program with the reason if not. */
const void *agent_lab_record(unsigned which, enum detail_record_kind kind);

/* How many of the records are of that kind; UINT64_MAX: of any function. */
unsigned agent_lab_count(enum detail_record_kind kind, uint64_t function);

/* How many of the records of hooked functions are of that kind and function; NULL: of any function. */
unsigned agent_lab_calls(enum event_record record, const void *function);

/* The function's block, as the ring describes it; NULL: it has none. */
const struct agent_lab_block *agent_lab_block_at(const void *function);

/* The value with that number of a record; false: there are not so many. */
bool agent_lab_value(const struct detail_record *record, unsigned which, struct detail_value *value_out,
                     const uint8_t **data_out);

/* The last change of what is mapped that concerns an address; NULL: none was told. */
const struct agent_lab_module *agent_lab_module_at(uint64_t address);

/* An engine that follows this process. Leaves the program as skipped where gait cannot follow threads. */
struct stalker_engine *agent_lab_engine(void);

/* Calls the function while the calling thread is followed, with its events in the lab's ring. */
void agent_lab_follow(struct stalker_engine *engine, uint32_t events, void (*function)(void));

#endif
