/* SPDX-License-Identifier: MIT */
/* time limit: 120 s */
/*
 * Instructions with a pc-relative operand, each run where it is and in copies that reach the operand and that do not.
 * The text beside the bytes is what they are in assembly; data is where the operand points.
 */
#include "support/check.h"
#include "support/relocation_case.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct relocation_lab lab;

/* Integer instructions: any register, both directions, with and without a rex prefix. */
static void integer_instructions_reach_their_memory(void)
{
    static const struct relocation_case tried[] = {
        {"mov rcx, [rip+data+8]", "48 8b 0d @8", 0},
        {"mov [rip+data+8], r15", "4c 89 3d @8", 0},
        {"mov r9d, [rip+data+8]", "44 8b 0d @8", 0},
        {"mov [rip+data+8], dh", "88 35 @8", 0},
        {"mov [rip+data+8], sil", "40 88 35 @8", 0},
        {"add rdx, [rip+data+8]", "48 03 15 @8", 0},
        {"sub [rip+data+8], r12", "4c 29 25 @8", 0},
        {"adc eax, [rip+data+8]", "13 05 @8", 0},
        {"cmp bx, [rip+data+8]", "66 3b 1d @8", 0},
        {"imul r10, [rip+data+8]", "4c 0f af 15 @8", 0},
        {"mul qword ptr [rip+data+8]", "48 f7 25 @8", 0},
        {"neg word ptr [rip+data+8]", "66 f7 1d @8", 0},
        {"inc byte ptr [rip+data+8]", "fe 05 @8", 0},
        {"xchg [rip+data+8], rbx", "48 87 1d @8", 0},
        {"xadd [rip+data+8], rax", "48 0f c1 05 @8", 0},
        {"lock xadd [rip+data+8], edi", "f0 0f c1 3d @8", 0},
        {"lock cmpxchg [rip+data+8], rcx", "f0 48 0f b1 0d @8", 0},
        {"mov rax, [rip+data+8]; lock cmpxchg [rip+data+8], rcx", "48 8b 05 @8; f0 48 0f b1 0d @8", 0},
        {"lock cmpxchg8b [rip+data+8]", "f0 0f c7 0d @8", 0},
        {"lock cmpxchg16b [rip+data+0x40]", "f0 48 0f c7 0d @40", 0},
        {"mov rax, [rip+data+0x40]; mov rdx, [rip+data+0x48]; lock cmpxchg16b [rip+data+0x40]",
         "48 8b 05 @40; 48 8b 15 @48; f0 48 0f c7 0d @40", 0},
        {"and ecx, 31; bt [rip+data+0x40], rcx", "83 e1 1f; 48 0f a3 0d @40", 0},
        {"or rcx, -32; btc [rip+data+0x40], ecx", "48 83 c9 e0; 0f bb 0d @40", 0},
        {"bts qword ptr [rip+data+8], 63", "48 0f ba 2d @8 3f", 0},
        {"movzx eax, byte ptr [rip+data+8]", "0f b6 05 @8", 0},
        {"movsx rdx, word ptr [rip+data+8]", "48 0f bf 15 @8", 0},
        {"movsxd r14, dword ptr [rip+data+8]", "4c 63 35 @8", 0},
        {"setg [rip+data+8]", "0f 9f 05 @8", 0},
        {"cmovl r8, [rip+data+8]", "4c 0f 4c 05 @8", 0},
        {"popcnt edx, [rip+data+8]", "f3 0f b8 15 @8", 0},
        {"movbe rdi, [rip+data+8]", "48 0f 38 f0 3d @8", 0},
        {"crc32 rsi, qword ptr [rip+data+8]", "f2 48 0f 38 f1 35 @8", 0},
        {"adox rax, [rip+data+8]", "f3 48 0f 38 f6 05 @8", 0},
        {"movnti [rip+data+8], rdx", "48 0f c3 15 @8", 0},
        {"mov word ptr [rip+data+8], ds", "8c 1d @8", 0},
        {"prefetcht0 [rip+data+8]", "0f 18 0d @8", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* Immediates stand behind the displacement, which counts from their end. */
static void immediates_behind_the_displacement_stay(void)
{
    static const struct relocation_case tried[] = {
        {"cmp dword ptr [rip+data+8], 0x12345678", "81 3d @8 78 56 34 12", 0},
        {"cmp byte ptr [rip+data+8], 0x7f", "80 3d @8 7f", 0},
        {"test qword ptr [rip+data+8], 0x12345678", "48 f7 05 @8 78 56 34 12", 0},
        {"test byte ptr [rip+data+8], 0x81", "f6 05 @8 81", 0},
        {"mov qword ptr [rip+data+8], -2", "48 c7 05 @8 fe ff ff ff", 0},
        {"mov word ptr [rip+data+8], 0x1234", "66 c7 05 @8 34 12", 0},
        {"add word ptr [rip+data+8], 0x1234", "66 81 05 @8 34 12", 0},
        {"imul r10, [rip+data+8], 0x12345678", "4c 69 15 @8 78 56 34 12", 0},
        {"imul cx, [rip+data+8], 5", "66 6b 0d @8 05", 0},
        {"shld [rip+data+8], rcx, 5", "48 0f a4 0d @8 05", 0},
        {"shrd [rip+data+8], eax, cl", "0f ad 05 @8", 0},
        {"rol byte ptr [rip+data+8], 3", "c0 05 @8 03", 0},
        {"pshufd xmm1, [rip+data+0x40], 0x1b", "66 0f 70 0d @40 1b", 0},
        {"pinsrw xmm12, [rip+data+8], 3", "66 44 0f c4 25 @8 03", 0},
        {"rorx rcx, [rip+data+8], 7", "c4 e3 fb f0 0d @8 07", 0},
        {"vpblendvb xmm1, xmm2, [rip+data+8], xmm3", "c4 e3 69 4c 0d @8 30", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* The extension of a base that a pc-relative operand does not have. */
static void an_extended_base_is_taken_back(void)
{
    static const struct relocation_case tried[] = {
        {"mov rcx, [rip+data+8], rex.b set", "49 8b 0d @8", 0},
        {"movzx r8d, word [rip+data+8], rex.x and rex.b set", "47 0f b7 05 @8", 0},
        {"vpaddd xmm1, xmm2, [rip+data+8], vex.b and vex.x set", "c4 81 69 fe 0d @8", 0},
        {"vaddps zmm1, zmm3, [rip+data+8], evex.b and evex.x set", "62 91 64 48 58 0d @8", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* The accumulator has a form with an absolute address; ah has not. */
static void the_accumulator_moves_without_a_scratch_register(void)
{
    static const struct relocation_case tried[] = {
        {"mov al, [rip+data+8]", "8a 05 @8", 0},
        {"mov ah, [rip+data+8]", "8a 25 @8", 0},
        {"mov ax, [rip+data+8]", "66 8b 05 @8", 0},
        {"mov eax, [rip+data+8]", "8b 05 @8", 0},
        {"mov rax, [rip+data+8]", "48 8b 05 @8", 0},
        {"mov [rip+data+8], al", "88 05 @8", 0},
        {"mov [rip+data+8], ah", "88 25 @8", 0},
        {"mov [rip+data+8], ax", "66 89 05 @8", 0},
        {"mov [rip+data+8], eax", "89 05 @8", 0},
        {"mov [rip+data+8], rax", "48 89 05 @8", 0},
        {"mov r8, [rip+data+8]", "4c 8b 05 @8", 0},
        {"mov r8b, [rip+data+8]", "44 8a 05 @8", 0},
        {"mov spl, [rip+data+8]; and spl, 0xf8", "40 8a 25 @8; 40 80 e4 f8", 0},
        {"mov rax, gs:[rip+data+8]", "65 48 8b 05 @8", 0},
        {"mov gs:[rip+data+8], eax", "65 89 05 @8", 0},
        {"xrelease mov [rip+data+8], rax", "f3 48 89 05 @8", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* Addresses alone. */
static void addresses_are_constants(void)
{
    static const struct relocation_case tried[] = {
        {"lea cx, [rip+data+8]", "66 8d 0d @8", 0},
        {"lea ecx, [rip+data+8]", "8d 0d @8", 0},
        {"lea rcx, [rip+data+8]", "48 8d 0d @8", 0},
        {"lea r13, [rip+data+8]", "4c 8d 2d @8", 0},
        {"lea r13w, [rip+data+8]", "66 44 8d 2d @8", 0},
        {"lea rcx, gs:[rip+data+8]", "65 48 8d 0d @8", 0},
        {"lea ecx, [eip+data+8]", "67 8d 0d @8", 0},
        {"lea rcx, [eip+data+8]", "67 48 8d 0d @8", 0},
        {"lea cx, [eip+data+8]", "67 66 8d 0d @8", 0},
        {"mov rcx, [eip+data+8]", "67 48 8b 0d @8", 0},
        {"lea rsp, [rip+data+8]", "48 8d 25 @8", RELOCATION_SP_STRAYS},
        {"lea sp, [rip+data+8]", "66 8d 25 @8", RELOCATION_SP_STRAYS},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* Vector and floating-point registers in every encoding. */
static void vector_and_floating_point_instructions_reach_their_memory(void)
{
    static const struct relocation_case tried[] = {
        {"cvtsi2sd xmm3, qword ptr [rip+data+8]", "f2 48 0f 2a 1d @8", 0},
        {"cvttsd2si r8, [rip+data+8]", "f2 4c 0f 2c 05 @8", 0},
        {"addps xmm9, [rip+data+0x40]", "44 0f 58 0d @40", 0},
        {"movups [rip+data+8], xmm15", "44 0f 11 3d @8", 0},
        {"movq mm3, [rip+data+8]", "0f 6f 1d @8", 0},
        {"paddb mm3, [rip+data+8]", "0f fc 1d @8", 0},
        {"pextrq [rip+data+8], xmm4, 1", "66 48 0f 3a 16 25 @8 01", 0},
        {"aesenc xmm1, [rip+data+0x40]", "66 0f 38 dc 0d @40", 0},
        {"stmxcsr [rip+data+8]", "0f ae 1d @8", 0},
        {"fld qword ptr [rip+data+8]; fstp tbyte ptr [rip+data+0x18]", "dd 05 @8; db 3d @18", 0},
        {"fiadd dword ptr [rip+data+8]", "da 05 @8", 0},
        {"fnstcw [rip+data+8]", "d9 3d @8", 0},
        {"vaddps xmm1, xmm2, [rip+data+8]", "c5 e8 58 0d @8", 0},
        {"vaddps ymm9, ymm12, [rip+data+8]", "c5 1c 58 0d @8", 0},
        {"vmovdqu [rip+data+8], ymm7", "c5 fe 7f 3d @8", 0},
        {"vaddps xmm1, xmm2, cs:[rip+data+8]", "2e c5 e8 58 0d @8", 0},
        {"vaddps xmm1, xmm2, [rip+data+8], long vex prefix", "c4 e1 68 58 0d @8", 0},
        {"vpermq ymm3, [rip+data+8], 0x1b", "c4 e3 fd 00 1d @8 1b", 0},
        {"vfmadd213pd ymm5, ymm7, [rip+data+8]", "c4 e2 c5 a8 2d @8", 0},
        {"vfmadd213pd ymm13, ymm7, [rip+data+8]", "c4 62 c5 a8 2d @8", 0},
        {"vcvtsi2sd xmm4, xmm4, qword ptr [rip+data+8]", "c4 e1 db 2a 25 @8", 0},
        {"vextracti128 [rip+data+8], ymm2, 1", "c4 e3 7d 39 15 @8 01", 0},
        {"vpmaskmovd [rip+data+8], ymm2, ymm3", "c4 e2 6d 8e 1d @8", 0},
        {"vbroadcastss ymm1, [rip+data+8]", "c4 e2 7d 18 0d @8", 0},
        {"mulx rbx, r9, [rip+data+8]", "c4 e2 b3 f6 1d @8", 0},
        {"shlx rdi, [rip+data+8], rsi", "c4 e2 c9 f7 3d @8", 0},
        {"blsr r9, [rip+data+8]", "c4 e2 b0 f3 0d @8", 0},
        {"kmovq k1, [rip+data+8]", "c4 e1 f8 90 0d @8", 0},
        {"vaddps zmm1{k2}, zmm3, [rip+data+8]", "62 f1 64 4a 58 0d @8", 0},
        {"vaddps zmm1{k2}{z}, zmm3, dword ptr [rip+data+8]{1to16}", "62 f1 64 da 58 0d @8", 0},
        {"vpaddd zmm20, zmm30, [rip+data+8]", "62 e1 0d 40 fe 25 @8", 0},
        {"vpternlogd zmm4, zmm21, [rip+data+8], 0x96", "62 f3 55 40 25 25 @8 96", 0},
        {"vcmpps k1{k3}, zmm2, [rip+data+8], 1", "62 f1 6c 4b c2 0d @8 01", 0},
        {"vmovdqu64 [rip+data+8]{k1}, zmm5", "62 f1 fe 49 7f 2d @8", 0},
        {"vpcompressd [rip+data+8]{k1}, zmm5", "62 f2 7d 49 8b 2d @8", 0},
        {"vcvtsi2sd xmm20, xmm21, qword ptr [rip+data+8]", "62 e1 d7 00 2a 25 @8", 0},
        {"pfadd mm1, [rip+data+8]", "0f 0f 0d @8 9e", 0},
        {"vpcmov xmm1, xmm2, [rip+data+8], xmm3", "8f e8 68 a2 0d @8 30", 0},
        {"vprotb xmm9, [rip+data+8], 3", "8f 68 78 c0 0d @8 03", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* push and pop. */
static void push_and_pop_reach_their_memory(void)
{
    static const struct relocation_case tried[] = {
        {"push qword ptr [rip+data+8]", "ff 35 @8", 0},
        {"push word ptr [rip+data+8]", "66 ff 35 @8", 0},
        {"pop qword ptr [rip+data+8]", "8f 05 @8", 0},
        {"pop word ptr [rip+data+8]", "66 8f 05 @8", 0},
        {"push qword ptr [rip+data+8]; pop qword ptr [rip+data+0x18]", "ff 35 @8; 8f 05 @18", 0},
        {"push gs:[rip+data+8]", "65 ff 35 @8", 0},
        {"mov [rip+data+8], rsp; pop qword ptr [rip+data+8]; push qword ptr [rip+data+8]",
         "48 89 25 @8; 8f 05 @8; ff 35 @8", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* rsp as an operand. */
static void rsp_can_be_an_operand(void)
{
    static const struct relocation_case tried[] = {
        {"mov [rip+data+8], rsp", "48 89 25 @8", 0},
        {"mov [rip+data+8], esp", "89 25 @8", 0},
        {"mov [rip+data+8], sp", "66 89 25 @8", 0},
        {"mov [rip+data+8], spl", "40 88 25 @8", 0},
        {"cmp rsp, [rip+data+8]", "48 3b 25 @8", 0},
        {"cmp [rip+data+8], esp", "39 25 @8", 0},
        {"test [rip+data+8], rsp", "48 85 25 @8", 0},
        {"bt [rip+data+0x40], sp", "66 0f a3 25 @40", 0},
        {"lock cmpxchg [rip+data+8], rsp", "f0 48 0f b1 25 @8", 0},
        {"lea rcx, [rsp-0x100]; mov [rip+data+8], rcx; mov rsp, [rip+data+8]",
         "48 8d 8c 24 00 ff ff ff; 48 89 0d @8; 48 8b 25 @8", 0},
        {"mov qword ptr [rip+data+8], 0x40; add rsp, [rip+data+8]", "48 c7 05 @8 40 00 00 00; 48 03 25 @8", 0},
        {"mov qword ptr [rip+data+8], 0x40; sub rsp, [rip+data+8]", "48 c7 05 @8 40 00 00 00; 48 2b 25 @8", 0},
        {"mov word ptr [rip+data+8], 0x8; xor sp, [rip+data+8]", "66 c7 05 @8 08 00; 66 33 25 @8", 0},
        {"mov qword ptr [rip+data+8], 1; imul rsp, [rip+data+8]", "48 c7 05 @8 01 00 00 00; 48 0f af 25 @8", 0},
        {"lea rcx, [rsp-0x100]; mov [rip+data+8], rcx; cmovc rsp, [rip+data+8]",
         "48 8d 8c 24 00 ff ff ff; 48 89 0d @8; 48 0f 42 25 @8", 0},
        {"lea rcx, [rsp+0x100]; mov [rip+data+8], rcx; xchg [rip+data+8], rsp",
         "48 8d 8c 24 00 01 00 00; 48 89 0d @8; 48 87 25 @8", 0},
        {"lea rcx, [rsp-0x40]; mov [rip+data+8], rcx; lock xadd [rip+data+8], rsp",
         "48 8d 4c 24 c0; 48 89 0d @8; f0 48 0f c1 25 @8", 0},
        {"movzx esp, byte ptr [rip+data+8]", "0f b6 25 @8", RELOCATION_SP_STRAYS},
        {"movsx rsp, word ptr [rip+data+8]", "48 0f bf 25 @8", RELOCATION_SP_STRAYS},
        {"mov esp, [rip+data+8]", "8b 25 @8", RELOCATION_SP_STRAYS},
        {"mov rsp, [rip+data+8]", "48 8b 25 @8", RELOCATION_SP_STRAYS},
        {"cmovs esp, [rip+data+8]", "0f 48 25 @8", RELOCATION_SP_STRAYS},
        {"popcnt rsp, [rip+data+8]", "f3 48 0f b8 25 @8", RELOCATION_SP_STRAYS},
        {"andn rsp, rax, [rip+data+8]", "c4 e2 f8 f2 25 @8", RELOCATION_SP_STRAYS},
        {"andn rax, rsp, [rip+data+8]", "c4 e2 d8 f2 05 @8", 0},
        {"andn rsp, rsp, [rip+data+8]", "c4 e2 d8 f2 25 @8", RELOCATION_SP_STRAYS},
        {"bextr rcx, [rip+data+8], rsp", "c4 e2 d8 f7 0d @8", 0},
        {"bzhi r9, [rip+data+8], rsp", "c4 62 d8 f5 0d @8", 0},
        {"blsi rsp, [rip+data+8]", "c4 e2 d8 f3 1d @8", RELOCATION_SP_STRAYS},
        {"shrx rax, [rip+data+8], rsp", "c4 e2 db f7 05 @8", 0},
        {"pdep rcx, rsp, [rip+data+8]", "c4 e2 db f5 0d @8", 0},
        {"mulx rsp, rcx, [rip+data+8]", "c4 e2 f3 f6 25 @8", RELOCATION_SP_STRAYS},
        {"mulx rcx, rsp, [rip+data+8]", "c4 e2 db f6 0d @8", RELOCATION_SP_STRAYS},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* The red zone and what is above it stay as they are. */
static void the_red_zone_is_kept(void)
{
    static const struct relocation_case tried[] = {
        {"mov [rsp-0x80], rcx; mov [rsp-0x8], rdx; add rbx, [rip+data+8]; mov rsi, [rsp-0x80]; mov rdi, [rsp-0x8]",
         "48 89 4c 24 80; 48 89 54 24 f8; 48 03 1d @8; 48 8b 74 24 80; 48 8b 7c 24 f8", 0},
        {"mov [rsp-0x80], rcx; push qword ptr [rip+data+8]; pop qword ptr [rip+data+8]; mov rsi, [rsp-0x80]",
         "48 89 4c 24 80; ff 35 @8; 8f 05 @8; 48 8b 74 24 80", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* Faults in the middle show the original registers. */
static void faults_show_the_original_registers(void)
{
    static const struct relocation_case tried[] = {
        {"mov rcx, [rip+data+0x2000]", "48 8b 0d @2000", 0},
        {"mov [rip+data+0x2000], eax", "89 05 @2000", 0},
        {"add [rip+data+0x2000], rdx", "48 01 15 @2000", 0},
        {"push qword ptr [rip+data+0x2000]", "ff 35 @2000", 0},
        {"pop qword ptr [rip+data+0x2000]", "8f 05 @2000", 0},
        {"add rsp, [rip+data+0x2000]", "48 03 25 @2000", 0},
        {"xchg [rip+data+0x2000], rsp", "48 87 25 @2000", 0},
        {"lock cmpxchg16b [rip+data+0x48]", "f0 48 0f c7 0d @48", 0},
        {"movaps xmm1, [rip+data+0x48]", "0f 28 0d @48", 0},
        {"mov dword ptr [rip+data+8], 0; div dword ptr [rip+data+8]", "c7 05 @8 00 00 00 00; f7 35 @8", 0},
    };

    CHECK_EQUAL(relocation_cases_try(&lab, tried, COUNT(tried)), 0);
}

/* ---- what cannot be seen by running it ------------------------------------------------------------------------------
 */

static bool copy_far(const char *text, enum x86_spill spill)
{
    struct relocation_setup setup = {.is_far = true, .options.spill = spill};
    int result = relocation_code_copy(&lab, &setup, text);

    CHECK_EQUAL(result, 0);
    return result == 0;
}

static struct x86_insn decode_original(const char *text)
{
    struct relocation_code code;
    struct x86_insn insn = {0};

    CHECK(relocation_code_read(&lab, text, &code));
    CHECK_EQUAL(x86_decode(code.bytes, code.size, app_pc_of(relocation_lab_code_pc(&lab)), 0, &insn), 0);
    return insn;
}

static bool same_immediate(const struct x86_insn *original, const struct x86_insn *copy)
{
    const uint8_t *from = lab.code.base + (original->pc.value - (uint64_t)lab.code.base);
    const uint8_t *to = lab.far.base + (copy->pc.value - (uint64_t)lab.far.base);

    return original->immediate_size == copy->immediate_size &&
           memcmp(from + original->immediate_offset, to + copy->immediate_offset, copy->immediate_size) == 0;
}

static bool same_operation(const struct x86_insn *original, const struct x86_insn *copy)
{
    return original->mnemonic == copy->mnemonic && original->form == copy->form &&
           original->encoding == copy->encoding && original->opcode == copy->opcode &&
           original->prefixes == copy->prefixes && original->size_index == copy->size_index &&
           original->segment == copy->segment && original->mask == copy->mask && original->zeroing == copy->zeroing &&
           original->broadcast == copy->broadcast && same_immediate(original, copy);
}

static bool is_rebased(const struct x86_insn *copy)
{
    return !(copy->properties & X86_PC_RELATIVE) && copy->is_memory && copy->base < X86_R8 && copy->base != X86_RSP &&
           copy->base != X86_RBP && copy->index == X86_GPR_NONE && copy->displacement_size == 0;
}

/* Also for those that this CPU may not have. */
static void the_copy_is_the_same_instruction_with_a_base(void)
{
    static const char *const texts[] = {
        "0f 0f 0d @8 9e",                /* pfadd mm1, [rip] */
        "41 0f 0f 0d @8 b4",             /* pfmul mm1, [rip], rex.b set */
        "0f 0d 0d @8",                   /* prefetchw [rip] */
        "8f e8 68 a2 0d @8 30",          /* vpcmov xmm1, xmm2, [rip], xmm3 */
        "8f c8 68 a2 0d @8 30",          /* the same, xop.b set */
        "8f 68 78 c0 0d @8 03",          /* vprotb xmm9, [rip], 3 */
        "8f e9 78 01 0d @8",             /* blcfill eax, [rip] */
        "8f ea 78 10 0d @8 04 03 02 01", /* bextr ecx, [rip], imm32 */
        "c5 f8 58 0d @8",                /* vaddps xmm1, xmm0, [rip] */
        "3e c5 f8 58 0d @8",             /* the same behind a prefix */
        "c4 e2 c5 a8 2d @8",             /* vfmadd213pd ymm5, ymm7, [rip]: a byte that looks like a short prefix */
        "c4 c1 c4 58 0d @8",             /* vaddps ymm1, ymm7, [rip], vex.b set: a byte that looks like a long one */
        "c4 e3 79 df 0d @8 c4",          /* vaeskeygenassist xmm1, [rip], 0xc4 */
        "62 f1 64 48 58 0d @8",          /* vaddps zmm1, zmm3, [rip] */
        "62 91 64 da 58 0d @8",          /* vaddps zmm1{k2}{z}, zmm3, [rip]{1to16}, evex.b and evex.x set */
        "62 f5 64 48 58 0d @8",          /* vaddph zmm1, zmm3, [rip] */
        "62 f6 65 48 98 0d @8",          /* vfmadd132ph zmm1, zmm3, [rip] */
        "f2 f0 48 01 0d @8",             /* xacquire lock add [rip], rcx */
        "f3 48 89 05 @8",                /* xrelease mov [rip], rax */
        "65 48 03 0d @8",                /* add rcx, gs:[rip] */
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct x86_insn original, copy = {0};
        int before = check_failures;

        if (!copy_far(texts[i], X86_SPILL_SEGMENT))
            continue;
        original = decode_original(texts[i]);
        /* In front of it the scratch register is kept and loaded. */
        CHECK(relocation_copy_insn(&lab, 2, &copy));
        CHECK(same_operation(&original, &copy));
        CHECK(is_rebased(&copy));
        CHECK_EQUAL(copy.reg, original.reg);
        CHECK_EQUAL(copy.vvvv, original.vvvv);
        if (check_failures != before)
            printf("  of %s\n", texts[i]);
    }
}

static unsigned insn_count(const char *text, enum x86_spill spill)
{
    struct x86_insn insn;
    unsigned count = 0;

    if (!copy_far(text, spill))
        return 0;
    while (relocation_copy_insn(&lab, count, &insn) && insn.flow == X86_FLOW_NEXT)
        count++;
    return count;
}

static void simple_cases_take_one_instruction(void)
{
    CHECK_EQUAL(insn_count("8a 05 @8", X86_SPILL_STACK), 1);      /* mov al, [rip] */
    CHECK_EQUAL(insn_count("66 8b 05 @8", X86_SPILL_STACK), 1);   /* mov ax, [rip] */
    CHECK_EQUAL(insn_count("48 89 05 @8", X86_SPILL_STACK), 1);   /* mov [rip], rax */
    CHECK_EQUAL(insn_count("48 8d 0d @8", X86_SPILL_STACK), 1);   /* lea rcx, [rip] */
    CHECK_EQUAL(insn_count("8a 25 @8", X86_SPILL_SEGMENT), 4);    /* mov ah, [rip] */
    CHECK_EQUAL(insn_count("4c 8b 05 @8", X86_SPILL_SEGMENT), 4); /* mov r8, [rip] */
    CHECK_EQUAL(insn_count("48 8b 0d @8", X86_SPILL_STACK), 6);   /* mov rcx, [rip] */
    /* mov rcx, [eip]: an address of 32 bits is in reach from everywhere */
    CHECK_EQUAL(insn_count("67 48 8b 0d @8", X86_SPILL_STACK), 1);
}

static void a_near_copy_only_adjusts_the_displacement(void)
{
    struct relocation_setup setup = {.is_far = false};
    struct x86_insn original = decode_original("81 3d @8 78 56 34 12"), copy = {0};

    CHECK_EQUAL(relocation_code_copy(&lab, &setup, "81 3d @8 78 56 34 12"), 0);
    CHECK(relocation_copy_insn(&lab, 0, &copy));
    CHECK_EQUAL(copy.length, original.length);
    CHECK_EQUAL(copy.target, original.target);
    CHECK_EQUAL(copy.mnemonic, X86_MNEMONIC_cmp);
}

static const struct check_case cases[] = {
    CHECK_CASE(integer_instructions_reach_their_memory),
    CHECK_CASE(immediates_behind_the_displacement_stay),
    CHECK_CASE(an_extended_base_is_taken_back),
    CHECK_CASE(the_accumulator_moves_without_a_scratch_register),
    CHECK_CASE(addresses_are_constants),
    CHECK_CASE(vector_and_floating_point_instructions_reach_their_memory),
    CHECK_CASE(push_and_pop_reach_their_memory),
    CHECK_CASE(rsp_can_be_an_operand),
    CHECK_CASE(the_red_zone_is_kept),
    CHECK_CASE(faults_show_the_original_registers),
    CHECK_CASE(the_copy_is_the_same_instruction_with_a_base),
    CHECK_CASE(simple_cases_take_one_instruction),
    CHECK_CASE(a_near_copy_only_adjusts_the_displacement),
};

int main(void)
{
    return relocation_lab_ready(&lab) ? check_run(cases, COUNT(cases)) : 1;
}
