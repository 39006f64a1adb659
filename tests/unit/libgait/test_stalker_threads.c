/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* time limit: 120 s */
/* Many threads in one engine: followed by themselves or from their first instruction, coming and going, forking. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "support/check.h"
#include "support/followed_call.h"
#include "support/workload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 64

static struct gait_stalker *stalker;
static struct gait_follow_options options;
static atomic_long failures, events_taken;

static int take_events(void *context, const struct gait_event *events, size_t count)
{
    uint32_t tid = (uint32_t)gettid();

    (void)context;
    for (size_t i = 0; i < count; i++)
        if (events[i].tid != tid)
            atomic_fetch_add(&failures, 1);
    atomic_fetch_add(&events_taken, (long)count);
    return 0;
}

static const struct gait_event_sink sink = {take_events, NULL};

static void require(bool condition)
{
    if (!condition)
        atomic_fetch_add(&failures, 1);
}

static void begin(uint32_t events)
{
    stalker = followed_call_stalker();
    options = followed_options();
    options.events = events;
    options.sink = &sink;
    options.buffer_bytes = 4096;
    atomic_store(&failures, 0);
    atomic_store(&events_taken, 0);
}

static void end(void)
{
    CHECK_EQUAL(atomic_load(&failures), 0);
    CHECK_EQUAL(followed_statistics(stalker).threads, 0);
    gait_stalker_destroy(stalker);
}

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

/* Work with calls, callbacks, the heap and vector registers, whose result is known. */
static __attribute__((noinline)) uint64_t sort_and_sum(uint32_t seed, size_t count)
{
    uint32_t *values = malloc(count * sizeof(*values));
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        values[i] = seed = seed * 1664525 + 1013904223;
    qsort(values, count, sizeof(*values), compare);
    for (size_t i = 0; i < count; i++)
        sum = sum * 31 + values[i];
    free(values);
    return sum;
}

static uint64_t expected_sum;

/* ---- threads that follow themselves ------------------------------------------------------------------------------ */

static void *work_followed(void *context)
{
    int failed = gait_stalker_follow_me(stalker, &options, NULL);

    (void)context;
    require(!failed);
    require(sort_and_sum(7, 500) == expected_sum);
    require(gait_stalker_is_following_me(stalker));
    require(gait_stalker_unfollow_me(stalker, NULL) == 0);
    require(sort_and_sum(7, 500) == expected_sum);
    return NULL;
}

/* It ends while it is followed. */
static void *work_and_exit_followed(void *context)
{
    int failed = gait_stalker_follow_me(stalker, &options, NULL);

    require(!failed);
    require(sort_and_sum(7, 500) == expected_sum);
    if (context != NULL)
        pthread_exit(context);
    return NULL;
}

static void run_threads(void *(*function)(void *), int rounds)
{
    pthread_t threads[THREADS];

    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, function, i % 2 == 0 ? NULL : &threads[i]) != 0)
                abort();
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
}

static void many_threads_follow_themselves_at_once(void)
{
    for (uint32_t events = 0; events <= 0x1f; events += 5) {
        begin(events);
        run_threads(work_followed, 2);
        CHECK_EQUAL(atomic_load(&events_taken) > 0, events != 0);
        end();
    }
}

static void threads_may_end_while_they_are_followed(void)
{
    begin(GAIT_EVENT_CALL | GAIT_EVENT_RET);
    run_threads(work_and_exit_followed, 4);
    CHECK(atomic_load(&events_taken) > 4 * THREADS * 500);
    end();
}

/* ---- threads of followed threads --------------------------------------------------------------------------------- */

static atomic_int followed_from_birth;

static void *work_as_child(void *context)
{
    (void)context;
    if (gait_stalker_is_following_me(stalker))
        atomic_fetch_add(&followed_from_birth, 1);
    require(sort_and_sum(7, 500) == expected_sum);
    return NULL;
}

static uint64_t make_children(uint64_t rounds, uint64_t b)
{
    (void)b;
    run_threads(work_as_child, (int)rounds);
    return 5;
}

static void threads_of_followed_threads_are_followed_if_wanted(void)
{
    for (int wanted = 0; wanted <= 1; wanted++) {
        begin(GAIT_EVENT_CALL);
        options.new_threads = wanted;
        atomic_store(&followed_from_birth, 0);
        CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)make_children, 3, 0), 5);
        CHECK_EQUAL(atomic_load(&followed_from_birth), wanted ? 3 * THREADS : 0);
        end();
    }
}

static void *unfollow_as_child(void *context)
{
    uint64_t sum = sort_and_sum(7, 100);

    (void)context;
    require(gait_stalker_unfollow_me(stalker, NULL) == 0);
    require(!gait_stalker_is_following_me(stalker));
    require(sort_and_sum(7, 100) == sum);
    return NULL;
}

static uint64_t make_children_that_leave(uint64_t rounds, uint64_t b)
{
    (void)b;
    run_threads(unfollow_as_child, (int)rounds);
    return 5;
}

static void threads_that_were_followed_from_birth_can_leave(void)
{
    begin(0);
    options.new_threads = true;
    CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)make_children_that_leave, 3, 0), 5);
    end();
}

/* A thread that a followed one made, but which is not followed, can be so later. */
static uint64_t make_children_that_follow(uint64_t rounds, uint64_t b)
{
    (void)b;
    run_threads(work_followed, (int)rounds);
    return 5;
}

static void unfollowed_threads_of_followed_threads_can_follow_themselves(void)
{
    begin(0);
    CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)make_children_that_follow, 2, 0), 5);
    end();
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static long resident_pages(void)
{
    long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%ld %ld", &total, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return resident;
}

