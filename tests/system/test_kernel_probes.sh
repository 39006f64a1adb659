#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gait probe on the kernel that runs here, as far as that lets: what is seen of a program is what it does, each event
# once; recorded, filtered and counted in the kernel; and nothing is left behind by a gait that is killed.
# configurations: debug-gcc
# time limit: 120 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

allowed=$("$gait" doctor --json)
# works subject
works() {
    grep -q "\"subject\": \"$1\".*\"works\": \"yes\"" <<<"$allowed"
}
works tracepoint || { echo "skipped: no tracepoints here: $("$gait" doctor | grep '^no *tracepoint')"; exit 77; }
gcc -O1 -g -Iinclude -o "$folder/probed" tests/system/programs/probed_program.c || exit 1
program=$folder/probed

# probe status arguments...
probe() {
    local expected=$1 status
    shift
    checks=$((checks + 1))
    "$gait" probe "$@" >"$folder/out" 2>"$folder/err"
    status=$?
    [[ $status == "$expected" ]] || fail "gait probe $*: status $status"
}

# seen count pattern: so many lines are like that
seen() {
    checks=$((checks + 1))
    [[ $(grep -c -E -- "$2" "$folder/out") == "$1" ]] || fail "not $1 lines like '$2'" "$folder/out"
}

# ---- each event once, with what belongs to it
probe 0 tracepoint:syscalls:sys_enter_getppid -- "$program"
seen 1000 ' sys_enter_getppid __syscall_nr=110'
probe 0 tracepoint:syscalls:sys_enter_getppid tracepoint:syscalls:sys_exit_getppid -- "$program"
seen 1000 ' sys_exit_getppid .*ret='
# What goes in comes out: each enter is followed by its exit.
checks=$((checks + 1))
grep -o 'sys_[a-z]*_getppid' "$folder/out" | uniq -c | awk '$1 != 1' | grep -q . && fail "enter and exit are mixed up" "$folder/out"

if works uprobe; then
    probe 0 "uprobe:$program:add_up" -- "$program"
    seen 1000 ' add_up first=[0-9]+ name=("word"|0x[0-9a-f]+|\?) count=5$'
    seen 1 ' add_up first=999 '
    probe 0 "uretprobe:$program:add_up" -- "$program"
    seen 1000 ' add_up retval='
    seen 1 ' add_up retval=1005$'
    probe 0 "uprobe:$program:add_*" --limit 10 -- "$program"
    seen 10 ' add_up '
    # Threads and children are watched, and nothing that they do fails.
    gcc -O2 -pthread -o "$folder/loop" bench/programs/probed_loop.c || exit 1
    probe 0 "uprobe:$folder/loop:probed" -- "$folder/loop" call 100 3
    seen 300 ' loop +probed arg0='
    probe 0 "uprobe:$folder/loop:probed" "uretprobe:$folder/loop:probed" -- sh -c "$folder/loop call 100 2 & $folder/loop call 100 & wait"
    seen 300 ' probed arg0='
    seen 300 ' probed retval='
    check "something failed in the program" test "$(grep -c '^loop ' "$folder/err")" == 2
    # Others that run the same are not.
    "$folder/loop" call 100000000 >/dev/null 2>&1 &
    started+=($!)
    probe 0 "uprobe:$folder/loop:probed" -- "$folder/loop" call 100
    seen 100 ' probed arg0='
    kill -KILL "${started[0]}"
    wait "${started[0]}" 2>/dev/null
    started=()
    probe 2 "uprobe:$program:add_upp" -- "$program"
    check "no suggestion" grep -q 'did you mean add_up' "$folder/err"
    probe 0 -l "uprobe:$program:add*"
    seen 1 ":add_up\(i32 first, .* count\)"
    probe 0 "usdt:$program:probed:passed" -- "$program"
    seen 100 ' probed:passed'
    probe 0 -l "usdt:$program:*"
    seen 1 ':probed:passed'
fi
if works uprobe && works BPF; then
    probe 0 "usdt:$program:passed" -- "$program"
    seen 1 ' probed:passed arg0=99 arg1=99000$'
    probe 0 "uprobe:$program:add_up" --if 'first >= 10 && first < 20 || first == 999' -- "$program"
    seen 11 ' add_up '
    probe 0 --count "uprobe:$program:add_up" "uretprobe:$program:add_up" -- "$program"
    seen 2 '^ +1000  u'
    probe 0 --hist first "uprobe:$program:add_up" -- "$program"
    seen 1 '^  \[512, 1K\) +488 '
    seen 1 '^  \[0\] +1 '
    probe 2 --by nonsense "uprobe:$program:add_up" -- "$program"
fi

# ---- chosen and counted in the kernel
probe 0 tracepoint:raw_syscalls:sys_enter --if 'id == 110' -- "$program"
seen 1000 ' sys_enter id=110 '
probe 2 tracepoint:raw_syscalls:sys_enter --if 'nonsense == 110' -- "$program"
check "no reason" grep -q 'does not understand' "$folder/err"
if works BPF; then
    probe 0 --by id tracepoint:raw_syscalls:sys_enter -- "$program"
    seen 1 '^ +1000  id=110$'
    probe 0 --by comm tracepoint:syscalls:sys_enter_getppid -- "$program"
    seen 1 '^ +1000  comm=probed$'
    probe 0 --count tracepoint:syscalls:sys_enter_getppid -- sh -c "$program; $program & wait"
    # Some shells ask once themselves.
    seen 1 '^ +200[01]  tracepoint:syscalls:sys_enter_getppid$'
    if works rawtracepoint; then
        probe 0 rawtracepoint:sched_process_exec -- "$program"
        seen 1 ' sched_process_exec '
    fi
