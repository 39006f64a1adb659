/* SPDX-License-Identifier: MIT */
/* Sockets: addresses, messages, options. Stateless; callable from any thread. */
#ifndef GAIT_SYSCALLS_SOCKET_TEXT_H
#define GAIT_SYSCALLS_SOCKET_TEXT_H

#include "syscalls/call_text.h"

/* {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")} */
void socket_text_put_address(const struct call_text *text, uint64_t address, uint64_t size_bytes);

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
void socket_text_put_option(struct text_writer *out, uint64_t level, uint64_t option);
void socket_text_put_value(const struct call_text *text, uint64_t address, uint64_t size_bytes);

#endif
