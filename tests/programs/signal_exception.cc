// SPDX-License-Identifier: MIT
// Exceptions thrown by signal handlers, through the frame that the kernel made, to whoever was interrupted.
#include <csignal>
#include <cstdio>
#include <stdexcept>

static volatile int caught, destroyed;

struct Guard {
    ~Guard()
    {
        destroyed = destroyed + 1;
    }
};

static void on_signal(int number)
{
    sigset_t set;

    // The handler does not return, so nobody else unblocks it.
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    if (number == SIGSEGV)
        throw std::runtime_error("a fault");
    throw number;
}

// What may be null is read here, in a function without anything to clean up.
static int __attribute__((noinline)) read_from(const volatile int *address)
{
    return *address;
}

// So that the compiler does not know that it throws nothing.
static int (*volatile reader)(const volatile int *address) = read_from;

static int __attribute__((noinline)) read_or(const volatile int *address, int otherwise)
{
    Guard guard;

    try {
        Guard inner;
        return reader(address) + 1;
    } catch (const std::runtime_error &) {
        caught = caught + 1;
        return otherwise;
    }
}

static int (*volatile raiser)(int number) = std::raise;

static int __attribute__((noinline)) raise_and_catch(int number)
{
    try {
        Guard guard;
        raiser(number);
        return 0;
    } catch (int value) {
        caught = caught + 1;
        return value;
    }
}

int main()
{
    int value = 41, sum = 0;

    std::signal(SIGSEGV, on_signal);
    std::signal(SIGUSR1, on_signal);
    for (int i = 0; i < 20; i++) {
        sum += read_or(i % 2 == 0 ? nullptr : &value, 7);
        sum += raise_and_catch(SIGUSR1) == SIGUSR1;
    }
    std::printf("sum %d, %d caught, %d destroyed\n", sum, caught, destroyed);
    return 0;
}
