#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The flight recorder: what is around triggers is kept, whole, and nothing else; details are what the program says of
# itself; and who dies says how.
# configurations: debug-gcc
# shellcheck disable=SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

for program in phases watched_calls; do
    gcc -O1 -g -pthread -o "$folder/$program" "tests/system/programs/$program.c" || exit 1
done

# record status options... -- program...
record() {
    local expected=$1 status
    shift
    checks=$((checks + 1))
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" "$@" >"$folder/said" 2>"$folder/err" </dev/null
    status=$?
    [[ $status == "$expected" ]] || fail "$*: status $status" "$folder/err"
    "$gait" verify "$folder"/traces/* >"$folder/verified" 2>&1 || fail "$*: a bad trace" "$folder/verified"
    "$gait" report --limit 1000 "$folder"/traces/* >"$folder/report" 2>"$folder/err" || fail "$*: no report" "$folder/err"
    "$gait" dump events "$folder"/traces/* >"$folder/events" 2>"$folder/err" || fail "$*: no events" "$folder/err"
}

# shown text what: the report has it
shown() {
    grep -q -F -- "$1" "$folder/report" || fail "$2: the report has no '$1'" "$folder/report"
}

# How often a function was called, as the trace has it.
calls_of() {
    awk -F '\t' -v name="$1" '($3 == "call" || $4 == "enter") && $6 == name' "$folder/events" | wc -l
}

# between count least most what
between() {
    [[ $1 -ge $2 && $1 -le $3 ]] || fail "$4: $1 calls, expected $2 to $3" "$folder/report"
}

# For awk: the value of a number like 0x1f.
hex='function hex(text,  i, value) {
    for (i = 3; i <= length(text); i++) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
    return value + 0
}'

# What the manifest says: "trigger TIME", "window FROM TO", "clock COUNTER NANOSECONDS" a line.
facts() {
    perl -ne 'print "trigger $1\n" if /"kind": .*"time": (\d+)/; print "window $1 $2\n" if /"from": (\d+), "to": (\d+)/;
        print "clock $1 $2\n" if /"counter": (\d+), "monotonic_ns": (\d+)/' "$folder"/traces/*/manifest.json
}

# windows_are before after count what: there are so many, and they are what triggers asked for, whenever they came: so many
# milliseconds around each, within the recording, and one where they touch; a millisecond is nothing
windows_are() {
    facts | perl -e '
        my ($before, $after, $count) = @ARGV;
        my (@times, @windows, @clocks, @wanted);
        while (<STDIN>) {
            my ($what, @numbers) = split;
            push @times, $numbers[0] if $what eq "trigger";
            push @windows, [@numbers] if $what eq "window";
            push @clocks, [@numbers] if $what eq "clock";
        }
        my $per_ms = ($clocks[-1][0] - $clocks[0][0]) / (($clocks[-1][1] - $clocks[0][1]) / 1e6);
        for my $time (sort { $a <=> $b } @times) {
            my ($from, $to) = ($time - $before * $per_ms, $time + $after * $per_ms);
            $from = $clocks[0][0] if $from < $clocks[0][0];
            $to = $clocks[-1][0] if $to > $clocks[-1][0];
            if (@wanted && $from <= $wanted[-1][1]) { $wanted[-1][1] = $to } else { push @wanted, [$from, $to] }
        }
        my $wrong = @windows != @wanted || ($count =~ /^\d+$/ ? @windows != $count : !@windows);
        for my $i (0 .. $#wanted) {
            $wrong ||= abs($wanted[$i][$_] - $windows[$i][$_]) > $per_ms for 0, 1;
        }
        print "windows @{[map { \"@$_\" } @windows]}\n", "wanted @{[map { \"@$_\" } @wanted]}\n" if $wrong;
        exit $wrong' "$1" "$2" "$3" >"$folder/seen" || fail "$4: other windows than wanted" "$folder/seen"
}

# only_windows what: all that is written reaches into a window, which the headers of chunks tell
only_windows() {
    facts | perl -e '
        my @windows;
        while (<STDIN>) { push @windows, [$1, $2] if /^window (\d+) (\d+)/ }
        for my $name (@ARGV) {
            open my $file, "<:raw", $name or die;
            local $/;
            my $bytes = <$file>;
            for (my $at = 64; substr($bytes, $at, 4) eq "chnk";) {
                my ($stored, undef, undef, $first, $last) = unpack "VVQ<Q<Q<", substr $bytes, $at + 8, 32;
                print "$name: a chunk from $first to $last\n" unless grep { $last >= $_->[0] && $first <= $_->[1] } @windows;
                $at += 56 + ($stored + 7) / 8 * 8 - ($stored + 7) % 8;
            }
        }' "$folder"/traces/*/*/*.index.gait "$folder"/traces/*/*/*.detail.gait >"$folder/seen" 2>&1
    [[ ! -s $folder/seen ]] || fail "$1: what nobody asked for is written" "$folder/seen"
}

