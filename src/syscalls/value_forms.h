/* SPDX-License-Identifier: MIT */
/*
 * The words that tables of values use for their forms: a kind of value_text.h, and its detail. Their names are short,
 * so only files that hold such a table include this.
 */
#ifndef GAIT_SYSCALLS_VALUE_FORMS_H
#define GAIT_SYSCALLS_VALUE_FORMS_H

#include "process/system_call_table.h"
#include "syscalls/struct_layout.h"
#include "syscalls/value_text.h"

#define UNKNOWN            VALUE_UNKNOWN, 0
#define SIGNED             VALUE_SIGNED, 0
#define UNSIGNED           VALUE_UNSIGNED, 0
#define HEX                VALUE_HEX, 0
#define HEX_WIDE           VALUE_HEX_WIDE, 0
#define ADDRESS            VALUE_ADDRESS, 0
#define FLAGS(set)         VALUE_FLAGS, SYSTEM_CALL_SET_##set
#define CHOICE(set)        VALUE_CHOICE, SYSTEM_CALL_SET_##set
#define SHIFTED(set)       VALUE_SHIFTED, SYSTEM_CALL_SET_##set
#define DESCRIPTOR         VALUE_DESCRIPTOR, 0
#define ID                 VALUE_ID, 0
#define SIGNAL             VALUE_SIGNAL, 0
#define SIGNAL_SET         VALUE_SIGNAL_SET, 0
#define OCTAL              VALUE_OCTAL, 0
#define FILE_MODE          VALUE_FILE_MODE, 0
#define DEVICE             VALUE_DEVICE, 0
#define DEVICE_PAIR        VALUE_DEVICE_PAIR, 0
#define ERROR              VALUE_ERROR, 0
#define DATE               VALUE_DATE, 0
#define TICKS              VALUE_TICKS, 0
#define INTERFACE          VALUE_INTERFACE, 0
#define PORT               VALUE_PORT, 0
#define NET32              VALUE_NET32, 0
#define NET64              VALUE_NET64, 0
#define ETHERTYPE          VALUE_ETHERTYPE, 0
#define OPEN_FLAGS         VALUE_OPEN_FLAGS, 0
#define TIMESPEC           VALUE_TIMESPEC, 0
#define TIMEVAL            VALUE_TIMEVAL, 0
#define INET               VALUE_INET, 0
#define INET6              VALUE_INET6, 0
#define INET_ANY           VALUE_INET_ANY, 0
#define HARDWARE           VALUE_HARDWARE, 0
#define TEXT               VALUE_TEXT, 0
#define STRING             VALUE_STRING, 0
#define BYTES              VALUE_BYTES, 0
#define RAW                VALUE_RAW, 0
#define DIGITS             VALUE_DIGITS, 0
#define NUMBERS(each)      VALUE_NUMBERS, each
#define HEX_LIST(each)     VALUE_HEX_LIST, each
#define LAYOUT_OF(layout)  VALUE_LAYOUT, STRUCT_LAYOUT_##layout
#define LAYOUTS_OF(layout) VALUE_LAYOUTS, STRUCT_LAYOUT_##layout
#define STRING_AT          VALUE_STRING_AT, 0
#define PATH_AT            VALUE_PATH_AT, 0
#define LAYOUT_AT(layout)  VALUE_LAYOUT_AT, STRUCT_LAYOUT_##layout
#define NAME               VALUE_NAME, 0
#define HARDWARE_OF_TYPE   VALUE_HARDWARE_OF_TYPE, 0
#define KERNEL_VERSION     VALUE_KERNEL_VERSION, 0
#define HEX_PAIR           VALUE_HEX_PAIR, 0
#define HEX_PAIRS          VALUE_HEX_PAIRS, 0
#define NET32_HEX          VALUE_NET32_HEX, 0
#define LITTLE16           VALUE_LITTLE16, 0
#define HEX_PADDED         VALUE_HEX_PADDED, 0
#define CHOICE_OR_HEX(set) VALUE_CHOICE_OR_HEX, SYSTEM_CALL_SET_##set
#define ERROR_NAME         VALUE_ERROR_NAME, 0
#define INET6_OF_FIELD     VALUE_INET6_OF_FIELD, 0
#define SOCKET_ADDRESS     VALUE_SOCKET_ADDRESS, 0

#endif
