/* SPDX-License-Identifier: MIT */
/* A library with an indirect function, whose choice has no name when its symbols are stripped. */
int picked(int number);

static __attribute__((noinline)) int choice(int number)
{
    return 2 * number + 1;
}

static __attribute__((used)) int (*pick(void))(int)
{
    return choice;
}

int picked(int number) __attribute__((ifunc("pick")));
