/* SPDX-License-Identifier: Apache-2.0
 * What the tags of a TIFF page say about its samples, and the way from samples to pixels. */
#include "io/image/io_image_tiff.h"

#include <string.h>

/* ---- tags ------------------------------------------------------------------------------------ */

#define UNSUPPORTED(...) slc_io_image_fail(images, error, SLC_ERR_UNSUPPORTED, SLC_IO_NO_PLACE, __VA_ARGS__)

static slc_status read_tags(slc_io_images *images, TIFF *tiff, slc_tiff_page *page, slc_error *error)
{
    *page = (slc_tiff_page){.photometric = PHOTOMETRIC_MINISBLACK};
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &page->width) ||
        !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &page->height)) {
        return slc_tiff_fail(images, error, "the page has no width or no height");
    }
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &page->bits);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &page->samples);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &page->format);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &page->planar);
    (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &page->compression);
    (void)TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &page->photometric);
    if (!TIFFIsCODECConfigured(page->compression) || page->compression == COMPRESSION_OJPEG) {
        return UNSUPPORTED("compression %u is not supported", page->compression);
    }
    /* JPEG keeps colours as YCbCr; its codec turns them into RGB where asked. */
    if (page->compression == COMPRESSION_JPEG && page->photometric == PHOTOMETRIC_YCBCR &&
        page->planar == PLANARCONFIG_CONTIG) {
        (void)TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        page->photometric = PHOTOMETRIC_RGB;
    }
    return SLC_OK;
}

/* ---- meaning --------------------------------------------------------------------------------- */

static slc_status take_palette(slc_io_images *images, TIFF *tiff, slc_tiff_page *page, slc_error *error)
{
    const uint16_t *red, *green, *blue;
    const bool known = page->bits == 1 || page->bits == 2 || page->bits == 4 || page->bits == 8;
    if (!known || page->samples != 1 || !TIFFGetField(tiff, TIFFTAG_COLORMAP, &red, &green, &blue)) {
        return UNSUPPORTED("a palette for %u samples of %u bits: one of 1, 2, 4 or 8 can be read",
                           page->samples, page->bits);
    }
    /* Colours have 16 bits; there are programs that write them in 8. */
    unsigned shift = 0;
    for (size_t i = 0; i < (size_t)1 << page->bits; i++) {
        shift = red[i] > 255 || green[i] > 255 || blue[i] > 255 ? 8 : shift;
    }
    for (size_t i = 0; i < (size_t)1 << page->bits; i++) {
        page->palette[i] = images->config.labels ? (uint8_t)i
                                                 : (uint8_t)slc_io_image_luma(
                                                       red[i] >> shift, green[i] >> shift, blue[i] >> shift);
    }
    page->meaning = SLC_TIFF_PALETTE;
    return SLC_OK;
}

/* Samples of whole bytes: grey or three colours of a number that NPY has as well. */
static slc_status take_numbers(slc_io_images *images, slc_tiff_page *page, bool colour, slc_error *error)
{
    const char kind = page->format == SAMPLEFORMAT_INT                                         ? 'i'
                      : page->format == SAMPLEFORMAT_IEEEFP                                    ? 'f'
                      : page->format == SAMPLEFORMAT_UINT || page->format == SAMPLEFORMAT_VOID ? 'u'
                                                                                               : '\0';
    slc_io_number number = page->bits % 8 == 0 ? slc_io_number_of(kind, page->bits / 8U) : SLC_IO_NUMBER_NONE;
    if (number == SLC_IO_NUMBER_NONE) {
        return UNSUPPORTED("samples of %u bits in sample format %u are not supported", page->bits,
                           page->format);
    }
    number = images->config.labels && !colour ? slc_io_number_label(number, images->config.label_values)
                                              : number;
    page->unit = slc_io_number_unit(number, false); /* libtiff has put them into this machine's order */
    const bool is_pixel = (kind == 'u' && page->bits <= 32) || number == SLC_IO_NUMBER_F32;
    if (colour && (!is_pixel || page->samples < 3)) {
        return UNSUPPORTED("%u samples of colours in %u bits of sample format %u are not supported",
                           page->samples, page->bits, page->format);
    }
    if (page->inverted && (kind != 'u' || number >= SLC_IO_NUMBER_LABEL)) {
        return UNSUPPORTED("min-is-white for numbers with a sign, a fraction or 64 bits is not supported");
    }
    if (colour) {
        const slc_status status = slc_io_image_colours(images, error);
        if (status != SLC_OK) {
            return status;
        }
    }
    page->meaning = colour ? SLC_TIFF_COLOUR : SLC_TIFF_GREY;
    return SLC_OK;
}

