/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Stubs are not for sanitized code. The test hooks itself; where the controller would stop threads, none runs. */
#define _GNU_SOURCE
#include "agent/hook_session.h"

#include "agent/hook_set.h"
#include "agent/module_log.h"
#include "agent/process_log.h"
#include "agent/selection.h"
#include "arch/engine.h"
#include "hook/hook_thread.h"
#include "process/mapping_list.h"
#include "ring/ring_notice.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"
#include "support/plugin_modules.h"
#include "support/subject_thread.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__x86_64__)

__asm__("        .text\n"
        "        .p2align 4\n"
        "        .globl  asked_sum, asked_wait\n"
        "        .type   asked_sum, @function\n"
        "asked_sum:\n"
        "        pushq   %rbx\n"
        "        movq    %rdi, %rbx\n"
        "        leaq    (%rbx,%rsi), %rax\n"
        "        popq    %rbx\n"
        "        ret\n"
        "        .size   asked_sum, . - asked_sum\n");

long asked_sum(long a, long b);
long asked_wait(int fd);

#define FUNCTION_BYTES     10 /* of asked_sum */
#define SECOND_INSTRUCTION 1  /* of it: how far behind its start it is */
#define JUMP_BYTES         5

/* Returns when there is something to be read; what that is. */
AGENT_LAB_FUNCTION long asked_wait(int fd)
{
    uint8_t byte = 0;

    return syscall(SYS_read, fd, &byte, 1) == 1 ? byte : -1;
}

static struct agent_call call;
static struct plugin_modules plugins;
static struct ring_notices *notices;

/* All that is executed of a module, as it was. */
struct text {
    struct mapping mapping;
    uint8_t *bytes;
};

static struct text program_text, library_text;

static void look_at_mapping(void *context, const struct mapping *mapping)
{
    struct text *text = context;

    if (mapping->is_executable && text->mapping.start - mapping->start < mapping->end - mapping->start)
        text->mapping = *mapping;
}

static void keep_text(struct text *text, const void *address)
{
    text->mapping.start = (uintptr_t)address;
    CHECK_EQUAL(mapping_list_visit(0, UINT64_MAX, look_at_mapping, text), 0);
    text->bytes = malloc(text->mapping.end - text->mapping.start);
    CHECK(text->bytes != NULL);
    memcpy(text->bytes, (const void *)(uintptr_t)text->mapping.start, text->mapping.end - text->mapping.start);
}

static bool is_as_it_was(const struct text *text)
{
    return memcmp(text->bytes, (const void *)(uintptr_t)text->mapping.start, text->mapping.end - text->mapping.start) ==
           0;
}

static void prepare_with(const char *pattern, uint32_t children, size_t buffer_bytes)
{
    keep_text(&program_text, (const void *)asked_sum);
    keep_text(&library_text, dlsym(RTLD_DEFAULT, "fork"));
    agent_lab_begin(buffer_bytes, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_HOOK, pattern);
    notices = ring_notices_in(agent_lab.ring->base);
    (void)process_log_begin(agent_lab.ring, children);
    call.options = agent_lab.options;
    call.options.events = EVENTS_HOOKED;
    CHECK_EQUAL(hook_session_prepare(&call, agent_lab.ring), 0);
}

static void prepare(const char *pattern)
{
    prepare_with(pattern, AGENT_CHILDREN_NONE, 0);
}

static struct thread_registers registers_at(uint64_t pc)
{
    struct thread_registers registers = {0};

    thread_registers_set_pc(&registers, pc);
    thread_registers_set_sp(&registers, (uintptr_t)__builtin_frame_address(0));
    return registers;
}

static void start(void)
{
    struct thread_registers own = registers_at((uintptr_t)start);

    CHECK_EQUAL(hook_session_begin(&own), 0);
    CHECK_EQUAL(thread_registers_pc(&own), (uintptr_t)start);
}

static void begin(const char *pattern)
{
    prepare(pattern);
    start();
}

