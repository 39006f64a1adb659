/* SPDX-License-Identifier: MIT */
/*
 * Code addresses of a trace as people know them: functions, files, lines, and what the compiler has put into each
 * other. By debug information where it is found, by symbol tables elsewhere, by the place in the file at worst. Only of
 * files that are those that were recorded. Files are opened when they are first asked for. One thread at a time, which
 * may start others for its work.
 *
 * All texts stay where they are until symbolizer_deinit. They come from files: print them through printable().
 */
#ifndef GAIT_SYMBOLIZE_SYMBOLIZER_H
#define GAIT_SYMBOLIZE_SYMBOLIZER_H

#include "base/attributes.h"
#include "symbolize/name_store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOLIZER_FRAMES_MAX 64

struct recorded_module;
struct symbolizer_file;
struct symbolizer_process;

/* Somebody who wants to know how far the reading of debug information is. */
struct symbolizer_watch {
    /* done of so many units; total 0: nobody knows how many there will be. Called now and then, by the thread that
     * asks. */
    void (*report)(void *context, size_t done, size_t total); /* NULL: it is not wanted */
    void *context;
};

struct symbolizer_options {
    bool has_no_cache;         /* neither read nor write what was found before */
    const char *cache;         /* its folder; NULL: where people keep such things */
    const char *debug_folders; /* with debug information, colons between them; NULL: as GAIT_DEBUG_PATH says */
    bool is_symbols_only;      /* no debug information: no lines, but quicker */
    unsigned thread_count;     /* for symbolizer_prepare; 0: as many as there are CPUs */
};

struct symbolizer {
    struct symbolizer_options options;
    int trace;                            /* its folder, in which names and debug information are kept; -1: none */
    struct symbolizer_file *files;        /* the one that was asked last is first */
    struct symbolizer_process *processes; /* whose own code was asked for */
    struct name_store names;
    struct symbolizer_watch watch;
    const char *cache; /* NULL: none */
    char cache_path[1024];
};

struct symbol_frame {
    const char *function; /* as in its source; never NULL */
    const char *file;     /* NULL: not known */
    uint32_t line;        /* 0: not known */
    uint32_t column;      /* 0: not known */
    bool is_inlined;      /* it was put into the next frame's function */
};

/* What is at an address. */
struct symbol_place {
    /* The innermost first; the last one is the function that the code belongs to. */
    struct symbol_frame frames[SYMBOLIZER_FRAMES_MAX];
    size_t count;         /* at least 1 */
    const char *symbol;   /* the name in the symbol table, as it is there, not ended by a NUL; NULL: none */
    size_t symbol_length; /* without a version */
    const char *name;     /* the same as people write it; NULL: none */
    uint64_t distance;    /* of the address from the begin of that symbol */
    const char *problem;  /* NULL, or what is to be said of the file: follows "its file" */
};

/* A function, by an address in it. */
struct symbol_function {
    const char *name;    /* never NULL */
    const char *file;    /* where it is in the source; NULL: not known */
    uint32_t line;       /* 0: not known */
    const char *problem; /* as above */
};

struct symbol_address {
    const struct recorded_module *module;
    uint64_t address;
};

/* Options may be NULL. */
void symbolizer_init(struct symbolizer *symbolizer, const struct symbolizer_options *options);

/* Forgets all that was read; keeps what was found in the cache, if it can. */
void symbolizer_deinit(struct symbolizer *symbolizer);

/* Before anything is asked: what is kept in this trace is used for files that are gone or have changed. Its folder,
 * which is open, has to stay so. */
void symbolizer_use_trace(struct symbolizer *symbolizer, int folder);

/* Before anything is asked: who is to be told how far it is. */
void symbolizer_watch(struct symbolizer *symbolizer, struct symbolizer_watch watch);

/*
 * What is at an address of a module. Without a name, a frame's function is "function@plt" for a stub through which it
 * is called in another library, or "file+0x1234" (the address there).
 */
void symbolizer_find(struct symbolizer *symbolizer, const struct recorded_module *module, uint64_t address,
                     struct symbol_place *place_out);

/* The same by symbol tables only: one frame, without a line. */
void symbolizer_find_symbol(struct symbolizer *symbolizer, const struct recorded_module *module, uint64_t address,
                            struct symbol_place *place_out);

/* The function that has the address, whatever was put into it, and where its source begins. */
void symbolizer_find_function(struct symbolizer *symbolizer, const struct recorded_module *module, uint64_t address,
                              struct symbol_function *function_out);

/*
 * Says that these addresses will be asked for: what they need is read by several threads at once. Answers do not depend
 * on it, and nothing is wrong with asking for others.
 */
void symbolizer_prepare(struct symbolizer *symbolizer, const struct symbol_address *addresses, size_t count);

/* Where debug information of a module is: in its file, or in the trace. "": there is none that can be used. */
const char *symbolizer_path(struct symbolizer *symbolizer, const struct recorded_module *module);

/* A process of the trace that may have made code itself. */
struct symbol_process {
    uint32_t pid;
    int64_t began; /* when it was recorded: what was written down before that (seconds since 1970) is not of it */
};

/*
 * What is at an address where no file was mapped: code that the process made itself, if its runtime has written down
 * names for perf. The time is CLOCK_MONOTONIC's, in nanoseconds; UINT64_MAX: at the end. "0x1234" without a name.
 */
void symbolizer_find_made(struct symbolizer *symbolizer, const struct symbol_process *process, uint64_t address,
                          uint64_t time_ns, struct symbol_place *place_out);

/* What the module's file itself calls an address. -ENOENT: it cannot be used, or has no code there. */
MUST_USE int symbolizer_place(struct symbolizer *symbolizer, const struct recorded_module *module, uint64_t address,
                              uint64_t *place_out);

#endif
