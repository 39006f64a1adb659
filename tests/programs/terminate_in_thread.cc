// SPDX-License-Identifier: MIT
// An exception that nobody catches, in a thread: the terminate handler sees it and ends the process.
// exit status: 5
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <thread>
#include <unistd.h>

static void on_terminate()
{
    try {
        std::rethrow_exception(std::current_exception());
    } catch (const std::exception &error) {
        std::printf("terminating: %s\n", error.what());
    }
    std::fflush(stdout);
    _exit(5);
}

static void body(int depth)
{
    if (depth == 0)
        throw std::runtime_error("uncaught in a thread");
    body(depth - 1);
    std::printf("not reached\n");
}

int main()
{
    std::set_terminate(on_terminate);
    std::thread good([] { std::printf("a thread that ends well\n"); });
    good.join();
    std::thread bad(body, 5);
    bad.join();
    std::printf("not reached\n");
    return 0;
}
