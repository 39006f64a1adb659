/* SPDX-License-Identifier: MIT */
/*
 * A map from traps to targets that handlers read without a lock. An address that is no trap any more leads to itself.
 * The program's own action is kept beside: it is what the handler does with all other signals. Invariant: `program` is
 * published before our handler can run, and changed only when the program has changed it.
 */
#include "hook/trap_table.h"

#include "arch/signal_saved.h"
#include "base/hash_map.h"
#include "base/raw_syscall.h"

#include <asm/errno.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <stdbool.h>

#define EXPECTED_TRAPS 64
#define MASK_BYTES     8
#define RESTORER_FLAG  0x04000000u

typedef void (*signal_handler)(int signal, siginfo_t *info, void *ucontext);

/* What the kernel calls a sigaction. */
struct action {
    signal_handler handler; /* NULL: by default; 1: ignored */
    uint64_t flags;
    uint64_t restorer;
    uint64_t mask;
};

static struct hash_map traps;
static bool has_map, is_installed;
static struct action program;

static int set_action(const struct action *action, struct action *before_out)
{
    return (int)raw_syscall(__NR_rt_sigaction, SIGTRAP, (long)action, (long)before_out, MASK_BYTES, 0, 0);
}

/* ---- the handler ------------------------------------------------------------------------------------------------- */

static bool is_from_trap(const siginfo_t *info)
{
    return info->si_code == SI_KERNEL || info->si_code == TRAP_BRKPT;
}

/* An instruction does it again as soon as the handler returns; what was sent has to be sent again. */
static void do_default(const siginfo_t *info, uint64_t *pc)
{
    struct action action = {0};

    if (!is_from_trap(info) && program.handler == (signal_handler)(uintptr_t)1)
        return;
    (void)set_action(&action, NULL);
    if (is_from_trap(info))
        *pc -= signal_trap_distance();
    else
        (void)raw_syscall(__NR_tgkill, raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0),
                          raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0), SIGTRAP, 0, 0, 0);
}

static void pass_on(int signal, siginfo_t *info, void *ucontext, uint64_t *pc)
{
    struct action action = program;

    if ((uintptr_t)action.handler <= 1) {
        do_default(info, pc);
        return;
    }
    if (action.flags & SA_RESETHAND)
        program.handler = NULL;
    (void)raw_syscall(__NR_rt_sigprocmask, SIG_BLOCK, (long)&action.mask, 0, MASK_BYTES, 0, 0);
    action.handler(signal, info, ucontext);
}

static void trap_arrived(int signal, siginfo_t *info, void *ucontext)
{
    uint64_t *pc = (uint64_t *)(uintptr_t)signal_saved_pc_in((uintptr_t)ucontext);
    uint64_t target;

    if (is_from_trap(info) && hash_map_lookup(&traps, *pc - signal_trap_distance(), &target))
        *pc = target;
    else
        pass_on(signal, info, ucontext, pc);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Further traps may come while a handler of the program's runs. */
static const struct action *our_action(void)
{
    static struct action action;

    action = (struct action){trap_arrived, SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART, signal_restorer(), 0};
    if (action.restorer != 0)
        action.flags |= RESTORER_FLAG;
    return &action;
}

static int install(void)
{
    int result = set_action(NULL, &program);

    if (result == 0)
        result = set_action(our_action(), NULL);
    is_installed = result == 0;
    return result;
}

int trap_table_set(uint64_t address, uint64_t target)
{
    int result = 0;

    if (signal_trap_distance() == 0)
        return -EOPNOTSUPP;
    if (!has_map)
        result = hash_map_init(&traps, EXPECTED_TRAPS);
    has_map = has_map || result == 0;
    if (result == 0)
        result = hash_map_set(&traps, address, target);
    if (result == 0 && !is_installed)
        result = install();
    return result;
}

void trap_table_clear(uint64_t address)
{
    uint64_t target;

    /* The key has a slot already, so that this cannot fail. */
    if (has_map && hash_map_lookup(&traps, address, &target))
        (void)!hash_map_set(&traps, address, address);
}

void trap_table_renew(void)
{
    struct action now;

    if (is_installed && set_action(NULL, &now) == 0 && now.handler != trap_arrived) {
        program = now;
        (void)set_action(our_action(), NULL);
    }
}

void trap_table_end(void)
{
    struct action now;

    if (is_installed && set_action(NULL, &now) == 0 && now.handler == trap_arrived)
        (void)set_action(&program, NULL);
    is_installed = false;
}
