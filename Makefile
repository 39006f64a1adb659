# gait: plain GNU make. Sources are found by folder; nobody edits a list to add a file.
#   make            the command, the libraries          make test      everything a reviewer needs
#   make demo       shows the product at work           make bench     measures it
#   make MODE=asan|tsan|release   CC=clang              make help      the other targets

MODE ?= debug
ifeq ($(origin CC),default)
CC := gcc
endif
CPU  := $(shell uname -m | sed 's/aarch64/arm64/')
PREFIX ?= /usr/local

ifeq ($(filter $(MODE),debug release asan tsan),)
$(error MODE=$(MODE) is unknown: use debug, release, asan or tsan)
endif

# The configuration that people use lives directly in build/; every other one has a folder of its own below it.
CONFIG := $(MODE)-$(notdir $(firstword $(CC)))
OUT    := $(if $(filter debug-gcc,$(CONFIG)),build,build/$(CONFIG))
OBJ    := $(OUT)/obj

# ---- flags -----------------------------------------------------------------------------------------------------------
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Werror
MODE_FLAGS_debug   := -O2 -g
MODE_FLAGS_release := -O2 -g -DNDEBUG
MODE_FLAGS_asan    := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
MODE_FLAGS_tsan    := -O1 -g -fsanitize=thread
MODE_FLAGS  := $(MODE_FLAGS_$(MODE))
COMMON      := -std=gnu11 $(WARNINGS) $(MODE_FLAGS) -fPIC -fvisibility=hidden -Iinclude -Isrc -MMD -MP
# What may run inside the target: no libc, no vector registers, nothing that needs the program's thread pointer.
FREESTANDING_FLAGS := -ffreestanding -fno-stack-protector -fcf-protection=none -fno-asynchronous-unwind-tables
ifeq ($(CPU),x86_64)
FREESTANDING_FLAGS += -mgeneral-regs-only -mno-red-zone
else
FREESTANDING_FLAGS += -mgeneral-regs-only -mno-outline-atomics
endif
CORE_FLAGS  := $(if $(filter asan tsan,$(MODE)),-ffreestanding,$(FREESTANDING_FLAGS))
LIBS        := -Wl,--as-needed -lZydis -ldl -lpthread

# ---- sources ---------------------------------------------------------------------------------------------------------
CORE_C    := $(wildcard src/base/*.c src/elf/*.c src/arch/*.c src/arch/*/isa/*.c src/arch/*/stalker/*.c src/arch/*/hook/*.c \
               src/arch/$(CPU)/host/*.c src/process/*.c src/ring/*.c src/stalker/*.c src/hook/*.c)
CORE_S    := $(wildcard src/arch/$(CPU)/host/*.S)
LIBRARY_C := $(wildcard src/libgait/*.c)
CLI_C     := $(wildcard src/cli/*.c)
SUPPORT_C := $(wildcard tests/support/*.c)
TEST_C    := $(sort $(wildcard tests/unit/*/*.c tests/unit/*/*/*.c tests/unit/*/*/*/*.c))

object     = $(patsubst %,$(OBJ)/%.o,$(basename $(1)))
CORE_O    := $(call object,$(CORE_C) $(CORE_S))
LIBRARY_O := $(call object,$(LIBRARY_C))
CLI_O     := $(call object,$(CLI_C))
SUPPORT_O := $(call object,$(SUPPORT_C))
# memcpy and friends of our own are for images without libc; a test program has libc's.
TEST_CORE_O := $(filter-out %/memory_functions.o,$(CORE_O)) $(LIBRARY_O) $(filter-out %/cli/main.o,$(CLI_O))
UNIT_TESTS := $(patsubst tests/%.c,$(OUT)/tests/%,$(TEST_C))

# ---- products --------------------------------------------------------------------------------------------------------
.PHONY: all clean unit-tests
all: $(OUT)/libgait.a $(OUT)/libgait.so $(OUT)/gait

$(CORE_O): ALL_FLAGS = $(COMMON) $(CORE_FLAGS)
$(LIBRARY_O) $(CLI_O): ALL_FLAGS = $(COMMON)
$(SUPPORT_O): ALL_FLAGS = $(COMMON) -Itests

$(OBJ)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_FLAGS) -c $< -o $@

$(OBJ)/%.o: %.S Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_FLAGS) -c $< -o $@

# One object whose only global names are the public ones: our memcpy must not become the program's.
$(OUT)/libgait.o: $(CORE_O) $(LIBRARY_O)
	$(LD) -r -o $@.all $^
	objcopy --wildcard --keep-global-symbol='gait_*' $@.all $@
	@rm -f $@.all

$(OUT)/libgait.a: $(OUT)/libgait.o
	@rm -f $@
	$(AR) rcs $@ $<

$(OUT)/libgait.so: $(OUT)/libgait.o
	$(CC) $(MODE_FLAGS) -shared -Wl,-soname,libgait.so -o $@ $< -lpthread

$(OUT)/gait: $(CLI_O) $(CORE_O) $(LIBRARY_O)
	$(CC) $(MODE_FLAGS) -o $@ $(filter-out %/memory_functions.o,$^) $(LIBS)

# ---- unit tests: one program a source file -----------------------------------------------------------------------------
$(OUT)/tests/libtested.a: $(TEST_CORE_O) $(SUPPORT_O)
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcs $@ $^

$(OUT)/tests/%: tests/%.c $(OUT)/tests/libtested.a Makefile
	@mkdir -p $(@D)
	$(CC) $(COMMON) -Itests -MF $@.d -o $@ $< $(OUT)/tests/libtested.a $(LIBS)

unit-tests: $(UNIT_TESTS)

include tests/image.mk

clean:
	rm -rf build

-include $(CORE_O:.o=.d) $(LIBRARY_O:.o=.d) $(CLI_O:.o=.d) $(SUPPORT_O:.o=.d) $(UNIT_TESTS:=.d)
