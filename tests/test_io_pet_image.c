/* SPDX-License-Identifier: Apache-2.0
 * Attenuation images: NPY and Interfile as their documents have them, cut at every byte, and what is refused.
 */
#include "support/cmocka_all.h"

#include "base/bytes.h"
#include "io/pet/io_pet_list.h"

#include <sluice/io_pet_factors.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double voxel[3] = {1, 2, 3};

/* NumPy's format 1.0, by its document: magic, version, u16 length, a dictionary that ends at a multiple
 * of 64. */
static size_t make_npy(uint8_t *to, const char *descr, const char *order, const char *shape, size_t numbers)
{
    char head[118];
    memset(head, ' ', sizeof head);
    const int n = snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr,
                           order, shape);
    assert_true(n > 0 && n < (int)sizeof head);
    head[n] = ' ';
    head[117] = '\n';
    memcpy(to, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(to + 10, head, sizeof head);
    const size_t bytes = strstr(descr, "8") != NULL ? 8 : 4;
    for (size_t i = 0; i < numbers; i++) {
        const double value = 0.01 * (double)i;
        if (bytes == 8) {
            memcpy(to + 128 + 8 * i, &value, 8);
        } else {
            slc_store_f32(to + 128 + 4 * i, (float)value);
        }
    }
    return 128 + bytes * numbers;
}

static slc_status parse(const char *header, const void *bytes, size_t size, const double *voxel_mm,
                        slc_pet_image *image, slc_error *error)
{
    /* At the end of memory of exactly its size. */
    uint8_t *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    const slc_status status = slc_io_pet_image_parse(header, copy, size, "mu", voxel_mm, image, error);
    free(copy);
    assert_true((status == SLC_OK) == (image->value != NULL));
    assert_true(status == SLC_OK || strncmp(error->text, "mu: ", 4) == 0);
    return status;
}

static void arrays_are_read(void **state)
{
    (void)state;
    static const char *const types[] = {"<f4", "<f8"};
    uint8_t bytes[512];
    slc_pet_image image;
    slc_error error;
    for (size_t t = 0; t < 2; t++) {
        const size_t size = make_npy(bytes, types[t], "False", "(2, 3, 4)", 24);
        assert_int_equal(parse(NULL, bytes, size, voxel, &image, &error), SLC_OK);
        assert_true(image.nx == 4 && image.ny == 3 && image.nz == 2);
        assert_true(image.voxel_mm[0] == 1 && image.voxel_mm[1] == 2 && image.voxel_mm[2] == 3);
        assert_true(image.middle_mm[0] == 0 && image.middle_mm[2] == 0);
        for (int i = 0; i < 24; i++) {
            assert_true(image.value[i] == (float)(0.01 * i));
        }
        slc_io_pet_image_clear(&image);
        for (size_t cut = 0; cut < size; cut++) {
            assert_true(parse(NULL, bytes, cut, voxel, &image, &error) != SLC_OK);
        }
        memset(bytes + size, 0, 8);
    }
}

static void other_arrays_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *descr, *order, *shape;
    } cases[] = {{"<f4", "True", "(2, 3, 4)"},      {"<f4", "False", "(6, 4)"},
                 {"<f4", "False", "(2, 3, 4, 1)"},  {">f4", "False", "(2, 3, 4)"},
                 {"<i4", "False", "(2, 3, 4)"},     {"<f4", "False", "(0, 3, 4)"},
                 {"<f4", "False", "(70000, 1, 1)"}, {"<f4", "False", "(60000, 60000, 60000)"}};
    uint8_t bytes[512];
    slc_pet_image image;
    slc_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t size = make_npy(bytes, cases[i].descr, cases[i].order, cases[i].shape, 24);
        assert_true(parse(NULL, bytes, size, voxel, &image, &error) != SLC_OK);
    }
    const size_t size = make_npy(bytes, "<f4", "False", "(2, 3, 4)", 24);
    assert_int_equal(parse(NULL, bytes, size, NULL, &image, &error), SLC_ERR_USAGE);
}

