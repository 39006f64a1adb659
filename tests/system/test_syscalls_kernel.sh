#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# System calls as the kernel's tracepoints show them: the same as strace's, call by call, for each process in its order;
# what is lost is said; and nothing stays behind in the kernel or in the process.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

"$gait" syscalls --via kernel -o "$folder/x" true 2>"$folder/err" || {
    echo "SKIP: $(head -n 1 "$folder/err")"
    exit 77
}
if [[ -s $folder/err ]]; then
    echo "SKIP: only tracepoints: $(head -n 1 "$folder/err")"
    exit 77
fi

# compare name program...: runs it under both
compare() {
    local name=$1
    shift
    timeout 60 strace -f -o "$folder/$name.strace" "$@" >"$folder/out" 2>/dev/null </dev/null
    local expected=$?
    timeout 60 "$gait" syscalls -f -o "$folder/$name.gait" --via kernel "$@" >"$folder/out" 2>/dev/null </dev/null
    local status=$?
    checks=$((checks + 1))
    [[ $status == "$expected" ]] || fail "$name: ends with $status, under strace with $expected"
    cat tests/data/syscalls_differences tests/data/syscalls_differences_kernel >"$folder/differences"
    tests/system/syscalls_compare.py "$folder/$name.strace" "$folder/$name.gait" "$folder/differences" \
        >"$folder/compared" || fail "$name: strace writes something else" "$folder/compared"
    echo "$name: $(tail -n 1 "$folder/compared")"
}

if command -v strace >/dev/null; then
    mkdir "$folder/project"
    seq 1000 >"$folder/project/numbers"
    compare ls ls -lR /etc/default
    compare tar tar -C "$folder" -cf /dev/null project
    compare python3 /usr/bin/python3 -I tests/system/programs/syscalls.py "$folder/project"
    compare shell dash tests/system/programs/forks.sh
    # shellcheck disable=SC2016
    compare perl perl -e 'open F, "<", "/etc/passwd"; print <F>; mkdir "/no/such"; print `echo child`; exit 3'
else
    echo 'not installed: strace'
fi

# All of many calls come; each is counted once.
checks=$((checks + 1))
"$gait" syscalls --via kernel -c -e trace=write -o "$folder/x" dd if=/dev/zero of=/dev/null bs=1 count=100000 2>"$folder/err"
grep -q ' 10000[0-9] *write$' "$folder/x" || fail 'a hundred thousand writes' "$folder/x"
grep -q lost "$folder/err" && fail 'something was lost' "$folder/err"

# Who reads stands still meanwhile: what the ring had no room for is counted, and said.
checks=$((checks + 1))
mkfifo "$folder/pipe"
"$gait" syscalls --via kernel -c -o "$folder/x" sh -c "read x <'$folder/pipe'; exec dd if=/dev/zero of=/dev/null bs=1 count=400000" 2>"$folder/err" &
watcher=$!
exec 9>"$folder/pipe"
kill -STOP "$watcher"
echo go >&9
exec 9>&-
sleep 0.2
# Nobody has waited for it yet.
has_ended() { [[ $(ps -o stat= --ppid "$watcher") == Z* ]]; }
until_true 'the program has ended' has_ended
kill -CONT "$watcher"
wait "$watcher"
grep -q 'gait: [0-9]* records were lost' "$folder/err" || fail 'nobody says that something was lost' "$folder/err"

# A process that runs is watched and left; the same if who looks is killed.
sh -c 'i=0; while :; do i=$((i + 1)); sleep 0.02; done' &
loop=$!
started+=("$loop")
for end in INT KILL; do
    "$gait" syscalls --via kernel -f -o "$folder/x" -p "$loop" &
    watcher=$!
    until_true 'calls of the process are seen' grep -q '^[0-9]* *\(clone\|vfork\|wait4\|<... \)' "$folder/x"
    kill "-$end" "$watcher"
    wait "$watcher" 2>/dev/null
    status=$?
    [[ $end == KILL || $status == 0 ]] || fail "leaving is a failure: $status"
    check 'the process lives' kill -0 "$loop"
    check 'nobody traces it' grep -q '^TracerPid:[[:space:]]*0$' "/proc/$loop/status"
    rm -f "$folder/x"
done
if command -v bpftool >/dev/null; then
    no_program_is_left() { ! bpftool prog show 2>/dev/null | grep -q 'name on_leave'; }
    until_true 'no program stays in the kernel' no_program_is_left
fi

# Signals that handlers get are told, and so is how a process ended.
checks=$((checks + 1))
"$gait" syscalls --via kernel -e trace=rt_sigreturn -o "$folder/x" dash -c 'trap : USR1; kill -USR1 $$; kill -KILL $$'
grep -q '^--- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER' "$folder/x" || fail 'a signal is not told' "$folder/x"
grep -q '^rt_sigreturn({mask=\[\]})' "$folder/x" || fail 'rt_sigreturn is not told' "$folder/x"
grep -q '^+++ killed by SIGKILL +++$' "$folder/x" || fail 'an end by a signal is not told' "$folder/x"

refuses 1 'cannot be changed' syscalls --via kernel -e inject=read:error=EIO true
refuses 2 'stacks are not seen' syscalls --via kernel -k true
refuses 1 'there is no such process' syscalls --via kernel -p 67108863
if command -v setpriv >/dev/null && [[ $(id -u) == 0 ]]; then
    mkdir -m 755 "$folder/open"
    chmod 755 "$folder"
    cp "$gait" "$folder/open/gait"
    checks=$((checks + 1))
    setpriv --reuid 65534 --regid 65534 --clear-groups "$folder/open/gait" syscalls --via kernel true 2>"$folder/err"
    [[ $? == 1 ]] || fail 'a user who may not sees something' "$folder/err"
    grep -q "try as root, or '--via inside'" "$folder/err" || fail 'nobody says what to do without privilege' "$folder/err"
fi

# What descriptors are is told if it is certain, and nothing else is: the same number means one file after the other.
checks=$((checks + 2))
"$gait" syscalls --via kernel -y -e trace=openat,read,close,dup2 -o "$folder/fds" dash -c \
    'exec 5</etc/hostname; sleep 0.3; read -r line <&5; cat /etc/hostname /etc/passwd /etc/group; exit' >/dev/null 2>"$folder/err" ||
    fail 'descriptors in the kernel: it fails'
grep -q '5</etc/hostname>' "$folder/fds" || fail 'descriptors in the kernel: one that stays open is not told' "$folder/fds"
awk -F'[<>]' '/^openat.* = 3/ { split($0, parts, "\""); wanted = parts[2] }
    /^(read|close)\(3</ { sub(".*/", "", wanted); if (index($2, substr(wanted, 1, 4)) == 0) exit 1 }' "$folder/fds" ||
    fail 'descriptors in the kernel: one is told as another file' "$folder/fds"

finish
