/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record/spare_room.h"

#include <fcntl.h>
#include <unistd.h>

/* The manifest of some hundred threads. */
#define SPARE_BYTES (64 << 10)
#define FILE_MODE   0600

int spare_room_hold(int folder)
{
    int spare = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, FILE_MODE);

    if (spare != -1 && fallocate(spare, 0, 0, SPARE_BYTES) != 0)
        return spare_room_release(spare);
    return spare;
}

int spare_room_release(int spare)
{
    if (spare != -1)
        close(spare);
    return -1;
}
