/* SPDX-License-Identifier: MIT */
/*
 * Texts of what arguments are and point at, a file for each subject. Structs are as the kernel lays them out.
 * Stateless; callable from any thread.
 */
#ifndef GAIT_SYSCALLS_SUBJECT_TEXTS_H
#define GAIT_SYSCALLS_SUBJECT_TEXTS_H

#include "syscalls/call_text.h"

/* ---- arguments, by their kind ------------------------------------------------------------------------------------ */

/* Whether the argument is an answer: known only when the call is over. */
bool argument_text_is_answer(const struct call_text *text, const struct system_call_argument *argument);

/* Writes argument `which`. */
void argument_text_put(const struct call_text *text, const struct system_call_argument *argument, unsigned which);

/* Writes what the call has changed of an argument that was written when it began. */
void argument_text_put_change(const struct call_text *text, const struct system_call_argument *argument,
                              unsigned which);

/* ---- structs, by what the table of system calls says they are ---------------------------------------------------- */

/* The struct at address, or the address if it cannot be read, or nothing is known of it. */
void struct_text_put(const struct call_text *text, enum system_call_struct which, uint64_t address);

/* The same of as many bytes as the program says. */
void struct_text_put_sized(const struct call_text *text, enum system_call_struct which, uint64_t address,
                           uint64_t size_bytes);

/* Attributes of bpf, by the command in the call's arguments, and of a counter of performance. */
void bpf_text_put(const struct call_text *text, uint64_t address, uint64_t size_bytes);
void counter_text_put(const struct call_text *text, uint64_t address);

/* An array of them. */
void struct_text_put_array(const struct call_text *text, enum system_call_struct which, uint64_t address,
                           uint64_t count);

/* ---- arguments that depend on what was asked for: futex, fcntl, prctl, mmap, ptrace, seccomp and the like -------- */

/* Whether this argument, and all behind it, are not there for what was asked for. */
bool dependent_text_is_absent(const struct call_text *text, enum system_call_kind kind, unsigned which);

/* Whether this argument is passed over, though others come behind it. */
bool dependent_text_is_skipped(const struct call_text *text, enum system_call_kind kind);

/* Whether it is an answer, so that it is told only when the call is over. */
bool dependent_text_is_answer(const struct call_text *text, enum system_call_kind kind);

/* Writes the argument. False: its kind is none of those. */
bool dependent_text_put(const struct call_text *text, const struct system_call_argument *argument, unsigned which);

/* Operations of prctl: how many arguments stand behind it (-1: nothing is known of it), whether it answers. */
int prctl_text_count(uint64_t operation);
bool prctl_text_is_answer(uint64_t operation);
/* Writes argument `which`, or the result. False: nothing is known of it, and nothing is written. */
bool prctl_text_put(const struct call_text *text, unsigned which);
bool prctl_text_put_result(const struct call_text *text);

/* ---- what the kernel returns about files and file systems -------------------------------------------------------- */

/* S_IFREG|0644 */
void file_text_put_mode(const struct call_text *text, uint32_t mode);

/* O_RDONLY|O_CLOEXEC */
void file_text_put_open_flags(struct text_writer *out, uint64_t flags);

void file_text_put_stat(const struct call_text *text, const void *stat);
void file_text_put_statx(const struct call_text *text, const void *statx);
void file_text_put_statfs(const struct call_text *text, const void *statfs);
void file_text_put_flock(const struct call_text *text, uint64_t address);