/* A header as STIR writes it. */
static const char header[] = "!INTERFILE  :=\n"
                             "!imaging modality := PT\n"
                             "name of data file := mu.v\n"
                             "!type of data := PET\n"
                             "imagedata byte order := LITTLEENDIAN\n"
                             "!number format := float\n"
                             "!number of bytes per pixel := 4\n"
                             "number of dimensions := 3\n"
                             "matrix axis label [1] := x\n"
                             "!matrix size [1] := 4\n"
                             "scaling factor (mm/pixel) [1] := 2.5\n"
                             "matrix axis label [2] := y\n"
                             "!matrix size [2] := 3\n"
                             "scaling factor (mm/pixel) [2] := 2.5\n"
                             "matrix axis label [3] := z\n"
                             "!matrix size [3] := 2\n"
                             "scaling factor (mm/pixel) [3] := 4\n"
                             "first pixel offset (mm) [1] := -3.75\n"
                             "first pixel offset (mm) [2] := -1.5\n"
                             "first pixel offset (mm) [3] := 0\n"
                             "!END OF INTERFILE :=\n";

static void interfiles_are_read(void **state)
{
    (void)state;
    uint8_t bytes[24 * 4];
    slc_pet_image image;
    slc_error error;
    for (size_t i = 0; i < 24; i++) {
        slc_store_f32(bytes + 4 * i, 0.5F * (float)i);
    }
    assert_int_equal(parse(header, bytes, sizeof bytes, NULL, &image, &error), SLC_OK);
    assert_true(image.nx == 4 && image.ny == 3 && image.nz == 2 && image.value[23] == 11.5F);
    assert_true(image.voxel_mm[0] == 2.5 && image.voxel_mm[2] == 4);
    assert_true(image.middle_mm[0] == 0 && image.middle_mm[1] == 1 && image.middle_mm[2] == 0);
    slc_io_pet_image_clear(&image);
    for (size_t cut = 0; cut < sizeof bytes; cut++) {
        assert_int_equal(parse(header, bytes, cut, NULL, &image, &error), SLC_ERR_FORMAT);
    }
    assert_int_equal(parse(header, bytes, sizeof bytes, voxel, &image, &error), SLC_ERR_USAGE);
    /* Without a line of it, the header tells no image, or the same one. */
    for (const char *line = header; *line != '\0'; line = strchr(line, '\n') + 1) {
        char less[sizeof header];
        const size_t before = (size_t)(line - header);
        memcpy(less, header, before);
        (void)snprintf(less + before, sizeof less - before, "%s", strchr(line, '\n') + 1);
        const bool needed = strstr(line, "matrix size") == line + 1 || strstr(line, "scaling") == line ||
                            strstr(line, "!number") == line || strstr(line, "imagedata") == line;
        const slc_status status = parse(less, bytes, sizeof bytes, NULL, &image, &error);
        assert_int_equal(status, needed ? SLC_ERR_FORMAT : SLC_OK);
        slc_io_pet_image_clear(&image);
    }
}

static void files_and_their_data(void **state)
{
    (void)state;
    char folder[] = "/tmp/sluice-test-XXXXXX", path[64], data[64];
    slc_pet_image image;
    slc_error error;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/mu.hv", folder);
    (void)snprintf(data, sizeof data, "%s/mu.v", folder);
    FILE *file = fopen(path, "w");
    assert_true(file != NULL && fputs(header, file) >= 0 && fclose(file) == 0);
    assert_int_equal(slc_io_pet_image_read(path, NULL, &image, &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, "mu.v"));
    file = fopen(data, "w");
    float values[24] = {0.096F};
    assert_true(file != NULL && fwrite(values, 4, 24, file) == 24 && fclose(file) == 0);
    assert_int_equal(slc_io_pet_image_read(path, NULL, &image, &error), SLC_OK);
    assert_true(image.value[0] == 0.096F && image.value[1] == 0);
    slc_io_pet_image_clear(&image);
    assert_int_equal(remove(path), 0);
    assert_int_equal(slc_io_pet_image_read(path, NULL, &image, &error), SLC_ERR_IO);
    assert_int_equal(remove(data), 0);
    assert_int_equal(remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_read),
        cmocka_unit_test(other_arrays_are_refused),
        cmocka_unit_test(interfiles_are_read),
        cmocka_unit_test(files_and_their_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
