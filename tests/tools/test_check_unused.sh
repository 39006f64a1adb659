#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/expect.sh"

check=("$tools/check_unused.sh" "$tree")

# built: compiles what is in the tree, as make would
built() {
    (
        cd "$tree" || exit 1
        for source in src/*/*.[cS]; do
            mkdir -p "build/obj/${source%/*}"
            gcc -c -o "build/obj/${source%.*}.o" "$source" || exit 1
        done
    ) || exit 1
}

put src/base/list.c 'void list_add(void) {}' 'static void helper(void) {}' 'void gait_list(void) { helper(); }'
put src/cli/main.c 'void list_add(void);' 'int main(void) { list_add(); }'
put tests/UNUSED '# words'
built
passes "what others call, and what is public" "${check[@]}"

put src/base/map.c 'void map_add(void) {}'
built
fails_saying 'src/base/map.c: nothing calls map_add' "a function without a caller" "${check[@]}"

put tests/unit/base/test_map.c 'void map_add(void);' 'int main(void) { map_add(); }'
fails_saying 'src/base/map.c: only tests call map_add' "a function that tests call" "${check[@]}"

put tests/UNUSED 'map_add   the reason'
passes "an exception" "${check[@]}"
put tests/UNUSED 'map_add   the reason' 'list_add   the reason'
fails_saying 'lists list_add, which is used or gone' "an exception that is none" "${check[@]}"
put tests/UNUSED 'map_add   the reason' 'map_add   the reason'
fails_saying 'lists map_add twice' "an exception listed twice" "${check[@]}"
put tests/UNUSED ''

put src/base/map.c '/* map_add() is' ' * map_add */' 'void map_add(void) {}' 'void gait_map(void) { map_add(); }'
built
passes "what its own file calls and a test as well" "${check[@]}"
rm "$tree/tests/unit/base/test_map.c"
fails_saying 'map_add is called in its own file alone: make it static' "what could be static" "${check[@]}"

put src/base/map.c 'void map_add(void) {}'
put src/base/gate.S '    call map_add'
built
passes "what assembly calls" "${check[@]}"
rm "$tree/src/base/gate.S" "$tree/build/obj/src/base/gate.o"

put src/base/table.c 'void map_add(void);' 'void (*const gait_table[])(void) = {map_add};'
built
passes "what stands in a table" "${check[@]}"
rm "$tree/src/base/table.c"
fails_saying 'nothing calls map_add' "an object whose source is gone calls nothing" "${check[@]}"

put src/base/other_cpu.c 'void map_add(void);' 'void other(void) { map_add(); }'
passes "what is called where it is not built" "${check[@]}"

expect_done
