#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shell scripts are clean for shellcheck: tools/check_shell.sh [tree]
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

command -v shellcheck >/dev/null || { echo "skipped: shellcheck is not installed"; exit 77; }
mapfile -t scripts < <(find . -path ./build -prune -o -path ./.git -prune -o \
    \( -name '*.sh' -o -path './.ci/*' -type f \) -print | LC_ALL=C sort)
# Functions that are handed to others to call look unreachable to it.
shellcheck --exclude=SC2317 --external-sources --source-path=SCRIPTDIR "${scripts[@]}"
echo "${#scripts[@]} scripts"
