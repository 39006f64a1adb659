/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/loader_hook.h"

#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

/* endbr64, if it is there, and ret. */
static bool is_empty(const uint8_t *code)
{
    static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};

    return code[0] == 0xc3 || (memcmp(code, landing, sizeof(landing)) == 0 && code[4] == 0xc3);
}

static bool write_code(uint64_t address, const uint8_t *bytes, size_t size_bytes)
{
    void *page = (void *)(uintptr_t)(address & ~(uint64_t)(PAGE - 1));
    size_t length = (address & (PAGE - 1)) + size_bytes;

    if (mprotect(page, length, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    memcpy((void *)(uintptr_t)address, bytes, size_bytes);
    return mprotect(page, length, PROT_READ | PROT_EXEC) == 0;
}

bool loader_hook_attach(struct loader_hook *hook, uint64_t function, void (*call)(void))
{
    /* movabs $call, %rax; jmp *%rax. Functions begin at multiples of 16. */
    uint8_t code[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};

    if (!is_empty((const uint8_t *)(uintptr_t)function) || function % 16 != 0)
        return false;
    hook->function = function;
    memcpy(hook->before, (const void *)(uintptr_t)function, sizeof(hook->before));
    memcpy(code + 2, &call, sizeof(call));
    return write_code(function, code, sizeof(code));
}

void loader_hook_detach(struct loader_hook *hook)
{
    (void)write_code(hook->function, hook->before, sizeof(hook->before));
}
