/* SPDX-License-Identifier: MIT */
/*
 * Code as its file has it, for where memory has something else: the kernel puts a breakpoint into the memory of every
 * process that maps a file in which somebody watches a place (uprobes), and knows it there alone. Raw system calls, no
 * locks, no memory but the stack's: callable from any thread, and inside the target.
 */
#ifndef GAIT_PROCESS_FILE_CODE_H
#define GAIT_PROCESS_FILE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which code a breakpoint of so many bytes stands in place of. False: there is no file's code there, the process can
 * write to it, the file has the same, or what has the mapping's name now is another file: its code around there differs
 * from that in memory in more than breakpoints.
 */
bool file_code_behind_breakpoint(uint64_t address, void *bytes_out, size_t size_bytes);

#endif
