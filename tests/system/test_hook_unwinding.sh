#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Exceptions, the end of threads, backtraces and jumps go through hooked functions as if they were not, and hooks know of
# them; with the unwinder in a library and in the program. And ordinary programs that do all kinds of things, with all
# functions of theirs and of the C and C++ libraries hooked: their output and status are what they are natively.
# configurations: debug-gcc
# time limit: 300 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

for options in "-O0" "-O1" "-O2 -fno-omit-frame-pointer" "-O2 -static-libgcc -static-libstdc++"; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086
    g++ $options -g -pthread -Iinclude -o "$folder/unwinding" tests/system/programs/hooked_unwinding.cc \
        build/libgait.a -ldl || exit 1
    "$folder/unwinding" >"$folder/said" 2>&1 || fail "unwinding, with $options" "$folder/said"
done

# gdb sees the callers of hooked functions, if it is told how.
cat >"$folder/ends.c" <<'PROGRAM'
#include <gait/hook.h>
#include <stdlib.h>

static void listen(struct gait_invocation *invocation)
{
    (void)invocation;
}

__attribute__((noinline)) int inner(volatile int *number)
{
    for (int i = 0; i < 3; i++)
        *number += i;
    abort();
}

__attribute__((noinline)) int outer(volatile int *number)
{
    for (int i = 0; i < 3; i++)
        *number += 2 * i;
    return inner(number) + 1;
}

int main(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = listen, .leave = listen};
    struct gait_hooks *hooks;
    volatile int number = 0;

    return gait_hooks_acquire(NULL, &hooks, NULL) != 0 ||
           gait_hook_attach(hooks, (uintptr_t)inner, &listener, NULL, NULL) != 0 ||
           gait_hook_attach(hooks, (uintptr_t)outer, &listener, NULL, NULL) != 0 || outer(&number);
}
PROGRAM
if gdb -batch -ex 'python print(1)' >/dev/null 2>&1; then
    checks=$((checks + 1))
    gcc -O1 -g -pthread -Iinclude -o "$folder/ends" "$folder/ends.c" build/libgait.a -ldl || exit 1
    gdb -batch -ex 'source tools/gdb/gait_hooks.py' -ex run -ex bt "$folder/ends" >"$folder/said" 2>&1
    [[ $(grep -c -E ' (inner|outer|main) \(' "$folder/said") == 3 ]] || fail "gdb does not see callers" "$folder/said"
fi

# Not those that ask for a segment base, which is ours, or where they were when a signal came, which may be in a copy.
programs=(all_registers arithmetic_flags atexit_order call_next_pop dlopen_close exceptions exit_in_thread floating
    fork_in_thread fork_wait interpreter main_thread_ends misaligned_stack push_ret qsort_callback recursion red_zone
    ret_imm return_address_swap segv_handler setjmp_longjmp sigfpe signal_counting signal_longjmp signal_nested
    signal_other_stack signal_stack signal_threads signal_timer small_stack_thread spawn_children tail_calls
    terminate_in_thread thread_storage threads ucontext unwind_backtrace varargs vfork_exec virtual_calls)

make -s DEPS=no followed-programs >"$folder/out" 2>&1 || fail "make followed-programs" "$folder/out"
for program in "${programs[@]/#/build/tests/programs/}"; do
    checks=$((checks + 1))
    "$program" </dev/null >"$folder/native" 2>/dev/null
    native=$?
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" --hook '*' --hook 'libc.so*!*' --hook 'libstdc++*!*' --hook 'libm.so*!*' \
        --hook 'libgcc_s*!*' "$program" </dev/null >"$folder/hooked" 2>"$folder/err"
    hooked=$?
    [[ $native == "$hooked" ]] || fail "$program: status $hooked, natively $native"
    cmp -s "$folder/native" "$folder/hooked" || fail "$program says something else" "$folder/hooked"
done
finish
