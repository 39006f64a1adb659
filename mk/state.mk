# What a build remembers: files below $(OUT)/state that are rewritten only when the text in them changes. A changed flag
# makes every object again; a source that came or went links the products again, and so does SHARED.
STATE_flags   := $(strip $(CC) $(COMMON) $(STACK_WARNINGS) $(CORE_FLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS))
STATE_sources := $(strip $(CORE_C) $(CORE_S) $(LIBRARY_C) $(AGENT_C) $(CONTROLLER_C) $(FETCH_C) $(CLI_C) $(SUPPORT_C) \
    SHARED=$(SHARED))

$(OUT)/state/flags $(OUT)/state/sources: $(OUT)/state/%:
	@mkdir -p $(@D) && printf '%s\n' '$(STATE_$*)' > $@

ifneq ($(strip $(file <$(OUT)/state/flags)),$(STATE_flags))
.PHONY: $(OUT)/state/flags
endif
ifneq ($(strip $(file <$(OUT)/state/sources)),$(STATE_sources))
.PHONY: $(OUT)/state/sources
endif
