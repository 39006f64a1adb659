/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#include "cli/command.h"

#include "arch/arch.h"
#include "gait/stalker.h"
#include "support/check.h"
#include "support/command_run.h"

extern const struct command command_dump_block;

static size_t count_lines(const char *text)
{
    size_t lines = 0;

    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* Is only looked at. */
__asm__(".text\n"
        ".globl dumped_function\n"
        ".type dumped_function, @function\n"
        "dumped_function: lea 0x1234(%rdi), %rax; xor %ecx, %ecx; add $0x77, %eax; ret\n"
        ".size dumped_function, . - dumped_function\n");

static size_t count(const char *text, const char *word)
{
    size_t times = 0;

    while ((text = strstr(text, word)) != NULL) {
        text++;
        times++;
    }
    return times;
}

static void original_and_translation_are_shown(void)
{
    struct command_run run = COMMAND_RUN(&command_dump_block, 100, "/proc/self/exe", "dumped_function");

    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.output, "dumped_function: block of 13 bytes at 0x") == run.output);
    /* On both sides what stays as it is; on one only what is translated. */
    CHECK_EQUAL(count(run.output, "lea rax, [rdi+0x1234]"), 2);
    CHECK_EQUAL(count(run.output, "add eax, 0x77"), 2);
    CHECK_EQUAL(count(run.output, "  ret"), 1);
    CHECK(strstr(run.output, " * ") > strstr(run.output, "  ret"));
    command_run_deinit(&run);
}

/* Records are written into the block, so that it has more to show. */
static void events_are_in_the_translation(void)
{
    struct command_run plain = COMMAND_RUN(&command_dump_block, 100, "/proc/self/exe", "dumped_function");
    struct command_run events =
        COMMAND_RUN(&command_dump_block, 100, "/proc/self/exe", "dumped_function", "--events", "block,call");
    struct command_run compile =
        COMMAND_RUN(&command_dump_block, 100, "/proc/self/exe", "dumped_function", "--events=compile");

    CHECK_EQUAL(events.status, COMMAND_DONE);
    CHECK(count_lines(events.output) > count_lines(plain.output));
    CHECK(strstr(events.output, "r11") != NULL);
    CHECK_EQUAL(compile.status, COMMAND_DONE);
    CHECK_EQUAL(count_lines(compile.output), count_lines(plain.output));
    command_run_deinit(&plain);
    command_run_deinit(&events);
    command_run_deinit(&compile);
}

static void wrong_arguments_are_told(void)
{
    struct command_run run = COMMAND_RUN(&command_dump_block, 80, "libc.so.6", "random", "--events", "call,jump");

    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    CHECK_TEXT(run.err.text, "cannot use '--events call,jump': its value is a list of call,ret,exec,block,compile; try "
                             "'gait help dump block'");
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_dump_block, 80, "libc.so.6", "random", "--far");
    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_dump_block, 80, "libc.so.6");
    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_dump_block, 80, "libc.so.6", "randm");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "rand") != NULL);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(original_and_translation_are_shown),
    CHECK_CASE(events_are_in_the_translation),
    CHECK_CASE(wrong_arguments_are_told),
};

int main(void)
{
    struct gait_stalker *stalker;

    if (gait_stalker_create(NULL, &stalker, NULL) != 0)
        check_skip("gait cannot follow threads on this CPU yet");
    gait_stalker_destroy(stalker);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
