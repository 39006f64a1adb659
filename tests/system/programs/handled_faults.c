/* SPDX-License-Identifier: MIT */
/*
 * Does what the lines of its input say: "fault" reads what may not be read, in the first instructions of a function;
 * the handler says what it sees, waits for another line, and lets the instruction be done. "ask" says whether the
 * handler is the one that was set. So others can come and go while a handler runs.
 */
#define _GNU_SOURCE
#include "../../support/faulting_load.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096

static int *page;

/* Without a library that has locks. */
static void say(const char *text)
{
    (void)!write(1, text, strlen(text));
}

static int read_line(char *line, size_t size)
{
    size_t length = 0;

    while (length + 1 < size) {
        ssize_t got = read(0, line + length, 1);

        if (got == 0)
            return 0;
        if (got == 1 && line[length++] == '\n')
            break;
    }
    line[length == 0 ? 0 : length - 1] = '\0';
    return 1;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    char line[64];

    (void)number;
    say(pc == (uintptr_t)load + FAULTING_LOAD_AT ? "in load, " : "elsewhere, ");
    say(info->si_addr == (void *)page ? "at the page\n" : "at another address\n");
    read_line(line, sizeof(line));
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    *page = 41;
}

static void fault(void)
{
    char text[64];

    mprotect(page, PAGE, PROT_NONE);
    snprintf(text, sizeof(text), "value %d\n", load(page));
    say(text);
}

static void ask(void)
{
    struct sigaction action;
    uint64_t words[4] = {0};

    sigaction(SIGSEGV, NULL, &action);
    syscall(SYS_rt_sigaction, SIGSEGV, NULL, words, 8);
    say(action.sa_sigaction == on_fault ? "own" : "another");
    say(words[0] == (uintptr_t)on_fault ? ", own\n" : ", another\n");
    /* As programs do that put back what was. */
    sigaction(SIGSEGV, &action, NULL);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    char line[64];

    page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, NULL);
    say("ready\n");
    while (read_line(line, sizeof(line))) {
        if (strcmp(line, "fault") == 0)
            fault();
        else if (strcmp(line, "ask") == 0)
            ask();
    }
    return 0;
}
