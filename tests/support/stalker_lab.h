/* SPDX-License-Identifier: MIT */
/*
 * A place to translate small pieces of code and to look at the outcome: an engine and a cache, memory for original
 * code, and a followed thread that is only a struct. Its gates are traps, so that a code runner runs translations from
 * an exact machine state to where they leave the cache; the lab then does what the engine would and goes on. x86-64
 * only. One lab in a process at a time, used by the thread that made it.
 */
#ifndef GAIT_TESTS_STALKER_LAB_H
#define GAIT_TESTS_STALKER_LAB_H

#include "arch/x86_64/isa/decoder.h"
#include "arch/x86_64/isa/encoder.h"
#include "base/code_writer.h"
#include "stalker/code_cache.h"
#include "stalker/event_buffer.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"
#include "support/arena.h"
#include "support/code_runner.h"

/* Where original code can be: in reach of 32-bit addresses, and not. */
#define STALKER_LAB_LOW   0x31340000ull
#define STALKER_LAB_HIGH  (ARENA_BASE + 0x4000000ull)

#define STALKER_LAB_DATA  0x32340000ull
#define STALKER_LAB_BYTES 0x10000u

struct stalker_lab_options {
    uint64_t code; /* 0: STALKER_LAB_LOW */
    uint32_t events;
    bool times;
    const struct gait_transformer *transformer;
    size_t buffer_bytes; /* of events; 0: a page */
    uint8_t fill;        /* what stands where no code is written; 0: int3 */
};

/* An instruction of one byte, a far return, that is not translated: threads leave the cache there. */
#define STALKER_LAB_LEAVES 0xcb

struct stalker_lab {
    struct stalker_engine *engine;
    struct code_cache *cache;
    struct code_runner runner;
    struct arena code, data, stack, gates;
    struct code_writer writer; /* of original code */
    bool is_writing;           /* original code can be written */
    bool is_plain;             /* where a run goes on, r11 is the program's in spite of events */
    _Alignas(64) struct stalker_thread thread;
    _Alignas(64) uint8_t engine_stack[4096];
};

/* How a run of translated code ended. */
enum stalker_lab_end {
    STALKER_LAB_LEFT,          /* at an instruction that runs natively only */
    STALKER_LAB_SYSTEM_CALL,   /* at one that needs the engine */
    STALKER_LAB_NATIVE_RETURN, /* behind a native call */
    STALKER_LAB_STRAYED,       /* by a signal in the cache or anywhere else; the state is the CPU's */
    STALKER_LAB_ENDLESS,       /* it left the cache too often */
};

/* Makes everything; what cannot be made ends the program. options may be NULL. */
void stalker_lab_init(struct stalker_lab *lab, const struct stalker_lab_options *options);
void stalker_lab_deinit(struct stalker_lab *lab);

/*
 * Lets original code be written from that offset of its memory on, through lab->writer, until something is translated.
 * Returns where it begins.
 */
struct app_pc stalker_lab_write_at(struct stalker_lab *lab, size_t offset);

/* Takes the right to write away from original code, as it is translated; for tests that change some of its pages. */
void stalker_lab_write_end(struct stalker_lab *lab);

/* The block at an address, translated if it was not. NULL: it could not be. */
struct block *stalker_lab_obtain(struct stalker_lab *lab, struct app_pc start, bool lands);

/* How long a block's hot code is, its landing included. */
uint32_t stalker_lab_code_bytes(const struct stalker_lab *lab, const struct block *block);

/* Runs original code until it traps. */
void stalker_lab_run_natively(struct stalker_lab *lab, const struct machine_state *initial, struct run_result *result);

/*
 * Runs the translation of the code at initial->rip. The result's state is the program's, its pc the original one.
 * Callouts are called by the lab, with vector registers of its own.
 * Every time that the thread leaves the cache counts in *exits_out, which may be NULL.
 */
enum stalker_lab_end stalker_lab_run(struct stalker_lab *lab, const struct machine_state *initial,
                                     struct run_result *result, unsigned *exits_out);

/*
 * Runs the code at initial->rip, which ends in an int3, natively and followed, from the same registers and memory, and
 * prints what differs afterwards. Returns how much that is.
 */
unsigned stalker_lab_compare(struct stalker_lab *lab, const struct machine_state *initial);

/*
 * Runs code in the cache, once, from exactly that state to the first trap. lab->thread says the rest.
 */
void stalker_lab_run_raw(struct stalker_lab *lab, struct cache_pc start, const struct machine_state *initial,
                         struct run_result *result);

/* A state with different values in all registers but rsp, which is in the middle of the stack. */
void stalker_lab_state(const struct stalker_lab *lab, struct app_pc pc, struct machine_state *state_out);

/* Where the gates are: the address at which a run that came there stops. */
uint64_t stalker_lab_gate_exit(const struct stalker_lab *lab);
uint64_t stalker_lab_gate_indirect(const struct stalker_lab *lab);
uint64_t stalker_lab_gate_collision(const struct stalker_lab *lab);
uint64_t stalker_lab_gate_events(const struct stalker_lab *lab);
uint64_t stalker_lab_gate_called(const struct stalker_lab *lab);

/*
 * Decodes a piece of the cache into at most `capacity` instructions; returns how many there are. 0: there is something
 * that is no instruction, or there are too many.
 */
size_t stalker_lab_decode(struct cache_pc start, size_t size_bytes, struct x86_insn *insns_out, size_t capacity);

#endif