static long mapping_count(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    long lines = 0;
    int character;

    while (file != NULL && (character = getc(file)) != EOF)
        lines += character == '\n';
    if (file != NULL)
        fclose(file);
    return lines;
}

static void code_does_not_grow_with_threads(void)
{
    struct gait_stalker_statistics before, after;

    begin(0);
    run_threads(work_followed, 2);
    before = followed_statistics(stalker);
    run_threads(work_followed, 10);
    after = followed_statistics(stalker);
    /* Chance decides which of the rare paths in the library threads get on. */
    CHECK(after.blocks < 2 * before.blocks);
    CHECK(after.code_bytes < 2 * before.code_bytes);
    CHECK(after.memory_bytes < 2 * before.memory_bytes);
    end();
}

/* Neither memory nor mappings pile up when thousands of threads were followed. */
static void nothing_is_left_of_threads_that_are_gone(void)
{
    long pages, mappings;

    begin(GAIT_EVENT_BLOCK);
    run_threads(work_and_exit_followed, 2);
    pages = resident_pages();
    mappings = mapping_count();
    run_threads(work_and_exit_followed, 20);
    CHECK(resident_pages() < pages + 4096);
    CHECK(mapping_count() < mappings + 4 * THREADS);
    end();
}

static void nothing_is_left_of_stalkers_that_are_gone(void)
{
    long pages = 0, mappings = 0;

    for (int round = 0; round < 40; round++) {
        begin(GAIT_EVENT_BLOCK);
        run_threads(work_followed, 1);
        end();
        if (round == 4) {
            pages = resident_pages();
            mappings = mapping_count();
        }
    }
    CHECK(resident_pages() < pages + 4096);
    CHECK(mapping_count() < mappings + 2 * THREADS);
}

/* ---- unfollowing in the middle of everything --------------------------------------------------------------------- */

static atomic_bool stop;

static void *follow_and_unfollow(void *context)
{
    unsigned seed = (unsigned)(uintptr_t)context;

    while (!atomic_load(&stop)) {
        int failed = gait_stalker_follow_me(stalker, &options, NULL);

        require(!failed);
        seed = seed * 1103515245 + 12345;
        require(sort_and_sum(7, 1 + seed / 65536 % 40) != 0);
        require(gait_stalker_unfollow_me(stalker, NULL) == 0);
    }
    return NULL;
}

static void threads_come_and_go_while_code_is_forgotten(void)
{
    pthread_t threads[8];

    begin(GAIT_EVENT_CALL);
    atomic_store(&stop, false);
    for (size_t i = 0; i < 8; i++)
        if (pthread_create(&threads[i], NULL, follow_and_unfollow, (void *)i) != 0)
            abort();
    for (int i = 0; i < 300; i++) {
        CHECK_EQUAL(gait_stalker_invalidate(stalker, (uintptr_t)sort_and_sum & ~4095ull, 8192, NULL), 0);
        if (i % 10 == 0)
            CHECK_EQUAL(gait_stalker_invalidate(stalker, 0, UINT64_MAX, NULL), 0);
        usleep(1000);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    end();
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* Ends with 0 if the child is followed, computes right and can be unfollowed. */
static __attribute__((noinline)) int child_status(void)
{
    int result;

    if (!gait_stalker_is_following_me(stalker))
        return 1;
    if (sort_and_sum(7, 500) != expected_sum)
        return 2;
    result = gait_stalker_unfollow_me(stalker, NULL);
    if (result != 0)
        return 3;
    if (gait_stalker_is_following_me(stalker) || followed_statistics(stalker).threads != 0)
        return 4;
    return sort_and_sum(7, 500) == expected_sum ? 0 : 5;
}

static __attribute__((noinline)) uint64_t fork_and_wait(uint64_t rounds, uint64_t b)
{
    uint64_t good = 0;

    (void)b;
    for (uint64_t i = 0; i < rounds; i++) {
        pid_t child = fork();
        int status = -1;

        if (child == 0) {
            alarm(20);
            _exit(child_status());
        }
        if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
            good++;
        else
            printf("child ended with status 0x%x\n", (unsigned)status);
    }
    return good;
}

static void a_child_process_is_followed_alone(void)
{
    for (uint32_t events = 0; events <= 0x1f; events += 31) {
        begin(events);
        CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)fork_and_wait, 10, 0), 10);
        end();
    }
}

/* Others translate, and hold the engine's locks, at the moment of the fork. */
static void a_child_process_is_not_held_up_by_threads_that_it_does_not_have(void)
{
    pthread_t threads[4];

    begin(0);
    atomic_store(&stop, false);
    for (size_t i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, follow_and_unfollow, (void *)i) != 0)
            abort();
    for (int i = 0; i < 10; i++) {
        CHECK_EQUAL(gait_stalker_invalidate(stalker, 0, UINT64_MAX, NULL), 0);
        CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)fork_and_wait, 5, 0), 5);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(many_threads_follow_themselves_at_once),
    CHECK_CASE(threads_may_end_while_they_are_followed),
    CHECK_CASE(threads_of_followed_threads_are_followed_if_wanted),
    CHECK_CASE(threads_that_were_followed_from_birth_can_leave),
    CHECK_CASE(unfollowed_threads_of_followed_threads_can_follow_themselves),
    CHECK_CASE(code_does_not_grow_with_threads),
    CHECK_CASE(nothing_is_left_of_threads_that_are_gone),
    CHECK_CASE(nothing_is_left_of_stalkers_that_are_gone),
    CHECK_CASE(threads_come_and_go_while_code_is_forgotten),
    CHECK_CASE(a_child_process_is_followed_alone),
    CHECK_CASE(a_child_process_is_not_held_up_by_threads_that_it_does_not_have),
};

int main(void)
{
    expected_sum = sort_and_sum(7, 500);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
