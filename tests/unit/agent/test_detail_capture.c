/* SPDX-License-Identifier: MIT */
#include "agent/detail_capture.h"

#include "support/check.h"
#include "support/guarded_bytes.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define STRING_BYTES 16

static uint8_t bytes[DETAIL_STACK_BYTES_MAX];
static uint32_t used;
static size_t at;
static _Alignas(16) uint64_t stack[8] = {0x401000, 107, 108};
static struct detail_registers registers;
static struct guarded_bytes guarded;

static struct detail_field field(enum detail_type type, uint32_t place, uint32_t size)
{
    return (struct detail_field){(uint8_t)type, (uint8_t)place, (uint16_t)size};
}

static void capture(const struct detail_declaration *declaration, uint32_t room)
{
    memset(bytes, 0xee, sizeof(bytes));
    registers.sp = (uintptr_t)stack;
    used = detail_capture_arguments(declaration, &registers, STRING_BYTES, bytes, room);
    CHECK(used <= room);
    for (size_t i = room; i < sizeof(bytes); i++)
        CHECK_EQUAL(bytes[i], 0xee);
    at = 0;
}

/* The next value is this one. */
static void check_next(enum detail_type type, unsigned flags, const void *data, size_t data_bytes)
{
    struct detail_value value = {0};
    const uint8_t *found = NULL;

    CHECK(detail_value_next(bytes, used, &at, &value, &found));
    CHECK_EQUAL(value.type, type);
    CHECK_EQUAL(value.flags, flags);
    CHECK_EQUAL(value.data_bytes, data_bytes);
    CHECK(value.data_bytes == data_bytes && memcmp(found, data, data_bytes) == 0);
}

static void check_number(enum detail_type type, uint64_t number, size_t data_bytes)
{
    check_next(type, 0, &number, data_bytes);
}

static void check_address(enum detail_type type, uint64_t address)
{
    check_next(type, DETAIL_VALUE_UNREADABLE, &address, sizeof(address));
}

static void check_end(void)
{
    CHECK_EQUAL(at, used);
}

static void numbers_come_from_registers_and_the_stack(void)
{
    const uint64_t vectors[DETAIL_VECTORS] = {[7] = 0x3ff0000000000000};
    const struct detail_declaration declaration = {
        .is_given = 1,
        .count = 6,
        .fields = {field(DETAIL_TYPE_I32, 0, 0), field(DETAIL_TYPE_U8, 5, 0), field(DETAIL_TYPE_SKIPPED, 2, 0),
                   field(DETAIL_TYPE_U64, DETAIL_PLACE_STACK + 1, 0),
                   field(DETAIL_TYPE_DOUBLE, DETAIL_PLACE_VECTOR + 7, 0),
                   field(DETAIL_TYPE_POINTER, DETAIL_PLACE_NONE, 0)},
    };

    registers = (struct detail_registers){.arguments = {0xffffffff00000001, 0, 0, 0, 0, 0x1ff}, .vectors = vectors};
    capture(&declaration, sizeof(bytes));
    check_number(DETAIL_TYPE_I32, 1, 4);
    check_number(DETAIL_TYPE_U8, 0xff, 1);
    check_number(DETAIL_TYPE_SKIPPED, 0, 0);
    check_number(DETAIL_TYPE_U64, 108, 8);
    check_number(DETAIL_TYPE_DOUBLE, 0x3ff0000000000000, 8);
    check_next(DETAIL_TYPE_POINTER, DETAIL_VALUE_UNREADABLE, "", 0);
    check_end();
    /* Nobody has them. */
    registers.vectors = NULL;
    capture(&declaration, sizeof(bytes));
    for (unsigned i = 0; i < 4; i++)
        CHECK(detail_value_next(bytes, used, &at, &(struct detail_value){0}, &(const uint8_t *){NULL}));
    check_next(DETAIL_TYPE_DOUBLE, DETAIL_VALUE_UNREADABLE, "", 0);
}

/* The return address is in the last word that can be read. */
static void a_stack_may_end(void)
{
    const struct detail_declaration declaration = {
        .is_given = 1, .count = 1, .fields = {field(DETAIL_TYPE_I64, DETAIL_PLACE_STACK, 0)}};

    registers = (struct detail_registers){.sp = (uintptr_t)guarded.end - 8};
    used = detail_capture_arguments(&declaration, &registers, STRING_BYTES, bytes, sizeof(bytes));
    at = 0;
    check_next(DETAIL_TYPE_I64, DETAIL_VALUE_UNREADABLE, "", 0);
}

static const struct detail_declaration one_string = {.is_given = 1, .count = 1, .fields = {{DETAIL_TYPE_STRING, 0, 0}}};

static void capture_string(const void *string)
{
    registers = (struct detail_registers){.arguments = {(uintptr_t)string}};
    capture(&one_string, sizeof(bytes));
}

