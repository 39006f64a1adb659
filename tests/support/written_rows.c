/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/written_rows.h"

#include <stdlib.h>

static char *written;
static size_t written_bytes;
static FILE *stream;

FILE *written_rows_begin(void)
{
    free(written);
    written = NULL;
    stream = open_memstream(&written, &written_bytes);
    return stream;
}

const char *written_rows_end(void)
{
    fclose(stream);
    return written;
}
