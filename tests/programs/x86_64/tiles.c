/* SPDX-License-Identifier: MIT */
/*
 * Tile registers live on across calls, signals, threads and children; handlers see and change them, and have stacks
 * that are large enough, which the kernel looks after before it lets anybody use them.
 */
#include <asm/prctl.h>
#include <cpuid.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define STATE_TILES    18
#define FRAME_FEATURES 472 /* in the image of a frame: what it has */
#define TILE_BYTES     1024

struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t column_bytes[16];
    uint8_t rows[16];
};

static struct tile_config config = {.palette = 1};
static uint8_t in[4][TILE_BYTES], out[4][TILE_BYTES];
static volatile sig_atomic_t handled;
static unsigned tiles_at, tiles_bytes;
static void (*volatile leaf)(void);

static void nothing(void)
{
}

static void configure(void)
{
    __asm__ volatile("ldtilecfg %0" : : "m"(config));
}

#define TILE_LOAD(tile, from)  __asm__ volatile("tileloadd (%0,%1), %%tmm" #tile : : "r"(from), "r"(64l) : "memory")
#define TILE_STORE(tile, to)   __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1)" : : "r"(to), "r"(64l) : "memory")
#define TILE_INSN(instruction) __asm__ volatile(instruction : : : "memory")

static void load(void)
{
    TILE_LOAD(0, in[0]);
    TILE_LOAD(1, in[1]);
    TILE_LOAD(6, in[2]);
    TILE_LOAD(7, in[3]);
}

static unsigned long sum_of(const void *bytes, size_t count)
{
    unsigned long sum = 0;

    for (size_t i = 0; i < count; i++)
        sum = sum * 31 + ((const uint8_t *)bytes)[i];
    return sum;
}

static void show(const char *when)
{
    memset(out, 0, sizeof(out));
    TILE_STORE(0, out[0]);
    TILE_STORE(1, out[1]);
    TILE_STORE(6, out[2]);
    TILE_STORE(7, out[3]);
    printf("%s: %016lx\n", when, sum_of(out, sizeof(out)));
    fflush(stdout);
}

static void multiply(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        TILE_INSN("tdpbssd %%tmm1, %%tmm0, %%tmm7");
        leaf();
    }
}

/* One that was sent by the thread itself is told, and changes a tile; all use tiles of their own. */
static void handler(int number, siginfo_t *info, void *context)
{
    uint8_t *image = (uint8_t *)((const ucontext_t *)context)->uc_mcontext.fpregs;
    uint64_t features;

    handled++;
    memcpy(&features, image + FRAME_FEATURES, sizeof(features));
    if (number == SIGUSR1 && info->si_code <= 0) {
        printf("frame: %d %016lx\n", (int)(features >> STATE_TILES & 1),
               features >> STATE_TILES & 1 ? sum_of(image + tiles_at, tiles_bytes) : 0);
        if (features >> STATE_TILES & 1)
            memset(image + tiles_at + TILE_BYTES, 0x5a, TILE_BYTES);
    }
    configure();
    TILE_INSN("tilezero %%tmm0");
    TILE_INSN("tilezero %%tmm7");
    TILE_INSN("tilerelease");
}

static void raise_with(const char *when, int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

    sigaction(SIGUSR1, &action, NULL);
    load();
    raise(SIGUSR1);
    show(when);
}

static void under_a_timer(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    struct itimerval timer = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};

    sigaction(SIGALRM, &action, NULL);
    load();
    handled = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    multiply(20000);
    while (handled < 5)
        leaf();
    setitimer(ITIMER_REAL, &off, NULL);
    show("behind ticks");
}

static void *in_thread(void *unused)
{
    configure();
    load();
    multiply(1000);
    show("in a thread");
    return unused;
}

static void in_child(void)
{
    pid_t child;

    fflush(stdout);
    load();
    child = fork();
    if (child == 0) {
        /* Those of the parent do not come along. */
        configure();
        load();
        multiply(10);
        show("in a child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    show("in its parent");
}

static int ask(void)
{
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, STATE_TILES) == 0 ? 0 : errno;
}

static int set_stack(void *memory, size_t size, int flags)
{
    stack_t stack = {.ss_sp = memory, .ss_size = size, .ss_flags = flags};

    return sigaltstack(&stack, NULL) == 0 ? 0 : errno;
}

int main(void)
{
    unsigned eax, ebx, ecx, edx;
    char *memory = malloc(65536);
    pthread_t thread;

    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(edx >> 24 & 1)) {
        printf("no tiles\n");
        return 0;
    }
    __get_cpuid_count(13, STATE_TILES, &tiles_bytes, &tiles_at, &ecx, &edx);
    leaf = nothing;
    memset(config.rows, 16, 8);
    for (unsigned i = 0; i < 8; i++)
        config.column_bytes[i] = 64;
    for (size_t i = 0; i < sizeof(in); i++)
        ((uint8_t *)in)[i] = (uint8_t)(i * 37 + i / 64 + 11);

    printf("a small stack: %d\n", set_stack(memory, 8192, 0));
    printf("tiles with it: %d\n", ask());
    printf("without it: %d\n", set_stack(NULL, 0, SS_DISABLE));
    printf("tiles: %d\n", ask());
    printf("a small stack: %d\n", set_stack(memory, 8192, 0));
    configure();
    load();
    multiply(1000);
    show("multiplied");
    raise_with("behind a signal", 0);
    under_a_timer();
    printf("a large stack: %d\n", set_stack(memory, 65536, 0));
    raise_with("behind one on another stack", SA_ONSTACK);
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
    in_child();
    return 0;
}
