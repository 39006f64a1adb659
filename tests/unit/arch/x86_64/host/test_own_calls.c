/* SPDX-License-Identifier: MIT */
/* configurations: debug-* asan-* */ /* the thread sanitizer waits for handlers to return by themselves */
#define _GNU_SOURCE
#include "arch/own_calls.h"

#include "base/raw_syscall.h"
#include "support/check.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void each_is_behind_a_system_call(void)
{
    uint64_t places[OWN_CALLS_MAX];
    size_t count = own_calls_list(places);

    CHECK(count > 0 && count <= OWN_CALLS_MAX);
    for (size_t i = 0; i < count; i++) {
        CHECK(memcmp((const char *)(uintptr_t)places[i] - 2, "\x0f\x05", 2) == 0);
        CHECK(places[i] != (uintptr_t)raw_syscall_for_program_end);
        for (size_t j = 0; j < i; j++)
            CHECK(places[j] != places[i]);
    }
}

static void they_can_be_made_elsewhere(void)
{
    static const uint8_t bytes[] = {0x90, 0x0f, 0x05, 0x0f, 0x05, 0xc3};
    uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t place = own_calls_find_place(bytes, sizeof(bytes));

    CHECK_EQUAL(place, 3);
    CHECK_EQUAL(own_calls_find_place(bytes, sizeof(bytes) - 1), SIZE_MAX);
    /* Something else is made there instead, so that it is seen: mov $7, %eax; ret. */
    memcpy(code, "\xb8\x07\0\0\0\xc3", 6);
    CHECK(own_calls_make_at((uintptr_t)code));
    CHECK_EQUAL(raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0), 7);
    CHECK_EQUAL(raw_syscall_for_program(SYS_getppid, 0, 0, 0, 0, 0, 0), 7);
    memcpy(code, bytes + place, 3);
    CHECK_EQUAL(raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0), getppid());
    CHECK(own_calls_make_at(0));
    munmap(code, 4096);
    CHECK_EQUAL(raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0), getppid());
}

/* From a handler that does not return by itself, and leaves what it finds on its stack alone. */
static void return_early(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    own_calls_return_from_signal((uint64_t)(uintptr_t)context);
}

static void they_return_from_signals(void)
{
    struct sigaction action = {.sa_sigaction = return_early, .sa_flags = SA_SIGINFO};

    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_EQUAL(raise(SIGUSR1), 0);
    CHECK_EQUAL(raise(SIGUSR1), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(they_can_be_made_elsewhere),
    CHECK_CASE(they_return_from_signals),
    CHECK_CASE(each_is_behind_a_system_call),
};

CHECK_MAIN(cases)
