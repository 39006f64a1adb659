// SPDX-License-Identifier: MIT
// Hooks its own functions, and leaves them in every way that C++ and C know. What the listeners are told is a text:
// "+f" entered, "-f" left, "!f" unwound; each case compares it with what it expects, and ends the program with what is
// wrong.
#include "gait/hook.h"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <unwind.h>
#include <vector>

static gait_hooks *hooks;
static std::string told;
static int failures;

static void check(const char *what, const std::string &actual, const std::string &expected)
{
    if (actual == expected)
        return;
    std::printf("%s: told \"%s\", expected \"%s\"\n", what, actual.c_str(), expected.c_str());
    failures++;
}

static void check(const char *what, bool is_right)
{
    if (is_right)
        return;
    std::printf("%s\n", what);
    failures++;
}

static std::string take()
{
    std::string text;

    std::swap(text, told);
    return text;
}

static void entered(gait_invocation *invocation)
{
    told += '+';
    told += *static_cast<const char *>(invocation->data);
}

static void left(gait_invocation *invocation)
{
    told += invocation->point == GAIT_INVOCATION_UNWOUND ? '!' : '-';
    told += *static_cast<const char *>(invocation->data);
}

template <typename Function> static void hook(Function *function, const char *name)
{
    gait_listener listener = {};
    gait_error error;

    listener.size_bytes = sizeof(listener);
    listener.enter = entered;
    listener.leave = left;
    listener.data = const_cast<char *>(name);
    listener.unwound = true;
    if (gait_hook_attach(hooks, reinterpret_cast<uint64_t>(function), &listener, nullptr, &error) != 0) {
        std::printf("cannot hook %s: %s\n", name, error.text);
        std::exit(1);
    }
}

#define HOOKED __attribute__((noinline, noclone, section(".text.hooked")))

// ---- exceptions -----------------------------------------------------------------------------------------------------

static volatile int destroyed;

extern "C" HOOKED int helper(int value)
{
    asm volatile("" : "+r"(value));
    return value + 1;
}

struct Guard {
    ~Guard()
    {
        destroyed = destroyed + helper(0);
    }
};

extern "C" HOOKED int thrower(int value)
{
    if (value > 0)
        throw value;
    return value;
}

extern "C" HOOKED int middle(int value)
{
    Guard guard;

    return thrower(value) + 1;
}

extern "C" HOOKED int catcher(int value)
{
    int result;

    try {
        result = middle(value);
    } catch (int caught) {
        result = caught * 10;
    }
    return result + 1;
}

extern "C" HOOKED int rethrower(int value)
{
    try {
        return middle(value) + 1;
    } catch (int caught) {
        throw;
    }
}

extern "C" HOOKED int outer(int value)
{
    try {
        return rethrower(value) + 1;
    } catch (int caught) {
        return caught + 1000;
    }
}

// Nothing that is hooked is called between the catch and the return.
extern "C" HOOKED int quiet_catcher(int value)
{
    try {
        thrower(value);
    } catch (...) {
        value = 77;
    }
    return value;
}

extern "C" HOOKED int outside(int value)
{
    asm volatile("" : "+r"(value));
    return quiet_catcher(value) + 1;
}

static void throw_and_catch()
{
    check("no throw", catcher(0) == 2);
    check("no throw", take(), "+c+m+t-t+h-h-m-c");
    check("throw", catcher(5) == 51);
    check("throw", take(), "+c+m+t!t+h-h!m-c");
    check("rethrow", outer(5) == 1005);
    check("rethrow", take(), "+o+r+m+t!t+h-h!m!r-o");
    check("quiet catch", outside(5) == 78);
    check("quiet catch", take(), "+s+q+t!t-q-s");
    for (int i = 1; i < 200; i++)
        check("many throws", catcher(i) == i * 10 + 1 && outer(i) == 1000 + i && outside(i) == 78);
    take();
    check("destructors", destroyed > 400);
}

static void throw_in_threads()
{
    std::vector<std::thread> threads;
    volatile bool is_wrong = false;

    gait_hooks_ignore_me(hooks);
    for (int i = 0; i < 8; i++)
        threads.emplace_back([&is_wrong] {
            gait_hooks_ignore_me(hooks);
            gait_hooks_listen_to_me(hooks);
            gait_hooks_ignore_me(hooks);
            for (int j = 1; j < 300; j++)
                if (catcher(j) != j * 10 + 1 || outer(j) != 1000 + j)
                    is_wrong = true;
        });
    for (std::thread &thread : threads)
        thread.join();
    gait_hooks_listen_to_me(hooks);
    check("throws in threads", !is_wrong);
}

static void on_signal(int)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    thrower(9);
}

// So that the compiler does not know that it throws nothing.
static int (*volatile raise_function)(int number) = raise;

extern "C" HOOKED int raiser(int value)
{
    raise_function(SIGUSR1);
    return value;
}

