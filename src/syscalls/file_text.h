/* SPDX-License-Identifier: MIT */
/* What the kernel returns about files and file systems. Stateless; callable from any thread. */
#ifndef GAIT_SYSCALLS_FILE_TEXT_H
#define GAIT_SYSCALLS_FILE_TEXT_H

#include "syscalls/call_text.h"

/* S_IFREG|0644 */
void file_text_put_mode(const struct call_text *text, uint32_t mode);

/* O_RDONLY|O_CLOEXEC */
void file_text_put_open_flags(struct text_writer *out, uint64_t flags);

void file_text_put_stat(const struct call_text *text, const void *stat);
void file_text_put_statx(const struct call_text *text, const void *statx);
void file_text_put_statfs(const struct call_text *text, const void *statfs);
void file_text_put_flock(const struct call_text *text, uint64_t address);

/* struct open_how, of as many bytes as the program says. */
void file_text_put_open_how(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* The address of directory entries, and how many there are. */
void file_text_put_entries(const struct call_text *text, uint64_t address, uint64_t size_bytes);

#endif