static void end(void)
{
    struct thread_registers own = registers_at((uintptr_t)end);

    call.thread_count = 0;
    CHECK_EQUAL(hook_session_leave(&call, &own), 0);
    CHECK_EQUAL(hook_set_count(), 0);
    CHECK(hook_session_look(&call, &own));
    /* The thread would go on without it from here on. */
    hook_thread_base_set(0);
    CHECK(hook_session_end());
}

/* ---- from the beginning to the end ------------------------------------------------------------------------------- */

static void nothing_changes_before_the_session_begins(void)
{
    prepare("asked_*");
    CHECK_EQUAL(hook_set_count(), 0);
    CHECK(is_as_it_was(&program_text) && is_as_it_was(&library_text));
    CHECK_EQUAL(asked_sum(20, 22), 42);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count, 0);
    CHECK(agent_lab_block_at((const void *)asked_sum) != NULL);
    CHECK(agent_lab_module_at((uintptr_t)asked_sum) != NULL);
    CHECK_EQUAL(ring_reader_matched(agent_lab.reader), 1);
    CHECK(hook_session_end());
}

static void functions_are_recorded_until_the_session_ends(void)
{
    begin("asked_*");
    CHECK(hook_set_count() > 2);
    for (int i = 0; i < 100; i++)
        CHECK_EQUAL(asked_sum(i, 1), i + 1);
    agent_lab_take();
    CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_ENTER, (const void *)asked_sum), 100);
    CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_LEAVE, (const void *)asked_sum), 100);
    end();
    CHECK_EQUAL(asked_sum(20, 22), 42);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count, 200);
}

/* Of the program and of the C library, whose functions are hooked to know what the process does. */
static void all_code_is_as_it_was_when_the_session_has_ended(void)
{
    begin("asked_*");
    CHECK(!is_as_it_was(&program_text) && !is_as_it_was(&library_text));
    end();
    CHECK(is_as_it_was(&program_text) && is_as_it_was(&library_text));
}

static void a_process_can_be_hooked_again(void)
{
    for (unsigned i = 0; i < 3; i++) {
        begin("asked_sum");
        CHECK_EQUAL(asked_sum(20, 22), 42);
        agent_lab_take();
        CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_ENTER, (const void *)asked_sum), 1);
        end();
        CHECK(is_as_it_was(&program_text) && is_as_it_was(&library_text));
        process_log_end();
        module_log_end();
        selection_end();
    }
}

static void what_a_full_ring_does_not_hold_is_lost_and_counted(void)
{
    enum { CALLS = 100000 };

    prepare_with("asked_sum", AGENT_CHILDREN_NONE, 4096);
    start();
    for (long i = 0; i < CALLS; i++)
        if (asked_sum(i, 1) != i + 1)
            CHECK(!"the sum is right");
    end();
    agent_lab_take();
    CHECK(agent_lab.call_count != 0 && agent_lab.call_count < 2 * CALLS);
    CHECK_EQUAL(agent_lab.call_count * (uint64_t)EVENT_HOOK_BYTES + ring_reader_lost(agent_lab.reader),
                2ull * CALLS * EVENT_HOOK_BYTES);
}

static void without_memory_nothing_is_hooked(void)
{
    const struct rlimit none = {1, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};

    agent_lab_begin(0, RING_DROP);
    call.options.events = EVENTS_HOOKED;
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &none), 0);
    CHECK(hook_session_prepare(&call, agent_lab.ring) != 0);
    CHECK_EQUAL(setrlimit(RLIMIT_AS, &all), 0);
    CHECK(hook_session_end());
    begin("asked_sum");
    CHECK_EQUAL(asked_sum(20, 22), 42);
    end();
}

/* ---- modules that come and go ------------------------------------------------------------------------------------ */

static int answer(void *context)
{
    return *(const int *)context;
}

