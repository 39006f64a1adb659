/* SPDX-License-Identifier: MIT */
/*
 * Code is patched and unpatched while threads run it: all of it or nothing, and nobody gets lost. Here patches lead
 * straight to their trampolines, so that the program must not notice at all.
 * configurations: debug-*
 * time limit: 180 s
 */
#define _GNU_SOURCE
#include "hook/patch_transaction.h"

#include "base/code_writer.h"
#include "hook/live_plans.h"
#include "process/forced_memory.h"
#include "process/near_memory.h"
#include "support/check.h"
#include "support/libc_hammer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS     16
#define PATCHES_MAX 8192

static struct forced_memory memory;
static struct near_memory code;
static struct live_plans plans;
static struct patch_environment environment;

static void begin(void)
{
    CHECK_EQUAL(forced_memory_init(&memory), 0);
    near_memory_init(&code, CODE_VIEW_AUTO, 0);
    live_plans_init(&plans);
    environment = (struct patch_environment){.memory = &memory, .code = &code};
}

static void end(void)
{
    live_plans_deinit(&plans);
    near_memory_deinit(&code);
    forced_memory_deinit(&memory);
}

struct site {
    struct patch patch;
    struct near_piece piece;
};

/* The trampoline of a patch that is prepared. */
static int make_trampoline(struct site *site)
{
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    struct near_chunk *chunk;
    int result = patch_read_displaced(&site->patch, &memory, displaced);

    if (result == 0)
        result = near_memory_begin(&code, site->patch.plan.patch_at, TRAMPOLINE_BYTES_MAX, &chunk);
    if (result != 0)
        return result;
    result = trampoline_write(&chunk->writer, &site->patch.plan, displaced, &site->patch.trampoline);
    if (result != 0)
        near_memory_cancel(chunk);
    return result != 0 ? result : near_memory_end(chunk, &site->piece);
}

static int make_site(struct site *site, const struct hook_plan *plan)
{
    int result = patch_prepare(&site->patch, plan, &memory);

    return result != 0 ? result : make_trampoline(site);
}

/* ---- one function ------------------------------------------------------------------------------------------------ */

__asm__("        .text\n"
        "        .p2align 4\n"
        "        .globl  patched_sum\n"
        "        .type   patched_sum, @function\n"
        "patched_sum:\n"
        "        leaq    (%rdi, %rsi), %rax\n"
        "        nop\n"
        "        addq    $1, %rax\n"
        "        ret\n"
        "        .size   patched_sum, . - patched_sum\n"
        "        .p2align 4\n"
        "        .globl  patched_wait\n"
        "        .type   patched_wait, @function\n"
        "patched_wait:\n" /* spins in the bytes that a patch overwrites, so all of it is displaced */
        "        lock incq (%rsi)\n"
        "1:\n"
        "        cmpl    $0, (%rdi)\n"
        "        je      1b\n"
        "        movl    $1, %eax\n"
        "        ret\n"
        "        .size   patched_wait, . - patched_wait\n");

long patched_sum(long first, long second);
int patched_wait(_Atomic int *go, _Atomic long *arrived);

static void patch_one(struct site *site, uint64_t address)
{
    struct hook_plan plan;

    CHECK_EQUAL(live_plans_at(&plans, address, &plan), 0);
    CHECK_EQUAL(make_site(site, &plan), 0);
    CHECK_EQUAL(near_memory_commit(&code), 0);
}

static int install(struct site *site)
{
    struct patch_transaction transaction;
    int result;

    patch_transaction_init(&transaction);
    result = patch_transaction_install(&transaction, &site->patch, site->patch.trampoline.start);
    if (result == 0)
        result = patch_transaction_commit(&transaction, &environment);
    patch_transaction_deinit(&transaction);
    return result;
}

static int take_away(struct site *site)
{
    struct patch_transaction transaction;
    int result;

    patch_transaction_init(&transaction);
    result = patch_transaction_remove(&transaction, &site->patch);
    if (result == 0)
        result = patch_transaction_commit(&transaction, &environment);
    patch_transaction_deinit(&transaction);
    return result;
}

static void a_patched_function_does_what_it_did(void)
{
    uint8_t before[16], after[16];
    struct site site;

    begin();
    memcpy(before, (void *)patched_sum, sizeof(before));
    patch_one(&site, (uintptr_t)patched_sum);
    CHECK_EQUAL(site.patch.plan.method, HOOK_JUMP);
    CHECK_EQUAL(install(&site), 0);
    CHECK_EQUAL(((uint8_t *)patched_sum)[0], 0xe9);
    CHECK_EQUAL(patched_sum(40, 1), 42);
    CHECK_EQUAL(install(&site), -EINVAL);
    CHECK_EQUAL(take_away(&site), 0);
    CHECK_EQUAL(take_away(&site), -EINVAL);
    memcpy(after, (void *)patched_sum, sizeof(after));
    CHECK(memcmp(before, after, sizeof(before)) == 0);
    CHECK_EQUAL(patched_sum(40, 1), 42);
    end();
}

