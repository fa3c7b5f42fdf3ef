/* SPDX-License-Identifier: Apache-2.0
 *
 * Image files: PNM (PBM, PGM, PPM, plain and raw), PNG, JPEG and BMP (read alone), TIFF (several pages),
 * NPY and NIfTI (read alone). The format of an input is found by its bytes, that of an output by its name.
 */
#ifndef SLUICE_IO_IMAGE_H
#define SLUICE_IO_IMAGE_H

#include <sluice/image.h>
#include <sluice/io.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Colours become grey by Rec. 601 luma, rounded (JPEG: as libjpeg decodes it, by its exact transform), alpha
 * is not read (slc_io_images_warning says so); palettes
 * are looked up. An NPY array
 * (height, width, 3 or 4) of u8 or u16 is an image of colours. Numbers of NPY and TIFF that are no type of
 * slc_image become f32: i8, i16, i32, i64 and u64 are refused where a value cannot be kept exactly, f64 is
 * rounded to the nearest float (infinity beyond the largest), f16 has no other values; bool is u8. A PBM or
 * 1-bit image is rows of bits with 1 for foreground: in PBM that is black, in PNG and TIFF white unless
 * TIFF's photometric says otherwise. */
typedef struct slc_io_image_config {
    size_t size;      /* set by slc_io_image_config_default */
    size_t max_bytes; /* a page whose pixels need more memory is refused before any is allocated; 4 GiB */
    /* Of every page the rows of strip number `part`, from 0, of `n_parts`: as many as of any other strip, the
     * first ones have one more where they cannot be equal, and the last ones none (image.height is 0) where
     * there are more parts than rows. n_parts 0 or 1: all. Of regular files in raw PNM, NPY in C order and
     * TIFF no more is read than that, of TIFF the strips or tiles with these rows, and max_bytes is of these
     * rows; other pages are read whole. */
    uint32_t part, n_parts;
    bool volume; /* pages are slices of a volume: an NPY array of three dimensions is (z, y, x), whatever its
                    last one is, and no picture of colours; parts are then of slices, in their order, the file
                    is one that can be opened twice, and a part may have none */
    bool labels; /* pages are labels, whose values are only compared: integers keep their bits, those with a
                    sign as u8, u16 or u32 of the same, and those of 64 bits as SLC_IMAGE_U64 */
    bool label_values; /* with labels: their values count, too, and one that is negative is refused */
} slc_io_image_config;
SLC_API void slc_io_image_config_default(slc_io_image_config *config, size_t size);
#define slc_io_image_config_default(config) slc_io_image_config_default(config, sizeof *(config))

typedef struct slc_io_images slc_io_images;

/* Opens `path` ("-" is standard input) and finds its format. `config` may be NULL. On failure *images is NULL
 * and *error names the path and the reason. */
SLC_API slc_status slc_io_images_open(const char *path, const slc_io_image_config *config,
                                      slc_io_images **images, slc_error *error);
SLC_API void slc_io_images_close(slc_io_images *images);

/* The next page (TIFF pages, or the images of an ImageJ stack in one directory; several PNM images in one
 * file; the planes of an NPY array of three dimensions, but for colours; the slices of NIfTI; others have
 * one). *image points into memory of `images`, which holds until the next call. SLC_END after the last.
 * SLC_ERR_FORMAT, SLC_ERR_UNSUPPORTED: *error names the file, the page, the place where there is one, and the
 * reason. */
SLC_API slc_status slc_io_images_next(slc_io_images *images, slc_image *image, slc_error *error);

/* What has to be told of the last slc_io_images_next though it succeeded, or found the end: samples that are
 * not read, libtiff's warnings on the page's directory, fewer pages than the file tells of. It names the file
 * and the page; NULL if there is nothing. It holds until the next call. Warnings of libtiff while it
 * decodes pixels are errors, as pixels are not what they were. */
SLC_API const char *slc_io_images_warning(const slc_io_images *images);

/* How large a pixel of the last page is, by the file's own words: TIFF (OME-XML, ImageJ, resolution tags) and
 * NIfTI (pixdim in a known unit). from NULL: it does not say; z_um, from slice to slice, 0: not known. */
typedef struct slc_io_image_size {
    double x_um, y_um, z_um;
    const char *from; /* "OME", "ImageJ", "resolution", "NIfTI" */
} slc_io_image_size;
SLC_API slc_io_image_size slc_io_images_pixel(const slc_io_images *images);

/* Writes one image; the format is that of the name's ending (.pgm .pbm .png .tif .tiff .npy). The file
 * appears when it is complete. SLC_ERR_USAGE for a type that the format does not have, naming those that it
 * has: PBM bits; PGM u8, u16; PNG bits, u8, u16; TIFF and NPY u8, u16, u32, f32 (bits as u8 0 and 1 in NPY,
 * as 1-bit TIFF). */
SLC_API slc_status slc_io_image_write(const char *path, const slc_image *image, slc_error *error);

/* Several pages into one file: TIFF pages, an NPY array of three dimensions (equal sizes and types), PGM and
 * PBM one after the other. SLC_ERR_USAGE for more than one into PNG, and for pages of three or four columns
 * of u8, u16 or bits into NPY, which would be read as colours. Into NPY an image whose pixels are NULL may be
 * given (not of bits): the file (slc_io_temporary) grows by its bytes, which are 0 until others have written
 * rows where they belong, and is as large as that when _add returns; SLC_ERR_USAGE for what is no regular
 * file.
 */
/* `preview`: for one image of u32, whatever the name: a PNG with a palette for labels: background black,
 * neighbouring numbers far apart in colour, the same number always the same colour. */
SLC_API slc_status slc_io_image_writer_open(const char *path, bool preview, slc_io_writer **writer,
                                            slc_error *error);
/* What is added are slices of a volume: NPY then has three dimensions, also of one slice, and any width. */
SLC_API void slc_io_image_writer_slices(slc_io_writer *writer);
SLC_API slc_status slc_io_image_writer_add(slc_io_writer *writer, const slc_image *image, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
