/* SPDX-License-Identifier: MIT */
/*
 * Where recorded processes look for their files, if that is not where we do: in a mount namespace of their own, or
 * below another root. They are kept open, since a namespace and all that is mounted in it go with its last process.
 */
#ifndef GAIT_TRACE_FOREIGN_ROOTS_H
#define GAIT_TRACE_FOREIGN_ROOTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FOREIGN_ROOTS_MAX 64

struct foreign_root {
    uint64_t space;  /* the number of the mount namespace, */
    uint64_t device; /* and what is the root in it */
    uint64_t file;
    int space_fd; /* keeps it; -1: it may not be opened */
    int fd;
};

/* All zero at first. */
struct foreign_roots {
    struct foreign_root roots[FOREIGN_ROOTS_MAX];
    size_t count;
};

/* While the process is there. What may not be opened, or is one too many, is passed over. */
void foreign_roots_note(struct foreign_roots *roots, pid_t pid);

/* A path of those processes, as a path of ours, as long as roots are kept. NULL: no memory; else to be freed. */
char *foreign_roots_path(const struct foreign_roots *roots, size_t which, const char *path);

void foreign_roots_deinit(struct foreign_roots *roots);

#endif
