/* SPDX-License-Identifier: MIT */
#include "stalker/code_source.h"

#include "process/mapping_list.h"
#include "support/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static struct code_source source;

/* Pages with a hole before and behind them. */
static uint64_t map_pages(size_t count, int access)
{
    uint8_t *start = mmap(NULL, (count + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(start != MAP_FAILED);
    CHECK_EQUAL(mprotect(start + PAGE, count * PAGE, access), 0);
    return (uintptr_t)start + PAGE;
}

static void unmap_pages(uint64_t start, size_t count)
{
    munmap((void *)(uintptr_t)(start - PAGE), (count + 2) * PAGE);
}

static size_t bytes_at(uint64_t pc)
{
    return code_source_bytes(&source, app_pc_of(pc), NULL);
}

static void code_ends_where_its_mapping_does(void)
{
    uint64_t code = map_pages(2, PROT_READ | PROT_EXEC);

    code_source_init(&source);
    CHECK_EQUAL(bytes_at(code), 2 * PAGE);
    CHECK_EQUAL(bytes_at(code + 1), 2 * PAGE - 1);
    CHECK_EQUAL(bytes_at(code + 2 * PAGE - 1), 1);
    CHECK_EQUAL(bytes_at(code + 2 * PAGE), 0);
    CHECK_EQUAL(bytes_at(code - 1), 0);
    code_source_deinit(&source);
    unmap_pages(code, 2);
}

static void limit_descriptors(rlim_t soft, rlim_t hard)
{
    const struct rlimit limit = {soft, hard};

    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void who_may_have_no_descriptor_has_one_for_a_moment(void)
{
    uint64_t code = map_pages(1, PROT_READ | PROT_EXEC);
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    code_source_init(&source);
    limit_descriptors(0, limit.rlim_max);
    CHECK_EQUAL(bytes_at(code), PAGE);
    CHECK(!code_source_is_blind(&source));
    limit_descriptors(limit.rlim_cur, limit.rlim_max);
    CHECK_EQUAL(bytes_at(0), 0);
    CHECK(!code_source_is_blind(&source));
    code_source_deinit(&source);
    unmap_pages(code, 1);
}

/* In a child: such a limit stays. */
static void who_cannot_look_says_so(void)
{
    uint64_t code = map_pages(1, PROT_READ | PROT_EXEC);
    pid_t child;
    int status;

    code_source_init(&source);
    child = fork();
    if (child == 0) {
        limit_descriptors(0, 0);
        /* Who may raise any limit is not kept from it. */
        if (bytes_at(code) == PAGE)
            _exit(0);
        _exit(code_source_is_blind(&source) ? 0 : 1);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    code_source_deinit(&source);
    unmap_pages(code, 1);
}

static void code_that_can_only_be_executed_is_told_from_none(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uint64_t start = 0;
    char line[512];

    code_source_init(&source);
    CHECK_EQUAL(bytes_at(0), 0);
    CHECK(!code_source_is_unreadable(&source, app_pc_of(0)));
    CHECK(!code_source_is_unreadable(&source, app_pc_of((uintptr_t)&munmap)));
    /* The kernel's page of old system calls, if it has one, is like that. */
    while (fgets(line, sizeof(line), maps) != NULL)
        if (strstr(line, " --xp ") != NULL)
            start = strtoul(line, NULL, 16);
    fclose(maps);
    if (start != 0)
        CHECK(code_source_is_unreadable(&source, app_pc_of(start)));
    code_source_deinit(&source);
}

static void code_that_was_asked_for_to_be_written_is_known(void)
{
    uint64_t code = map_pages(2, PROT_READ | PROT_EXEC);

    code_source_init(&source);
    CHECK_EQUAL(bytes_at(code), 2 * PAGE);
    CHECK(code_source_is_unwritten(&source, app_pc_of(code)));
    /* Data is of no interest. */
    code_source_note_writing(&source, (uintptr_t)&source, (uintptr_t)&source + 1);
    CHECK(code_source_is_unwritten(&source, app_pc_of((uintptr_t)&source)));
    code_source_note_writing(&source, code + PAGE, code + 2 * PAGE);
    code_source_note_writing(&source, code + PAGE, code + 2 * PAGE);
    CHECK(code_source_is_unwritten(&source, app_pc_of(code + PAGE - 1)));
    CHECK(!code_source_is_unwritten(&source, app_pc_of(code + PAGE)));
    code_source_forget(&source, code, code + 2 * PAGE, true);
    CHECK(!code_source_is_unwritten(&source, app_pc_of(code + PAGE)));
    code_source_deinit(&source);
    unmap_pages(code, 2);
}

static void this_program_is_code(void)
{
    code_source_init(&source);
    CHECK(bytes_at((uintptr_t)&this_program_is_code) > 16);
    CHECK(bytes_at((uintptr_t)&munmap) > 0);
    CHECK_EQUAL(bytes_at((uintptr_t)&source), 0);
    CHECK_EQUAL(bytes_at(0), 0);
    CHECK_EQUAL(bytes_at(UINT64_MAX), 0);
    code_source_deinit(&source);
}

static void memory_must_be_readable_and_executable(void)
{
    static const int accesses[] = {PROT_NONE, PROT_READ, PROT_EXEC, PROT_READ | PROT_WRITE};

    code_source_init(&source);
    for (size_t i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
        uint64_t place = map_pages(1, accesses[i]);

        CHECK_EQUAL(bytes_at(place), 0);
        unmap_pages(place, 1);
    }
    code_source_deinit(&source);
}

static void mappings_that_touch_are_one(void)
{
    uint64_t code = map_pages(3, PROT_READ | PROT_EXEC);

    /* A page in the middle with another access is another mapping. */
    CHECK_EQUAL(mprotect((void *)(uintptr_t)(code + PAGE), PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    code_source_init(&source);
    CHECK_EQUAL(bytes_at(code + PAGE - 7), PAGE + 7);
    CHECK_EQUAL(bytes_at(code + 2 * PAGE - 7), PAGE + 7);
    code_source_deinit(&source);
    unmap_pages(code, 3);
}

static bool is_changeable_at(uint64_t pc)
{
    bool is_changeable = false;

    CHECK(code_source_bytes(&source, app_pc_of(pc), &is_changeable) > 0);
    return is_changeable;
}

static void code_is_changeable_where_it_can_be_written_or_is_shared(void)
{
    uint64_t code = map_pages(3, PROT_READ | PROT_EXEC);
    void *shared = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    CHECK(shared != MAP_FAILED);
    CHECK_EQUAL(mprotect((void *)(uintptr_t)(code + 2 * PAGE), PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    code_source_init(&source);
    CHECK(!is_changeable_at(code));
    CHECK(is_changeable_at(code + 2 * PAGE - 1));
    CHECK(is_changeable_at(code + 2 * PAGE));
    CHECK(is_changeable_at((uintptr_t)shared));
    code_source_deinit(&source);
    munmap(shared, PAGE);
    unmap_pages(code, 3);
}

static void code_that_came_later_is_found(void)
{
    uint64_t code;

    code_source_init(&source);
    CHECK_EQUAL(bytes_at(0x1000), 0);
    code = map_pages(1, PROT_READ | PROT_EXEC);
    CHECK_EQUAL(bytes_at(code), PAGE);
    unmap_pages(code, 1);
    code_source_deinit(&source);
}

/* Though for a moment it is believed that there is none. */
static void code_that_nobody_told_of_is_found_before_long(void)
{
    uint64_t code = map_pages(1, PROT_READ);

    code_source_init(&source);
    CHECK_EQUAL(bytes_at(code), 0);
    CHECK_EQUAL(mprotect((void *)(uintptr_t)code, PAGE, PROT_READ | PROT_EXEC), 0);
    while (bytes_at(code) != PAGE)
        ;
    unmap_pages(code, 1);
    code_source_deinit(&source);
}

static void what_is_forgotten_is_looked_at_again(void)
{
    uint64_t code = map_pages(3, PROT_READ | PROT_EXEC);

    code_source_init(&source);
    CHECK_EQUAL(bytes_at(code), 3 * PAGE);
    CHECK_EQUAL(mprotect((void *)(uintptr_t)(code + PAGE), PAGE, PROT_READ), 0);
    code_source_forget(&source, code + PAGE, code + 2 * PAGE, true);
    CHECK_EQUAL(bytes_at(code), PAGE);
    CHECK_EQUAL(bytes_at(code + PAGE), 0);
    CHECK_EQUAL(bytes_at(code + 2 * PAGE), PAGE);
    CHECK_EQUAL(mprotect((void *)(uintptr_t)(code + PAGE), PAGE, PROT_READ | PROT_EXEC), 0);
    code_source_forget(&source, code + PAGE, code + 2 * PAGE, true);
    CHECK_EQUAL(bytes_at(code + PAGE), 2 * PAGE);
    unmap_pages(code, 3);
    code_source_forget(&source, code, code + 3 * PAGE, true);
    CHECK_EQUAL(bytes_at(code), 0);
    CHECK_EQUAL(bytes_at(code + 2 * PAGE), 0);
    code_source_deinit(&source);
}

static void code_may_go_on_where_it_ended(void)
{
    uint64_t code = map_pages(2, PROT_READ | PROT_EXEC);

    CHECK_EQUAL(mprotect((void *)(uintptr_t)(code + PAGE), PAGE, PROT_NONE), 0);
    code_source_init(&source);
    CHECK_EQUAL(bytes_at(code + PAGE - 3), 3);
    CHECK_EQUAL(mprotect((void *)(uintptr_t)(code + PAGE), PAGE, PROT_READ | PROT_EXEC), 0);
    code_source_forget(&source, code + PAGE, code + 2 * PAGE, true);
    CHECK_EQUAL(bytes_at(code + PAGE - 3), PAGE + 3);
    code_source_deinit(&source);
    unmap_pages(code, 2);
}

/* As where the data of a file are mapped behind its code: that need not be read again. */
static void code_before_what_is_none_is_not_forgotten(void)
{
    uint64_t code = map_pages(2, PROT_READ | PROT_EXEC);

    code_source_init(&source);
    CHECK_EQUAL(bytes_at(code), 2 * PAGE);
    /* Nobody tells: who does not look finds what it knew. */
    CHECK_EQUAL(mprotect((void *)(uintptr_t)code, 2 * PAGE, PROT_READ), 0);
    code_source_forget(&source, code + PAGE, code + 2 * PAGE, false);
    CHECK_EQUAL(bytes_at(code), PAGE);
    CHECK_EQUAL(bytes_at(code + PAGE), 0);
    code_source_deinit(&source);
    unmap_pages(code, 2);
}

/* Where the kernel makes code of all that can be read, nobody says so. */
static void an_instruction_is_looked_for_where_it_goes_on(void)
{
    uint64_t code = map_pages(2, PROT_READ | PROT_EXEC);

    CHECK_EQUAL(mprotect((void *)(uintptr_t)(code + PAGE), PAGE, PROT_NONE), 0);
    code_source_init(&source);
    CHECK_EQUAL(bytes_at(code), PAGE);
    CHECK_EQUAL(mprotect((void *)(uintptr_t)(code + PAGE), PAGE, PROT_READ | PROT_EXEC), 0);
    code_source_forget(&source, code + PAGE, code + 2 * PAGE, false);
    CHECK_EQUAL(bytes_at(code + PAGE - 3), PAGE + 3);
    code_source_deinit(&source);
    unmap_pages(code, 2);
}

static void a_range_that_is_none_does_no_harm(void)
{
    uint64_t code = map_pages(1, PROT_READ | PROT_EXEC);

    code_source_init(&source);
    CHECK_EQUAL(bytes_at(code), PAGE);
    code_source_forget(&source, code, code, true);
    CHECK_EQUAL(bytes_at(code), PAGE);
    code_source_forget(&source, code + PAGE, code, true);
    CHECK_EQUAL(bytes_at(code), PAGE);
    code_source_deinit(&source);
    unmap_pages(code, 1);
}

static bool has_main_thread(void)
{
    int fd = open("/proc/self/maps", O_RDONLY);
    char byte;
    bool has = fd >= 0 && read(fd, &byte, 1) == 1;

    close(fd);
    return has;
}

static void *look_without_a_main_thread(void *argument)
{
    while (has_main_thread())
        sched_yield();
    code_source_init(&source);
    _exit(bytes_at((uintptr_t)&look_without_a_main_thread) > 0 ? 0 : 1);
    return argument;
}

/* The kernel has no mappings to show for a main thread that ended before the others. */
static void code_is_found_without_a_main_thread(void)
{
    pthread_t other;
    int status = -1;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        if (pthread_create(&other, NULL, look_without_a_main_thread, NULL) != 0)
            _exit(2);
        syscall(SYS_exit, 0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static void learn(uint64_t start, size_t count, int access, bool is_shared)
{
    const struct mapping mapping = {
        .start = start,
        .end = start + count * PAGE,
        .is_readable = access & PROT_READ,
        .is_writable = access & PROT_WRITE,
        .is_executable = access & PROT_EXEC,
        .is_shared = is_shared,
    };

    code_source_learn(&source, &mapping);
}

/* Of addresses where nothing is: who looks by himself finds that. */
static void what_is_learnt_is_not_looked_for(void)
{
    const uint64_t nowhere = 0x123000;
    bool is_changeable;

    code_source_init(&source);
    learn(nowhere, 2, PROT_READ | PROT_EXEC, false);
    learn(nowhere + 2 * PAGE, 1, PROT_READ, false);
    CHECK_EQUAL(code_source_bytes(&source, app_pc_of(nowhere + 1), &is_changeable), 2 * PAGE - 1);
    CHECK(!is_changeable);
    /* It was changed since. */
    learn(nowhere, 1, PROT_READ, false);
    learn(nowhere + PAGE, 1, PROT_READ | PROT_WRITE | PROT_EXEC, false);
    learn(nowhere + 2 * PAGE, 1, PROT_READ | PROT_EXEC, true);
    CHECK_EQUAL(code_source_bytes(&source, app_pc_of(nowhere + PAGE + 8), &is_changeable), 2 * PAGE - 8);
    CHECK(is_changeable);
    CHECK_EQUAL(code_source_bytes(&source, app_pc_of(nowhere + 2 * PAGE), &is_changeable), PAGE);
    CHECK(is_changeable);
    /* What is not known makes it look, and find out. */
    CHECK_EQUAL(bytes_at(nowhere), 0);
    CHECK_EQUAL(bytes_at(nowhere + PAGE), 0);
    code_source_deinit(&source);
}

static void *look_and_forget(void *argument)
{
    uint64_t code = (uintptr_t)&look_and_forget;

    for (int i = 0; i < 200; i++) {
        if (bytes_at(code) == 0)
            return argument;
        code_source_forget(&source, code & ~(uint64_t)(PAGE - 1), (code & ~(uint64_t)(PAGE - 1)) + PAGE, true);
    }
    return NULL;
}

static void threads_may_look_at_once(void)
{
    pthread_t threads[3];

    code_source_init(&source);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, look_and_forget, &source), 0);
    for (int i = 0; i < 3; i++) {
        void *failed = NULL;

        pthread_join(threads[i], &failed);
        CHECK(failed == NULL);
    }
    code_source_deinit(&source);
}

static const struct check_case cases[] = {
    CHECK_CASE(code_ends_where_its_mapping_does),
    CHECK_CASE(who_may_have_no_descriptor_has_one_for_a_moment),
    CHECK_CASE(who_cannot_look_says_so),
    CHECK_CASE(this_program_is_code),
    CHECK_CASE(memory_must_be_readable_and_executable),
    CHECK_CASE(mappings_that_touch_are_one),
    CHECK_CASE(code_is_changeable_where_it_can_be_written_or_is_shared),
    CHECK_CASE(code_that_came_later_is_found),
    CHECK_CASE(code_that_nobody_told_of_is_found_before_long),
    CHECK_CASE(what_is_forgotten_is_looked_at_again),
    CHECK_CASE(code_may_go_on_where_it_ended),
    CHECK_CASE(code_before_what_is_none_is_not_forgotten),
    CHECK_CASE(an_instruction_is_looked_for_where_it_goes_on),
    CHECK_CASE(a_range_that_is_none_does_no_harm),
    CHECK_CASE(code_is_found_without_a_main_thread),
    CHECK_CASE(threads_may_look_at_once),
    CHECK_CASE(what_is_learnt_is_not_looked_for),
    CHECK_CASE(code_that_can_only_be_executed_is_told_from_none),
    CHECK_CASE(code_that_was_asked_for_to_be_written_is_known),
};

CHECK_MAIN(cases)
