/* SPDX-License-Identifier: MIT */
/*
 * Writing a gzip file (RFC 1952). gzip_writer_zlib.c compresses with zlib; a build without that library (ZLIB=no) has
 * gzip_writer_none.c instead, which writes the bytes as they are: who reads profiles takes both. One thread at a time.
 */
#ifndef GAIT_EXPORT_GZIP_WRITER_H
#define GAIT_EXPORT_GZIP_WRITER_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdio.h>

struct gzip_writer;

/* The stream stays the caller's, and is where errors of writing are looked at. -ENOMEM. */
MUST_USE int gzip_writer_create(struct gzip_writer **writer_out, FILE *stream);
void gzip_writer_put(struct gzip_writer *writer, const void *bytes, size_t size_bytes);
/* Writes what is left and the end, and gives the writer back. */
void gzip_writer_finish(struct gzip_writer *writer);

#endif
