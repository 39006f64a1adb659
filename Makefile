# gait: plain GNU make. Sources are found by folder; nobody edits a list to add a file.
#
#: make                     the command, the libraries: build/gait, build/libgait.a, build/libgait.so
#: make test                all that a reviewer needs: builds and tests every configuration, checks the tree
#: make check TEST=pattern  only the matching tests, in this configuration
#: make demo                shows gait at work
#: make bench               measures a release build; GAIT_BENCH_SCALE=300 lets it take three times as long
#: make bench-minute        recording at a steady pace for a minute, and watching what does nothing for half of one
#: make fuzz                random input for FUZZ_SECONDS each (60), from FUZZ_SEED
#: make torture             programs of all kinds, in every way that gait looks at them; TORTURE="-w spawn java" for some
#: make soak                programs that work for 30 minutes (SOAK_MINUTES), attached to and left at random
#: make tables              runs the generators in tools/*/
#: make install, uninstall  a release build under PREFIX (/usr/local), below DESTDIR if given; STRIP=: keeps symbols
#: make deb                 Debian packages of it in build/deb/
#: make deps                installs the Debian packages that are missing (the targets above call it themselves)
#: make format              formats the C sources; make format-check only looks
#: make compile_commands.json    for editors
#: make clean               removes build/
#:
#: MODE=debug|release|asan|tsan   how to build            CC=clang    with what
#: CROSS_COMPILE=aarch64-linux-gnu-   for another CPU     V=1         shows full commands
#: ZSTD=no     without libzstd: traces stay uncompressed (so by default where CROSS_COMPILE is given)
#: DWARF=no    without libdw: nothing is known of arguments but what --arg says (so by default where CROSS_COMPILE is
#:             given, and with DEPS=no where it is not there)
#: DEMANGLE=no without libiberty: names of C++, Rust and D functions stay as linkers spell them (likewise)
#: SQLITE=no   without libsqlite3: no databases are written, and gait query only says so (likewise)
#: ZLIB=no     without zlib: profiles for pprof are larger (likewise)
#: LZMA=no     without liblzma: packed symbol tables (.gnu_debugdata) are not read (likewise)
#: TRACEFS=no  without libtraceevent and libtracefs: no tracepoints (likewise)
#: BPF=no      without libbpf, or clang to make programs for the kernel: nothing is counted there, and gait probe says
#:             so (likewise)
#: SHARED=yes  with shared libraries, as distributions want it: the command, else one piece, starts a millisecond later
#: DEPS=no     trusts that everything needed is there     PREFIX=     where to install

MODE          ?= debug
PREFIX        ?= /usr/local
CROSS_COMPILE ?=
DEPS          ?= yes
# A cross compiler rarely has the other CPU's libraries.
ZSTD          ?= $(if $(CROSS_COMPILE),no,yes)
DWARF         ?= $(if $(CROSS_COMPILE),no,$(if $(filter-out no,$(DEPS))$(wildcard /usr/include/elfutils/libdwfl.h),yes,no))
LZMA          ?= $(if $(CROSS_COMPILE),no,yes)
DEMANGLE      ?= $(if $(CROSS_COMPILE),no,$(if $(filter-out no,$(DEPS))$(wildcard /usr/include/libiberty/demangle.h),yes,no))
SQLITE        ?= $(if $(CROSS_COMPILE),no,$(if $(filter-out no,$(DEPS))$(wildcard /usr/include/sqlite3.h),yes,no))
ZLIB          ?= $(if $(CROSS_COMPILE),no,$(if $(filter-out no,$(DEPS))$(wildcard /usr/include/zlib.h),yes,no))
TRACEFS       ?= $(if $(CROSS_COMPILE),no,$(if $(filter-out no,$(DEPS))$(wildcard /usr/include/tracefs/tracefs.h),yes,no))
SHARED        ?= $(if $(filter asan tsan,$(MODE))$(CROSS_COMPILE),yes,no)
BPF           ?= $(if $(CROSS_COMPILE),no,$(if $(filter-out no,$(DEPS))$(wildcard /usr/include/bpf/libbpf.h),yes,no))

