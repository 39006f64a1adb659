/* SPDX-License-Identifier: MIT */
#include "elf/image.h"

#include "base/memory_map.h"
#include "support/check.h"
#include "support/core_image.h"

#include <elf.h>
#include <errno.h>

#define MUTATIONS  20000
#define LOAD_PLACE 0x7f0000000000ull

/*
 * A small image made by hand. In the file: headers, then the dynamic section and the tables, all in the first segment;
 * behind them the second segment's data, which runs one page further up and has some zeroes behind it.
 */
struct handmade {
    Elf64_Ehdr header;
    Elf64_Phdr segments[4];
    Elf64_Dyn dynamic[8];
    Elf64_Rela listed[2];
    uint64_t packed[3];
    uint64_t data[80];
};

#define FIRST_BYTES  offsetof(struct handmade, data)
#define DATA_ADDRESS (0x1000 + FIRST_BYTES)
#define DATA_BYTES   sizeof(((struct handmade *)0)->data)
#define ZEROED_BYTES 64
#define IMAGE_END    (DATA_ADDRESS + DATA_BYTES + ZEROED_BYTES)
#define DATA_WORD(n) (DATA_ADDRESS + 8 * (n))

static void make_headers(struct handmade *made)
{
    memcpy(made->header.e_ident, ELFMAG, SELFMAG);
    made->header.e_ident[EI_CLASS] = ELFCLASS64;
    made->header.e_ident[EI_DATA] = ELFDATA2LSB;
    made->header.e_ident[EI_VERSION] = EV_CURRENT;
    made->header.e_type = ET_DYN;
    made->header.e_machine = EM_X86_64;
    made->header.e_entry = 0x40;
    made->header.e_phoff = offsetof(struct handmade, segments);
    made->header.e_phentsize = sizeof(Elf64_Phdr);
    made->header.e_phnum = 4;
    made->segments[0] = (Elf64_Phdr){
        .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = FIRST_BYTES, .p_memsz = FIRST_BYTES, .p_align = 0x1000};
    made->segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                                     .p_flags = PF_R | PF_W,
                                     .p_offset = FIRST_BYTES,
                                     .p_vaddr = DATA_ADDRESS,
                                     .p_filesz = DATA_BYTES,
                                     .p_memsz = DATA_BYTES + ZEROED_BYTES,
                                     .p_align = 0x1000};
    made->segments[2] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                                     .p_vaddr = offsetof(struct handmade, dynamic),
                                     .p_filesz = sizeof(made->dynamic),
                                     .p_memsz = sizeof(made->dynamic)};
    made->segments[3] = (Elf64_Phdr){.p_type = PT_GNU_RELRO, .p_vaddr = DATA_ADDRESS, .p_memsz = 16};
}

static struct handmade make(void)
{
    struct handmade made = {.data = {0}};
    const Elf64_Dyn dynamic[] = {
        {DT_RELA, {offsetof(struct handmade, listed)}},
        {DT_RELASZ, {sizeof(made.listed)}},
        {DT_RELAENT, {sizeof(Elf64_Rela)}},
        {36, {offsetof(struct handmade, packed)}},
        {35, {sizeof(made.packed)}},
        {37, {8}},
    };

    make_headers(&made);
    memcpy(made.dynamic, dynamic, sizeof(dynamic));
    made.listed[0] = (Elf64_Rela){DATA_WORD(0), R_X86_64_RELATIVE, 0x40};
    made.listed[1] = (Elf64_Rela){DATA_WORD(80), R_X86_64_RELATIVE, 0x48};
    /* Word 1; of the 63 words behind it the 1st and the 63rd; of the 63 words behind those the 2nd. */
    made.packed[0] = DATA_WORD(1);
    made.packed[1] = 1ull << 1 | 1ull << 63 | 1;
    made.packed[2] = 1ull << 2 | 1;
    for (uint64_t i = 0; i < 80; i++)
        made.data[i] = 100 + i;
    return made;
}

static const struct elf_machine machine = {EM_X86_64, R_X86_64_RELATIVE};

static int parse(const struct handmade *made, struct elf_image *image)
{
    return elf_image_parse(made, sizeof(*made), machine, image);
}

