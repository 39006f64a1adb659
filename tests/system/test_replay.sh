#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a person sees of the calls of a program: gait replay and gait graph, on screens with # for each time, share and
# thread number. The program is tests/system/programs/replayed_calls.c.
# configurations: debug-gcc
# shellcheck source=recording.sh
source "$(dirname "$0")/recording.sh"

gcc -g -O1 -pthread -o "$folder/program" tests/system/programs/replayed_calls.c || exit 1

# record name options...: $folder/name is the trace
record() {
    local name=$1
    shift
    checks=$((checks + 1))
    "$gait" spawn --quiet -o "$folder/traces" "$@" -- "$folder/program" >"$folder/out" 2>"$folder/err" || fail "record $name"
    mv "$folder"/traces/* "$folder/$name"
}

# Times become #, where their last character was; numbers of threads are T, of processes P; shares and the path go.
without_times() {
    perl -pe '
        sub same_width { my ($was, $sign) = @_; return " " x (length($was) - length($sign) - 1) . $sign . "#"; }
        s| in \S*/program$| in program|; s|: \S*/program$|: program|;
        s/(?<![\w.])( *)([~<>]?)\d[\d.]* (ns|us|ms|s)(?= |$)/same_width($&, $2)/ge;
        s/^ *\d+\.\d{9}/same_width($&, "")/e;
        s/ +\d+\.\d ?%/same_width($&, "")/e;
        s/getenv\(name=/getenv(/; # known if there is debug information of libc
        s/process \d+/process P/;
        s/^thread (\w+) \d+/thread $1 T/;
        ($thread, $calls, $heading) = ($-[1], $-[2], $.) if /(thread) +(calls)/;
        $_ = substr($_, 0, $thread) . ($. == $heading ? "thread     " : "program T  ") . substr($_, $calls)
            if $calls && length > $calls && /^ /;'
}

# shows arguments... <<screen: gait prints that
shows() {
    checks=$((checks + 1))
    "$gait" "$@" >"$folder/out" 2>"$folder/err" || fail "gait $*"
    without_times <"$folder/out" >"$folder/seen"
    diff - "$folder/seen" >"$folder/diff" || fail "gait $*" "$folder/diff"
}

# ---- functions that were hooked ------------------------------------------------------------------------------------
record hooked --hook main --hook 'parse_*' --hook count_words --hook climb --hook work --hook give_up

shows replay "$folder/hooked" <<'END'
   duration  thread     calls
             program T  main() {
             program T    climb() {
             program T      climb() {
          #  program T        climb();
          #  program T      } /* climb */
          #  program T    } /* climb */
             program T    parse_file() {
             program T      parse_line() {
          #  program T        count_words();
          #  program T      } /* parse_line */
          #  program T      parse_line();
             program T      parse_line() {
          #  program T        count_words();
          #  program T      } /* parse_line */
             program T      give_up() {
             program T  work() {
          #  program T    count_words();
          #  program T  } /* work */
          #  program T      } /* give_up: unwound */
          #  program T    } /* parse_file: unwound */
          #  program T  } /* main */
unwound: an exception or a long jump ended it
END
shows replay --by-thread --time relative "$folder/hooked" <<'END'
          time   duration  calls
thread program T of process P: program
             #             main() {
             #               climb() {
             #                 climb() {
             #          #        climb();
             #          #      } /* climb */
             #          #    } /* climb */
             #               parse_file() {
             #                 parse_line() {
             #          #        count_words();
             #          #      } /* parse_line */
             #          #      parse_line();
             #                 parse_line() {
             #          #        count_words();
             #          #      } /* parse_line */
             #          #      give_up(); /* unwound */
             #          #    } /* parse_file: unwound */
             #          #  } /* main */

thread program T of process P: program
             #             work() {
             #          #    count_words();
             #          #  } /* work */
unwound: an exception or a long jump ended it
END
shows replay --function 'parse_*' --depth 2 "$folder/hooked" <<'END'
   duration  thread     calls
             program T  parse_file() {
          #  program T    parse_line();
          #  program T    parse_line();
          #  program T    parse_line();
          #  program T    give_up(); /* unwound */
          #  program T  } /* parse_file: unwound */
unwound: an exception or a long jump ended it
END
shows graph --min-percent 0 "$folder/hooked" <<'END'
process P: program

      total       %        self       calls  function, and below it whom it calls
          #       #           #           1  main
          #       #           #           1    parse_file
          #       #           #           1      give_up
          #       #           #           3      parse_line
          #       #           #           2        count_words
          #       #           #           1    climb
          #       #                       2      climb  (again)
          #       #           #           1  work
          #       #           #           1    count_words

END
shows graph --min-percent 0 "$folder/hooked" climb <<'END'
climb in program

      total       %        self       calls  called by, and below who called that
          #       #                       1  main
                                          2  climb  (again)

      total       %        self       calls  the function, and below it whom it calls
          #       #           #           3  climb
          #       #                       2    climb  (again)

END

# ---- functions whose arguments were captured -----------------------------------------------------------------------
# count_words is only hooked; of getenv, which is not part of the program, only the detail lane tells.
record detailed --hook main --hook count_words --hook work --detail 'parse_*' --detail climb --detail give_up \
    --arg 'libc*!getenv:str->str'

shows replay "$folder/detailed" <<'END'
   duration  thread     calls
             program T  main() {
             program T    climb(height=3) {
             program T      climb(height=2) {
          #  program T        climb(height=1) = 1;
          #  program T      } = 3 /* climb */
          #  program T    } = 6 /* climb */
             program T    parse_file(name="words.txt") {
          #  program T      getenv("REPLAYED") = NULL;
             program T      parse_line(line="one two three", number=1) {
          #  program T        count_words();
          #  program T      } = 3 /* parse_line */
          #  program T      parse_line(line="# none", number=2) = -1;
             program T      parse_line(line="four five", number=3) {
          #  program T        count_words();
          #  program T      } = 2 /* parse_line */
             program T      give_up(reason=7) {
             program T  work() {
          #  program T    count_words();
          #  program T  } /* work */
          #  program T      } /* give_up: unwound */
          #  program T    } /* parse_file: unwound */
          #  program T  } /* main */
unwound: an exception or a long jump ended it
END

# ---- threads that were followed ------------------------------------------------------------------------------------
# Calls into libc are told, but not their returns.
record followed --follow call,ret --times --exclude 'libc.so*' --exclude 'ld-linux*'

shows replay --function parse_file "$folder/followed" <<'END'
   duration  thread     calls
             program T  parse_file() {
         <#  program T    getenv@plt();
             program T    parse_line() {
          #  program T      count_words();
          #  program T    } /* parse_line */
          #  program T    parse_line();
             program T    parse_line() {
          #  program T      count_words();
          #  program T    } /* parse_line */
             program T    give_up() {
         <#  program T      usleep@plt();
         <#  program T      longjmp@plt();
         <#  program T    } /* give_up */
         <#  program T  } /* parse_file */
< it took that at most: its return was not seen, as of calls into what was left out
END
record guessed --follow call,ret --exclude 'libc.so*' --exclude 'ld-linux*' --arg 'parse_line:str,int->int'
shows replay --function 'parse_line' "$folder/guessed" <<'END'
TIMES WITH ~ ARE GUESSED: these events have no times of their own, and lie
somewhere between marks that do; gait spawn --times records them.
   duration  thread     calls
             program T  parse_line(line="one two three", number=1) {
         ~#  program T    count_words();
          #  program T  } = 3 /* parse_line */
          #  program T  parse_line(line="# none", number=2) = -1;
             program T  parse_line(line="four five", number=3) {
         ~#  program T    count_words();
          #  program T  } = 2 /* parse_line */
END

# A guess is not compared with a threshold: it stays, however long calls must be, and what was measured is dropped.
shows replay --function 'parse_line' --min-duration 1000s "$folder/guessed" <<'END'
TIMES WITH ~ ARE GUESSED: these events have no times of their own, and lie
somewhere between marks that do; gait spawn --times records them.
Guesses are not compared with --min-duration: calls that have no other times stay.
   duration  thread     calls
         ~#  program T    count_words();
         ~#  program T    count_words();
END
"$gait" graph --min-percent 100 "$folder/guessed" >"$folder/out" 2>&1 || fail "a graph of guesses: $(cat "$folder/out")"
grep -q ' count_words$' "$folder/out" || fail "a guess was compared with --min-percent: $(cat "$folder/out")"
[ "$(grep -c 'ARE GUESSED' "$folder/out")" = 1 ] || fail "a graph does not say once that times are guessed"
checks=$((checks + 2))

# ---- whose arguments they are --------------------------------------------------------------------------------------
# However it is recorded, each call has its own: their numbers say so. malloc is called by strdup, within libc.
gcc -g -O1 -o "$folder/numbered" tests/system/programs/numbered_calls.c || exit 1
for options in '' '--follow call,ret' '--follow call,ret --times' '--follow call,ret --exclude libc.so*'; do
    checks=$((checks + 1))
    rm -rf "$folder/traces"
    # shellcheck disable=SC2086
    "$gait" spawn --quiet -o "$folder/traces" $options --arg 'outer:int->int' --arg 'inner:int->int' --arg 'libc*!malloc:size->ptr' \
        -- "$folder/numbered" >"$folder/out" 2>"$folder/err" || fail "record numbers: $options"
    "$gait" replay --function outer "$folder"/traces/* >"$folder/out" 2>"$folder/err" || fail "replay numbers: $options"
    perl -ne '
        $number++ if /outer\(/;
        $seen{"$1 begins"}++ if /(outer|inner)\(number=(\d+)\)/ && $2 == $number - 1;
        $seen{"inner ends"}++ if /inner.* = (\d+);/ && $1 == 2 * ($number - 1);
        $seen{"outer ends"}++ if /} = (\d+) .*outer/ && $1 == 2 * $number - 1;
        $seen{"malloc"}++ if /malloc\(\w*=?4\) = 0x/ || /malloc\(\w*=?4\) \{/;
        $seen{"others"}++ if /(strdup|free)\([^)]/;
        END { print "$_ $seen{$_}\n" for sort keys %seen; }' "$folder/out" >"$folder/seen"
    printf '%s 3000\n' 'inner begins' 'inner ends' malloc 'outer begins' 'outer ends' | diff - "$folder/seen" >"$folder/diff" ||
        fail "arguments with $options" "$folder/diff"
done

# ---- ends ----------------------------------------------------------------------------------------------------------
refuses 1 'did you mean parse_file' replay --function parse_fiel "$folder/hooked"
refuses 1 'did you mean parse_line' graph "$folder/hooked" parse_lime
refuses 1 "'nobody'" replay --thread nobody "$folder/hooked"
refuses 1 'cannot open' replay "$folder/nothing"
refuses 2 "'--from soon'" replay --from soon "$folder/hooked"
refuses 2 "'--min-percent 101'" graph --min-percent 101 "$folder/hooked"

# Whoever reads no more ends it, without a word.
"$gait" replay "$folder/hooked" 2>"$folder/err" | head -n 0
check "a closed pipe is nothing to complain about" test ! -s "$folder/err"

# On a terminal, colours and a pager; not elsewhere.
if script --version >/dev/null 2>&1; then
    TERM=xterm PAGER='sed s/^/page:/' script -qec "'$gait' replay '$folder/hooked'" /dev/null </dev/null >"$folder/out" 2>&1
    check "a pager" grep -q '^page:.*main() {' "$folder/out"
    check "colours" grep -q $'\033\\[' "$folder/out"
    TERM=xterm PAGER='sed s/^/page:/' script -qec "'$gait' replay --no-pager '$folder/hooked'" /dev/null </dev/null >"$folder/out" 2>&1
    check "no pager" test "$(grep -c '^page:' "$folder/out")" = 0
    "$gait" replay "$folder/hooked" >"$folder/out"
    check "no colours" test "$(grep -c $'\033' "$folder/out")" = 0
fi

finish