ifeq ($(filter $(MODE),debug release asan tsan),)
$(error MODE=$(MODE) is unknown: use debug, release, asan or tsan)
endif

# A tool that nobody chose comes from the tool chain.
tool    = $(if $(filter default undefined,$(origin $(1))),$(CROSS_COMPILE)$(2),$($(1)))
CC      := $(call tool,CC,gcc)
CXX     := $(call tool,CXX,g++)
LD      := $(call tool,LD,ld)
STRIP   ?= $(CROSS_COMPILE)strip
AR      := $(call tool,AR,ar)
OBJCOPY := $(call tool,OBJCOPY,objcopy)

MACHINE := $(if $(CROSS_COMPILE),$(firstword $(subst -, ,$(CROSS_COMPILE))),$(shell uname -m))
CPU     := $(MACHINE:aarch64=arm64)

# The configuration that people use lives directly in build/; every other one has a folder of its own below it.
CONFIG := $(MODE)-$(notdir $(firstword $(CC)))
OUT    := $(if $(filter debug-gcc,$(CONFIG)),build,build/$(CONFIG))
OBJ    := $(OUT)/obj

.PHONY: all clean help
all:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:

# "  CC    src/base/slab.c" instead of the command, unless V=1.
say = $(if $(filter 1,$(V)),,@printf '  %-6s%s\n' '$(1)' '$(2)';)

# ---- flags -----------------------------------------------------------------------------------------------------------
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Werror
MODE_FLAGS_debug   := -O2 -g
# No path of the folder that it was built in: what is installed is the same wherever it is made.
MODE_FLAGS_release := -O2 -g -DNDEBUG -ffile-prefix-map=$(CURDIR)=.
MODE_FLAGS_asan    := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
MODE_FLAGS_tsan    := -O1 -g -fsanitize=thread
MODE_FLAGS  := $(MODE_FLAGS_$(MODE))
SANITIZED   := $(filter asan tsan,$(MODE))
# Threads run gait on stacks that others chose the size of: the program's own, or what ulimit -s leaves. Sanitizers put room
# between variables, so there it is their own matter.
STACK_WARNINGS := -Wvla -Walloca $(if $(filter asan tsan,$(MODE)),,-Wframe-larger-than=16384)
COMMON      := -std=gnu11 $(WARNINGS) $(MODE_FLAGS) -fPIC -fvisibility=hidden -Iinclude -Isrc
# What may run inside the target: no libc, no vector registers, nothing that needs the program's thread pointer.
CORE_FLAGS_x86_64 := -mgeneral-regs-only -mno-red-zone -fcf-protection=none
CORE_FLAGS_arm64  := -mgeneral-regs-only -mno-outline-atomics
FREESTANDING_FLAGS := -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables $(CORE_FLAGS_$(CPU))
CORE_FLAGS  := $(if $(SANITIZED),-ffreestanding,$(FREESTANDING_FLAGS))
# What looks into the kernel.
SOURCE_LIBS := $(if $(filter yes,$(TRACEFS)),-ltracefs -ltraceevent) $(if $(filter yes,$(BPF)),-lbpf)
LIBS        := -Wl,--as-needed -ldl -lpthread
# What the command alone has need of, each before those that it needs itself.
NEEDED_LIBS := $(if $(filter yes,$(SQLITE)),sqlite3) $(if $(filter yes,$(TRACEFS)),tracefs traceevent) \
               $(if $(filter yes,$(BPF)),bpf) $(if $(filter yes,$(DWARF)),dw) \
               $(if $(filter yes,$(DWARF) $(BPF)),elf) $(if $(filter yes,$(DEMANGLE)),iberty) \
               $(if $(filter yes,$(LZMA) $(DWARF)),lzma) $(if $(filter yes,$(DWARF)),bz2) \
               $(if $(filter yes,$(ZSTD)),zstd) $(if $(filter yes,$(ZLIB) $(DWARF) $(BPF)),z)