static void libraries_are_hooked_when_they_are_loaded_and_forgotten_when_they_go(void)
{
    const struct agent_lab_module *module;
    struct plugin plugin;
    uint32_t before;
    int number = 41;

    plugin_modules_init(&plugins);
    begin("*.so!plugin_call");
    before = hook_set_count();
    for (unsigned i = 0; i < PLUGIN_COUNT; i++) {
        plugin = plugin_load(&plugins, i);
        CHECK_EQUAL(hook_set_count(), before + 1);
        CHECK_EQUAL(plugin.call(answer, &number), 42);
        agent_lab_take();
        CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_LEAVE, NULL), i + 1);
        CHECK_EQUAL(agent_lab.calls[agent_lab.call_count - 1].function, (uintptr_t)plugin.call);
        plugin_unload(&plugin);
        CHECK_EQUAL(hook_set_count(), before);
        agent_lab_take();
        module = agent_lab_module_at((uintptr_t)plugin.call);
        CHECK(module != NULL && !module->module.is_loaded);
    }
    end();
    plugin = plugin_load(&plugins, 0);
    CHECK_EQUAL(plugin.call(answer, &number), 42);
    agent_lab_take();
    CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_LEAVE, NULL), PLUGIN_COUNT);
    plugin_unload(&plugin);
    plugin_modules_deinit(&plugins);
}

/* What came between preparing and beginning, by threads that ran meanwhile. */
static void a_library_that_is_loaded_before_the_session_begins_is_hooked(void)
{
    struct plugin plugin;
    int number = 41;

    plugin_modules_init(&plugins);
    prepare("*.so!plugin_call");
    plugin = plugin_load(&plugins, 1);
    start();
    CHECK_EQUAL(plugin.call(answer, &number), 42);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count, 2);
    end();
    plugin_unload(&plugin);
    plugin_modules_deinit(&plugins);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Where a patched function jumps to. */
static uint64_t jump_target(const void *function)
{
    const uint8_t *bytes = function;
    int32_t distance;

    CHECK_EQUAL(bytes[0], 0xe9);
    memcpy(&distance, bytes + 1, sizeof(distance));
    return (uintptr_t)bytes + JUMP_BYTES + (uint64_t)(int64_t)distance;
}

static struct agent_thread *list_thread(uint64_t pc)
{
    call.thread_count = 1;
    call.threads[0] = (struct agent_thread){.tid = getppid(), .result = -1, .registers = registers_at(pc)};
    return &call.threads[0];
}

static void threads_are_moved_out_of_code_that_changes_and_back_again(void)
{
    uint64_t middle = (uintptr_t)asked_sum + SECOND_INSTRUCTION;
    struct thread_registers own = registers_at((uintptr_t)end);
    struct agent_thread *thread;

    prepare("asked_sum");
    thread = list_thread((uintptr_t)asked_sum);
    CHECK_EQUAL(hook_session_meet(&call), 0);
    CHECK_EQUAL(thread->result, 1);
    thread = list_thread(middle);
    CHECK_EQUAL(hook_session_meet(&call), 0);
    CHECK_EQUAL(thread->result, 0);
    CHECK(thread_registers_pc(&thread->registers) - (uintptr_t)asked_sum >= FUNCTION_BYTES);
    start();
    CHECK_EQUAL(asked_sum(20, 22), 42);
    CHECK_EQUAL(hook_session_leave(&call, &own), 0);
    CHECK_EQUAL(thread->result, 0);
    CHECK_EQUAL(thread_registers_pc(&thread->registers), middle);
    end();
}

static void a_thread_in_a_stub_keeps_it_there(void)
{
    struct thread_registers own = registers_at((uintptr_t)end);
    uint64_t stub;

    begin("asked_sum");
    stub = jump_target((const void *)asked_sum);
    call.thread_count = 0;
    CHECK_EQUAL(hook_session_leave(&call, &own), 0);
    (void)list_thread(stub);
    CHECK(!hook_session_look(&call, &own));
    (void)list_thread((uintptr_t)asked_sum);
    CHECK(hook_session_look(&call, &own));
    end();
}

