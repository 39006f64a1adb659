#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# System calls of a server: of requests that come one after the other the same as strace's, call by call, for each of its
# processes in its order; under load none is lost, and each request takes the same calls.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

for tool in strace nginx curl wrk; do
    command -v "$tool" >/dev/null || PATH=$PATH:/usr/sbin
    command -v "$tool" >/dev/null || {
        echo "SKIP: $tool is not installed"
        exit 77
    }
done
nginx=$(command -v nginx)
port=$((20000 + RANDOM % 10000))
requests=10
ways=()

# What is told is complete when it is told: a connection comes with its request, and is closed with its answer.
mkdir -p "$folder/server"
seq 2000 >"$folder/server/numbers"
cat >"$folder/nginx.conf" <<END
daemon off;
worker_processes 1;
pid $folder/nginx.pid;
error_log $folder/error.log;
$([[ $(id -u) == 0 ]] && echo 'user root;')
events { worker_connections 64; accept_mutex off; }
http {
    access_log $folder/access.log;
    sendfile on;
    client_body_temp_path $folder/t1;
    proxy_temp_path $folder/t2;
    fastcgi_temp_path $folder/t3;
    uwsgi_temp_path $folder/t4;
    scgi_temp_path $folder/t5;
    server {
        listen 127.0.0.1:$port deferred;
        root $folder/server;
        location /short { keepalive_timeout 0; return 200 "short"; }
        location /long { return 200 "long"; }
        location / { keepalive_timeout 0; }
    }
}
END

# serve command...: the server under that, and what it is asked meanwhile
serve() {
    local ask=$1
    shift
    rm -rf "$folder"/{access.log,error.log,nginx.pid,t1,t2,t3,t4,t5}
    "$@" "$nginx" -c "$folder/nginx.conf" 2>"$folder/err" &
    local watcher=$!
    started+=("$watcher")
    until_true "the server answers" curl -s -o "$folder/answer" "http://127.0.0.1:$port/short"
    "$ask"
    kill -QUIT "$(<"$folder/nginx.pid")"
    checks=$((checks + 1))
    wait "$watcher" || fail "$1: it does not end with 0" "$folder/err"
}

ask_one_by_one() {
    for ((i = 0; i < requests; i++)); do
        curl -s -o "$folder/answer" "http://127.0.0.1:$port/short"
        curl -s -o "$folder/answer" "http://127.0.0.1:$port/numbers"
        curl -s -o "$folder/answer" "http://127.0.0.1:$port/missing"
    done
}

cat tests/data/syscalls_differences tests/data/syscalls_differences_server >"$folder/differences"
serve ask_one_by_one strace -f -o "$folder/strace.whole"
# From inside, what a call changes is known as it is then: [112 => 16] is [16], and [0] => [100] is [100].
as_then() {
    sed -i -E 's/\[[0-9]+ => ([0-9]+)\]/[\1]/g; s/\[[0-9]+\] => (\[[0-9]+\])/\1/g' "$1"
}
cp "$folder/strace.whole" "$folder/strace.inside"
as_then "$folder/strace.inside"
ln -s strace.whole "$folder/strace.ptrace"
ln -s strace.whole "$folder/strace.kernel"
for via in inside ptrace kernel; do
    if [[ $via == kernel ]] && ! "$gait" syscalls --via kernel -o /dev/null true 2>/dev/null; then
        echo 'not as this user: --via kernel'
        continue
    fi
    serve ask_one_by_one "$gait" syscalls -f --via $via -o "$folder/gait"
    [[ $via != inside ]] || as_then "$folder/gait"
    checks=$((checks + 1))
    cp "$folder/differences" "$folder/differences.$via"
    [[ $via == ptrace ]] || cat tests/data/syscalls_differences_$via >>"$folder/differences.$via"
    tests/system/syscalls_compare.py "$folder/strace.$via" "$folder/gait" "$folder/differences.$via" \
        >"$folder/compared" || fail "$via: strace writes something else" "$folder/compared"
    echo "$via: $(tail -n 1 "$folder/compared")"
    ways+=("$via")
done

# Under load: as many answers, and as many lines in the log, as calls that write them.
ask_much() {
    wrk -t 1 -c 8 -d 1 "http://127.0.0.1:$port/long" >"$folder/wrk"
}
for via in "${ways[@]}"; do
    [[ $via != ptrace ]] || continue
    serve ask_much "$gait" syscalls -f --via "$via" -e trace=writev,write,accept4,recvfrom -o "$folder/gait"
    grep -q lost "$folder/err" && fail "$via: something was lost" "$folder/err"
    answered=$(wc -l <"$folder/access.log")
    asked=$(sed -n 's/^ *\([0-9]*\) requests in.*/\1/p' "$folder/wrk")
    [[ $answered -ge $asked && $asked -gt 50 ]] || fail "$via: $asked were asked, $answered answered" "$folder/wrk"
    for what in 'writev([0-9]*, \[{iov_base="HTTP/1.1 200 OK' 'write([0-9]*, "127.0.0.1 - - \[' 'recvfrom([0-9]*, "GET '; do
        checks=$((checks + 1))
        told=$(grep -c "$what" "$folder/gait")
        [[ $told == "$answered" ]] || fail "$via: $answered requests, but $told times $what"
    done
    echo "$via under load: $answered requests, $(wc -l <"$folder/gait") calls"
done

finish
