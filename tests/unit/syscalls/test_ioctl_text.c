/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <errno.h>
#include <sys/ioctl.h>

static struct call_text_run run;

static void commands_have_names_or_parts(void)
{
    struct winsize size = {24, 80, 0, 0};
    int number = 5;

    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "ioctl", 0, 1, TIOCGWINSZ, AT(&size)),
               "ioctl(1, TIOCGWINSZ, {ws_row=24, ws_col=80, ws_xpixel=0, ws_ypixel=0}) = 0");
    CHECK_TEXT(CALL(&run, "ioctl", 0, 1, FIONREAD, AT(&number)), "ioctl(1, FIONREAD, [5]) = 0");
    CHECK_TEXT(CALL(&run, "ioctl", 0, 1, FIOCLEX), "ioctl(1, FIOCLEX) = 0");
    CHECK_TEXT(CALL(&run, "ioctl", -ENOTTY, 1, 0x5401, 0x1000),
               "ioctl(1, TCGETS, 0x1000) = -1 ENOTTY (Inappropriate ioctl for device)");
    CHECK_TEXT(CALL(&run, "ioctl", 0, 1, 0xc0105877, 0x1000),
               "ioctl(1, _IOC(_IOC_READ|_IOC_WRITE, 0x58, 0x77, 0x10), 0x1000) = 0");
}

static void answers_are_known(void)
{
    CHECK_EQUAL(ioctl_text_is_answer(TIOCGWINSZ), 1);
    CHECK_EQUAL(ioctl_text_is_answer(TIOCSWINSZ), 0);
    CHECK_EQUAL(ioctl_text_is_alone(FIOCLEX), 1);
    CHECK_EQUAL(ioctl_text_is_alone(FIONREAD), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(commands_have_names_or_parts),
    CHECK_CASE(answers_are_known),
};

CHECK_MAIN(cases)
