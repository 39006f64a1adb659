#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The decoder's tables are what tools/x86_tables makes of them today: tools/check_tables.sh [tree]
# time limit: 300 s
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

isa=src/arch/x86_64/isa
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cc=${CC:-gcc}
if ! echo '#include <Zydis/Zydis.h>' | "$cc" -E - >/dev/null 2>&1; then
    echo "skipped: libZydis, which the tables are made from, is not installed"
    exit 77
fi
"$cc" -std=gnu11 -O2 -Isrc -o "$out/x86_tables" tools/x86_tables/*.c -lZydis
"$out/x86_tables" "$out/decoder_tables.inc" "$out/mnemonics.def" 2>/dev/null
for file in decoder_tables.inc mnemonics.def; do
    cmp -s "$out/$file" "$isa/$file" || {
        echo "$isa/$file is not what tools/x86_tables makes: run 'make tables' and commit the result"
        exit 1
    }
done
echo "the tables are up to date"
