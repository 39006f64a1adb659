/* SPDX-License-Identifier: MIT */
/* Functions that people call otherwise than linkers do. What it loads is named by its argument. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct Sq {
    int side;
    int area(int times) const;
    int area(double times) const;
    Sq operator+(const Sq &other) const;
};

__attribute__((noinline)) int Sq::area(int times) const
{
    printf("area\n");
    return side * side * times;
}

__attribute__((noinline)) int Sq::area(double times) const
{
    printf("about\n");
    return static_cast<int>(side * side * times);
}

__attribute__((noinline)) Sq Sq::operator+(const Sq &other) const
{
    printf("sum\n");
    return Sq{side + other.side};
}

namespace ns {
template <class T> __attribute__((noinline)) T greatest(T one, T other)
{
    printf("greatest\n");
    return one < other ? other : one;
}
} // namespace ns

static __attribute__((noinline)) void greet(const char *who)
{
    printf("hello %s\n", who);
}

int main(int count, char **words)
{
    const Sq one{1}, two{2};
    void *library = count > 1 ? dlopen(words[1], RTLD_NOW) : nullptr;
    auto later = library == nullptr ? nullptr : reinterpret_cast<int (*)(int)>(dlsym(library, "plain_later"));

    greet("world");
    if (later != nullptr)
        printf("%d\n", later(1));
    return ((one + two).area(1) + one.area(2.0) + ns::greatest(1, 2) + static_cast<int>(ns::greatest(1.0, 2.0))) != 15;
}
