/* SPDX-License-Identifier: MIT */
/*
 * A process that we have made has the file open. Another one opens it by its name, in whatever it has for a root and
 * with the rights that it has; whether that is the file that we mean, we see by what it has open then.
 */
#define _GNU_SOURCE
#include "inject/agent_file.h"

#include "base/memory_map.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How far below the stack pointer the name is put, for a moment. New stacks have more than that. */
#define NAME_DISTANCE (2 * PATH_MAX)

/* The linker's: where the headers of this program are, and all that is behind them. */
extern const uint8_t own_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));

/* Where the image begins in the file; 0: nobody knows. */
static uint64_t find_offset(void)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)own_start;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(const void *)(own_start + header->e_phoff);
    uint64_t first = UINT64_MAX, address;

    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr < first)
            first = segments[i].p_vaddr;
    /* The headers are where the first segment begins. */
    address = first + (uint64_t)((uintptr_t)agent_image - (uintptr_t)own_start);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && address - segments[i].p_vaddr < segments[i].p_filesz)
            return address - segments[i].p_vaddr + segments[i].p_offset;
    return 0;
}

static int call(struct tracee *tracee, const struct remote_place *place, long number, const long arguments[6])
{
    long answer = 0;
    int result = remote_system_call(tracee, place, number, arguments, &answer);

    if (result != 0)
        return result;
    /* What it answers with is either an error, a small number, or where something is mapped: nobody asks for that. */
    return answer < 0 && answer > -4096 ? (int)answer : (int)(answer & INT_MAX);
}

static int open_there(struct tracee *tracee, const struct remote_place *place, const char *path, size_t path_bytes)
{
    struct thread_registers registers;
    long arguments[6] = {AT_FDCWD, 0, O_RDONLY | O_CLOEXEC};
    int result = tracee_get_registers(tracee, &registers);

    if (result != 0)
        return result;
    arguments[1] = (long)(thread_registers_sp(&registers) - NAME_DISTANCE);
    result = process_memory_write(tracee->pid, (uint64_t)arguments[1], path, path_bytes);
    return result == 0 ? call(tracee, place, SYS_openat, arguments) : result;
}

/* Whether the process has our own file open there. */
static bool is_same_file(pid_t pid, int fd)
{
    struct stat its, ours;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
    return stat(path, &its) == 0 && stat("/proc/self/exe", &ours) == 0 && its.st_dev == ours.st_dev &&
           its.st_ino == ours.st_ino;
}

/* As whoever started us has called it, if that says where it is; else the system is asked, which takes longer. */
static const char *own_path(char *storage, size_t size)
{
    const char *started_as = (const char *)getauxval(AT_EXECFN);
    ssize_t length;

    if (started_as != NULL && started_as[0] == '/' && strlen(started_as) < PATH_MAX)
        return started_as;
    length = readlink("/proc/self/exe", storage, size - 1);
    if (length <= 0)
        return NULL;
    storage[length] = '\0';
    return storage;
}

/* Where the process has our own file open, or an error. */
static int obtain(struct tracee *tracee, const struct remote_place *place)
{
    char storage[PATH_MAX];
    const char *path;
    int fd;

    if (tracee->file_fd != 0)
        return tracee->file_fd - 1;
    path = own_path(storage, sizeof(storage));
    if (path == NULL)
        return -ENOENT;
    fd = open_there(tracee, place, path, strlen(path) + 1);
    if (fd < 0 || is_same_file(tracee->pid, fd))
        return fd;
    return call(tracee, place, SYS_close, (long[6]){fd}) < 0 ? -EBADF : -ESTALE;
}

int agent_file_map(struct tracee *tracee, const struct remote_place *place, uint64_t start, uint64_t size_bytes,
                   int *fd_out)
{
    uint64_t offset = find_offset();
    /* All of it at once: most will be used soon. */
    long mapping[6] = {(long)start, (long)size_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED | MAP_POPULATE};
    int fd;

    if (offset == 0 || offset % memory_page_size() != 0)
        return -ENOENT;
    fd = obtain(tracee, place);
    if (fd < 0)
        return fd;
    /* Whatever comes of it. */
    *fd_out = fd;
    mapping[4] = fd;
    mapping[5] = (long)offset;
    fd = call(tracee, place, SYS_mmap, mapping);
    return fd < 0 ? fd : 0;
}