# Found and bound at each start, ten libraries take longer than a short program runs: their archives are linked, if all
# are there; and the C library's, which makes the command one piece.
ARCHIVES    = $(foreach library,$(NEEDED_LIBS),$(filter /%,$(shell $(CC) -print-file-name=lib$(library).a)))
SHARED_LIBS = -Wl,--as-needed $(patsubst %,-l%,$(filter-out bz2,$(NEEDED_LIBS)))
HAS_ARCHIVES = $(filter $(words $(NEEDED_LIBS)),$(words $(ARCHIVES)))
COMMAND_LIBS = $(if $(filter no,$(SHARED)),$(if $(HAS_ARCHIVES),$(ARCHIVES),$(SHARED_LIBS)),$(SHARED_LIBS)) $(LIBS) -lm
IS_ONE_PIECE = $(if $(filter no,$(SHARED)),$(and $(HAS_ARCHIVES),$(filter /%,$(shell $(CC) -print-file-name=libc.a))))
# All that becomes part of it: the compiler's own library, too.
LINKED_ARCHIVES = $(if $(HAS_ARCHIVES),$(if $(filter no,$(SHARED)),$(ARCHIVES) $(filter /%,$(if $(IS_ONE_PIECE),\
    $(foreach library,c gcc,$(shell $(CC) -print-file-name=lib$(library).a))))))
# There it has no loader, and src/fetch stands in for it.
ONE_PIECE   = -static-pie -Wl,--wrap=dlopen,--wrap=dlsym,--wrap=dlclose $(FETCH_O)
# The libraries that tests compare gait with, or run under it; each program is linked with those that it calls.
TEST_LIBS   := -Wl,--as-needed -lZydis -lz -lbz2 -llzma -lzstd -lsqlite3 -llua5.4 -lunwind -lm -ldl -lpthread \
               $(if $(filter yes,$(DWARF)),-ldw -lelf) $(if $(filter yes,$(DEMANGLE)),-liberty) $(SOURCE_LIBS)

# The flags for one source file. CPPFLAGS, CFLAGS and LDFLAGS are the user's, and come last.
flags_of = $(COMMON) $(if $(filter $(CORE_C) $(CORE_S) $(AGENT_C),$(1)),$(CORE_FLAGS)) \
    $(if $(filter src/%,$(1)),$(STACK_WARNINGS),-Itests -Ibench) \
    $(if $(filter %_libtraceevent.c,$(1)),-isystem /usr/include/traceevent) $(CPPFLAGS) $(CFLAGS)

