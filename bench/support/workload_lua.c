/* SPDX-License-Identifier: MIT */
/*
 * Scripts in the interpreter of liblua5.4: its dispatch is one indirect jump after the other. A script is a chunk that
 * takes how much to do and returns an integer; it never depends on the order of a table's keys, since Lua seeds its
 * hash with addresses and the time. The compiled chunk stays at the bottom of the stack of its state.
 */
#include "support/workload.h"

#include "support/checksum.h"
#include "support/fibonacci.h"

#include <errno.h>
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
#include <stdlib.h>

#define CHUNK 1

struct script {
    const char *text;
    unsigned amount; /* at full scale */
};

struct interpreter {
    lua_State *lua;
    lua_Integer amount;
};

/* Calls of Lua functions, and hardly anything else. */
static const struct script fib = {
    .amount = 32,
    .text = "local function fib(n)\n"
            "    if n < 2 then return n end\n"
            "    return fib(n - 1) + fib(n - 2)\n"
            "end\n"
            "return fib((...))\n",
};

/* Formatting, patterns with and without callbacks, concatenation, new strings for the garbage collector. */
static const struct script strings = {
    .amount = 22000,
    .text = "local amount = ...\n"
            "local names = {'anchor', 'birch', 'cobalt', 'drum', 'ember', 'flint', 'gravel'}\n"
            "local words, sum = {}, 0\n"
            "for i = 1, amount do\n"
            "    local word = string.format('%s-%d-%04x', names[i % #names + 1], i, i * 40503 % 65536)\n"
            "    words[i] = (i % 3 == 0 and word:upper() or word:reverse()) .. i\n"
            "end\n"
            "local text = table.concat(words, ' ')\n"
            "local swapped = text:gsub('(%w+)%-(%w+)', '%2=%1')\n"
            "for key, value in swapped:gmatch('(%w+)=(%w+)') do\n"
            "    sum = (sum * 31 + #value * key:byte(1) + value:byte(-1)) % 4294967296\n"
            "end\n"
            "local marked = text:gsub('%d+', function(digits) return '<' .. #digits .. '>' end)\n"
            "for at = 1, #marked - 8, 8 do\n"
            "    sum = (sum * 33 + string.unpack('<I4', marked, at)) % 4294967296\n"
            "end\n"
            "return sum\n",
};

/* table.sort with a Lua function to compare numbers, and with strings: C calls Lua calls C. No two are equal. */
static const struct script sort = {
    .amount = 65000,
    .text = "local amount = ...\n"
            "local numbers, names, seed, sum = {}, {}, 12345, 0\n"
            "for i = 1, amount do\n"
            "    seed = (seed * 1103515245 + 12345) % 2147483648\n"
            "    numbers[i] = seed\n"
            "    names[i] = string.format('%x.%d', seed % 4093, i)\n"
            "end\n"
            "table.sort(numbers, function(a, b) return a > b end)\n"
            "table.sort(names)\n"
            "for i = 1, amount do\n"
            "    sum = (sum * 31 + numbers[i] + names[i]:byte(1, 1) * i) % 4294967296\n"
            "end\n"
            "return sum\n",
};

static void discard(void *state)
{
    struct interpreter *interpreter = state;

    if (interpreter == NULL)
        return;
    if (interpreter->lua != NULL)
        lua_close(interpreter->lua);
    free(interpreter);
}

static int load(const struct script *script, lua_Integer amount, void **state_out)
{
    struct interpreter *interpreter = calloc(1, sizeof(*interpreter));

    if (interpreter == NULL)
        return -ENOMEM;
    interpreter->amount = amount;
    interpreter->lua = luaL_newstate();
    if (interpreter->lua == NULL) {
        discard(interpreter);
        return -ENOMEM;
    }
    luaL_openlibs(interpreter->lua);
    if (luaL_loadstring(interpreter->lua, script->text) != LUA_OK) {
        discard(interpreter);
        return -EINVAL;
    }
    *state_out = interpreter;
    return 0;
}

static int prepare(const void *subject, unsigned scale_percent, void **state_out)
{
    const struct script *script = subject;

    return load(script, (lua_Integer)workload_scale(script->amount, scale_percent), state_out);
}

static int prepare_fib(const void *subject, unsigned scale_percent, void **state_out)
{
    const struct script *script = subject;

    return load(script, fibonacci_scale(script->amount, scale_percent), state_out);
}

/* Garbage is collected at the end, so that each run starts with the same heap. */
static uint64_t run(void *state)
{
    const struct interpreter *interpreter = state;
    lua_State *lua = interpreter->lua;
    uint64_t checksum = WORKLOAD_FAILED;

    lua_pushvalue(lua, CHUNK);
    lua_pushinteger(lua, interpreter->amount);
    if (lua_pcall(lua, 1, 1, 0) == LUA_OK && lua_isinteger(lua, -1))
        checksum = checksum_add(CHECKSUM_START, (uint64_t)lua_tointeger(lua, -1));
    lua_settop(lua, CHUNK);
    lua_gc(lua, LUA_GCCOLLECT);
    return checksum;
}

static uint64_t expect_fib(const void *state)
{
    const struct interpreter *interpreter = state;

    return checksum_add(CHECKSUM_START, fibonacci_number((unsigned)interpreter->amount));
}

const struct workload workload_lua_fib = {
    .name = "lua_fib",
    .subject = &fib,
    .prepare = prepare_fib,
    .run = run,
    .expect = expect_fib,
    .discard = discard,
};

const struct workload workload_lua_strings = {
    .name = "lua_strings",
    .subject = &strings,
    .prepare = prepare,
    .run = run,
    .discard = discard,
};

const struct workload workload_lua_sort = {
    .name = "lua_sort",
    .subject = &sort,
    .prepare = prepare,
    .run = run,
    .discard = discard,
};
