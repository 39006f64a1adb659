/* SPDX-License-Identifier: MIT */
/* many_calls CALLS THREADS: makes about so many calls of some thirty functions, three deep, in so many threads. */
#include <pthread.h>
#include <stdlib.h>

#define KEPT        __attribute__((noinline, noclone, used))
#define THREADS_MAX 64

/* Of one step: itself, two in the middle, three leaves each. */
#define CALLS_A_STEP 9

static volatile unsigned sink;
static unsigned long steps;

typedef void called_function(unsigned i);

#define LEAF(n)                                                                                                        \
    static KEPT void leaf_##n(unsigned i)                                                                              \
    {                                                                                                                  \
        sink = i;                                                                                                      \
    }
LEAF(0)
LEAF(1) LEAF(2) LEAF(3) LEAF(4) LEAF(5) LEAF(6) LEAF(7) LEAF(8) LEAF(9) LEAF(10) LEAF(11) LEAF(12) LEAF(13) LEAF(14)
    LEAF(15)

        static called_function *const leaves[16] = {leaf_0,  leaf_1,  leaf_2,  leaf_3, leaf_4,  leaf_5,
                                                    leaf_6,  leaf_7,  leaf_8,  leaf_9, leaf_10, leaf_11,
                                                    leaf_12, leaf_13, leaf_14, leaf_15};

#define MIDDLE(n)                                                                                                      \
    static KEPT void middle_##n(unsigned i)                                                                            \
    {                                                                                                                  \
        leaves[(i * 7 + n) % 16](i);                                                                                   \
        leaves[(i * 5 + n) % 16](i);                                                                                   \
        leaves[(i >> 3) % 16](i);                                                                                      \
        sink = i;                                                                                                      \
    }
MIDDLE(0)
MIDDLE(1) MIDDLE(2) MIDDLE(3) MIDDLE(4) MIDDLE(5) MIDDLE(6) MIDDLE(7)

    static called_function *const middles[8] = {middle_0, middle_1, middle_2, middle_3,
                                                middle_4, middle_5, middle_6, middle_7};

static KEPT void step(unsigned i)
{
    middles[i * 2654435761u >> 29](i);
    middles[i * 2246822519u >> 29](i);
    sink = i;
}

static KEPT void *work(void *nothing)
{
    for (unsigned long i = 0; i < steps; i++)
        step((unsigned)i);
    return nothing;
}

int main(int argument_count, char **arguments)
{
    unsigned long calls = argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 1000000;
    unsigned long threads = argument_count > 2 ? strtoul(arguments[2], NULL, 10) : 2;
    pthread_t running[THREADS_MAX];

    if (threads == 0 || threads > THREADS_MAX)
        return 2;
    steps = calls / threads / CALLS_A_STEP;
    for (unsigned long i = 0; i < threads; i++)
        if (pthread_create(&running[i], NULL, work, NULL) != 0)
            return 1;
    for (unsigned long i = 0; i < threads; i++)
        pthread_join(running[i], NULL);
    return 0;
}