# ---- sources ---------------------------------------------------------------------------------------------------------
# src/LAYERS says which folders make up the core; in src/arch only host/ must match the machine.
CORE_FOLDERS := $(shell sed -n 's/^core = //p' src/LAYERS)
CORE_C    := $(sort $(wildcard $(patsubst %,src/%/*.c,$(CORE_FOLDERS)) \
               src/arch/*/*.c src/arch/*/abi/*.c src/arch/*/isa/*.c src/arch/*/stalker/*.c src/arch/*/hook/*.c src/arch/none/host/*.c src/arch/$(CPU)/host/*.c))
CORE_S    := $(wildcard src/arch/$(CPU)/host/*.S)
LIBRARY_C := $(wildcard src/libgait/*.c src/hosted/*.c)
# All of src/query asks SQLite, but for what writes rows.
QUERY_C   := $(if $(filter yes,$(SQLITE)),$(filter-out %/query_none.c,$(wildcard src/query/*.c)), \
    $(wildcard src/query/query_none.c src/query/row_*.c))
# Beside and after the target.
CONTROLLER_C := $(filter-out $(if $(filter yes,$(ZSTD)),%/compression_none.c,%/compression_zstd.c) \
    $(if $(filter yes,$(DWARF)),%/system_call_stack_none.c %/dwarf_arguments_none.c %/dwarf_code_none.c %/module_lines_none.c,%_libdw.c) \
    $(if $(filter yes,$(DEMANGLE)),%/demangle_none.c,%/demangle_libiberty.c) \
    $(if $(filter yes,$(SQLITE)),%/sqlite_none.c,%/sqlite_libsqlite3.c) \
    $(if $(filter yes,$(ZLIB)),%/gzip_writer_none.c,%/gzip_writer_zlib.c) \
    $(if $(filter yes,$(LZMA)),%/xz_none.c,%/xz_lzma.c) \
    $(if $(filter yes,$(TRACEFS)),%/tracepoint_format_none.c,%/tracepoint_format_libtraceevent.c) \
    $(if $(filter yes,$(BPF)),%/call_feed_program_none.c %/kernel_program_none.c %/kernel_types_none.c,%_libbpf.c), \
    $(wildcard src/inject/*.c src/kernel/*.c src/syscalls/*.c src/syscalls/output/*.c src/trace/*.c src/symbolize/*.c src/symbolize/dwarf/*.c src/record/*.c src/view/*.c src/report/*.c src/export/*.c) $(QUERY_C))
CONTROLLER_S := $(wildcard src/inject/*.S src/export/*.S) $(if $(filter yes,$(BPF)),$(wildcard src/kernel/*_object.S src/syscalls/*_object.S))
CLI_C     := $(wildcard src/cli/*.c src/cli/*/*.c)
HEADERS   := $(wildcard include/gait/*.h)

object     = $(patsubst %,$(OBJ)/%.o,$(basename $(1)))
CORE_O    := $(call object,$(CORE_C) $(CORE_S))
LIBRARY_O := $(call object,$(LIBRARY_C))
CONTROLLER_O := $(call object,$(CONTROLLER_C) $(CONTROLLER_S))
CLI_O     := $(call object,$(CLI_C))
# memcpy and friends of our own are for the core: libc's use vector registers, which belong to the program that is
# followed. In a program with libc they are for nobody else; sanitizers want to see libc's. It is one object, since in an
# archive the weak functions of arch/none may be found before those of the CPU that take their place.
HOSTED_CORE_O := $(OUT)/hosted_core.o
HOSTED_O  := $(HOSTED_CORE_O) $(LIBRARY_O) $(CONTROLLER_O)

version_part = $(shell sed -n 's/^.define GAIT_VERSION_$(1) *//p' include/gait/version.h)
MAJOR   := $(call version_part,MAJOR)
VERSION := $(MAJOR).$(call version_part,MINOR).$(call version_part,PATCH)

include mk/deps.mk
include mk/fetch.mk
include mk/programs.mk
include mk/test_images.mk
include mk/agent.mk
include mk/kernel_program.mk
include mk/followed_programs.mk
include mk/state.mk
include mk/install.mk

# ---- objects ---------------------------------------------------------------------------------------------------------
$(OBJ)/%.o: %.c Makefile $(OUT)/state/flags | $(DEPS_FOR_BUILD)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(strip $(call flags_of,$<)) -MMD -MP -c $< -o $@

$(OBJ)/%.o: %.S Makefile $(OUT)/state/flags | $(DEPS_FOR_BUILD)
	@mkdir -p $(@D)
	$(call say,AS,$<)$(CC) $(strip $(call flags_of,$<)) -MMD -MP -c $< -o $@

# What is put into them as it is.
$(OBJ)/src/export/flamegraph_page.o: src/export/flamegraph.css src/export/flamegraph.js

-include $(patsubst %.o,%.d,$(CORE_O) $(LIBRARY_O) $(CONTROLLER_O) $(FETCH_O) $(CLI_O) $(PROGRAM_O))

# ---- products --------------------------------------------------------------------------------------------------------
all: $(OUT)/gait $(OUT)/libgait.a $(OUT)/libgait.so

# All that may run inside the target, in one piece, with marks at both ends.
FIRST_O := $(filter %/own_code_first.o,$(CORE_O))
LAST_O  := $(filter %/own_code_last.o,$(CORE_O))
$(OUT)/core.o: $(CORE_O) $(OUT)/state/sources
	$(call say,LD,$@)$(LD) -r -o $@ $(FIRST_O) $(filter-out $(FIRST_O) $(LAST_O),$(CORE_O)) $(LAST_O)

MEMORY_FUNCTIONS := memcpy memmove memset memcmp
SANITIZED_CORE_O := $(filter-out %/memory_functions.o,$(CORE_O))
$(OUT)/hosted_core.o: $(if $(SANITIZED),$(SANITIZED_CORE_O) $(OUT)/state/sources,$(OUT)/core.o)
	$(if $(SANITIZED),$(call say,LD,$@)$(LD) -r -o $@ $(SANITIZED_CORE_O),\
	    $(call say,OBJCOPY,$@)$(OBJCOPY) $(MEMORY_FUNCTIONS:%=--localize-symbol=%) $< $@)

# One object whose only global names are the public ones: our memcpy must not become the program's.
$(OUT)/libgait.o: $(OUT)/core.o $(LIBRARY_O) $(OUT)/state/sources
	$(call say,LD,$@)$(LD) -r -o $@ $(OUT)/core.o $(LIBRARY_O) && \
	    $(OBJCOPY) --wildcard --keep-global-symbol='gait_*' $@

$(OUT)/libgait.a: $(OUT)/libgait.o
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $<

$(OUT)/libgait.so.$(VERSION): $(OUT)/libgait.o
	$(call say,LINK,$@)$(CC) $(MODE_FLAGS) -shared -Wl,-soname,libgait.so.$(MAJOR) $(if $(SANITIZED),,-Wl,-z,defs) \
	    $(LDFLAGS) -o $@ $< $(LIBS)

$(OUT)/libgait.so.$(MAJOR): $(OUT)/libgait.so.$(VERSION)
	@ln -sf $(<F) $@

$(OUT)/libgait.so: $(OUT)/libgait.so.$(MAJOR)
	@ln -sf $(<F) $@

$(OUT)/gait: $(CLI_O) $(HOSTED_O) $(FETCH_O) $(OUT)/state/sources
	$(call say,LINK,$@)$(CC) $(MODE_FLAGS) $(if $(IS_ONE_PIECE),$(ONE_PIECE)) $(LDFLAGS) -o $@ $(CLI_O) $(HOSTED_O) \
	    $(COMMAND_LIBS)

# ---- housekeeping ----------------------------------------------------------------------------------------------------
help:
	@sed -n 's/^#: \{0,1\}//p' Makefile

clean:
	rm -rf build compile_commands.json

print-%:
	@echo '$(strip $($*))'

ALL_C := $(CORE_C) $(LIBRARY_C) $(AGENT_C) $(CONTROLLER_C) $(FETCH_C) $(FETCH_PROGRAM_C) $(CLI_C) $(PROGRAM_C)
json_entry = {"directory": "$(CURDIR)", "file": "$(1)", "command": "$(CC) $(strip $(call flags_of,$(1))) -c $(1)"}

.PHONY: compile_commands.json
compile_commands.json:
	$(call say,JSON,$@){ echo '['; $(foreach source,$(ALL_C),echo '$(call json_entry,$(source))$(if \
	    $(filter $(source),$(lastword $(ALL_C))),,$(comma))';) echo ']'; } > $@

comma := ,

FORMATTED = $(shell find src include tests bench examples tools -name '*.[ch]' 2>/dev/null)
.PHONY: format format-check
format: | $(DEPS_FOR_FORMAT)
	clang-format -i $(FORMATTED)
format-check: | $(DEPS_FOR_FORMAT)
	clang-format --dry-run -Werror $(FORMATTED)
