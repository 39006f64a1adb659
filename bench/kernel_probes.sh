#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What do the kernel's events cost a program, and how many bytes do they take, beside perf record and bpftrace?
#
#   bench/kernel_probes.sh [COUNT]     of calls in each loop, 200000 if not given
#
# GAIT_BENCH_COMMAND is the gait to measure, build/release-gcc/gait if not given. Root only: peers need tracefs, which is
# mounted for this script alone. Costs are CPU time of the program for one event, above what it takes natively, the best
# of five rounds in turns.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ ${GAIT_BENCH_INSIDE-} == yes ]] || GAIT_BENCH_INSIDE=yes exec unshare -m "$0" "$@"
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null || true
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null || true

count=${1-200000}
gait=${GAIT_BENCH_COMMAND-build/release-gcc/gait}
[[ -x $gait ]] || { echo "there is no $gait: run make MODE=release first" >&2; exit 1; }
folder=$(mktemp -d)
trap 'perf probe -q -d "gaitbench:*" 2>/dev/null; rm -rf "$folder"' EXIT
loop=$folder/probed_loop
gcc -O2 -pthread -o "$loop" bench/programs/probed_loop.c

declare -A best=() bytes=()
# take name command...: remembers the least time of its loop, and the size of what it wrote
take() {
    local name=$1 ns
    shift
    rm -rf "$folder/written"
    ns=$("$@" 2>&1 >/dev/null | sed -n 's/^loop \([0-9.]*\) .*/\1/p') || true
    [[ -n $ns ]] || return 0
    [[ -n ${best[$name]-} ]] && awk -v a="$ns" -v b="${best[$name]}" 'BEGIN { exit a >= b }' || best[$name]=${best[$name]-$ns}
    awk -v a="$ns" -v b="${best[$name]}" 'BEGIN { exit a >= b }' && best[$name]=$ns
    [[ ! -e $folder/written ]] || bytes[$name]=$(($(du -sb "$folder/written" | cut -f 1) / count))
}

has_perf=no
command -v perf >/dev/null && perf probe -q -x "$loop" gaitbench:probed=probed 2>/dev/null && has_perf=yes
for _ in 1 2 3 4 5; do
    take 'call' "$loop" call "$count"
    take 'call: gait probe uprobe' "$gait" probe --quiet -o "$folder/written" "uprobe:$loop:probed" -- "$loop" call "$count"
    take 'call: gait probe uprobe --count' "$gait" probe --count "uprobe:$loop:probed" -- "$loop" call "$count"
    [[ $has_perf == no ]] ||
        take 'call: perf record uprobe' perf record -q -o "$folder/written" -e gaitbench:probed -- "$loop" call "$count"
    take 'syscall' "$loop" syscall "$count"
    take 'syscall: gait probe tracepoint' "$gait" probe --quiet -o "$folder/written" tracepoint:raw_syscalls:sys_enter -- "$loop" syscall "$count"
    take 'syscall: gait probe --by id' "$gait" probe --by id tracepoint:raw_syscalls:sys_enter -- "$loop" syscall "$count"
    take 'syscall: gait probe --count, raw' "$gait" probe --count rawtracepoint:sys_enter -- "$loop" syscall "$count"
    [[ $has_perf == no ]] ||
        take 'syscall: perf record' perf record -q -o "$folder/written" -e raw_syscalls:sys_enter -- "$loop" syscall "$count"
    ! command -v bpftrace >/dev/null ||
        take 'syscall: bpftrace count by id' bpftrace -e 'tracepoint:raw_syscalls:sys_enter { @[args->id] = count(); }' -c "$loop syscall $count"
done

echo "natively: a call $(printf '%.1f' "${best[call]}") ns, a system call $(printf '%.1f' "${best[syscall]}") ns"
for name in 'call: gait probe uprobe' 'call: perf record uprobe' 'call: gait probe uprobe --count' 'syscall: gait probe tracepoint' \
    'syscall: perf record' 'syscall: gait probe --by id' 'syscall: gait probe --count, raw' 'syscall: bpftrace count by id'; do
    [[ -n ${best[$name]-} ]] || { echo "$name: not measured"; continue; }
    awk -v name="$name" -v ns="${best[$name]}" -v native="${best[${name%%:*}]}" -v size="${bytes[$name]-}" \
        'BEGIN { printf "%-36s %8.1f ns%s\n", name, ns - native, size == "" ? "" : "  " size " bytes" }'
done

# As many events as one thread can make, several at each system call, while the other core takes them; then two threads, so
# that all three share the cores. Nothing may be lost. The CPU time of gait is what it takes above a run with next to no events.
# run_drain count threads spec...: events, seconds of the loop, lost events, CPU seconds of gait alone and of the loop
run_drain() {
    local calls=$1 threads=$2
    shift 2
    rm -rf "$folder/written"
    TIMEFORMAT='time %U %S'
    { time "$gait" probe -o "$folder/written" "$@" -- "$loop" syscall "$calls" "$threads"; } 2>"$folder/said" >/dev/null
    awk -v calls=$((calls * threads)) '
        /^loop / { seconds = calls / $3; loop = $2 * calls / 1e9 }
        / events of the kernel, / { events = $2 }
        / were lost; / { lost += $2 }
        /^time / { used = $2 + $3 }
        END { print events, seconds, lost + 0, used - loop, loop }' "$folder/said"
}

# drain words threads spec...
drain() {
    local words=$1 threads=$2 idle
    shift 2
    idle=$(run_drain 1 1 "$@" | cut -d ' ' -f 4)
    run_drain $((10 * count / threads)) "$threads" "$@" | awk -v words="$words" -v idle="$idle" \
        '{ printf "  %-34s %.2f million events a second, %d of %d lost; CPU an event: %.0f ns of gait, %.0f ns of the program\n",
            words, $1 / $2 / 1e6, $3, $1 + $3, ($4 - idle) * 1e9 / $1, $5 * 1e9 / $1 }'
}

echo "draining:"
raw=(rawtracepoint:sys_enter rawtracepoint:sys_exit)
all=("${raw[@]}" tracepoint:raw_syscalls:sys_enter tracepoint:raw_syscalls:sys_exit
    tracepoint:syscalls:sys_enter_getppid tracepoint:syscalls:sys_exit_getppid)
drain 'one tracepoint, two threads' 2 tracepoint:raw_syscalls:sys_enter
drain 'two raw tracepoints, one thread' 1 "${raw[@]}"
drain 'two raw tracepoints, two threads' 2 "${raw[@]}"
drain 'six tracepoints, one thread' 1 "${all[@]}"
drain 'six tracepoints, two threads' 2 "${all[@]}"
