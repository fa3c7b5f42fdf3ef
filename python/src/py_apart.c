/* SPDX-License-Identifier: Apache-2.0
 * Whether rows that are written lie apart from all others: of stacks, whose images are labelled in any order.
 */
#include "py_stack.h"

#include <stdlib.h>

typedef struct span {
    uintptr_t first, behind;
    bool written;
} span;

static int by_place(const void *a, const void *b)
{
    const span *one = a, *other = b;
    return (one->first > other->first) - (one->first < other->first);
}

/* No span that is written has a byte in common with another one. */
static bool are_apart(span *spans, size_t n)
{
    uintptr_t behind = 0, behind_written = 0; /* of those so far */
    qsort(spans, n, sizeof *spans, by_place);
    for (size_t i = 0; i < n; i++) {
        if (spans[i].first < (spans[i].written ? behind : behind_written)) {
            return false;
        }
        behind = spans[i].behind > behind ? spans[i].behind : behind;
        if (spans[i].written && spans[i].behind > behind_written) {
            behind_written = spans[i].behind;
        }
    }
    return true;
}

static span span_of_rows(const stack_rows *of, size_t first, size_t last)
{
    const uintptr_t a = (uintptr_t)of->rows + (uintptr_t)of->stride * first,
                    b = (uintptr_t)of->rows + (uintptr_t)of->stride * last;
    return (span){a < b ? a : b, (a < b ? b : a) + of->row_bytes, of->written};
}

/* Of whole images, or of each row. False if memory lacks. */
static bool look(const stack_rows *blocks, size_t n, bool each_row, bool *apart)
{
    size_t room = 1, used = 0;
    for (size_t i = 0; i < n; i++) {
        room += each_row ? blocks[i].height : 1;
    }
    span *spans = calloc(room, sizeof *spans);
    for (size_t i = 0; i < n && spans != NULL; i++) {
        const size_t height = blocks[i].row_bytes > 0 ? blocks[i].height : 0, step = each_row ? 1 : height;
        for (size_t y = 0; y < height; y += step) {
            spans[used++] = span_of_rows(&blocks[i], y, y + step - 1);
        }
    }
    *apart = spans != NULL && are_apart(spans, used);
    const bool good = spans != NULL;
    free(spans);
    return good;
}

bool core_rows_apart(const stack_rows *blocks, size_t n, bool *apart)
{
    return look(blocks, n, false, apart) && (*apart || look(blocks, n, true, apart)); /* rows may alternate */
}
