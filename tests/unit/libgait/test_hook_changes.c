/* SPDX-License-Identifier: MIT */
/*
 * What is put in the place of a function or of one of its instructions, several changes at once, and what is refused.
 *
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "gait/hook.h"

#include "support/check.h"
#include "support/hook_log.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- replacing ----------------------------------------------------------------------------------------------------
 */

static long (*original_add)(long first, long second);

static NOINLINE long multiply(long first, long second)
{
    return first * second;
}

static NOINLINE long add_and_double(long first, long second)
{
    return 2 * original_add(first, second);
}

static NOINLINE long call_itself(long first, long second)
{
    return add(first, second) + 1000;
}

static int replace(void *function, void *replacement, void *original)
{
    return gait_hook_replace(hooks, (uintptr_t)function, (uintptr_t)replacement, (void **)original, &error);
}

static int replace_in_place(void *function, void *replacement, void *original)
{
    return gait_hook_replace_in_place(hooks, (uintptr_t)function, (uintptr_t)replacement, (void **)original, &error);
}

static void revert(void *function)
{
    CHECK_EQUAL(gait_hook_revert(hooks, (uintptr_t)function, &error), 0);
}

static struct gait_replaced_call seen[4];
static unsigned seen_count;

/* Which of several functions was called is told by the data. */
static NOINLINE long replace_several(long first, long second)
{
    struct gait_replaced_call *call = &seen[seen_count++ % 4];

    *call = (struct gait_replaced_call){.size_bytes = sizeof(*call)};
    CHECK(gait_hook_replaced_call(call));
    if (call->data == &error)
        return multiply(first, second) + add(first, second);
    return first - second;
}

static void a_replacement_knows_its_call(void)
{
    struct gait_replacement replacement = {.size_bytes = sizeof(replacement), .function = (uintptr_t)replace_several};
    struct gait_replaced_call call = {.size_bytes = sizeof(call)};

    begin();
    seen_count = 0;
    CHECK(!gait_hook_replaced_call(&call));
    replacement.data = &error;
    CHECK_EQUAL(gait_hook_put_replacement(hooks, (uintptr_t)add, &replacement, &error), 0);
    replacement.data = &seen_count;
    CHECK_EQUAL(gait_hook_put_replacement(hooks, (uintptr_t)multiply, &replacement, &error), 0);
    /* Inside of the first one comes the second, and the original of the first, which is called through it. */
    CHECK_EQUAL(add(7, 3), 4 + 10);
    CHECK_EQUAL(seen_count, 2);
    CHECK_EQUAL(seen[0].function, (uintptr_t)add);
    CHECK(seen[0].data == &error);
    CHECK_EQUAL(seen[1].function, (uintptr_t)multiply);
    CHECK(seen[1].data == &seen_count);
    CHECK(seen[1].depth > seen[0].depth);
    CHECK(seen[1].return_address - (uintptr_t)replace_several < 4096);
    CHECK(!gait_hook_replaced_call(&call));
    replacement.in_place = true;
    CHECK_EQUAL(gait_hook_put_replacement(hooks, (uintptr_t)add, &replacement, &error), -EINVAL);
    CHECK_EQUAL(gait_hook_put_replacement(hooks, (uintptr_t)add, NULL, &error), -EINVAL);
    revert(add);
    revert(multiply);
    CHECK_EQUAL(add(7, 3), 10);
    end();
}

static void a_function_can_be_replaced_and_its_original_called(void)
{
    begin();
    CHECK_EQUAL(replace(add, multiply, NULL), 0);
    CHECK_EQUAL(add(6, 7), 42);
    CHECK_EQUAL(replace(add, multiply, NULL), -EEXIST);
    revert(add);
    CHECK_EQUAL(add(6, 7), 13);
    CHECK_EQUAL(gait_hook_revert(hooks, (uintptr_t)add, &error), -ENOENT);
    CHECK_EQUAL(replace(add, add_and_double, &original_add), 0);
    CHECK_EQUAL(add(6, 7), 26);
    revert(add);
    CHECK_EQUAL(original_add(6, 7), 13);
    CHECK_EQUAL(add(6, 7), 13);
    end();
}

static void a_replacement_that_calls_the_function_gets_the_original(void)
{
    begin();
    CHECK_EQUAL(replace(add, call_itself, NULL), 0);
    CHECK_EQUAL(add(1, 2), 1003);
    CHECK_EQUAL(add(1, 2), 1003);
    revert(add);
    end();
}

