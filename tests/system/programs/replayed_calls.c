/* SPDX-License-Identifier: MIT */
/* Calls whose replay a person can foretell: nested, one after the other, recursive, left by a long jump, in a thread.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static jmp_buf way_out;
static volatile int sink;

APART int count_words(const char *text)
{
    int count = 1;

    for (const char *place = text; *place != '\0'; place++)
        count += *place == ' ';
    sink = count;
    return count;
}

APART int parse_line(const char *line, int number)
{
    int words;

    sink = number;
    if (line[0] == '#')
        return -1;
    words = count_words(line);
    sink = words;
    return words;
}

APART void give_up(int reason)
{
    sink = reason;
    /* It takes longer than anything else does, so that it comes first wherever that counts. */
    usleep(100000);
    longjmp(way_out, reason);
}

APART int parse_file(const char *name)
{
    static const char *const lines[] = {"one two three", "# none", "four five"};
    int words = 0;

    sink = getenv("REPLAYED") != NULL && name[0] != '\0';
    for (int i = 0; i < 3; i++)
        words += parse_line(lines[i], i + 1);
    sink = words;
    if (words == 4)
        give_up(7);
    return words;
}

APART int climb(int height)
{
    int result = height <= 1 ? 1 : climb(height - 1) + height;

    sink = result;
    return result;
}

APART void *work(void *argument)
{
    sink = count_words("six seven");
    sink = *(const int *)argument;
    return argument;
}

int main(void)
{
    pthread_t thread;
    int number = 3;

    sink = climb(3);
    if (setjmp(way_out) == 0)
        sink = parse_file("words.txt");
    if (pthread_create(&thread, NULL, work, &number) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    return 0;
}
