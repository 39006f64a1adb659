/* SPDX-License-Identifier: MIT */
/* A line is "running", "-1 sp pc" or "number argument... sp pc", all but the number hexadecimal. */
#include "process/thread_call.h"

#include "base/descriptor.h"
#include "base/raw_syscall.h"
#include "base/text_format.h"
#include "base/text_parse.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>

#define LINE_BYTES       256
#define WORDS_MAX        9
#define WORDS_OF_NO_CALL 3

static size_t word_length(const char *text, size_t length)
{
    size_t used = 0;

    while (used < length && text[used] != ' ' && text[used] != '\n')
        used++;
    return used;
}

/* Numbers, one after the other; -1 becomes all ones. How many; 0: something else is there. */
static unsigned parse_words(const char *line, size_t length, uint64_t words[WORDS_MAX])
{
    unsigned count = 0;

    while (length > 0 && *line != '\n') {
        size_t used = word_length(line, length);

        if (count == WORDS_MAX)
            return 0;
        if (used == 2 && line[0] == '-' && line[1] == '1')
            words[count] = UINT64_MAX;
        else if (text_parse_number(line, used, &words[count]) != 0)
            return 0;
        count++;
        used += used < length && line[used] == ' ';
        line += used;
        length -= used;
    }
    return count;
}

int thread_call_parse(const char *line, size_t length, struct thread_call *call_out)
{
    uint64_t words[WORDS_MAX];
    unsigned count;

    if (length > 0 && line[0] == 'r')
        return -EAGAIN;
    count = parse_words(line, length, words);
    if (count != WORDS_MAX && count != WORDS_OF_NO_CALL)
        return -EIO;
    *call_out = (struct thread_call){.number = (int64_t)words[0], .sp = words[count - 2], .pc = words[count - 1]};
    for (unsigned i = 0; i < 6 && count == WORDS_MAX; i++)
        call_out->arguments[i] = words[i + 1];
    return 0;
}

int thread_call_read(int tid, struct thread_call *call_out)
{
    char path[64], line[LINE_BYTES];
    struct text_writer text;
    long fd, got;

    text_init(&text, path, sizeof(path));
    text_put_string(&text, "/proc/self/task/");
    text_put_signed(&text, tid);
    text_put_string(&text, "/syscall");
    fd = descriptor_open(path, O_RDONLY);
    if (fd < 0)
        return -ESRCH;
    got = raw_syscall(__NR_read, fd, (long)line, sizeof(line), 0, 0, 0);
    (void)raw_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
    return got <= 0 ? -ESRCH : thread_call_parse(line, (size_t)got, call_out);
}
