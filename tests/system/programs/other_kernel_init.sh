#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
# The first and only program of a machine: tries what gait can do with its kernel, and says what came of it.
/bin/busybox mkdir -p /proc /sys /tmp /dev /etc
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
/bin/busybox mount -t debugfs debugfs /sys/kernel/debug
/bin/busybox --install -s /bin
export PATH=/bin NO_COLOR=1
printf 'twelve chars' >/tmp/words
echo 'nobody:x:65534:65534::/:/bin/sh' >/etc/passwd

try() {
    name=$1
    shift
    echo "=== $name"
    timeout 100 "$@" 2>&1
    echo "status $?"
}

# Five writes of one byte, two of 17.
cat >/tmp/writes <<'END'
#!/bin/sh
for i in 1 2 3 4 5; do printf x; done >/tmp/out
printf '%s' 12345678901234567 >/tmp/out
printf '%s' 12345678901234567 >/tmp/out
END
chmod +x /tmp/writes

# What the firmware wrote ends without a newline.
echo
read_words='dd if=/tmp/words of=/dev/null'
try doctor gait doctor
# shellcheck disable=SC2086
try events gait probe kprobe:vfs_read kretprobe:vfs_read fentry:vfs_read fexit:vfs_read 'kprobe:do_sys_openat[2]' \
    fentry:do_sys_openat2 rawtracepoint:sched_process_exec -- $read_words
try condition gait probe kprobe:vfs_write fentry:vfs_write --if '!(count < 17)' -- /tmp/writes
try count gait probe --by comm kprobe:vfs_write tracepoint:sched:sched_process_exec -- /tmp/writes
try hist gait probe --hist count fentry:vfs_write -- /tmp/writes
# shellcheck disable=SC2086
try unknown gait probe kprobe:vfs_raed -- $read_words
# shellcheck disable=SC2086
try refused gait probe kprobe:do_int3 -- $read_words

echo "=== record"
# shellcheck disable=SC2086
gait probe --quiet --stack -o /tmp/traces kprobe:vfs_read kretprobe:vfs_read fexit:vfs_read -- $read_words
gait verify /tmp/traces/*
gait report /tmp/traces/*
gait query /tmp/traces/* "select name, stack from kernel_events where name = 'vfs_read'"

echo "=== killed"
gait probe --quiet -o /tmp/killed 'kprobe:vfs_rea*' kretprobe:vfs_write fentry:vfs_open &
until ls /tmp/killed/*/kernel/*.events.gait >/dev/null 2>&1; do sleep 0.2; done
echo "probes then: $(wc -l </sys/kernel/debug/kprobes/list)"
kill -9 $!
sleep 1
echo "probes left: $(wc -l </sys/kernel/debug/kprobes/list)"

echo "=== killed_uprobe"
gait probe --quiet -o /tmp/killed "uprobe:/bin/busybox:0x$(hexdump -s 24 -n 8 -e '1/8 "%x"' /bin/busybox)" &
sleep 1
kill -9 $!
sleep 1
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
echo "uprobes left: $(cat /sys/kernel/tracing/uprobe_events /sys/kernel/tracing/kprobe_events | wc -l)"

echo "=== nobody"
chmod 777 /tmp
su nobody -s /bin/sh -c 'gait probe tracepoint:sched:sched_switch -- true; gait probe kprobe:vfs_read -- true' 2>&1
echo "=== end"
poweroff -f
