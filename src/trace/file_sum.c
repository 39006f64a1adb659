/* SPDX-License-Identifier: MIT */
#include "trace/crc32c.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_BYTES (256u << 10)

int file_sum_read(int fd, uint64_t *size_out, uint32_t *crc_out)
{
    uint8_t *buffer = malloc(READ_BYTES);
    uint64_t offset = 0;
    uint32_t crc = 0;
    int result = buffer == NULL ? -ENOMEM : 1;

    while (result > 0) {
        ssize_t got = pread(fd, buffer, READ_BYTES, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        result = got < 0 ? -errno : got > 0;
        if (got > 0) {
            crc = crc32c(crc, buffer, (size_t)got);
            offset += (uint64_t)got;
        }
    }
    free(buffer);
    if (result != 0)
        return result;
    *size_out = offset;
    *crc_out = crc;
    return 0;
}
