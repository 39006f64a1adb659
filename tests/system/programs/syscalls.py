# SPDX-License-Identifier: MIT
"""Makes many kinds of system calls, always the same ones: syscalls.py FOLDER"""
import fcntl
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import threading

os.chdir(sys.argv[1])
subprocess.run(["/bin/true"], check=True)
thread = threading.Thread(target=lambda: os.getuid())
thread.start()
thread.join()

left, right = socket.socketpair()
left.send(b"hello\x00\x011\xff")
right.recv(10)
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
server.bind(("127.0.0.1", 0))
server.listen(5)
server.setblocking(False)
try:
    server.accept()
except BlockingIOError:
    pass
poll = select.poll()
poll.register(right, 1)
poll.poll(1)
select.select([right], [left], [], 1)
epoll = select.epoll()
epoll.close()

reader, writer = os.pipe()
os.set_blocking(reader, False)
os.write(writer, b"x" * 100)
os.read(reader, 5)
passwd = os.open("/etc/passwd", os.O_RDONLY)
os.sendfile(writer, passwd, 0, 10)
os.pread(passwd, 20, 3)
os.writev(writer, [b"ab", b"cd"])
signal.signal(signal.SIGUSR1, lambda number, frame: None)
os.kill(os.getpid(), signal.SIGUSR1)
os.utime("numbers", (1, 2))
os.uname()
os.sched_getaffinity(0)
os.umask(0o22)
os.getgroups()
os.getresuid()
local = socket.socket(socket.AF_UNIX)
for path in ("/no/such/socket", "\0gait-no-such-socket"):
    try:
        local.connect(path)
    except OSError:
        pass
socket.send_fds(left, [b"z"], [0])
socket.recv_fds(right, 10, 2)
os.mkfifo("fifo")
os.remove("fifo")
os.symlink("target", "link")
os.readlink("link")
os.rename("link", "moved")
os.remove("moved")
mapping = mmap.mmap(-1, 8192)
mapping.close()
numbers = os.open("numbers", os.O_RDWR)
fcntl.lockf(numbers, fcntl.LOCK_EX)
fcntl.flock(writer, fcntl.LOCK_SH)
fcntl.fcntl(writer, fcntl.F_GETFL)
fcntl.fcntl(writer, fcntl.F_GETFD)
os.memfd_create("memory")
os.eventfd(3)
os.listdir(".")
os.truncate("numbers", 5)
os.statvfs("/")
