/* SPDX-License-Identifier: Apache-2.0
 *
 * Which targets this library holds, which of them this machine runs, and which one a request means.
 *
 * A processor that has an instruction set is not enough: the system must save its registers when it switches threads.
 * __builtin_cpu_supports of GCC and Clang looks at CPUID alone in some releases, so XCR0 is read here as well. There is
 * no fallback from a target that was asked for: a measurement that silently ran something else would be worse than an
 * error.
 */
#include "simd/simd_kernel.h"
#include "simd_targets.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

static const char *const names[SLC_SIMD_TARGETS] = {
    [SLC_SIMD_C] = "c",
    [SLC_SIMD_SSE4] = "sse4",
    [SLC_SIMD_AVX2] = "avx2",
    [SLC_SIMD_AVX512VL128] = "avx512vl128",
    [SLC_SIMD_AVX512VL256] = "avx512vl256",
    [SLC_SIMD_AVX512] = "avx512",
    [SLC_SIMD_AVX512ICL] = "avx512icl",
    [SLC_SIMD_NEON] = "neon",
    [SLC_SIMD_SVE] = "sve",
};

#define COMPILED(target, TARGET) [SLC_SIMD_##TARGET] = true,
static const bool compiled[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(COMPILED)};

const char *slc_simd_name(slc_simd_target target)
{
    if (target == SLC_SIMD_AUTO) {
        return "auto";
    }
    return target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS ? names[target] : NULL;
}

bool slc_simd_compiled(slc_simd_target target)
{
    return target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && compiled[target];
}

/* ---- what the machine runs --------------------------------------------------------------------- */

/* A build with a shorter list of targets leaves some of these unused. */
#define RUNS(target) __attribute__((unused)) static bool runs_##target(void)

#if defined(__x86_64__)
/* Register sets that the system saves: XCR0 bits 1 and 2 are xmm and ymm, 5 to 7 mask registers and zmm. Bits above
 * those of XCR0 that are looked at: LZCNT is there; the word is known. */
enum { STATE_YMM = 0x06, STATE_ZMM = 0xe6, HAS_LZCNT = 0x100, KNOWN = 0x200 };

/* LZCNT and BMI decode as older instructions with other results where they are missing, so they are asked for too:
 * the builtin of GCC 12 and Clang 14 does not know "lzcnt" by name in both, CPUID 0x80000001 does. */
static unsigned ask_processor(void)
{
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0, found = KNOWN;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_OSXSAVE) != 0) {
        unsigned low = 0, high = 0;
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        found |= low & STATE_ZMM;
    }
    if (__get_cpuid(0x80000001U, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_LZCNT) != 0) {
        found |= HAS_LZCNT;
    }
    return found;
}

/* Once: CPUID under a hypervisor takes tens of microseconds, and opening a stage asks for many targets. Threads that
 * ask at once find the same. */
static bool has(unsigned wanted)
{
    static atomic_uint answer;
    unsigned found = atomic_load_explicit(&answer, memory_order_relaxed);
    if (found == 0) {
        found = ask_processor();
        atomic_store_explicit(&answer, found, memory_order_relaxed);
    }
    return (found & wanted) == wanted;
}

RUNS(sse4)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

