/* SPDX-License-Identifier: MIT */
/*
 * Writing what processes have mapped into a trace, PID/modules.gait of docs/trace_format.md, for each process of which
 * a stack was taken: so that its frames get names, by the code that names those of processes with an agent. Not for
 * traces into which an agent writes: there these files are its. One thread at a time.
 */
#ifndef GAIT_KERNEL_MODULE_STREAMS_H
#define GAIT_KERNEL_MODULE_STREAMS_H

#include "kernel/mapped_files.h"
#include "trace/chunk_encoder.h"

#define MODULE_STREAMS_MAX 1024u /* processes; of more, addresses stay addresses */

struct module_streams;

/* In the trace's folder, which is copied. The encoder must outlive it. -ENOMEM and others. */
MUST_USE int module_streams_create(int folder, struct chunk_encoder *encoder, struct module_streams **streams_out);

/* Closes all of them. The first error, of now or before. */
MUST_USE int module_streams_end(struct module_streams *streams);

/* A stack of that process was taken. */
void module_streams_want(struct module_streams *streams, uint32_t pid);

/* News of processes, in their order. */
void module_streams_map(struct module_streams *streams, const struct perf_mapping *mapping);
void module_streams_execute(struct module_streams *streams, uint32_t pid, uint64_t time);
void module_streams_fork(struct module_streams *streams, uint32_t pid, uint32_t parent_pid, uint64_t time);
void module_streams_exit(struct module_streams *streams, uint32_t pid);

#endif
