/* SPDX-License-Identifier: MIT */
/*
 * Attributes of a counter of performance, as many bytes as they say that they have. Bits have a name each, and are
 * written if they are set, or all of them are wanted. Stateless.
 */
#include "syscalls/subject_texts.h"

#include "syscalls/constant_set.h"

#include <linux/perf_event.h>
#include <string.h>

#define FEWEST_BYTES 64 /* of the first version */

#define PRECISION    15
#define LAST_NAMED   38

static const char *const bits[] = {
    "disabled",
    "inherit",
    "pinned",
    "exclusive",
    "exclude_user",
    "exclude_kernel",
    "exclude_hv",
    "exclude_idle",
    "mmap",
    "comm",
    "freq",
    "inherit_stat",
    "enable_on_exec",
    "task",
    "watermark",
    NULL,
    NULL,
    "mmap_data",
    "sample_id_all",
    "exclude_host",
    "exclude_guest",
    "exclude_callchain_kernel",
    "exclude_callchain_user",
    "mmap2",
    "comm_exec",
    "use_clockid",
    "context_switch",
    "write_backward",
    "namespaces",
    "ksymbol",
    "bpf_event",
    "aux_output",
    "cgroup",
    "text_poke",
    "build_id",
    "inherit_thread",
    "remove_on_exec",
    "sigtrap",
};

static void put_config(const struct call_text *text, const struct perf_event_attr *attributes)
{
    struct text_writer *out = text->out;
    uint64_t config = attributes->config;

    switch (attributes->type) {
    case PERF_TYPE_HARDWARE:
        if (config >> 32 != 0)
            text_format(out, "%#lx<<32|", (unsigned long)(config >> 32));
        constant_set_put_choice(out, SYSTEM_CALL_SET_perf_hardware, config & UINT32_MAX);
        break;
    case PERF_TYPE_SOFTWARE:
        constant_set_put_choice(out, SYSTEM_CALL_SET_perf_software, config);
        break;
    case PERF_TYPE_TRACEPOINT:
        text_put_unsigned(out, config);
        break;
    case PERF_TYPE_HW_CACHE:
        if (config >> 32 != 0)
            text_format(out, "%#lx<<32|", (unsigned long)(config >> 32));
        constant_set_put_choice(out, SYSTEM_CALL_SET_perf_cache_result, config >> 16 & 0xffff);
        text_put_string(out, "<<16|");
        constant_set_put_choice(out, SYSTEM_CALL_SET_perf_cache_operation, config >> 8 & 0xff);
        text_put_string(out, "<<8|");
        constant_set_put_choice(out, SYSTEM_CALL_SET_perf_cache, config & 0xff);
        break;
    default:
        call_text_put_hex(text, config);
        break;
    }
}

static void put_precision(const struct call_text *text, uint64_t flags)
{
    static const char *const meanings[] = {"arbitrary skid", "constant skid", "requested to have 0 skid",
                                           "must have 0 skid"};
    unsigned precision = flags >> PRECISION & 3;

    text_format(text->out, ", precise_ip=%u /* %s */", precision, meanings[precision]);
}

static void put_bits(const struct call_text *text, uint64_t flags)
{
    for (unsigned i = 0; i < LAST_NAMED; i++) {
        if (i == PRECISION)
            put_precision(text, flags);
        if (bits[i] != NULL && ((flags >> i & 1) != 0 || text->options->is_verbose))
            text_format(text->out, ", %s=%u", bits[i], (unsigned)(flags >> i & 1));
    }
    if (flags >> LAST_NAMED != 0)
        text_format(text->out, ", __reserved_1=%#lx /* Bits 63..%u */", (unsigned long)(flags >> LAST_NAMED),
                    LAST_NAMED);
}

/* A place where memory is watched, or more of what the hardware is to count. */
static void put_config_more(const struct call_text *text, const struct perf_event_attr *attributes, size_t size_bytes)
{
    bool is_breakpoint = attributes->type == PERF_TYPE_BREAKPOINT;

    if (is_breakpoint) {
        text_put_string(text->out, ", bp_type=");
        constant_set_put_flags(text->out, SYSTEM_CALL_SET_perf_breakpoint, attributes->bp_type);
    }
    text_put_string(text->out, is_breakpoint ? ", bp_addr=" : ", config1=");
    call_text_put_hex(text, attributes->config1);
    if (size_bytes < PERF_ATTR_SIZE_VER1)
        return;
    if (is_breakpoint) {
        text_format(text->out, ", bp_len=%lu", (unsigned long)attributes->bp_len);
    } else {
        text_put_string(text->out, ", config2=");
        call_text_put_hex(text, attributes->config2);
    }
}

