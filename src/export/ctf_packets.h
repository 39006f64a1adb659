/* SPDX-License-Identifier: MIT */
/*
 * The stream of a thread in the Common Trace Format 1.8: events in packets, as the metadata describes them. Memory is
 * that of a packet. One thread at a time.
 */
#ifndef GAIT_EXPORT_CTF_PACKETS_H
#define GAIT_EXPORT_CTF_PACKETS_H

#include "trace/manifest.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CTF_PACKET_BYTES 65536u
#define CTF_NAME_BYTES   4096u
#define CTF_UUID_BYTES   16u

/* Numbers of events. */
enum ctf_event { CTF_CALL_BEGIN, CTF_CALL_END, CTF_LOST, CTF_SYSTEM_CALL, CTF_PROBE, CTF_KERNEL, CTF_ENTRY };

struct ctf_packets {
    FILE *stream;
    uint8_t uuid[CTF_UUID_BYTES]; /* of the trace */
    uint32_t pid;
    uint32_t tid;
    const char *thread; /* its name, clean */
    uint64_t first_ns;
    uint64_t last_ns;
    size_t used; /* 0: no packet is begun */
    uint8_t bytes[CTF_PACKET_BYTES];
};

/* An event begins; its fields, as the metadata has them, follow. */
void ctf_begin_event(struct ctf_packets *packets, enum ctf_event event, uint64_t time_ns);
void ctf_put_number(struct ctf_packets *packets, uint64_t number, unsigned byte_count);
/* At most CTF_NAME_BYTES, with the NUL. */
void ctf_put_text(struct ctf_packets *packets, const char *text);

/* Writes the packet that is begun, if there is one. Errors stay with the stream. */
void ctf_end_packet(struct ctf_packets *packets);

/* Writes what the streams look like, in the language that CTF 1.8 has for that (TSDL). Errors stay with the stream. */
void ctf_metadata_write(FILE *stream, const struct manifest *manifest, const uint8_t *uuid);

#endif