extern "C" HOOKED int catches_signal(int value)
{
    try {
        return raiser(value);
    } catch (int caught) {
        return caught;
    }
}

static void throw_from_a_handler()
{
    std::signal(SIGUSR1, on_signal);
    check("throw from a handler", catches_signal(1) == 9);
    check("throw from a handler", take(), "+d+e+t!t!e-d");
}

// ---- the end of threads ---------------------------------------------------------------------------------------------

extern "C" HOOKED int ends_thread(int value)
{
    Guard guard;

    if (value == 1)
        pthread_exit(reinterpret_cast<void *>(42));
    for (;;)
        pause();
    return value;
}

extern "C" HOOKED int calls_end(int value)
{
    Guard guard;

    return ends_thread(value) + 1;
}

static void *run_ending(void *how)
{
    calls_end(static_cast<int>(reinterpret_cast<intptr_t>(how)));
    return nullptr;
}

static void end_threads()
{
    pthread_t thread;
    void *result;

    destroyed = 0;
    pthread_create(&thread, nullptr, run_ending, reinterpret_cast<void *>(1));
    pthread_join(thread, &result);
    check("pthread_exit", result == reinterpret_cast<void *>(42) && destroyed == 2);
    check("pthread_exit", take(), "+x+y+h-h!y+h-h");
    pthread_create(&thread, nullptr, run_ending, reinterpret_cast<void *>(2));
    usleep(50000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    check("pthread_cancel", result == PTHREAD_CANCELED && destroyed == 4);
    check("pthread_cancel", take(), "+x+y+h-h!y+h-h");
}

// ---- backtraces -----------------------------------------------------------------------------------------------------

static void *addresses[2][64];
static int address_count[2];
static int round_of;

extern "C" HOOKED int traces(int value)
{
    address_count[round_of] = backtrace(addresses[round_of], 64);
    return value + helper(1);
}

extern "C" HOOKED int calls_tracer(int value)
{
    int result = value == 0 ? traces(1) : calls_tracer(value - 1);

    asm volatile("" : "+r"(result));
    return result + 1;
}

static _Unwind_Reason_Code count_frame(_Unwind_Context *, void *count)
{
    ++*static_cast<int *>(count);
    return _URC_NO_REASON;
}

extern "C" HOOKED int counts_frames(int value)
{
    _Unwind_Backtrace(count_frame, &value);
    return value;
}

static void trace(int round)
{
    round_of = round;
    check("backtrace", calls_tracer(5) == 9);
}

// ---- jumps ----------------------------------------------------------------------------------------------------------

static std::jmp_buf jump;

extern "C" HOOKED int jumper(int value)
{
    if (value > 0)
        std::longjmp(jump, value);
    return value;
}

extern "C" HOOKED int jump_catcher(int value)
{
    int caught = setjmp(jump);

    return caught != 0 ? caught + 5 : jumper(value);
}

static void hook_all()
{
    hook(helper, "h");
    hook(thrower, "t");
    hook(middle, "m");
    hook(catcher, "c");
    hook(rethrower, "r");
    hook(outer, "o");
    hook(quiet_catcher, "q");
    hook(outside, "s");
    hook(raiser, "e");
    hook(catches_signal, "d");
    hook(ends_thread, "y");
    hook(calls_end, "x");
    hook(traces, "b");
    hook(calls_tracer, "a");
    hook(counts_frames, "n");
    hook(jumper, "j");
    hook(jump_catcher, "k");
}

int main()
{
    gait_error error;
    int frames;

    trace(0);
    frames = counts_frames(0);
    if (gait_hooks_acquire(nullptr, &hooks, &error) != 0) {
        std::printf("cannot hook: %s\n", error.text);
        return 1;
    }
    hook_all();
    throw_and_catch();
    throw_in_threads();
    throw_from_a_handler();
    end_threads();
    trace(1);
    check("backtrace", take(), "+a+a+a+a+a+a+b+h-h-b-a-a-a-a-a-a");
    // The first is the same call from another line.
    check("backtrace", address_count[0] == address_count[1]);
    for (int i = 0; i < address_count[1]; i++)
        check("backtrace",
              i == address_count[1] - 3 || i == address_count[1] - 4 || addresses[0][i] == addresses[1][i]);
    check("_Unwind_Backtrace", counts_frames(0) == frames);
    check("_Unwind_Backtrace", take(), "+n-n");
    check("longjmp", jump_catcher(3) == 8);
    check("longjmp", take(), "+k+j!j-k");
    if (gait_hooks_release(hooks, &error) != 0) {
        std::printf("cannot release: %s\n", error.text);
        return 1;
    }
    check("released", catcher(5) == 51);
    check("released", take(), "");
    if (failures == 0)
        std::printf("all as expected\n");
    return failures == 0 ? 0 : 1;
}
