/* SPDX-License-Identifier: MIT */
/* Attributes of bpf: a struct for each command. Stateless. */
#include "syscalls/subject_texts.h"

#include "syscalls/struct_layout.h"

#include <linux/bpf.h>

static const uint16_t layouts[] = {
    [BPF_MAP_CREATE] = STRUCT_LAYOUT_bpf_map_create,
    [BPF_MAP_LOOKUP_ELEM] = STRUCT_LAYOUT_bpf_element,
    [BPF_MAP_UPDATE_ELEM] = STRUCT_LAYOUT_bpf_update_element,
    [BPF_MAP_DELETE_ELEM] = STRUCT_LAYOUT_bpf_delete_element,
    [BPF_MAP_GET_NEXT_KEY] = STRUCT_LAYOUT_bpf_next_key,
    [BPF_PROG_LOAD] = STRUCT_LAYOUT_bpf_program_load,
    [BPF_OBJ_PIN] = STRUCT_LAYOUT_bpf_object,
    [BPF_OBJ_GET] = STRUCT_LAYOUT_bpf_object,
    [BPF_PROG_ATTACH] = STRUCT_LAYOUT_bpf_attach,
    [BPF_PROG_DETACH] = STRUCT_LAYOUT_bpf_detach,
    [BPF_PROG_TEST_RUN] = STRUCT_LAYOUT_bpf_test,
    [BPF_PROG_GET_NEXT_ID] = STRUCT_LAYOUT_bpf_start_id,
    [BPF_MAP_GET_NEXT_ID] = STRUCT_LAYOUT_bpf_start_id,
    [BPF_PROG_GET_FD_BY_ID] = STRUCT_LAYOUT_bpf_program_id,
    [BPF_MAP_GET_FD_BY_ID] = STRUCT_LAYOUT_bpf_map_id,
    [BPF_OBJ_GET_INFO_BY_FD] = STRUCT_LAYOUT_bpf_information,
    [BPF_PROG_QUERY] = STRUCT_LAYOUT_bpf_query,
    [BPF_RAW_TRACEPOINT_OPEN] = STRUCT_LAYOUT_bpf_tracepoint,
    [BPF_BTF_LOAD] = STRUCT_LAYOUT_bpf_types,
    [BPF_BTF_GET_FD_BY_ID] = STRUCT_LAYOUT_bpf_types_id,
    [BPF_TASK_FD_QUERY] = STRUCT_LAYOUT_bpf_task,
    [BPF_MAP_LOOKUP_AND_DELETE_ELEM] = STRUCT_LAYOUT_bpf_element,
    [BPF_MAP_FREEZE] = STRUCT_LAYOUT_bpf_freeze,
    [BPF_BTF_GET_NEXT_ID] = STRUCT_LAYOUT_bpf_start_id,
    [BPF_MAP_LOOKUP_BATCH] = STRUCT_LAYOUT_bpf_batch,
    [BPF_MAP_LOOKUP_AND_DELETE_BATCH] = STRUCT_LAYOUT_bpf_batch,
    [BPF_MAP_UPDATE_BATCH] = STRUCT_LAYOUT_bpf_update_batch,
    [BPF_MAP_DELETE_BATCH] = STRUCT_LAYOUT_bpf_delete_batch,
    [BPF_LINK_CREATE] = STRUCT_LAYOUT_bpf_link_create,
    [BPF_LINK_UPDATE] = STRUCT_LAYOUT_bpf_link_update,
    [BPF_LINK_GET_FD_BY_ID] = STRUCT_LAYOUT_bpf_link_id,
    [BPF_LINK_GET_NEXT_ID] = STRUCT_LAYOUT_bpf_start_id,
    [BPF_ENABLE_STATS] = STRUCT_LAYOUT_bpf_statistics,
    [BPF_ITER_CREATE] = STRUCT_LAYOUT_bpf_iterator,
    [BPF_LINK_DETACH] = STRUCT_LAYOUT_bpf_link_detach,
    [BPF_PROG_BIND_MAP] = STRUCT_LAYOUT_bpf_bind_map,
};

void bpf_text_put(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    uint64_t command = (uint32_t)text->arguments[0];

    if (command >= sizeof(layouts) / sizeof(layouts[0]) ||
        !struct_layout_put_sized(text, layouts[command], address, (uint32_t)size_bytes))
        call_text_put_address(text, address);
}
