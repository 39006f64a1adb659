/* SPDX-License-Identifier: MIT */
/*
 * Takes two functions of real libraries, copies them 64 GiB away, and runs original and copy on the same input:
 *
 *   random()   of libc: branches, calls, a lock and data that are all found relative to the pc. It is shown.
 *   crc32_z()  of zlib: nested loops over tables. It is timed.
 *
 * Uses the public API only: gait/instruction.h, gait/code_copy.h.
 */
#define _GNU_SOURCE
#include "gait/code_copy.h"
#include "gait/error.h"
#include "gait/instruction.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define ROWS_MAX       44
#define RANDOM_NUMBERS 10000000
#define CRC_BYTES      (64 << 20)

typedef unsigned long crc_function(unsigned long crc, const unsigned char *bytes, size_t size);
typedef long random_function(void);

struct function {
    const char *name;
    const char *library;
    uint8_t *code;
    size_t size;
    struct gait_code_copy *copy;
};

static bool has_colours;
static unsigned text_columns;

static const char *colour(const char *sequence)
{
    return has_colours ? sequence : "";
}

static void find_terminal(void)
{
    const char *columns = getenv("COLUMNS"), *refusal = getenv("NO_COLOR");
    unsigned width = columns == NULL ? 0 : (unsigned)atoi(columns);
    struct winsize size;

    if (width == 0)
        width = ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
    has_colours = isatty(1) && (refusal == NULL || refusal[0] == '\0');
    text_columns = width > 80 ? (width - 33) / 2 : 24;
}

/* ---- finding and copying ------------------------------------------------------------------------------------------
 */
