/* SPDX-License-Identifier: MIT */
/* The options that spawn and attach share, from the command line and a file. */
#ifndef GAIT_CLI_OPTIONS_RECORD_OPTIONS_H
#define GAIT_CLI_OPTIONS_RECORD_OPTIONS_H

#include "cli/command.h"
#include "record/disk_sync.h"
#include "record/rotation.h"
#include "record/trigger_spec.h"
#include "syscalls/system_call_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts that an option was given, in their order. */
struct option_list {
    const char **texts;
    size_t count;
};

struct record_options {
    const char *output;
    uint32_t events; /* of enum gait_event_kind */
    bool has_events; /* the user said which */
    bool with_times;
    int overflow; /* enum ring_overflow; -1: the command's choice */
    size_t buffer_bytes;
    unsigned duration_seconds; /* 0: until it ends */
    bool compress;
    bool is_quiet;
    bool is_verbose;
    bool waits;         /* before the program's first instruction */
    bool with_children; /* processes that it makes are recorded as well */

    struct option_list hooks;         /* functions; if there are any, nothing is followed */
    bool hooks_all;                   /* of the program, by default */
    bool is_hooked;                   /* nothing is followed: for these, or for probes alone */
    struct option_list probes;        /* that can be read by probe_option_read */
    struct option_list kernel_probes; /* those that the kernel watches for */
    bool with_sched;                  /* and when threads run */
    struct option_list excludes;
    struct option_list threads; /* numbers, and patterns of names; none: all threads */

    bool records_syscalls; /* system calls are recorded: */
    struct system_call_set syscalls;

    struct option_list details;
    struct option_list args;   /* that can be parsed by arg_spec_parse */
    struct option_list stacks; /* functions */
    unsigned stack_bytes;      /* of the stack, in each event of the detail lane */
    unsigned string_bytes;     /* of a string in it, at most */
    unsigned stack_depth;      /* of a stack, in frames, at most */
    bool is_flight;            /* keeps everything in memory but what triggers ask for */
    struct trigger_spec *triggers;
    size_t trigger_count;
    uint64_t pre_roll_ms;
    uint64_t post_roll_ms;

    bool keeps_names; /* of functions, in the trace */

    struct rotation_options rotation;
    struct disk_sync_options sync;

    char **rest; /* what is no option: the program and its arguments, or the pid; ended by NULL */
    int rest_count;
    char **words;       /* what rest points into */
    char *config_bytes; /* what texts out of the file point into */
    char wanted[320];   /* what is wrong with an option, if that takes more words */
};

/* COMMAND_DONE, or COMMAND_MISUSED with the error filled in; after both, they are to be released. */
enum command_status record_options_parse(const struct command_call *call, const char *command,
                                         struct record_options *options_out);

void record_options_release(struct record_options *options);

