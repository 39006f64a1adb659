/* SPDX-License-Identifier: MIT */
/* What cannot be read is no error here: a later step fails, and reports why. */
#define _GNU_SOURCE
#include "inject/machine_check.h"

#include "arch/abi.h"
#include "hosted/error_text.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int machine_check_refuse(pid_t pid, struct gait_error *err)
{
    return error_set(err, ENOEXEC,
                     "cannot record process %d: it runs 32-bit code, or that of another CPU, and gait records "
                     "64-bit programs only; 'gait probe' looks at it from the kernel",
                     (int)pid);
}

static bool is_of_another_kind(pid_t pid)
{
    Elf64_Ehdr header;
    char path[64];
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd == -1)
        return false;
    got = pread(fd, &header, sizeof(header), 0);
    close(fd);
    return got == sizeof(header) && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != abi_host()->elf.number);
}

/* The CPU compares return addresses with what calls left there: those that we change or jump to are wrong then. */
static bool guards_returns(pid_t pid)
{
    const struct abi_return_guard *guard = &abi_host()->return_guard;
    bool does = false;
    char line[256];
    FILE *file;

    snprintf(line, sizeof(line), "/proc/%d/status", (int)pid);
    file = fopen(line, "re");
    while (guard->line != NULL && file != NULL && fgets(line, sizeof(line), file) != NULL)
        does |= strncmp(line, guard->line, strlen(guard->line)) == 0 && strstr(line, guard->word) != NULL;
    if (file != NULL)
        fclose(file);
    return does;
}

int machine_check_process(pid_t pid, struct gait_error *err)
{
    if (is_of_another_kind(pid))
        return machine_check_refuse(pid, err);
    if (guards_returns(pid))
        return error_set(err, EOPNOTSUPP,
                         "cannot record process %d: the CPU guards its return addresses (a shadow stack); start it "
                         "without, by %s",
                         (int)pid, abi_host()->return_guard.remedy);
    return 0;
}

int machine_check_thread(const struct tracee *thread, struct gait_error *err)
{
    struct thread_registers registers;

    return tracee_get_registers(thread, &registers) == -ENOEXEC ? machine_check_refuse(thread->pid, err) : 0;
}
