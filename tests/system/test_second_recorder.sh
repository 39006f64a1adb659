#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A process has one recorder at a time. A second one is told who the first is; one that comes after the first was killed
# takes out what that left, and records.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"
cat >"$folder/busy.c" <<'END'
#include <unistd.h>
__attribute__((noinline)) int work(int value) { __asm__ volatile("" : "+r"(value)); return value * 3 + 1; }
int main(void)
{
    int value = fork() == 0 ? 2 : 1;
    /* Not for ever, if nobody ends it. */
    for (int i = 0; i < 60000; i++) {
        value = work(value);
        usleep(1000 + (getppid() == 0));
    }
    return value == 0;
}
END
gcc -O1 -o "$folder/busy" "$folder/busy.c" || exit 1
"$folder/busy" &
pid=$!
started+=("$pid")
find_child() { child=$(pgrep -P "$1"); }
until_true "the process has a child" find_child "$pid"
started+=("$child")

# record NAME ARGUMENTS...: begins a recorder whose number is in $recorder, and waits until it has begun
record() {
    local name=$1
    shift
    "$gait" "$@" >"$folder/$name.out" 2>"$folder/$name.said" &
    recorder=$!
    started+=("$recorder")
    until_true "$name has begun" grep -q 'memfd:gait ring' "/proc/$recorder/maps"
}

# is_refused WHAT ARGUMENTS...: says who records
is_refused() {
    local what=$1
    shift
    refuses 1 "process $pid is recorded already, by process $recorder (" "$@"
    check "$what: not how the recorder was started" grep -q -F -- "$how" "$folder/err"
    check "$what: something was recorded" test -z "$(ls "$folder/second" 2>/dev/null)"
}

for how in '--hook work' '--follow call,ret' '--syscalls'; do
    rm -rf "$folder/first" "$folder/second"
    # shellcheck disable=SC2086
    record "attach $how" attach -o "$folder/first" $how "$pid"
    is_refused "attach beside $how" attach -o "$folder/second" --hook work --duration 1 "$pid"
    check "attach beside $how: not where the trace is" grep -q -F "$folder/first/" "$folder/err"
    is_refused "syscalls beside $how" syscalls -c -p "$pid"
    check "syscalls beside $how: not where the trace is" grep -q -F "$folder/first/" "$folder/err"
    kill -KILL "$recorder"
    wait "$recorder" 2>/dev/null
    "$gait" attach -o "$folder/second" --hook work --duration 1 "$pid" >"$folder/out" 2>"$folder/err"
    check "hooking after $how was killed: refused" test $? = 0
    "$gait" report "$folder"/second/* >"$folder/report" 2>&1
    check "hooking after $how was killed: nothing recorded" grep -qE ' work( |$)' "$folder/report"
    check "hooking after $how was killed: something is left" test -z "$(grep memfd "/proc/$pid/maps")"
done

how='syscalls -p'
rm -rf "$folder/second"
record "syscalls" syscalls -p "$pid" -o "$folder/calls"
is_refused "attach beside syscalls" attach -o "$folder/second" --duration 1 "$pid"
kill -INT "$recorder"
wait "$recorder" 2>/dev/null

# A child that nobody records has its parent's hooks, and is recorded by itself.
"$gait" spawn --quiet --no-children -o "$folder/third" --hook work -- "$folder/busy" &
recorder=$!
started+=("$recorder")
until_true "the program runs" find_child "$recorder"
program=$child
started+=("$program")
until_true "the program has a child" find_child "$program"
started+=("$child")
"$gait" attach -o "$folder/fourth" --hook work --duration 1 "$child" >"$folder/out" 2>"$folder/err"
check "the child of a recorded process: refused" test $? = 0
"$gait" report "$folder"/fourth/* >"$folder/report" 2>&1
check "the child of a recorded process: nothing recorded" grep -qE ' work( |$)' "$folder/report"
refuses 1 "process $program is recorded already, by process $recorder (" attach -o "$folder/fifth" "$program"
refuses 1 "named twice" syscalls -c -p "$pid" -p "$pid"

check "a process has not survived" kill -0 "$pid" "$program" "$child"
finish