static void threads_in_the_agents_image_keep_it_there(void)
{
    struct thread_registers own = registers_at((uintptr_t)asked_sum);
    uint64_t page = (uintptr_t)hook_session_look & ~4095ull;

    call.segment_count = 2;
    call.segments[0] = (struct agent_segment){.start = page + 4096, .size_bytes = 4096};
    call.segments[1] = (struct agent_segment){.start = page, .size_bytes = 4096};
    begin("asked_sum");
    (void)list_thread(page);
    CHECK(!hook_session_look(&call, &own));
    (void)list_thread(page + 8191);
    CHECK(!hook_session_look(&call, &own));
    (void)list_thread(page - 1);
    CHECK(hook_session_look(&call, &own));
    (void)list_thread(page + 8192);
    CHECK(hook_session_look(&call, &own));
}

/* The list comes from another process. */
static void more_threads_than_a_list_holds_are_not_looked_at(void)
{
    struct thread_registers own = registers_at((uintptr_t)end);

    prepare("asked_sum");
    for (unsigned i = 0; i < AGENT_THREADS_AT_ONCE; i++)
        call.threads[i] = (struct agent_thread){.tid = getppid(), .registers = registers_at((uintptr_t)asked_sum)};
    call.thread_count = UINT32_MAX;
    call.segment_count = UINT32_MAX;
    CHECK_EQUAL(hook_session_meet(&call), 0);
    start();
    CHECK_EQUAL(hook_session_leave(&call, &own), 0);
    CHECK(hook_session_look(&call, &own));
    end();
}

static void threads_get_back_the_segment_base_that_they_had(void)
{
    struct thread_registers own = registers_at((uintptr_t)end);
    struct gait_cpu_context cpu;
    struct agent_thread *thread;
    uint64_t base;

    begin("asked_sum");
    (void)asked_sum(1, 2);
    if (!hook_thread_has_base(hook_thread_base_get())) {
        printf("programs may not set segment bases here\n");
        return;
    }
    thread = list_thread((uintptr_t)start);
    engine_host()->registers->get(&thread->registers, &cpu, &base);
    engine_host()->registers->set(&thread->registers, &cpu, hook_thread_base_get());
    CHECK(hook_session_look(&call, &own));
    CHECK_EQUAL(thread->result, 0);
    engine_host()->registers->get(&thread->registers, &cpu, &base);
    CHECK_EQUAL(base, 0);
    /* One of the program's own stays. */
    thread = list_thread((uintptr_t)start);
    engine_host()->registers->set(&thread->registers, &cpu, 0x1234000);
    CHECK(hook_session_look(&call, &own));
    CHECK_EQUAL(thread->result, 1);
    engine_host()->registers->get(&thread->registers, &cpu, &base);
    CHECK_EQUAL(base, 0x1234000);
    end();
}

static int ends[2];
static long waited;

static void wait_in_function(void *unused)
{
    (void)unused;
    waited = asked_wait(ends[0]);
}

/* Its return address is one of ours until then. */
static void a_thread_that_is_in_a_hooked_function_returns_to_its_caller_when_the_session_has_ended(void)
{
    struct subject_thread subject;
    uint8_t byte = 42;

    CHECK_EQUAL(pipe(ends), 0);
    begin("asked_wait");
    subject_thread_start(&subject, wait_in_function, NULL);
    subject_thread_wait_in(&subject, SYS_read);
    end();
    CHECK(is_as_it_was(&program_text));
    CHECK_EQUAL(write(ends[1], &byte, 1), 1);
    subject_thread_join(&subject);
    CHECK_EQUAL(waited, 42);
    agent_lab_take();
    CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_ENTER, (const void *)asked_wait), 1);
    CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_LEAVE, (const void *)asked_wait), 0);
}

/* ---- signals ----------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    signals++;
}

static uint64_t kernels_handler(void)
{
    uint64_t words[4] = {0};

    CHECK_EQUAL(syscall(__NR_rt_sigaction, SIGUSR1, NULL, words, 8), 0);
    return words[0];
}

static void handlers_work_while_functions_are_hooked_and_are_the_programs_afterwards(void)
{
    struct sigaction old;

    signal(SIGUSR1, on_signal);
    begin("asked_sum");
    raise(SIGUSR1);
    CHECK_EQUAL(signals, 1);
    CHECK_EQUAL(sigaction(SIGUSR1, NULL, &old), 0);
    CHECK_EQUAL((uintptr_t)old.sa_handler, (uintptr_t)on_signal);
    end();
    CHECK_EQUAL(kernels_handler(), (uintptr_t)on_signal);
    raise(SIGUSR1);
    CHECK_EQUAL(signals, 2);
}

/* ---- children ---------------------------------------------------------------------------------------------------- */

