# The ordinary programs in tests/programs, each linked with a main of our own that runs the program's main natively or
# followed: build/tests/programs/NAME. They are compiled as anybody would, without the flags that gait is built with.
# Those that need a CPU are in a folder with its name; loaded/ has libraries that programs load themselves.
FOLLOWED_C := $(wildcard $(addprefix tests/programs/,*.c *.cc $(CPU)/*.c))
FOLLOWED   := $(addprefix $(OUT)/tests/programs/,$(notdir $(basename $(FOLLOWED_C))))
FOLLOWED_LIBRARIES := $(patsubst %.c,$(OUT)/%.so,$(wildcard tests/programs/loaded/*.c))
FOLLOWED_RUNNER_O  := $(call object,$(wildcard tests/programs/runner/*.c))
FOLLOWED_FLAGS     := -Wall -Wextra -Wshadow -Werror -O2 -g
FOLLOWED_LIBS      := -Wl,--as-needed -lstdc++ -lm -ldl -lpthread

define compile_followed
	@mkdir -p $(@D)
	$(call say,CC,$<)$(1) $(FOLLOWED_FLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@ && \
	    $(OBJCOPY) --redefine-sym main=program_main $@
endef

$(OBJ)/followed/%.o: tests/programs/%.c Makefile mk/followed_programs.mk $(OUT)/state/flags | $(DEPS_FOR_BUILD)
	$(call compile_followed,$(CC) -std=gnu11 -Wmissing-prototypes -Wstrict-prototypes)
$(OBJ)/followed/%.o: tests/programs/$(CPU)/%.c Makefile mk/followed_programs.mk $(OUT)/state/flags | $(DEPS_FOR_BUILD)
	$(call compile_followed,$(CC) -std=gnu11 -Wmissing-prototypes -Wstrict-prototypes)
$(OBJ)/followed/%.o: tests/programs/%.cc Makefile mk/followed_programs.mk $(OUT)/state/flags | $(DEPS_FOR_TEST)
	$(call compile_followed,$(CXX) -std=gnu++17)

# At a fixed address, with its heap above it.
$(OUT)/tests/programs/heap_growth: private LDFLAGS += -no-pie

$(FOLLOWED): $(OUT)/tests/programs/%: $(OBJ)/followed/%.o $(FOLLOWED_RUNNER_O) $(OUT)/libgait.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(MODE_FLAGS) $(LDFLAGS) -o $@ $^ $(FOLLOWED_LIBS)

$(FOLLOWED_LIBRARIES): $(OUT)/%.so: %.c Makefile mk/followed_programs.mk $(OUT)/state/flags | $(DEPS_FOR_BUILD)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -std=gnu11 $(FOLLOWED_FLAGS) -fPIC -shared $(LDFLAGS) -o $@ $<

.PHONY: followed-programs
followed-programs: $(FOLLOWED) $(FOLLOWED_LIBRARIES)

-include $(FOLLOWED_RUNNER_O:.o=.d) $(patsubst $(OUT)/tests/programs/%,$(OBJ)/followed/%.d,$(FOLLOWED))
