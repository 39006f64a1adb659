/* SPDX-License-Identifier: MIT */
#include "query/row_formats.h"

#include <inttypes.h>
#include <string.h>

static bool is_control(unsigned char byte)
{
    return byte == 0x7f || (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t');
}

static void put_text(FILE *stream, const char *bytes, size_t count)
{
    bool is_quoted = count == 0;

    for (size_t i = 0; i < count; i++)
        is_quoted = is_quoted || strchr(",\"\n\r", bytes[i]) != NULL || bytes[0] == ' ' || bytes[count - 1] == ' ';
    fputs(is_quoted ? "\"" : "", stream);
    for (size_t i = 0; i < count; i++)
        if (is_control((unsigned char)bytes[i]))
            fprintf(stream, "\\x%02x", (unsigned char)bytes[i]);
        else if (bytes[i] == '"')
            fputs("\"\"", stream);
        else
            putc(bytes[i], stream);
    fputs(is_quoted ? "\"" : "", stream);
}

static void put_value(FILE *stream, const struct query_value *value)
{
    switch (value->type) {
    case QUERY_INTEGER:
        fprintf(stream, "%" PRId64, value->integer);
        break;
    case QUERY_REAL:
        fprintf(stream, "%.15g", value->real);
        break;
    case QUERY_TEXT:
        put_text(stream, value->bytes, value->size_bytes);
        break;
    case QUERY_BLOB:
        for (size_t i = 0; i < value->size_bytes; i++)
            fprintf(stream, "%02x", (unsigned char)value->bytes[i]);
        break;
    default:
        break;
    }
}

static int begin(void *context, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? "" : ",", context);
        put_text(context, names[i], strlen(names[i]));
    }
    putc('\n', context);
    return 0;
}

static int row(void *context, const struct query_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? "" : ",", context);
        put_value(context, &values[i]);
    }
    putc('\n', context);
    return ferror((FILE *)context) != 0;
}

static int end(void *context)
{
    (void)context;
    return 0;
}

struct query_receiver row_csv_receiver(FILE *stream)
{
    return (struct query_receiver){begin, row, end, stream};
}
