/* SPDX-License-Identifier: MIT */
/*
 * Sockets of netlink are found by their inode in what the kernel says of the process's network. What was found is kept
 * for some of them, since programs use the same ones again and again. One thread at a time.
 */
#include "syscalls/subject_texts.h"

#include <stdio.h>
#include <unistd.h>

#define KEPT          64
#define LINE_BYTES    256
#define NOT_A_NETLINK (-1)

static struct {
    unsigned long inode;
    int protocol;
} kept[KEPT];

static unsigned long inode_of(int pid, int fd)
{
    char link[64], target[64];
    unsigned long inode;
    ssize_t length;

    snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
    length = readlink(link, target, sizeof(target) - 1);
    if (length <= 0)
        return 0;
    target[length] = '\0';
    return sscanf(target, "socket:[%lu]", &inode) == 1 ? inode : 0;
}

static int read_protocol(int pid, unsigned long inode)
{
    char path[64], line[LINE_BYTES];
    int protocol = NOT_A_NETLINK, found = NOT_A_NETLINK;
    unsigned long here;
    FILE *table;

    snprintf(path, sizeof(path), "/proc/%d/net/netlink", pid);
    table = fopen(path, "re");
    if (table == NULL)
        return NOT_A_NETLINK;
    while (found == NOT_A_NETLINK && fgets(line, sizeof(line), table) != NULL)
        if (sscanf(line, "%*s %d %*s %*s %*s %*s %*s %*s %*s %lu", &protocol, &here) == 2 && here == inode)
            found = protocol;
    fclose(table);
    return found;
}

int process_netlink_protocol(int pid, int fd)
{
    unsigned long inode = fd < 0 ? 0 : inode_of(pid, fd);

    if (inode == 0)
        return NOT_A_NETLINK;
    if (kept[inode % KEPT].inode != inode) {
        kept[inode % KEPT].inode = inode;
        kept[inode % KEPT].protocol = read_protocol(pid, inode);
    }
    return kept[inode % KEPT].protocol;
}
