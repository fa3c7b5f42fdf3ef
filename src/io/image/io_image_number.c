/* SPDX-License-Identifier: Apache-2.0
 * Numbers of image files to pixels: byte order, colours, and floats where there is no pixel of the type. */
#include "io/image/io_image_number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    char kind;
    uint8_t bytes;
    slc_image_type type;
} numbers[] = {
    [SLC_IO_NUMBER_BOOL] = {'b', 1, SLC_IMAGE_U8},
    [SLC_IO_NUMBER_U8] = {'u', 1, SLC_IMAGE_U8},
    [SLC_IO_NUMBER_U16] = {'u', 2, SLC_IMAGE_U16},
    [SLC_IO_NUMBER_U32] = {'u', 4, SLC_IMAGE_U32},
    [SLC_IO_NUMBER_U64] = {'u', 8, SLC_IMAGE_F32},
    [SLC_IO_NUMBER_I8] = {'i', 1, SLC_IMAGE_F32},
    [SLC_IO_NUMBER_I16] = {'i', 2, SLC_IMAGE_F32},
    [SLC_IO_NUMBER_I32] = {'i', 4, SLC_IMAGE_F32},
    [SLC_IO_NUMBER_I64] = {'i', 8, SLC_IMAGE_F32},
    [SLC_IO_NUMBER_F16] = {'f', 2, SLC_IMAGE_F32},
    [SLC_IO_NUMBER_F32] = {'f', 4, SLC_IMAGE_F32},
    [SLC_IO_NUMBER_F64] = {'f', 8, SLC_IMAGE_F32},
    [SLC_IO_NUMBER_LABEL] = {'\0', 8, SLC_IMAGE_U64},
    [SLC_IO_NUMBER_WHOLE_I8] = {'\0', 1, SLC_IMAGE_U8},
    [SLC_IO_NUMBER_WHOLE_I16] = {'\0', 2, SLC_IMAGE_U16},
    [SLC_IO_NUMBER_WHOLE_I32] = {'\0', 4, SLC_IMAGE_U32},
    [SLC_IO_NUMBER_WHOLE_I64] = {'\0', 8, SLC_IMAGE_U64},
};

slc_io_number slc_io_number_of(char kind, uint64_t bytes)
{
    for (size_t i = SLC_IO_NUMBER_BOOL; i < SLC_IO_NUMBER_LABEL; i++) { /* those behind are no files' */
        if (numbers[i].kind == kind && numbers[i].bytes == bytes) {
            return (slc_io_number)i;
        }
    }
    return SLC_IO_NUMBER_NONE;
}

slc_io_number slc_io_number_label(slc_io_number number, bool values)
{
    if (values && numbers[number].kind == 'i') {
        return (slc_io_number)(SLC_IO_NUMBER_WHOLE_I8 + (number - SLC_IO_NUMBER_I8));
    }
    const bool whole = numbers[number].kind == 'u' || numbers[number].kind == 'i';
    const uint8_t bytes = numbers[number].bytes;
    return !whole ? number : bytes == 8 ? SLC_IO_NUMBER_LABEL : slc_io_number_of('u', bytes);
}

slc_image_type slc_io_number_type(slc_io_number number)
{
    return numbers[number].type;
}

bool slc_io_number_little_endian(void)
{
    const uint16_t one = 1;
    uint8_t low;
    memcpy(&low, &one, 1);
    return low == 1;
}

/* ---- one number ------------------------------------------------------------------------------ */

/* The number's bits, in this machine's order, in the low end of 64. */
static uint64_t load(const uint8_t *from, size_t size, bool swap)
{
    const bool little = slc_io_number_little_endian() != swap;
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++) {
        bits |= (uint64_t)from[i] << 8 * (little ? i : size - 1 - i);
    }
    return bits;
}

static int64_t sign_extended(uint64_t bits, size_t size)
{
    switch (size) {
    case 1:
        return (int8_t)bits;
    case 2:
        return (int16_t)bits;
    case 4:
        return (int32_t)bits;
    default:
        return (int64_t)bits;
    }
}

/* IEEE half precision: every value is a float, too. */
static float from_half(uint32_t half)
{
    const uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
    const float magnitude = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                            : exponent == 0 ? ldexpf((float)fraction, -24)
                                            : ldexpf((float)(fraction + 1024), (int)exponent - 25);
    return (half & 0x8000U) != 0 ? -magnitude : magnitude;
}

static double from_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* False if an integer is not exactly a float. Doubles are rounded. */
static bool to_float(slc_io_number number, uint64_t bits, float *value)
{
    switch (number) {
    case SLC_IO_NUMBER_U64:
        *value = (float)bits;
        return *value < 0x1p64F && (uint64_t)*value == bits;
    case SLC_IO_NUMBER_I8:
    case SLC_IO_NUMBER_I16:
    case SLC_IO_NUMBER_I32:
    case SLC_IO_NUMBER_I64: {
        const int64_t whole = sign_extended(bits, numbers[number].bytes);
        *value = (float)whole;
        return *value < 0x1p63F && (int64_t)*value == whole;
    }
    case SLC_IO_NUMBER_F16:
        *value = from_half((uint32_t)bits);
        return true;
    default:
        *value = (float)from_double(bits); /* IEEE 754: to the nearest; what is too large becomes infinity */
        return true;
    }
}

