# The agent: the core and src/agent, linked without libc into an image that is part of the command. Sanitizers need libc,
# so in their modes it is made of objects without them.
AGENT_C     := $(wildcard src/agent/*.c)
AGENT_OWN_C := $(AGENT_C) $(if $(SANITIZED),$(CORE_C))
AGENT_OWN_S := $(if $(SANITIZED),$(CORE_S))
AGENT_OWN_O := $(patsubst %,$(OBJ)/image/%.o,$(basename $(AGENT_OWN_C) $(AGENT_OWN_S)))
AGENT_O     := $(sort $(AGENT_OWN_O) $(if $(SANITIZED),,$(CORE_O)))
AGENT       := $(OUT)/agent.so

$(AGENT): $(AGENT_O) $(OUT)/state/sources
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -nostdlib -shared -Wl,-Bsymbolic,-z,defs,-z,noexecstack,-z,separate-code,-z,norelro \
	    -o $@ $(AGENT_O)

# What the command carries: without all that debuggers want, and with the two symbols that are looked for.
AGENT_IMAGE := $(OUT)/agent.image

$(AGENT_IMAGE): $(AGENT)
	$(call say,STRIP,$@)$(OBJCOPY) --strip-all --keep-symbol=agent_main --keep-symbol=thread_landing_routine $< $@

$(OBJ)/src/inject/agent_image.o: $(AGENT_IMAGE)
$(OBJ)/src/inject/agent_image.o: COMMON += -DAGENT_IMAGE_FILE='"$(AGENT_IMAGE)"'

-include $(AGENT_OWN_O:.o=.d)
