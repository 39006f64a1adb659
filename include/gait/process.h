/* SPDX-License-Identifier: MIT */
/*
 * Inspects and changes the calling process: modules and their names, threads, memory, and hardware breakpoints.
 *
 * Functions that can fail return 0 or a negated errno number. Enumerations call a function of the
 * caller's for each item, which is valid until that returns; if it returns false, the enumeration ends. Unless it says
 * otherwise, a function can be called from any thread at any time, but not in signal handlers. Structs that gait fills
 * say in size_bytes how much of them it knows.
 */
#ifndef GAIT_PROCESS_H
#define GAIT_PROCESS_H

#include "gait/cpu_context.h"
#include "gait/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Access to memory, as bits. */
enum gait_access { GAIT_ACCESS_READ = 1, GAIT_ACCESS_WRITE = 2, GAIT_ACCESS_EXECUTE = 4 };

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* A segment of a module that is in memory, as its program headers describe it. */
struct gait_segment {
    uint64_t start;
    uint64_t end;
    uint64_t file_offset;
    uint64_t file_bytes; /* the rest is zeroes at first */
    uint32_t access;     /* enum gait_access */
    uint32_t reserved;
};

enum gait_module_flag {
    GAIT_MODULE_PROGRAM = 1, /* what was executed */
    GAIT_MODULE_VDSO = 2,    /* the kernel's */
    GAIT_MODULE_LINKED = 4   /* the dynamic loader knows of it */
};

/* A program or library that is in memory. */
struct gait_module {
    size_t size_bytes;
    uint64_t base; /* where its ELF header is */
    uint64_t end;  /* behind its last segment */
    uint64_t bias; /* from addresses in its file to those in memory */
    const char *path;
    const uint8_t *build_id;
    size_t build_id_bytes; /* 0: it has none */
    const struct gait_segment *segments;
    size_t segment_count;
    uint32_t flags;            /* enum gait_module_flag */
    uint32_t namespace_number; /* 0: the program's; others are made by dlmopen(), in their order */
};

typedef bool (*gait_module_visit)(void *context, const struct gait_module *module);

/*
 * All modules: those of the dynamic loader, in all namespaces, and whatever else is mapped and looks like one; also in
 * static programs. -ENOMEM.
 */
int gait_process_modules(gait_module_visit visit, void *context, struct gait_error *err);

/* The one that an address is in. -ENOENT: none. */
int gait_process_module_at(uint64_t address, gait_module_visit visit, void *context, struct gait_error *err);

enum gait_symbol_kind {
    GAIT_SYMBOL_OTHER = 0, /* it does not say, as assembly often does not */
    GAIT_SYMBOL_DATA = 1,
    GAIT_SYMBOL_FUNCTION = 2,
    GAIT_SYMBOL_THREAD_STORAGE = 3, /* `address` says where in it */
    GAIT_SYMBOL_RESOLVER = 4        /* code that finds the function to use when the program starts */
};

enum gait_symbol_flag {
    GAIT_SYMBOL_GLOBAL = 1,
    GAIT_SYMBOL_WEAK = 2,
    GAIT_SYMBOL_EXPORTED = 4 /* other modules can link with it */
};

struct gait_symbol {
    size_t size_bytes;
    const char *name; /* without a version */
    uint64_t address; /* in memory */
    uint64_t extent_bytes;
    uint32_t kind;  /* enum gait_symbol_kind */
    uint32_t flags; /* enum gait_symbol_flag */
};

typedef bool (*gait_symbol_visit)(void *context, const struct gait_symbol *symbol);

/*
 * The exports of the module whose ELF header is at `base`, read from memory: right also if its file is gone or was
 * replaced. -ENOENT: there is no such module, or it exports nothing.
 */
int gait_module_exports(uint64_t base, gait_symbol_visit visit, void *context, struct gait_error *err);

/*
 * All names that the module's file defines, local ones too; some are in both tables of the file, and come twice.
 * -ENOENT: there is no such module, or no names; -ESTALE: the file is not the one that is in memory; errors of
 * opening it.
 */
