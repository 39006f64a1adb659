#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gait spawn and gait attach on programs that nobody here wrote: they do what they would, and the trace is good.
# configurations: debug-gcc
# shellcheck disable=SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

# The trace that was made last.
last_trace() {
    find "$folder/traces" -mindepth 1 -maxdepth 1 -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-
}

# same options... -- program...: its output and status are what they are without gait, and the trace can be vouched for
same() {
    local options=() status natively trace
    while [[ $1 != -- ]]; do options+=("$1"); shift; done
    shift
    checks=$((checks + 1))
    "$@" >"$folder/native" 2>"$folder/native_err" </dev/null
    natively=$?
    "$gait" spawn --quiet -o "$folder/traces" "${options[@]}" -- "$@" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    [[ $status == "$natively" ]] || fail "$*: status $status, natively $natively"
    cmp -s "$folder/native" "$folder/out" || fail "$*: another output"
    cmp -s "$folder/native_err" "$folder/err" || fail "$*: another output on standard error"
    trace=$(last_trace)
    "$gait" verify "$trace" >"$folder/err" 2>&1 || fail "$*: a bad trace"
    "$gait" report "$trace" >"$folder/report" 2>"$folder/err" || fail "$*: no report"
}

for events in none call,ret block exec; do
    same --follow "$events" -- true
    same --follow "$events" -- ls /usr
    same --follow "$events" -- sh -c 'echo out; echo err >&2; exit 3'
    same --follow "$events" -- sh -c 'kill -SEGV $$'
done
same --times -- sh -c 'seq 1 100 | sort -r | head -n 3'
same --compress -- gzip -c /bin/ls
same --overflow drop --buffer 4K -- sort /etc/services /etc/passwd
same --follow call,ret -- bash -c 'for i in 1 2 3; do (echo $i); done; wait'
same --follow call,ret -- grep -c root /etc/passwd
same --follow call,ret -- awk 'BEGIN { for (i = 0; i < 1000; i++) s += i; print s }'
same --follow call,ret -- perl -e 'print join(",", map { $_ * $_ } 1 .. 20), "\n"'
same --follow call,ret -- find /usr/include/linux -name 'a*.h'

# Names are found, and calls are counted.
checks=$((checks + 1))
"$gait" spawn --quiet -o "$folder/traces" --follow call -- ls / >/dev/null 2>"$folder/err"
"$gait" report --limit 1000 "$(last_trace)" >"$folder/report" 2>>"$folder/err"
grep -q '  libc.so.6$' "$folder/report" || fail "ls calls nothing of libc"

# What stands behind the program is the program's.
same --follow none -- ls --help
checks=$((checks + 1))
"$gait" spawn --quiet -o "$folder/traces" ls --help >"$folder/out" 2>"$folder/err"
cmp -s <(ls --help) "$folder/out" || fail "spawn ls --help shows something else"
checks=$((checks + 1))
"$gait" spawn --help >"$folder/out" 2>"$folder/err"
grep -q 'gait spawn' "$folder/out" || fail "spawn --help shows no help"

# The folder's name is said.
checks=$((checks + 1))
"$gait" spawn -o "$folder/traces" -- true 2>"$folder/err"
grep -q -F "$(last_trace)" "$folder/err" || fail "the trace's name is not said"

before=$(ls "$folder/traces")
refuses 1 "there is no such program" spawn -o "$folder/traces" -- /no/such/program
refuses 1 "there is no such program in PATH" spawn -o "$folder/traces" -- no-such-program
refuses 1 "--output" spawn -o /dev/null/x -- true
refuses 1 "there is no process" attach -o "$folder/traces" 4000000
checks=$((checks + 1))
[[ $(ls "$folder/traces") == "$before" ]] || fail "what could not be recorded has left a trace"
# A program whose limits leave no room for recording runs all the same.
checks=$((checks + 1))
(ulimit -v 1000000 && "$gait" spawn -o "$folder/traces" -- touch "$folder/touched" 2>"$folder/err") && fail "spawn without memory"
grep -q 'ulimit -v' "$folder/err" || fail "nothing is said about too little memory"
[[ -e $folder/touched ]] || fail "what could not be recorded has not run"
refuses 2 "which program" spawn
refuses 2 "which process" attach
refuses 2 "no such option" spawn --nonsense -- true

# What is not allowed is said, with what to do.
sleep 100 &
process=$!
if [[ $(id -u) == 0 ]]; then
    cp "$gait" "$folder/gait"
    mkdir -m 777 "$folder/theirs"
    chmod 755 "$folder" "$folder/gait"
    everybody=$gait
    gait="$folder/as_nobody"
    printf '#!/bin/sh\nexec setpriv --reuid=65534 --clear-groups "%s" "$@"\n' "$folder/gait" >"$gait"
    chmod 755 "$gait"
    refuses 1 "belongs to user root; try as that user, or as root" attach -o "$folder/theirs" $process
    mkdir -m 555 "$folder/theirs/closed"
    refuses 1 "choose another one with --output" spawn -o "$folder/theirs/closed" -- true
    gait=$everybody
fi
if command -v strace >/dev/null; then
    strace -o /dev/null -p $process 2>/dev/null &
    tracer=$!
    for _ in {1..100}; do
        grep -q 'TracerPid:.0' /proc/$process/status || break
        sleep 0.05
    done
    refuses 1 "(strace) traces it, and only one can at a time; end that first" attach -o "$folder/traces" $process
    kill $tracer
    wait $tracer 2>/dev/null
fi
kill $process
wait $process 2>/dev/null

# A process that runs is visited, and goes on as it was.
checks=$((checks + 1))
perl -e '$| = 1; for (1 .. 250) { select(undef, undef, undef, 0.03); $s += $_ for 1 .. 1000; } print "$s\n"' >"$folder/out" &
process=$!
sleep 0.5
for events in none call,ret block; do
    "$gait" attach --duration 1 --follow "$events" -o "$folder/traces" $process 2>"$folder/err" || fail "attach: status $?"
    "$gait" verify "$(last_trace)" >>"$folder/err" 2>&1 || fail "attach: a bad trace"
done
grep -q gait /proc/$process/maps && fail "something of gait is left"
wait $process || fail "the process that was visited ended with $?"
[[ $(cat "$folder/out") == 125125000 ]] || fail "the process that was visited counted wrong"

# The recorder is killed: the process goes on.
checks=$((checks + 1))
perl -e 'for (1 .. 60) { select(undef, undef, undef, 0.03); $s += $_ for 1 .. 1000; } print "$s\n"' >"$folder/out" &
process=$!
sleep 0.3
"$gait" attach --quiet -o "$folder/traces" $process 2>"$folder/err" &
recorder=$!
sleep 0.7
kill -KILL $recorder
wait $recorder 2>/dev/null
wait $process || fail "the process whose recorder was killed ended with $?"
[[ $(cat "$folder/out") == 30030000 ]] || fail "the process whose recorder was killed counted wrong"

finish