static slc_status take_meaning(slc_io_images *images, TIFF *tiff, slc_tiff_page *page, slc_error *error)
{
    if (page->photometric == PHOTOMETRIC_PALETTE) {
        return take_palette(images, tiff, page, error);
    }
    const bool colour = page->photometric == PHOTOMETRIC_RGB;
    if (!colour && page->photometric != PHOTOMETRIC_MINISBLACK &&
        page->photometric != PHOTOMETRIC_MINISWHITE) {
        return UNSUPPORTED("photometric interpretation %u is not supported: grey, palette and RGB are",
                           page->photometric);
    }
    page->inverted = page->photometric == PHOTOMETRIC_MINISWHITE;
    const bool small = page->bits == 1 || page->bits == 2 || page->bits == 4;
    const bool packed = page->bits == 10 || page->bits == 12 || page->bits == 14;
    if ((small || packed) && !colour && page->samples == 1 &&
        (page->format == SAMPLEFORMAT_UINT || page->format == SAMPLEFORMAT_VOID)) {
        page->meaning = packed ? SLC_TIFF_PACKED : page->bits == 1 ? SLC_TIFF_BITS : SLC_TIFF_SMALL;
        return SLC_OK;
    }
    return take_numbers(images, page, colour, error);
}

/* ---- layout ---------------------------------------------------------------------------------- */

static slc_status take_layout(slc_io_images *images, TIFF *tiff, slc_tiff_page *page, slc_error *error)
{
    page->tiled = TIFFIsTiled(tiff) != 0;
    page->part_width = page->width;
    const bool apart = page->planar == PLANARCONFIG_SEPARATE;
    page->planes = apart && page->meaning == SLC_TIFF_COLOUR ? 3 : 1;
    if (page->tiled) {
        (void)TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &page->part_width);
        (void)TIFFGetField(tiff, TIFFTAG_TILELENGTH, &page->part_height);
    } else {
        (void)TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &page->part_height);
        page->part_height = page->part_height > page->height ? page->height : page->part_height;
    }
    page->part_row_bytes = page->tiled ? TIFFTileRowSize64(tiff) : TIFFScanlineSize64(tiff);
    /* The same by the tags: what is converted must be what is decoded. */
    const uint64_t samples = (uint64_t)page->part_width * (apart ? 1U : page->samples);
    if (page->part_width == 0 || page->part_height == 0 ||
        page->part_row_bytes != (samples * page->bits + 7) / 8 ||
        (page->tiled && page->part_width % 16 != 0)) {
        return slc_tiff_fail(images, error, "the layout of strips or tiles does not fit the page");
    }
    if (page->part_row_bytes > images->config.max_bytes / page->part_height) {
        return UNSUPPORTED("a %s needs more than the limit of %zu bytes", page->tiled ? "tile" : "strip",
                           images->config.max_bytes);
    }
    return SLC_OK;
}

/* Tells of the samples of a pixel that are not read. */
static void tell_samples(slc_io_images *images, TIFF *tiff, const slc_tiff_page *page)
{
    const unsigned read = page->meaning == SLC_TIFF_COLOUR ? 3 : 1, left = page->samples - read;
    uint16_t n = 0;
    const uint16_t *kinds = NULL;
    if (page->samples <= read) {
        return;
    }
    const bool alpha = left == 1 && TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &n, &kinds) && n == 1 &&
                       (kinds[0] == EXTRASAMPLE_ASSOCALPHA || kinds[0] == EXTRASAMPLE_UNASSALPHA);
    slc_io_image_warn(images, "of the %u samples of each pixel the last%s %s not read", page->samples,
                      alpha ? ", alpha," : "", left == 1 ? "is" : "ones are");
}

slc_status slc_tiff_describe(slc_io_images *images, slc_error *error)
{
    slc_tiff_state *state = images->state;
    slc_tiff_page *page = &state->page;
    slc_status status = read_tags(images, state->tiff, page, error);
    if (status == SLC_OK) {
        status = take_meaning(images, state->tiff, page, error);
    }
    if (status != SLC_OK) {
        return status;
    }
    const slc_image_type type = page->meaning == SLC_TIFF_BITS     ? SLC_IMAGE_BITS
                                : page->meaning == SLC_TIFF_PACKED ? SLC_IMAGE_U16
                                : page->meaning == SLC_TIFF_GREY || page->meaning == SLC_TIFF_COLOUR
                                    ? slc_io_number_type((slc_io_number)page->unit.kind)
                                    : SLC_IMAGE_U8;
    images->in_parts = true;
    status = slc_io_image_shape(images, type, page->width, page->height, error);
    status = status == SLC_OK ? take_layout(images, state->tiff, page, error) : status;
    if (status == SLC_OK) {
        tell_samples(images, state->tiff, page);
    }
    return status;
}

/* ---- samples to pixels ----------------------------------------------------------------------- */

static void convert_bits(const uint8_t *from, uint8_t *to, size_t n)
{
    for (size_t i = 0; i < (n + 7) / 8; i++) {
        to[i] = slc_io_image_reverse(from[i]);
    }
}

/* 2 and 4 bits, and numbers of colours of 1, 2, 4 and 8. */
static void convert_small(const slc_tiff_page *page, const uint8_t *from, uint8_t *to, size_t n)
{
    const unsigned bits = page->bits, most = (1U << bits) - 1;
    for (size_t i = 0; i < n; i++) {
        const unsigned value = from[i * bits / 8] >> (8 - bits - i * bits % 8) & most;
        to[i] = page->meaning == SLC_TIFF_PALETTE
                    ? page->palette[value]
                    : (uint8_t)((page->inverted ? most - value : value) * (255 / most));
    }
}

