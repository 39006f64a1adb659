/* SPDX-License-Identifier: MIT */
/*
 * What a descriptor is stands in the memory of a call where its source keeps that (ring/detail_descriptor.h), as it was
 * when the call was made: then nothing else is asked, and what is not there is not told. Otherwise the process is
 * looked at, which is stopped in the call. One thread at a time.
 */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "ring/detail_descriptor.h"
#include "syscalls/socket_names.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define DELETED " (deleted)"

/* What is known of a descriptor. */
struct known_descriptor {
    struct detail_descriptor facts;
    char link[PATH_MAX + 1];
    size_t link_bytes;
};

/* ---- finding out ------------------------------------------------------------------------------------------------- */

static bool read_kept(const struct call_memory *memory, uint64_t address, void *bytes_out, size_t size_bytes)
{
    return memory != NULL && memory->read != NULL &&
           memory->read(memory->context, address, bytes_out, size_bytes) == size_bytes;
}

static bool is_kept(const struct call_memory *memory)
{
    uint32_t mark;

    return read_kept(memory, DETAIL_DESCRIPTORS_AT, &mark, sizeof(mark));
}

static bool recall(const struct call_fd *fd, struct known_descriptor *known)
{
    uint64_t address = detail_descriptor_at(fd->fd);

    if (!read_kept(fd->memory, address, &known->facts, sizeof(known->facts)))
        return false;
    known->facts.protocol[sizeof(known->facts.protocol) - 1] = '\0';
    /* Who wrote it is not trusted. */
    if (known->facts.local_bytes > sizeof(known->facts.local) || known->facts.peer_bytes > sizeof(known->facts.peer))
        return false;
    known->link_bytes = known->facts.link_bytes < PATH_MAX ? known->facts.link_bytes : PATH_MAX;
    return known->link_bytes != 0 &&
           read_kept(fd->memory, address + sizeof(known->facts), known->link, known->link_bytes);
}

static bool look(const struct call_fd *fd, struct known_descriptor *known)
{
    struct stat info;
    char path[64];
    ssize_t length;

    if (fd->fd == AT_FDCWD)
        snprintf(path, sizeof(path), "/proc/%d/cwd", fd->pid);
    else
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", fd->pid, fd->fd);
    known->facts = (struct detail_descriptor){.fd = fd->fd};
    length = readlink(path, known->link, PATH_MAX);
    if (length <= 0)
        return false;
    known->link_bytes = (size_t)length;
    if (stat(path, &info) == 0) {
        known->facts.mode = info.st_mode;
        known->facts.device = info.st_rdev;
        known->facts.is_deleted = info.st_nlink == 0;
    }
    if (S_ISSOCK(known->facts.mode)) {
        length = getxattr(path, "system.sockprotoname", known->facts.protocol, sizeof(known->facts.protocol) - 1);
        known->facts.protocol[length < 0 ? 0 : length] = '\0';
    }
    return true;
}

/* The process that a descriptor stands for. */
static int find_process(const struct call_fd *fd)
{
    char path[64], line[128];
    int pid = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", fd->pid, fd->fd);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "Pid: %d", &pid) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return pid;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Whoever reads it must know where it ends, and keep his terminal. */
static void put_name(struct text_writer *out, const char *name, size_t size_bytes, enum quoted_text_hex hex)
{
    const struct quoted_text_piece piece = {.bytes = name, .size_bytes = size_bytes, .special = "<>"};

    quoted_text_put(out, &piece, hex);
}

/* What the kernel lists now, unless it is known what it was then. Only that list has the other end of a local one. */
static bool put_socket_name(struct text_writer *out, const char *protocol, const struct socket_addresses *addresses)
{
    bool is_local = strncmp(protocol, "UNIX", strlen("UNIX")) == 0;

    if (strncmp(protocol, "RAW", strlen("RAW")) == 0)
        return false;
    if (is_local && (addresses->local_bytes == 0 || addresses->peer_bytes != 0) &&
        socket_name_put(out, protocol, addresses->inode))
        return true;
    if (addresses->local_bytes != 0)
        return socket_addresses_put(out, addresses);
    return !is_local && socket_name_put(out, protocol, addresses->inode);
}

static bool put_socket(struct text_writer *out, const struct known_descriptor *known)
{
    struct socket_addresses addresses = {
        .protocol = known->facts.protocol_number,
        .local = known->facts.local,
        .local_bytes = known->facts.local_bytes,
        .peer = known->facts.peer,
        .peer_bytes = known->facts.peer_bytes,
    };
    char protocol[sizeof(known->facts.protocol)];

    snprintf(protocol, sizeof(protocol), "%s", known->facts.protocol);
    if (!socket_protocol_is_known(protocol) || sscanf(known->link, "socket:[%lu]", &addresses.inode) != 1)
        return false;
    text_format(out, "<%s:[", protocol);
    if (!put_socket_name(out, protocol, &addresses))
        text_put_unsigned(out, addresses.inode);
    text_put_string(out, "]>");
    return true;
}

static bool put_device(struct text_writer *out, const struct known_descriptor *known, enum quoted_text_hex hex)
{
    if (!S_ISCHR(known->facts.mode) && !S_ISBLK(known->facts.mode))
        return false;
    text_put_char(out, '<');
    put_name(out, known->link, known->link_bytes, hex);
    text_format(out, "<%s %u:%u>>", S_ISCHR(known->facts.mode) ? "char" : "block", major(known->facts.device),
                minor(known->facts.device));
    return true;
}

static bool put_pidfd(struct text_writer *out, const struct known_descriptor *known, const struct call_fd *fd)
{
    static const char link[] = "anon_inode:[pidfd]";
    int pid = known->facts.process;

    if (known->link_bytes != sizeof(link) - 1 || memcmp(known->link, link, sizeof(link) - 1) != 0)
        return false;
    if (pid == 0 && !is_kept(fd->memory))
        pid = find_process(fd);
    if (pid == 0)
        return false;
    text_format(out, "<pid:%d>", pid);
    return true;
}

static void put_path(struct text_writer *out, const struct known_descriptor *known, enum quoted_text_hex hex)
{
    size_t length = known->link_bytes, suffix = strlen(DELETED);
    bool is_deleted =
        known->facts.is_deleted && length > suffix && memcmp(known->link + length - suffix, DELETED, suffix) == 0;

    text_put_char(out, '<');
    put_name(out, known->link, is_deleted ? length - suffix : length, hex);
    text_put_string(out, is_deleted ? ">(deleted)" : ">");
}

void process_fd_put(struct text_writer *out, const struct call_fd *fd)
{
    struct known_descriptor known;

    if (is_kept(fd->memory) ? !recall(fd, &known) : !look(fd, &known))
        return;
    known.link[known.link_bytes] = '\0';
    if ((fd->details & FD_DETAIL_SOCKET) != 0 && put_socket(out, &known))
        return;
    if ((fd->details & FD_DETAIL_DEVICE) != 0 && put_device(out, &known, fd->hex))
        return;
    if ((fd->details & FD_DETAIL_PIDFD) != 0 && put_pidfd(out, &known, fd))
        return;
    if ((fd->details & FD_DETAIL_PATH) != 0)
        put_path(out, &known, fd->hex);
}

void process_name_put(struct text_writer *out, int pid)
{
    char path[64], name[32] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/comm", pid);
    file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fgets(name, sizeof(name), file) != NULL) {
        name[strcspn(name, "\n")] = '\0';
        text_put_char(out, '<');
        put_name(out, name, strlen(name), QUOTED_OCTAL);
        text_put_char(out, '>');
    }
    fclose(file);
}
