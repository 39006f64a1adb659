// SPDX-License-Identifier: MIT
// Exceptions: through frames with destructors, rethrown, nested, out of constructors, functions called by libc.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

static int alive;

struct Guard {
    const char *name;
    explicit Guard(const char *given) : name(given)
    {
        alive++;
    }
    ~Guard()
    {
        alive--;
        if (std::uncaught_exceptions() > 0)
            std::printf("unwinding %s\n", name);
    }
};

static void __attribute__((noinline)) deep(int levels, int kind)
{
    Guard guard("level");
    if (levels > 0) {
        deep(levels - 1, kind);
        std::printf("not reached\n");
    }
    switch (kind) {
    case 0:
        throw std::runtime_error("a string " + std::to_string(kind));
    case 1:
        throw 42;
    default:
        throw std::logic_error("logic");
    }
}

static void middle(int kind)
{
    Guard guard("middle");
    try {
        deep(3, kind);
    } catch (const std::runtime_error &error) {
        std::printf("passing on: %s\n", error.what());
        throw;
    } catch (int number) {
        throw std::string("made of ") + std::to_string(number);
    }
}

struct Half {
    Guard first{"first member"}, second{"second member"};
    Half()
    {
        throw 7L;
    }
};

static int compare(const void *a, const void *b)
{
    if (*static_cast<const int *>(a) == 3 || *static_cast<const int *>(b) == 3)
        throw 'c';
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static void one(int kind)
{
    try {
        middle(kind);
    } catch (const std::string &text) {
        std::printf("string: %s\n", text.c_str());
    } catch (const std::exception &error) {
        std::printf("exception: %s\n", error.what());
    }
}

int main()
{
    int numbers[] = {5, 4, 3, 2, 1}, sum = 0;

    for (int kind = 0; kind < 3; kind++)
        one(kind);
    try {
        Half half;
    } catch (long number) {
        std::printf("half made: %ld\n", number);
    }
    try {
        std::qsort(numbers, 5, sizeof(int), compare);
    } catch (char letter) {
        std::printf("out of qsort: %c\n", letter);
    }
    for (int i = 0; i < 2000; i++) {
        try {
            throw i;
        } catch (int caught) {
            sum += caught;
        }
    }
    std::printf("sum %d, alive %d\n", sum, alive);
    return alive;
}
