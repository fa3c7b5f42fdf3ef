/* SPDX-License-Identifier: Apache-2.0
 * The two types of times (pet_coincidence_windows_of.h). Integers are apart as unsigned numbers, which no two
 * of them overflow. */
#include "pet/pet_coincidence_windows.h"

#include <stdlib.h>
#include <string.h>

#define TIME                  int64_t
#define SPAN                  uint64_t
#define APART(later, earlier) ((uint64_t)(later) - (uint64_t)(earlier))
#define NAMED(x)              x##_i64
#include "pet/pet_coincidence_windows_of.h"
#undef TIME
#undef SPAN
#undef APART
#undef NAMED

#define TIME                  double
#define SPAN                  double
#define APART(later, earlier) ((later) - (earlier))
#define NAMED(x)              x##_f64
#include "pet/pet_coincidence_windows_of.h"
