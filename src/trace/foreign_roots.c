/* SPDX-License-Identifier: MIT */
/* A root is known by its namespace and the folder that it is. Without the descriptor of the namespace nothing holds it.
 */
#define _GNU_SOURCE
#include "trace/foreign_roots.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* False: the process is gone, or may not be looked at. */
static bool look(const char *process, struct foreign_root *root_out)
{
    struct stat space, root;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%s/ns/mnt", process);
    if (stat(path, &space) != 0)
        return false;
    snprintf(path, sizeof(path), "/proc/%s/root/.", process);
    if (stat(path, &root) != 0)
        return false;
    *root_out = (struct foreign_root){.space = space.st_ino, .device = root.st_dev, .file = root.st_ino};
    return true;
}

static bool is_same(const struct foreign_root *left, const struct foreign_root *right)
{
    return left->space == right->space && left->device == right->device && left->file == right->file;
}

static bool is_known(const struct foreign_roots *roots, const struct foreign_root *root)
{
    struct foreign_root own;

    if (!look("self", &own) || is_same(&own, root))
        return true;
    for (size_t i = 0; i < roots->count; i++)
        if (is_same(&roots->roots[i], root))
            return true;
    return false;
}

void foreign_roots_note(struct foreign_roots *roots, pid_t pid)
{
    struct foreign_root root;
    char process[32], path[64];

    snprintf(process, sizeof(process), "%d", (int)pid);
    if (!look(process, &root) || is_known(roots, &root) || roots->count == FOREIGN_ROOTS_MAX)
        return;
    snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
    root.fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root.fd == -1)
        return;
    snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
    root.space_fd = open(path, O_RDONLY | O_CLOEXEC);
    roots->roots[roots->count++] = root;
}

char *foreign_roots_path(const struct foreign_roots *roots, size_t which, const char *path)
{
    char *way;

    return asprintf(&way, "/proc/self/fd/%d%s", roots->roots[which].fd, path) < 0 ? NULL : way;
}

void foreign_roots_deinit(struct foreign_roots *roots)
{
    while (roots->count != 0) {
        const struct foreign_root *root = &roots->roots[--roots->count];

        close(root->fd);
        if (root->space_fd != -1)
            close(root->space_fd);
    }
}
