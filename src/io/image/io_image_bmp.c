/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading BMP: uncompressed pixels of 1 to 32 bits, of a palette, of bytes or of fields of bits, from the
 * bottom up or from the top down. Rows are read as they stand in the file; one that begins at the bottom is
 * turned round at the end. docs/formats/bmp.md.
 */
#include "base/bytes.h"
#include "io/image/io_image_source.h"

#include <string.h>

enum {
    FILE_HEAD = 14,
    CORE_HEAD = 12, /* of OS/2: sizes of 16 bits, palette of three bytes a colour */
    INFO_HEAD = 40,
    MASKS = 12, /* behind INFO_HEAD, and in all larger heads */
    MOST_HEAD = 124,
    MOST_COLOURS = 256
};
enum { PLAIN = 0, RLE8 = 1, RLE4 = 2, FIELDS = 3, JPEG = 4, PNG = 5, ALPHA_FIELDS = 6 };

/* Red, green or blue in a pixel of 16 or 32 bits. */
typedef struct field {
    uint32_t mask;
    int shift;
    uint32_t most;
} field;

typedef struct bmp {
    uint32_t width, height, bits, compression, n_colours;
    bool top_down;
    uint64_t begin; /* of the pixels in the file */
    field fields[3];
    uint8_t palette[MOST_COLOURS]; /* as grey */
} bmp;

static bool probe(const uint8_t *bytes, size_t size)
{
    /* "BM" begins many a text: the size of the head that follows tells. */
    const uint32_t head = size >= FILE_HEAD + 2 ? slc_load_u16(bytes + FILE_HEAD) : 0;
    return size >= SLC_IO_IMAGE_PROBE && memcmp(bytes, "BM", 2) == 0 && head >= CORE_HEAD &&
           head <= MOST_HEAD;
}

static slc_status bad(const slc_io_images *images, slc_error *error, slc_status status, uint64_t place,
                      const char *what, unsigned long long number)
{
    return slc_io_image_fail(images, error, status, place, "%s: %llu", what, number);
}

/* ---- heads --------------------------------------------------------------------------------------- */

/* Shows `size` bytes that must be there. */
static slc_status need(slc_io_images *images, size_t size, const uint8_t **bytes, slc_error *error)
{
    size_t visible = 0;
    const slc_status status = slc_io_stream_peek(&images->stream, size, bytes, &visible, error);
    if (status == SLC_OK && visible < size) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, images->stream.offset + visible,
                                 "the file ends: %zu of %zu bytes are missing", size - visible, size);
    }
    return status;
}

static slc_status check_head(const slc_io_images *images, const bmp *b, uint32_t planes, slc_error *error)
{
    static const char *const words[] = {[RLE8] = "RLE8", [RLE4] = "RLE4", [JPEG] = "JPEG", [PNG] = "PNG"};
    const bool known = b->bits == 1 || b->bits == 4 || b->bits == 8 || b->bits == 16 || b->bits == 24 ||
                       b->bits == 32;
    const bool fields = b->compression == FIELDS || b->compression == ALPHA_FIELDS;
    if (planes != 1) {
        return bad(images, error, SLC_ERR_FORMAT, FILE_HEAD, "planes, of which there is one in every BMP",
                   planes);
    }
    if (b->compression == RLE8 || b->compression == RLE4 || b->compression == JPEG || b->compression == PNG) {
        return slc_io_image_fail(images, error, SLC_ERR_UNSUPPORTED, FILE_HEAD + 16,
                                 "pixels are compressed (%s); plain ones are read", words[b->compression]);
    }
    if (!known || (b->compression != PLAIN && !fields)) {
        return bad(images, error, SLC_ERR_FORMAT, FILE_HEAD,
                   known ? "no compression of BMP" : "no number of bits of a pixel",
                   known ? b->compression : b->bits);
    }
    if (fields && b->bits != 16 && b->bits != 32) {
        return bad(images, error, SLC_ERR_FORMAT, FILE_HEAD,
                   "fields in pixels of another number of bits than 16, 32", b->bits);
    }
    return SLC_OK;
}

static field make_field(uint32_t mask)
{
    const int shift = mask != 0 ? __builtin_ctz(mask) : 0;
    return (field){.mask = mask, .shift = shift, .most = mask >> shift};
}

