/* SPDX-License-Identifier: MIT */
/* For builds without liblzma: nothing is unpacked. */
#include "symbolize/xz.h"

#include <errno.h>

int xz_unpack(const uint8_t *bytes, size_t size_bytes, size_t bytes_max, uint8_t **result_out, size_t *result_bytes_out)
{
    (void)bytes;
    (void)size_bytes;
    (void)bytes_max;
    (void)result_out;
    (void)result_bytes_out;
    return -EOPNOTSUPP;
}
