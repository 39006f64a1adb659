#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that may not have much: few files, small ones, little memory, a small stack; no /proc to look into; and
# programs that would give privileges to others than root. The program runs as it does without gait, and what is not
# recorded is said.
# configurations: debug-gcc
# time limit: 180 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

# limited LIMIT command...: runs it with that limit of bash's ulimit, and no files open but the first three
limited() {
    local limit=$1
    shift
    # shellcheck disable=SC2086
    (exec 3>&- 4>&- 5>&-; ulimit $limit && exec timeout -k 5 60 "$@") >"$folder/out" 2>"$folder/err" </dev/null
}

# runs STATUS TEXT LIMIT arguments...: gait ends so with that limit, the program's output is whole, and TEXT is said
runs() {
    local expected=$1 text=$2 limit=$3 status
    shift 3
    checks=$((checks + 1))
    rm -rf "$folder/traces"
    limited "$limit" "$gait" "$@" /bin/echo it ran
    status=$?
    [[ $status == "$expected" ]] || fail "ulimit $limit, gait $1: status $status"
    [[ $(<"$folder/out") == "it ran" ]] || fail "ulimit $limit, gait $1: the program did not run" "$folder/out"
    grep -q -F -- "$text" "$folder/err" || fail "ulimit $limit, gait $1: not said: $text"
}

# Root raises hard limits where it has the right to, and records; nobody else does.
can_raise() { (ulimit -n 6 && prlimit --pid "$BASHPID" --nofile=64) 2>/dev/null; }
if can_raise; then
    few="0 nothing lost" small="0 nothing lost"
else
    few="125 runs without being recorded" small="125 runs without being recorded"
fi
for options in "" "--follow call,ret" "--syscalls"; do
    # shellcheck disable=SC2086
    {
        runs "${few%% *}" "${few#* }" "-n 6" spawn -o "$folder/traces" $options
        runs "${small%% *}" "${small#* }" "-f 8" spawn -o "$folder/traces" $options
        runs 125 "runs without being recorded" "-v 200000" spawn -o "$folder/traces" $options
        runs 0 "nothing lost" "-S -n 6" spawn -o "$folder/traces" $options
        runs 0 "nothing lost" "-S -f 8" spawn -o "$folder/traces" $options
        runs 0 "nothing lost" "-s 64" spawn -o "$folder/traces" $options
    }
done
runs 0 "exited with 0" "-v 200000" syscalls --
grep -q 'write(1, "it ran' "$folder/err" || fail "gait syscalls does not show calls by ptrace instead"
can_raise || runs 1 "ran without its calls being seen" "-n 6" syscalls --

# With a limit that may be raised, no call is missed.
/bin/ls / >"$folder/native"
limited "-n 1000" "$gait" syscalls /bin/ls /
wanted=$(grep -c '(' "$folder/err")
limited "-S -n 6" "$gait" syscalls /bin/ls /
checks=$((checks + 1))
[[ $(grep -c '(' "$folder/err") == "$wanted" ]] || fail "calls are missing with few files"

# What a shell that is recorded takes from its children.
cat >"$folder/limits.sh" <<'END'
(ulimit -f 8; /bin/echo small; (echo fork))
(ulimit -v 200000; /bin/echo little; (echo fork))
(ulimit -n 6; /bin/echo few; (echo fork))
exit 7
END
sh "$folder/limits.sh" >"$folder/native"
checks=$((checks + 1))
timeout 60 "$gait" spawn -o "$folder/traces" sh "$folder/limits.sh" >"$folder/out" 2>"$folder/err"
[[ $? == 7 ]] || fail "limits of children: another status"
cmp -s "$folder/native" "$folder/out" || fail "limits of children: another output" "$folder/out"
can_raise || grep -q "is not recorded: .*ulimit -f" "$folder/err" || fail "small files of a child: not said"
grep -q "is not recorded: .*ulimit -v" "$folder/err" || fail "little memory of a child: not said"

# A process that is attached to goes on.
(ulimit -v 200000; exec sleep 60) &
started+=($!)
until_true "sleep begins" grep -q sleep "/proc/${started[0]}/comm"
can_raise || refuses 1 "ulimit -v" attach --duration 1 -o "$folder/traces" "${started[0]}"
check "it goes on" kill -0 "${started[0]}"

if [[ $EUID == 0 ]] && unshare -m true 2>/dev/null; then
    checks=$((checks + 1))
    unshare -m sh -c "mount -t tmpfs none /proc && timeout 20 $gait spawn -o $folder/traces /bin/true" 2>"$folder/err"
    grep -q "something covers it" "$folder/err" || fail "covered /proc: no reason"
    grep -q "signal 9" "$folder/err" && fail "covered /proc: signal 9 is said"
    checks=$((checks + 1))
    unshare -pf sh -c "timeout 20 $gait spawn -o $folder/traces /bin/true; exit 0" 2>"$folder/err"
    grep -q "another PID namespace" "$folder/err" || fail "another /proc: no reason"
else
    echo "not tried: /proc cannot be covered here"
fi

# Root gains nothing by a program that becomes root; a shell that starts it by vfork is looked at before.
if [[ $EUID == 0 && -u $(command -v su) ]]; then
    checks=$((checks + 1))
    rm -rf "$folder/traces"
    echo 'su nobody -s /bin/sh -c "echo su ran; exit 0"; echo over' >"$folder/su.sh"
    timeout 60 "$gait" spawn -o "$folder/traces" sh "$folder/su.sh" >"$folder/out" 2>"$folder/err"
    printf 'su ran\nover\n' | cmp -s - "$folder/out" || fail "su: another output" "$folder/out"
    grep -q "not recorded" "$folder/err" && fail "su is not recorded"
    grep -q '"su"' "$folder"/traces/*/manifest.json || fail "su is not in the trace" "$folder"/traces/*/manifest.json
else
    echo "not tried: su is not there, or gives nothing"
fi

finish
