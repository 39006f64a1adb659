/* SPDX-License-Identifier: MIT */
/*
 * What happens when an ASSERT fails: the text goes to descriptor 2 by one raw write, then a trap. Invariant: takes no
 * lock and no memory, so that it also works in the middle of the program's own malloc.
 */
#include "base/assert.h"

#include "base/raw_syscall.h"
#include "base/text_format.h"

#include <asm/unistd.h>

static assert_handler current_handler;

void assert_handler_set(assert_handler handler)
{
    current_handler = handler;
}

void assert_failed(const char *text, const char *file, int line)
{
    char buffer[512];
    struct text_writer message;

    if (current_handler != NULL) {
        current_handler(text, file, line);
        return;
    }
    text_init(&message, buffer, sizeof(buffer));
    text_format(&message, "gait: internal error: %s (%s:%d)\n", text, file, line);
    raw_syscall(__NR_write, 2, (long)buffer, (long)message.used, 0, 0, 0);
    __builtin_trap();
}
