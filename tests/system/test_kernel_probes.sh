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

# Where nothing happens, that is said, but to those who asked for silence.
probe 0 tracepoint:syscalls:sys_enter_getppid --if 'common_pid == 1' -- /bin/true
check "something is shown" test ! -s "$folder/out"
check "nobody says that there were no events" grep -q -x 'gait: there were no events' "$folder/err"
probe 0 --quiet tracepoint:syscalls:sys_enter_getppid --if 'common_pid == 1' -- /bin/true
check "--quiet is not quiet" test ! -s "$folder/err"
probe 0 tracepoint:syscalls:sys_enter_getppid -- "$program"
check "that there were no events is said of some" test "$(grep -c 'no events' "$folder/err")" = 0

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
# An event takes a few bytes; as the kernel tells it, it is more than forty.
bytes=$(cat "$trace"/kernel/[0-9]*.events.gait | wc -c)
check "1000 events take $bytes bytes" test "$bytes" -lt 15000
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
for format in json csv perfetto ctf sqlite; do
    check "no export to $format" "$gait" export -f "$format" "$trace" -o "$folder/exported.$format" 2>"$folder/err"
done
# count "pattern" file: lines like that, 1000 of them
count() {
    check "not 1000 of '$1' in $2" test "$(grep -c -E -- "$1" "$2")" == 1000
}
count '"kernel":"sys_enter_getppid".*"fields":\{"__syscall_nr": 110' "$folder/exported.json"
count ',"sys_enter_getppid\(__syscall_nr=110\)","","",,0,[0-9]+,0,0,kernel' "$folder/exported.csv"
check "a line has too many values" python3 -c 'import csv, sys
assert all(len(row) == 12 for row in csv.reader(open(sys.argv[1])))' "$folder/exported.csv"
protoc -Itests/export --decode=Trace perfetto.proto <"$folder/exported.perfetto" >"$folder/out" 2>"$folder/err" || fail "protoc"
count '^    name: "sys_enter_getppid"' "$folder/out"
check "fields that protoc does not know" test "$(grep -c -E '^ *[0-9]+:' "$folder/out")" == 0
if command -v babeltrace2 >/dev/null; then
    babeltrace2 "$folder/exported.ctf" >"$folder/out" 2>"$folder/err" || fail "babeltrace2"
    count ' kernel: .*name = "sys_enter_getppid"' "$folder/out"
fi
check "not in the database" test "$(sqlite3 "$folder/exported.sqlite" \
    "select count(*) from kernel_events where name = 'sys_enter_getppid' and json_extract(fields, '\$.__syscall_nr') = 110")" == 1000
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

