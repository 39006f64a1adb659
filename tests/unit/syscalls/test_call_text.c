/* SPDX-License-Identifier: MIT */
#include "syscalls/call_text.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <fcntl.h>

static struct call_text_run run;

static void numbers_and_addresses(void)
{
    struct call_text *text = call_text_run_init(&run);

    call_text_put_address(text, 0);
    call_text_put_address(text, 0x1f);
    call_text_put_hex(text, 0);
    call_text_put_octal(text, 0);
    call_text_put_octal(text, 0644);
    call_text_put_octal(text, 022);
    call_text_put_octal(text, 0100644);
    CHECK_TEXT(run.buffer, "NULL0x1f00000644022"
                           "0100644");
}

static void ids_descriptors_and_devices(void)
{
    struct call_text *text = call_text_run_init(&run);

    call_text_put_id(text, UINT32_MAX);
    call_text_put_fd(text, 7);
    call_text_put_dirfd(text, AT_FDCWD);
    call_text_put_device(text, 0x8801);
    CHECK_TEXT(run.buffer, "-17AT_FDCWDmakedev(0x88, 0x1)");
}

static void bytes_are_escaped_as_short_as_can_be(void)
{
    struct call_text *text = call_text_run_init(&run);

    call_text_put_quoted(text, "a\"b\\\n\t\1\0012\177\377", 11, false);
    CHECK_TEXT(run.buffer, "\"a\\\"b\\\\\\n\\t\\1\\0012\\177\\377\"");
}

static void long_strings_are_cut(void)
{
    struct call_text *text = call_text_run_init(&run);
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";

    call_text_put_string(text, AT(letters));
    CHECK_TEXT(run.buffer, "\"abcdefghijklmnopqrstuvwxyzabcdef\"...");
    call_text_run_clear(&run);
    call_text_put_path(text, AT(letters));
    CHECK_EQUAL(run.out.used, sizeof(letters) - 1 + 2);
    call_text_run_clear(&run);
    run.options.string_bytes = 3;
    call_text_put_bytes(text, AT(letters), 3);
    call_text_put_bytes(text, AT(letters), 4);
    CHECK_TEXT(run.buffer, "\"abc\"\"abc\"...");
    call_text_run_clear(&run);
    call_text_put_random(text, AT(letters), 2);
    CHECK_TEXT(run.buffer, "\"\\x61\\x62\"");
}

static void what_cannot_be_read_is_an_address(void)
{
    struct call_text *text = call_text_run_init(&run);

    call_text_put_string(text, 0x10);
    call_text_put_path(text, 0);
    call_text_put_bytes(text, 0x20, 5);
    call_text_put_bytes(text, UINT64_MAX - 1, 5);
    CHECK_TEXT(run.buffer, "0x10NULL0x200xfffffffffffffffe");
}

static void put_byte(const struct call_text *text, const void *element)
{
    text_put_char(text->out, *(const char *)element);
}

static void arrays_end_where_they_should(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct call_text_array array = {AT("abcdef"), 3, 1, put_byte};

    call_text_put_array(text, &array);
    array.count = 0;
    call_text_put_array(text, &array);
    array.count = 6;
    run.options.string_bytes = 2;
    call_text_put_array(text, &array);
    array.address = 0;
    call_text_put_array(text, &array);
    CHECK_TEXT(run.buffer, "[a, b, c][][a, b, ...]NULL");
}

static const struct check_case cases[] = {
    CHECK_CASE(numbers_and_addresses),
    CHECK_CASE(ids_descriptors_and_devices),
    CHECK_CASE(bytes_are_escaped_as_short_as_can_be),
    CHECK_CASE(long_strings_are_cut),
    CHECK_CASE(what_cannot_be_read_is_an_address),
    CHECK_CASE(arrays_end_where_they_should),
};

CHECK_MAIN(cases)