static void something_else_in_the_place_is_left_alone(void)
{
    uint8_t byte = 0x90, original = *(uint8_t *)patched_sum;
    struct site site;

    begin();
    patch_one(&site, (uintptr_t)patched_sum);
    CHECK_EQUAL(forced_memory_write(&memory, (uintptr_t)patched_sum, &byte, 1), 0);
    CHECK_EQUAL(install(&site), -ESTALE);
    CHECK(!site.patch.is_in_place);
    CHECK_EQUAL(*(uint8_t *)patched_sum, 0x90);
    CHECK_EQUAL(forced_memory_write(&memory, (uintptr_t)patched_sum, &original, 1), 0);
    CHECK_EQUAL(install(&site), 0);
    CHECK_EQUAL(take_away(&site), 0);
    end();
}

static void a_place_that_is_gone_undoes_everything(void)
{
    struct patch_transaction transaction;
    uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct site kept, gone;
    int result;

    begin();
    memcpy(page, (void *)patched_sum, 16);
    patch_one(&kept, (uintptr_t)patched_sum);
    patch_one(&gone, (uintptr_t)page);
    patch_transaction_init(&transaction);
    CHECK_EQUAL(patch_transaction_install(&transaction, &kept.patch, kept.patch.trampoline.start), 0);
    CHECK_EQUAL(patch_transaction_install(&transaction, &gone.patch, gone.patch.trampoline.start), 0);
    munmap(page, 4096);
    result = patch_transaction_commit(&transaction, &environment);
    CHECK(result == -EFAULT || result == -ESTALE); /* somebody else may have got the page by now */
    CHECK(!kept.patch.is_in_place);
    CHECK(((uint8_t *)patched_sum)[0] != 0xe9);
    CHECK_EQUAL(patched_sum(40, 1), 42);
    patch_transaction_deinit(&transaction);
    end();
}

static void two_patches_of_the_same_bytes_are_refused(void)
{
    struct patch_transaction transaction;
    struct site first, second;

    begin();
    patch_one(&first, (uintptr_t)patched_sum);
    patch_one(&second, (uintptr_t)patched_sum);
    patch_transaction_init(&transaction);
    CHECK_EQUAL(patch_transaction_install(&transaction, &first.patch, first.patch.trampoline.start), 0);
    CHECK_EQUAL(patch_transaction_install(&transaction, &second.patch, second.patch.trampoline.start), 0);
    CHECK_EQUAL(patch_transaction_commit(&transaction, &environment), -EEXIST);
    CHECK_EQUAL(patched_sum(40, 1), 42);
    patch_transaction_deinit(&transaction);
    end();
}

/* ---- threads in the middle of it --------------------------------------------------------------------------------- */

static _Atomic int go;
static _Atomic long arrived;

static void *run_patched_wait(void *context)
{
    return (void *)(intptr_t)(patched_wait(&go, &arrived) + (context != NULL));
}

static void threads_in_displaced_instructions_go_on_in_the_copy(void)
{
    static struct site rounds_sites[20];
    pthread_t threads[THREADS];
    void *result;

    begin();
    for (int round = 0; round < 20; round++) {
        struct site *site = &rounds_sites[round];

        atomic_store(&go, 0);
        atomic_store(&arrived, 0);
        for (int i = 0; i < THREADS; i++)
            CHECK_EQUAL(pthread_create(&threads[i], NULL, run_patched_wait, NULL), 0);
        patch_one(site, (uintptr_t)patched_wait);
        CHECK_EQUAL(install(site), 0);
        while (atomic_load(&arrived) < THREADS)
            sched_yield();
        CHECK_EQUAL(take_away(site), 0);
        atomic_store(&go, 1);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], &result);
            CHECK_EQUAL((intptr_t)result, 1);
        }
    }
    end();
}

/* The handler returns into the displaced instructions. */
static _Atomic int handlers_running, handlers_may_end;

static void wait_in_handler(int number)
{
    (void)number;
    atomic_fetch_add(&handlers_running, 1);
    while (!atomic_load(&handlers_may_end))
        usleep(100);
}

static void *run_on_another_signal_stack(void *context)
{
    static char stacks[THREADS][65536];
    stack_t stack = {.ss_sp = stacks[(intptr_t)context], .ss_size = sizeof(stacks[0])};

    sigaltstack(&stack, NULL);
    return run_patched_wait(NULL);
}

