/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared memory that kernels declare: static variables of functions, which are found by their names in the
 * symbols of the program: kernels stand in anonymous namespaces, and so the mangled names begin in one way,
 * as those of sanitizers in the same program do not. Chance and options, too, which everything here depends
 * on.
 */
#include "simt_block.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <string>

namespace simt
{

namespace
{

struct variable {
    unsigned char *at;
    size_t size;
};

struct table {
    bool read, known;
    size_t bytes;
    std::vector<variable> variables;
};
table shared;

bool is_shared(const char *name)
{
    return strncmp(name, "_ZZN12_GLOBAL__N_1", 18) == 0;
}

int first_address(struct dl_phdr_info *info, size_t, void *address)
{
    *static_cast<uintptr_t *>(address) = info->dlpi_addr; /* of the program, which is the first */
    return 1;
}

void add_symbols(const std::string &file, const Elf64_Shdr *sections, size_t n_sections,
                 const Elf64_Shdr &table, uintptr_t address)
{
    const Elf64_Shdr &text = sections[table.sh_link];
    for (size_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, file.data() + table.sh_offset + i * sizeof symbol, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= n_sections ||
            (sections[symbol.st_shndx].sh_flags & SHF_WRITE) == 0 ||
            !is_shared(file.data() + text.sh_offset + symbol.st_name)) {
            continue;
        }
        shared.variables.push_back(
            {reinterpret_cast<unsigned char *>(address + symbol.st_value), symbol.st_size});
        shared.bytes += symbol.st_size;
    }
}

void read_symbols()
{
    std::string file;
    FILE *stream = fopen("/proc/self/exe", "rb");
    char piece[65536];
    size_t n = 0;
    while (stream != nullptr && (n = fread(piece, 1, sizeof piece, stream)) > 0) {
        file.append(piece, n);
    }
    if (stream != nullptr) {
        fclose(stream);
    }
    Elf64_Ehdr head;
    if (file.size() < sizeof head) {
        return;
    }
    memcpy(&head, file.data(), sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) {
        return;
    }
    uintptr_t address = 0;
    (void)dl_iterate_phdr(first_address, &address);
    std::vector<Elf64_Shdr> sections(head.e_shnum);
    memcpy(sections.data(), file.data() + head.e_shoff, sections.size() * sizeof(Elf64_Shdr));
    for (const Elf64_Shdr &section : sections) {
        if (section.sh_type == SHT_SYMTAB) {
            add_symbols(file, sections.data(), sections.size(), section, address);
            shared.known = true;
        }
    }
}

const table &known()
{
    if (!shared.read) {
        shared.read = true;
        read_symbols();
        if (!shared.known) {
            fprintf(stderr, "simt: the program has no symbols: shared memory is not poisoned, and one block "
                            "runs at a time\n");
        }
    }
    return shared;
}

/* Without a sanitizer's eyes, as what lies between variables is copied with them. */
#if defined(__x86_64__)
void copy_bytes(void *to, const void *from, size_t n)
{
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
}
void fill_bytes(void *to, int byte, size_t n)
{
    asm volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
}
#else
__attribute__((no_sanitize("address"))) void copy_bytes(void *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        static_cast<volatile unsigned char *>(to)[i] = static_cast<const volatile unsigned char *>(from)[i];
    }
}
__attribute__((no_sanitize("address"))) void fill_bytes(void *to, int byte, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        static_cast<volatile unsigned char *>(to)[i] = static_cast<unsigned char>(byte);
    }
}
#endif

} // namespace

size_t shared_bytes()
{
    return known().bytes;
}

bool shared_known()
{
    return known().known;
}

void shared_poison(uint64_t seed)
{
    for (const variable &v : known().variables) {
        fill_bytes(v.at, static_cast<int>(seed & 0xFF) | 1, v.size);
        seed = seed >> 8 | seed << 56;
    }
}

void shared_save(unsigned char *to)
{
    for (const variable &v : known().variables) {
        copy_bytes(to, v.at, v.size);
        to += v.size;
    }
}

void shared_load(const unsigned char *from)
{
    for (const variable &v : known().variables) {
        copy_bytes(v.at, from, v.size);
        from += v.size;
    }
}

/* ---- chance -------------------------------------------------------------------------------------- */

namespace
{
uint64_t row = 1, launches;
} // namespace

uint64_t option(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    if (text == nullptr || *text == '\0') {
        return otherwise;
    }
    char *end = nullptr;
    const uint64_t number = strtoull(text, &end, 0);
    if (*end != '\0') {
        fail("%s=%s is no number", name, text);
    }
    return number;
}

void random_begin()
{
    row = (option("SLUICE_SIMT_SEED", 1) + 1) * 0x9E3779B97F4A7C15ULL + ++launches * 0xD1B54A32D192ED03ULL;
}

/* Steele, Lea and Flood's splitmix64 (2014). */
uint64_t random_bits()
{
    uint64_t z = row += 0x9E3779B97F4A7C15ULL;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
    return z ^ z >> 31;
}

uint32_t random_below(uint32_t n)
{
    return static_cast<uint32_t>((random_bits() >> 32) * n >> 32);
}

} // namespace simt
