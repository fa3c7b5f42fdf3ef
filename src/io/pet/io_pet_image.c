/* SPDX-License-Identifier: Apache-2.0
 *
 * Images of attenuation, 1/cm in voxels: arrays of NumPy (docs/formats/npy.md), whose voxels somebody has to
 * tell, and Interfile as STIR and others write it: a text header of "key := value" lines with the data beside
 * it, f32, little-endian, x fastest, then y, then z.
 */
#include "base/bytes.h"
#include "io/io_npy.h"
#include "io/io_stream.h"
#include "io/pet/io_pet_list.h"

#include <sluice/io_pet_factors.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_SIDE = 65536 };

static slc_status fail_key(const char *name, const char *key, const char *why, slc_error *error)
{
    return slc_fail(error, SLC_ERR_FORMAT, "%s: \"%s\" %s", name, key, why);
}

/* Sides to an image without values; how many voxels there are. */
static slc_status take_sides(const uint64_t side[3], const char *name, slc_pet_image *image, uint64_t *voxels,
                             slc_error *error)
{
    *voxels = 1;
    for (int k = 0; k < 3; k++) {
        if (side[k] == 0 || side[k] > MOST_SIDE) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s: %llu x %llu x %llu voxels; a side has 1 to %d", name,
                            (unsigned long long)side[0], (unsigned long long)side[1],
                            (unsigned long long)side[2], MOST_SIDE);
        }
        *voxels *= side[k];
    }
    image->nx = (uint32_t)side[0];
    image->ny = (uint32_t)side[1];
    image->nz = (uint32_t)side[2];
    return SLC_OK;
}

/* ---- NPY --------------------------------------------------------------------------------------- */

/* Values of an array that is there whole: f32 or f64. */
static slc_status take_array(slc_io_stream *stream, const slc_io_npy_header *h, uint64_t voxels,
                             slc_pet_image *image, slc_error *error)
{
    const uint64_t bytes = h->number == SLC_IO_NUMBER_F64 ? 8 : 4;
    const uint8_t *data = NULL;
    size_t visible = 0;
    slc_status status = slc_io_stream_peek(stream, (size_t)(voxels * bytes), &data, &visible, error);
    if (status == SLC_OK && visible != voxels * bytes) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: %zu bytes of values; %llu voxels have %llu", stream->name,
                        visible, (unsigned long long)voxels, (unsigned long long)(voxels * bytes));
    }
    float *value = status == SLC_OK ? malloc((size_t)voxels * sizeof *value) : NULL;
    if (status == SLC_OK && value == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its voxels", stream->name);
    }
    for (uint64_t i = 0; i < voxels && status == SLC_OK; i++) {
        value[i] = bytes == 8 ? (float)slc_load_f64(data + 8 * i) : slc_load_f32(data + 4 * i);
    }
    image->value = value;
    return status;
}

static slc_status parse_npy(const void *bytes, size_t size, const char *name, const double *voxel_mm,
                            slc_pet_image *image, slc_error *error)
{
    slc_io_stream stream;
    slc_io_npy_header h;
    if (voxel_mm == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: an array does not tell how large its voxels are: say it",
                        name);
    }
    slc_status status = slc_io_stream_open_memory(&stream, bytes, size, name, error);
    if (status != SLC_OK) {
        return status;
    }
    status = slc_io_npy_read_header(&stream, &h, error);
    if (status == SLC_OK && (h.n_dimensions != 3 || h.fortran || h.swap ||
                             (h.number != SLC_IO_NUMBER_F32 && h.number != SLC_IO_NUMBER_F64))) {
        status = slc_fail(error, SLC_ERR_UNSUPPORTED,
                          "%s: an attenuation is an array (z, y, x) of little-endian floats, in C order",
                          name);
    }
    uint64_t voxels = 0;
    if (status == SLC_OK) {
        const uint64_t side[3] = {h.shape[2], h.shape[1], h.shape[0]};
        status = take_sides(side, name, image, &voxels, error);
    }
    status = status == SLC_OK ? take_array(&stream, &h, voxels, image, error) : status;
    for (int k = 0; k < 3; k++) {
        image->voxel_mm[k] = voxel_mm[k];
    }
    slc_io_stream_close(&stream);
    return status;
}

/* ---- Interfile --------------------------------------------------------------------------------- */

static bool real_of(const char *header, const char *key, double *value)
{
    char word[64] = "", *end = word;
    if (!slc_io_pet_header_value(header, '=', key, word, sizeof word)) {
        return false;
    }
    *value = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*value);
}

static slc_status want(const char *header, const char *key, const char *wanted, const char *name,
                       slc_error *error)
{
    char word[64] = "";
    if (!slc_io_pet_header_value(header, '=', key, word, sizeof word)) {
        return fail_key(name, key, "is missing", error);
    }
    return strcmp(word, wanted) == 0 ? SLC_OK
                                     : slc_fail(error, SLC_ERR_UNSUPPORTED,
                                                "%s: \"%s\" is '%s'; '%s' is read", name, key, word, wanted);
}

