/* SPDX-License-Identifier: Apache-2.0
 *
 * The objects of a photograph: reads an image, takes what is brighter than Otsu's threshold for foreground,
 * and prints where each component of 20 pixels and more is.
 */
#include <sluice/image_label.h>
#include <sluice/io_image.h>

#include <stdio.h>

static slc_status print_objects(const slc_image *image, slc_error *error)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    slc_image_labeller *labeller = NULL;
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_image_components found = {0};
    slc_image_labels out = {.type = SLC_TYPE_U32, .components = &found}; /* features alone, no label image */
    config.features = SLC_IMAGE_AREA | SLC_IMAGE_CENTROID;
    config.min_area = 20;
    const slc_schema schema = slc_image_components_schema(config.features, columns);
    slc_status status = slc_image_otsu(image, &config.threshold, error);
    if (status == SLC_OK) {
        status = slc_image_label_open(&config, &labeller, error);
    }
    if (status == SLC_OK) {
        status = slc_image_label_reserve(labeller, image->width, image->height, error);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&schema, &found, slc_image_label_bound(image->width, image->height, 8),
                                     1);
    }
    if (status == SLC_OK) {
        status = slc_image_label_run(labeller, image, NULL, &out, NULL, error);
    }
    for (size_t i = 0; status == SLC_OK && i < found.head.size; i++) {
        printf("object %zu: %llu pixels around x = %.1f, y = %.1f\n", i + 1,
               (unsigned long long)found.area[i], found.x[i], found.y[i]);
    }
    slc_columns_clear(&schema, &found);
    slc_image_label_close(labeller);
    return status;
}

int main(int argc, char **argv)
{
    slc_error error = {SLC_OK, ""};
    slc_io_images *images = NULL;
    slc_image image;
    slc_status status = slc_io_images_open(argc > 1 ? argv[1] : "-", NULL, &images, &error);
    if (status == SLC_OK) {
        status = slc_io_images_next(images, &image, &error);
    }
    if (status == SLC_OK) {
        status = print_objects(&image, &error);
    }
    if (status != SLC_OK) {
        fprintf(stderr, "%s: %s\n", slc_status_name(status), error.text);
    }
    slc_io_images_close(images);
    return status == SLC_OK ? 0 : 1;
}
