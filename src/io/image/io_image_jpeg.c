/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading JPEG through libjpeg, from the stream, so that pipes work. A warning of libjpeg's means pixels that
 * are not those of the picture, and is an error here. Sizes that a header claims allocate nothing before rows
 * come; where libjpeg has to keep a whole picture (progressive ones), the file must first have the bytes that
 * so many blocks need at least. docs/formats/jpeg.md.
 */
#include "base/bytes.h"
#include "io/image/io_image_source.h"

#include <setjmp.h>
#include <stdio.h> /* jpeglib.h needs it */
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

enum {
    PIECE = 1 << 16,     /* bytes that libjpeg is shown at once */
    MOST_SCANS = 500,    /* of a progressive picture: more are there to cost time */
    LEAST_BITS = 1,      /* of a block in a scan, by Huffman's codes */
    EXIF = JPEG_APP0 + 1 /* the marker whose data begin with "Exif" */
};

typedef struct reading {
    struct jpeg_decompress_struct jpeg; /* first: libjpeg's pointers to it are pointers to this */
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    slc_io_images *images;
    slc_error *error;
    slc_status status; /* of the failure that made libjpeg give up */
    size_t shown;      /* bytes of the stream that it was shown last */
    jmp_buf give_up;
} reading;

static bool probe(const uint8_t *bytes, size_t size)
{
    return size >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0;
}

/* ---- what libjpeg calls ------------------------------------------------------------------------ */

static reading *of(void *jpeg)
{
    return jpeg;
}

static _Noreturn void give_up(reading *r, slc_status status)
{
    r->status = status;
    longjmp(r->give_up, 1);
}

static void check(reading *r, slc_status status)
{
    if (status != SLC_OK) {
        give_up(r, status);
    }
}

/* Where libjpeg is in the file. */
static uint64_t place(const reading *r)
{
    return r->images->stream.offset + r->shown - r->source.bytes_in_buffer;
}

static _Noreturn void on_error(j_common_ptr jpeg)
{
    reading *r = of(jpeg);
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    const bool missing = jpeg->err->msg_code == JERR_NO_QUANT_TABLE ||
                         jpeg->err->msg_code == JERR_NO_HUFF_TABLE;
    give_up(r, slc_io_image_fail(r->images, r->error, missing ? SLC_ERR_UNSUPPORTED : SLC_ERR_FORMAT,
                                 place(r), "libjpeg: %s", text));
}

static void on_message(j_common_ptr jpeg, int level)
{
    if (level < 0) {
        on_error(jpeg);
    }
}

static void on_start(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

static boolean on_fill(j_decompress_ptr jpeg)
{
    reading *r = of(jpeg);
    slc_io_stream *stream = &r->images->stream;
    const uint8_t *bytes = NULL;
    slc_io_stream_skip(stream, r->shown);
    r->shown = r->source.bytes_in_buffer = 0;
    check(r, slc_io_stream_peek(stream, PIECE, &bytes, &r->shown, r->error));
    if (r->shown == 0) {
        give_up(r, slc_io_image_fail(r->images, r->error, SLC_ERR_FORMAT, stream->offset,
                                     "the file ends in the middle of the image"));
    }
    r->source.next_input_byte = bytes;
    r->source.bytes_in_buffer = r->shown;
    return TRUE;
}

static void on_skip(j_decompress_ptr jpeg, long bytes)
{
    reading *r = of(jpeg);
    size_t left = bytes > 0 ? (size_t)bytes : 0;
    while (left > r->source.bytes_in_buffer) {
        left -= r->source.bytes_in_buffer;
        (void)on_fill(jpeg);
    }
    r->source.next_input_byte += left;
    r->source.bytes_in_buffer -= left;
}

static void on_end(j_decompress_ptr jpeg)
{
    reading *r = of(jpeg);
    slc_io_stream_skip(&r->images->stream, r->shown - r->source.bytes_in_buffer);
    r->shown = r->source.bytes_in_buffer = 0;
}

static void on_progress(j_common_ptr jpeg)
{
    reading *r = of(jpeg);
    if (r->jpeg.input_scan_number > MOST_SCANS) {
        give_up(r, slc_io_image_fail(r->images, r->error, SLC_ERR_UNSUPPORTED, place(r),
                                     "more than %d scans of one image", MOST_SCANS));
    }
}

/* ---- header ------------------------------------------------------------------------------------ */

static void start(reading *r)
{
    r->jpeg.err = jpeg_std_error(&r->errors);
    r->errors.error_exit = on_error;
    r->errors.emit_message = on_message;
    jpeg_create_decompress(&r->jpeg);
    r->source = (struct jpeg_source_mgr){.init_source = on_start,
                                         .fill_input_buffer = on_fill,
                                         .skip_input_data = on_skip,
                                         .resync_to_restart = jpeg_resync_to_restart,
                                         .term_source = on_end};
    r->jpeg.src = &r->source;
    r->progress.progress_monitor = on_progress;
    r->jpeg.progress = &r->progress;
    jpeg_save_markers(&r->jpeg, EXIF, 0xffff);
    (void)jpeg_read_header(&r->jpeg, TRUE);
}

/* An integer of Exif's, in the order that the block says. */
static uint32_t exif_int(const uint8_t *at, int bytes, bool big)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value |= (uint32_t)at[i] << 8 * (big ? bytes - 1 - i : i);
    }
    return value;
}