/* ---- rows of them ---------------------------------------------------------------------------- */

/* Types that pixels have: a copy, in the other byte order where asked. */
static size_t convert_same(const slc_io_image_unit *unit, const uint8_t *from, size_t n, void *to)
{
    const size_t size = unit->in;
    uint8_t *out = to;
    if (!unit->swap || size == 1) {
        memcpy(out, from, n * size);
    } else if (size == 2) {
        for (size_t i = 0; i < n; i++) {
            const uint8_t swapped[2] = {from[2 * i + 1], from[2 * i]};
            memcpy(out + 2 * i, swapped, 2);
        }
    } else if (size == 4) {
        for (size_t i = 0; i < n; i++) {
            const uint8_t swapped[4] = {from[4 * i + 3], from[4 * i + 2], from[4 * i + 1], from[4 * i]};
            memcpy(out + 4 * i, swapped, 4);
        }
    } else {
        for (size_t i = 0; i < n * size; i++) {
            out[i] = from[i ^ 7];
        }
    }
    return n;
}

/* Numbers with a sign, up to the first that is negative. */
static size_t convert_whole(const slc_io_image_unit *unit, const uint8_t *from, size_t n, void *to)
{
    const size_t high = slc_io_number_little_endian() != unit->swap ? unit->in - 1 : 0;
    size_t good = 0;
    while (good < n && from[good * unit->in + high] < 128) {
        good++;
    }
    return convert_same(unit, from, good, to);
}

static size_t convert_bool(const slc_io_image_unit *unit, const uint8_t *from, size_t n, void *to)
{
    (void)unit;
    for (size_t i = 0; i < n; i++) {
        ((uint8_t *)to)[i] = from[i] != 0;
    }
    return n;
}

static size_t convert_float(const slc_io_image_unit *unit, const uint8_t *from, size_t n, void *to)
{
    for (size_t i = 0; i < n; i++) {
        float value = 0;
        if (!to_float((slc_io_number)unit->kind, load(from + i * unit->in, unit->in, unit->swap), &value)) {
            return i;
        }
        ((float *)to)[i] = value;
    }
    return n;
}

/* Three samples of red, green and blue; a fourth is stepped over. */
static size_t convert_colour(const slc_io_image_unit *unit, const uint8_t *from, size_t n, void *to)
{
    const size_t size = unit->out;
    for (size_t i = 0; i < n; i++, from += unit->in) {
        const uint32_t grey = slc_io_image_luma((uint32_t)load(from, size, unit->swap),
                                                (uint32_t)load(from + size, size, unit->swap),
                                                (uint32_t)load(from + 2 * size, size, unit->swap));
        if (size == 1) {
            ((uint8_t *)to)[i] = (uint8_t)grey;
        } else {
            ((uint16_t *)to)[i] = (uint16_t)grey;
        }
    }
    return n;
}

static void explain(const slc_io_image_unit *unit, const uint8_t *from, char *text, size_t size)
{
    const uint64_t bits = load(from, unit->in, unit->swap);
    char value[40];
    if (unit->kind >= SLC_IO_NUMBER_WHOLE_I8) {
        (void)snprintf(text, size, "%lld is negative: labels are whole numbers from 0 up",
                       (long long)sign_extended(bits, unit->in));
        return;
    }
    if (unit->kind == SLC_IO_NUMBER_U64) {
        (void)snprintf(value, sizeof value, "%llu", (unsigned long long)bits);
    } else {
        (void)snprintf(value, sizeof value, "%lld", (long long)sign_extended(bits, unit->in));
    }
    (void)snprintf(text, size,
                   "%s is no 32-bit float, which pixels of this type become: convert the image to u8, u16, "
                   "u32 or f32",
                   value);
}

slc_io_image_unit slc_io_number_unit(slc_io_number number, bool swap)
{
    const bool to_f32 = numbers[number].type == SLC_IMAGE_F32 && number != SLC_IO_NUMBER_F32;
    const size_t bytes = numbers[number].bytes;
    return (slc_io_image_unit){.in = bytes,
                               .out = to_f32 ? 4 : bytes,
                               .convert = to_f32                             ? convert_float
                                          : number == SLC_IO_NUMBER_BOOL     ? convert_bool
                                          : number >= SLC_IO_NUMBER_WHOLE_I8 ? convert_whole
                                                                             : convert_same,
                               .explain = explain,
                               .kind = (int)number,
                               .swap = swap};
}

slc_io_image_unit slc_io_number_colour_unit(slc_io_number number, bool swap, size_t samples)
{
    slc_io_image_unit unit = slc_io_number_unit(number, swap);
    unit.in *= samples;
    unit.convert = convert_colour;
    return unit;
}