/* Numbers of 10, 12 or 14 bits, the highest bit first. Of a row no byte behind its last number is read. */
static void convert_packed(const slc_tiff_page *page, const uint8_t *from, uint8_t *to, size_t n)
{
    const size_t bits = page->bits;
    const unsigned most = (1U << bits) - 1;
    for (size_t i = 0; i < n; i++) {
        const size_t at = i * bits, bytes = (at % 8 + bits + 7) / 8;
        unsigned wide = 0;
        for (size_t k = 0; k < bytes; k++) {
            wide = wide << 8 | from[at / 8 + k];
        }
        const unsigned value = wide >> (8 * bytes - at % 8 - bits) & most;
        const uint16_t pixel = (uint16_t)(page->inverted ? most - value : value);
        memcpy(to + i * sizeof pixel, &pixel, sizeof pixel);
    }
}

static void invert(slc_image_type type, uint8_t *pixels, size_t n)
{
    const size_t size = type == SLC_IMAGE_U8 ? 1 : type == SLC_IMAGE_U16 ? 2 : 4;
    for (size_t i = 0; i < n * size; i++) {
        pixels[i] = (uint8_t)~pixels[i];
    }
}

static double sample_at(const uint8_t *at, slc_image_type type)
{
    uint16_t two;
    uint32_t four;
    float real;
    switch (type) {
    case SLC_IMAGE_U8:
        return *at;
    case SLC_IMAGE_U16:
        memcpy(&two, at, 2);
        return two;
    case SLC_IMAGE_U32:
        memcpy(&four, at, 4);
        return four;
    default:
        memcpy(&real, at, 4);
        return (double)real;
    }
}

/* Three samples a pixel, `step` bytes from pixel to pixel. Integers are exact in double. */
static void convert_colour(const uint8_t *const plane[3], size_t step, slc_image_type type, void *to,
                           size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double red = sample_at(plane[0] + i * step, type), green = sample_at(plane[1] + i * step, type);
        const double blue = sample_at(plane[2] + i * step, type);
        if (type == SLC_IMAGE_F32) {
            ((float *)to)[i] = (float)((299 * red + 587 * green + 114 * blue) / 1000);
            continue;
        }
        const uint32_t grey = slc_io_image_luma((uint32_t)red, (uint32_t)green, (uint32_t)blue);
        if (type == SLC_IMAGE_U8) {
            ((uint8_t *)to)[i] = (uint8_t)grey;
        } else if (type == SLC_IMAGE_U16) {
            ((uint16_t *)to)[i] = (uint16_t)grey;
        } else {
            ((uint32_t *)to)[i] = grey;
        }
    }
}

/* Grey numbers; where there are further samples (alpha), the first of each pixel. */
static slc_status convert_grey(slc_io_images *images, const uint8_t *from, size_t step, uint8_t *to, size_t n,
                               slc_error *error)
{
    const slc_tiff_state *state = images->state;
    const slc_io_image_unit *unit = &state->page.unit;
    const bool dense = step == unit->in;
    for (size_t done = 0; done < n;) {
        const size_t ask = dense ? n - done : 1;
        const size_t good = unit->convert(unit, from + done * step, ask, to + done * unit->out);
        done += good;
        if (good < ask) {
            return slc_io_image_refuse(images, unit, from + done * step, SLC_IO_NO_PLACE, error);
        }
    }
    if (state->page.inverted) {
        invert(images->image.type, to, n);
    }
    return SLC_OK;
}

slc_status slc_tiff_convert(slc_io_images *images, uint32_t row, size_t y, size_t x, size_t n,
                            slc_error *error)
{
    const slc_tiff_state *state = images->state;
    const slc_tiff_page *page = &state->page;
    const size_t offset = (size_t)(row * page->part_row_bytes);
    const uint8_t *from = state->part[0] + offset;
    uint8_t *to = images->pixels + y * images->row_bytes;
    const size_t step = page->planar == PLANARCONFIG_SEPARATE ? page->unit.in : page->unit.in * page->samples;
    switch (page->meaning) {
    case SLC_TIFF_BITS:
        convert_bits(from, to + x / 8, n);
        return SLC_OK;
    case SLC_TIFF_PACKED:
        convert_packed(page, from, to + x * sizeof(uint16_t), n);
        return SLC_OK;
    case SLC_TIFF_GREY:
        return convert_grey(images, from, step, to + x * page->unit.out, n, error);
    case SLC_TIFF_COLOUR: {
        const bool apart = page->planes == 3;
        const uint8_t *const plane[3] = {from, apart ? state->part[1] + offset : from + page->unit.in,
                                         apart ? state->part[2] + offset : from + 2 * page->unit.in};
        convert_colour(plane, step, images->image.type, to + x * page->unit.out, n);
        return SLC_OK;
    }
    default:
        convert_small(page, from, to + x, n);
        return SLC_OK;
    }
}
