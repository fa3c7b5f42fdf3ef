/* SPDX-License-Identifier: Apache-2.0
 *
 * Flatbuffers as their format's description has them ("FlatBuffers Internals"): a table is a distance to its
 * vtable and then its fields, a vtable tells where in the table each field is, a reference is the distance
 * from itself to the object, forward.
 */
#include "io/io_flatbuffer.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 30 }; /* references have 32 bits */

void slc_io_flat_reset(slc_io_flat *flat)
{
    flat->used = 0;
    flat->failed = false;
}

void slc_io_flat_clear(slc_io_flat *flat)
{
    free(flat->bytes);
    *flat = (slc_io_flat){.bytes = NULL};
}

/* Room for so many bytes more; what is there stays at the end. */
static bool grow(slc_io_flat *flat, size_t size)
{
    if (flat->failed || size > MOST - flat->used) {
        flat->failed = true;
        return false;
    }
    if (flat->room - flat->used >= size) {
        return true;
    }
    const size_t room = 2 * (flat->used + size) + 1024;
    uint8_t *bytes = malloc(room);
    if (bytes == NULL) {
        flat->failed = true;
        return false;
    }
    if (flat->used > 0) {
        memcpy(bytes + room - flat->used, flat->bytes + flat->room - flat->used, flat->used);
    }
    free(flat->bytes);
    flat->bytes = bytes;
    flat->room = room;
    return true;
}

static void push(slc_io_flat *flat, const void *bytes, size_t size)
{
    if (grow(flat, size)) {
        flat->used += size;
        if (size > 0) {
            memcpy(flat->bytes + flat->room - flat->used, bytes, size);
        }
    }
}

/* Zeros, so that what has `size` bytes and comes next begins on a multiple of `align`. */
static void align(slc_io_flat *flat, size_t align_to, size_t size)
{
    static const uint8_t zeros[8];
    push(flat, zeros, (align_to - (flat->used + size) % align_to) % align_to);
}

static void push_number(slc_io_flat *flat, size_t size, uint64_t value)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(value >> 8 * i);
    }
    push(flat, bytes, size);
}

static void push_reference(slc_io_flat *flat, slc_io_place to)
{
    push_number(flat, 4, flat->used + 4 - to);
}

static slc_io_place here(const slc_io_flat *flat)
{
    return (slc_io_place)flat->used;
}

slc_io_place slc_io_flat_string(slc_io_flat *flat, const char *text)
{
    const size_t size = strlen(text);
    align(flat, 4, size + 1);
    push(flat, text, size + 1);
    push_number(flat, 4, size);
    return here(flat);
}

slc_io_place slc_io_flat_vector(slc_io_flat *flat, const slc_io_place *items, size_t n)
{
    align(flat, 4, 0);
    for (size_t i = n; i > 0; i--) {
        push_reference(flat, items[i - 1]);
    }
    push_number(flat, 4, n);
    return here(flat);
}

slc_io_place slc_io_flat_structs(slc_io_flat *flat, const void *structs, size_t size, size_t n)
{
    align(flat, 8, 0);
    push(flat, structs, size * n);
    push_number(flat, 4, n);
    return here(flat);
}

void slc_io_flat_table(slc_io_flat *flat)
{
    memset(flat->field, 0, sizeof flat->field);
    flat->begin = flat->used;
}

void slc_io_flat_number(slc_io_flat *flat, unsigned field, size_t size, uint64_t value)
{
    align(flat, size, 0);
    push_number(flat, size, value);
    flat->field[field] = here(flat);
}

void slc_io_flat_object(slc_io_flat *flat, unsigned field, slc_io_place object)
{
    if (object != 0) {
        align(flat, 4, 0);
        push_reference(flat, object);
        flat->field[field] = here(flat);
    }
}

slc_io_place slc_io_flat_table_end(slc_io_flat *flat)
{
    size_t n = SLC_IO_FLAT_FIELDS;
    while (n > 0 && flat->field[n - 1] == 0) {
        n--;
    }
    align(flat, 4, 0);
    push_number(flat, 4, 4 + 2 * n); /* the vtable comes right before it */
    const slc_io_place table = here(flat);
    for (size_t i = n; i > 0; i--) {
        push_number(flat, 2, flat->field[i - 1] != 0 ? table - flat->field[i - 1] : 0);
    }
    push_number(flat, 2, table - flat->begin);
    push_number(flat, 2, 4 + 2 * n);
    return table;
}

const uint8_t *slc_io_flat_finish(slc_io_flat *flat, slc_io_place root, size_t *size)
{
    align(flat, 8, 4);
    push_reference(flat, root);
    *size = flat->used;
    return flat->failed ? NULL : flat->bytes + flat->room - flat->used;
}
