#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/expect.sh"

check=("$tools/check_headers.sh" "$tree")

good_tree() {
    empty_tree
    put src/LAYERS 'core = base' 'base:' 'cli: base'
    put src/base/size.h '#include <stddef.h>' 'static inline size_t twice(size_t n) { return 2 * n; }'
    put src/cli/print.h '#include <stdio.h>' 'void print(FILE *file);'
    put include/gait/version.h 'const char *gait_version(void);'
}

good_tree
passes "headers that compile alone" "${check[@]}"

put src/base/size.h 'size_t twice(size_t n);'
fails_saying 'src/base/size.h does not compile alone' "a header that misses an include" "${check[@]}"

good_tree
put tests/support/trace.h 'void print(FILE *file);'
fails_saying 'tests/support/trace.h does not compile alone' "a header of the tests" "${check[@]}"

if command -v g++ >/dev/null; then
    good_tree
    put include/gait/version.h 'void gait_new(int *new);'
    fails_saying 'include/gait/version.h does not compile alone' "a public header that is not C++" "${check[@]}"
fi

expect_done
