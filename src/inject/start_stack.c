/* SPDX-License-Identifier: MIT */
/* Words are looked at one after the other, in pieces that end where pages do: behind the last page there is nothing. */
#include "inject/start_stack.h"

#include "base/alignment.h"
#include "base/memory_map.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>

#define PIECE_WORDS 512u

/* Nobody has more arguments, variables and the like. */
#define WORDS_MAX (1u << 20)

struct start_stack {
    pid_t pid;
    uint64_t next; /* where what was not read yet begins */
    uint64_t words[PIECE_WORDS];
    size_t count, at; /* of those that were */
    size_t taken;     /* of all */
};

static bool take(struct start_stack *stack, uint64_t *word_out)
{
    if (stack->at == stack->count) {
        uint64_t rest = align_rest(stack->next, memory_page_size());
        uint64_t bytes = rest < sizeof(stack->words) ? rest : sizeof(stack->words);

        if (stack->taken > WORDS_MAX || process_memory_read(stack->pid, stack->next, stack->words, bytes) != 0)
            return false;
        stack->next += bytes;
        stack->taken += stack->count;
        stack->count = bytes / sizeof(stack->words[0]);
        stack->at = 0;
    }
    *word_out = stack->words[stack->at++];
    return true;
}

/* Passes over a list of pointers and what ends it. */
static bool pass_list(struct start_stack *stack)
{
    uint64_t word;

    do
        if (!take(stack, &word))
            return false;
    while (word != 0);
    return true;
}

static int find(struct start_stack *stack, uint64_t type, uint64_t *value_out)
{
    uint64_t kind, value;

    while (take(stack, &kind) && take(stack, &value) && kind != AT_NULL)
        if (kind == type) {
            *value_out = value;
            return 0;
        }
    return -ENOENT;
}

int start_stack_auxiliary(const struct tracee *tracee, uint64_t type, uint64_t *value_out)
{
    struct start_stack stack = {.pid = tracee->pid};
    struct thread_registers registers;
    uint64_t argument_count;
    int result = tracee_get_registers(tracee, &registers);

    if (result != 0)
        return result;
    stack.next = thread_registers_sp(&registers);
    if (stack.next % sizeof(uint64_t) != 0 || !take(&stack, &argument_count))
        return -ENOENT;
    return pass_list(&stack) && pass_list(&stack) ? find(&stack, type, value_out) : -ENOENT;
}
