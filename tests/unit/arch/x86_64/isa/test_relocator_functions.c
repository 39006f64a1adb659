/* SPDX-License-Identifier: MIT */
/* time limit: 120 s */
/*
 * Whole functions of the libraries on this machine, as compilers make them: the copy of a function is called with many
 * arguments and must return what the original returns. What it calls, and where its jump tables lead, stays where it
 * is.
 */
#define _GNU_SOURCE
#include "arch/x86_64/isa/relocator.h"

#include "support/arena.h"
#include "support/check.h"
#include "support/random.h"
#include "support/random_code.h"
#include "support/relocation_run.h"

#include <arpa/inet.h>
#include <asm/prctl.h>
#include <dlfcn.h>
#include <fnmatch.h>
#include <link.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define COPY_BYTES   0x80000
#define POINT_COUNT  0x10000
#define FIXUP_COUNT  0x2000
#define ROUNDS       300
#define NEAR_TRIES   64
#define NEAR_STEP    0x1800000ull

/* ---- what is done with a function: calls it in many ways, returns a digest of the results ---------------------------
 */

static uint64_t digest(uint64_t sum, const void *bytes, size_t size)
{
    const uint8_t *byte = bytes;

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ byte[i]) * 0x100000001b3;
    return sum;
}

static uint64_t digest_u64(uint64_t sum, uint64_t value)
{
    return digest(sum, &value, sizeof(value));
}