static pid_t fork_caller(unsigned calls)
{
    pid_t child = fork();

    if (child != 0)
        return child;
    for (unsigned i = 0; i < calls; i++)
        CHECK_EQUAL(asked_sum(20, 22), 42);
    fflush(stdout);
    _exit(check_failures != 0);
}

static void finish(pid_t child)
{
    int status = -1;

    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static void calls_of_a_child_that_nobody_reads_are_not_its_parents(void)
{
    begin("asked_sum");
    (void)asked_sum(1, 2);
    finish(fork_caller(50));
    (void)asked_sum(1, 2);
    agent_lab_take();
    CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_ENTER, (const void *)asked_sum), 2);
    CHECK_EQUAL(agent_lab.call_count, 4);
    CHECK_EQUAL(notices->forks_begun, 1);
    CHECK_EQUAL(notices->forks_settled, 1);
    end();
}

static struct ring_notice *await_child(void)
{
    for (unsigned tries = 0; tries < 20000; tries++) {
        for (unsigned i = 0; i < RING_NOTICE_COUNT; i++)
            if (atomic_load(&notices->notices[i].state) == RING_NOTICE_POSTED)
                return &notices->notices[i];
        usleep(1000);
    }
    printf("no child has come\n");
    _exit(1);
}

static void a_child_that_is_read_tells_all_in_a_ring_of_its_own(void)
{
    struct ring_notice *notice;
    char path[64];
    pid_t child;
    int fd;

    prepare_with("asked_sum", AGENT_CHILDREN_ALL, 0);
    start();
    child = fork_caller(50);
    notice = await_child();
    CHECK_EQUAL(notice->kind, RING_NOTICE_CHILD);
    CHECK_EQUAL(notice->pid, child);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", child, notice->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    ring_notice_answer(notice, 0);
    finish(child);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.call_count, 0);
    ring_reader_close(agent_lab.reader);
    agent_lab_open(fd);
    agent_lab_take();
    CHECK_EQUAL(agent_lab_calls(EVENT_RECORD_ENTER, (const void *)asked_sum), 50);
    CHECK_EQUAL(agent_lab.tid, child);
    CHECK(agent_lab_module_at((uintptr_t)asked_sum) != NULL);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(nothing_changes_before_the_session_begins),
    CHECK_CASE(functions_are_recorded_until_the_session_ends),
    CHECK_CASE(all_code_is_as_it_was_when_the_session_has_ended),
    CHECK_CASE(a_process_can_be_hooked_again),
    CHECK_CASE(what_a_full_ring_does_not_hold_is_lost_and_counted),
    CHECK_CASE(without_memory_nothing_is_hooked),
    CHECK_CASE(libraries_are_hooked_when_they_are_loaded_and_forgotten_when_they_go),
    CHECK_CASE(a_library_that_is_loaded_before_the_session_begins_is_hooked),
    CHECK_CASE(threads_are_moved_out_of_code_that_changes_and_back_again),
    CHECK_CASE(a_thread_in_a_stub_keeps_it_there),
    CHECK_CASE(threads_in_the_agents_image_keep_it_there),
    CHECK_CASE(more_threads_than_a_list_holds_are_not_looked_at),
    CHECK_CASE(threads_get_back_the_segment_base_that_they_had),
    CHECK_CASE(a_thread_that_is_in_a_hooked_function_returns_to_its_caller_when_the_session_has_ended),
    CHECK_CASE(handlers_work_while_functions_are_hooked_and_are_the_programs_afterwards),
    CHECK_CASE(calls_of_a_child_that_nobody_reads_are_not_its_parents),
    CHECK_CASE(a_child_that_is_read_tells_all_in_a_ring_of_its_own),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("hooks are for x86-64 so far");
}

#endif
