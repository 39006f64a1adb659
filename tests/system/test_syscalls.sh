#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# System calls as gait writes them: the same calls, in the same order for each process, with the same texts and results
# as strace's; attaching and leaving; what is said of wrong arguments.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

all_fail='inject=!execve,exit_group,exit:error=EXDEV'

# Both have a minute: a call that waits for ever is a failure, not the end of all tests.
run_both() {
    local name=$1
    shift
    timeout 60 strace -f -o "$folder/$name.strace" "$@" >"$folder/out.strace" 2>/dev/null </dev/null
    strace_status=$?
    timeout 60 "$gait" syscalls -f -o "$folder/$name.gait" --via ptrace "$@" >"$folder/out.gait" 2>/dev/null </dev/null
    gait_status=$?
}

# compare name program...: runs it under both
compare() {
    local name=$1
    run_both "$@"
    checks=$((checks + 1))
    [[ $strace_status == "$gait_status" ]] || fail "$name: ends with $gait_status, under strace with $strace_status"
    tests/system/syscalls_compare.py "$folder/$name.strace" "$folder/$name.gait" tests/data/syscalls_differences \
        >"$folder/compared" || fail "$name: strace writes something else" "$folder/compared"
    echo "$name: $(tail -n 1 "$folder/compared")"
}

if command -v strace >/dev/null; then
    mkdir "$folder/project"
    git -C "$folder/project" init -q
    seq 1000 >"$folder/project/numbers"
    git -C "$folder/project" add numbers
    git -C "$folder/project" -c user.name=gait -c user.email=gait@localhost commit -q -m numbers

    compare ls ls -lR /etc/default
    compare tar tar -C "$folder" -cf /dev/null project
    compare git git -C "$folder/project" log -p
    compare tree git -C "$folder/project" ls-tree -r HEAD
    compare python3 /usr/bin/python3 -I tests/system/programs/syscalls.py "$folder/project"
    # shellcheck disable=SC2016
    compare perl perl -e 'open F, "<", "/etc/passwd"; print <F>; mkdir "/no/such"; print `echo child`; exit 3'
    compare sqlite3 sqlite3 :memory: 'create table t(a, b); insert into t values (1, 2), (3, 4); select sum(a) from t;'
    compare shell dash tests/system/programs/forks.sh
    # Bash is left out: it waits for children in a handler, so its calls come in another order each time.

    # Every call, with arguments that mean something to nearly every set of names.
    for value in 0 1 2 3 5 7 16 0x80 0x400 0x1000 0x10000 0x80000 -1; do
        gcc -O1 -static -nostdlib -fno-stack-protector "-DVALUE=$value" -o "$folder/every" \
            tests/system/programs/every_syscall.c
        timeout 60 strace -f -o "$folder/every.strace" -e "$all_fail" "$folder/every"
        timeout 60 "$gait" syscalls -f --via ptrace -o "$folder/every.gait" -e "$all_fail" "$folder/every"
        checks=$((checks + 1))
        tests/system/syscalls_compare.py "$folder/every.strace" "$folder/every.gait" \
            tests/data/syscalls_differences_every >"$folder/compared" ||
            fail "every call with $value: strace writes something else" "$folder/compared"
        echo "every call with $value: $(tail -n 1 "$folder/compared")"
    done
else
    echo 'not installed: strace'
fi

# The program's status is passed on.
for status in 0 3; do
    checks=$((checks + 1))
    "$gait" syscalls -o "$folder/x" sh -c "exit $status"
    [[ $? == "$status" ]] || fail "a status of $status is not passed on"
done
checks=$((checks + 1))
"$gait" syscalls -o "$folder/x" sh -c 'kill -KILL $$'
[[ $? == 137 ]] || fail 'an end by a signal is not passed on'
grep -q '^+++ killed by SIGKILL +++$' "$folder/x" || fail 'an end by a signal is not told' "$folder/x"

# Attaching, and leaving by Ctrl-C: the process goes on, and no one traces it.
sh -c 'i=0; while :; do i=$((i + 1)); sleep 0.02; done' &
loop=$!
started+=("$loop")
"$gait" syscalls -f -o "$folder/x" -p "$loop" &
watcher=$!
until_true 'calls of the process are seen' grep -q '^[0-9]* *\(clone\|vfork\|wait4\|<... \)' "$folder/x"
kill -INT "$watcher"
wait "$watcher"
check 'leaving is no failure' test $? = 0
check 'the process lives' kill -0 "$loop"
check 'nobody traces it' grep -q '^TracerPid:[[:space:]]*0$' "/proc/$loop/status"

# The same when gait is killed.
"$gait" syscalls -f -o "$folder/x" -p "$loop" &
watcher=$!
until_true 'calls of the process are seen again' grep -q '^[0-9]* *\(clone\|vfork\|wait4\|<... \)' "$folder/x"
kill -KILL "$watcher"
wait "$watcher" 2>/dev/null
sleep 0.2
check 'the process outlives a killed gait' kill -0 "$loop"
check 'nobody traces it then' grep -q '^TracerPid:[[:space:]]*0$' "/proc/$loop/status"

# JSON is JSON.
checks=$((checks + 1))
"$gait" syscalls --json -o "$folder/x" -f sh -c '(/bin/date); :' >/dev/null
python3 -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert any(line["kind"] == "call" and line["call"] == "execve" and line["result"] == 0 for line in lines)
assert any(line["kind"] == "exit" and line["status"] == 0 for line in lines)' "$folder/x" 2>"$folder/err" ||
    fail 'what --json writes'

# The table.
checks=$((checks + 1))
"$gait" syscalls -c -o "$folder/x" ls / >/dev/null
[[ $(grep -c ' execve$\| total$' "$folder/x") == 2 ]] || fail 'the table of -c' "$folder/x"

refuses 2 'did you mean openat' syscalls -e trace=opneat ls
refuses 2 'did you mean %file' syscalls -e trace=%flie ls
refuses 2 'there is no such error' syscalls -e inject=read:error=EWHAT ls
refuses 2 'which program' syscalls
refuses 2 'a number of bytes' syscalls -s x ls
refuses 2 'there is no such way' syscalls --via magic ls
refuses 1 'there is no such program' syscalls no-such-program-here
refuses 1 'there is no process 67108863' syscalls -p 67108863
refuses 1 'cannot write' syscalls -o /no/such/file ls

finish
