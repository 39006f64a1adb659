#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Processes that are elsewhere: in PID and mount namespaces of their own, as in containers, or below another root. Their
# calls are seen, and their functions have names although nobody else sees the files.
# configurations: debug-gcc
# time limit: 120 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

if [[ $EUID != 0 ]] || ! unshare -mpf --mount-proc true 2>/dev/null; then
    echo "skipped: namespaces may not be made here"
    exit 77
fi
command -v gcc >/dev/null || { echo "skipped: there is no gcc"; exit 77; }

cat >"$folder/program.c" <<'END'
#include <stdio.h>
#include <time.h>
static volatile int sink;
__attribute__((noipa)) int work_of_nobody_else(int n)
{
    for (int i = 0; i < 10; i++)
        sink += i * n;
    return n + 1;
}
int main(int count, char **words)
{
    struct timespec pause = {0, 10000000};
    int sum = 0;

    (void)words;
    for (int i = 0; i < 50 || count > 1; i++) {
        sum = work_of_nobody_else(sum);
        if (count > 1)
            nanosleep(&pause, 0);
    }
    printf("%d\n", sum);
    return 0;
}
END
if ! gcc -O1 -o "$folder/program" "$folder/program.c" || ! gcc -O1 -static -o "$folder/static" "$folder/program.c"; then
    echo "skipped: no program can be made here"
    exit 77
fi

# named "what" command...: records it; its output is whole, and its function has its name
named() {
    local what=$1 trace
    shift
    checks=$((checks + 1))
    rm -rf "$folder/traces"
    timeout 60 "$gait" spawn -o "$folder/traces" "$@" >"$folder/out" 2>"$folder/err" </dev/null ||
        fail "$what: status $?"
    grep -q '^50$' "$folder/out" || fail "$what: another output" "$folder/out"
    trace=$(find "$folder/traces" -mindepth 1 -maxdepth 1)
    "$gait" replay "$trace" >"$folder/report" 2>&1
    grep -q 'work_of_nobody_else' "$folder/report" || fail "$what: the function has no name" "$folder/report"
}

mkdir "$folder/mounted" "$folder/root"
cat >"$folder/mounts.sh" <<END
mount -t tmpfs none $folder/mounted && cp $folder/program $folder/mounted/hidden && $folder/mounted/hidden
END
named "a program on a file system that only it sees" unshare -m sh "$folder/mounts.sh"
[[ ! -e $folder/mounted/hidden ]] || fail "the file system is seen by others"
mkdir "$folder/root/proc"
cp "$folder/static" "$folder/root/below"
named "a program below another root" unshare -m \
    sh -c "mount -t proc proc $folder/root/proc && chroot $folder/root /below"
checks=$((checks + 1))
timeout 60 "$gait" spawn -o "$folder/traces" chroot "$folder/root" /below >"$folder/out" 2>"$folder/err"
grep -q 'not recorded: .*no /proc' "$folder/err" || fail "no /proc below another root: no reason"
grep -q '^50$' "$folder/out" || fail "no /proc below another root: another output" "$folder/out"
named "a program in a PID namespace" unshare -pf --mount-proc "$folder/program"

# calls_of options...: the calls of a process in a namespace of its own, by its number here
calls_of() {
    local pid
    unshare -pf --mount-proc "$folder/program" on &
    started+=($!)
    until_true "the program runs" pgrep -P "${started[-1]}" >/dev/null
    pid=$(pgrep -P "${started[-1]}")
    started+=("$pid")
    until_true "the program runs" grep -q program "/proc/$pid/comm"
    timeout -s INT 3 "$gait" syscalls -o "$folder/calls" "$@" -p "$pid" >"$folder/out" 2>"$folder/err"
    checks=$((checks + 1))
    grep -q 'nanosleep(' "$folder/calls" || fail "gait syscalls $*: no calls in a PID namespace" "$folder/calls"
    kill -KILL "$pid"
}
calls_of
calls_of -f
finish