static void headers_become_segments_and_tables(void)
{
    struct handmade made = make();
    struct elf_image image;
    uint64_t word = 0;

    CHECK_EQUAL(parse(&made, &image), 0);
    CHECK_EQUAL(image.machine.number, EM_X86_64);
    CHECK_EQUAL(image.entry, 0x40);
    CHECK_EQUAL(image.low, 0);
    CHECK_EQUAL(image.high, IMAGE_END);
    CHECK_EQUAL(image.alignment, 0x1000);
    CHECK_EQUAL(image.segment_count, 2);
    CHECK_EQUAL(image.segments[0].access, MEMORY_READ_EXECUTE);
    CHECK_EQUAL(image.segments[1].access, MEMORY_READ_WRITE);
    CHECK_EQUAL(image.read_only.address, DATA_ADDRESS);
    CHECK_EQUAL(image.relocations.size_bytes, sizeof(made.listed));
    CHECK_EQUAL(image.packed_relocations.size_bytes, sizeof(made.packed));
    CHECK_EQUAL(elf_image_check_self_contained(&image), 0);
    CHECK_EQUAL(elf_image_read(&image, DATA_WORD(3), &word, 8), 0);
    CHECK_EQUAL(word, 103);
    CHECK_EQUAL(elf_image_read(&image, DATA_WORD(80), &word, 8), -ENOEXEC);
    CHECK_EQUAL(elf_image_read(&image, DATA_WORD(79) + 1, &word, 8), -ENOEXEC);
    CHECK_EQUAL(elf_image_read(&image, UINT64_MAX - 3, &word, 8), -ENOEXEC);
}

static void a_copy_is_relocated_to_its_load_address(void)
{
    static uint8_t memory[IMAGE_END];
    const struct elf_part whole = {0, sizeof(memory), memory};
    struct handmade made = make();
    struct elf_image image;
    uint64_t words[88];

    CHECK_EQUAL(parse(&made, &image), 0);
    memset(memory, 0xaa, sizeof(memory));
    elf_image_copy(&image, &whole);
    CHECK_EQUAL(elf_image_relocate(&image, &whole, LOAD_PLACE), 0);
    CHECK(memcmp(memory, &made, FIRST_BYTES) == 0);
    memcpy(words, memory + DATA_ADDRESS, sizeof(words));
    CHECK_EQUAL(words[0], LOAD_PLACE + 0x40);
    CHECK_EQUAL(words[80], LOAD_PLACE + 0x48);
    for (uint64_t i = 1; i < 80; i++) {
        bool relocated = i == 1 || i == 2 || i == 1 + 63 || i == 1 + 63 + 2;

        CHECK_EQUAL(words[i], relocated ? LOAD_PLACE + 100 + i : 100 + i);
    }
    for (int i = 81; i < 88; i++)
        CHECK_EQUAL(words[i], 0);
}

static void a_part_is_as_it_would_be_in_the_whole(void)
{
    static uint8_t memory[IMAGE_END], some[IMAGE_END];
    const struct elf_part whole = {0, sizeof(memory), memory};
    struct elf_part part = {DATA_ADDRESS - 16, DATA_BYTES + ZEROED_BYTES + 16, some};
    struct handmade made = make();
    struct elf_image image;

    CHECK_EQUAL(parse(&made, &image), 0);
    elf_image_copy(&image, &whole);
    CHECK_EQUAL(elf_image_relocate(&image, &whole, LOAD_PLACE), 0);
    memset(some, 0xaa, sizeof(some));
    elf_image_copy(&image, &part);
    CHECK_EQUAL(elf_image_relocate(&image, &part, LOAD_PLACE), 0);
    CHECK(memcmp(some, memory + part.address, part.size_bytes) == 0);
    CHECK_EQUAL(some[part.size_bytes], 0xaa);
    /* Without the word that is relocated last, or first. */
    part.size_bytes -= ZEROED_BYTES;
    CHECK_EQUAL(elf_image_relocate(&image, &part, LOAD_PLACE), -ENOEXEC);
    part = (struct elf_part){DATA_ADDRESS + 1, DATA_BYTES + ZEROED_BYTES - 1, some};
    CHECK_EQUAL(elf_image_relocate(&image, &part, LOAD_PLACE), -ENOEXEC);
}

