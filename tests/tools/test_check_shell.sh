#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/expect.sh"

command -v shellcheck >/dev/null || { echo "skipped: shellcheck is not installed"; exit 77; }
check=("$tools/check_shell.sh" "$tree")

# shellcheck disable=SC2016 # text of a script
put tools/good.sh '#!/bin/sh' 'echo "$1"'
passes "a clean script" "${check[@]}"

# shellcheck disable=SC2016
put tools/bad.sh '#!/bin/sh' 'echo $1'
fails_saying 'SC2086' "a careless script" "${check[@]}"

expect_done
