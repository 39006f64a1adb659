/* SPDX-License-Identifier: MIT */
/*
 * Files are looked for as the thread would: from its root and its folder. Where that cannot be done exactly, the answer
 * is that a program may have privileges.
 */
#define _GNU_SOURCE
#include "inject/privilege.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define INTERPRETERS_MAX 5

bool privilege_survives_tracing(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    return syscall(SYS_capget, &header, data) == 0 && data[0].effective & 1u << CAP_SYS_PTRACE;
}

bool privilege_was_gained(pid_t pid)
{
    Elf64_auxv_t entry;
    char path[64];
    bool is_secure = true;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return true;
    while (fread(&entry, sizeof(entry), 1, file) == 1)
        if (entry.a_type == AT_SECURE)
            is_secure = entry.a_un.a_val != 0;
    fclose(file);
    return is_secure;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static int open_of(pid_t tid, const char *what)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, what);
    return open(path, O_PATH | O_CLOEXEC);
}

/* A name from the thread's root, or from a folder that is given. */
static int open_from(pid_t tid, int folder, const char *name)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    int root, fd;

    if (name[0] != '/')
        return openat(folder, name, O_PATH | O_CLOEXEC);
    root = open_of(tid, "root");
    if (root == -1)
        return -1;
    fd = (int)syscall(SYS_openat2, root, name, &how, sizeof(how));
    close(root);
    return fd;
}

/* What an O_PATH descriptor stands for, by a name that all system calls take. */
static void name_of(int fd, char *name_out, size_t size)
{
    snprintf(name_out, size, "/proc/self/fd/%d", fd);
}

/* Whether all ids that a line of the thread's status has, real, effective, saved and of the file system, are that one:
   a program that would change them to it changes nothing. */
static bool has_only_id(pid_t tid, const char *kind, unsigned id)
{
    char path[64], line[256];
    unsigned ids[4];
    bool has = false;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
    file = fopen(path, "re");
    while (file != NULL && !has && fgets(line, sizeof(line), file) != NULL)
        has = strncmp(line, kind, strlen(kind)) == 0 &&
              sscanf(line + strlen(kind), "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) == 4 && ids[0] == id &&
              ids[1] == id && ids[2] == id && ids[3] == id;
    if (file != NULL)
        fclose(file);
    return has;
}

static bool has_privileges(pid_t tid, int fd)
{
    struct stat status;
    char name[64];

    name_of(fd, name, sizeof(name));
    if (fstat(fd, &status) != 0 || getxattr(name, "security.capability", NULL, 0) >= 0)
        return true;
    if (status.st_mode & S_ISUID && !has_only_id(tid, "Uid:", status.st_uid))
        return true;
    return (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && !has_only_id(tid, "Gid:", status.st_gid);
}

/* The interpreter of a script; empty: it is none. -1: the file cannot be read. */
static int read_interpreter(int fd, char *interpreter_out, size_t size)
{
    char name[64], line[PATH_MAX] = "", *start;
    int file;
    ssize_t got;

    name_of(fd, name, sizeof(name));
    file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file == -1)
        return -1;
    got = read(file, line, sizeof(line) - 1);
    close(file);
    interpreter_out[0] = '\0';
    if (got < 2 || line[0] != '#' || line[1] != '!')
        return got < 0 ? -1 : 0;
    start = line + 2 + strspn(line + 2, " \t");
    start[strcspn(start, " \t\n")] = '\0';
    snprintf(interpreter_out, size, "%s", start);
    return 0;
}

/* Takes the descriptor. */
static bool gains_by(pid_t tid, int fd)
{
    char interpreter[PATH_MAX];

    for (unsigned i = 0; fd != -1 && i < INTERPRETERS_MAX; i++) {
        int folder, next;

        if (has_privileges(tid, fd) || read_interpreter(fd, interpreter, sizeof(interpreter)) != 0)
            break;
        close(fd);
        if (interpreter[0] == '\0')
            return false;
        folder = open_of(tid, "cwd");
        next = open_from(tid, folder, interpreter);
        close(folder);
        fd = next;
    }
    if (fd != -1)
        close(fd);
    return true;
}

/* The text at an address, as long as there is memory. */
static bool read_text(pid_t pid, uint64_t address, char *text_out, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (process_memory_read(pid, address + i, text_out + i, 1) != 0)
            return false;
        if (text_out[i] == '\0')
            return true;
    }
    return false;
}

/* Whether names mean the same to the thread as to us. */
static bool has_our_root(pid_t tid)
{
    char path[64];
    struct stat ours, theirs;

    snprintf(path, sizeof(path), "/proc/%d/root/.", (int)tid);
    return stat("/", &ours) == 0 && stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
}

bool privilege_would_be_gained(const struct tracee *tracee, const struct tracee_call *call)
{
    bool is_at = call->number == SYS_execveat;
    char path[PATH_MAX], where[32] = "cwd";
    int folder, fd;
    bool gains;

    if (!read_text(tracee->tid, call->arguments[is_at], path, sizeof(path)))
        return true;
    if (is_at && (int)call->arguments[0] != AT_FDCWD)
        snprintf(where, sizeof(where), "fd/%d", (int)call->arguments[0]);
    folder = open_of(tracee->tid, where);
    fd = path[0] == '\0' ? dup(folder) : open_from(tracee->tid, folder, path);
    /* What is not there, or neither theirs nor ours to see, gives nothing; programs are often looked for like that. */
    if (fd == -1 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES) && has_our_root(tracee->tid))
        gains = false;
    else
        gains = gains_by(tracee->tid, fd);
    if (folder != -1)
        close(folder);
    return gains;
}
