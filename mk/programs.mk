# The programs that are not installed: unit tests, fuzzers, benchmarks, examples, generators. Each is one source file
# (a generator is one folder) linked with everything that gait consists of, the internal parts too.
define newline


endef
# What tests of a library ask that was left out is not there.
WITHOUT_C := $(if $(filter yes,$(DWARF)),,%_libdw.c) $(if $(filter yes,$(DEMANGLE)),,%_libiberty.c) \
    $(if $(filter yes,$(ZLIB)),,%_zlib.c) $(if $(filter yes,$(SQLITE)),,%_libsqlite3.c %/test_command_query.c \
    %/test_query_hint.c $(filter-out tests/unit/query/test_row_%.c,$(wildcard tests/unit/query/test_*.c)))
TEST_C    := $(filter-out $(WITHOUT_C),$(sort $(shell find tests/unit -name 'test_*.c' 2>/dev/null)))
FUZZ_C    := $(wildcard tests/fuzz/*.c)
BENCH_C   := $(wildcard bench/*.c)
EXAMPLE_C := $(wildcard examples/*.c)
SUPPORT_C := $(filter-out $(WITHOUT_C),$(wildcard tests/support/*.[cS] bench/support/*.c))
GENERATOR_C := $(wildcard tools/*/*.c)
PROGRAM_C := $(TEST_C) $(FUZZ_C) $(BENCH_C) $(EXAMPLE_C) $(SUPPORT_C) $(GENERATOR_C)
PROGRAM_O := $(call object,$(PROGRAM_C))
SUPPORT_O := $(call object,$(SUPPORT_C))

UNIT_TESTS := $(patsubst %.c,$(OUT)/%,$(TEST_C))
FUZZERS    := $(patsubst %.c,$(OUT)/%,$(FUZZ_C))
EXAMPLES   := $(patsubst %.c,$(OUT)/%,$(EXAMPLE_C))
# Benchmarks are always release builds, so the ones people run need no mode in their path.
BENCHES    := $(patsubst %.c,$(if $(filter release-gcc,$(CONFIG)),build,$(OUT))/%,$(BENCH_C))
GENERATORS := $(patsubst tools/%/,build/tools/%,$(sort $(dir $(GENERATOR_C))))

$(OUT)/internal.a: $(HOSTED_O) $(FETCH_O) $(filter-out %/cli/main.o,$(CLI_O)) $(OUT)/state/sources
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

# Parts of the agent are linked with the tests of it, which may ask all of them.
AGENT_PARTS_O := $(call object,$(wildcard src/agent/*.c))
$(OUT)/agent_parts.a: $(AGENT_PARTS_O) $(OUT)/state/sources
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)
-include $(AGENT_PARTS_O:.o=.d)

$(OUT)/support.a: $(SUPPORT_O) $(OUT)/state/sources
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

# Each archive may ask the others. By name, parts of the agent come first: some names of theirs others have, too.
define link_program
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(MODE_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) \
	    -Wl,--start-group $(sort $(filter %.a,$^)) -Wl,--end-group $(TEST_LIBS)
endef

PARTS := $(OUT)/support.a $(OUT)/internal.a
$(UNIT_TESTS) $(FUZZERS) $(EXAMPLES): $(OUT)/%: $(OBJ)/%.o $(PARTS)
	$(link_program)
$(filter $(OUT)/tests/unit/agent/%,$(UNIT_TESTS)): $(OUT)/agent_parts.a
$(filter build/bench/%,$(BENCHES)): build/%: $(OBJ)/%.o $(PARTS)
	$(link_program)
$(filter-out build/bench/%,$(BENCHES)): $(OUT)/%: $(OBJ)/%.o $(PARTS)
	$(link_program)
.SECONDEXPANSION:
$(GENERATORS): build/%: $$(call object,$$(wildcard $$*/*.c))
	$(link_program)
# What needs the packages of tests or benchmarks waits for them.
$(call object,$(TEST_C) $(FUZZ_C)): | $(DEPS_FOR_TEST)
$(call object,$(BENCH_C) $(EXAMPLE_C) $(GENERATOR_C) $(SUPPORT_C)): | $(DEPS_FOR_BENCH)

.PHONY: unit-tests fuzzers benches examples
unit-tests: $(UNIT_TESTS)
fuzzers: $(FUZZERS)
benches: $(BENCHES)
examples: $(EXAMPLES)

# ---- running them ----------------------------------------------------------------------------------------------------
CONFIGURATIONS ?= debug-gcc debug-clang asan-gcc tsan-gcc
FUZZ_MODE      ?= asan
FUZZ_SECONDS   ?= 60
FUZZ_SEED      ?= $(shell date +%s)

.PHONY: test check demo bench bench-minute fuzz torture soak tables
test: | $(DEPS_FOR_TEST)
	@tools/run_tests.sh $(CONFIGURATIONS)

check: | $(DEPS_FOR_TEST)
	@tools/run_tests.sh --match '$(TEST)' $(CONFIG)

demo: all examples
	@tools/run_demo.sh $(OUT)

bench: | $(DEPS_FOR_BENCH)
	@+$(MAKE) --no-print-directory MODE=release all benches
	@tools/run_bench.sh $$($(MAKE) -s MODE=release print-BENCHES)

# What takes long because it is to be seen whether it lasts.
bench-minute: | $(DEPS_FOR_BENCH)
	@+$(MAKE) --no-print-directory MODE=release all benches
	@build/bench/record_throughput 60
	@build/bench/record_idle 30

torture: all followed-programs | $(DEPS_FOR_TORTURE)
	@GAIT=$(abspath $(OUT))/gait tests/torture/torture.sh $(TORTURE)

SOAK_MINUTES ?= 30
soak: all | $(DEPS_FOR_TORTURE)
	@GAIT=$(abspath $(OUT))/gait tests/torture/soak.sh $(SOAK_MINUTES)

fuzz: | $(DEPS_FOR_TEST)
	@+$(MAKE) --no-print-directory MODE=$(FUZZ_MODE) fuzzers
	@tools/run_fuzz.sh $(FUZZ_SECONDS) $(FUZZ_SEED) $$($(MAKE) -s MODE=$(FUZZ_MODE) print-FUZZERS)

# Arguments of a generator: the files that it writes.
ARGUMENTS_x86_tables := $(addprefix src/arch/x86_64/isa/,decoder_tables.inc mnemonics.def)

tables: $(GENERATORS)
	$(foreach generator,$(GENERATORS),$(generator) $(ARGUMENTS_$(notdir $(generator)))$(newline))
