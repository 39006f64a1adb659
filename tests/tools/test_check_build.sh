#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# time limit: 300 s
# shellcheck disable=SC2016 # what sed gets is text of a makefile
. "$(dirname "$0")/expect.sh"

check=("$tools/check_build.sh" "$tree")

# A small tree under the real Makefile, which sed changes for the worse.
small_tree() {
    empty_tree
    cp -r "$tools/../Makefile" "$tools/../mk" "$tree"
    put src/LAYERS 'core = base'
    put src/base/size.h 'unsigned long twice(unsigned long n);'
    put src/base/size.c '#include "base/size.h"' 'unsigned long twice(unsigned long n) { return 2 * n; }'
    put src/base/alone.c 'int alone(void);' 'int alone(void) { return 1; }'
    put src/cli/main.c 'int main(void) { return 0; }'
    put include/gait/version.h '#define GAIT_VERSION_MAJOR 0' '#define GAIT_VERSION_MINOR 1' \
        '#define GAIT_VERSION_PATCH 0'
    mkdir -p "$tree/src/libgait"
    sed -i "$1" "$tree/Makefile" "$tree"/mk/*.mk
}

small_tree ''
passes "the real Makefile" "${check[@]}"

small_tree 's/-MMD -MP//'
fails_saying 'a change of src/base/size.h should make again: src/base/size.c' "forgotten headers" "${check[@]}"

small_tree 's|%.c Makefile $(OUT)/state/flags|%.c Makefile|'
fails_saying 'a changed flag does not' "forgotten flags" "${check[@]}"

small_tree 's| $(OUT)/state/sources||'
fails_saying 'a removed source file is still in the library' "a forgotten list of sources" "${check[@]}"

small_tree 's|^all:.*|& always|; $aalways: ; @true'
fails_saying 'something to do right after make' "a build that never rests" "${check[@]}"

put src/base/alone.c 'int alone(void) { return }'
fails_saying 'a parallel build from nothing fails' "a source that does not compile" "${check[@]}"

expect_done
