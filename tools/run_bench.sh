#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs benchmark programs one after the other, never two at a time: tools/run_bench.sh program...
set -uo pipefail

[[ $# -gt 0 ]] || { echo "There are no benchmarks in bench/ yet."; exit 0; }
sed -n 's/^model name[^:]*: */CPU: /p' /proc/cpuinfo | head -n 1
echo "Kernel: $(uname -r), load before the start: $(cut -d ' ' -f 1 /proc/loadavg)"
failures=0
for program in "$@"; do
    printf '\n== %s\n' "${program##*/}"
    "$program" || { echo "$program: exit status $?"; failures=$((failures + 1)); }
done
exit $((failures > 0))