static void strings_are_taken_up_to_their_end_or_the_limit(void)
{
    capture_string("");
    check_next(DETAIL_TYPE_STRING, 0, "", 0);
    capture_string("some");
    check_next(DETAIL_TYPE_STRING, 0, "some", 4);
    capture_string("0123456789abcdef");
    check_next(DETAIL_TYPE_STRING, 0, "0123456789abcdef", 16);
    capture_string("0123456789abcdefg");
    check_next(DETAIL_TYPE_STRING, DETAIL_VALUE_CLIPPED, "0123456789abcdef", 16);
    check_end();
}

static void what_cannot_be_read_is_told_by_its_address(void)
{
    capture_string(NULL);
    check_address(DETAIL_TYPE_STRING, 0);
    capture_string((const void *)8);
    check_address(DETAIL_TYPE_STRING, 8);
    capture_string((const void *)0xdead000000000000);
    check_address(DETAIL_TYPE_STRING, 0xdead000000000000);
    capture_string((const void *)UINT64_MAX);
    check_address(DETAIL_TYPE_STRING, UINT64_MAX);
    capture_string(guarded.end);
    check_address(DETAIL_TYPE_STRING, (uintptr_t)guarded.end);
    check_end();
}

static void strings_may_end_where_memory_ends(void)
{
    capture_string(guarded_bytes_put(&guarded, (const uint8_t *)"last", 5));
    check_next(DETAIL_TYPE_STRING, 0, "last", 4);
    /* Nothing ends this one. */
    capture_string(guarded_bytes_put(&guarded, (const uint8_t *)"last", 4));
    check_next(DETAIL_TYPE_STRING, DETAIL_VALUE_CLIPPED, "last", 4);
    capture_string(guarded_bytes_put(&guarded, (const uint8_t *)"", 1));
    check_next(DETAIL_TYPE_STRING, 0, "", 0);
    check_end();
}

static void strings_go_on_in_the_next_page(void)
{
    uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memcpy(pages + 4093, "across", 7);
    capture_string(pages + 4093);
    check_next(DETAIL_TYPE_STRING, 0, "across", 6);
    munmap(pages, 8192);
}

static void buffers_have_the_size_that_they_are_said_to_have(void)
{
    struct detail_declaration declaration = {
        .is_given = 1,
        .count = 2,
        .fields = {field(DETAIL_TYPE_BUFFER, 0, DETAIL_SIZE_IN_ARGUMENT | 1), field(DETAIL_TYPE_I32, 1, 0)},
    };
    static const char data[] = "a\0b\0c0123456789abcdef";

    registers = (struct detail_registers){.arguments = {(uintptr_t)data, 0xffffffff00000005}};
    capture(&declaration, sizeof(bytes));
    check_next(DETAIL_TYPE_BUFFER, 0, data, 5);
    registers.arguments[1] = 21;
    capture(&declaration, sizeof(bytes));
    check_next(DETAIL_TYPE_BUFFER, DETAIL_VALUE_CLIPPED, data, STRING_BYTES);
    registers.arguments[1] = UINT32_MAX;
    capture(&declaration, sizeof(bytes));
    check_next(DETAIL_TYPE_BUFFER, 0, "", 0);
    /* A size of its own may be larger than that of a string. */
    declaration.fields[0].size = 20;
    capture(&declaration, sizeof(bytes));
    check_next(DETAIL_TYPE_BUFFER, 0, data, 20);
    /* What there is. */
    registers.arguments[0] = (uintptr_t)guarded_bytes_put(&guarded, (const uint8_t *)"12345678", 8);
    capture(&declaration, sizeof(bytes));
    check_next(DETAIL_TYPE_BUFFER, DETAIL_VALUE_CLIPPED, "12345678", 8);
    registers.arguments[0] = (uintptr_t)guarded.end;
    capture(&declaration, sizeof(bytes));
    check_address(DETAIL_TYPE_BUFFER, (uintptr_t)guarded.end);
}