static slc_status take_fields(const slc_io_images *images, bmp *b, const uint8_t *masks, slc_error *error)
{
    static const uint32_t usual[2][3] = {{0x7c00, 0x3e0, 0x1f}, {0xff0000, 0xff00, 0xff}};
    for (int i = 0; i < 3; i++) {
        const uint32_t mask = masks != NULL ? slc_load_u32(masks + 4 * i) : usual[b->bits == 32][i];
        b->fields[i] = make_field(mask);
        if (mask == 0 || (b->fields[i].most & (b->fields[i].most + 1)) != 0 ||
            (b->bits == 16 && mask > 0xffff)) {
            return bad(images, error, SLC_ERR_FORMAT, FILE_HEAD + INFO_HEAD + 4 * (uint64_t)i,
                       "a mask of colours that is no row of bits", mask);
        }
    }
    return SLC_OK;
}

/* The palette behind the head of `head` bytes. */
static slc_status take_palette(slc_io_images *images, bmp *b, size_t head, slc_error *error)
{
    const size_t entry = head == CORE_HEAD ? 3 : 4, at = FILE_HEAD + head;
    const uint32_t most = 1U << b->bits;
    const uint8_t *bytes;
    b->n_colours = b->n_colours == 0 ? most : b->n_colours;
    if (b->n_colours > most) {
        return bad(images, error, SLC_ERR_FORMAT, FILE_HEAD + 32,
                   "colours in the palette, more than pixels can tell", b->n_colours);
    }
    /* A palette of OS/2 may be cut by the pixels. */
    const uint64_t fits = b->begin > at ? (b->begin - at) / entry : 0;
    b->n_colours = fits < b->n_colours ? (uint32_t)fits : b->n_colours;
    const slc_status status = need(images, at + b->n_colours * entry, &bytes, error);
    for (uint32_t i = 0; status == SLC_OK && i < b->n_colours; i++) {
        const uint8_t *c = bytes + at + i * entry;
        b->palette[i] = images->config.labels ? (uint8_t)i : (uint8_t)slc_io_image_luma(c[2], c[1], c[0]);
    }
    return status;
}

/* Of OS/2, and of Windows' versions; one of OS/2 2 has more than the usual one, which does not matter. */
static bool is_head(size_t size)
{
    return size == CORE_HEAD || size == INFO_HEAD || size == 52 || size == 56 || size == 64 || size == 108 ||
           size == MOST_HEAD;
}