static void an_image_of_another_kind_is_refused(void)
{
    struct elf_image image = {.bytes = NULL};
    struct handmade made = make();

    CHECK_EQUAL(elf_image_parse("", 0, machine, &image), -ENOEXEC);
    made.header.e_ident[EI_MAG1] = 'F';
    CHECK_EQUAL(parse(&made, &image), -ENOEXEC);
    made = make();
    made.header.e_ident[EI_CLASS] = ELFCLASS32;
    CHECK_EQUAL(parse(&made, &image), -ENOEXEC);
    made = make();
    made.header.e_type = ET_EXEC;
    CHECK_EQUAL(parse(&made, &image), -ENOEXEC);
    made = make();
    made.header.e_machine = EM_386;
    CHECK_EQUAL(parse(&made, &image), -ENOEXEC);
    made = make();
    made.header.e_phnum = 0;
    CHECK_EQUAL(parse(&made, &image), -ENOEXEC);
    made.header.e_phnum = 65;
    CHECK_EQUAL(parse(&made, &image), -ENOEXEC);
    CHECK(image.bytes == NULL);
}

static void segments_with_something_wrong_are_refused(void)
{
    struct elf_image image;
    struct handmade made;

#define REFUSED(change)                                                                                                \
    do {                                                                                                               \
        made = make();                                                                                                 \
        change;                                                                                                        \
        CHECK_EQUAL(parse(&made, &image), -ENOEXEC);                                                                   \
    } while (0)

    REFUSED(made.header.e_phoff = UINT64_MAX - 8);
    REFUSED(made.header.e_phoff = sizeof(made) - 60);
    REFUSED(made.segments[1].p_filesz++);
    REFUSED(made.segments[1].p_filesz = UINT64_MAX);
    REFUSED(made.segments[1].p_memsz = DATA_BYTES - 1);
    REFUSED(made.segments[1].p_memsz = UINT64_MAX);
    REFUSED(made.segments[1].p_memsz = 1ull << 40);
    REFUSED(made.segments[1].p_offset = UINT64_MAX - 0xfff);
    REFUSED(made.segments[1].p_vaddr += 8);
    REFUSED(made.segments[1].p_vaddr = FIRST_BYTES & ~0xfffull);
    REFUSED(made.segments[1].p_vaddr += 1ull << 62);
    REFUSED(made.segments[1].p_align = 0x1001);
    REFUSED(made.segments[1].p_align = 1ull << 40);
    REFUSED(made.segments[2].p_vaddr = IMAGE_END);
    REFUSED(made.segments[3].p_vaddr = IMAGE_END);
    REFUSED(made.segments[3].p_memsz = UINT64_MAX);
    REFUSED(made.header.e_entry = IMAGE_END);
    REFUSED(made.dynamic[2].d_un.d_val = 16);
    REFUSED(made.dynamic[1].d_un.d_val = UINT64_MAX);
    REFUSED(made.dynamic[4].d_un.d_val = 1ull << 32);
#undef REFUSED
}

static void relocations_stay_inside_of_the_segments(void)
{
    static uint8_t memory[IMAGE_END];
    const struct elf_part whole = {0, sizeof(memory), memory};
    const uint64_t outside[] = {IMAGE_END, IMAGE_END - 7, UINT64_MAX, UINT64_MAX - 7, FIRST_BYTES - 7, FIRST_BYTES};

    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        struct handmade made = make();
        struct elf_image image;

        made.listed[1].r_offset = outside[i];
        CHECK_EQUAL(parse(&made, &image), 0);
        CHECK_EQUAL(elf_image_relocate(&image, &whole, LOAD_PLACE), -ENOEXEC);
        made = make();
        made.packed[0] = outside[i] & ~1ull;
        CHECK_EQUAL(parse(&made, &image), 0);
        CHECK_EQUAL(elf_image_relocate(&image, &whole, LOAD_PLACE), -ENOEXEC);
    }
}