# ---- stacks have names (who called is not yet in them at the very beginning of a function, before kernel 6.11), of the kernel's functions and of the program's, also where they are read elsewhere
if works uprobe; then
    gcc -O1 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -pthread -o "$folder/steps" tests/system/programs/checked_steps.c || exit 1
    probe 0 "uprobe:$folder/steps:take_step" --stack --limit 20 -- "$folder/steps" 300 "$folder/good"
    check "no names on the screen" grep -q '^        work+0x' "$folder/out"
    probe 0 --quiet -o "$folder/stacks" --stack --limit 2000 "uprobe:$folder/steps:take_step" profile:hz:999 -- "$folder/steps" 300 "$folder/good"
    stacks=$(echo "$folder"/stacks/*)
    check "a bad trace with stacks" "$gait" verify "$stacks" >"$folder/verified" 2>&1
    "$gait" export -f folded "$stacks" >"$folder/out" 2>"$folder/err" || fail "not folded"
    check "no stacks of the program" grep -q -E "^uprobe:$folder/steps:take_step;steps;.*work;(take_steps;)?take_step [0-9]+$" "$folder/out"
    check "no samples in the kernel" grep -q -E '^profile:hz:999;steps;.*;(do_syscall_64|entry_SYSCALL[a-z0-9_]*|asm_[a-z_]*);.* [0-9]+$' "$folder/out"
    "$gait" export -f perf "$stacks" >"$folder/out" 2>"$folder/err" || fail "no text as of perf"
    check "no frames as of perf" grep -q -E "^	 *[0-9a-f]+ work\+0x[0-9a-f]+ \($folder/steps\)$" "$folder/out"
    "$gait" query --csv "$stacks" "select count(*) > 0 from kernel_events where stack like 'take_step;%work;%'" \
        >"$folder/out" 2>"$folder/err" || fail "no answer"
    seen 1 '^1'
    "$gait" export -f perfetto "$stacks" -o "$folder/exported.stacks" 2>"$folder/err" || fail "no export of stacks"
    protoc -Itests/export --decode=Trace perfetto.proto <"$folder/exported.stacks" >"$folder/out" 2>"$folder/err" || fail "protoc"
    check "no samples with stacks" grep -q 'callstack_iid' "$folder/out"
    check "more fields that protoc does not know" test "$(grep -c -E '^ *[0-9]+:' "$folder/out")" == 0
    for format in speedscope pprof flamegraph chrome json; do
        check "no $format of stacks" "$gait" export -f "$format" "$stacks" -o "$folder/exported" 2>"$folder/err"
    done
    # Children have the code of those that made them; of a process that was there before it is looked up.
    "$folder/steps" 1500 "$folder/good" &
    started+=($!)
    probe 0 --quiet -o "$folder/attached" --stack --limit 500 -p $! "uprobe:$folder/steps:take_step"
    wait "${started[0]}"
    started=()
    "$gait" export -f folded "$folder"/attached/* >"$folder/out" 2>"$folder/err" || fail "not folded"
    check "frames without names" test "$(grep -c -E 'work;(have_child;)?(take_steps;)?take_step [0-9]+$' "$folder/out")" -ge 1
    check "frames that are addresses" test "$(grep -c -E 'take_step;0x' "$folder/out")" == 0
fi

# ---- it ends as the program did
probe 7 tracepoint:syscalls:sys_enter_getppid -- sh -c 'exit 7'
probe 7 --count software:page-faults -- sh -c 'exit 7'
probe 143 --quiet -o "$folder/ended" tracepoint:syscalls:sys_enter_getppid -- sh -c 'kill -TERM $$'
refuses 1 "cannot run '/no/such/program'" probe tracepoint:syscalls:sys_enter_getppid -- /no/such/program
refuses 1 'in the folders of PATH' probe --quiet -o "$folder/never" tracepoint:syscalls:sys_enter_getppid -- no-such-program
check "a trace of nothing" test ! -e "$folder/never"
refuses 1 'not allowed to be executed' probe tracepoint:syscalls:sys_enter_getppid -- /etc/passwd
printf '\177ELFnonsense' >"$folder/nonsense" && chmod +x "$folder/nonsense"
refuses 1 'Exec format error' probe tracepoint:syscalls:sys_enter_getppid -- "$folder/nonsense"

# ---- nothing is listed twice
probe 0 -l 'uprobe:libc:mem*'
check "listed twice" test "$(sort "$folder/out" | uniq -d | wc -l)" == 0

# ---- in a recording by the agent
"$gait" spawn --quiet -o "$folder/both" --sched --probe tracepoint:syscalls:sys_enter_getppid -- "$program" 2>"$folder/err" ||
    fail "nothing recorded"
"$gait" replay --sched --no-pager "$folder"/both/* >"$folder/out" 2>"$folder/err" || fail "no replay"
seen 1000 '\* sys_enter_getppid '
check "no calls" grep -q '  add_up();' "$folder/out"
check "no switches" grep -q '\* run running=1 ' "$folder/out"
"$gait" replay --no-pager "$folder"/both/* >"$folder/out" 2>"$folder/err" || fail "no replay"
seen 0 '\* run running=1 '
seen 1000 '\* sys_enter_getppid '
"$gait" report "$folder"/both/* >"$folder/out" 2>"$folder/err" || fail "no report"
check "no CPU time" grep -q -E '^ +[0-9]+  probed  .* (ns|us|ms|s)  *[0-9.]+ %' "$folder/out"
seen 0 'sched:run'
"$gait" export -f perfetto "$folder"/both/* -o "$folder/exported" 2>"$folder/err" || fail "no export"
protoc -Itests/export --decode=Trace perfetto.proto <"$folder/exported" >"$folder/switches" 2>"$folder/err" || fail "protoc"
check "nobody begins to run" grep -q '^        next_comm: "probed"' "$folder/switches"
check "nobody ceases to" grep -q '^        prev_comm: "probed"' "$folder/switches"
# The system calls come after the calls of the loop before them.
checks=$((checks + 1))
[[ $(grep -n '  add_up();' "$folder/out" | tail -n 1 | cut -d : -f 1) -lt $(grep -n 'sys_enter_getppid' "$folder/out" | head -n 1 | cut -d : -f 1) ]] ||
    fail "calls and system calls are not in their order" "$folder/out"

# ---- what is wrong is told
# Breakpoints of the kernel and hooks of ours would be in each other's way.
refuses 2 'try --hook add_up instead, or gait probe' spawn --probe "uprobe:$program:add_up" -- "$program"
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
mkdir "$folder/tracing"
# shellcheck disable=SC2016 # what the shell in it expands
unshare -m sh -c 'mount -t tracefs tracefs "$1" && cat "$1/uprobe_events" "$1/dynamic_events"' - "$folder/tracing" \
    >"$folder/left" 2>"$folder/err" || fail "nobody can tell what is left in the kernel"
check "something is left in the kernel" test "$(grep -c -F "$program" "$folder/left")" == 0
check "what a killed gait left cannot be read" "$gait" report "$folder"/killed/* >"$folder/out" 2>&1

# Programs in the kernel end with who loaded them.
# programs: how many there are that count at raw tracepoints
programs() {
    bpftool prog list 2>/dev/null | grep -c ' name on_raw_tracepo'
}
if works rawtracepoint && command -v bpftool >/dev/null; then
    before=$(programs)
    "$gait" probe --by id tracepoint:raw_syscalls:sys_enter >"$folder/out" 2>"$folder/err" &
    started=($!)
    more_programs() { [[ $(programs) -gt $before ]]; }
    no_more_programs() { [[ $(programs) -le $before ]]; }
    until_true "it counts" more_programs
    kill -KILL "${started[0]}"
    wait "${started[0]}" 2>/dev/null
    until_true "nothing is left in the kernel" no_more_programs
    started=()
fi

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
