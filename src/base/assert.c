/* SPDX-License-Identifier: MIT */
/*
 * What happens when an ASSERT fails: the text goes to descriptor 2 by one raw write, then a trap. Invariant: takes no
 * lock and no memory, so that it also works in the middle of the program's own malloc.
 */
#include "base/assert.h"

#include "base/raw_syscall.h"

#include <asm/unistd.h>
#include <stddef.h>

static assert_handler current_handler;

void assert_handler_set(assert_handler handler)
{
    current_handler = handler;
}

static size_t append(char *buffer, size_t used, size_t capacity, const char *text)
{
    while (*text != '\0' && used < capacity)
        buffer[used++] = *text++;
    return used;
}

static size_t append_number(char *buffer, size_t used, size_t capacity, int number)
{
    char digits[12];
    size_t count = 0;

    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0 && used < capacity)
        buffer[used++] = digits[--count];
    return used;
}

void assert_failed(const char *text, const char *file, int line)
{
    char message[512];
    size_t used = 0;

    if (current_handler != NULL) {
        current_handler(text, file, line);
        return;
    }
    used = append(message, used, sizeof(message) - 1, "gait: internal error: ");
    used = append(message, used, sizeof(message) - 1, text);
    used = append(message, used, sizeof(message) - 1, " (");
    used = append(message, used, sizeof(message) - 1, file);
    used = append(message, used, sizeof(message) - 1, ":");
    used = append_number(message, used, sizeof(message) - 1, line);
    used = append(message, used, sizeof(message) - 1, ")");
    message[used++] = '\n';
    raw_syscall(__NR_write, 2, (long)message, (long)used, 0, 0, 0);
    __builtin_trap();
}
