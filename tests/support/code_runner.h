/* SPDX-License-Identifier: MIT */
/*
 * Runs a piece of machine code on the real CPU from an exact machine state, and says in which exact state it ended.
 *
 * The code begins at initial->rip with every register, flag and vector register as in `initial` and runs until
 * something stops it: a fault, a trap or the time limit. The usual end is an int3 (0xcc). rsp may be anything, also
 * unmapped or misaligned: nothing of the harness is ever on the code's stack. The code has the host's fs base (should
 * it change it, the host's is put back at the end) and a gs base of the test's choice.
 *
 * CONVENTION: result->state.rip is what the CPU reports. After a trap it is that of the next instruction: int3 at A
 * gives A + 1 (signal SIGTRAP, trap number 3). After a fault it is the faulting instruction itself.
 * run_result_stop_pc() is in both cases the instruction that stopped the run.
 *
 * A DIFFERENTIAL TEST of a relocator or translator:
 *
 *     arena_fill(&data, &random); machine_state_randomize(&initial, &random, &options);
 *     arena_image_capture(&before, &data);
 *     initial.rip = A;  code_runner_run(&runner, &initial, &expected);   // the original, ended by int3
 *     arena_image_capture(&after, &data);
 *     arena_restore(&data, &before);
 *     initial.rip = B;  code_runner_run(&runner, &initial, &actual);     // the copy, ended by int3
 *     actual.state.rip = <address in the original that belongs to actual.state.rip>;
 *     equal = run_result_equal_end(&expected, &actual) &&
 *             machine_state_compare(&expected.state, &actual.state, NULL, report, sizeof(report)) == 0 &&
 *             arena_equals(&data, &after, &offset);
 *
 * (and the same for the stack arena). Mapping the pc back makes the comparison catch a fault that is reported at the
 * wrong place. Return addresses which the copy pushes must be those of the original, if that is what the translator
 * promises: then the stack comparison proves it. Ignore by machine_ignore the flags that the code leaves undefined only
 * if the copy uses other instructions than the original: the same CPU does the same for the same instruction.
 *
 * SINGLE STEPS: code_runner_trace runs with TF set and calls back after every instruction. What is seen of it: an image
 * that pushf stores has TF set (and the r11 that syscall stores), so memory differs from an untraced run there. popf
 * may clear TF: the harness sets it again. The instruction after a load of ss is not reported on its own. TF is clear
 * in the states that are given to the callback and in the result. A rep instruction gives a step for each repetition.
 *
 * LIMITS: one runner in a process at a time, used by the thread that made it. The signals SIGSEGV, SIGBUS, SIGILL,
 * SIGFPE, SIGTRAP and SIGVTALRM belong to it; one that comes from elsewhere than the code under test is given to the
 * handler that was installed before. The signal mask is that of code_runner_init. The code can do harm to the harness's
 * memory and can make system calls: run what is not trusted in sandbox.h. A forked child may go on using the runner.
 * Under a sanitizer, terabytes are mapped that a random pointer may hit; a store there is neither a fault nor undone.
 */
#ifndef GAIT_TESTS_CODE_RUNNER_H
#define GAIT_TESTS_CODE_RUNNER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "support/machine_state.h"

enum run_end {
    RUN_SIGNAL,     /* a fault or trap: see the other fields */
    RUN_TIMEOUT,    /* the code was still running; the state is the one in which it was interrupted */
    RUN_STOPPED,    /* the trace callback said so */
    RUN_STEP_LIMIT, /* so many instructions were traced */
};

struct run_result {
    enum run_end end;
    int signal;                /* the following are 0 unless end is RUN_SIGNAL */
    int code;                  /* si_code: SEGV_MAPERR and so on */
    uint64_t fault_address;    /* si_addr */
    uint64_t trap_number;      /* of the CPU: 0 divide, 1 debug, 3 int3, 6 invalid opcode, 13 protection, 14 page ... */
    uint64_t error_code;       /* of the CPU */
    uint64_t cr2;              /* only for trap 14: else the kernel shows that of an earlier fault, and we show 0 */
    uint64_t steps;            /* instructions traced; 0 if not traced */
    uint64_t fs_base, gs_base; /* as the code left them; 0 if the CPU does not let user code read them */
    struct machine_state state;
};

struct code_runner_options {
    uint64_t gs_base;       /* for the code under test, from init to deinit */
    uint32_t time_limit_ms; /* CPU time; 0: 20. A run is stopped between once and twice this time. */
    uint64_t step_limit;    /* of a traced run; 0: 1,000,000 */
    bool keeps_bases;       /* the code leaves fs and gs base alone, so the harness does: it may be followed then */
};

/* The state after an instruction; valid during the callback. rip is the next instruction to be executed. */
struct run_step {
    uint64_t number; /* 1 after the first instruction */
    uint64_t rip;
    uint64_t rflags;
    uint64_t gpr[X86_GPR_COUNT];
};

/*
 * Called in a signal handler, but one that never interrupts the host: it may call what it likes, except for running
 * code itself. Returns false to stop the run.
 */
typedef bool (*run_step_callback)(void *context, const struct run_step *step);

struct code_runner {
    uint8_t *memory; /* guard page, alternate stack, frame, vector image of the frame */
    void *frame;     /* the ucontext that run_switch_enter loads */
    void *frame_image;
    uint64_t step_limit;
    uint32_t time_limit_ms;
    uint64_t old_gs_base;
    stack_t old_stack;
    timer_t timer;
    volatile sig_atomic_t ticks; /* since the run or the step began */
    volatile sig_atomic_t wants_frame;
    run_step_callback callback;
    void *callback_context;
    struct run_result *result;
};

/*
 * Takes the signals over and sets gs base. options may be NULL. -EBUSY: there is a runner already. -ENOTSUP: the CPU
 * has no XSAVE. Else what the kernel said. The runner must stay where it is until deinit.
 */
int code_runner_init(struct code_runner *runner, const struct code_runner_options *options)
    __attribute__((warn_unused_result));
void code_runner_deinit(struct code_runner *runner);

/*
 * Runs the code. Of initial->rflags, what user code can set is loaded: status flags, DF, AC, NT, ID, and TF, with which
 * the run ends by SIGTRAP (code TRAP_TRACE) after one instruction. result may not overlap initial.
 */
void code_runner_run(struct code_runner *runner, const struct machine_state *initial, struct run_result *result);

/* The same, with a callback after every instruction. A fault is reported in the result, not to the callback. */
void code_runner_trace(struct code_runner *runner, const struct machine_state *initial, run_step_callback callback,
                       void *context, struct run_result *result);

/* The address of the instruction that stopped the run: rip, or rip - 1 after the one-byte int3. */
uint64_t run_result_stop_pc(const struct run_result *result);

/* True if both runs ended for the same reason; addresses of code are not compared, those of data are. */
bool run_result_equal_end(const struct run_result *expected, const struct run_result *actual);

/* "SIGSEGV (code 1) at 0x..., address 0x..." into text, cut off when it is full. */
void run_result_describe(const struct run_result *result, char *text, size_t text_bytes);

#endif
