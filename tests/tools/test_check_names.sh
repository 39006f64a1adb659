#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/expect.sh"

check=("$tools/check_names.sh" "$tree")

# header path line...: one with the guard that it should have
header() {
    local guard

    guard=GAIT_$(sed 's|^src/||; s|^include/gait/||; s|\.h$||; s|[^A-Za-z0-9]|_|g' <<<"$1" | tr '[:lower:]' '[:upper:]')_H
    put "$1" "#ifndef $guard" "#define $guard" "${@:2}" '#endif'
}

header include/gait/list.h 'struct gait_list {' '    int count;' '};'
header src/base/map.h 'struct map {' '    struct map_entry *entries;' '};' 'enum map_kind { MAP_OF_TEXTS };'
put src/base/map.c 'struct map_entry {' '    int key;' '};' 'static struct map_entry *find(struct map *map);'
put src/cli/walk.c 'struct walk;' 'struct walk {' '    struct map *map;' '};' 'static struct walk walk = {' '    NULL,' '};'
passes "names of one thing each" "${check[@]}"

put src/view/walk.c 'struct walk {' '    int depth;' '};'
fails_saying 'walk is the name of several: src/cli/walk.c src/view/walk.c' "a struct twice" "${check[@]}"
put src/view/walk.c 'enum walk {' '    WALK_UP,' '};'
fails_saying 'walk is the name of several' "a struct and an enum" "${check[@]}"
put src/view/walk.c 'enum map_kind { MAP_OF_NUMBERS };'
fails_saying 'map_kind is the name of several: src/base/map.h src/view/walk.c' "an enum twice" "${check[@]}"
put src/view/walk.c 'int f(void)' '{' '    struct walk {' '        int depth;' '    } walk;' '}'
fails_saying 'walk is the name of several' "one in a function" "${check[@]}"
put src/view/walk.c 'struct __attribute__((packed)) walk {' '    int depth;' '};'
fails_saying 'walk is the name of several' "one with an attribute in front" "${check[@]}"
put src/view/walk.c 'union walk {' '    int depth;' '} __attribute__((packed));'
fails_saying 'walk is the name of several' "one with an attribute behind" "${check[@]}"
put src/view/walk.c 'struct tour {' '    int depth;' '};' 'struct tour {' '    int depth;' '};'
fails_saying 'tour is the name of several: src/view/walk.c src/view/walk.c' "twice in a file" "${check[@]}"
rm "$tree/src/view/walk.c"

header src/view/map.h ''
fails_saying 'map.h is the name of several: src/base/map.h src/view/map.h' "a header twice" "${check[@]}"
rm "$tree/src/view/map.h"
header src/view/list.h ''
fails_saying 'list.h is the name of several: include/gait/list.h src/view/list.h' "a header as a public one" "${check[@]}"
rm "$tree/src/view/list.h"

put src/view/tree.h '#ifndef GAIT_BASE_TREE_H' '#define GAIT_BASE_TREE_H' '#endif'
fails_saying 'src/view/tree.h: its guard should be GAIT_VIEW_TREE_H' "a guard of another place" "${check[@]}"
rm "$tree/src/view/tree.h"

header src/arch/x86_64/isa/decoder.h 'struct opcode {' '    int byte;' '};'
header src/arch/arm64/isa/decoder.h 'struct opcode {' '    int word;' '};'
passes "the same parts of two CPUs" "${check[@]}"
put src/arch/arm64/isa/encoder.c 'struct opcode {' '    int word;' '};'
fails_saying 'opcode is the name of several' "twice for one CPU" "${check[@]}"
rm "$tree/src/arch/arm64/isa/encoder.c"
put src/hook/opcode.c 'struct opcode {' '    int word;' '};'
fails_saying 'opcode is the name of several' "for CPUs and outside of them" "${check[@]}"
rm "$tree/src/hook/opcode.c"
header src/arch/decoder.h '#include "arch/x86_64/isa/decoder.h"'
passes "a header that stands for those of the CPUs" "${check[@]}"
header src/arch/decoder.h ''
fails_saying 'decoder.h is the name of several' "one that does not" "${check[@]}"
rm "$tree/src/arch/decoder.h"

header src/export/writer.h 'struct writer;'
put src/export/writer_zlib.c 'struct writer {' '    int level;' '};'
put src/export/writer_none.c 'struct writer {' '    int file;' '};'
passes "variants of a file" "${check[@]}"
put src/export/writer_none.c 'struct writer {' '    int file;' '};' 'struct writer {' '};'
fails_saying 'writer is the name of several' "twice in a variant" "${check[@]}"
put src/export/writer_none.c ''
put src/export/reader_none.c 'struct writer {' '    int file;' '};'
fails_saying 'writer is the name of several' "a file that is no variant" "${check[@]}"
rm "$tree/src/export/reader_none.c"

put src/kernel/bpf/probe.bpf.c 'struct task_struct {' '    int pid;' '} __attribute__((preserve_access_index));'
put src/syscalls/bpf/call.bpf.c 'struct task_struct {' '    int tgid;' '} __attribute__((preserve_access_index));'
passes "structs of the kernel" "${check[@]}"
put src/syscalls/bpf/call.bpf.c 'struct walk {' '    int tgid;' '};'
fails_saying 'walk is the name of several' "a struct of ours in a program of the kernel" "${check[@]}"

expect_done
