# The programs that gait loads into the kernel: made by clang for the kernel's own machine, and part of the command. Which
# kernel they will run on does not matter: they find places in the kernel's structures when they are loaded.
BPF_CLANG      ?= clang
KERNEL_PROGRAM := $(OUT)/probe.bpf.o
CALL_PROGRAM   := $(OUT)/system_call.bpf.o

$(KERNEL_PROGRAM) $(CALL_PROGRAM): mk/kernel_program.mk
$(KERNEL_PROGRAM): src/kernel/program_layout.h
$(CALL_PROGRAM): src/syscalls/system_call_program_layout.h src/arch/kernel_registers.inc $(wildcard src/arch/*/abi/kernel_registers.inc)

# Clang gets the name that libbpf has for the CPU. Lines of the source are kept for the kernel's messages: from this folder
# on, so that the object does not depend on where it was made.
define compile_kernel_program
	@mkdir -p $(@D)
	$(call say,BPF,$<)$(BPF_CLANG) -target bpf -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter \
	    -fdebug-compilation-dir=. -ffile-prefix-map=$(CURDIR)=. \
	    -D__TARGET_ARCH_$(patsubst x86_64,x86,$(CPU)) -I/usr/include/$(MACHINE)-linux-gnu -Isrc -c $< -o $@
endef

$(OUT)/%.bpf.o: src/kernel/bpf/%.bpf.c | $(DEPS_FOR_BUILD)
	$(compile_kernel_program)
$(OUT)/%.bpf.o: src/syscalls/bpf/%.bpf.c | $(DEPS_FOR_BUILD)
	$(compile_kernel_program)

$(OBJ)/src/kernel/kernel_program_object.o: $(KERNEL_PROGRAM)
$(OBJ)/src/kernel/kernel_program_object.o: COMMON += -DKERNEL_PROGRAM_FILE='"$(KERNEL_PROGRAM)"'
$(OBJ)/src/syscalls/call_program_object.o: $(CALL_PROGRAM)
$(OBJ)/src/syscalls/call_program_object.o: COMMON += -DCALL_PROGRAM_FILE='"$(CALL_PROGRAM)"'
