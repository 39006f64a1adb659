/* SPDX-License-Identifier: MIT */
/*
 * Eight bytes at a time: tables[n][b] is what byte b becomes when n zero bytes follow it, so that the eight of a word
 * are looked up independently of each other. The tables are made when they are first needed, which is never where
 * the CPU has an instruction for it.
 */
#include "trace/crc32c.h"

#include "base/crc32c_instruction.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78u /* bits reversed */
#define TABLES     8

static uint32_t tables[TABLES][256];
static pthread_once_t tables_made = PTHREAD_ONCE_INIT, cpu_asked = PTHREAD_ONCE_INIT;
static bool has_instruction;

static void ask_cpu(void)
{
    has_instruction = crc32c_instruction_exists();
}

static void make_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t sum = byte;

        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? POLYNOMIAL : 0);
        tables[0][byte] = sum;
    }
    for (int table = 1; table < TABLES; table++)
        for (uint32_t byte = 0; byte < 256; byte++)
            tables[table][byte] = tables[table - 1][byte] >> 8 ^ tables[0][tables[table - 1][byte] & 255];
}

static uint32_t take_word(uint32_t state, const uint8_t *place)
{
    uint64_t word;
    uint32_t sum = 0;

    memcpy(&word, place, sizeof(word));
    word ^= state;
    for (int i = 0; i < TABLES; i++)
        sum ^= tables[TABLES - 1 - i][word >> 8 * i & 255];
    return sum;
}

static uint32_t run_tables(uint32_t state, const uint8_t *place, size_t size_bytes)
{
    for (; size_bytes >= TABLES; size_bytes -= TABLES, place += TABLES)
        state = take_word(state, place);
    for (; size_bytes > 0; size_bytes--)
        state = state >> 8 ^ tables[0][(state ^ *place++) & 255];
    return state;
}

uint32_t crc32c_by_tables(uint32_t before, const void *bytes, size_t size_bytes)
{
    (void)pthread_once(&tables_made, make_tables);
    return ~run_tables(~before, bytes, size_bytes);
}

uint32_t crc32c(uint32_t before, const void *bytes, size_t size_bytes)
{
    (void)pthread_once(&cpu_asked, ask_cpu);
    return has_instruction ? ~crc32c_instruction_run(~before, bytes, size_bytes)
                           : crc32c_by_tables(before, bytes, size_bytes);
}