follow=(--follow "call,ret")

# exact what: all calls that the program says happened within a window are in the details, in their order
exact() {
    "$gait" dump details "$folder"/traces/* >"$folder/details" 2>"$folder/err" || fail "$1: no details" "$folder/err"
    sed -n 's/.*{"from": \([0-9]*\), "to": \([0-9]*\), "cut": false}.*/\1 \2/p' "$folder"/traces/*/manifest.json >"$folder/windows"
    [[ -s $folder/windows ]] || fail "$1: no window" "$folder/report"
    awk 'NR == FNR { from[++count] = $1; to[count] = $2; next }
        { for (i = 1; i <= count; i++) if ($3 >= from[i] && $4 <= to[i]) { print $1, $2; break } }' \
        "$folder/windows" "$folder/said" >"$folder/expected"
    [[ -s $folder/expected ]] || fail "$1: nothing happened" "$folder/windows"
    awk -F '\t' '$4 == "enter" { print $6, $7 }' "$folder/details" >"$folder/seen"
    # What is around the windows may be there, too: lines of the one in the other, in their order.
    awk 'NR == FNR { seen[NR] = $0; count = NR; next }
        { while (at < count && seen[++at] != $0); if (seen[at] != $0) { print "missing: " $0; exit } }' \
        "$folder/seen" "$folder/expected" >"$folder/missing"
    [[ ! -s $folder/missing ]] || fail "$1" "$folder/missing"
}

# What is around one moment: the end of one phase and the beginning of the next; nothing else.
around() {
    local what=$1 option=$2
    record 0 "${follow[@]}" --flight --detail 'work_*' --trigger "$option" --pre-roll-sec 0.2 --post-roll-sec 0.2 -- "$folder/phases" 500 "$what"
    shown "trigger    ${option%%=*} ($option)" "$option"
    windows_are 200 200 1 "$option"
    only_windows "$option"
    exact "$option"
    between "$(calls_of work_b)" "$(grep -c work_b "$folder/expected")" "$(grep -c work_b "$folder/said")" "$option: calls in the index"
}
around signal signal=SIGUSR1
around "" symbol=middle
around slow 'slow=middle>50ms'
between "$(calls_of middle)" 1 1 "slow: the call itself"

# The same by hooks, which is what happens if nobody says how.
for follow in '' '--hook=*'; do
    read -r -a follow <<<"$follow"
    around "" symbol=middle
    around slow 'slow=middle>50ms'
    between "$(calls_of middle)" 1 1 "slow: the call itself"
done
follow=(--follow "call,ret")

# What does not happen is no trigger.
record 0 "${follow[@]}" --flight --trigger 'slow=middle>60s' --trigger signal=SIGUSR2 -- "$folder/phases" 100
shown "kept       nothing" "no trigger"
[[ ! -s $folder/events ]] || fail "without a trigger there are events" "$folder/events"

# By the clock; windows that touch are one.
record 0 "${follow[@]}" --flight --detail 'work_*' --trigger time=+0.5s --pre-roll-sec 0.1 --post-roll-sec 0.1 -- "$folder/phases" 300
windows_are 100 100 1 "time="
only_windows "time="
exact "time="
record 0 "${follow[@]}" --flight --detail 'work_*' --trigger every=0.3s --pre-roll-sec 0.03 --post-roll-sec 0.03 -- "$folder/phases" 300
windows_are 30 30 some "every="
only_windows "every="
exact "every="
record 0 "${follow[@]}" --flight --detail 'work_*' --trigger every=0.2s --pre-roll-sec 5 --post-roll-sec 0.1 -- "$folder/phases" 250
windows_are 5000 100 1 "every=, windows that touch"
exact "every=, windows that touch"

# By hand, in a program that goes on until it is told that the window is over.
checks=$((checks + 1))
rm -rf "$folder/traces"
"$gait" spawn --quiet -o "$folder/traces" "${follow[@]}" --flight --detail 'work_*' --trigger manual --pre-roll-sec 0.1 --post-roll-sec 0.1 -- \
    "$folder/phases" 100 until >"$folder/said" 2>"$folder/err" &
