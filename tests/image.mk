# The whole core and tests/support/core_exercise.c, linked without libc into images that unit tests load by themselves.
# Sanitizers need libc, so in their modes the image's objects are compiled once more without them.
IMAGE_SOURCES := tests/support/core_exercise.c $(if $(filter asan tsan,$(MODE)),$(CORE_C) $(CORE_S))
IMAGE_O       := $(patsubst %,$(OBJ)/image/%.o,$(basename $(IMAGE_SOURCES))) \
                   $(if $(filter asan tsan,$(MODE)),,$(CORE_O))
IMAGE_FLAGS   := $(filter-out $(MODE_FLAGS),$(COMMON)) -O2 -g $(FREESTANDING_FLAGS) -Itests \
                   $(if $(filter release,$(MODE)),-DNDEBUG)
IMAGE_LINK     = $(CC) -nostdlib -shared -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,noexecstack -Wl,-z,separate-code \
                   -Wl,-z,relro -Wl,-e,core_exercise
# GNU ld can pack relative relocations for x86-64 only.
IMAGES        := $(OUT)/tests/core_image.so $(if $(filter x86_64,$(CPU)),$(OUT)/tests/core_image_packed.so)

$(OBJ)/image/%.o: %.c Makefile tests/image.mk
	@mkdir -p $(@D)
	$(CC) $(IMAGE_FLAGS) -c $< -o $@

$(OBJ)/image/%.o: %.S Makefile tests/image.mk
	@mkdir -p $(@D)
	$(CC) $(IMAGE_FLAGS) -c $< -o $@

$(OUT)/tests/core_image.so: $(IMAGE_O)
	@mkdir -p $(@D)
	$(IMAGE_LINK) -o $@ $^

$(OUT)/tests/core_image_packed.so: $(IMAGE_O)
	@mkdir -p $(@D)
	$(IMAGE_LINK) -Wl,-z,pack-relative-relocs -o $@ $^

$(patsubst tests/%.c,$(OUT)/tests/%,$(wildcard tests/unit/elf/*.c)): | $(IMAGES)

-include $(filter $(OBJ)/image/%.d,$(IMAGE_O:.o=.d))