int gait_module_symbols(uint64_t base, gait_symbol_visit visit, void *context, struct gait_error *err);

/* A place where the dynamic loader puts the address of something that the module uses. */
struct gait_import {
    size_t size_bytes;
    const char *name;
    uint64_t slot;
    uint64_t target;  /* what is in it now; before a function is first called, perhaps the way to the loader */
    uint32_t is_call; /* a slot for calls (of the procedure linkage table) */
    uint32_t is_own;  /* the module defines the name itself, too */
};

typedef bool (*gait_import_visit)(void *context, const struct gait_import *import);

/* The imports, read from memory. -ENOENT: there is no such module, or it imports nothing. */
int gait_module_imports(uint64_t base, gait_import_visit visit, void *context, struct gait_error *err);

struct gait_section {
    size_t size_bytes;
    const char *name;
    uint64_t address; /* in memory; 0: it is not there */
    uint64_t extent_bytes;
    uint64_t file_offset;
    uint64_t flags; /* SHF_* of elf.h */
    uint32_t type;  /* SHT_* */
    uint32_t reserved;
};

typedef bool (*gait_section_visit)(void *context, const struct gait_section *section);

/* Errors as gait_module_symbols. */
int gait_module_sections(uint64_t base, gait_section_visit visit, void *context, struct gait_error *err);

/*
 * Is called for what is loaded and unloaded. `time` is of the CPU's counter, see gait/clock.h: from when on code of the
 * module can run, and until when it could. So a raw address and the time at which it was seen always say which module
 * it was of. The functions are called on the thread that loads or unloads, before constructors of what is loaded run,
 * in the middle of the dynamic loader: they must not load, unload or look up anything themselves, nor wait for a thread
 * that might. Each may be NULL.
 */
struct gait_module_listener {
    size_t size_bytes; /* in: sizeof(struct gait_module_listener) */
    void *context;
    void (*loaded)(void *context, const struct gait_module *module, uint64_t time);
    void (*unloaded)(void *context, const struct gait_module *module, uint64_t time);
};

struct gait_module_observer;

/*
 * Begins to watch the dynamic loader, and then reports all modules that are there, so that none is missed. The function
 * that loaders have for debuggers is hooked for that; where it cannot be (a CPU without hooks, a system that
 * forbids changing code, no dynamic loader), is_automatic_out (may be NULL) says false and modules are reported when
 * gait_module_observer_look is called. -EINVAL; -ENOMEM.
 */
int gait_module_observer_create(const struct gait_module_listener *listener, struct gait_module_observer **observer_out,
                                bool *is_automatic_out, struct gait_error *err);

/* No listener is called any more when it returns. Not by a listener. NULL is fine. */
void gait_module_observer_destroy(struct gait_module_observer *observer);

/* Reports what has changed, if something has. -EDEADLK: by a listener; -ENOMEM. */
int gait_module_observer_look(struct gait_module_observer *observer, struct gait_error *err);

/* ---- threads ----------------------------------------------------------------------------------------------------- */

#define GAIT_THREAD_NAME_BYTES 16

enum gait_thread_state {
    GAIT_THREAD_RUNNING = 0,         /* or ready to */
    GAIT_THREAD_SLEEPING = 1,        /* in a wait that a signal ends */
    GAIT_THREAD_UNINTERRUPTIBLE = 2, /* in a wait that none does */
    GAIT_THREAD_STOPPED = 3,         /* by job control */
    GAIT_THREAD_TRACED = 4,          /* by a debugger */
    GAIT_THREAD_ENDED = 5,
    GAIT_THREAD_OTHER = 6
};

struct gait_thread {
    size_t size_bytes; /* in: sizeof(struct gait_thread) */
    int32_t tid;
    uint32_t state;                    /* enum gait_thread_state */
    char name[GAIT_THREAD_NAME_BYTES]; /* ended by a NUL */
    /* With registers: */
    struct gait_cpu_context cpu;
    uint64_t stack_low; /* the memory that its stack pointer is in; 0: it is nowhere */
    uint64_t stack_high;
};

