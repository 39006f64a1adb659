#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# System calls as they are seen from inside: all of them, in their order, with their results, of programs that count
# their own and of programs that others wrote, compared with strace; and what happens when somebody is killed meanwhile.
# configurations: debug-*
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

command -v strace >/dev/null || {
    echo "SKIP: strace is not installed"
    exit 77
}
gcc -O1 -pthread -o "$folder/storm" tests/system/programs/system_call_storm.c || exit 1

# ask "SQL": the answer, without its heading
ask() {
    "$gait" query "$folder"/traces/* --csv "$1" 2>"$folder/err" | tail -n +2 | tr -d '\r'
}

# record options... -- program...
record() {
    checks=$((checks + 1))
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" "$@" >"$folder/said" 2>"$folder/err" </dev/null ||
        fail "$*: it fails" "$folder/err"
    [[ ! -s $folder/err ]] || fail "$*: it says something" "$folder/err"
    "$gait" verify "$folder"/traces/* >"$folder/verified" 2>&1 || fail "$*: a bad trace" "$folder/verified"
}

# Every call is told once, whatever signals come in between.
for how in "" "--follow=none" "--follow=call,ret" "--hook=*"; do
    # shellcheck disable=SC2086
    record --syscalls $how -- "$folder/storm"
    # shellcheck disable=SC2094
    while read -r name count; do
        [[ $name == EINTR ]] && continue
        checks=$((checks + 1))
        [[ $(ask "select count(*) from syscalls where name = '$name'") == "$count" ]] ||
            fail "storm $how: $name was made $count times, not $(ask "select count(*) from syscalls where name = '$name'")" "$folder/said"
    done <"$folder/said"
    checks=$((checks + 1))
    [[ $(ask "select count(*) from syscalls where name = 'getpgrp'") == 3 ]] || fail "storm $how: children are not told" "$folder/err"
    [[ $(ask "select count(*) from syscalls where name like '%nanosleep' and error = 4") != 0 ]] ||
        fail "storm $how: no sleep was interrupted" "$folder/err"
done

# Only those of the set, and the report, replay and exports have them.
record --syscalls=getppid,%file -- "$folder/storm"
checks=$((checks + 1))
[[ $(ask "select count(distinct name) from syscalls where name not in ('getppid', 'openat', 'access', 'execve', 'newfstatat', 'readlink')") == 0 ]] ||
    fail "others than those of the set are told" "$folder/err"
"$gait" report "$folder"/traces/* >"$folder/report" 2>&1 || fail "no report" "$folder/report"
grep -q " getppid$" "$folder/report" || fail "the report has no system calls" "$folder/report"
"$gait" replay "$folder"/traces/* >"$folder/replay" 2>&1 || fail "no replay" "$folder/replay"
grep -q "syscall openat(AT_FDCWD, \"/etc/ld.so.cache\"" "$folder/replay" || fail "the replay has no openat" "$folder/replay"
for format in chrome json csv; do
    checks=$((checks + 1))
    "$gait" export --format "$format" "$folder"/traces/* -o "$folder/exported" >"$folder/err" 2>&1 || fail "$format: no export" "$folder/err"
    grep -q "openat" "$folder/exported" || fail "$format: no openat" "$folder/err"
    rm -f "$folder/exported"
done
"$gait" spawn --quiet --syscalls=opennat -o "$folder/traces" -- true >"$folder/err" 2>&1
[[ $? == 2 ]] || fail "a set that is none is taken" "$folder/err"
grep -q "openat" "$folder/err" || fail "nobody says what was meant" "$folder/err"

# The same as strace, call by call, but for what differs from run to run: numbers of processes, addresses, random bytes.
words() {
    grep -v -E '^(---|\+\+\+)' "$1" | sed -E 's/^([a-z0-9_]+)\(.*\) += (-?[0-9]+|0x[0-9a-f]+|\?).*/\1 \2/; s/0x[0-9a-f]+/ADDRESS/' |
        sed -E 's/^(set_tid_address|getpid|gettid|getppid|vfork|clone|wait4) .*/\1 ID/' | grep -v '^rt_sigreturn'
}
compare() {
    checks=$((checks + 1))
    "$gait" syscalls -o "$folder/ours" "$@" >"$folder/said" 2>"$folder/err" </dev/null || fail "$*: gait syscalls fails" "$folder/err"
    strace -o "$folder/theirs" "$@" >"$folder/said.strace" 2>"$folder/err" </dev/null || fail "$*: strace fails" "$folder/err"
    words "$folder/ours" >"$folder/ours.words"
    words "$folder/theirs" >"$folder/theirs.words"
    diff "$folder/theirs.words" "$folder/ours.words" >"$folder/difference" || fail "$*: others than strace's" "$folder/difference"
}
compare ls -l /usr/share
compare tar cf "$folder/tarred" -C docs .
compare cat /etc/passwd
compare git --version
compare sh -c 'cd /; pwd; echo a > /dev/null'
# A program that the first one executes is the same process; children are not told, nor waited for.
compare dash -c "/bin/true; exec /bin/echo a"
compare env -i /bin/echo a

