# The agent: the core and src/agent, linked without libc into an image that is part of the command. gcc optimizes it as
# a whole, from objects of its own: it is copied into every program, and what it does at its start is a good part of what
# short programs wait for. Sanitizers need libc, so in their modes it is made of the objects without them that tests of
# images have as well.
AGENT_C      := $(wildcard src/agent/*.c)
AGENT_LTO    := $(if $(SANITIZED)$(findstring clang,$(notdir $(firstword $(CC)))),,-flto)
AGENT_FOLDER := $(OBJ)/$(if $(AGENT_LTO),agent,image)
AGENT_OWN_C  := $(AGENT_C) $(if $(SANITIZED)$(AGENT_LTO),$(CORE_C))
AGENT_OWN_S  := $(if $(SANITIZED)$(AGENT_LTO),$(CORE_S))
AGENT_OWN_O  := $(patsubst %,$(AGENT_FOLDER)/%.o,$(basename $(AGENT_OWN_C) $(AGENT_OWN_S)))
AGENT_O      := $(sort $(AGENT_OWN_O) $(if $(SANITIZED)$(AGENT_LTO),,$(CORE_O)))
AGENT        := $(OUT)/agent.so

# Calls of the first are made by the compiler when it is too late to look for them. Of the second, which is weak, the
# optimizer would take what it sees there for what those functions do that take its place.
AGENT_PLAIN_O := $(filter %/memory_functions.o %/no_engine.o,$(AGENT_OWN_O))
AGENT_FLAGS    = $(COMMON) $(STACK_WARNINGS) $(FREESTANDING_FLAGS) $(AGENT_LTO) $(CPPFLAGS) $(CFLAGS)
$(AGENT_PLAIN_O): AGENT_FLAGS += -fno-lto

$(OBJ)/agent/%.o: %.c Makefile mk/agent.mk $(OUT)/state/flags | $(DEPS_FOR_BUILD)
	@mkdir -p $(@D)
	$(call say,CC,$< (agent))$(CC) $(strip $(AGENT_FLAGS)) -MMD -MP -c $< -o $@

$(OBJ)/agent/%.o: %.S Makefile mk/agent.mk $(OUT)/state/flags | $(DEPS_FOR_BUILD)
	@mkdir -p $(@D)
	$(call say,AS,$< (agent))$(CC) $(strip $(AGENT_FLAGS)) -MMD -MP -c $< -o $@

# Where all of it is optimized the flags count once more; warnings do not: each file had its own, and what is inlined
# from one into the other makes new ones that are wrong. In two parts at a time: make has no say in that.
AGENT_LINK := $(if $(AGENT_LTO),$(MODE_FLAGS) $(STACK_WARNINGS) -Werror -fPIC $(FREESTANDING_FLAGS) -flto=2)
$(AGENT): $(AGENT_O) $(OUT)/state/sources
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(AGENT_LINK) -nostdlib -shared \
	    -Wl,-Bsymbolic,-z,defs,-z,noexecstack,-z,separate-code,-z,norelro -o $@ $(AGENT_O)

# What the command carries: without all that debuggers want, and with the two symbols that are looked for.
AGENT_IMAGE := $(OUT)/agent.image

$(AGENT_IMAGE): $(AGENT)
	$(call say,STRIP,$@)$(OBJCOPY) --strip-all --keep-symbol=agent_main --keep-symbol=thread_landing_routine $< $@

$(OBJ)/src/inject/agent_image.o: $(AGENT_IMAGE)
$(OBJ)/src/inject/agent_image.o: COMMON += -DAGENT_IMAGE_FILE='"$(AGENT_IMAGE)"'

-include $(AGENT_OWN_O:.o=.d)