static void a_function_can_be_replaced_and_listened_to(void)
{
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(replace(add, add_and_double, &original_add), 0);
    hook = attach(add, 0);
    CHECK_EQUAL(add(3, 4), 14);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(logs[0].result, 14);
    revert(add);
    CHECK_EQUAL(add(3, 4), 7);
    CHECK_EQUAL(logs[0].entered, 2);
    CHECK_EQUAL(replace(add, multiply, NULL), 0);
    CHECK_EQUAL(add(3, 4), 12);
    CHECK_EQUAL(logs[0].left, 3);
    detach(hook);
    CHECK_EQUAL(add(3, 4), 12);
    CHECK_EQUAL(logs[0].left, 3);
    revert(add);
    end();
}

static void a_replacement_in_place_has_nothing_in_between(void)
{
    struct gait_listener listener = listener_for(0);
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(replace_in_place(add, add_and_double, &original_add), 0);
    CHECK_EQUAL(add(3, 4), 14);
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)add, &listener, NULL, &error), -EBUSY);
    CHECK_EQUAL(replace(add, multiply, NULL), -EEXIST);
    CHECK_EQUAL(replace_in_place(add, multiply, NULL), -EEXIST);
    revert(add);
    CHECK_EQUAL(add(3, 4), 7);
    hook = attach(add, 0);
    CHECK_EQUAL(replace_in_place(add, multiply, NULL), -EBUSY);
    CHECK_EQUAL(add(3, 4), 7);
    CHECK_EQUAL(logs[0].entered, 1);
    detach(hook);
    CHECK_EQUAL(replace(add, multiply, NULL), 0);
    CHECK_EQUAL(replace_in_place(add, multiply, NULL), -EEXIST);
    revert(add);
    end();
}

static void a_replacement_in_place_may_be_far_away(void)
{
    /* mov eax, 77; ret */
    static const uint8_t code[] = {0xb8, 77, 0, 0, 0, 0xc3};
    void *far =
        mmap((void *)0x10000000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    memcpy(far, code, sizeof(code));
    begin();
    CHECK_EQUAL(replace_in_place(add, far, NULL), 0);
    CHECK_EQUAL(add(1, 2), 77);
    revert(add);
    CHECK_EQUAL(replace(add, far, NULL), 0);
    CHECK_EQUAL(add(1, 2), 77);
    revert(add);
    CHECK_EQUAL(add(1, 2), 3);
    end();
    munmap(far, 4096);
}

static void a_replacement_is_a_function_like_others(void)
{
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(replace(add, multiply, NULL), 0);
    hook = attach(multiply, 0);
    CHECK_EQUAL(add(6, 7), 42);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(replace(multiply, add_and_double, &original_add), 0);
    CHECK_EQUAL(add(6, 7), 84);
    revert(multiply);
    revert(add);
    detach(hook);
    end();
}

/* ---- probes -------------------------------------------------------------------------------------------------------
 */

__asm__("        .text\n"
        "        .p2align 4\n"
        "        .type   steps, @function\n"
        "steps:\n"
        "        movq    $1, %rax\n"
        "        movq    %rdi, -8(%rsp)\n" /* in the red zone */
        "steps_middle:\n"
        "        addq    $10, %rax\n"
        "        addq    -8(%rsp), %rax\n"
        "        leaq    100(%rax), %rax\n"
        "        ret\n"
        "        .size   steps, . - steps\n");

long steps(long number);
extern const char steps_middle[];

static void add_to_rax(struct gait_invocation *invocation)
{
    CHECK_EQUAL(invocation->point, GAIT_INVOCATION_PROBE);
    CHECK_EQUAL(invocation->cpu->pc, (uintptr_t)steps_middle);
    CHECK_EQUAL(gait_invocation_return_value(invocation), 1);
    atomic_fetch_add(&calls, 1);
    gait_invocation_return_value_set(invocation, gait_invocation_return_value(invocation) + 5000);
}

static void an_instruction_in_the_middle_can_be_probed(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = add_to_rax};
    struct gait_hook *hook;

    begin();
    atomic_store(&calls, 0);
    CHECK_EQUAL(gait_hook_probe(hooks, (uintptr_t)steps_middle, &listener, &hook, &error), 0);
    CHECK_EQUAL(steps(1000), 6111);
    CHECK_EQUAL(steps(1000), 6111);
    CHECK_EQUAL(atomic_load(&calls), 2);
    CHECK_EQUAL(gait_hook_probe(hooks, (uintptr_t)steps_middle + 1, &listener, NULL, &error), -EILSEQ);
    listener.leave = count_call;
    CHECK_EQUAL(gait_hook_probe(hooks, (uintptr_t)steps_middle, &listener, NULL, &error), -EINVAL);
    detach(hook);
    CHECK_EQUAL(steps(1000), 1111);
    end();
}

