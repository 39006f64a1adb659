#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/expect.sh"

check=("$tools/check_layers.sh" "$tree")

good_tree() {
    empty_tree
    put src/LAYERS '# words' 'core = base arch stalker' 'gait:' 'base:' 'arch: base' 'arch/<cpu>/isa: base arch' \
        'arch/<cpu>/stalker: arch/<cpu>/isa stalker' 'stalker: base arch' 'cli: base gait'
    put include/gait/version.h '#include <stdint.h>'
    put src/base/log.h '#include <stdarg.h>' '#include <linux/time.h>' '#include <asm/unistd.h>'
    put src/base/log.c '#include "base/log.h"'
    put src/arch/x86_64/isa/decoder.h '#include "base/log.h"' '#include "arch/arch.h"'
    put src/arch/x86_64/stalker/translate.c '#include "arch/x86_64/isa/decoder.h"'
    put src/cli/main.c '#include "gait/version.h"' '  #  include "base/log.h"' '#include <stdio.h>'
}

good_tree
passes "a tree that obeys" "${check[@]}"

put src/base/log.c '#include "cli/main.h"'
fails_saying 'src/base/log.c:1: base may not include "cli/main.h"' "including upwards" "${check[@]}"

good_tree
put src/stalker/stalker_engine.c '' '#include "arch/x86_64/isa/decoder.h"'
fails_saying 'src/stalker/stalker_engine.c:2: stalker may not include' "a folder does not open those below it" "${check[@]}"

good_tree
put src/arch/arm64/stalker/translate.c '#include "arch/x86_64/isa/decoder.h"'
fails_saying 'arch/arm64/stalker may not include' "one CPU including another" "${check[@]}"

good_tree
put src/base/log.c '#include <stdio.h>'
fails_saying 'base is core and may not include <stdio.h>' "libc in the core" "${check[@]}"

good_tree
put src/misc/things.c ''
fails_saying 'the folder misc is not in src/LAYERS' "an unknown folder" "${check[@]}"

good_tree
put src/base/log.c '#include "log.h"'
fails_saying 'must be written from src/' "an include without a folder" "${check[@]}"

good_tree
put src/base/log.c '#include LOG_HEADER'
fails_saying 'cannot be checked' "an include by macro" "${check[@]}"

good_tree
put src/LAYERS 'core = base' 'base: nowhere'
fails_saying 'which has no line' "a layer that names an unknown folder" "${check[@]}"

expect_done
