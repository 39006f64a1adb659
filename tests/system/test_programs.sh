#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that nobody here wrote, natively and recorded with calls and with blocks: the same output, status and files,
# and a trace that can be vouched for. All of coreutils, shells, compressors, interpreters, compilers, servers under load.
# configurations: debug-gcc
# time limit: 300 s
# shellcheck disable=SC2016
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"
export HOME="$folder" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'

# A folder to work in, the same each time.
make_place() {
    rm -rf "$folder/place"
    mkdir -p "$folder/place/sub"
    cd "$folder/place" || exit 1
    seq 1 2000 >numbers
    printf 'pear 3\napple 1\nfig 2\n' >fruit
    printf 'apple red\nfig violet\n' >colours
    printf 'a b\nb c\nc d\n' >edges
    head -c 100000 "$(command -v bash)" >binary
    printf '#include <stdio.h>\nint main(void)\n{\n    for (int i = 0; i < 3; i++)\n        printf("%%d\\n", i * i);\n}\n' >small.c
}

# Everything that a program left behind, with contents.
summarize_place() {
    find . -printf '%P %y %m\n' | sort
    find . -type f ! -name '.git*' ! -path './.git/*' -exec md5sum {} + | sort -k 2
}

# run NAME command...: output, status and what is left, in files called NAME.*
run() {
    local name=$1
    shift
    (
        make_place
        "$@" >"$folder/$name.out" 2>"$folder/$name.err" </dev/null
        echo "status $?" >"$folder/$name.left"
        summarize_place >>"$folder/$name.left"
    )
}

# same command...: with calls and returns, and with blocks
same() {
    local events what
    run native "$@"
    for events in call,ret block; do
        checks=$((checks + 1))
        rm -rf "$folder/traces"
        run gait "$gait" spawn --quiet -o "$folder/traces" --follow "$events" -- "$@"
        for what in out err left; do
            cmp -s "$folder/native.$what" "$folder/gait.$what" && continue
            diff "$folder/native.$what" "$folder/gait.$what" >"$folder/diff"
            fail "$* with $events: $what differs" "$folder/diff"
        done
        "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "$* with $events: a bad trace" "$folder/verify"
    done
}

# with command...: where the program is there
with() {
    if command -v "$1" >/dev/null; then
        same "$@"
    else
        echo "not installed: $1"
    fi
}

# ---- coreutils -------------------------------------------------------------------------------------------------------

# Run with arguments that make it work where there is something to work on; else what it says about itself.
declare -A arguments=(
    ['[']='1 -lt 2 ]' [b2sum]='numbers' [base32]='binary' [base64]='binary' [basename]='/a/b.c .c'
    [basenc]='--base16 fruit' [cat]='-n numbers fruit' [chgrp]='root fruit' [chmod]='u+x fruit' [chown]='root fruit'
    [cksum]='numbers' [comm]='fruit colours' [cp]='-a fruit sub/copy' [csplit]='numbers 100 200' [cut]='-c 1-2 fruit'
    [date]='-u -d @0' [dd]='if=binary of=out bs=1k count=7 status=none' [dir]='/usr' [dircolors]='-b' [dirname]='/a/b'
    [du]='--apparent-size sub' [echo]='a b' [env]='-i A=1 printenv' [expand]='fruit' [expr]='3 * 4'
    [factor]='123456789012345678901234567890' [fmt]='fruit' [fold]='-w 3 fruit' [groups]='root' [head]='-n 3 numbers'
    [id]='root' [install]='-m 755 fruit sub/fruit' [join]='colours colours' [link]='fruit link' [ln]='-s fruit link'
    [ls]='-l /usr/include/linux' [md5sum]='numbers' [md5sum.textutils]='numbers' [mkdir]='-p a/b/c' [mkfifo]='fifo' [mktemp]='-u xX'
    [mknod]='pipe p' [mv]='fruit sub' [nice]='-n 5 nice' [nl]='fruit' [nohup]='true' [numfmt]='--to=iec 123456789'
    [od]='-c fruit' [paste]='fruit colours' [pathchk]='a/b' [pr]='-t numbers' [printenv]='LC_ALL' [printf]='%d\n 7'
    [ptx]='fruit' [readlink]='-f fruit' [realpath]='.' [rm]='-r sub fruit' [rmdir]='sub' [runcon]='--help' [seq]='3 7 99'
    [sha1sum]='numbers' [sha224sum]='numbers' [sha256sum]='numbers' [sha384sum]='numbers' [sha512sum]='numbers'
    [shred]='-n 1 -u colours' [shuf]='--random-source=binary numbers' [sleep]='0.01' [sort]='-n -r numbers'
    [split]='-l 500 numbers part' [stat]='-c %s numbers' [stdbuf]='-o0 echo a' [stty]='-a' [sum]='numbers' [tac]='numbers'
    [tail]='-n 3 numbers' [tee]='copy' [test]='-e fruit' [timeout]='5 echo in time' [touch]='new' [tr]='a b'
    [truncate]='-s 10 numbers' [tsort]='edges' [unexpand]='fruit' [uniq]='-c fruit' [unlink]='fruit' [vdir]='/usr/include/linux'
    [wc]='numbers fruit' [yes]='--version' [who]='--version' [users]='--version' [pinky]='--version' [df]='--version'
)

