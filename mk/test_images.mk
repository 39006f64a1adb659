# The whole core and tests/support/core_exercise.c, linked without libc into images that unit tests load by themselves.
# Sanitizers need libc, so in their modes the image's objects are compiled once more without them.
IMAGE_C     := tests/support/core_exercise.c $(if $(SANITIZED),$(CORE_C))
IMAGE_S     := $(if $(SANITIZED),$(CORE_S))
IMAGE_OWN_O := $(patsubst %,$(OBJ)/image/%.o,$(basename $(IMAGE_C) $(IMAGE_S)))
IMAGE_O     := $(IMAGE_OWN_O) $(if $(SANITIZED),,$(CORE_O))
IMAGE_FLAGS := $(if $(SANITIZED),$(filter-out $(MODE_FLAGS),$(COMMON)) $(MODE_FLAGS_debug),$(COMMON)) \
    $(FREESTANDING_FLAGS) -Itests
IMAGE_LINK  := -nostdlib -shared -Wl,-Bsymbolic,-z,defs,-z,noexecstack,-z,separate-code,-z,relro,-e,core_exercise
# GNU ld packs relative relocations for x86-64 only.
IMAGES      := $(OUT)/tests/core_image.so $(if $(filter x86_64,$(CPU)),$(OUT)/tests/core_image_packed.so)

$(OBJ)/image/%.o: %.c Makefile $(OUT)/state/flags | $(DEPS_FOR_BUILD)
	@mkdir -p $(@D)
	$(call say,CC,$< (image))$(CC) $(IMAGE_FLAGS) -MMD -MP -c $< -o $@

$(OBJ)/image/%.o: %.S Makefile $(OUT)/state/flags | $(DEPS_FOR_BUILD)
	@mkdir -p $(@D)
	$(call say,AS,$< (image))$(CC) $(IMAGE_FLAGS) -MMD -MP -c $< -o $@

$(OUT)/tests/core_image_packed.so: IMAGE_LINK += -Wl,-z,pack-relative-relocs
$(IMAGES): $(IMAGE_O) $(OUT)/state/sources
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(IMAGE_LINK) -o $@ $(filter %.o,$^)

# The tests that load them.
$(filter $(OUT)/tests/unit/elf/%,$(UNIT_TESTS)): | $(IMAGES)

-include $(IMAGE_OWN_O:.o=.d)