# Processes are told apart, and what a program that is executed does as well.
checks=$((checks + 1))
"$gait" syscalls -f -o "$folder/ours" -- sh -c '/bin/true; (cd /; exec /bin/true)' 2>"$folder/err" || fail "children: it fails" "$folder/err"
[[ $(grep -c 'execve("/bin/true"' "$folder/ours") == 2 ]] || fail "children: two programs are executed" "$folder/ours"
[[ $(grep -c 'exit_group(0)' "$folder/ours") -ge 3 ]] || fail "children: three processes end" "$folder/ours"

# Where there is hardly any stack, calls are what they are without us, and are told all the same.
gcc -O1 -pthread -o "$folder/small" tests/programs/x86_64/small_stacks.c || exit 1
"$folder/small" >"$folder/said.alone"
checks=$((checks + 1))
"$gait" syscalls -f -c -o "$folder/ours" "$folder/small" >"$folder/said" 2>"$folder/err" || fail "small stacks: it fails" "$folder/err"
diff "$folder/said.alone" "$folder/said" >"$folder/difference" || fail "small stacks: the program does something else" "$folder/difference"
grep -q ' 1240 *getppid$' "$folder/ours" || fail "small stacks: not all calls are told" "$folder/ours"

# The one that looks is killed: the program goes on, and none of its calls fails. (It ends with 0 only if none did.)
checks=$((checks + 1))
rm -rf "$folder/traces"
"$gait" spawn --quiet --syscalls -o "$folder/traces" -- bash -c "for i in 1 2 3; do '$folder/storm' || exit 1; done; echo good >'$folder/good'" >/dev/null 2>&1 &
recorder=$!
sleep 0.5
kill -9 $recorder
until_true "the program survives the death of gait" test -s "$folder/good"
wait

# The program is killed: what it did until then is there.
checks=$((checks + 1))
rm -rf "$folder/traces"
"$gait" spawn --quiet --syscalls -o "$folder/traces" -- sh -c 'cat /etc/hostname >/dev/null; kill -9 $$' >/dev/null 2>&1
[[ $(ask "select count(*) from syscalls where name = 'kill' or name = 'openat'") -gt 2 ]] || fail "what was killed told nothing" "$folder/err"

# A process that runs, and sleeps in a call: it is attached to and left, and its call goes on.
checks=$((checks + 1))
rm -rf "$folder/traces"
mkfifo "$folder/pipe"
# shellcheck disable=SC2016
bash -c 'read -r line < "$1"; echo "$line" > "$2"' - "$folder/pipe" "$folder/line" &
started+=($!)
sleep 0.3
"$gait" attach --quiet --syscalls --duration 1 -o "$folder/traces" "${started[0]}" >"$folder/err" 2>&1 || fail "attach: it fails"
echo words >"$folder/pipe"
until_true "the call that was under way goes on" grep -q words "$folder/line"
wait

finish