fi

# ---- counters and profiles
probe 0 software:page-faults:1 --stack -- "$program"
seen 0 ' page-faults ip=0x0 '
check "no page faults" grep -q ' page-faults ip=0x[0-9a-f]* address=0x' "$folder/out"
check "no stacks" grep -q '^        [a-z0-9_.]*+0x' "$folder/out"
probe 0 profile:hz:999 --duration 1 -a
check "no profile" grep -q ' profile ip=0x' "$folder/out"

# ---- recorded
probe 0 --quiet -o "$folder/traces" tracepoint:syscalls:sys_enter_getppid tracepoint:sched:sched_process_exec -- "$program"
trace=$(echo "$folder"/traces/*)
check "a bad trace" "$gait" verify "$trace" >"$folder/verified" 2>&1
"$gait" report "$trace" >"$folder/out" 2>"$folder/err" || fail "no report"
seen 1 '^ +1000 .* 0  tracepoint:syscalls:sys_enter_getppid$'
"$gait" report --json "$trace" >"$folder/json" || fail "no report"
check "no JSON" python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); assert r["kernel_sources"][0]["events"] == 1000' "$folder/json"
"$gait" replay --no-pager "$trace" >"$folder/out" 2>"$folder/err" || fail "no replay"
seen 1000 '\* sys_enter_getppid '
"$gait" query --csv "$trace" "select count(*), min(tid) = max(tid) from kernel_events where name = 'sys_enter_getppid'" \
    >"$folder/out" 2>"$folder/err" || fail "no answer"
seen 1 '^1000,1'
"$gait" export --format chrome -o "$folder/chrome.json" "$trace" 2>"$folder/err" || fail "no export"
check "not in the export" python3 -c 'import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
assert sum(e["ph"] == "i" and e["name"] == "sys_enter_getppid" for e in events) == 1000' "$folder/chrome.json"
"$gait" pack "$trace" -o "$folder/packed.gait" >"$folder/out" 2>"$folder/err" || fail "not packed"
"$gait" report "$folder/packed.gait" >"$folder/out" 2>"$folder/err" || fail "no report of what was packed"
seen 1 'tracepoint:syscalls:sys_enter_getppid$'

# Cut off in the middle, what is before can be read.
size=$(stat -c %s "$trace"/kernel/[0-9]*.events.gait | sort -n | tail -n 1)
for file in "$trace"/kernel/[0-9]*.events.gait; do
    [[ $(stat -c %s "$file") == "$size" ]] && truncate -s $((size - 80)) "$file"
done
checks=$((checks + 1))
"$gait" verify "$trace" >"$folder/out" 2>&1 && fail "what is cut off is called good" "$folder/out"
"$gait" report "$trace" >"$folder/out" 2>"$folder/err" || fail "no report of what is cut off"

# ---- in a recording by the agent
"$gait" spawn --quiet -o "$folder/both" --sched --probe tracepoint:syscalls:sys_enter_getppid -- "$program" 2>"$folder/err" ||
    fail "nothing recorded"
"$gait" replay --no-pager "$folder"/both/* >"$folder/out" 2>"$folder/err" || fail "no replay"
seen 1000 '\* sys_enter_getppid '
check "no calls" grep -q '  add_up();' "$folder/out"
check "no switches" grep -q '\* run running=1 ' "$folder/out"
# The system calls come after the calls of the loop before them.
checks=$((checks + 1))
[[ $(grep -n '  add_up();' "$folder/out" | tail -n 1 | cut -d : -f 1) -lt $(grep -n 'sys_enter_getppid' "$folder/out" | head -n 1 | cut -d : -f 1) ]] ||
    fail "calls and system calls are not in their order" "$folder/out"

# ---- what is wrong is told
refuses 2 'did you mean sched_switch' probe tracepoint:sched:sched_swich
refuses 2 'is no kind of probe; did you mean tracepoint' probe tracepont:a:b
refuses 2 'which probe' probe
refuses 2 'do not go together' probe -p 1 tracepoint:sched:sched_switch -- true
refuses 1 'there is none' probe -p 2147483646 tracepoint:sched:sched_switch
refuses 2 'did you mean' spawn --probe tracepoint:sched:sched_swich -- true
probe 0 -l 'tracepoint:sched:sched_switch'
seen 1 '^tracepoint:sched:sched_switch\(char prev_comm\[16\], i32 prev_pid, '

# ---- nothing is left
"$gait" probe --quiet -o "$folder/killed" tracepoint:sched:sched_switch "uprobe:$program:add_up" &
started+=($!)
until_true "it records" compgen -G "$folder/killed/*/kernel/*.events.gait" >/dev/null
kill -KILL "${started[0]}"
wait "${started[0]}" 2>/dev/null
left=$(unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing && cat /sys/kernel/tracing/uprobe_events /sys/kernel/tracing/dynamic_events | wc -l' 2>"$folder/err")
check "something is left in the kernel" test "$left" == 0
check "what a killed gait left cannot be read" "$gait" report "$folder"/killed/* >"$folder/out" 2>&1

# ---- without privileges
if command -v setpriv >/dev/null && [[ $(id -u) == 0 ]]; then
    chmod 755 "$folder"
    cp "$gait" "$folder/gait"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$folder/gait" probe tracepoint:sched:sched_switch -- true 2>"$folder/err" >"$folder/out"
    check "no words on privileges" grep -q -E 'does not let this user|may not read' "$folder/err"
    (cd / && setpriv --reuid 65534 --regid 65534 --clear-groups "$folder/gait" probe --limit 1 software:page-faults -- "$program") \
        >"$folder/out" 2>"$folder/err"
    seen 1 ' page-faults ip='
fi
finish