/* struct open_how, of as many bytes as the program says. */
void file_text_put_open_how(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* The address of directory entries, and how many there are. */
void file_text_put_entries(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* ---- ioctl: commands by name, and what they take and answer where that is common --------------------------------- */

void ioctl_text_put_command(const struct call_text *text, uint32_t command);

/* Whether the argument of this command is an answer. */
bool ioctl_text_is_answer(uint32_t command);

/* Whether the command takes no argument at all. */
bool ioctl_text_is_alone(uint32_t command);

void ioctl_text_put_argument(const struct call_text *text, uint32_t command, uint64_t argument);

/* struct termios, of as many bytes as its version has. */
void terminal_text_put(const struct call_text *text, uint64_t address, size_t size_bytes);

/* Commands of input devices that have a number or a length in them. False: it is none of them, and nothing is written.
 */
bool input_text_put_command(const struct call_text *text, uint32_t command);
bool input_text_is_answer(uint32_t command);
bool input_text_put_argument(const struct call_text *text, uint32_t command, uint64_t address);

/* ---- what programs wait for: poll, select, epoll ----------------------------------------------------------------- */

void poll_text_put_pollfd(const struct call_text *text, const void *pollfd);
void poll_text_put_epoll_event(const struct call_text *text, const void *event);

/* [3 5]: the descriptors below count that are in the set. */
void poll_text_put_fd_set(const struct call_text *text, uint64_t address, uint64_t count);

/* The same for CPUs: runs of them are written as ranges are by strace, that is, each. */
void poll_text_put_cpu_set(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* What is written behind the result: " (Timeout)", " ([{fd=3, revents=POLLIN}])", " (in [3], left {...})". */
void poll_text_put_poll_result(const struct call_text *text, bool has_timespec);
void poll_text_put_select_result(const struct call_text *text, bool has_timespec);

/* ---- processes and the machine ----------------------------------------------------------------------------------- */

/* {WIFEXITED(s) && WEXITSTATUS(s) == 0} */
void process_text_put_status(const struct call_text *text, const void *status);

void process_text_put_rusage(const struct call_text *text, const void *rusage);
void process_text_put_rlimit(const struct call_text *text, const void *rlimit);
void process_text_put_rlimit64(const struct call_text *text, const void *rlimit);
void process_text_put_utsname(const struct call_text *text, const void *utsname);
void process_text_put_sysinfo(const struct call_text *text, const void *sysinfo);
void process_text_put_cap_header(const struct call_text *text, const void *header);
void process_text_put_cap_data(const struct call_text *text, const void *data);

/* Structs of as many bytes as the program says. */
void process_text_put_clone_args(const struct call_text *text, uint64_t address, uint64_t size_bytes);
void process_text_put_sched_attr(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* The arguments of clone, by name: those that are known when it begins, and what comes behind them when it has ended.
 */
void process_text_put_clone(const struct call_text *text);
void process_text_put_clone_end(const struct call_text *text);

/* What clone3 has put where its arguments say. */
void process_text_put_clone3_end(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* ---- signals, sets of them, and what is said with them ----------------------------------------------------------- */

/* SIGTERM, SIGRT_3, or a number. */
void signal_text_put(struct text_writer *out, int64_t signal);

/* The signal of that name, with or without SIG, or of that number; 0: there is none. */
int signal_by_name(const char *name);

/* [INT CHLD], or what is missing of all: ~[RTMIN RT_1]. */
void signal_text_put_set(struct text_writer *out, uint64_t set);

/* Structs as the kernel lays them out. */
void signal_text_put_action(const struct call_text *text, const void *action);
void signal_text_put_info(struct text_writer *out, const void *siginfo);
void signal_text_put_stack(const struct call_text *text, const void *stack);
void signal_text_put_event(const struct call_text *text, const void *sigevent);

/* ---- sockets: addresses, messages, options ----------------------------------------------------------------------- */

/* {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")} */
void socket_text_put_address(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* The same of bytes that were read. */
void socket_address_text_put(const struct call_text *text, const void *bytes, size_t size_bytes);

/* [{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3]}] */
void control_text_put(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* {len=1, filter=[BPF_STMT(BPF_RET|BPF_K, 0)]}: a filter of packets, or of system calls. */
void filter_text_put(const struct call_text *text, uint64_t address, bool is_of_calls);

/* [{iov_base="abc", iov_len=3}]; no more than bytes_max of what they point at counts. */
void socket_text_put_iovec(const struct call_text *text, uint64_t address, uint64_t count, uint64_t bytes_max);
/* The same, with addresses in place of bytes. */
void socket_text_put_iovec_only(const struct call_text *text, uint64_t address, uint64_t count);

/* struct msghdr; of received ones the result says how much is there. */
void socket_text_put_message(const struct call_text *text, uint64_t address, uint64_t bytes_max);
/* An element of an array of struct mmsghdr. */
void socket_text_put_mmessage(const struct call_text *text, const void *mmsghdr);

void socket_text_put_type(struct text_writer *out, uint32_t type);
void socket_text_put_protocol(const struct call_text *text, uint64_t family, uint64_t protocol);
void socket_text_put_option(const struct call_text *text, uint64_t level, uint64_t option);
/* What is sent or received: messages, where the socket is one of netlink's. */
void socket_text_put_bytes(const struct call_text *text, uint64_t address, uint64_t size_bytes);

/* The value of the option that the call's arguments say, which is set or was got. */
void socket_text_put_value(const struct call_text *text, uint64_t address, uint64_t size_bytes, bool is_set);

/* ---- times, where long has 64 bits ------------------------------------------------------------------------------- */

void time_text_put_timespec(const struct call_text *text, const void *timespec);
void time_text_put_timeval(const struct call_text *text, const void *timeval);
void time_text_put_timezone(const struct call_text *text, const void *zone);
void time_text_put_itimerval(const struct call_text *text, const void *itimerval);
void time_text_put_itimerspec(const struct call_text *text, const void *itimerspec);
void time_text_put_utimbuf(const struct call_text *text, const void *utimbuf);
void time_text_put_tms(const struct call_text *text, const void *tms);
void time_text_put_timex(const struct call_text *text, const void *timex);

/* A timespec that may say "now" or "leave it". */
void time_text_put_utime(const struct call_text *text, const void *timespec);

/* Behind a date in seconds: the date, as a comment. */
void time_text_put_date(const struct call_text *text, int64_t seconds, int64_t nanoseconds);

/* ---- what descriptors of processes that live are ----------------------------------------------------------------- */

/* Writes "</etc/passwd>", or nothing if that is not to be known; AT_FDCWD is the process's folder. */
void process_fd_put(struct text_writer *out, const struct call_fd *fd);

/* Writes "<cat>", the program that a process runs, or nothing if that is not to be known. */
void process_name_put(struct text_writer *out, int pid);

/* Which of netlink's protocols a descriptor of the process speaks; -1: none, or that is not to be known. */
int process_netlink_protocol(int pid, int fd);

#endif
