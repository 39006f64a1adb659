/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "gait/process.h"

#include "support/check.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct gait_error error;
static _Atomic int tid;
static _Atomic bool is_over;
static volatile uint64_t spins;
static pthread_t thread;

static void *spin(void *context)
{
    prctl(PR_SET_NAME, "spinning");
    tid = gettid();
    while (!is_over)
        spins++;
    return context;
}

static void start(void *(*function)(void *context))
{
    tid = 0;
    is_over = false;
    CHECK_EQUAL(pthread_create(&thread, NULL, function, NULL), 0);
    while (tid == 0)
        usleep(100);
}

static void end(void)
{
    is_over = true;
    pthread_join(thread, NULL);
}

static bool find_tid(void *context, int found)
{
    *(unsigned *)context += found == tid || found == getpid();
    return true;
}

static void threads_are_listed_and_described(void)
{
    struct gait_thread described = {.size_bytes = sizeof(described)};
    unsigned found = 0;

    start(spin);
    CHECK_EQUAL(gait_process_threads(find_tid, &found, &error), 0);
    CHECK_EQUAL(found, 2);
    CHECK_EQUAL(gait_process_thread(tid, true, &described, &error), 0);
    CHECK_EQUAL(described.tid, tid);
    CHECK_TEXT(described.name, "spinning");
    CHECK_EQUAL(described.state, GAIT_THREAD_RUNNING);
    CHECK(gait_cpu_stack_pointer(&described.cpu) >= described.stack_low &&
          gait_cpu_stack_pointer(&described.cpu) < described.stack_high);
    CHECK(described.cpu.pc != 0);
    end();
    CHECK_EQUAL(gait_process_thread(getpid(), true, &described, &error), 0);
    CHECK((uintptr_t)&described >= described.stack_low && (uintptr_t)&described < described.stack_high);
    CHECK_EQUAL(gait_process_thread(0x7ffffff, false, &described, &error), -ESRCH);
    described.size_bytes = 0;
    CHECK_EQUAL(gait_process_thread(getpid(), false, &described, &error), -EINVAL);
    CHECK_EQUAL(gait_process_threads(NULL, NULL, &error), -EINVAL);
}

static volatile uint64_t kept_number;

/* Adds up a number that it keeps in a register. */
static void *hold_number(void *context)
{
    uint64_t number = 0x1234567812345678;

    tid = gettid();
    while (!is_over)
        __asm__ volatile("pause" : "+r"(number));
    kept_number = number;
    return context;
}

static int change_number(void *context, struct gait_cpu_context *cpu)
{
    unsigned *changed = context;

    for (unsigned i = 0; i < GAIT_CPU_REGISTER_COUNT; i++)
        if (cpu->registers[i] == 0x1234567812345678) {
            cpu->registers[i] = 77;
            ++*changed;
        }
    return 0;
}

static void registers_of_a_thread_can_be_changed(void)
{
    unsigned changed = 0;

    start(hold_number);
    for (unsigned i = 0; i < 100 && changed == 0; i++)
        CHECK_EQUAL(gait_process_modify_thread(tid, change_number, &changed, &error), 0);
    end();
    CHECK(changed >= 1);
    CHECK_EQUAL(kept_number, 77);
}

/* A thread in a system call is sent elsewhere. */
static sem_t never, landed;

static void *wait_forever(void *context)
{
    tid = gettid();
    sem_wait(&never);
    return context;
}

static void __attribute__((noreturn)) land(void)
{
    sem_post(&landed);
    for (;;)
        pause();
}

static int send_elsewhere(void *context, struct gait_cpu_context *cpu)
{
    (void)context;
    cpu->pc = (uintptr_t)land;
    gait_cpu_stack_pointer_set(cpu, ((gait_cpu_stack_pointer(cpu) - 1024) & ~(uint64_t)15) - 8);
    return 0;
}

static void a_thread_in_a_system_call_can_be_sent_elsewhere(void)
{
    sem_init(&never, 0, 0);
    sem_init(&landed, 0, 0);
    start(wait_forever);
    usleep(20000);
    CHECK_EQUAL(gait_process_modify_thread(tid, send_elsewhere, NULL, &error), 0);
    CHECK_EQUAL(sem_wait(&landed), 0);
}

static int refuse(void *context, struct gait_cpu_context *cpu)
{
    (void)cpu;
    return *(const int *)context;
}

static void changes_can_be_refused(void)
{
    int wish = -ECANCELED;

    start(spin);
    CHECK_EQUAL(gait_process_modify_thread(tid, refuse, &wish, &error), -ECANCELED);
    CHECK(strstr(error.text, "as its change wanted") != NULL);
    wish = 1;
    CHECK_EQUAL(gait_process_modify_thread(tid, refuse, &wish, &error), 0);
    CHECK_EQUAL(gait_process_modify_thread(gettid(), refuse, &wish, &error), -EINVAL);
    CHECK_EQUAL(gait_process_modify_thread(0x7ffffff, refuse, &wish, &error), -ESRCH);
    CHECK_EQUAL(gait_process_modify_thread(tid, NULL, NULL, &error), -EINVAL);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_are_listed_and_described),
    CHECK_CASE(registers_of_a_thread_can_be_changed),
    CHECK_CASE(changes_can_be_refused),
    CHECK_CASE(a_thread_in_a_system_call_can_be_sent_elsewhere),
};

CHECK_MAIN(cases)
