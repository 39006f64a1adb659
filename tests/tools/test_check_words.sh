#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/expect.sh"

check=("$tools/check_words.sh" "$tree")
note=TO note+=DO
home=/ho home+=me

put src/base/log.c '/* plain words, and mktemp XXXXXX */' '#include "x/home/y.h"'
put build/log "$note"
passes "a clean tree" "${check[@]}"

put src/base/list.c '' "/* $note: sort */"
fails_saying 'src/base/list.c:2:' "a note to oneself" "${check[@]}"
rm "$tree/src/base/list.c"

put docs/page.md "see $home/somebody/notes"
fails_saying 'docs/page.md:1:' "a path of somebody's machine" "${check[@]}"

expect_done