RUNS(avx2)
{
    return runs_sse4() && has(STATE_YMM | HAS_LZCNT) && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

RUNS(avx512)
{
    return runs_avx2() && has(STATE_ZMM) && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
}

RUNS(avx512icl)
{
    return runs_avx512() && __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bitalg");
}

/* The three widths differ in the registers that the compiler may use, not in what the processor must have. */
RUNS(avx512vl128)
{
    return runs_avx512();
}

RUNS(avx512vl256)
{
    return runs_avx512();
}
#elif defined(__aarch64__)
/* Part of the architecture. */
RUNS(neon)
{
    return true;
}

RUNS(sve)
{
#if defined(__linux__)
    const unsigned long sve = 1UL << 22; /* HWCAP_SVE, whose header is Linux's alone */
    /* A column's spare memory is for vectors of SLC_COLUMN_ALIGN bytes; no processor with longer ones is known. */
    const int length = prctl(PR_SVE_GET_VL);
    const int bytes = length & PR_SVE_VL_LEN_MASK;
    /* Only powers of two are left in the architecture; kernels cut words of 32 bits into vectors' lanes. */
    return (getauxval(AT_HWCAP) & sve) != 0 && length > 0 && bytes <= SLC_COLUMN_ALIGN && (bytes & (bytes - 1)) == 0;
#else
    return false;
#endif
}
#endif

RUNS(c)
{
    return true;
}

#define RUNS_ROW(target, TARGET) [SLC_SIMD_##TARGET] = runs_##target,
static bool (*const runs[SLC_SIMD_TARGETS])(void) = {SIMD_FOR_EACH(RUNS_ROW)};

bool slc_simd_runs(slc_simd_target target)
{
    return slc_simd_compiled(target) && runs[target]();
}

/* ---- what a request means ---------------------------------------------------------------------- */

static slc_status cannot(const char *request, const char *asked_by, const char *why, slc_error *error)
{
    char list[128] = "auto";
    size_t end = strlen(list);
    for (int target = SLC_SIMD_C; target < SLC_SIMD_TARGETS; target++) {
        if (slc_simd_runs((slc_simd_target)target)) {
            const size_t size = strlen(names[target]);
            list[end] = ' ';
            memcpy(list + end + 1, names[target], size + 1);
            end += 1 + size;
        }
    }
    return slc_fail(error, SLC_ERR_USAGE, "%s '%.40s' %s; these can run: %s", asked_by, request, why, list);
}

slc_status slc_simd_choose(const char *request, slc_simd_target *target, slc_error *error)
{
    const char *asked_by = "instruction set";
    if (request == NULL) {
        request = getenv("SLUICE_SIMD");
        asked_by = "SLUICE_SIMD: instruction set";
    }
    if (request == NULL || request[0] == '\0' || strcmp(request, "auto") == 0) {
        *target = SLC_SIMD_AUTO;
        return SLC_OK;
    }
    for (int i = SLC_SIMD_C; i < SLC_SIMD_TARGETS; i++) {
        const slc_simd_target found = (slc_simd_target)i;
        if (strcmp(request, names[i]) != 0) {
            continue;
        }
        if (!slc_simd_compiled(found)) {
            return cannot(request, asked_by, "is not in this library", error);
        }
        if (!slc_simd_runs(found)) {
            return cannot(request, asked_by, "does not run on this machine", error);
        }
        *target = found;
        return SLC_OK;
    }
    return cannot(request, asked_by, "is unknown", error);
}

/* ---- kernels ----------------------------------------------------------------------------------- */

slc_simd_target slc_simd_kernel_choice(const slc_simd_kernel *kernel, slc_simd_target choice)
{
    if (choice != SLC_SIMD_AUTO) {
        assert(slc_simd_runs(choice)); /* a result of slc_simd_choose does */
        return choice;
    }
    for (size_t i = 0; i < SLC_SIMD_PREFERENCES && kernel->preference[i].ns > 0; i++) {
        if (slc_simd_runs(kernel->preference[i].target)) {
            return kernel->preference[i].target;
        }
    }
    int last = SLC_SIMD_TARGETS - 1;
    while (last > SLC_SIMD_C && !slc_simd_runs((slc_simd_target)last)) {
        last--;
    }
    return (slc_simd_target)last;
}

void *slc_simd_scratch(const slc_simd_case *bench)
{
    const size_t unit = SLC_COLUMN_ALIGN;
    const size_t bytes = (bench->scratch_bytes + unit - 1) / unit * unit;
    void *scratch = NULL;
    if (posix_memalign(&scratch, unit, bytes > 0 ? bytes : unit) != 0) {
        return NULL;
    }
    memset(scratch, 0, bytes);
    return scratch;
}

uint64_t slc_simd_digest(uint64_t seed, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t sum = seed ^ 1469598103934665603ULL; /* FNV-1a */
    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ at[i]) * 1099511628211ULL;
    }
    return sum;
}
