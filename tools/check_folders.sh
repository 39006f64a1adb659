#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No folder of src/ has more than 80 files of its own: tools/check_folders.sh [tree]
# One with more has a concept in it that wants a folder, or files that are none.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

most=80
declare -A counts=()
while read -r folder; do
    counts[$folder]=$((${counts[$folder]-0} + 1))
done < <(find src -type f -printf '%h\n')
failures=0
for folder in "${!counts[@]}"; do
    ((counts[$folder] > most)) || continue
    echo "$folder has ${counts[$folder]} files of its own, more than $most: find the concept that wants a folder"
    failures=$((failures + 1))
done
echo "${#counts[@]} folders"
[[ $failures == 0 ]]
