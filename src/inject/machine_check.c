/* SPDX-License-Identifier: MIT */
/* What cannot be read is none of our concern here: whoever goes on is told why. */
#define _GNU_SOURCE
#include "inject/machine_check.h"

#include "hosted/error.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#else
#define OUR_MACHINE EM_AARCH64
#endif

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
           (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != OUR_MACHINE);
}

/* The CPU compares return addresses with what calls left there: those that we change or jump to are wrong then. */
static bool has_shadow_stack(pid_t pid)
{
    bool has = false;
    char line[256];
    FILE *file;

    snprintf(line, sizeof(line), "/proc/%d/status", (int)pid);
    file = fopen(line, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        has |= strncmp(line, "x86_Thread_features:", 20) == 0 && strstr(line + 20, "shstk") != NULL;
    if (file != NULL)
        fclose(file);
    return has;
}

int machine_check_process(pid_t pid, struct gait_error *err)
{
    if (is_of_another_kind(pid))
        return machine_check_refuse(pid, err);
    if (has_shadow_stack(pid))
        return error_set(err, EOPNOTSUPP,
                         "cannot record process %d: the CPU guards its return addresses (a shadow stack); start it "
                         "without, by GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK",
                         (int)pid);
    return 0;
}

int machine_check_thread(const struct tracee *thread, struct gait_error *err)
{
    struct thread_registers registers;

    return tracee_get_registers(thread, &registers) == -ENOEXEC ? machine_check_refuse(thread->pid, err) : 0;
}