recorder=$!
started+=("$recorder")
has_child() { child=$(pgrep -P $recorder phases | head -n 1) && [[ -n $child ]]; }
until_true "the program is started" has_child
is_recorded() { "$gait" stats "$child" >"$folder/stats" 2>&1; }
until_true "the program is recorded" is_recorded
"$gait" trigger "$child" 'here it is' 2>"$folder/err" || fail "trigger" "$folder/err"
# What is behind the trigger is written when it is over.
has_written() { "$gait" stats "$child" | grep -q '^events  *[1-9]'; }
until_true "something is written" has_written
sleep 0.2
kill -USR1 "$child"
wait $recorder || fail "a recording that was told of a trigger: status $?" "$folder/err"
"$gait" report "$folder"/traces/* >"$folder/report" 2>&1
shown "trigger    manual (here it is)" "by hand"
windows_are 100 100 1 "by hand"
only_windows "by hand"
exact "by hand"

# Without --flight all of the index is there; of details what is around triggers, or all if there are none.
for option in "--trigger symbol=middle --pre-roll-sec 0.05 --post-roll-sec 0.05" ""; do
    # shellcheck disable=SC2086
    record 0 "${follow[@]}" --detail 'work_*' $option -- "$folder/phases" 400
    for name in work_a work_b work_c; do
        [[ $(calls_of $name) == $(grep -c $name "$folder/said") ]] || fail "not all of the index of $name" "$folder/report"
    done
    "$gait" dump details "$folder"/traces/* >"$folder/details"
    if [[ -n $option ]]; then
        windows_are 50 50 1 "details around a trigger"
        exact "details around a trigger"
    else
        diff <(awk '{ print $1, $2 }' "$folder/said") <(awk -F '\t' '$4 == "enter" { print $6, $7 }' "$folder/details") \
            >"$folder/diff" || fail "not all details" "$folder/diff"
    fi
done

# Details are exact, however functions are called and left.
for stack in 0 128 512; do
    for overflow in block drop; do
        record 0 "${follow[@]}" --detail 'w_*' --stack-bytes $stack --overflow $overflow --buffer 1M -- "$folder/watched_calls"
        "$gait" dump details "$folder"/traces/* >"$folder/details" 2>"$folder/err" || fail "no details" "$folder/err"
        sort "$folder/said" >"$folder/expected"
        awk -F '\t' "$hex"'
            $4 == "enter" { calls[$6]++; if ($3 + 0 >= time[$6]) { time[$6] = $3 + 0; argument[$6] = hex($7) }
                            depth[$2]++; if (length($13) != 2 * stack) print "a stack of " length($13) / 2 " bytes" }
            $4 == "leave" { returns[$6]++ }
            $4 == "left" { left[$6]++ }
            $3 + 0 < last[$2] { print "time goes back in " $0 } { last[$2] = $3 + 0 }
            END { for (name in calls) print name, calls[name], returns[name] + 0, left[name] + 0, argument[name] }' \
            stack=$stack "$folder/details" | sort >"$folder/seen"
        diff "$folder/expected" "$folder/seen" >"$folder/diff" || fail "details with $stack bytes of stack, $overflow" "$folder/diff"
    done
done
# So they are for functions of which one of several is chosen when the program starts.
record 0 --follow none --detail 'libc.so*!strlen' --detail 'libc.so*!memcpy' -- perl -e 'print length("x" x 100), "\n"'
"$gait" dump details "$folder"/traces/* >"$folder/details" 2>"$folder/err" || fail "no details" "$folder/err"
between "$(grep -c -P '\tenter\t' "$folder/details")" 10 1000000 "calls of indirect functions"
between "$(cut -f 6 "$folder/details" | sort -u | wc -l)" 2 2 "indirect functions that are called"
# Of one that has been chosen before it is said.
checks=$((checks + 1))
: >"$folder/runs"
perl -e '$| = 1; print "runs\n"; sleep 100' >"$folder/runs" &
process=$!
started+=("$process")
until_true "a program runs" grep -q runs "$folder/runs"
"$gait" attach --duration 1 -o "$folder/traces" --follow none --detail 'libc.so*!strlen' "$process" 2>"$folder/err"
grep -q 'strlen means an indirect function' "$folder/err" || fail "nobody says that a function is indirect"
kill "$process"

# The first word of the stack is where a call returns to.
awk -F '\t' '$4 == "enter" && substr($13, 13, 4) != "0000" { print }' "$folder/details" >"$folder/bad"
[[ ! -s $folder/bad ]] || fail "stacks that begin with no return address" "$folder/bad"

# Who dies leaves all that was in memory, and how it came.
for what in segv:139:SIGSEGV abort:134:SIGABRT kill:137:SIGKILL; do
    IFS=: read -r how status name <<<"$what"
    record "$status" "${follow[@]}" --flight --pre-roll-sec 10 -- "$folder/phases" 100 "$how"
    shown "trigger    crash ($name)" "$how"
    for name in work_a work_b; do
        [[ $(calls_of $name) == $(grep -c $name "$folder/said") ]] || fail "$how: not all that was in memory of $name" "$folder/report"
    done
    between "$(calls_of work_c)" 0 0 "$how: what never came"
    shown "how process" "$how"
    shown "the last calls and returns of thread" "$how"
done
record 139 --follow call,ret -- "$folder/phases" 50 segv
grep -q -E '^SIGSEGV in thread [0-9]+ at (happen|main)\+0x[0-9a-f]+( \(phases.c:[0-9]+\))?, address 0x10$' "$folder/report" || fail "where it died" "$folder/report"
grep -q -E '^ +pc [0-9a-f]{16}  flags' "$folder/report" || fail "no registers" "$folder/report"
record 137 -- "$folder/phases" 50 kill
shown "killed by SIGKILL; its registers and stacks were not recorded" "kill"

# Whatever makes the kernel write a core.
for what in QUIT:131 ILL:132 TRAP:133 ABRT:134 BUS:135 SEGV:139 XCPU:152 XFSZ:153 SYS:159; do
    record "${what#*:}" --follow call,ret -- perl -e 'kill $ARGV[0], $$; sleep 5' "${what%:*}"
    shown "SIG${what%:*} in thread" "a signal of its own"
done
# But not where the program has something against it.
record 0 --follow call,ret -- perl -e '$SIG{QUIT} = "IGNORE"; $SIG{TRAP} = sub {}; kill $_, $$ for qw(QUIT TRAP)'
checks=$((checks + 1))
! grep -q 'in thread' "$folder/report" || fail "a signal that is ignored or handled is called a death" "$folder/report"

# A program that nobody here wrote.
if [[ -x /usr/bin/python3 ]]; then
    record 139 --follow call,ret --flight -- /usr/bin/python3 -c 'import ctypes; ctypes.string_at(0)'
    grep -q -E '^SIGSEGV in thread [0-9]+ at (libc|__strlen).*, address 0x0$' "$folder/report" || fail "python3" "$folder/report"
    # One with a handler of its own for that comes first.
    record 139 --follow call,ret -- /usr/bin/python3 -X faulthandler -c 'import ctypes; ctypes.string_at(0)'
    shown "SIGSEGV in thread" "python3 with a handler"
fi

# begin_process: one that goes on until SIGUSR1; $process is its number, when it is at work
begin_process() {
    : >"$folder/said"
    "$folder/phases" 50 until >"$folder/said" &
    process=$!
    started+=("$process")
    is_at_work() { grep -q nanosleep "/proc/$process/wchan" 2>"$folder/seen" || grep -q '^State:.S' "/proc/$process/status"; }
    until_true "a program is at work" is_at_work
}

# A process that was looked at closely is as it was.
checks=$((checks + 1))
rm -rf "$folder/traces"
begin_process
cat "/proc/$process/maps" >"$folder/before"
"$gait" attach --quiet --duration 1 --detail 'work_*' --trigger 'slow=phase>1ms' -o "$folder/traces" "$process" 2>"$folder/err" ||
    fail "attach with --detail: status $?" "$folder/err"
diff "$folder/before" "/proc/$process/maps" >"$folder/diff" || fail "attach with --detail leaves something" "$folder/diff"
"$gait" verify "$folder"/traces/* >"$folder/verified" 2>&1 || fail "attach with --detail: a bad trace" "$folder/verified"
kill -USR1 "$process"
wait "$process" || fail "a process that was looked at closely ends with $?"

# A process that is visited may die, too.
checks=$((checks + 1))
rm -rf "$folder/traces"
begin_process
"$gait" attach --quiet --flight "${follow[@]}" -o "$folder/traces" "$process" 2>"$folder/err" &
recorder=$!
is_visited() { "$gait" stats "$process" >"$folder/stats" 2>&1; }
until_true "a process is visited" is_visited
kill -SEGV "$process"
wait $recorder || fail "attach: status $?" "$folder/err"
{ wait "$process"; } 2>"$folder/err"
[[ $? == 139 ]] || fail "a process that is visited dies in another way"
"$gait" report "$folder"/traces/* >"$folder/report" 2>&1
shown "trigger    crash (SIGSEGV)" "attach"
shown "SIGSEGV in thread $process at" "attach"

finish
