/* SPDX-License-Identifier: MIT */
/*
 * Messages of netlink: headers, what they carry by protocol and type, and attributes, by netlink_messages.def and
 * netlink_attributes.def. Stateless; callable from any thread.
 */
#ifndef GAIT_SYSCALLS_NETLINK_TEXT_H
#define GAIT_SYSCALLS_NETLINK_TEXT_H

#include "base/attributes.h"
#include "syscalls/call_text.h"

/* Writes the messages in size_bytes bytes at address. False, and nothing is written: there is no message. */
MUST_USE bool netlink_text_put(const struct call_text *text, unsigned protocol, uint64_t address, uint64_t size_bytes);

#endif
