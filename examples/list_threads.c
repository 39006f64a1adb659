/* SPDX-License-Identifier: MIT */
/*
 * Starts threads, looks what they are doing and where, tells of those that come and go, and frees one from an endless
 * loop by changing its registers.
 *
 *   build/examples/list_threads
 *
 * Shows: threads with their names, states, registers and stacks; an observer of threads; changing a thread that runs.
 * Uses gait/process.h.
 */
#define _GNU_SOURCE
#include "gait/process.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic int spinning_tid;

static void *sleep_a_while(void *context)
{
    pthread_setname_np(pthread_self(), "sleeper");
    usleep(300000);
    return context;
}

/* Ends when somebody changes a register. */
static void *spin(void *context)
{
    uint64_t is_over = 0x5eed5eed5eed5eed;

    pthread_setname_np(pthread_self(), "spinner");
    spinning_tid = gettid();
    while (is_over != 0)
        __asm__ volatile("pause" : "+r"(is_over));
    return context;
}

static bool print_thread(void *context, int tid)
{
    static const char *const states[] = {"runs", "sleeps", "waits", "is stopped", "is traced", "has ended", "?"};
    struct gait_thread thread = {.size_bytes = sizeof(thread)};

    (void)context;
    if (gait_process_thread(tid, true, &thread, NULL) == 0)
        printf("    %-16s %-8s at 0x%lx, with %lu KiB of stack\n", thread.name, states[thread.state],
               (unsigned long)thread.cpu.pc, (unsigned long)(thread.stack_high - thread.stack_low) / 1024);
    return true;
}

static int end_loop(void *context, struct gait_cpu_context *cpu)
{
    bool *is_found = context;

    for (unsigned i = 0; i < GAIT_CPU_REGISTER_COUNT; i++)
        if (cpu->registers[i] == 0x5eed5eed5eed5eed) {
            cpu->registers[i] = 0;
            *is_found = true;
        }
    return 0;
}

static void started(void *context, int tid, const char *name, uint64_t time)
{
    (void)context, (void)tid, (void)time;
    printf("    %s is there\n", name);
}

static void ended(void *context, int tid, const char *name, uint64_t time)
{
    (void)context, (void)tid, (void)time;
    printf("    %s has ended\n", name);
}

int main(void)
{
    const struct gait_thread_listener listener = {sizeof(listener), NULL, started, ended, NULL};
    struct gait_thread_observer *observer;
    pthread_t sleeper, spinner;
    bool is_found = false;
    struct gait_error err;

    pthread_create(&sleeper, NULL, sleep_a_while, NULL);
    pthread_create(&spinner, NULL, spin, NULL);
    while (spinning_tid == 0)
        usleep(1000);
    printf("Threads:\n");
    if (gait_process_threads(print_thread, NULL, &err) != 0 ||
        gait_thread_observer_create(&listener, true, &observer, &err) != 0) {
        fprintf(stderr, "list_threads: %s\n", err.text);
        return 1;
    }
    for (int i = 0; i < 100 && !is_found; i++)
        if (gait_process_modify_thread(spinning_tid, end_loop, &is_found, &err) != 0) {
            fprintf(stderr, "list_threads: %s\n", err.text);
            return 1;
        }
    pthread_join(spinner, NULL);
    pthread_join(sleeper, NULL);
    printf("Later:\n");
    (void)gait_thread_observer_look(observer, 0, &err);
    gait_thread_observer_destroy(observer);
    return 0;
}