/* Where a function is and how large, as the library's symbol table says. */
static bool find(struct function *function)
{
    void *library = dlopen(function->library, RTLD_NOW);
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    function->code = library == NULL ? NULL : dlsym(library, function->name);
    if (function->code == NULL || dladdr1(function->code, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
        symbol == NULL || symbol->st_size == 0) {
        fprintf(stderr, "relocate_function: cannot find %s() in %s: %s; is it installed?\n", function->name,
                function->library, function->code == NULL ? dlerror() : "its size is not known");
        return false;
    }
    function->size = symbol->st_size;
    return true;
}

static bool copy(struct function *function)
{
    struct gait_code_copy_options options = {
        .size_bytes = sizeof(options),
        .placement = GAIT_PLACEMENT_FAR,
        .return_address = GAIT_RETURN_TO_COPY,
    };
    struct gait_error err;

    if (gait_code_copy_create(&options, function->code, function->size, &function->copy, &err) != 0) {
        fprintf(stderr, "relocate_function: %s\n", err.text);
        return false;
    }
    return true;
}

/* ---- showing ------------------------------------------------------------------------------------------------------
 */
/* Decodes and writes the instruction at an address of this process. Returns its length, or 0. */
static uint32_t describe(uint64_t address, size_t available, char text[GAIT_INSTRUCTION_TEXT_BYTES],
                         struct gait_instruction *instruction)
{
    instruction->size_bytes = sizeof(*instruction);
    if (gait_instruction_decode((const void *)(uintptr_t)address, available, address, instruction, NULL) != 0 ||
        gait_instruction_format(instruction, text, GAIT_INSTRUCTION_TEXT_BYTES, NULL) != 0)
        return 0;
    return instruction->length;
}

/* Cuts a text off where its column ends, and shows that. */
static void fit(char *text)
{
    if (strlen(text) > text_columns)
        strcpy(text + text_columns - 2, "..");
}

static void print_row(uint64_t address, const char *original, uint64_t place, const char *copied, bool is_changed)
{
    char left[24] = "";

    if (original[0] != '\0')
        snprintf(left, sizeof(left), "%" PRIx64, address);
    printf("%s%12s%s  %-*s %s %s%" PRIx64 "%s  %s%s%s\n", colour("\033[2m"), left, colour("\033[0m"), (int)text_columns,
           original, is_changed ? "*" : " ", colour("\033[2m"), place, colour("\033[0m"),
           colour(is_changed ? "\033[33m" : ""), copied, colour("\033[0m"));
}

/* Original and copy side by side, up to ROWS_MAX rows. */
static void show(const struct function *function)
{
    uint64_t address = (uintptr_t)function->code, end = address + function->size;
    uint64_t place = (uintptr_t)gait_code_copy_entry(function->copy);
    uint64_t copy_end = place + gait_code_copy_size(function->copy);
    char original[GAIT_INSTRUCTION_TEXT_BYTES], copied[GAIT_INSTRUCTION_TEXT_BYTES];
    struct gait_instruction there, here;
    unsigned rows = 0, hidden = 0;

    for (; place < copy_end; place += here.length) {
        uint64_t begins;
        /* The next original instruction is shown where its copy begins. */
        bool is_first =
            address < end && gait_code_copy_address(function->copy, address, &begins) == 0 && begins == place;

        original[0] = '\0';
        if ((is_first && describe(address, end - address, original, &there) == 0) ||
            describe(place, copy_end - place, copied, &here) == 0)
            return;
        fit(original);
        fit(copied);
        if (++rows <= ROWS_MAX)
            print_row(address, original, place, copied,
                      !is_first || here.length != there.length || memcmp(here.bytes, there.bytes, here.length) != 0);
        else
            hidden++;
        address += is_first ? there.length : 0;
    }
    if (hidden > 0)
        printf("%12s  ... and %u more rows\n", "", hidden);
}

/* ---- running ------------------------------------------------------------------------------------------------------
 */
static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t sum_random(random_function *function, double *seconds_out)
{
    double begin = now_s();
    uint64_t sum = 0;

    srandom(2024);
    for (int i = 0; i < RANDOM_NUMBERS; i++)
        sum = sum * 31 + (uint64_t)function();
    *seconds_out = now_s() - begin;
    return sum;
}

static uint64_t checksum(crc_function *function, const uint8_t *bytes, double *seconds_out)
{
    double begin = now_s();
    uint64_t crc = function(0, bytes, CRC_BYTES);

    *seconds_out = now_s() - begin;
    return crc;
}

static bool compare(const char *what, const uint64_t results[2], const double seconds[2])
{
    bool is_equal = results[0] == results[1];

    printf("  %-42s original  %016" PRIx64 "  %6.1f ms\n", what, results[0], seconds[0] * 1e3);
    printf("  %-42s copy      %016" PRIx64 "  %6.1f ms   %s%s%s\n\n", "", results[1], seconds[1] * 1e3,
           colour(is_equal ? "\033[32m" : "\033[31m"), is_equal ? "the same" : "DIFFERENT", colour("\033[0m"));
    return is_equal;
}

static bool run_random(const struct function *function)
{
    random_function *original = (random_function *)function->code;
    random_function *copied = (random_function *)gait_code_copy_entry(function->copy);
    double seconds[2];
    uint64_t results[2] = {sum_random(original, &seconds[0]), sum_random(copied, &seconds[1])};

    return compare("10 million random numbers, mixed to one:", results, seconds);
}

static bool run_checksum(const struct function *function)
{
    crc_function *original = (crc_function *)function->code;
    crc_function *copied = (crc_function *)gait_code_copy_entry(function->copy);
    uint8_t *bytes = malloc(CRC_BYTES);
    double seconds[2];

    if (bytes == NULL)
        return false;
    for (size_t i = 0; i < CRC_BYTES; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);

    uint64_t results[2] = {checksum(original, bytes, &seconds[0]), checksum(copied, bytes, &seconds[1])};

    free(bytes);
    return compare("crc32_z() of zlib over 64 MiB:", results, seconds);
}

static void introduce(const struct function *function)
{
    uint64_t entry = (uintptr_t)gait_code_copy_entry(function->copy), original = (uintptr_t)function->code;
    uint64_t distance = entry > original ? entry - original : original - entry;

    printf("%s%s()%s of %s: %zu bytes, copied %.0f GiB away: %zu bytes of code, %zu of constants\n", colour("\033[1m"),
           function->name, colour("\033[0m"), function->library, function->size, (double)distance / (1u << 30),
           gait_code_copy_size(function->copy),
           gait_code_copy_total_size(function->copy) - gait_code_copy_size(function->copy));
}

int main(void)
{
    struct function drawn = {.name = "random", .library = "libc.so.6"};
    struct function summed = {.name = "crc32_z", .library = "libz.so.1"};
    bool is_right;

    find_terminal();
    if (!find(&drawn) || !find(&summed) || !copy(&drawn) || !copy(&summed))
        return 1;
    introduce(&drawn);
    show(&drawn);
    printf("%14s(* what the copy has to do differently)\n\n", "");
    is_right = run_random(&drawn);
    introduce(&summed);
    is_right &= run_checksum(&summed);
    gait_code_copy_destroy(drawn.copy);
    gait_code_copy_destroy(summed.copy);
    if (fflush(stdout) != 0) {
        perror("relocate_function: cannot write the output");
        return 1;
    }
    return is_right ? 0 : 1;
}
