#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The runner, in a small tree of its own with tests that behave in every way a test can.
# time limit: 120 s
. "$(dirname "$0")/expect.sh"

cp -r "$tools/../Makefile" "$tools/../mk" "$tree"
mkdir -p "$tree/tools" "$tree/src/libgait"
cp "$tools/run_tests.sh" "$tree/tools"
put src/LAYERS 'core = base'
put src/base/size.c 'int size(void);' 'int size(void) { return 1; }'
put src/cli/main.c 'int main(void) { return 0; }'
put include/gait/version.h '#define GAIT_VERSION_MAJOR 0' '#define GAIT_VERSION_MINOR 1' '#define GAIT_VERSION_PATCH 0'

# program name line...: a unit test
program() {
    put "tests/unit/base/test_$1.c" "${@:2}"
}

run() {
    DEPS=no "$tree/tools/run_tests.sh" "$@" >"$tree/output" 2>&1
}

# says text...: each must be in the last output
says() {
    local text

    for text in "$@"; do
        grep -q -e "$text" "$tree/output" || { cat "$tree/output"; echo "should say: $text"; return 1; }
    done
}

last_line_is() {
    [[ $(tail -n 1 "$tree/output") == "$1" ]] || { cat "$tree/output"; return 1; }
}

program quick 'int main(void) { return 0; }'
program slow '#include <unistd.h>' 'int main(void) { usleep(300000); return 0; }'
program skip '#include <stdio.h>' 'int main(void) { puts("skipped: no moon"); return 77; }'
program once '/* configurations: debug-gcc */' 'int main(void) { return 0; }'
program star '/*' ' * configurations: tsan-* debug-* */' 'int main(void) { return 0; }'
passes "good tests" run debug-gcc asan-gcc
passes "their lines" says '^PASS  debug-gcc  *unit/base/test_quick  *0.[0-9]* s$' \
    '^PASS  asan-gcc  *unit/base/test_quick ' \
    '^SKIP  debug-gcc  *unit/base/test_skip .* s  (no moon)$' '^PASS  debug-gcc  *unit/base/test_once '
passes "a restricted test" test "$(grep -c test_once "$tree/output")" = 1
passes "one restricted by patterns" says '^PASS  debug-gcc  *unit/base/test_star '
passes "and only by them" test "$(grep -c test_star "$tree/output")" = 1
passes "the order of names" test "$(grep -o 'test_[a-z]*' "$tree/output" | head -n 4 | tr '\n' ' ')" = \
    'test_once test_quick test_skip test_slow '
passes "the last line" last_line_is '8 passed, 0 failed, 2 skipped'

passes "one test by its name" run --match quick debug-gcc
passes "the last line for it" last_line_is '2 passed, 0 failed, 0 skipped'
fails_saying '' "no test of that name" run --match nonsense debug-gcc

program fail '#include <stdio.h>' 'int main(void) { puts("two is not three"); return 1; }'
program crash 'int main(void) { __builtin_trap(); }'
program hang '/* time limit: 1 s */' '#include <stdio.h>' '#include <signal.h>' '#include <unistd.h>' \
    'int main(void) { signal(SIGTERM, SIG_IGN); if (fork() == 0) { FILE *f = fopen("child", "w");' \
    'fprintf(f, "%d", (int)getpid()); fclose(f); } for (;;) pause(); }'
program signals '#include <signal.h>' 'int main(void) { return signal(SIGINT, SIG_DFL) == SIG_IGN; }'
program broken 'int main(void) { return }'
put tests/system/test_script.sh '#!/bin/sh' '# needs: build/needed' 'exec test -e build/needed'
printf '%s\n' 'build/needed:' $'\ttouch $@' >>"$tree/Makefile"
chmod +x "$tree/tests/system/test_script.sh"
fails_saying '' "bad tests" run debug-gcc
passes "their lines" says '^FAIL  debug-gcc  *build ' '^FAIL .*test_broken .*(could not be run)' \
    '^FAIL .*test_fail .*(exit status 1)' '^      | two is not three' '^FAIL .*test_crash .*(ended by SIG' \
    '^FAIL .*test_hang .*(not finished after 1 s)' '^PASS .*test_signals ' '^PASS .*system/test_script '
passes "the last line" last_line_is '6 passed, 5 failed, 1 skipped'
fails_saying '' "the hanging test's child is gone" grep -s -q '^State:.[^Z]' "/proc/$(cat "$tree/child")/status"

program quick 'int main(void) { return }'
fails_saying '' "a test that no longer compiles" run --match quick debug-gcc
passes "is not run as it was" last_line_is '0 passed, 2 failed, 0 skipped'

expect_done
