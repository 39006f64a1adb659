/* SPDX-License-Identifier: MIT */
#include "export/gzip_writer.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#define OUTPUT_BYTES  65536u
#define WITH_GZIP     16 /* added to the bits of the window: that header, not zlib's own */
#define MEMORY_NORMAL 8

struct gzip_writer {
    FILE *stream;
    z_stream zlib;
    unsigned char output[OUTPUT_BYTES];
};

int gzip_writer_create(struct gzip_writer **writer_out, FILE *stream)
{
    struct gzip_writer *writer = calloc(1, sizeof(*writer));

    if (writer == NULL)
        return -ENOMEM;
    if (deflateInit2(&writer->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + WITH_GZIP, MEMORY_NORMAL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(writer);
        return -ENOMEM;
    }
    writer->stream = stream;
    *writer_out = writer;
    return 0;
}

/* Until there is room left in the output: then all of the input was taken. */
static void run(struct gzip_writer *writer, int flush)
{
    do {
        writer->zlib.next_out = writer->output;
        writer->zlib.avail_out = OUTPUT_BYTES;
        (void)deflate(&writer->zlib, flush);
        fwrite(writer->output, 1, OUTPUT_BYTES - writer->zlib.avail_out, writer->stream);
    } while (writer->zlib.avail_out == 0);
}

void gzip_writer_put(struct gzip_writer *writer, const void *bytes, size_t size_bytes)
{
    const unsigned char *place = bytes;

    while (size_bytes > 0) {
        unsigned part = size_bytes > INT_MAX ? INT_MAX : (unsigned)size_bytes;

        writer->zlib.next_in = (unsigned char *)place;
        writer->zlib.avail_in = part;
        run(writer, Z_NO_FLUSH);
        place += part;
        size_bytes -= part;
    }
}

void gzip_writer_finish(struct gzip_writer *writer)
{
    run(writer, Z_FINISH);
    (void)deflateEnd(&writer->zlib);
    free(writer);
}
