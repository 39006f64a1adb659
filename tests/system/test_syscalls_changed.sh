#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# System calls that are made to fail, to wait, to come with a signal; and several processes that are watched at once: by
# stopping threads and from inside, with the same outcome.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

# Injection, by both that can do it.
for via in ptrace inside; do
    checks=$((checks + 1))
    "$gait" syscalls --via $via -o "$folder/x" -e trace=openat -e inject=openat:error=EACCES:when=3+ cat /etc/passwd \
        >"$folder/out" 2>"$folder/err" && fail "$via: cat could read"
    grep -q 'Permission denied' "$folder/err" || fail "$via: cat does not say why"
    [[ $(head -n 2 "$folder/x" | grep -c INJECTED) == 0 ]] || fail "$via: the first ones are not meant" "$folder/x"
    grep -q '= -1 EACCES (Permission denied) (INJECTED)$' "$folder/x" || fail "$via: the injection is not told" "$folder/x"

    checks=$((checks + 1))
    "$gait" syscalls --via $via -o "$folder/x" -e trace=chdir -e inject=chdir:retval=0:when=2 \
        sh -c 'cd /no/such || cd /no/such || exit 7' 2>"$folder/err" || fail "$via: the second one was not answered" "$folder/x"
    grep -q '= 0 (INJECTED)$' "$folder/x" || fail "$via: the answer is not told" "$folder/x"

    # Only what is shown is shown; what is not happens all the same.
    checks=$((checks + 1))
    "$gait" syscalls --via $via -T -o "$folder/x" -e trace=chdir -e inject=chdir:delay_enter=60ms -e inject=umask:retval=63 \
        sh -c 'cd /; umask' >"$folder/out" 2>"$folder/err"
    grep -q '^chdir("/").* = 0 (DELAYED) <0.[0-9]*>$' "$folder/x" || fail "$via: the delay is not told" "$folder/x"
    grep -q '<0.0[0-5]' "$folder/x" && fail "$via: there was no delay" "$folder/x"
    grep -q '^0077$' "$folder/out" || fail "$via: umask does not say 077" "$folder/out"

    # A signal comes with the answer, before the next command.
    checks=$((checks + 1))
    "$gait" syscalls --via $via -o "$folder/x" -e trace=chdir -e inject=chdir:error=EIO:signal=USR1 \
        dash -c 'trap "echo got" USR1; cd /; echo after' >"$folder/out" 2>/dev/null
    [[ $(tr '\n' ' ' <"$folder/out") == 'got after ' ]] || fail "$via: the signal did not come" "$folder/out"

    # Each thread and child counts for itself; a child that cannot be made is no end.
    checks=$((checks + 1))
    "$gait" syscalls --via $via -f -o "$folder/x" -e trace=chdir -e inject=chdir:error=EIO:when=1 \
        sh -c 'cd /; (cd /; cd /); cd /' 2>/dev/null
    [[ $(grep -c INJECTED "$folder/x") == 2 ]] || fail "$via: the first of each is meant" "$folder/x"
    checks=$((checks + 1))
    "$gait" syscalls --via $via -f -o "$folder/x" -e trace=process -e inject=clone,clone3,fork,vfork:error=EAGAIN \
        dash -c '/bin/true || exit 5' >/dev/null 2>&1
    grep -q 'EAGAIN.*(INJECTED)$' "$folder/x" || fail "$via: no child was refused" "$folder/x"
done
refuses 1 'a signal cannot come' syscalls --via inside -e inject=chdir:signal=USR1 true

# Several processes at once, by all that can do it.
ways=(ptrace inside)
! "$gait" syscalls --via kernel -o "$folder/x" true 2>"$folder/err" || ways+=(kernel)
for via in "${ways[@]}"; do
    loops=()
    for _ in 1 2; do
        perl -e 'while (1) { chdir "/"; select(undef, undef, undef, 0.02); }' &
        loops+=($!)
        started+=($!)
        until_true 'the program runs' grep -q perl "/proc/$!/comm"
    done
    rm -f "$folder/x"
    "$gait" syscalls -f --via "$via" -o "$folder/x" -e trace=chdir -p "${loops[0]},${loops[1]}" &
    watcher=$!
    until_true "$via: calls of the first are seen" grep -q "^${loops[0]} *chdir" "$folder/x"
    until_true "$via: calls of the second are seen" grep -q "^${loops[1]} *chdir" "$folder/x"
    kill -INT "$watcher"
    wait "$watcher"
    check "$via: leaving both is no failure" test $? = 0
    check "$via: both live" kill -0 "${loops[@]}"
    kill "${loops[@]}"
done

finish
