/* SPDX-License-Identifier: MIT */
#include "syscalls/injection.h"

#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

static struct injection injection;
static struct system_call_set_fault fault;

static void parts_are_read(void)
{
    CHECK_EQUAL(injection_parse("openat,read:error=EACCES:when=2..6+2", false, &injection, &fault), 0);
    CHECK_EQUAL(injection.result, -EACCES);
    CHECK_EQUAL(system_call_set_has(&injection.set, SYS_read), 1);
    CHECK_EQUAL(system_call_set_has(&injection.set, SYS_write), 0);
    for (uint32_t i = 1; i < 10; i++)
        CHECK_EQUAL(injection_applies(&injection, i), i == 2 || i == 4 || i == 6);
    CHECK_EQUAL(injection_parse("all:delay_enter=5ms:delay_exit=7:signal=USR1", false, &injection, &fault), 0);
    CHECK_EQUAL(injection.delay_enter_ns, 5000000);
    CHECK_EQUAL(injection.delay_exit_ns, 7000);
    CHECK_EQUAL(injection.signal, SIGUSR1);
    CHECK_EQUAL(injection.has_result, 0);
    CHECK_EQUAL(injection_applies(&injection, 1) && injection_applies(&injection, 1000), 1);
    CHECK_EQUAL(injection_parse("getpid:retval=0x2a:when=3+", false, &injection, &fault), 0);
    CHECK_EQUAL(injection.result, 42);
    CHECK_EQUAL(
        !injection_applies(&injection, 2) && injection_applies(&injection, 3) && injection_applies(&injection, 9), 1);
    CHECK_EQUAL(injection_parse("getpid:retval=1:when=3", false, &injection, &fault), 0);
    CHECK_EQUAL(injection_applies(&injection, 3) && !injection_applies(&injection, 4), 1);
    CHECK_EQUAL(injection_parse("read", true, &injection, &fault), 0);
    CHECK_EQUAL(injection.result, -ENOSYS);
}

static void what_makes_no_sense_is_refused(void)
{
    static const char *const wrong[] = {
        "read",
        "read:error=EWHAT",
        "read:retval=",
        "read:retval=x",
        "read:signal=NO",
        "read:when=3",
        "nosuch:error=EIO",
        "read:error=EIO:when=0",
        "read:error=EIO:when=5..3",
        "read:error=EIO:when=2+x",
        "read:delay_enter=-1",
        "read:delay_enter=1year",
        "read:what=1",
        "read:",
        ":error=EIO",
        "",
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        fault = (struct system_call_set_fault){0};
        CHECK_EQUAL(injection_parse(wrong[i], false, &injection, &fault), -EINVAL);
        CHECK_EQUAL(fault.reason != NULL && fault.word >= wrong[i] && fault.word <= wrong[i] + strlen(wrong[i]), 1);
    }
}

static void memory_can_be_poked_at(void)
{
    uint8_t bytes[INJECTION_POKE_BYTES];
    uint64_t ns;

    CHECK_EQUAL(injection_parse("read:poke_exit=@arg2=00fF10,@arg1=20", false, &injection, &fault), 0);
    CHECK_EQUAL(injection_needs_stop(&injection) && injection.poke_enter[0] == '\0', 1);
    CHECK_EQUAL(injection_poke(injection.poke_exit, 1, bytes), 3);
    CHECK_EQUAL(bytes[0] == 0 && bytes[1] == 0xff && bytes[2] == 0x10, 1);
    CHECK_EQUAL(injection_poke(injection.poke_exit, 0, bytes) == 1 && bytes[0] == 0x20, 1);
    CHECK_EQUAL(injection_poke(injection.poke_exit, 2, bytes), 0);
    CHECK_EQUAL(injection_parse("read:poke_enter=@arg7=00", false, &injection, &fault), -EINVAL);
    CHECK_EQUAL(injection_parse("read:poke_enter=@arg1=0", false, &injection, &fault), -EINVAL);
    CHECK_EQUAL(injection_parse("read:poke_enter=@arg1=00,", false, &injection, &fault), -EINVAL);
    CHECK_EQUAL(injection_parse("read:error=EIO:syscall=getpid", false, &injection, &fault), 0);
    CHECK_EQUAL(injection_needs_stop(&injection), 0);
    CHECK_EQUAL(injection_parse("read:error=EIO:syscall=write", false, &injection, &fault), -EINVAL);
    CHECK_EQUAL(injection_parse_duration("5ms", &ns) && ns == 5000000, 1);
    CHECK_EQUAL(injection_parse_duration("x", &ns), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(memory_can_be_poked_at),
    CHECK_CASE(parts_are_read),
    CHECK_CASE(what_makes_no_sense_is_refused),
};

CHECK_MAIN(cases)
