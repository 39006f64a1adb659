# SPDX-License-Identifier: MIT
"""Lets gdb see through hooked functions: source tools/gdb/gait_hooks.py

A function that is hooked returns to its stub, whose address stands where its caller's was. That frame has no unwind
information; this finds the return address that was there in the thread's stack of invocations, which the gs base leads
to. The stub is shown as a frame of its own, without a name, between the function and its caller.

Layouts are those of src/hook/hook_thread_layout.h, of src/arch/x86_64/hook/stub_layout.h, and of struct
invocation_piece in src/hook/invocation_stack.c.
"""
import gdb
from gdb.unwinder import Unwinder

STUB_BYTES = 64
LANDING_IN_STUB = 43  # where a function returns to, from the beginning of its stub
STUB_LANDING = 5      # and from what an invocation knows of it

THREAD_TOP, THREAD_PIECE = 0, 16
PIECE_BEFORE, PIECE_USED, PIECE_ENTRIES = 0, 16, 40
SLOT, RETURN_ADDRESS, STUB, INVOCATION_BYTES = 0, 8, 16, 40


class Place:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


def read_word(address):
    return int.from_bytes(gdb.selected_inferior().read_memory(address, 8).tobytes(), "little")


def find_return_address(thread, slot, landing):
    """None: there is no such call, or that is no thread's state."""
    top, piece = read_word(thread + THREAD_TOP), read_word(thread + THREAD_PIECE)
    while piece != 0:
        for entry in range(top - INVOCATION_BYTES, piece + PIECE_ENTRIES, -INVOCATION_BYTES):
            if read_word(entry + SLOT) == slot and read_word(entry + STUB) + STUB_LANDING == landing:
                return read_word(entry + RETURN_ADDRESS)
        piece = read_word(piece + PIECE_BEFORE)
        top = read_word(piece + PIECE_USED) if piece != 0 else 0
    return None


class HookedFrames(Unwinder):
    def __init__(self):
        super().__init__("gait hooks")

    def __call__(self, frame):
        pc, sp = frame.read_register("rip"), frame.read_register("rsp")
        landing = int(pc) & (1 << 64) - 1
        thread = int(frame.read_register("gs_base")) & (1 << 64) - 1
        if landing % STUB_BYTES != LANDING_IN_STUB or thread == 0:
            return None
        try:
            address = find_return_address(thread, int(sp) - 8, landing)
        except gdb.MemoryError:
            return None
        if address is None:
            return None
        info = frame.create_unwind_info(Place(sp, pc))
        info.add_saved_register("rip", gdb.Value(address).cast(pc.type))
        info.add_saved_register("rsp", sp)
        for register in ("rbp", "rbx", "r12", "r13", "r14", "r15", "gs_base", "fs_base"):
            info.add_saved_register(register, frame.read_register(register))
        return info


gdb.unwinder.register_unwinder(None, HookedFrames(), replace=True)