/* The options' part of a command's help. */
#define RECORD_OPTIONS_HELP                                                                                            \
    "  -o, --output DIR    where traces go (./traces); one folder a recording\n"                                       \
    "  --hook GLOB         functions to hook, like 'libz*!inflate', or 'parse*' of the\n"                              \
    "                      program itself, '*' for all of it; also Sq::area as the source\n"                           \
    "                      has it, 0x1230, tool+0x1230 and file.c:12; the program runs as it is,\n"                    \
    "                      and record when these are entered and left; repeatable\n"                                   \
    "                      (all of the program, if nothing is said; only what --detail, --arg\n"                       \
    "                      and --stack mean, if they are given)\n"                                                     \
    "  --follow EVENTS     follows all threads instead, through all of their code: none,\n"                            \
    "                      or some of call,ret,block,exec,compile. If --follow-thread, or a\n"                         \
    "                      trigger by signal or crash, needs it: call,ret of all but libc\n"                           \
    "  --probe SPEC        static probes (USDT) of the program and its libraries, as\n"                                \
    "                      usdt:PATH:PROVIDER:NAME, with globs, or NAME(str,int,...) to say\n"                         \
    "                      what arguments are; PATH may be empty: all files; repeatable.\n"                            \
    "                      Without --hook and --follow nothing else is recorded. Others are\n"                         \
    "                      watched by the kernel: tracepoint:GROUP:NAME, profile:hz:N with\n"                          \
    "                      stacks, and all else that gait probe knows, but uprobes\n"                                  \
    "  --sched             when threads run, wait and are woken, page faults, forks and\n"                             \
    "                      mappings, as the kernel counts\n"                                                           \
    "  --syscalls[=SET]    system calls too, seen from inside: all, or a set as gait syscalls\n"                       \
    "                      has it, like 'file,network' or '!futex'; with neither --hook nor\n"                         \
    "                      --follow these alone\n"                                                                     \
    "  --exclude GLOB      no events from these modules, like 'libssl*', or functions,\n"                              \
    "                      like 'libc.so*!malloc'; '!main' is one of the program itself;\n"                            \
    "                      can be given several times\n"                                                               \
    "  --follow-thread T   only threads with this name, a glob, or number; repeatable\n"                               \
    "  --times             a time stamp on every event\n"                                                              \
    "  --children, --no-children    whether processes that it makes are recorded too\n"                                \
    "                      (they are)\n"                                                                               \
    "  --detail GLOB       functions whose calls go to the detail lane too, with their\n"                              \
    "                      arguments and stack: 'libz*!inflate', or 'parse*' of the\n"                                 \
    "                      program itself; repeatable. Debug information says what the\n"                              \
    "                      arguments are\n"                                                                            \
    "  --stack-bytes N     how much of the stack, 0 to 512 (128)\n"                                                    \
    "  --arg 'FUNCTION:TYPE,TYPE...[->TYPE]'    the same, with arguments and results as\n"                             \
    "                      what they are: 'open:str,hex', or\n"                                                        \
    "                      'libc*!write:fd,buf[arg3],size->ssize!errno'; repeatable. Types:\n"                         \
    "                      int uint long ulong size ssize i8-i64 u8-u64 hex ptr char bool\n"                           \
    "                      float double fd, str or str[N], buf[N] or buf[argK], _ for any\n"                           \
    "                      other; !errno: -1 or NULL means that errno says more\n"                                     \
    "  --string-bytes N    how much of a string is kept, 1 to 512 (64)\n"                                              \
    "  --stack GLOB        functions of whose calls the stack is kept, who called them\n"                              \
    "                      and so on; gait stacks shows them; repeatable\n"                                            \
    "  --stack-depth N     how many callers, 1 to 64 (32)\n"                                                           \
    "  --flight            keeps events in memory, and writes those around triggers\n"                                 \
    "  --trigger T         what makes a window of events be kept; repeatable:\n"                                       \
    "                      symbol=GLOB  slow=GLOB>50ms  crash  signal=SIGUSR1\n"                                       \
    "                      time=+30s  every=60s  manual\n"                                                             \
    "  --pre-roll-sec N    how much before a trigger is kept (5)\n"                                                    \
    "  --post-roll-sec N   how much behind it (5)\n"                                                                   \
    "  --overflow HOW      when events come faster than they are written: drop, or\n"                                  \
    "                      block: the program waits\n"                                                                 \
    "  --buffer SIZE       of each of a thread's four buffers (512K); K and M count\n"                                 \
    "  --duration SEC      ends the recording after that many seconds\n"                                               \
    "  --compress          compresses what is written\n"                                                               \
    "  --rotate LIMIT      begins another piece of the trace when it has that size (64K and\n"                         \
    "                      more: K, M and G count) or age (30s, 10m, 2h); repeatable: both\n"                          \
    "  --keep N            pieces; the oldest are deleted (all are kept)\n"                                            \
    "  --sync WHEN         syncs the trace to the disk, so that it survives a crash: never,\n"                         \
    "                      end, or every so many seconds (never)\n"                                                    \
    "  --keep-names HOW    yes, or no: whether the names of functions are put into the trace,\n"                       \
    "                      so that it can be read where the programs are gone (yes)\n"                                 \
    "  --config FILE       options out of a file, as follow = \"call,ret\"; those of the\n"                            \
    "                      command line win\n"                                                                         \
    "  --quiet             prints nothing but errors\n"                                                                \
    "  --verbose           reports each step on standard error\n"

#endif