/* ---- transactions -------------------------------------------------------------------------------------------------
 */

static void nothing_happens_before_the_commit(void)
{
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(gait_hooks_begin(hooks, &error), 0);
    hook = attach(add, 0);
    CHECK_EQUAL(gait_hooks_begin(hooks, &error), 0);
    (void)attach(factorial, 1);
    CHECK_EQUAL(gait_hooks_commit(hooks, &error), 0);
    add(1, 2);
    CHECK_EQUAL(factorial(3), 6);
    CHECK_EQUAL(logs[0].entered + logs[1].entered, 0);
    CHECK_EQUAL(gait_hooks_commit(hooks, &error), 0);
    CHECK_EQUAL(gait_hooks_commit(hooks, &error), -EINVAL);
    add(1, 2);
    factorial(3);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(logs[1].entered, 3);
    CHECK_EQUAL(gait_hooks_begin(hooks, &error), 0);
    detach(hook);
    (void)attach(add, 2);
    gait_hooks_abort(hooks);
    add(1, 2);
    CHECK_EQUAL(logs[0].entered, 2);
    CHECK_EQUAL(logs[2].entered, 0);
    CHECK_EQUAL(gait_hooks_begin(hooks, &error), 0);
    detach(hook);
    hook = attach(add, 3);
    CHECK_EQUAL(gait_hooks_commit(hooks, &error), 0);
    add(1, 2);
    CHECK_EQUAL(logs[0].entered, 2);
    CHECK_EQUAL(logs[3].left, 1);
    end();
}

static void a_failure_undoes_the_whole_transaction(void)
{
    /* mov eax, 77; ret */
    static const uint8_t code[] = {0xb8, 77, 0, 0, 0, 0xc3};
    uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct gait_listener listener = listener_for(1);
    int result;

    memcpy(page, code, sizeof(code));
    begin();
    CHECK_EQUAL(gait_hooks_begin(hooks, &error), 0);
    (void)attach(add, 0);
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)page, &listener, NULL, &error), 0);
    page[1] = 78;
    result = gait_hooks_commit(hooks, &error);
    CHECK_EQUAL(result, -ESTALE);
    CHECK_EQUAL(add(1, 2), 3);
    CHECK_EQUAL(logs[0].entered, 0);
    CHECK_EQUAL(gait_hook_method_of(hooks, (uintptr_t)add), GAIT_HOOK_NONE);
    CHECK_EQUAL(((int (*)(void))(void *)page)(), 78);
    (void)attach(add, 0);
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)page, &listener, NULL, &error), 0);
    CHECK_EQUAL(((int (*)(void))(void *)page)(), 78);
    CHECK_EQUAL(logs[1].entered, 1);
    CHECK_EQUAL(gait_hook_unhook(hooks, (uintptr_t)page, &error), 0);
    end();
    munmap(page, 4096);
}

/* ---- what is refused ----------------------------------------------------------------------------------------------
 */

static int attach_result(void *address)
{
    struct gait_listener listener = listener_for(0);

    return gait_hook_attach(hooks, (uintptr_t)address, &listener, NULL, &error);
}

static void what_cannot_be_hooked_is_refused(void)
{
    static int number;
    void *const unmapped = (void *)0x20000000000;
    int fd = memfd_create("shared", 0);
    void *shared;

    CHECK_EQUAL(ftruncate(fd, 4096), 0);
    shared = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    begin();
    CHECK_EQUAL(attach_result(&number), -EACCES);
    CHECK_EQUAL(attach_result(unmapped), -EFAULT);
    CHECK_EQUAL(attach_result(NULL), -EFAULT);
    CHECK_EQUAL(attach_result((void *)UINT64_C(0xffffffffff600000)), -EACCES);
    CHECK_EQUAL(attach_result(shared), -EACCES);
    CHECK_EQUAL(attach_result((uint8_t *)steps + 2), -EILSEQ);
    CHECK_EQUAL(replace(add, add, NULL), -EINVAL);
    CHECK_EQUAL(replace(add, NULL, NULL), -EINVAL);
    CHECK(strlen(error.text) > 10);
    CHECK_EQUAL(gait_hook_attach(NULL, (uintptr_t)add, NULL, NULL, NULL), -EINVAL);
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)add, NULL, NULL, &error), -EINVAL);
    end();
    munmap(shared, 4096);
    close(fd);
}

