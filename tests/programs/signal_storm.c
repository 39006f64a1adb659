/* SPDX-License-Identifier: MIT */
/* Signals as fast as the system makes them, while code of every kind runs: each comes at a place that the program has.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define WANTED     1500
#define RANGES_MAX 256

static struct {
    uintptr_t start, end;
} ranges[RANGES_MAX];
static int range_count;
static volatile sig_atomic_t ticks, strange, early;

static uintptr_t pc_of(const ucontext_t *context)
{
#ifdef __x86_64__
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
    return context->uc_mcontext.pc;
#endif
}

/* Code of files, and of the kernel's own page. */
static void find_ranges(void)
{
    char line[512], access[8], name[400];
    FILE *file = fopen("/proc/self/maps", "r");
    unsigned long start, end;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL && range_count < RANGES_MAX) {
        name[0] = 0;
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %399s", &start, &end, access, name) < 3 || access[2] != 'x')
            continue;
        if ((name[0] != '/' && strcmp(name, "[vdso]") != 0) || strncmp(name, "/memfd", 6) == 0)
            continue;
        ranges[range_count].start = start;
        ranges[range_count++].end = end;
    }
    if (file != NULL)
        fclose(file);
}

static void on_tick(int number, siginfo_t *info, void *context)
{
    uintptr_t pc = pc_of(context);
    int known = 0;

    (void)info;
    strange += number != SIGPROF && number != SIGALRM;
    for (int i = 0; i < range_count; i++)
        known |= pc >= ranges[i].start && pc < ranges[i].end;
    strange += !known;
    ticks++;
}

static void on_early(int number)
{
    early += number == SIGUSR2;
}

/* Before anybody can follow the program. */
static __attribute__((constructor)) void install_early(void)
{
    signal(SIGUSR2, on_early);
}

typedef uint64_t (*step)(uint64_t);

static __attribute__((noinline)) uint64_t turn(uint64_t value)
{
    return value << 13 | value >> 51;
}

static __attribute__((noinline)) uint64_t multiply(uint64_t value)
{
    return value * 0x9e3779b97f4a7c15ull;
}

static __attribute__((noinline)) uint64_t recurse(uint64_t value)
{
    return value % 7 == 0 ? value + 1 : recurse(value / 7) + value % 5;
}

static uint64_t compute(void)
{
    static const step steps[] = {turn, multiply, recurse};
    static char text[64];
    uint64_t sum = 1;
    double x = 0.3;

    for (unsigned i = 0; i < 200; i++) {
        sum = steps[(sum >> 7) % 3](sum + i);
        x = x * 3.9 * (1 - x);
        snprintf(text, sizeof(text), "%u", i);
        sum += (uint64_t)strlen(text);
    }
    free(malloc(sum % 1000 + 1));
    return sum + (uint64_t)(x * 1e9) + (uint64_t)(getppid() == 0);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_RESTART | SA_SIGINFO};
    struct itimerspec often = {{0, 100000}, {0, 100000}}, never = {{0, 0}, {0, 0}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    uint64_t expected = compute();
    unsigned wrong = 0;
    timer_t timer;

    find_ranges();
    raise(SIGUSR2);
    sigaction(SIGPROF, &action, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return 1;
    timer_settime(timer, 0, &often, NULL);
    while (ticks < WANTED)
        wrong += compute() != expected;
    timer_settime(timer, 0, &never, NULL);
    printf("%016lx, %u times wrong, %d strange, %d early\n", (unsigned long)expected, wrong, strange, early);
    return wrong != 0 || strange != 0;
}
