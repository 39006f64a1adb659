/* SPDX-License-Identifier: MIT */
/* There are no stubs yet: distances that agree with no code, as arch/x86_64/hook/stub_layout.h has them. */
#ifndef GAIT_ARCH_ARM64_HOOK_STUB_LAYOUT_H
#define GAIT_ARCH_ARM64_HOOK_STUB_LAYOUT_H

#define STUB_FUNCTION              (-32)
#define STUB_HEADER                (-8)
#define STUB_PARTS                 (-4)
#define STUB_LANDING               4
#define STUB_LEAVING               4
#define STUB_LEFT                  8
#define STUB_UNTRACKED             12
#define HOOK_STUB_ALIGNMENT        64

#define SYSTEM_CALL_STUB_ALIGNMENT 16

#endif