/* The core's own functions; by way of one that the internal headers declare. */
void hook_thread_ignore(void);

static void our_own_code_is_not_hooked(void)
{
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(attach_result((void *)hook_thread_ignore), -EPERM);
    /* What the program calls of us is as good as any function. */
    hook = attach((void *)gait_hook_method_of, 0);
    CHECK(gait_hook_method_of(hooks, (uintptr_t)gait_hook_method_of) != GAIT_HOOK_NONE);
    CHECK_EQUAL(logs[0].entered, 1);
    detach(hook);
    end();
}

static void overlapping_hooks_are_refused(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = count_call};
    struct gait_hook *hook;

    begin();
    hook = attach((void *)steps, 0);
    CHECK_EQUAL(gait_hook_probe(hooks, (uintptr_t)steps, &listener, NULL, &error), -EBUSY);
    detach(hook);
    CHECK_EQUAL(gait_hook_probe(hooks, (uintptr_t)steps, &listener, &hook, &error), 0);
    CHECK_EQUAL(attach_result((void *)steps), -EBUSY);
    CHECK_EQUAL(steps(0), 111);
    detach(hook);
    end();
}

static void hooks_of_an_unloaded_library_are_forgotten(void)
{
    static const uint8_t code[] = {0xb8, 77, 0, 0, 0, 0xc3};
    uint8_t *page;

    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof(code));
    begin();
    (void)attach(page, 0);
    CHECK_EQUAL(((int (*)(void))(void *)page)(), 77);
    munmap(page, 4096);
    CHECK_EQUAL(gait_hooks_forget(hooks, (uintptr_t)page, 4096), 1);
    CHECK_EQUAL(gait_hooks_forget(hooks, (uintptr_t)page, 4096), 0);
    CHECK_EQUAL(gait_hook_unhook(hooks, (uintptr_t)page, &error), -ENOENT);
    page = mmap(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memcpy(page, code, sizeof(code));
    (void)attach(page, 0);
    (void)attach(add, 1);
    munmap(page, 4096);
    /* Nobody said so: all hooks can be taken away even so. */
    end();
    CHECK_EQUAL(add(1, 2), 3);
    CHECK_EQUAL(logs[1].entered, 0);
}

static void a_forked_child_changes_its_own_hooks_only(void)
{
    int status = -1;
    pid_t child;

    begin();
    (void)attach(add, 0);
    child = fork();
    if (child == 0) {
        bool is_right = add(1, 2) == 3 && logs[0].entered == 1;

        is_right = is_right && gait_hook_unhook(hooks, (uintptr_t)add, &error) == 0;
        is_right = is_right && add(1, 2) == 3 && logs[0].entered == 1;
        is_right = is_right && replace(factorial, multiply, NULL) == 0 && factorial(5) != 120;
        _exit(is_right ? 0 : 1);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(add(1, 2), 3);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(factorial(5), 120);
    end();
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_replacement_knows_its_call),
        CHECK_CASE(a_function_can_be_replaced_and_its_original_called),
        CHECK_CASE(a_replacement_that_calls_the_function_gets_the_original),
        CHECK_CASE(a_function_can_be_replaced_and_listened_to),
        CHECK_CASE(a_replacement_in_place_has_nothing_in_between),
        CHECK_CASE(a_replacement_in_place_may_be_far_away),
        CHECK_CASE(a_replacement_is_a_function_like_others),
        CHECK_CASE(an_instruction_in_the_middle_can_be_probed),
        CHECK_CASE(nothing_happens_before_the_commit),
        CHECK_CASE(a_failure_undoes_the_whole_transaction),
        CHECK_CASE(what_cannot_be_hooked_is_refused),
        CHECK_CASE(our_own_code_is_not_hooked),
        CHECK_CASE(overlapping_hooks_are_refused),
        CHECK_CASE(hooks_of_an_unloaded_library_are_forgotten),
        CHECK_CASE(a_forked_child_changes_its_own_hooks_only),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