static int compare_u32(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

static uint64_t exercise_qsort(void *function, struct random *random)
{
    __typeof__(qsort) *sort = function;
    uint32_t values[64];
    size_t count = random_below(random, COUNT(values));

    random_fill(random, values, sizeof(values));
    sort(values, count, sizeof(values[0]), compare_u32);
    return digest(0, values, sizeof(values));
}

static uint64_t exercise_bsearch(void *function, struct random *random)
{
    __typeof__(bsearch) *find = function;
    uint32_t values[50], key = (uint32_t)random_below(random, 160);

    for (uint32_t i = 0; i < COUNT(values); i++)
        values[i] = i * 3;

    uint32_t *found = find(&key, values, COUNT(values), sizeof(values[0]), compare_u32);
    return found == NULL ? 1000 : (uint64_t)(found - values);
}

static void draw_number(struct random *random, char text[40])
{
    static const char characters[] = "0123456789abcdefx+-. eEpP";
    size_t length = random_below(random, 30);

    for (size_t i = 0; i < length; i++)
        text[i] = characters[random_below(random, random_chance(random, 1, 2) ? 10 : sizeof(characters) - 1)];
    text[length] = 0;
}

static uint64_t exercise_strtol(void *function, struct random *random)
{
    __typeof__(strtol) *convert = function;
    char text[40], *end;

    draw_number(random, text);

    uint64_t value = (uint64_t)convert(text, &end, (int)random_below(random, 37));
    return digest_u64(value, (uint64_t)(end - text));
}

static uint64_t exercise_strtod(void *function, struct random *random)
{
    __typeof__(strtod) *convert = function;
    char text[40], *end;

    draw_number(random, text);

    double value = convert(text, &end);
    return digest_u64(digest(0, &value, sizeof(value)), (uint64_t)(end - text));
}

static uint64_t exercise_snprintf(void *function, struct random *random)
{
    __typeof__(snprintf) *print = function;
    char text[200];
    double number = (double)(int64_t)random_u64(random) / 1000;
    int length = print(text, sizeof(text), "%d %lx %s %.*f %c %20g|%-8hhu|%#o", (int)random_u64(random),
                       random_u64(random), "text", (int)random_below(random, 9), number, 'x', number,
                       (unsigned char)random_u64(random), (unsigned)random_u64(random));

    return digest_u64(digest(0, text, strlen(text)), (uint64_t)length);
}

static uint64_t exercise_memmem(void *function, struct random *random)
{
    __typeof__(memmem) *find = function;
    char hay[300], needle[40];
    size_t size = random_below(random, sizeof(needle)), place = random_below(random, sizeof(hay) - sizeof(needle));

    for (size_t i = 0; i < sizeof(hay); i++)
        hay[i] = (char)('a' + random_below(random, 3));
    memcpy(needle, hay + place, sizeof(needle));

    char *found = find(hay, sizeof(hay), needle, size);
    return found == NULL ? 1000 : (uint64_t)(found - hay);
}

static uint64_t exercise_inet_ntop(void *function, struct random *random)
{
    __typeof__(inet_ntop) *print = function;
    uint8_t address[16];
    char text[INET6_ADDRSTRLEN] = "";

    random_fill(random, address, sizeof(address));
    memset(address + random_below(random, 8), 0, random_below(random, 8));
    print(random_chance(random, 1, 2) ? AF_INET6 : AF_INET, address, text, sizeof(text));
    return digest(0, text, strlen(text));
}

static uint64_t exercise_inet_pton(void *function, struct random *random)
{
    __typeof__(inet_pton) *parse = function;
    static const char characters[] = "0123456789abcdef:.:.";
    uint8_t address[16] = {0};
    char text[30] = "1:2:3";
    size_t length = 5 + random_below(random, 20);
    int family = random_chance(random, 1, 2) ? AF_INET6 : AF_INET;

    for (size_t i = 5; i < length; i++)
        text[i] = characters[random_below(random, sizeof(characters) - 1)];
    return digest_u64(digest(0, address, sizeof(address)), (uint64_t)parse(family, text, address));
}

static uint64_t exercise_strptime(void *function, struct random *random)
{
    __typeof__(strptime) *parse = function;
    static const char *const formats[] = {"%Y-%m-%d %H:%M:%S", "%d %b %y", "%j %U %w", "%I:%M %p", "%s"};
    char text[64];
    struct tm broken = {0};

    snprintf(text, sizeof(text), "%u-%u-%u %u:%02u:%02u", (unsigned)random_below(random, 3000),
             (unsigned)random_below(random, 14), (unsigned)random_below(random, 33), (unsigned)random_below(random, 25),
             (unsigned)random_below(random, 61), (unsigned)random_below(random, 62));

    char *end = parse(text, formats[random_below(random, 8) < 4 ? 0 : random_below(random, COUNT(formats))], &broken);
    return digest_u64(digest(0, &broken, offsetof(struct tm, tm_gmtoff)), end == NULL ? 100 : (uint64_t)(end - text));
}

static uint64_t exercise_gmtime(void *function, struct random *random)
{
    __typeof__(gmtime_r) *convert = function;
    time_t when = (time_t)random_below(random, 1ull << 40);
    struct tm broken = {0};

    convert(&when, &broken);
    return digest(0, &broken, offsetof(struct tm, tm_gmtoff));
}

static uint64_t exercise_fnmatch(void *function, struct random *random)
{
    __typeof__(fnmatch) *match = function;
    static const char characters[] = "aab*?[]-!";
    char pattern[12], text[12];

    for (size_t i = 0; i < 11; i++) {
        pattern[i] = characters[random_below(random, sizeof(characters) - 1)];
        text[i] = characters[random_below(random, 3)];
    }
    pattern[random_below(random, 11)] = text[random_below(random, 11)] = 0;
    pattern[11] = text[11] = 0;
    return (uint64_t)match(pattern, text, 0);
}

static uint64_t exercise_strverscmp(void *function, struct random *random)
{
    __typeof__(strverscmp) *compare = function;
    char left[40], right[40];

    draw_number(random, left);
    memcpy(right, left, sizeof(right));
    right[random_below(random, 30)] ^= 1;
    return (uint64_t)(int64_t)compare(left, right);
}

static uint64_t exercise_erand48(void *function, struct random *random)
{
    __typeof__(erand48) *draw = function;
    unsigned short state[3];

    random_fill(random, state, sizeof(state));

    double value = draw(state);
    return digest(digest(0, state, sizeof(state)), &value, sizeof(value));
}

static uint64_t exercise_real(void *function, struct random *random)
{
    double (*compute)(double) = (double (*)(double))function;
    double argument = (double)(int64_t)random_u64(random) / (double)(1ull << random_below(random, 64));
    double value = compute(argument);

    return digest(0, &value, sizeof(value));
}

static uint64_t exercise_two_reals(void *function, struct random *random)
{
    double (*compute)(double, double) = (double (*)(double, double))function;
    double left = (double)(int64_t)random_u64(random) / (double)(1ull << random_below(random, 64));
    double right = (double)(int64_t)random_u64(random) / (double)(1ull << random_below(random, 64));
    double value = compute(left, right);

    return digest(0, &value, sizeof(value));
}

static uint64_t exercise_checksum(void *function, struct random *random)
{
    unsigned long (*sum)(unsigned long, const uint8_t *, unsigned) =
        (unsigned long (*)(unsigned long, const uint8_t *, unsigned))function;
    uint8_t bytes[700];
    unsigned from = (unsigned)random_below(random, 30), size = (unsigned)random_below(random, 650);

    random_fill(random, bytes, sizeof(bytes));
    return sum(random_below(random, 1u << 31), bytes + from, size);
}

static uint64_t exercise_compress(void *function, struct random *random)
{
    int (*pack)(uint8_t *, unsigned long *, const uint8_t *, unsigned long) =
        (int (*)(uint8_t *, unsigned long *, const uint8_t *, unsigned long))function;
    uint8_t bytes[500], packed[1000];
    unsigned long size = sizeof(packed);

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)random_below(random, 4);

    int result = pack(packed, &size, bytes, random_below(random, sizeof(bytes)));
    return digest_u64(digest(0, packed, result == 0 ? size : 0), (uint64_t)result);
}

struct tried_function {
    const char *library, *name;
    uint64_t (*exercise)(void *function, struct random *random);
};