mapfile -t coreutils < <(dpkg -L coreutils 2>/dev/null | sed -n 's,^/\(usr/\)\?bin/,,p' | sort)
for program in "${coreutils[@]}"; do
    read -r -a given <<<"${arguments[$program]-}"
    same "$program" "${given[@]}"
done

# ---- others ----------------------------------------------------------------------------------------------------------

same bash -c 'for i in {1..50}; do a[i]=$((i * i)); done; echo "${a[*]}"; f() { (( $1 < 2 )) && echo 1 || echo $(($(f $(($1 - 1))) + 1)); }; f 5'
same bash -c 'seq 1 500 | grep 7 | sort -r | while read -r x; do echo "<$x>"; done | tail -n 5; false || exit 9'
same bash -c 'trap "echo got it" USR1; kill -USR1 $$; wait; (exit 4); echo $?; sleep 0.01 & wait $!; echo end'
same sh -c 'cat <<X | tr a-z A-Z
some words
X
kill -TERM $$'
with gzip -n -k numbers
with bash -c 'gzip -9 <binary | gzip -d | cmp - binary'
with xz -k numbers
with bash -c 'xz <binary | xz -d | cmp - binary'
with zstd -q -k numbers
with bzip2 -k numbers
with tar -cf out.tar --mtime=@0 fruit numbers
with python3 -c 'import json, re, hashlib; print(json.dumps({str(i): hashlib.md5(str(i).encode()).hexdigest() for i in range(50)})); print(re.sub("a+", "b", "caaandaat"))'
with python3 -c 'import threading
total = []
def work(n): total.append(sum(i * i for i in range(n)))
threads = [threading.Thread(target=work, args=(1000 * i,)) for i in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(total))'
with python3 -c 'import subprocess, os; print(subprocess.run(["sort", "-r", "fruit"], capture_output=True).stdout); os.abort()'
with perl -e 'my %h; $h{$_ % 17} += $_ for 1 .. 5000; print "$_ $h{$_}\n" for sort { $a <=> $b } keys %h; print sprintf("%vd", $^V) =~ /^5/ ? "five\n" : "?\n"'
with perl -e 'if (my $p = fork) { waitpid $p, 0; print $? >> 8, "\n" } else { exit 7 }'
with awk '{ s[$2] = $1 } END { for (i = 1; i <= 3; i++) print i, s[i] }' fruit
with sed -e 's/p/<&>/g' -e '2d' fruit
with sqlite3 :memory: 'create table t(a, b); insert into t select value, value * value from (with recursive c(value) as (select 1 union all select value + 1 from c where value < 3000) select value from c); select sum(a), sum(b), count(distinct b % 7) from t; create index i on t(b); select a from t where b = 14641;'
with git --no-pager -c init.defaultBranch=main -c user.name=a -c user.email=a@b init -q .
with bash -c 'git -c init.defaultBranch=main init -q . && git add fruit small.c && git -c user.name=a -c user.email=a@b commit -q -m first && git log --stat && git gc -q && git fsck'
with gcc -O2 -c small.c -o small.o
with bash -c 'gcc -O1 -g small.c -o small && ./small; rm -f small'
with bash -c 'printf "all: a b\n%%: %%.in\n\tcp \$< \$@\n" >Makefile; echo 1 >a.in; echo 2 >b.in; make -j2 >/dev/null; cat a b'
with find . -type f -newermt 2000-01-01 -name 'f*'
with grep -E -c '^1[0-9]*7$' numbers
with bc -l -q
with lua5.4 -e 't = {} for i = 1, 300 do t[i] = (i * 7919) % 1009 end table.sort(t) print(table.concat(t, " "))'
with node -e 'const m = new Map(); for (let i = 0; i < 20000; i++) m.set(i % 97, (m.get(i % 97) || 0) + i); console.log([...m.values()].join(","))'

# ---- programs that run programs --------------------------------------------------------------------------------------

# Valgrind translates code itself, and maps memory where it believes that nothing is. A debugger traces its child.
with valgrind -q --tool=none sort -r numbers
with bash -c 'gdb -nx -batch -ex "break write" -ex run -ex "bt 1" -ex kill --args cat fruit 2>&1 | sed "s/process [0-9]*/process/"'
with strace -o /dev/null -f sh -c 'sort fruit | cat'