static void a_full_record_says_what_is_missing(void)
{
    const struct detail_declaration declaration = {
        .is_given = 1,
        .count = 3,
        .fields = {{DETAIL_TYPE_STRING, 0, 300}, {DETAIL_TYPE_STRING, 0, 300}, {DETAIL_TYPE_I64, 1, 0}},
    };
    char text[400];

    memset(text, 'x', sizeof(text));
    text[350] = '\0';
    registers = (struct detail_registers){.arguments = {(uintptr_t)text, 5}};
    capture(&declaration, sizeof(bytes));
    check_next(DETAIL_TYPE_STRING, DETAIL_VALUE_CLIPPED, text, 300);
    check_next(DETAIL_TYPE_STRING, DETAIL_VALUE_CLIPPED, text, 512 - 300 - 12);
    check_next(DETAIL_TYPE_I64, DETAIL_VALUE_LEFT_OUT, "", 0);
    check_end();
    for (uint32_t room = 0; room < 40; room++)
        capture(&declaration, room);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void capture_result(const struct detail_declaration *declaration, const struct detail_result *result)
{
    used = detail_capture_result(declaration, result, STRING_BYTES, bytes, sizeof(bytes));
    at = 0;
}

static void results_say_whether_there_was_an_error(void)
{
    struct detail_declaration declaration = {.is_given = 1, .has_errno = 1, .result = {DETAIL_TYPE_I32, 0, 0}};
    int number = ENOENT;
    struct detail_result result = {.value = 0xffffffff, .errno_place = (uintptr_t)&number};

    capture_result(&declaration, &result);
    check_number(DETAIL_TYPE_I32, 0xffffffff, 4);
    check_number(DETAIL_TYPE_ERRNO, ENOENT, 4);
    check_end();
    result.value = 3;
    capture_result(&declaration, &result);
    check_number(DETAIL_TYPE_I32, 3, 4);
    check_end();
    /* Of 64 bits, these are not all. */
    declaration.result.type = DETAIL_TYPE_I64;
    CHECK(!detail_capture_has_failed(&declaration, 0xffffffff));
    CHECK(detail_capture_has_failed(&declaration, UINT64_MAX));
    declaration.result.type = DETAIL_TYPE_POINTER;
    CHECK(detail_capture_has_failed(&declaration, UINT64_MAX) && detail_capture_has_failed(&declaration, 0));
    declaration.has_errno = 0;
    CHECK(!detail_capture_has_failed(&declaration, 0));
    /* Nobody knows where it is, or it is nowhere. */
    declaration = (struct detail_declaration){.is_given = 1, .has_errno = 1, .result = {DETAIL_TYPE_I32, 0, 0}};
    result = (struct detail_result){.value = UINT64_MAX};
    capture_result(&declaration, &result);
    check_number(DETAIL_TYPE_I32, 0xffffffff, 4);
    check_end();
    result.errno_place = 16;
    capture_result(&declaration, &result);
    check_number(DETAIL_TYPE_I32, 0xffffffff, 4);
    check_end();
}

static void results_may_be_strings_and_floats(void)
{
    struct detail_declaration declaration = {.is_given = 1, .result = {DETAIL_TYPE_STRING, 0, 0}};
    const uint64_t vectors[DETAIL_VECTORS] = {0x40490fdb};
    struct detail_result result = {.value = (uintptr_t) "returned"};

    capture_result(&declaration, &result);
    check_next(DETAIL_TYPE_STRING, 0, "returned", 8);
    declaration.result = field(DETAIL_TYPE_FLOAT, DETAIL_PLACE_VECTOR, 0);
    capture_result(&declaration, &result);
    check_next(DETAIL_TYPE_FLOAT, DETAIL_VALUE_UNREADABLE, "", 0);
    result.vectors = vectors;
    capture_result(&declaration, &result);
    check_number(DETAIL_TYPE_FLOAT, 0x40490fdb, 4);
    declaration.result.type = DETAIL_TYPE_SKIPPED;
    capture_result(&declaration, &result);
    CHECK_EQUAL(used, 0);
}

/* ---- memory that comes and goes ---------------------------------------------------------------------------------- */

static uint8_t *moving;
static atomic_bool is_over;

static void *map_and_unmap(void *unused)
{
    (void)unused;
    while (!is_over) {
        if (mmap(moving, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != moving)
            break;
        memset(moving, 'm', 4200);
        munmap(moving, 8192);
    }
    return NULL;
}

static void memory_may_go_at_any_time(void)
{
    const struct detail_declaration declaration = {
        .is_given = 1, .count = 2, .fields = {{DETAIL_TYPE_STRING, 0, 200}, {DETAIL_TYPE_BUFFER, 0, 200}}};
    pthread_t thread;

    moving = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, map_and_unmap, NULL), 0);
    for (unsigned i = 0; i < 20000; i++) {
        registers = (struct detail_registers){.arguments = {(uintptr_t)moving + 3990}};
        capture(&declaration, sizeof(bytes));
    }
    is_over = true;
    pthread_join(thread, NULL);
}

static void begin(void)
{
    guarded_bytes_init(&guarded);
}

static void end(void)
{
    guarded_bytes_deinit(&guarded);
}

static const struct check_case cases[] = {
    CHECK_CASE(begin),
    CHECK_CASE(numbers_come_from_registers_and_the_stack),
    CHECK_CASE(a_stack_may_end),
    CHECK_CASE(strings_are_taken_up_to_their_end_or_the_limit),
    CHECK_CASE(what_cannot_be_read_is_told_by_its_address),
    CHECK_CASE(strings_may_end_where_memory_ends),
    CHECK_CASE(strings_go_on_in_the_next_page),
    CHECK_CASE(buffers_have_the_size_that_they_are_said_to_have),
    CHECK_CASE(a_full_record_says_what_is_missing),
    CHECK_CASE(results_say_whether_there_was_an_error),
    CHECK_CASE(results_may_be_strings_and_floats),
    CHECK_CASE(memory_may_go_at_any_time),
    CHECK_CASE(end),
};

CHECK_MAIN(cases)