static const struct tried_function functions[] = {
    {"libc.so.6", "qsort", exercise_qsort},
    {"libc.so.6", "bsearch", exercise_bsearch},
    {"libc.so.6", "strtol", exercise_strtol},
    {"libc.so.6", "strtoul", exercise_strtol},
    {"libc.so.6", "strtod", exercise_strtod},
    {"libc.so.6", "snprintf", exercise_snprintf},
    {"libc.so.6", "memmem", exercise_memmem},
    {"libc.so.6", "inet_ntop", exercise_inet_ntop},
    {"libc.so.6", "inet_pton", exercise_inet_pton},
    {"libc.so.6", "strptime", exercise_strptime},
    {"libc.so.6", "gmtime_r", exercise_gmtime},
    {"libc.so.6", "fnmatch", exercise_fnmatch},
    {"libc.so.6", "strverscmp", exercise_strverscmp},
    {"libc.so.6", "erand48", exercise_erand48},
    {"libm.so.6", "cbrt", exercise_real},
    {"libm.so.6", "erf", exercise_real},
    {"libm.so.6", "tgamma", exercise_real},
    {"libm.so.6", "expm1", exercise_real},
    {"libm.so.6", "asinh", exercise_real},
    {"libm.so.6", "hypot", exercise_two_reals},
    {"libm.so.6", "fmod", exercise_two_reals},
    {"libm.so.6", "remainder", exercise_two_reals},
    {"libz.so.1", "crc32", exercise_checksum},
    {"libz.so.1", "adler32", exercise_checksum},
    {"libz.so.1", "compress", exercise_compress},
};

/* ---- copies ---------------------------------------------------------------------------------------------------------
 */

static struct x86_relocation_point points[POINT_COUNT];
static struct x86_relocator_fixup fixups[FIXUP_COUNT];
static uint64_t slots[2];

/* The function and its size, or NULL if the library is not here or the symbol is not simply a function. */
static uint8_t *find_function(const struct tried_function *tried, size_t *size_out)
{
    void *library = dlopen(tried->library, RTLD_NOW), *address;
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    address = library == NULL ? NULL : dlsym(library, tried->name);
    if (address == NULL || dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL ||
        info.dli_saddr != address || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
        return NULL;
    *size_out = symbol->st_size;
    return address;
}

/* Room for a copy that displacements reach the function from. */
static bool map_near(struct arena *arena, uint64_t address)
{
    for (uint64_t i = 1; i <= NEAR_TRIES; i++)
        if (arena_init(arena, (address & ~0xfffull) - i * NEAR_STEP, COPY_BYTES, ARENA_CODE) == 0)
            return true;
    return false;
}

static int make_copy(struct arena *arena, const struct x86_relocator_options *options, const uint8_t *code, size_t size)
{
    struct x86_relocation_map map;
    struct code_writer writer;
    struct x86_relocator_storage storage = {&writer, &map, fixups, FIXUP_COUNT};

    code_writer_init(&writer, arena->base, arena->size_bytes, cache_pc_of((uint64_t)arena->base));
    x86_relocation_map_init(&map, points, POINT_COUNT);
    return relocation_run(options, &storage, code, size, app_pc_of((uint64_t)code));
}

static void compare_results(const struct tried_function *tried, void *original, void *copy)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct random first, second;

        random_init(&first, round);
        random_init(&second, round);
        if (tried->exercise(original, &first) != tried->exercise(copy, &second)) {
            CHECK(!"original and copy of a function return the same");
            printf("  of %s, round %u\n", tried->name, (unsigned)round);
            return;
        }
    }
}

static void try_function(const struct tried_function *tried, struct arena *arena, uint8_t *code, size_t size)
{
    for (unsigned i = 0; i < 4; i++) {
        struct x86_relocator_options options = {
            .spill = i & 1 ? X86_SPILL_STACK : X86_SPILL_SEGMENT,
            .return_address = i & 2 ? X86_RETURN_TO_COPY : X86_RETURN_TO_ORIGINAL,
            .segment = X86_GS,
            .slots = {0, 8},
            .decode_options = random_code_decode_options(),
        };
        int result = make_copy(arena, &options, code, size);

        CHECK_EQUAL(result, 0);
        if (result != 0)
            printf("  of %s, %zu bytes\n", tried->name, size);
        else
            compare_results(tried, code, arena->base);
    }
}

static void try_all(bool is_far)
{
    unsigned tried = 0;

    for (size_t i = 0; i < COUNT(functions); i++) {
        struct arena arena;
        size_t size = 0;
        uint8_t *code = find_function(&functions[i], &size);

        if (code == NULL)
            continue;
        if (is_far ? arena_init(&arena, ARENA_BASE, COPY_BYTES, ARENA_CODE) != 0 : !map_near(&arena, (uint64_t)code)) {
            CHECK(!"there is room for a copy");
            continue;
        }
        try_function(&functions[i], &arena, code, size);
        arena_deinit(&arena);
        tried++;
    }
    printf("%u functions\n", tried);
    CHECK(tried >= 10);
}

static void functions_do_the_same_nearby(void)
{
    try_all(false);
}

static void functions_do_the_same_far_away(void)
{
    try_all(true);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_do_the_same_nearby),
    CHECK_CASE(functions_do_the_same_far_away),
};

int main(void)
{
    if (syscall(SYS_arch_prctl, ARCH_SET_GS, slots) != 0)
        check_skip("the base of gs cannot be set");
    return check_run(cases, COUNT(cases));
}
