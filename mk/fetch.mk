# What asks servers for debug information where the command is one piece: src/fetch, and in it a program of its own,
# with a dynamic loader, that the command carries. Sanitizers have nothing to look for in that one.
FETCH_PROGRAM_C := $(wildcard src/fetch/debuginfod_fetch.c)
FETCH_C         := $(filter-out $(FETCH_PROGRAM_C),$(wildcard src/fetch/*.c))
FETCH_O         := $(call object,$(FETCH_C) $(wildcard src/fetch/*.S))
FETCH_PROGRAM   := $(OUT)/debuginfod_fetch
FETCH_FLAGS     := $(if $(SANITIZED),$(filter-out $(MODE_FLAGS),$(COMMON)) $(MODE_FLAGS_debug),$(COMMON))

$(FETCH_PROGRAM): $(FETCH_PROGRAM_C) Makefile mk/fetch.mk $(OUT)/state/flags | $(DEPS_FOR_BUILD)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(FETCH_FLAGS) $(CPPFLAGS) $(CFLAGS) -pie -s $(LDFLAGS) -o $@ $< -Wl,--as-needed -ldl

$(OBJ)/src/fetch/fetch_image.o: $(FETCH_PROGRAM)
$(OBJ)/src/fetch/fetch_image.o: COMMON += -DFETCH_IMAGE_FILE='"$(FETCH_PROGRAM)"'
