#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that have system calls dispatched to themselves (syscall user dispatch) run as they would, however they are
# recorded: calls of ours are not held back, and those of the program are judged by where they are in the program.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"
gcc -O1 -pthread -o "$folder/dispatched" tests/programs/x86_64/dispatched_calls.c || exit 1
"$folder/dispatched" >"$folder/native" || exit 1
if grep -q 'cannot be dispatched' "$folder/native"; then
    echo "skipped: the kernel knows no syscall user dispatch"
    exit 77
fi

# runs_under WHAT COMMAND...: the program does what it does natively
runs_under() {
    local what=$1
    shift
    "$@" -- "$folder/dispatched" >"$folder/out" 2>"$folder/err"
    check "$what: another status" test $? = 0
    check "$what: another output" cmp -s "$folder/native" "$folder/out"
}

modes=('' '--hook main' '--hook *' '--syscalls' '--hook * --syscalls' '--detail main' '--follow call,ret')
modes+=('--arg main:int->int' '--stack main --hook main')
for mode in "${modes[@]}"; do
    rm -rf "$folder/traces"
    set -f
    # shellcheck disable=SC2086
    runs_under "recorded with '$mode'" "$gait" spawn --quiet -o "$folder/traces" $mode
    set +f
    "$gait" verify "$folder"/traces/* >"$folder/err" 2>&1 || fail "recorded with '$mode': a bad trace"
done
runs_under 'system calls, seen inside' "$gait" syscalls -o "$folder/calls"

# What is shown is what the program did: its own arguments, and no call that was never made.
cat >"$folder/held.c" <<'END'
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
static volatile unsigned char selector;
static void answer(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    selector = 0;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 4242;
}
int main(void)
{
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO};
    long held;

    sigaction(SIGSYS, &action, 0);
    prctl(59, 1, 0, 0, &selector);
    selector = 1;
    held = syscall(SYS_getppid);
    prctl(59, 0, 0, 0, 0);
    return held == 4242 && syscall(SYS_getpgid, 0) > 0 ? 0 : 1;
}
END
gcc -D_GNU_SOURCE -O1 -o "$folder/held" "$folder/held.c" || exit 1
"$gait" syscalls -o "$folder/calls" -- "$folder/held" >"$folder/out" 2>"$folder/err"
check "a call that is held: another status" test $? = 0
check "the program's arguments are not shown" \
    grep -qE '^prctl\(PR_SET_SYSCALL_USER_DISPATCH, [^,]*, (0|NULL), 0, (0x)?[0-9a-f]+\) += 0' "$folder/calls"
check "a call that was not made is shown" test -z "$(grep getppid "$folder/calls")"
check "a call behind it is not shown" grep -q '^getpgid(0)' "$folder/calls"

# Threads that are left have what they asked for; those that have it before are not recorded.
cat >"$folder/threads.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
static __thread volatile unsigned char selector;
static int rounds;
static void answer(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    selector = 0;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 4242;
}
static void *run(void *unused)
{
    int held = 0;

    prctl(59, 1, 0, 0, &selector);
    for (int i = 0; i < rounds; i++) {
        selector = 1;
        held += syscall(SYS_getppid) == 4242;
        selector = 0;
        usleep(1000);
    }
    printf("%d\n", held);
    fflush(stdout);
    return unused;
}
int main(int count, char **arguments)
{
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO};
    pthread_t thread;

    rounds = count > 1 ? atoi(arguments[1]) : 1;
    sigaction(SIGSYS, &action, 0);
    pthread_create(&thread, 0, run, 0);
    run(0);
    return pthread_join(thread, 0);
}
END
gcc -D_GNU_SOURCE -O1 -pthread -o "$folder/threads" "$folder/threads.c" || exit 1
for mode in --syscalls '--hook=*'; do
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" --duration 1 "$mode" -- "$folder/threads" 1500 >"$folder/out" 2>"$folder/err"
    check "left with '$mode': another status" test $? = 0
    check "left with '$mode': not all calls were held" test "$(uniq "$folder/out")" = 1500
done
"$folder/threads" 3000 >"$folder/out" &
pid=$!
sleep 0.2
until_true "the program has two threads" test -d "/proc/$pid/task" -a "$(ls "/proc/$pid/task" | wc -l)" = 2
refuses 1 'dispatched to itself already' attach -o "$folder/none" "$pid"
wait "$pid"
check "who was refused has ended otherwise" test $? = 0
check "who was refused: not all calls were held" test "$(uniq "$folder/out")" = 3000

if command -v stress-ng >/dev/null; then
    for mode in '' '--syscalls' '--follow call,ret'; do
        rm -rf "$folder/traces"
        # shellcheck disable=SC2086
        "$gait" spawn --quiet -o "$folder/traces" $mode -- stress-ng --usersyscall 1 --verify -t 1 >"$folder/err" 2>&1
        check "stress-ng with '$mode' fails" test $? = 0
        check "stress-ng with '$mode' was not successful" grep -q 'successful run completed' "$folder/err"
    done
fi
finish
