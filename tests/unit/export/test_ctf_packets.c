/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/ctf_packets.h"

#include "support/check.h"

#define HEADER_BYTES (4 + 16 + 4 + 32 + 8 + sizeof("worker"))
#define EVENT_BYTES  (1 + 8 + 8)

static struct ctf_packets packets;
static char *output;
static size_t output_bytes;

static void begin(void)
{
    memset(&packets, 0, sizeof(packets));
    memset(packets.uuid, 7, sizeof(packets.uuid));
    packets.pid = 100;
    packets.tid = 101;
    packets.thread = "worker";
    packets.stream = open_memstream(&output, &output_bytes);
}

static void end(void)
{
    ctf_end_packet(&packets);
    fclose(packets.stream);
}

static uint64_t number_at(size_t at, size_t byte_count)
{
    uint64_t number = 0;

    memcpy(&number, output + at, byte_count);
    return number;
}

static void put_loss(uint64_t time_ns)
{
    ctf_begin_event(&packets, CTF_LOST, time_ns);
    ctf_put_number(&packets, 72, 8);
}

static void a_packet_says_what_is_in_it(void)
{
    begin();
    put_loss(5);
    put_loss(9);
    end();
    CHECK_EQUAL(output_bytes, HEADER_BYTES + 2 * EVENT_BYTES);
    CHECK_EQUAL(number_at(0, 4), 0xc1fc1fc1);
    CHECK_EQUAL(number_at(4, 8), 0x0707070707070707);
    CHECK_EQUAL(number_at(24, 8), 5);
    CHECK_EQUAL(number_at(32, 8), 9);
    CHECK_EQUAL(number_at(40, 8), 8 * output_bytes);
    CHECK_EQUAL(number_at(48, 8), 8 * output_bytes);
    CHECK_EQUAL(number_at(56, 4), 100);
    CHECK_EQUAL(number_at(60, 4), 101);
    CHECK_TEXT(output + 64, "worker");
    CHECK_EQUAL(number_at(HEADER_BYTES, 1), CTF_LOST);
    CHECK_EQUAL(number_at(HEADER_BYTES + 1, 8), 5);
    free(output);
}

static void without_events_there_is_no_packet(void)
{
    begin();
    end();
    CHECK_EQUAL(output_bytes, 0);
    free(output);
}

/* All events are in one packet or another, and the packets follow each other. */
static void full_packets_are_written(void)
{
    uint64_t event_count = 0, packet_count = 0, next = 0;

    begin();
    for (uint64_t i = 0; i < 10000; i++)
        put_loss(i);
    end();
    for (size_t at = 0; at < output_bytes; at += number_at(at + 40, 8) / 8) {
        size_t bytes = number_at(at + 40, 8) / 8;

        CHECK(bytes <= CTF_PACKET_BYTES);
        CHECK_EQUAL(number_at(at + 24, 8), next);
        next = number_at(at + 32, 8) + 1;
        event_count += (bytes - HEADER_BYTES) / EVENT_BYTES;
        packet_count++;
    }
    CHECK_EQUAL(event_count, 10000);
    CHECK(packet_count > 1);
    free(output);
}

static void long_names_are_cut_off(void)
{
    static char name[2 * CTF_NAME_BYTES];

    memset(name, 'x', sizeof(name) - 1);
    begin();
    for (unsigned i = 0; i < 100; i++) {
        ctf_begin_event(&packets, CTF_CALL_BEGIN, i);
        ctf_put_text(&packets, name);
        CHECK(packets.used <= CTF_PACKET_BYTES);
    }
    end();
    CHECK(output_bytes > 100 * (CTF_NAME_BYTES - 1));
    CHECK_EQUAL(strlen(output + HEADER_BYTES + 9), CTF_NAME_BYTES - 1);
    free(output);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_packet_says_what_is_in_it),
    CHECK_CASE(without_events_there_is_no_packet),
    CHECK_CASE(full_packets_are_written),
    CHECK_CASE(long_names_are_cut_off),
};

CHECK_MAIN(cases)