/* All threads of the process, by tid. One that starts or ends meanwhile may be missing. -ENOENT: there is no /proc. */
int gait_process_threads(bool (*visit)(void *context, int tid), void *context, struct gait_error *err);

/*
 * What a thread is. For the registers and the stack it is stopped for a moment, which it does not notice, unless it is
 * the calling one. Those of a thread that a stalker follows are of translated code: gait_stalker_run_on_thread shows
 * the program's. -EINVAL: size_bytes is not set; -ESRCH: there is no such thread; of the registers, what
 * gait_process_modify_thread gives.
 */
int gait_process_thread(int tid, bool with_registers, struct gait_thread *thread_out, struct gait_error *err);

/*
 * Called in the calling thread while the other one is stopped; that may be anywhere, also inside of a malloc, so
 * nothing that takes a lock may be called. It has two seconds. 0: the thread goes on with these registers; 1: as it
 * was; a negated errno number: the same, and that is returned.
 */
typedef int (*gait_thread_change)(void *context, struct gait_cpu_context *cpu);

/*
 * Stops another thread, lets it be changed, and lets it go on. No signal is sent, and none is lost. A thread that waits
 * in a system call begins it again when it goes on; if its pc is changed, it goes to the new one instead, and the
 * system call is not made. Not of threads that a stalker follows.
 *
 * -EINVAL: the calling thread; -ESRCH: no thread of this process; -EPERM, -EACCES: another process traces it, or the
 * system forbids tracing; -ETIMEDOUT: it does not stop, as in a vfork(), or the change took too long; -EDEADLK: by a
 * change; -EOPNOTSUPP: not on this CPU yet; -EAGAIN, -ENOMEM.
 */
int gait_process_modify_thread(int tid, gait_thread_change change, void *context, struct gait_error *err);

/* Functions that may be NULL. `time` is of the CPU's counter: when the change was noticed. */
struct gait_thread_listener {
    size_t size_bytes; /* in: sizeof(struct gait_thread_listener) */
    void *context;
    void (*started)(void *context, int tid, const char *name, uint64_t time);
    void (*ended)(void *context, int tid, const char *name, uint64_t time);
    void (*renamed)(void *context, int tid, const char *name_before, const char *name, uint64_t time);
};

struct gait_thread_observer;

/*
 * Reports all threads that there are as started, and then what has changed at each look: Linux does not notify a
 * process of its own threads. A thread that came and went between two looks is not reported.
 *
 * With is_automatic, threads of the C library are reported as it happens, once one such observer was made: a start on
 * the thread itself, before its function runs, an end when that is over, and names that are set by prctl() or
 * pthread_setname_np(). What makes and names threads is replaced for that (gait/hook.h), for good. Other threads are
 * found at a look. Listeners may be called on several threads, one at a time.
 *
 * -EINVAL; -ENOMEM; -ENOENT: there is no /proc; with is_automatic, what gait_hook_replace gives.
 */
int gait_thread_observer_create(const struct gait_thread_listener *listener, bool is_automatic,
                                struct gait_thread_observer **observer_out, struct gait_error *err);

/* No listener is called any more when it returns. Not by a listener. NULL is fine. */
void gait_thread_observer_destroy(struct gait_thread_observer *observer);

/*
 * Reports what has changed. tid 0: looks at all threads; else at that one only, which is quick: for callers who know
 * that it has just begun, ended or changed its name. -EDEADLK: by a listener.
 */
int gait_thread_observer_look(struct gait_thread_observer *observer, int tid, struct gait_error *err);

/* ---- memory ------------------------------------------------------------------------------------------------------ */

struct gait_range {
    size_t size_bytes;
    uint64_t start;
    uint64_t end;
    uint32_t access; /* enum gait_access */
    uint32_t is_shared;
    uint64_t file_offset;
    const char *path; /* "": no file; a name in brackets: the kernel's */
};

typedef bool (*gait_range_visit)(void *context, const struct gait_range *range);