static void images_that_need_others_are_not_self_contained(void)
{
    struct elf_image image;
    struct handmade made = make();

    made.dynamic[6] = (Elf64_Dyn){DT_NEEDED, {1}};
    CHECK_EQUAL(parse(&made, &image), 0);
    CHECK_EQUAL(image.needed_count, 1);
    CHECK_EQUAL(elf_image_check_self_contained(&image), -ENOEXEC);
    made.dynamic[6] = (Elf64_Dyn){DT_PLTRELSZ, {24}};
    CHECK_EQUAL(parse(&made, &image), 0);
    CHECK_EQUAL(elf_image_check_self_contained(&image), -ENOEXEC);
    made = make();
    made.segments[3].p_type = PT_TLS;
    CHECK_EQUAL(parse(&made, &image), 0);
    CHECK_EQUAL(elf_image_check_self_contained(&image), -ENOEXEC);
    made = make();
    made.listed[0].r_info = ELF64_R_INFO(1, R_X86_64_GLOB_DAT);
    CHECK_EQUAL(parse(&made, &image), 0);
    CHECK_EQUAL(elf_image_check_self_contained(&image), -ENOEXEC);
}

/* Does all that can be done with the bytes, in memory of exactly the sizes that were asked for. */
static bool try_bytes(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size != 0 ? size : 1);
    struct elf_image image;
    bool accepted = false;

    memcpy(exact, bytes, size);
    if (elf_image_parse(exact, size, machine, &image) == 0 && elf_image_span(&image) < 64 << 20) {
        struct elf_part whole = {image.low, elf_image_span(&image), malloc(elf_image_span(&image))};
        int self_contained = elf_image_check_self_contained(&image);

        elf_image_copy(&image, &whole);
        accepted = elf_image_relocate(&image, &whole, LOAD_PLACE) == 0 && self_contained == 0;
        free(whole.memory);
    }
    free(exact);
    return accepted;
}

static void mutate(uint8_t *bytes, size_t size)
{
    static const uint64_t interesting[] = {0, 1, 0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX, UINT64_MAX - 7};

    for (int changes = 1 + rand() % 4; changes > 0; changes--) {
        size_t at = (size_t)rand() % (rand() % 2 == 0 && size > 1024 ? 1024 : size);

        if (rand() % 2 == 0 && size - at >= 8)
            memcpy(bytes + at, &interesting[rand() % 6], 8);
        else
            bytes[at] = (uint8_t)rand();
    }
}

static void fuzz(const uint8_t *original, size_t size, int rounds)
{
    uint8_t *bytes = malloc(size);
    int accepted = 0;

    CHECK(try_bytes(original, size));
    for (size_t cut = 0; cut < size; cut += 1 + size / 1000)
        try_bytes(original, cut);
    for (int round = 0; round < rounds; round++) {
        memcpy(bytes, original, size);
        mutate(bytes, size);
        accepted += try_bytes(bytes, round % 8 == 0 ? (size_t)rand() % size : size);
    }
    /* Changes to plain data do no harm, others must have been refused. */
    CHECK(accepted > 0 && accepted < rounds);
    free(bytes);
}

static void truncated_and_mutated_images_are_refused_or_harmless(void)
{
    struct handmade made = make();
    size_t size;
    uint8_t *real;

    fuzz((const uint8_t *)&made, sizeof(made), MUTATIONS);
    real = core_image_read(CORE_IMAGE, &size);
    CHECK(real != NULL);
    if (real != NULL)
        fuzz(real, size, MUTATIONS / 60);
    free(real);
}

static const struct check_case cases[] = {
    CHECK_CASE(headers_become_segments_and_tables),
    CHECK_CASE(a_copy_is_relocated_to_its_load_address),
    CHECK_CASE(a_part_is_as_it_would_be_in_the_whole),
    CHECK_CASE(an_image_of_another_kind_is_refused),
    CHECK_CASE(segments_with_something_wrong_are_refused),
    CHECK_CASE(relocations_stay_inside_of_the_segments),
    CHECK_CASE(images_that_need_others_are_not_self_contained),
    CHECK_CASE(truncated_and_mutated_images_are_refused_or_harmless),
};

CHECK_MAIN(cases)
