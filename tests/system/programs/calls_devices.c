/* SPDX-License-Identifier: MIT */
/* Makes calls of ioctl whose texts are compared: devices that are not there, so that nothing happens. */
#define _GNU_SOURCE
#include "edge_of_memory.h"

#include <asm/termbits.h>
#include <linux/fs.h>
#include <linux/input.h>
#include <linux/loop.h>
#include <linux/random.h>
#include <linux/rtc.h>
#include <linux/userfaultfd.h>
#include <linux/watchdog.h>
#include <sys/syscall.h>

static void command(unsigned long number, const void *argument)
{
    syscall(SYS_ioctl, -1, number, argument);
}

/* With bytes that are there to the end, that are not, and with nothing. */
static void all_ways(unsigned long number, size_t size_bytes)
{
    unsigned char bytes[512];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i % 5 == 0 ? i : 0);
    command(number, edge_copy(bytes, size_bytes));
    command(number, edge_copy(bytes, size_bytes - 1));
    command(number, NULL);
}

int main(void)
{
    for (unsigned long number = 0x5401; number <= 0x5460; number++)
        /* Those whose argument is a number: where memory is, is not the same twice. */
        if (number != 0x5409 && number != 0x540a && number != 0x540b && number != 0x540e && number != 0x5425)
            all_ways(number, sizeof(struct termios));
    all_ways(TCSETS2, sizeof(struct termios2));
    all_ways(RTC_SET_TIME, sizeof(struct rtc_time));
    all_ways(RTC_WKALM_SET, sizeof(struct rtc_wkalrm));
    all_ways(LOOP_SET_STATUS64, sizeof(struct loop_info64));
    all_ways(UFFDIO_API, sizeof(struct uffdio_api));
    all_ways(UFFDIO_REGISTER, sizeof(struct uffdio_register));
    all_ways(UFFDIO_COPY, sizeof(struct uffdio_copy));
    all_ways(FITRIM, sizeof(struct fstrim_range));
    all_ways(FICLONERANGE, sizeof(struct file_clone_range));
    all_ways(FS_IOC_FSSETXATTR, sizeof(struct fsxattr));
    all_ways(FS_IOC_SETFLAGS, sizeof(long));
    all_ways(BLKDISCARD, 16);
    all_ways(BLKROSET, 4);
    all_ways(RNDADDTOENTCNT, 4);
    all_ways(WDIOC_SETTIMEOUT, 4);
    all_ways(EVIOCSREP, 8);
    all_ways(EVIOCSCLOCKID, 4);
    all_ways(EVIOCGNAME(64), 64);
    all_ways(EVIOCGBIT(EV_KEY, 8), 8);
    all_ways(EVIOCGABS(ABS_X), sizeof(struct input_absinfo));
    command(FICLONE, (void *)5);
    command(LOOP_SET_FD, (void *)3);
    command(LOOP_CTL_GET_FREE, NULL);
    command(_IOWR(0xf7, 1, char[12]), (void *)16);
    return 0;
}