/* One axis: its voxels, how large they are, and where the first is, if that is told. Along z a header of STIR
 * tells it from the first ring, which is not taken: the image is in the middle. */
static slc_status take_axis(const char *header, int k, const char *name, uint64_t side[3],
                            slc_pet_image *image, slc_error *error)
{
    char key[64];
    uint32_t n = 0;
    double first;
    (void)snprintf(key, sizeof key, "matrix size [%d]", k + 1);
    slc_status status = slc_io_pet_header_count(header, '=', key, name, 1, MOST_SIDE, &n, error);
    if (status != SLC_OK) {
        return status == SLC_END ? fail_key(name, key, "is missing", error) : status;
    }
    side[k] = n;
    (void)snprintf(key, sizeof key, "scaling factor (mm/pixel) [%d]", k + 1);
    if (!real_of(header, key, &image->voxel_mm[k]) || !(image->voxel_mm[k] > 0 && image->voxel_mm[k] < 1e6)) {
        return fail_key(name, key, "is missing, or no length", error);
    }
    (void)snprintf(key, sizeof key, "first pixel offset (mm) [%d]", k + 1);
    if (k < 2 && real_of(header, key, &first)) {
        image->middle_mm[k] = first + 0.5 * (n - 1) * image->voxel_mm[k];
    }
    return SLC_OK;
}

static slc_status parse_interfile(const char *header, const void *bytes, size_t size, const char *name,
                                  const double *voxel_mm, slc_pet_image *image, slc_error *error)
{
    uint64_t side[3] = {0}, voxels = 0;
    double offset = 0;
    if (voxel_mm != NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: the header tells how large voxels are", name);
    }
    slc_status status = want(header, "number format", "float", name, error);
    status = status == SLC_OK ? want(header, "number of bytes per pixel", "4", name, error) : status;
    status = status == SLC_OK ? want(header, "imagedata byte order", "LITTLEENDIAN", name, error) : status;
    for (int k = 0; k < 3 && status == SLC_OK; k++) {
        status = take_axis(header, k, name, side, image, error);
    }
    status = status == SLC_OK ? take_sides(side, name, image, &voxels, error) : status;
    if (status == SLC_OK && real_of(header, "data offset in bytes", &offset) && offset != 0) {
        status = slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: data begin at byte %.0f; 0 is read", name, offset);
    }
    if (status == SLC_OK && size != voxels * 4) {
        status = slc_fail(error, SLC_ERR_FORMAT, "%s: %zu bytes; %llu voxels have %llu", name, size,
                          (unsigned long long)voxels, (unsigned long long)(voxels * 4));
    }
    float *value = status == SLC_OK ? malloc(size) : NULL;
    if (status == SLC_OK && value == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its voxels", name);
    }
    for (uint64_t i = 0; i < voxels && status == SLC_OK; i++) {
        value[i] = slc_load_f32((const uint8_t *)bytes + 4 * i);
    }
    image->value = value;
    return status;
}

/* ---- both -------------------------------------------------------------------------------------- */

slc_status slc_io_pet_image_parse(const char *header, const void *bytes, size_t size, const char *name,
                                  const double *voxel_mm, slc_pet_image *image, slc_error *error)
{
    *image = (slc_pet_image){.nx = 0};
    const slc_status status = header != NULL
                                  ? parse_interfile(header, bytes, size, name, voxel_mm, image, error)
                                  : parse_npy(bytes, size, name, voxel_mm, image, error);
    if (status != SLC_OK) {
        slc_io_pet_image_clear(image);
    }
    return status;
}

slc_status slc_io_pet_image_read(const char *path, const double *voxel_mm, slc_pet_image *image,
                                 slc_error *error)
{
    static const size_t limit = (size_t)1 << 36;
    char *header = NULL, *data = NULL, file[1024];
    void *bytes = NULL;
    size_t size = 0;
    slc_status status = SLC_OK;
    *image = (slc_pet_image){.nx = 0};
    if (!slc_io_pet_ends_in(path, ".npy")) {
        status = slc_io_pet_header_read(path, &header, error);
        if (status == SLC_OK &&
            (!slc_io_pet_header_value(header, '=', "name of data file", file, sizeof file) ||
             file[0] == '\0')) {
            status = fail_key(path, "name of data file", "is missing, or too long", error);
        }
        data = status == SLC_OK ? slc_io_pet_beside(path, file) : NULL;
        if (status == SLC_OK && data == NULL) {
            status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", path);
        }
    }
    const char *name = data != NULL ? data : path;
    status = status == SLC_OK ? slc_io_read_file(name, limit, &bytes, &size, error) : status;
    status = status == SLC_OK ? slc_io_pet_image_parse(header, bytes, size, name, voxel_mm, image, error)
                              : status;
    free(bytes);
    free(data);
    free(header);
    return status;
}

void slc_io_pet_image_clear(slc_pet_image *image)
{
    free((void *)image->value);
    *image = (slc_pet_image){.nx = 0};
}
