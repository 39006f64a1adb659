/* SPDX-License-Identifier: MIT */
/*
 * A fork server: each child runs the same code for another input, followed. What a child had to translate and link goes
 * to the parent through a pipe, and the parent does it, so that the next child need not: it finds all of it in memory.
 */
#include "gait/stalker.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* One of these for each thing that a child did. */
struct message {
    uint64_t from; /* the block that was translated, or that the branch is in */
    uint64_t to;   /* the block that the branch goes to; 0: there is none */
};

static const struct gait_follow_options options = {.size_bytes = sizeof(options), .events = GAIT_EVENT_CALL};

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* What each child does with its input. */
static void work(int input)
{
    int numbers[64];

    for (int i = 0; i < 64; i++)
        numbers[i] = i * input % 61;
    qsort(numbers, 64, sizeof(numbers[0]), compare);
}

/* The engine holds a lock: only write() is called here, once a message, which a pipe takes whole. */
static void send(const int *pipe_end, uint64_t from, uint64_t to)
{
    const struct message message = {from, to};

    if (write(*pipe_end, &message, sizeof(message)) != sizeof(message))
        _exit(1);
}

static void translated(void *context, uint64_t start, uint64_t end)
{
    (void)end;
    send(context, start, 0);
}

static void linked(void *context, uint64_t from_block, uint64_t to_block)
{
    send(context, from_block, to_block);
}

static void run_child(struct gait_stalker *stalker, int *pipe_end, int input)
{
    const struct gait_observer observer = {.translated = translated, .linked = linked, .context = pipe_end};

    gait_stalker_set_observer(stalker, &observer);
    if (gait_stalker_follow_me(stalker, &options, NULL) != 0)
        _exit(1);
    work(input);
    gait_stalker_unfollow_me(stalker, NULL);
    _exit(0);
}

/* Does what the child tells of. What cannot be done, a block of code that only the child had, it does itself again. */
static void learn(struct gait_stalker *stalker, int pipe_end, unsigned *blocks_out, unsigned *links_out)
{
    struct message message;

    *blocks_out = *links_out = 0;
    while (read(pipe_end, &message, sizeof(message)) == sizeof(message)) {
        if (message.to == 0) {
            ++*blocks_out;
            (void)gait_stalker_prefetch(stalker, &options, message.from, NULL);
        } else {
            ++*links_out;
            (void)gait_stalker_prefetch_link(stalker, &options, message.from, message.to, NULL);
        }
    }
}

int main(void)
{
    struct gait_stalker *stalker;
    unsigned first_blocks = 0, blocks = 0, links;
    bool is_right = true;

    if (gait_stalker_create(NULL, &stalker, NULL) != 0)
        return 1;
    for (int input = 1; input <= 4; input++) {
        int ends[2], status = -1;
        pid_t child;

        if (pipe(ends) != 0)
            return 1;
        child = fork();
        if (child == 0)
            run_child(stalker, &ends[1], input);
        close(ends[1]);
        learn(stalker, ends[0], &blocks, &links);
        close(ends[0]);
        is_right &= waitpid(child, &status, 0) == child && status == 0;
        printf("child %d translated %u blocks and made %u links\n", input, blocks, links);
        if (input == 1)
            first_blocks = blocks;
    }
    gait_stalker_destroy(stalker);
    return is_right && blocks < first_blocks / 4 ? 0 : 1;
}
