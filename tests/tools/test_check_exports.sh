#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/expect.sh"

# library core_text library_text: builds what the check looks at
library() {
    put core.c "$1"
    put library.c "$2"
    (
        cd "$tree" || exit 1
        gcc -c -fPIC -ffreestanding -fno-stack-protector -o core.o core.c && gcc -c -fPIC -o library.o library.c &&
            rm -f lib.a && ar rcs lib.a library.o && gcc -shared -o lib.so library.o
    ) || exit 1
}
check=("$tools/check_exports.sh" "$tree/lib.so" "$tree/lib.a" "$tree/core.o")

library 'void *memcpy(void *, const void *, unsigned long); void f(void *p) { memcpy(p, p, 9); }' 'void gait_a(void) {}'
passes "only public names, only the memory functions" "${check[@]}"

library 'void f(void) {}' 'void gait_a(void) {} void helper(void) {}'
fails_saying 'exports a name that is not gait_*: helper' "a private name" "${check[@]}"
fails_saying 'defines a name that is not gait_*: helper' "a private name" "${check[@]}"

library 'int puts(const char *); void f(void) { puts("x"); }' 'void gait_a(void) {}'
fails_saying 'the core needs a name from outside: puts' "a core that calls libc" "${check[@]}"

expect_done
