/* SPDX-License-Identifier: MIT */
#include "arch/thread_registers.h"

#include "arch/x86_64/isa/user_registers.h"
#include "support/check.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/user.h>

#define KERNEL_RESTARTS_FIRST     512
#define KERNEL_RESTARTS_NO_HANDLE 514
#define KERNEL_RESTARTS_BY_BLOCK  516

static struct thread_registers interrupted(long number, long result)
{
    struct thread_registers registers = {{0}};
    struct x86_user_registers *user = x86_user_registers(&registers);

    user->rip = 0x1002;
    user->orig_rax = (uint64_t)number;
    user->rax = (uint64_t)result;
    return registers;
}

#define CHECK_PLACE(name)                                                                                              \
    CHECK_EQUAL(offsetof(struct x86_user_registers, name), offsetof(struct user_regs_struct, name))

static void the_layout_is_the_kernels(void)
{
    CHECK_EQUAL(thread_registers_size_bytes(), sizeof(struct user_regs_struct));
    CHECK_PLACE(r15);
    CHECK_PLACE(r11);
    CHECK_PLACE(rax);
    CHECK_PLACE(rdi);
    CHECK_PLACE(orig_rax);
    CHECK_PLACE(rip);
    CHECK_PLACE(eflags);
    CHECK_PLACE(rsp);
    CHECK_PLACE(fs_base);
    CHECK_PLACE(gs_base);
    CHECK_PLACE(gs);
}

static void pc_and_sp_are_rip_and_rsp(void)
{
    struct thread_registers registers = {{0}};

    thread_registers_set_pc(&registers, 11);
    thread_registers_set_sp(&registers, 22);
    CHECK_EQUAL(x86_user_registers(&registers)->rip, 11);
    CHECK_EQUAL(x86_user_registers(&registers)->rsp, 22);
    CHECK_EQUAL(thread_registers_pc(&registers), 11);
    CHECK_EQUAL(thread_registers_sp(&registers), 22);
}

static void a_system_call_is_begun_again_for_the_kernels_four_results(void)
{
    for (long result = -520; result < 10; result++) {
        struct thread_registers in_call = interrupted(SYS_read, result), in_none = interrupted(-1, result);
        bool expected = result <= -KERNEL_RESTARTS_FIRST && result >= -KERNEL_RESTARTS_BY_BLOCK && result != -515;

        CHECK_EQUAL(thread_registers_in_system_call(&in_call), expected);
        CHECK(!thread_registers_in_system_call(&in_none));
    }
}

static void taking_the_restart_over_does_what_the_kernel_would(void)
{
    struct thread_registers registers = interrupted(SYS_read, -KERNEL_RESTARTS_FIRST);

    thread_registers_take_restart(&registers);
    CHECK_EQUAL(thread_registers_pc(&registers), 0x1000);
    CHECK_EQUAL(x86_user_registers(&registers)->rax, SYS_read);
    CHECK_EQUAL((int32_t)x86_user_registers(&registers)->orig_rax, -1);
    CHECK(!thread_registers_in_system_call(&registers));

    registers = interrupted(SYS_clock_nanosleep, -KERNEL_RESTARTS_BY_BLOCK);
    thread_registers_take_restart(&registers);
    CHECK_EQUAL(thread_registers_pc(&registers), 0x1000);
    CHECK_EQUAL(x86_user_registers(&registers)->rax, SYS_restart_syscall);

    registers = interrupted(SYS_read, 5);
    thread_registers_take_restart(&registers);
    CHECK_EQUAL(thread_registers_pc(&registers), 0x1002);
    CHECK_EQUAL(x86_user_registers(&registers)->rax, 5);
    CHECK_EQUAL(x86_user_registers(&registers)->orig_rax, SYS_read);
}

static void how_it_was_interrupted_is_known_before_and_after(void)
{
    static const struct {
        long result;
        enum thread_restart restart;
    } tried[] = {
        {-512, THREAD_RESTART_IF_ASKED},        {-513, THREAD_RESTART_ALWAYS}, {-514, THREAD_RESTART_WITHOUT_HANDLER},
        {-516, THREAD_RESTART_WITHOUT_HANDLER}, {-EINTR, THREAD_RESTART_NONE}, {5, THREAD_RESTART_NONE},
    };

    for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
        struct thread_registers registers = interrupted(SYS_read, tried[i].result);

        CHECK_EQUAL(thread_registers_restart(&registers), tried[i].restart);
        thread_registers_take_restart(&registers);
        CHECK_EQUAL(thread_registers_restart(&registers), tried[i].restart);
        registers = interrupted(-1, tried[i].result);
        CHECK_EQUAL(thread_registers_restart(&registers), THREAD_RESTART_NONE);
    }
}

static void only_interruptions_that_are_safe_to_undo_are_undone(void)
{
    struct thread_registers registers = interrupted(SYS_epoll_wait, -EINTR);

    CHECK(thread_registers_undo_interruption(&registers));
    CHECK_EQUAL(x86_user_registers(&registers)->rax, -KERNEL_RESTARTS_NO_HANDLE);
    CHECK(thread_registers_in_system_call(&registers));

    registers = interrupted(SYS_close, -EINTR);
    CHECK(!thread_registers_undo_interruption(&registers));
    CHECK_EQUAL(x86_user_registers(&registers)->rax, -EINTR);
    registers = interrupted(SYS_epoll_wait, -EBADF);
    CHECK(!thread_registers_undo_interruption(&registers));
    registers = interrupted(-1, -EINTR);
    CHECK(!thread_registers_undo_interruption(&registers));
}

static const struct check_case cases[] = {
    CHECK_CASE(the_layout_is_the_kernels),
    CHECK_CASE(pc_and_sp_are_rip_and_rsp),
    CHECK_CASE(a_system_call_is_begun_again_for_the_kernels_four_results),
    CHECK_CASE(taking_the_restart_over_does_what_the_kernel_would),
    CHECK_CASE(how_it_was_interrupted_is_known_before_and_after),
    CHECK_CASE(only_interruptions_that_are_safe_to_undo_are_undone),
};

CHECK_MAIN(cases)