/*
 * What is mapped between two addresses, in its order: ranges are as they are mapped, not cut off. A single address:
 * start and start + 1. -ENOENT: there is no /proc.
 */
int gait_process_ranges(uint64_t start, uint64_t end, gait_range_visit visit, void *context, struct gait_error *err);

/*
 * Copies from memory that may not be there. -EFAULT: not all of it can be read; then bytes_out has nothing that counts.
 * These three are callable everywhere, also in signal handlers.
 */
int gait_memory_read(uint64_t address, void *bytes_out, size_t size_bytes);

/* Copies a text up to its NUL, or as much as fits, always with a NUL at its end. Its length; -EFAULT, -EINVAL. */
long gait_memory_read_text(uint64_t address, char *text_out, size_t capacity);

/* Writes to memory that may not be there, or not be writable: -EFAULT, and some of it may be written. */
int gait_memory_write(uint64_t address, const void *bytes, size_t size_bytes);

/*
 * Looks for bytes between two addresses, wherever that can be read: "48 8b ?? 0f" has one that may be anything, "4? ?5"
 * two of which half is known, "48 8b 00 0f : ff ff 00 ff" has the bits that count behind a colon. -EINVAL: the pattern
 * or the range makes no sense; -ENOMEM; -ENOENT: there is no /proc.
 */
int gait_memory_scan(uint64_t start, uint64_t end, const char *pattern, bool (*visit)(void *context, uint64_t address),
                     void *context, struct gait_error *err);

/* ---- hardware breakpoints ---------------------------------------------------------------------------------------- */

enum gait_breakpoint_kind {
    GAIT_BREAKPOINT_EXECUTE = 0, /* before an instruction runs */
    GAIT_BREAKPOINT_WRITE = 1,   /* after memory was written */
    GAIT_BREAKPOINT_ACCESS = 2   /* after it was read or written */
};

struct gait_breakpoint;

struct gait_breakpoint_hit {
    size_t size_bytes;
    struct gait_breakpoint *breakpoint;
    uint64_t address; /* that is watched */
    struct gait_cpu_context *cpu;
    int32_t tid;
};

struct gait_breakpoint_options {
    size_t size_bytes;
    int tid;       /* 0: the calling thread */
    uint32_t kind; /* enum gait_breakpoint_kind */
    uint64_t address;
    size_t watched_bytes; /* 1, 2, 4 or 8 bytes of memory, at a multiple of that; 0 for instructions */
    /*
     * Called in a signal handler (SIGTRAP) of the thread. What it changes in hit->cpu takes effect. The thread itself
     * may remove the breakpoint there.
     */
    void (*hit)(const struct gait_breakpoint_hit *hit, void *data);
    void *data;
};

/*
 * Sets a breakpoint for one thread. A CPU has a few of them for each thread, which a debugger may use too.
 *
 * gait handles SIGTRAP from the first one on, and hands traps that are not its own to the handler that was there
 * before; a program that sets another one later must do the same. For a thread that blocks SIGTRAP the handler is
 * called late. In code that a stalker follows instructions run elsewhere: probes and callouts are for that; watched
 * memory works.
 *
 * -EINVAL: what cannot be watched; -ENOSPC: all of the thread's are in use; -ESRCH: no such thread; -EACCES, -EPERM:
 * the system forbids it (kernel.perf_event_paranoid above 2); -EOPNOTSUPP: it has none (Linux before 5.13, some virtual
 * machines); -EMFILE, -ENOMEM.
 */
int gait_breakpoint_set(const struct gait_breakpoint_options *options, struct gait_breakpoint **breakpoint_out,
                        struct gait_error *err);

/* Removes a breakpoint. When this returns its callback is not called any more, unless it is the caller. NULL is fine.
 */
void gait_breakpoint_remove(struct gait_breakpoint *breakpoint);

/* The breakpoints that are set, with their options. */
void gait_breakpoints(bool (*visit)(void *context, struct gait_breakpoint *breakpoint,
                                    const struct gait_breakpoint_options *options),
                      void *context);

#ifdef __cplusplus
}
#endif

#endif
