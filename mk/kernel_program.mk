# The program that gait loads into the kernel: made by clang for the kernel's own machine, and part of the command. Which
# kernel it will run on does not matter: it finds places in the kernel's structures when it is loaded.
BPF_CLANG      ?= clang
KERNEL_PROGRAM := $(OUT)/probe.bpf.o

$(KERNEL_PROGRAM): src/source/bpf/probe.bpf.c src/source/program_layout.h | $(DEPS_FOR_BUILD)
	@mkdir -p $(@D)
	$(call say,BPF,$<)$(BPF_CLANG) -target bpf -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter \
	    -I/usr/include/$(MACHINE)-linux-gnu -Isrc -c $< -o $@

$(OBJ)/src/source/kernel_program_object.o: $(KERNEL_PROGRAM)
$(OBJ)/src/source/kernel_program_object.o: COMMON += -DKERNEL_PROGRAM_FILE='"$(KERNEL_PROGRAM)"'