/* How the picture is to be turned before it is looked at, 1 … 8; 1: not at all, or not told. */
static uint32_t orientation(const uint8_t *block, size_t size)
{
    enum { HEAD = 6, ENTRY = 12, ORIENTATION = 0x112 };
    if (size < HEAD + 8 || memcmp(block, "Exif\0\0", HEAD) != 0) {
        return 1;
    }
    const uint8_t *tiff = block + HEAD;
    const size_t room = size - HEAD;
    const bool big = tiff[0] == 'M';
    const size_t at = exif_int(tiff + 4, 4, big);
    const size_t entries = at <= room - 2 ? exif_int(tiff + at, 2, big) : 0;
    for (size_t i = 0; i < entries && at + 2 + (i + 1) * ENTRY <= room; i++) {
        const uint8_t *entry = tiff + at + 2 + i * ENTRY;
        if (exif_int(entry, 2, big) == ORIENTATION) {
            const uint32_t turn = exif_int(entry + 8, 2, big);
            return turn >= 1 && turn <= 8 ? turn : 1;
        }
    }
    return 1;
}

static void warn_orientation(reading *r)
{
    for (jpeg_saved_marker_ptr m = r->jpeg.marker_list; m != NULL; m = m->next) {
        const uint32_t turn = m->marker == EXIF ? orientation(m->data, m->data_length) : 1;
        if (turn != 1) {
            slc_io_image_warn(r->images,
                              "pixels are as they are stored; Exif's orientation %u is not applied", turn);
            return;
        }
    }
}

/* libjpeg keeps all coefficients of a progressive picture: two bytes of each. */
static void expect_bytes(reading *r)
{
    enum { BLOCK = 64, COEFFICIENT = 2 };
    const uint64_t across = ((uint64_t)r->jpeg.image_width + 7) / 8,
                   down = ((uint64_t)r->jpeg.image_height + 7) / 8;
    const uint64_t blocks = across * down,
                   bytes = blocks * BLOCK * COEFFICIENT * (uint64_t)r->jpeg.num_components;
    if (!jpeg_has_multiple_scans(&r->jpeg)) {
        return;
    }
    if (bytes > r->images->config.max_bytes) {
        check(r,
              slc_io_image_fail(r->images, r->error, SLC_ERR_UNSUPPORTED, SLC_IO_NO_PLACE,
                                "a progressive image of %u x %u pixels needs %llu bytes, more than the limit "
                                "of %zu",
                                r->jpeg.image_width, r->jpeg.image_height, (unsigned long long)bytes,
                                r->images->config.max_bytes));
    }
    const uint8_t *ahead;
    const size_t used = r->shown - r->source.bytes_in_buffer, least = (size_t)(blocks / 8 * LEAST_BITS);
    check(r, slc_io_stream_peek(&r->images->stream, used + least, &ahead, &r->shown, r->error));
    r->source.next_input_byte = ahead + used;
    r->source.bytes_in_buffer = r->shown - used;
    if (r->source.bytes_in_buffer < least && !r->jpeg.arith_code) {
        check(r, slc_io_image_fail(r->images, r->error, SLC_ERR_FORMAT, r->images->stream.offset + r->shown,
                                   "the file ends: too short for the %u x %u pixels of its header",
                                   r->jpeg.image_width, r->jpeg.image_height));
    }
}

/* Grey is what the file has: its luma, or that of its colours, as libjpeg makes it. */
static void set_colours(reading *r)
{
    const J_COLOR_SPACE space = r->jpeg.jpeg_color_space;
    if (space != JCS_GRAYSCALE && space != JCS_YCbCr && space != JCS_RGB) {
        check(r,
              slc_io_image_fail(r->images, r->error, SLC_ERR_UNSUPPORTED, SLC_IO_NO_PLACE,
                                "%d colours that are neither grey, YCbCr nor RGB", r->jpeg.num_components));
    }
    if (space != JCS_GRAYSCALE) {
        check(r, slc_io_image_colours(r->images, r->error));
    }
    r->jpeg.out_color_space = JCS_GRAYSCALE;
    r->jpeg.dct_method = JDCT_ISLOW; /* the exact one, of every version and instruction set */
}

/* Everything that may be left by longjmp; what it changes is behind the pointer. */
static slc_status read_image(reading *r)
{
    if (setjmp(r->give_up) != 0) {
        return r->status;
    }
    start(r);
    check(r,
          slc_io_image_shape(r->images, SLC_IMAGE_U8, r->jpeg.image_width, r->jpeg.image_height, r->error));
    set_colours(r);
    warn_orientation(r);
    expect_bytes(r);
    (void)jpeg_start_decompress(&r->jpeg);
    while (r->jpeg.output_scanline < r->jpeg.output_height) {
        const size_t row = r->images->row_bytes, end = (r->jpeg.output_scanline + (size_t)1) * row;
        check(r, slc_io_image_grow(r->images, end, r->error));
        uint8_t *to = r->images->pixels + end - row;
        (void)jpeg_read_scanlines(&r->jpeg, &to, 1);
    }
    (void)jpeg_finish_decompress(&r->jpeg);
    return SLC_OK;
}

static slc_status next(slc_io_images *images, slc_error *error)
{
    if (images->page > 1) {
        return SLC_END;
    }
    reading r = {.images = images, .error = error, .status = SLC_OK};
    const slc_status status = read_image(&r);
    jpeg_destroy_decompress(&r.jpeg);
    return status;
}

const slc_io_image_format slc_io_image_jpeg = {.name = "jpeg", .alone = true, .probe = probe, .next = next};
