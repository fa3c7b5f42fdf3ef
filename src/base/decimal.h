/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: numbers as decimal text, without the C library's formats: whatever the locale, and an
 * order of magnitude faster. A number with a fraction is written with the fewest digits that read back to the
 * same bits of its own type, and of these with the nearest: as "%g" notes them, 0.0001 and all up to 1e16
 * without an exponent. Not a number is "nan" whatever its sign, infinities are "inf" and "-inf".
 */
#ifndef SLUICE_BASE_DECIMAL_H
#define SLUICE_BASE_DECIMAL_H

#include <stdint.h>

/* A number has at most SLC_DECIMAL_F64 characters; each function may overwrite SLC_DECIMAL_ROOM bytes
 * from `to` on, and returns the place after the last character. No zero is put there. */
enum { SLC_DECIMAL_F32 = 17, SLC_DECIMAL_F64 = 24, SLC_DECIMAL_ROOM = 48 };

char *slc_decimal_u64(char *to, uint64_t value);
char *slc_decimal_i64(char *to, int64_t value);
/* These need slc_decimal_prepare, once in the process, in any thread. */
char *slc_decimal_f32(char *to, float value);
/* A thousandth of the decimal number that slc_decimal_f32 writes: another unit, and not a digit more. */
char *slc_decimal_f32_milli(char *to, float value);
char *slc_decimal_f64(char *to, double value);
void slc_decimal_prepare(void);

#endif
