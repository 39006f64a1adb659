/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/ctf_packets.h"

#include "support/check.h"

static char *output;

static void describe(char *program, int64_t began_unix_ns)
{
    static const uint8_t uuid[16] = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0};
    struct manifest manifest = {.program = program, .began_unix_ns = began_unix_ns};
    size_t output_bytes;
    FILE *stream = open_memstream(&output, &output_bytes);

    ctf_metadata_write(stream, &manifest, uuid);
    fclose(stream);
}

static void it_says_what_it_is(void)
{
    describe("./example", 1700000000123456789);
    CHECK(strncmp(output, "/* CTF 1.8 */", 13) == 0);
    CHECK(strstr(output, "uuid = \"12345678-9abc-def0-0000-000000000000\";") != NULL);
    CHECK(strstr(output, "offset_s = 1700000000;") != NULL);
    CHECK(strstr(output, "offset = 123456789;") != NULL);
    CHECK(strstr(output, "program = \"./example\";") != NULL);
    free(output);
}

static void nasty_names_are_text(void)
{
    describe("a\"; };\n\\?\?/\xff", -1);
    CHECK(strstr(output, "program = \"a\\\"; };\xef\xbf\xbd\\\\\\?\\?/\xef\xbf\xbd\";\n};\n") != NULL);
    CHECK(strstr(output, "offset_s = 0;") != NULL);
    free(output);
    describe(NULL, 0);
    CHECK(strstr(output, "program = \"\";") != NULL);
    free(output);
}

static const struct check_case cases[] = {
    CHECK_CASE(it_says_what_it_is),
    CHECK_CASE(nasty_names_are_text),
};

CHECK_MAIN(cases)
