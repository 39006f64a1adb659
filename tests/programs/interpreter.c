/* SPDX-License-Identifier: MIT */
/* An interpreter with one large switch, running a sieve of primes. */
#include <stdio.h>

enum operation { SET, ADD, SUBTRACT, LOAD, STORE, JUMP, JUMP_IF_LESS, JUMP_IF_ZERO, COPY, PRINT, STOP };

struct instruction {
    enum operation operation;
    int a, b, c;
};

static int memory[10001];

static long run(const struct instruction *program)
{
    long executed = 0, registers[8] = {0};
    int pc = 0;

    for (;;) {
        struct instruction now = program[pc++];

        executed++;
        switch (now.operation) {
        case SET:
            registers[now.a] = now.b;
            break;
        case ADD:
            registers[now.a] = registers[now.b] + registers[now.c];
            break;
        case SUBTRACT:
            registers[now.a] = registers[now.b] - registers[now.c];
            break;
        case LOAD:
            registers[now.a] = memory[registers[now.b]];
            break;
        case STORE:
            memory[registers[now.a]] = (int)registers[now.b];
            break;
        case JUMP:
            pc = now.a;
            break;
        case JUMP_IF_LESS:
            pc = registers[now.a] < registers[now.b] ? now.c : pc;
            break;
        case JUMP_IF_ZERO:
            pc = registers[now.a] == 0 ? now.b : pc;
            break;
        case COPY:
            registers[now.a] = registers[now.b];
            break;
        case PRINT:
            printf("%ld\n", registers[now.a]);
            break;
        case STOP:
            return executed;
        }
    }
}

int main(void)
{
    /* 0: number, 1: limit, 2: multiple, 3: one, 4: mark, 5: primes */
    static const struct instruction sieve[] = {
        {SET, 0, 2, 0},   {SET, 1, 10001, 0}, {SET, 3, 1, 0},   {LOAD, 4, 0, 0},          {JUMP_IF_ZERO, 4, 6, 0},
        {JUMP, 12, 0, 0}, {ADD, 5, 5, 3},     {ADD, 2, 0, 0},   {JUMP_IF_LESS, 2, 1, 10}, {JUMP, 12, 0, 0},
        {STORE, 2, 3, 0}, {JUMP, 15, 0, 0},   {ADD, 0, 0, 3},   {JUMP_IF_LESS, 0, 1, 3},  {JUMP, 17, 0, 0},
        {ADD, 2, 2, 0},   {JUMP, 8, 0, 0},    {PRINT, 5, 0, 0}, {STOP, 0, 0, 0},
    };

    printf("%ld executed\n", run(sieve));
    return 0;
}
