/* SPDX-License-Identifier: Apache-2.0
 *
 * What check programs share. They run every target of this machine against a formula or an oracle, and they
 * are built without cmocka, so that they can be cross-compiled and run under an emulator:
 *
 *     slc_check_begin(argc, argv);
 *     slc_check_targets(check_target, "add, join"); // check_target calls slc_check_values and slc_check_fail
 *     return slc_check_end();
 *
 * Random numbers come from support/random.h. A check prints its seed, a line for every target that ran or was
 * skipped, and fails where none ran.
 */
#ifndef SLUICE_CHECK_H
#define SLUICE_CHECK_H

#include <sluice/simd.h>

/* Reads the seed: the last argument that is a number, or SLUICE_SEED, or one that never changes. Prints it.
 */
void slc_check_begin(int argc, char **argv);
uint64_t slc_check_seed(void);

/* Is the target to be checked? Prints a skip where it is compiled but does not run here. Where SLUICE_SIMD
 * names a target, the others are skipped as well. */
bool slc_check_target(slc_simd_target target);

/* What is being done: told when a guard page is touched, or an instruction is unknown. The text must stay. */
void slc_check_doing(const char *text);
/* So many values agreed. */
void slc_check_values(uint64_t n);
/* A disagreement: one line on standard error for the first of a target, counted beyond. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void slc_check_fail(const char *format, ...);
/* Ends a target: "avx2: TEXT, 48 million values ok", or how many failures. A target without a value is a
 * failure. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void slc_check_passed(const char *format, ...);
/* The same for every target that is to be checked: `check` runs between slc_check_target and
 * slc_check_passed.
 */
void slc_check_targets(void (*check)(slc_simd_target target, uint64_t seed), const char *what);
/* The exit status. */
int slc_check_end(void);

/* Pages between two that may not be touched: first[0] .. end[-1]. Ends the program where there is no memory.
 */
typedef struct slc_check_memory {
    unsigned char *first, *end;
} slc_check_memory;
slc_check_memory slc_check_map(size_t bytes);
void slc_check_unmap(slc_check_memory *memory);

#endif
