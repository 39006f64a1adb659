/* SPDX-License-Identifier: MIT */
#include "export/gzip_writer.h"

#include <errno.h>
#include <stdlib.h>

struct gzip_writer {
    FILE *stream;
};

int gzip_writer_create(struct gzip_writer **writer_out, FILE *stream)
{
    *writer_out = calloc(1, sizeof(**writer_out));
    if (*writer_out == NULL)
        return -ENOMEM;
    (*writer_out)->stream = stream;
    return 0;
}

void gzip_writer_put(struct gzip_writer *writer, const void *bytes, size_t size_bytes)
{
    fwrite(bytes, 1, size_bytes, writer->stream);
}

void gzip_writer_finish(struct gzip_writer *writer)
{
    free(writer);
}
