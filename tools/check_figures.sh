#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Numbers with units are written in one way: tools/check_figures.sh [tree]
# Durations, shares and sizes for people come from hosted/figures.h, and nobody else formats them.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

units='([num]?s|%%|[KMGT]iB)'

if grep -r -n -E --include='*.[ch]' --exclude=figures.c "%[0-9]*\.[0-9*]+f ?$units([^[:alnum:]_]|$)" src; then
    echo "numbers that are not written by hosted/figures.h, see above"
    exit 1
fi
echo "all numbers with units are written by hosted/figures.h"
