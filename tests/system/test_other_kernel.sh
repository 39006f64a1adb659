#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Probes of the kernel's functions, in a kernel of Debian's that runs in a machine of its own: by breakpoints and without
# them, with arguments by its types, filtered and counted in it; and nothing is left behind by a gait that is killed.
# configurations: debug-gcc
# time limit: 240 s
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

skip() {
    echo "skipped: $1"
    exit 77
}

kernel=$(find /boot -name 'vmlinuz-*' 2>/dev/null | sort -V | tail -n 1)
[[ $(uname -m) == x86_64 ]] || skip "the machine is only there for x86_64"
[[ -n $kernel && -r $kernel ]] || skip "there is no kernel in /boot; try apt-get install linux-image-amd64"
command -v qemu-system-x86_64 >/dev/null || skip "qemu-system-x86_64 is missing; try apt-get install qemu-system-x86"
busybox=$(command -v busybox) || skip "busybox is missing; try apt-get install busybox-static"
[[ $("$gait" probe -l fentry:vfs_read 2>&1) != *'built without'* ]] || skip "this gait was built without libbpf"

# The programs, with the libraries that they need, where they expect them.
root=$folder/root
mkdir -p "$root"/{bin,proc,sys,tmp,dev}
cp "$busybox" "$root/bin/busybox"
cp "$gait" "$root/bin/gait"
strip -g "$root/bin/gait"
ldd "$gait" | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root${library%/*}"
    cp -L "$library" "$root$library"
done
cp tests/system/programs/other_kernel_init.sh "$root/init"
chmod +x "$root/init"
(cd "$root" && find . | "$busybox" cpio -o -H newc 2>/dev/null) | gzip -1 >"$folder/initramfs"

# Without the host's help: a machine in a machine often has none that is any good.
timeout 230 qemu-system-x86_64 -machine pc,accel=tcg -cpu max -m 768 -smp 1 -nographic -no-reboot -nodefaults \
    -serial stdio -kernel "$kernel" -initrd "$folder/initramfs" \
    -append "console=ttyS0 quiet panic=-1 no_timer_check rdinit=/init" </dev/null >"$folder/console" 2>&1
tr -d '\r' <"$folder/console" >"$folder/said"
grep -q '^=== end' "$folder/said" || fail "the machine did not come to its end" "$folder/said"

# section name: what was said there
section() {
    sed -n "/^=== $1\$/,/^=== /p" "$folder/said" | sed '1d;$d' >"$folder/section"
}

# says name pattern
says() {
    section "$1"
    checks=$((checks + 1))
    grep -q -E -- "$2" "$folder/section" || fail "$1: there is no '$2'" "$folder/section"
}

says doctor '^yes +kprobe'
says doctor '^yes +fentry'
says doctor '^yes +uprobe'
says doctor '^yes +tracepoint'
says events ' vfs_read file=0x[0-9a-f]+ buf=0x[0-9a-f]+ count=[0-9]+ pos=0x[0-9a-f]+$'
says events ' vfs_read retval=12$'
says events ' vfs_read file=0x[0-9a-f]+ .* retval=12$'
says events ' do_sys_openat2 dfd=-100 filename="/tmp/words"'
says events ' sched_process_exec '
says events '^status 0'
# By a breakpoint and without one, the same was seen.
checks=$((checks + 1))
[[ $(grep -c 'vfs_read file=.* pos=0x[0-9a-f]*$' "$folder/section") == $((2 * $(grep -c 'vfs_read retval=' "$folder/section"))) ]] ||
    fail "breakpoints and programs do not see the same" "$folder/section"
says condition ' vfs_write .*count=17 '
checks=$((checks + 1))
! grep -q 'vfs_write .*count=1 ' "$folder/section" || fail "a condition lets through what it should not" "$folder/section"
says count '^ +7  comm=writes$'
says count 'tracepoint:sched:sched_process_exec'
says hist '^  \[1, 2\) +5 '
says hist '^  \[16, 32\) +2 '
says unknown 'did you mean .*vfs_read'
says unknown '^status 2'
says refused 'cannot watch kprobe:do_int3: '
says record 'good, 0 bad, 0 missing'
says record '0  kretprobe:vfs_read$'
says record 'vfs_read.*ksys_read'
says killed '^probes then: [1-9]'
says killed '^probes left: 0$'
says killed_uprobe '^uprobes left: 0$'
says nobody 'the kernel does not let this user|may not read the kernel'
finish
