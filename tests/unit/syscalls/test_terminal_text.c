/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <asm/termbits.h>

static struct call_text_run run;

static void settings_have_names(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct termios settings = {
        .c_iflag = ICRNL | IXON, .c_oflag = OPOST | ONLCR, .c_cflag = B38400 | CS8 | CREAD, .c_lflag = ISIG | ICANON};

    terminal_text_put(text, AT(&settings), sizeof(settings));
    CHECK_TEXT(run.buffer,
               "{c_iflag=ICRNL|IXON, c_oflag=NL0|CR0|TAB0|BS0|VT0|FF0|OPOST|ONLCR, c_cflag=B38400|CS8|CREAD, "
               "c_lflag=ISIG|ICANON, ...}");
    call_text_run_clear(&run);
    run.options.is_verbose = true;
    settings.c_cc[VINTR] = 3;
    terminal_text_put(text, AT(&settings), sizeof(settings));
    CHECK_EQUAL(strstr(run.buffer, ", c_line=N_TTY, c_cc=[[VINTR]=0x3, [VQUIT]=0, ") != NULL, 1);
    call_text_run_clear(&run);
    terminal_text_put(text, 0x10, sizeof(settings));
    CHECK_TEXT(run.buffer, "0x10");
}

static const struct check_case cases[] = {
    CHECK_CASE(settings_have_names),
};

CHECK_MAIN(cases)