/* What is to be sampled with each event. */
static void put_samples(const struct call_text *text, const struct perf_event_attr *attributes, size_t size_bytes)
{
    if (size_bytes >= PERF_ATTR_SIZE_VER2 && (attributes->sample_type & PERF_SAMPLE_BRANCH_STACK) != 0) {
        text_put_string(text->out, ", branch_sample_type=");
        constant_set_put_flags(text->out, SYSTEM_CALL_SET_perf_branch, attributes->branch_sample_type);
    }
    if (size_bytes >= PERF_ATTR_SIZE_VER3) {
        text_put_string(text->out, ", sample_regs_user=");
        call_text_put_hex(text, attributes->sample_regs_user);
    }
    if (size_bytes >= PERF_ATTR_SIZE_VER3 && (attributes->sample_type & PERF_SAMPLE_STACK_USER) != 0) {
        text_put_string(text->out, ", sample_stack_user=");
        call_text_put_hex(text, attributes->sample_stack_user);
    }
    if (size_bytes >= PERF_ATTR_SIZE_VER3 && attributes->use_clockid != 0) {
        text_put_string(text->out, ", clockid=");
        constant_set_put_choice(text->out, SYSTEM_CALL_SET_clock, (uint32_t)attributes->clockid);
    }
    if (size_bytes >= PERF_ATTR_SIZE_VER4) {
        text_put_string(text->out, ", sample_regs_intr=");
        call_text_put_hex(text, attributes->sample_regs_intr);
    }
    if (size_bytes >= PERF_ATTR_SIZE_VER5)
        text_format(text->out, ", aux_watermark=%u, sample_max_stack=%u", attributes->aux_watermark,
                    attributes->sample_max_stack);
    if (size_bytes >= PERF_ATTR_SIZE_VER6)
        text_format(text->out, ", aux_sample_size=%u", attributes->aux_sample_size);
    if (size_bytes >= PERF_ATTR_SIZE_VER7) {
        text_put_string(text->out, ", sig_data=");
        call_text_put_hex(text, attributes->sig_data);
    }
}

static void put_more(const struct call_text *text, const struct perf_event_attr *attributes, size_t size_bytes)
{
    text_format(text->out, ", %s=%u", attributes->watermark != 0 ? "wakeup_watermark" : "wakeup_events",
                attributes->wakeup_events);
    put_config_more(text, attributes, size_bytes);
    put_samples(text, attributes, size_bytes);
}

static void put_head(const struct call_text *text, const struct perf_event_attr *attributes)
{
    text_put_string(text->out, "{type=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_perf_type, attributes->type);
    text_put_string(text->out, ", size=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_perf_size, attributes->size);
    text_put_string(text->out, ", config=");
    put_config(text, attributes);
    text_format(text->out, ", %s=%lu, sample_type=", attributes->freq != 0 ? "sample_freq" : "sample_period",
                (unsigned long)attributes->sample_period);
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_perf_sample, attributes->sample_type);
    text_put_string(text->out, ", read_format=");
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_perf_read, attributes->read_format);
}

void counter_text_put(const struct call_text *text, uint64_t address)
{
    struct perf_event_attr attributes = {0};
    uint32_t head[2];
    uint64_t flags;
    size_t size_bytes;

    if (!call_text_read(text, address, head, sizeof(head))) {
        call_text_put_address(text, address);
        return;
    }
    if (head[1] != 0 && head[1] < FEWEST_BYTES) {
        call_text_put_address(text, address);
        return;
    }
    size_bytes = head[1] == 0 ? FEWEST_BYTES : head[1];
    if (size_bytes > sizeof(attributes))
        size_bytes = sizeof(attributes);
    if (!call_text_read(text, address, &attributes, size_bytes)) {
        call_text_put_address(text, address);
        return;
    }
    put_head(text, &attributes);
    memcpy(&flags, (const char *)&attributes + 40, sizeof(flags));
    put_bits(text, flags);
    if (text->options->is_verbose)
        put_more(text, &attributes, size_bytes);
    else
        text_put_string(text->out, ", ...");
    text_put_char(text->out, '}');
}