static void signal_handlers_return_to_the_copy(int flags)
{
    struct sigaction action = {.sa_handler = wait_in_handler, .sa_flags = flags}, before;
    pthread_t threads[THREADS];
    struct site site;
    void *result;

    begin();
    sigaction(SIGUSR1, &action, &before);
    atomic_store(&go, 0);
    atomic_store(&arrived, 0);
    atomic_store(&handlers_running, 0);
    atomic_store(&handlers_may_end, 0);
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, run_on_another_signal_stack, (void *)i), 0);
    while (atomic_load(&arrived) < THREADS)
        sched_yield();
    for (int i = 0; i < THREADS; i++)
        pthread_kill(threads[i], SIGUSR1);
    while (atomic_load(&handlers_running) < THREADS)
        sched_yield();
    patch_one(&site, (uintptr_t)patched_wait);
    CHECK(site.patch.plan.displaced_end - site.patch.plan.patch_at > 10);
    CHECK_EQUAL(install(&site), 0);
    atomic_store(&handlers_may_end, 1);
    usleep(20000);
    atomic_store(&go, 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        CHECK_EQUAL((intptr_t)result, 1);
    }
    CHECK_EQUAL(take_away(&site), 0);
    sigaction(SIGUSR1, &before, NULL);
    end();
}

static void signal_handlers_return_to_the_copy_on_their_stack(void)
{
    signal_handlers_return_to_the_copy(0);
}

static void signal_handlers_return_to_the_copy_from_another_stack(void)
{
    signal_handlers_return_to_the_copy(SA_ONSTACK);
}

/* ---- all of libc ------------------------------------------------------------------------------------------------- */

static struct site *sites;
static size_t site_count, planned_count, method_counts[HOOK_IMPOSSIBLE + 1];

static bool take_function(void *context, const struct elf_function *function, const struct hook_plan *plan)
{
    (void)context;
    (void)function;
    planned_count++;
    method_counts[plan->method]++;
    if (plan->method >= HOOK_TRAP || site_count == PATCHES_MAX)
        return false;
    if (make_site(&sites[site_count], plan) != 0)
        return false;
    site_count++;
    return true;
}

static int change_all(bool is_install)
{
    struct patch_transaction transaction;
    int result = 0;

    patch_transaction_init(&transaction);
    for (size_t i = 0; i < site_count && result == 0; i++)
        result = is_install ? patch_transaction_install(&transaction, &sites[i].patch, sites[i].patch.trampoline.start)
                            : patch_transaction_remove(&transaction, &sites[i].patch);
    if (result == 0)
        result = patch_transaction_commit(&transaction, &environment);
    patch_transaction_deinit(&transaction);
    return result;
}

/* TIMES in the environment: how often, else for some seconds. */
static void all_of_libc_is_patched_while_threads_hammer_it(void)
{
    const char *times_text = getenv("TIMES");
    long times = times_text == NULL ? 100000 : atol(times_text), done = 0;
    int64_t until = times_text == NULL ? libc_hammer_now_ns() + 5000000000 : INT64_MAX, worst = 0;

    begin();
    sites = mmap(NULL, PATCHES_MAX * sizeof(*sites), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_EQUAL(live_plans_module(&plans, libc_hammer_address(), take_function, NULL), 0);
    CHECK_EQUAL(near_memory_commit(&code), 0);
    CHECK(site_count > 1000);
    libc_hammer_start();
    for (; done < times && libc_hammer_now_ns() < until; done++) {
        int64_t start = libc_hammer_now_ns();

        CHECK_EQUAL(change_all(true), 0);
        worst = libc_hammer_now_ns() - start > worst ? libc_hammer_now_ns() - start : worst;
        usleep(500);
        CHECK_EQUAL(change_all(false), 0);
        usleep(500);
    }
    CHECK_EQUAL(libc_hammer_stop(), 0);
    printf(
        "%zu functions: %zu jumps, %zu into padding, %zu hops, %zu traps, %zu impossible; patched %ld times, at most "
        "%lld us; %ld rounds\n",
        planned_count, method_counts[0], method_counts[1], method_counts[2], method_counts[3], method_counts[4], done,
        (long long)worst / 1000, libc_hammer_rounds());
    end();
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_patched_function_does_what_it_did),
        CHECK_CASE(something_else_in_the_place_is_left_alone),
        CHECK_CASE(a_place_that_is_gone_undoes_everything),
        CHECK_CASE(two_patches_of_the_same_bytes_are_refused),
        CHECK_CASE(threads_in_displaced_instructions_go_on_in_the_copy),
        CHECK_CASE(signal_handlers_return_to_the_copy_on_their_stack),
        CHECK_CASE(signal_handlers_return_to_the_copy_from_another_stack),
        CHECK_CASE(all_of_libc_is_patched_while_threads_hammer_it),
    };

    patch_synchronization_prepare();
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
