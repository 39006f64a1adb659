/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* 32-bit programs are refused, untouched, as are threads in 32-bit code. The programs are made of some bytes of it. */
#define _GNU_SOURCE
#include "inject/machine_check.h"

#include "support/check.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

static struct gait_error err;

/* mov $29, %eax (pause); int $0x80; jmp back */
static const uint8_t pausing[] = {0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7};

/* A file in memory with a 32-bit program that does nothing, for good. */
static int make_program(void)
{
    struct {
        Elf32_Ehdr header;
        Elf32_Phdr segment;
        uint8_t code[16];
    } file = {
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_EXEC,
                   .e_machine = EM_386,
                   .e_version = EV_CURRENT,
                   .e_entry = 0x8048000 + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
                   .e_phoff = sizeof(Elf32_Ehdr),
                   .e_ehsize = sizeof(Elf32_Ehdr),
                   .e_phentsize = sizeof(Elf32_Phdr),
                   .e_phnum = 1},
        .segment = {.p_type = PT_LOAD,
                    .p_vaddr = 0x8048000,
                    .p_filesz = sizeof(file),
                    .p_memsz = sizeof(file),
                    .p_flags = PF_R | PF_X,
                    .p_align = 0x1000},
    };
    int fd = memfd_create("program", 0);

    memcpy(file.code, pausing, sizeof(pausing));
    CHECK_EQUAL(write(fd, &file, sizeof(file)), sizeof(file));
    return fd;
}

/* Waits until it is in a system call of that number, of its own kind of code. */
static bool has_come_to(pid_t pid, const char *number)
{
    char path[64], text[16] = "";

    snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
    for (unsigned tries = 0; tries < 2000; tries++) {
        FILE *file = fopen(path, "re");

        if (file != NULL && fscanf(file, "%15s", text) != 1)
            text[0] = '\0';
        if (file != NULL)
            fclose(file);
        if (strcmp(text, number) == 0)
            return true;
        usleep(1000);
    }
    return false;
}

static void end(pid_t child)
{
    CHECK_EQUAL(kill(child, SIGKILL), 0);
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
    err = (struct gait_error){0};
}

static void programs_of_our_kind_are_fine(void)
{
    CHECK_EQUAL(machine_check_process(getpid(), &err), 0);
    CHECK_EQUAL(machine_check_process(0x7fffffff, &err), 0);
}

static void programs_of_another_kind_are_refused(void)
{
    int fd = make_program(), status;
    pid_t child = fork();

    if (child == 0) {
        char *const nothing[] = {NULL};

        (void)syscall(SYS_execveat, fd, "", nothing, nothing, 0x1000);
        _exit(errno == ENOEXEC ? 7 : 8);
    }
    close(fd);
    if (!has_come_to(child, "29")) {
        CHECK_EQUAL(waitpid(child, &status, WNOHANG), child);
        CHECK_EQUAL(WEXITSTATUS(status), 7);
        check_skip("this kernel runs no 32-bit programs");
    }
    CHECK_EQUAL(machine_check_process(child, &err), -ENOEXEC);
    CHECK(strstr(err.text, "64-bit programs only") != NULL);
    end(child);
}

/* A 64-bit process whose thread has jumped to 32-bit code. */
static void threads_in_other_code_are_refused(void)
{
    uint8_t *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    struct tracee tracee;
    pid_t child;

    CHECK(code != MAP_FAILED);
    memcpy(code, pausing, sizeof(pausing));
    child = fork();
    if (child == 0)
        __asm__ volatile("push $0x23\n push %0\n lretq" : : "r"((uint64_t)(uintptr_t)code) : "memory");
    CHECK(has_come_to(child, "29"));
    CHECK_EQUAL(machine_check_process(child, &err), 0);
    CHECK_EQUAL(tracee_seize(&tracee, child, child), 0);
    CHECK_EQUAL(tracee_interrupt(&tracee), 0);
    CHECK_EQUAL(machine_check_thread(&tracee, &err), -ENOEXEC);
    CHECK(strstr(err.text, "32-bit code") != NULL);
    end(child);
    munmap(code, 4096);
}

static const struct check_case cases[] = {
    CHECK_CASE(programs_of_our_kind_are_fine),
    CHECK_CASE(programs_of_another_kind_are_refused),
    CHECK_CASE(threads_in_other_code_are_refused),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the programs are for x86-64");
}

#endif