cat >"$folder/Nulls.java" <<'END'
public class Nulls {
    static int deep(int n) { return deep(n + 1) + 1; }
    public static void main(String[] arguments) throws Exception {
        Object nothing = null;
        int caught = 0;
        for (int i = 0; i < 20000; i++)
            try { nothing.hashCode(); } catch (NullPointerException e) { caught++; }
        try { deep(0); } catch (StackOverflowError e) { caught++; }
        Thread[] threads = new Thread[8];
        for (int i = 0; i < threads.length; i++) (threads[i] = new Thread(() -> System.gc())).start();
        for (Thread thread : threads) thread.join();
        System.out.println(caught);
    }
}
END
command -v javac >/dev/null && (cd "$folder" && javac Nulls.java)
with java -cp "$folder" Nulls

cat >"$folder/work.go" <<'END'
package main

import "fmt"

func deep(n int) int {
	var a [64]int
	if n == 0 {
		return 0
	}
	a[n%64] = n
	return deep(n-1) + a[n%64] - n + 1
}

func main() {
	results := make(chan int)
	for i := 0; i < 40; i++ {
		go func(i int) {
			defer func() {
				if recover() != nil {
					results <- 1000
				}
			}()
			if i%8 == 0 {
				var nothing *int
				*nothing = i
			}
			results <- deep(i * 50)
		}(i)
	}
	sum := 0
	for i := 0; i < 40; i++ {
		sum += <-results
	}
	fmt.Println(sum)
}
END
command -v go >/dev/null && (cd "$folder" && GOCACHE="$folder/gocache" GO111MODULE=off go build -o work work.go)
with "$folder/work"

# ---- servers ---------------------------------------------------------------------------------------------------------

wait_for_port() {
    for _ in {1..200}; do
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0
        sleep 0.05
    done
    return 1
}

# Ends a recorded server by a signal to it, as an operator would; the status that gait gives, and the trace.
end_server() {
    local events=$1 recorder=$2 expected=$3 status
    wait "$recorder"
    status=$?
    [[ $status == "$expected" ]] || fail "server with $events: status $status, expected $expected" "$folder/server.err"
    "$gait" verify "$folder"/traces/* >"$folder/verify" 2>&1 || fail "server with $events: a bad trace" "$folder/verify"
}

redis() {
    local events=$1 port=$2 recorder
    checks=$((checks + 1))
    rm -rf "$folder/traces"
    "$gait" spawn --quiet -o "$folder/traces" --follow "$events" -- redis-server --port "$port" --save '' \
        --dir "$folder" >"$folder/server.out" 2>"$folder/server.err" &
    recorder=$!
    started+=("$recorder")
    wait_for_port "$port" || fail "redis with $events does not answer" "$folder/server.err"
    redis-benchmark -p "$port" -q -n 4000 -c 20 -t set,get,lpush,zadd,mset >"$folder/load" 2>&1 || fail "redis-benchmark" "$folder/load"
    redis-cli -p "$port" set gait walks >/dev/null
    [[ $(redis-cli -p "$port" get gait) == walks ]] || fail "redis with $events forgets"
    redis-cli -p "$port" shutdown nosave >/dev/null
    end_server "$events" $recorder 0
}

nginx_served() {
    local events=$1 port=$2 recorder
    checks=$((checks + 1))
    rm -rf "$folder/traces" "$folder/nginx"
    mkdir -p "$folder/nginx/logs"
    head -c 20000 "$(command -v bash)" >"$folder/nginx/file"
    cat >"$folder/nginx/nginx.conf" <<CONF
daemon off; worker_processes 2; pid $folder/nginx/pid; error_log $folder/nginx/error.log; user root;
events { worker_connections 256; }
http { access_log off; server { listen 127.0.0.1:$port; root $folder/nginx; gzip on; gzip_types *; } }
CONF
    "$gait" spawn --quiet -o "$folder/traces" --follow "$events" -- nginx -p "$folder/nginx" -c "$folder/nginx/nginx.conf" \
        >"$folder/server.out" 2>"$folder/server.err" &
    recorder=$!
    started+=("$recorder")
    wait_for_port "$port" || fail "nginx with $events does not answer" "$folder/server.err"
    wrk -t 2 -c 16 -d 2s "http://127.0.0.1:$port/file" >"$folder/load" 2>&1 || fail "wrk" "$folder/load"
    grep -q 'Socket errors\|Non-2xx' "$folder/load" && fail "nginx with $events: errors" "$folder/load"
    curl -s "http://127.0.0.1:$port/file" | cmp -s - "$folder/nginx/file" || fail "nginx with $events: another file"
    kill -QUIT "$(cat "$folder/nginx/pid")"
    end_server "$events" $recorder 0
}

for events in call,ret block; do
    if command -v redis-server >/dev/null; then redis $events 7391; else echo 'not installed: redis-server'; fi
    if command -v nginx >/dev/null && command -v wrk >/dev/null && command -v curl >/dev/null; then
        nginx_served $events 7392
    else
        echo 'not installed: nginx, wrk, curl'
    fi
done

finish
