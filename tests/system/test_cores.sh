#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The core of a hooked program is what it would be without hooks, for a debugger that knows nothing of them: who called
# whom in all threads, where it ended, by which signal, and the code.
# configurations: debug-gcc
# time limit: 120 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"
command -v gdb >/dev/null || { echo "skipped: gdb is not installed"; exit 77; }
pattern=$(</proc/sys/kernel/core_pattern)
[[ $pattern == core ]] || { echo "skipped: cores are not written into the program's folder, but by '$pattern'"; exit 77; }
ulimit -c unlimited || { echo "skipped: no cores may be written here"; exit 77; }
cat >"$folder/crash.c" <<'END'
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
static volatile int *nowhere;
static const char *how;
APART int at_once(volatile int *place) { return *place + 1; }
static int compare(const void *one, const void *other) { if (one != other) abort(); return 0; }
APART int inner(int number)
{
    int numbers[3] = {3, 1, 2};
    volatile int zero = 0;
    if (!strcmp(how, "at_once")) return at_once(nowhere) + number;
    if (!strcmp(how, "deep")) *nowhere = number;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "assert")) assert(number == 12345);
    if (!strcmp(how, "callback")) qsort(numbers, 3, sizeof(numbers[0]), compare);
    if (!strcmp(how, "divide")) return number / zero;
    if (!strcmp(how, "illegal")) __builtin_trap();
    if (!strcmp(how, "reset")) { signal(SIGSEGV, SIG_IGN); signal(SIGSEGV, SIG_DFL); *nowhere = 1; }
    if (!strcmp(how, "outside")) { puts("ready"); fflush(stdout); sleep(20); }
    return number + numbers[0];
}
APART int middle(int number) { int result = inner(number + 1); __asm__ volatile(""); return result + 1; }
APART int outer(int number) { int result = middle(number + 1); __asm__ volatile(""); return result + 1; }
APART void *worker(void *unused) { outer(5); return unused; }
APART void *waiter(void *unused) { struct timespec end = {20, 0}; nanosleep(&end, 0); return unused; }
int main(int count, char **arguments)
{
    pthread_t one, other;
    int status = 0;
    how = arguments[count - 1];
    if (count == 2) return outer(1);
    if (!strcmp(arguments[1], "child")) {
        if (fork() == 0) _exit(outer(1));
        wait(&status);
        return WIFSIGNALED(status) ? 100 + WTERMSIG(status) : 1;
    }
    pthread_create(&other, 0, waiter, 0);
    usleep(50000);
    pthread_create(&one, 0, worker, 0);
    return pthread_join(one, 0);
}
END
gcc -O1 -g -pthread -o "$folder/crash" "$folder/crash.c" || exit 1
gcc -O1 -g -pthread -static -o "$folder/crash_static" "$folder/crash.c" || exit 1

# look PROGRAM FILE: what a debugger sees in the core that is in the folder of the program, without addresses
look() {
    # shellcheck disable=SC2016 # they are gdb's
    timeout 60 gdb -nx -batch -ex 'print $_siginfo.si_signo' -ex 'print $_siginfo.si_code' -ex bt -ex 'thread apply all bt' \
        -ex 'x/4i outer' "$1" "$folder/core" >"$folder/gdb" 2>&1
    # The order of other threads is that of chance.
    grep -E '^\$|<outer' "$folder/gdb" | sed -E 's/0x[0-9a-f]+//g' >"$2"
    grep '^#' "$folder/gdb" | sed -E 's/^#([0-9]+ ) *(0x[0-9a-f]+ in )?([^ ]+).*/\1 \3/' | awk '/^0 / { if (stack != "") print stack; stack = "" }
        { stack = stack " " $2 } END { print stack }' | sort >>"$2"
}

# dies_alike PROGRAM OPTIONS -- ARGUMENTS...: its core, and its status, are as without hooks
dies_alike() {
    local program=$folder/$1 options=() status
    shift
    while [[ $1 != -- ]]; do options+=("$1"); shift; done
    shift
    rm -f "$folder/core"
    (cd "$folder" && exec "$program" "$@") >"$folder/out" 2>&1
    status=$?
    look "$program" "$folder/native"
    check "$*: no native core" grep -q ' main$' "$folder/native"
    rm -rf "$folder/core" "$folder/traces"
    (cd "$folder" && exec "$gait" spawn --quiet -o traces "${options[@]}" -- "$program" "$@") >"$folder/out" 2>"$folder/err"
    check "$* with ${options[*]}: another status" test $? = $status
    look "$program" "$folder/hooked"
    check "$* with ${options[*]}: another core" diff "$folder/native" "$folder/hooked"
}

for how in at_once deep callback reset; do
    dies_alike crash --hook '*' -- $how
done
dies_alike crash --hook '*' -- thread abort
dies_alike crash --hook '*' --syscalls -- abort
dies_alike crash --hook '*' -- child deep
dies_alike crash_static --hook '*' -- deep

# A signal from outside, in the middle of a call that waits.
rm -rf "$folder/core" "$folder/traces" "$folder/out"
(cd "$folder" && exec "$gait" spawn --quiet -o traces --hook '*' -- ./crash outside) >"$folder/out" 2>"$folder/err" &
recorder=$!
started+=("$recorder")
until_true "the program waits" grep -q ready "$folder/out"
pkill -QUIT -P "$recorder"
wait "$recorder"
check "a signal from outside: another status" test $? = 131
look "$folder/crash" "$folder/hooked"
for name in inner middle outer main; do
    check "a signal from outside: $name is not in the core" grep -q " $name\\b" "$folder/hooked"
done

# Attached to, and left again: what the program has for these signals is its own.
"$folder/crash" outside >"$folder/out" &
pid=$!
started+=("$pid")
until_true "the program waits, too" grep -q ready "$folder/out"
"$gait" attach --quiet -o "$folder/traces" --hook '*' --duration 1 "$pid" >"$folder/err" 2>&1
check "something handles signals that nobody did" grep -qE '^SigCgt:[[:space:]]*0+$' "/proc/$pid/status"
finish
