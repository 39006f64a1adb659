/* SPDX-License-Identifier: MIT */
/*
 * Unpacking what xz has packed: the small symbol tables that some systems leave in programs. xz_lzma.c does it with
 * liblzma; a build without that library (LZMA=no) has xz_none.c instead, which refuses. Callable from any thread.
 */
#ifndef GAIT_SYMBOLIZE_XZ_H
#define GAIT_SYMBOLIZE_XZ_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The result is the caller's, to be freed. -EPROTO: it is something else, or damaged; -E2BIG: it would be longer than
 * bytes_max; -ENOMEM; -EOPNOTSUPP: this build cannot.
 */
MUST_USE int xz_unpack(const uint8_t *bytes, size_t size_bytes, size_t bytes_max, uint8_t **result_out,
                       size_t *result_bytes_out);

#endif