static slc_status read_head(slc_io_images *images, bmp *b, slc_error *error)
{
    const uint8_t *h;
    slc_status status = need(images, FILE_HEAD + 4, &h, error);
    const size_t head = status == SLC_OK ? slc_load_u32(h + FILE_HEAD) : 0;
    if (status == SLC_OK && !is_head(head)) {
        return bad(images, error, SLC_ERR_UNSUPPORTED, FILE_HEAD, "no size of a head that is read", head);
    }
    status = status == SLC_OK ? need(images, FILE_HEAD + head, &h, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    const uint8_t *info = h + FILE_HEAD;
    const bool core = head == CORE_HEAD;
    const uint32_t down = core ? slc_load_u16(info + 6) : slc_load_u32(info + 8);
    b->begin = slc_load_u32(h + 10);
    b->width = core ? slc_load_u16(info + 4) : slc_load_u32(info + 4);
    b->top_down = !core && down >> 31 != 0;
    b->height = b->top_down ? 0U - down : down;
    b->bits = slc_load_u16(info + (core ? 10 : 14));
    b->compression = core ? PLAIN : slc_load_u32(info + 16);
    b->n_colours = core ? 0 : slc_load_u32(info + 32);
    status = check_head(images, b, slc_load_u16(info + (core ? 8 : 12)), error);
    if (status == SLC_OK && b->bits <= 8) {
        return take_palette(images, b, head, error);
    }
    const bool fields = b->compression != PLAIN;
    status = status == SLC_OK ? slc_io_image_colours(images, error) : status;
    if (status == SLC_OK && fields && head < INFO_HEAD + MASKS) {
        status = need(images, FILE_HEAD + INFO_HEAD + MASKS, &h, error);
    }
    return status == SLC_OK && b->bits != 24
               ? take_fields(images, b, fields ? h + FILE_HEAD + INFO_HEAD : NULL, error)
               : status;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* A part of a colour as a byte, rounded. */
static uint32_t part_of(const field *f, uint32_t pixel)
{
    const uint64_t value = (pixel & f->mask) >> f->shift;
    return (uint32_t)((value * 255 + f->most / 2) / f->most);
}

/* Grey of the pixels of a row; how many there are before one that cannot be. */
static size_t convert_row(const bmp *b, const uint8_t *from, uint8_t *to)
{
    for (size_t x = 0; x < b->width; x++) {
        if (b->bits <= 8) {
            const size_t bit = x * b->bits;
            const uint32_t colour = (uint32_t)from[bit / 8] >> (8 - b->bits - bit % 8) &
                                    ((1U << b->bits) - 1);
            if (colour >= b->n_colours) {
                return x;
            }
            to[x] = b->palette[colour];
        } else if (b->bits == 24) {
            to[x] = (uint8_t)slc_io_image_luma(from[3 * x + 2], from[3 * x + 1], from[3 * x]);
        } else {
            const uint32_t pixel = b->bits == 16 ? slc_load_u16(from + 2 * x) : slc_load_u32(from + 4 * x);
            to[x] = (uint8_t)slc_io_image_luma(part_of(&b->fields[0], pixel), part_of(&b->fields[1], pixel),
                                               part_of(&b->fields[2], pixel));
        }
    }
    return b->width;
}

static void turn_round(slc_io_images *images)
{
    const size_t row = images->row_bytes, rows = images->image.height;
    for (size_t y = 0; y < rows / 2; y++) {
        uint8_t *a = images->pixels + y * row, *z = images->pixels + (rows - 1 - y) * row;
        for (size_t x = 0; x < row; x++) {
            const uint8_t other = a[x];
            a[x] = z[x];
            z[x] = other;
        }
    }
}

static slc_status read_rows(slc_io_images *images, const bmp *b, slc_error *error)
{
    const size_t in = (size_t)(((uint64_t)b->width * b->bits + 31) / 32 * 4);
    slc_status status = SLC_OK;
    for (size_t y = 0; status == SLC_OK && y < b->height; y++) {
        const uint8_t *bytes;
        status = need(images, in, &bytes, error);
        status = status == SLC_OK ? slc_io_image_grow(images, (y + 1) * images->row_bytes, error) : status;
        if (status != SLC_OK) {
            break;
        }
        const size_t good = convert_row(b, bytes, images->pixels + y * images->row_bytes);
        if (good < b->width) {
            return bad(images, error, SLC_ERR_FORMAT, images->stream.offset + good * b->bits / 8,
                       "a pixel has a colour number beyond the palette, whose size is", b->n_colours);
        }
        slc_io_stream_skip(&images->stream, in);
    }
    return status;
}

/* Goes over what is between the heads and the pixels. */
static slc_status go_to_pixels(slc_io_images *images, const bmp *b, slc_error *error)
{
    enum { PIECE = 1 << 16 };
    slc_status status = SLC_OK;
    for (uint64_t left = b->begin; status == SLC_OK && left > 0;) {
        const uint8_t *bytes;
        const size_t some = left < PIECE ? (size_t)left : PIECE;
        status = need(images, some, &bytes, error);
        if (status == SLC_OK) {
            slc_io_stream_skip(&images->stream, some);
            left -= some;
        }
    }
    return status;
}

static slc_status next(slc_io_images *images, slc_error *error)
{
    bmp b = {.bits = 0};
    if (images->page > 1) {
        return SLC_END;
    }
    slc_status status = read_head(images, &b, error);
    if (status == SLC_OK && b.begin < FILE_HEAD + CORE_HEAD) {
        return bad(images, error, SLC_ERR_FORMAT, 10, "pixels begin within the heads, at byte", b.begin);
    }
    status = status == SLC_OK ? slc_io_image_shape(images, SLC_IMAGE_U8, b.width, b.height, error) : status;
    status = status == SLC_OK ? go_to_pixels(images, &b, error) : status;
    status = status == SLC_OK ? read_rows(images, &b, error) : status;
    if (status == SLC_OK && !b.top_down) {
        turn_round(images);
    }
    return status;
}

const slc_io_image_format slc_io_image_bmp = {.name = "bmp", .alone = true, .probe = probe, .next = next};
