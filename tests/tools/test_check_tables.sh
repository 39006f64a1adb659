#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# time limit: 300 s
. "$(dirname "$0")/expect.sh"

mkdir -p "$tree/tools" "$tree/src"
cp -r "$tools/x86_tables" "$tree/tools/"
cp -r "$tools/../src/arch" "$tools/../src/base" "$tree/src/"
sed -i '$d' "$tree/src/arch/x86_64/isa/mnemonics.def"
output=$("$tools/check_tables.sh" "$tree" 2>&1)
status=$?
[[ $status == 77 ]] && { echo "$output"; exit 77; }
[[ $status == 1 && $output == *"mnemonics.def is not what"* ]] || expect_complain "a table that was edited: should fail" "$output"

expect_done
