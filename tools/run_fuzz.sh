#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs each fuzzer for a while: tools/run_fuzz.sh seconds seed program...
# A failure is repeated by running the program with the seed that is printed here.
set -uo pipefail

seconds=$1 seed=$2
shift 2
[[ $# -gt 0 ]] || { echo "There are no fuzzers in tests/fuzz/ yet."; exit 0; }
# Sanitizers of this age cannot stand the largest address space randomization that kernels do.
prefix=()
! setarch -R true 2>/dev/null || prefix=(setarch -R)
failures=0
for program in "$@"; do
    printf '\n== %s --seconds %s --seed %s\n' "$program" "$seconds" "$seed"
    "${prefix[@]}" "$program" --seconds "$seconds" --seed "$seed" ||
        { echo "$program: exit status $?"; failures=$((failures + 1)); }
done
exit $((failures > 0))
