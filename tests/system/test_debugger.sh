#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A debugger that comes to a process that is recorded: of a followed one it sees the program's stack, and whoever records is
# told that breakpoints are not met; in a hooked one they are. The program does not notice.
# configurations: debug-gcc
# time limit: 120 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

command -v gdb >/dev/null || { echo "skipped: gdb is not installed"; exit 77; }
cat >"$folder/calls.c" <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int called(int number) { __asm__ volatile(""); return number + 1; }
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 400; i++) { sum += called(i); usleep(10000); }
    printf("%d\n", sum);
    return 0;
}
END
gcc -g -O1 -o "$folder/calls" "$folder/calls.c" || exit 1

# debug options -- gdb's commands: what both said is in $folder/err and $folder/gdb
debug() {
    local options=() recorder pid
    while [[ $1 != -- ]]; do options+=("$1"); shift; done
    shift
    "$gait" spawn -o "$folder/traces" "${options[@]}" -- "$folder/calls" >"$folder/out" 2>"$folder/err" &
    recorder=$!
    started+=("$recorder")
    until_true "it runs" pgrep -x -P "$recorder" calls >"$folder/pid" || return
    pid=$(<"$folder/pid")
    sleep 0.3
    timeout 60 gdb -nx -batch -p "$pid" "$@" >"$folder/gdb" 2>&1
    wait "$recorder"
    check "it ends well with ${options[*]}" test $? == 0
    check "it has counted all with ${options[*]}" test "$(<"$folder/out")" == 80200
}

debug --follow none -- -ex bt -ex 'shell sleep 1.5' -ex detach
check "its stack is the program's" grep -q 'in main ()' "$folder/gdb"
check "that it is traced is told" grep -q 'is also traced by process [0-9]* (gdb): its breakpoints' "$folder/err"
debug --hook '*' -- -ex 'break called' -ex continue -ex bt -ex delete -ex detach
check "breakpoints in hooked functions are met" grep -q 'Breakpoint 1, called (' "$folder/gdb"
check "nothing is told of them" test "$(grep -c 'traced by' "$folder/err")" == 0
finish
