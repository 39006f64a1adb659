/* SPDX-License-Identifier: MIT */
/* An event is begun only where the longest one has room, so that none is ever divided. */
#include "export/ctf_packets.h"

#include <string.h>

#define MAGIC           0xc1fc1fc1u
#define EVENT_BYTES_MAX (4 * CTF_NAME_BYTES + 128)
#define THREAD_BYTES    64u

/* What is filled in when the packet ends. */
enum { TIMES_AT = 4 + CTF_UUID_BYTES + 4, SIZES_AT = TIMES_AT + 16 };

void ctf_put_number(struct ctf_packets *packets, uint64_t number, unsigned byte_count)
{
    for (unsigned i = 0; i < byte_count; i++)
        packets->bytes[packets->used++] = (uint8_t)(number >> 8 * i);
}

static void put_text(struct ctf_packets *packets, const char *text, size_t bytes_max)
{
    size_t length = strnlen(text, bytes_max - 1);

    memcpy(packets->bytes + packets->used, text, length);
    packets->bytes[packets->used + length] = '\0';
    packets->used += length + 1;
}

void ctf_put_text(struct ctf_packets *packets, const char *text)
{
    put_text(packets, text, CTF_NAME_BYTES);
}

static void begin_packet(struct ctf_packets *packets, uint64_t time_ns)
{
    packets->first_ns = time_ns;
    ctf_put_number(packets, MAGIC, 4);
    memcpy(packets->bytes + packets->used, packets->uuid, CTF_UUID_BYTES);
    packets->used += CTF_UUID_BYTES;
    ctf_put_number(packets, 0, 4);
    /* Times and sizes. */
    memset(packets->bytes + packets->used, 0, 32);
    packets->used += 32;
    ctf_put_number(packets, packets->pid, 4);
    ctf_put_number(packets, packets->tid, 4);
    put_text(packets, packets->thread, THREAD_BYTES);
}

static void put_number_at(struct ctf_packets *packets, size_t at, uint64_t number)
{
    size_t used = packets->used;

    packets->used = at;
    ctf_put_number(packets, number, 8);
    packets->used = used;
}

void ctf_end_packet(struct ctf_packets *packets)
{
    if (packets->used == 0)
        return;
    put_number_at(packets, TIMES_AT, packets->first_ns);
    put_number_at(packets, TIMES_AT + 8, packets->last_ns);
    /* In bits. */
    put_number_at(packets, SIZES_AT, 8 * (uint64_t)packets->used);
    put_number_at(packets, SIZES_AT + 8, 8 * (uint64_t)packets->used);
    fwrite(packets->bytes, 1, packets->used, packets->stream);
    packets->used = 0;
}

void ctf_begin_event(struct ctf_packets *packets, enum ctf_event event, uint64_t time_ns)
{
    if (packets->used > CTF_PACKET_BYTES - EVENT_BYTES_MAX)
        ctf_end_packet(packets);
    if (packets->used == 0)
        begin_packet(packets, time_ns);
    packets->last_ns = time_ns;
    ctf_put_number(packets, event, 1);
    ctf_put_number(packets, time_ns, 8);
}
