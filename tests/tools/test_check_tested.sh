#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/expect.sh"

check=("$tools/check_tested.sh" "$tree")

put src/base/log.c ''
put src/arch/x86_64/isa/decoder.c ''
put tests/unit/arch/x86_64/isa/test_decoder.c ''
put tests/UNTESTED '# words' '' 'src/base/log.c  because'
passes "each file is tested or listed" "${check[@]}"

put src/base/list.c ''
fails_saying 'write tests/unit/base/test_list.c' "a file without a test" "${check[@]}"
rm "$tree/src/base/list.c"

put tests/unit/base/test_log.c ''
fails_saying 'src/base/log.c, which has tests/unit/base/test_log.c: remove' "a listed file with a test" "${check[@]}"
rm "$tree/tests/unit/base/test_log.c"

put tests/UNTESTED 'src/base/log.c' 'src/base/gone.c'
fails_saying 'src/base/gone.c, which does not exist' "a listed file that is gone" "${check[@]}"

put tests/UNTESTED 'src/base/log.c' 'src/base/log.c'
fails_saying 'twice' "a file listed twice" "${check[@]}"

expect_done
