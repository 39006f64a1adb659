/* SPDX-License-Identifier: MIT */
#include "export/ctf_packets.h"

#include "export/export_text.h"
#include "gait/version.h"

#include <inttypes.h>

#define SECOND_NS  1000000000
#define TEXT_BYTES 1024

static const char types[] = "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
                            "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
                            "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
                            "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
                            "typealias integer { size = 64; align = 8; signed = false; base = 16; } := address_t;\n";

static const char shapes[] =
    "typealias integer { size = 64; align = 8; signed = false; map = clock.recording.value; } := time_ns_t;\n"
    "\n"
    "stream {\n"
    "    id = 0;\n"
    "    packet.context := struct {\n"
    "        time_ns_t timestamp_begin;\n"
    "        time_ns_t timestamp_end;\n"
    "        uint64_t content_size;\n"
    "        uint64_t packet_size;\n"
    "        uint32_t pid;\n"
    "        uint32_t tid;\n"
    "        string thread;\n"
    "    };\n"
    "    event.header := struct {\n"
    "        uint8_t id;\n"
    "        time_ns_t timestamp;\n"
    "    };\n"
    "};\n"
    "\n"
    "event {\n"
    "    id = 0;\n"
    "    stream_id = 0;\n"
    "    name = \"call_begin\";\n"
    "    fields := struct {\n"
    "        string function;\n"
    "        address_t address;\n"
    "        uint32_t depth;\n"
    "    };\n"
    "};\n"
    "\n"
    "event {\n"
    "    id = 1;\n"
    "    stream_id = 0;\n"
    "    name = \"call_end\";\n"
    "    fields := struct {\n"
    "        string function;\n"
    "        uint64_t duration_ns;\n"
    "        uint64_t self_ns;\n"
    "        string flags;\n"
    "    };\n"
    "};\n"
    "\n"
    "event {\n"
    "    id = 2;\n"
    "    stream_id = 0;\n"
    "    name = \"lost\";\n"
    "    fields := struct {\n"
    "        uint64_t bytes;\n"
    "    };\n"
    "};\n"
    "\n"
    "event {\n"
    "    id = 3;\n"
    "    stream_id = 0;\n"
    "    name = \"syscall\";\n"
    "    fields := struct {\n"
    "        string name;\n"
    "        uint64_t duration_ns;\n"
    "        int64_t result;\n"
    "        string text;\n"
    "    };\n"
    "};\n"
    "\n"
    "event {\n"
    "    id = 4;\n"
    "    stream_id = 0;\n"
    "    name = \"probe\";\n"
    "    fields := struct {\n"
    "        string name;\n"
    "        string arguments;\n"
    "    };\n"
    "};\n"
    "\n"
    "event {\n"
    "    id = 5;\n"
    "    stream_id = 0;\n"
    "    name = \"kernel\";\n"
    "    fields := struct {\n"
    "        string name;\n"
    "        uint32_t cpu;\n"
    "        uint32_t pid;\n"
    "        uint32_t tid;\n"
    "        string thread;\n"
    "        string fields;\n"
    "        string stack;\n"
    "    };\n"
    "};\n"
    "\n"
    "event {\n"
    "    id = 6;\n"
    "    stream_id = 0;\n"
    "    name = \"call_entered\";\n"
    "    fields := struct {\n"
    "        string function;\n"
    "        address_t address;\n"
    "        uint32_t depth;\n"
    "    };\n"
    "};\n";

/* A clean text, as a C compiler would read it. */
static void put_text(FILE *stream, const char *text)
{
    char clean[TEXT_BYTES];

    (void)export_text_clean(clean, sizeof(clean), text);
    putc('"', stream);
    for (const char *place = clean; *place != '\0'; place++) {
        /* Of two question marks some readers make something else. */
        if (*place == '"' || *place == '\\' || *place == '?')
            putc('\\', stream);
        putc(*place, stream);
    }
    putc('"', stream);
}

static void put_trace(FILE *stream, const uint8_t *uuid)
{
    fprintf(stream, "\ntrace {\n    major = 1;\n    minor = 8;\n    uuid = \"");
    for (unsigned i = 0; i < 16; i++)
        fprintf(stream, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    fprintf(stream, "\";\n"
                    "    byte_order = le;\n"
                    "    packet.header := struct {\n"
                    "        uint32_t magic;\n"
                    "        uint8_t uuid[16];\n"
                    "        uint32_t stream_id;\n"
                    "    };\n"
                    "};\n");
}

static void put_environment(FILE *stream, const struct manifest *manifest)
{
    fprintf(stream,
            "\nenv {\n    tracer_name = \"gait\";\n    tracer_major = %d;\n    tracer_minor = %d;\n    program = ",
            GAIT_VERSION_MAJOR, GAIT_VERSION_MINOR);
    put_text(stream, manifest->program == NULL ? "" : manifest->program);
    fprintf(stream, ";\n};\n");
}

static void put_clock(FILE *stream, const struct manifest *manifest)
{
    int64_t began_ns = manifest->began_unix_ns < 0 ? 0 : manifest->began_unix_ns;

    fprintf(stream,
            "\nclock {\n"
            "    name = recording;\n"
            "    description = \"nanoseconds since the recording began\";\n"
            "    freq = %d;\n"
            "    offset_s = %" PRId64 ";\n"
            "    offset = %" PRId64 ";\n"
            "    absolute = TRUE;\n"
            "};\n",
            SECOND_NS, began_ns / SECOND_NS, began_ns % SECOND_NS);
}

void ctf_metadata_write(FILE *stream, const struct manifest *manifest, const uint8_t *uuid)
{
    fprintf(stream, "/* CTF 1.8 */\n\n");
    fputs(types, stream);
    put_trace(stream, uuid);
    put_environment(stream, manifest);
    put_clock(stream, manifest);
    fputs(shapes, stream);
}
