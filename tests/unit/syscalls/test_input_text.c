/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <errno.h>
#include <linux/input.h>

static struct call_text_run run;

static void commands_have_their_length_in_them(void)
{
    unsigned char keys[8] = {3};
    char name[16] = "mouse";

    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "ioctl", 6, 3, EVIOCGNAME(16), AT(name)), "ioctl(3, EVIOCGNAME(16), \"mouse\") = 6");
    CHECK_TEXT(CALL(&run, "ioctl", 8, 3, EVIOCGBIT(EV_KEY, 8), AT(keys)),
               "ioctl(3, EVIOCGBIT(EV_KEY, 8), [KEY_RESERVED KEY_ESC]) = 8");
    CHECK_TEXT(CALL(&run, "ioctl", -EBADF, 3, EVIOCGKEY(8), 0x1000),
               "ioctl(3, EVIOCGKEY(8), 0x1000) = -1 EBADF (Bad file descriptor)");
}

static void axes_have_names(void)
{
    struct input_absinfo axis = {.value = 5, .minimum = -1};

    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "ioctl", 0, 3, EVIOCGABS(ABS_X), AT(&axis)),
               "ioctl(3, EVIOCGABS(ABS_X), {value=5, minimum=-1, ...}) = 0");
}

static const struct check_case cases[] = {
    CHECK_CASE(commands_have_their_length_in_them),
    CHECK_CASE(axes_have_names),
};

CHECK_MAIN(cases)
