#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows gait at work: tools/run_demo.sh build_folder
# examples/demo.sh tells the story when there is one; otherwise each example runs in turn.
set -euo pipefail
cd "$(dirname "$0")/.."

export GAIT_BUILD=$1
if [[ -x examples/demo.sh ]]; then
    exec examples/demo.sh
fi
found=no
for source in examples/*.c; do
    [[ -e $source ]] || continue
    found=yes
    program=$GAIT_BUILD/${source%.c}
    printf '\n== %s\n' "$program"
    "$program"
done
[[ $found == yes ]] || echo "There are no examples in examples/ yet."
