/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/side_by_side.h"

#include "arch/arch.h"
#include "cli/screens/screen.h"
#include "gait/code_copy.h"
#include "support/check.h"

#include <stdlib.h>

/* Prints a copy of the code, which is understood at 0x123456789000, in the width. */
static char *printed(const uint8_t *code, size_t size, unsigned width)
{
    struct gait_code_copy_options options = {
        .size_bytes = sizeof(options), .placement = GAIT_PLACEMENT_FAR, .original_address = 0x123456789000};
    struct side_by_side sides = {
        .bytes = code, .size_bytes = size, .address = 0x123456789000, .map = &side_by_side_code_copy};
    struct gait_code_copy *copy = NULL;
    size_t output_size;
    char *output = NULL;
    struct screen screen = {.stream = open_memstream(&output, &output_size), .width = width};

    CHECK_EQUAL(gait_code_copy_create(&options, code, size, &copy, NULL), 0);
    sides.copy = gait_code_copy_entry(copy);
    sides.copy_bytes = gait_code_copy_size(copy);
    sides.total_bytes = gait_code_copy_total_size(copy);
    sides.context = copy;
    CHECK_EQUAL(side_by_side_print(&screen, &sides, NULL), 0);
    fclose(screen.stream);
    gait_code_copy_destroy(copy);
    return output;
}

static size_t count_lines(const char *text, const char *word)
{
    size_t count = 0;

    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        count += memmem(line, strcspn(line, "\n"), word, strlen(word)) != NULL;
    return count;
}

/* push rax; xchg [rip+0x100], eax; call +0x1000; ret */
static const uint8_t code[] = {0x50, 0x87, 0x05, 0x00, 0x01, 0x00, 0x00, 0xe8, 0x00, 0x10, 0x00, 0x00, 0xc3};

static void every_original_instruction_stands_once_beside_its_copy(void)
{
    char *text = printed(code, sizeof(code), 130);

    CHECK_EQUAL(count_lines(text, "123456789000  push rax"), 1);
    CHECK_EQUAL(count_lines(text, "123456789001  xchg"), 1);
    CHECK_EQUAL(count_lines(text, "123456789007  call"), 1);
    CHECK_EQUAL(count_lines(text, "12345678900c  ret"), 1);
    CHECK_EQUAL(count_lines(text, "ret"), 1);
    CHECK(count_lines(text, " * ") >= 3);
    /* The exchange, what is saved for it, and what is restored, all before the call. */
    CHECK(strstr(text, "pop") < strstr(text, "call"));
    free(text);
}

static void constants_are_shown_where_they_are_used(void)
{
    char *text = printed(code, sizeof(code), 200);

    CHECK_EQUAL(count_lines(text, "= 0x12345678a00c"), 1);
    free(text);
}

static void lines_keep_to_the_width(void)
{
    static const unsigned widths[] = {72, 80, 100, 131, 200};

    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        char *text = printed(code, sizeof(code), widths[i]);

        for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
            CHECK(strcspn(line, "\n") <= widths[i]);
            CHECK(line[strcspn(line, "\n") - 1] != ' ');
        }
        free(text);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(every_original_instruction_stands_once_beside_its_copy),
    CHECK_CASE(constants_are_shown_where_they_are_used),
    CHECK_CASE(lines_keep_to_the_width),
};

int main(void)
{
    if (arch_host() == NULL || strcmp(arch_host()->name, "x86_64") != 0)
        check_skip("this test knows x86-64 instructions");
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
