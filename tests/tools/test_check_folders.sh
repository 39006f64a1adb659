#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/expect.sh"

check=("$tools/check_folders.sh" "$tree")

for ((i = 0; i < 80; i++)); do
    put "src/view/part_$i.c" ''
    put "src/view/lines/line_$i.c" ''
done
passes "folders of 80 files, in each other" "${check[@]}"
put src/view/one_more.def ''
fails_saying 'src/view has 81 files of its own' "a folder of 81 files" "${check[@]}"
rm "$tree/src/view/one_more.def"
put src/view/lines/one_more.h ''
fails_saying 'src/view/lines has 81 files of its own' "a folder within another" "${check[@]}"

expect_done
