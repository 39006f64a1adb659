#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A flame graph and a profile for speedscope are opened in a real browser: what is drawn is what was recorded, and names
# of functions stay names. SCREENSHOT=file.png keeps a picture of the flame graph.
# configurations: debug-gcc
# time limit: 60 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

modules=$PWD/build/deps/node
command -v node >/dev/null || { echo "skipped: node is not installed"; exit 77; }
[[ -x ${CHROMIUM-/usr/bin/chromium} ]] || { echo "skipped: chromium is not installed"; exit 77; }
[[ -e $modules/installed ]] || { echo "skipped: the packages of npm are not installed; try make deps"; exit 77; }

# Whatever the browser writes goes with the folder.
export HOME=$folder TMPDIR=$folder

gcc -O1 -pthread -o "$folder/calls" tests/system/programs/exported_calls.c || exit 1
"$gait" spawn -o "$folder/traces" -- "$folder/calls" >"$folder/out" 2>"$folder/err" || fail "recording"
trace=$(echo "$folder"/traces/*)
main_thread=$(sed -n 's/.*"tid": \([0-9]*\).*/\1/p' "$trace/manifest.json" | head -n 1)
check "exporting to flamegraph" "$gait" export -f flamegraph "$trace" -o "$folder/graph.svg"
check "exporting to speedscope" "$gait" export -f speedscope "$trace" --thread "$main_thread" -o "$folder/profile.json"
check "adding up" python3 tests/export/totals.py speedscope "$folder/profile.json" >"$folder/totals"

timeout 40 node tests/export/browser.mjs "$modules" "$folder/graph.svg" "$folder/profile.json" "$folder/totals" \
    ${SCREENSHOT+"$SCREENSHOT"} >"$folder/said" 2>&1
check "in the browser" test $? = 0
cat "$folder/said"

finish
