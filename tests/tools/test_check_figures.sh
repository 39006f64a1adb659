#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/expect.sh"

check=("$tools/check_figures.sh" "$tree")

put src/hosted/figures.c 'snprintf(text, 9, "%.3f s", seconds);'
put src/base/log.c 'printf("%.3f seconds, %.1f", 1.0, 2.0);'
passes "a tree with one way" "${check[@]}"

put src/base/list.c '' 'printf("%.2f ms\n", 1.0);'
fails_saying 'src/base/list.c:2:' "a duration of its own" "${check[@]}"
put src/base/list.c 'printf("%5.1f%%", 1.0);'
fails_saying 'src/base/list.c:1:' "a share of its own" "${check[@]}"

expect_done
