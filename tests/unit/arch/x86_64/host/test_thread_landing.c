/* SPDX-License-Identifier: MIT */
/* What a landing does to a thread is tested with process/thread_run.c; here is what can be seen without one. */
#include "arch/thread_landing.h"

#include "arch/x86_64/isa/user_registers.h"
#include "support/check.h"

#include <sys/syscall.h>

#define KERNEL_RESTARTS -512

static void the_vector_state_has_room_for_what_every_cpu_has(void)
{
    CHECK(thread_landing_vector_bytes() >= 512);
    CHECK(thread_landing_vector_bytes() < 65536);
}

static void the_thread_lands_below_the_red_zone_and_keeps_its_registers(void)
{
    struct thread_registers registers = {{0}};
    struct x86_user_registers *user = x86_user_registers(&registers);
    struct thread_landing landing = {0};

    user->rip = 0x1002;
    user->rsp = 0x7ffff1;
    user->rax = (uint64_t)KERNEL_RESTARTS;
    user->orig_rax = SYS_read;
    user->eflags = 0x602;
    CHECK_EQUAL(thread_landing_prepare(&landing, &registers), 0);
    CHECK(user->rsp <= 0x7ffff1 - 128 && user->rsp % 16 == 0);
    CHECK_EQUAL(user->rbx, (uintptr_t)&landing);
    CHECK_EQUAL(user->eflags, 0x202);
    CHECK(!thread_registers_in_system_call(&registers));
    CHECK_EQUAL(thread_registers_pc(&landing.registers), 0x1000);
    CHECK_EQUAL(thread_registers_sp(&landing.registers), 0x7ffff1);
    CHECK_EQUAL(x86_user_registers(&landing.registers)->rax, SYS_read);
    CHECK_EQUAL(x86_user_registers(&landing.registers)->eflags, 0x602);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_vector_state_has_room_for_what_every_cpu_has),
    CHECK_CASE(the_thread_lands_below_the_red_zone_and_keeps_its_registers),
};

CHECK_MAIN(cases)
