/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of images and of lists of pixels, read to the end. An NPY array of integers with two to four columns
 * is told as a list, since images are hardly ever so narrow; any other array as an image.
 */
#include "cli_talk.h"
#include "cmd_info.h"

#include <sluice/sluice.h>

#include <jansson.h>

#include <string.h>
#include <sys/stat.h>

enum { PIECE = 1 << 16, MOST_PIXELS = 1 << 28 };

static void put(json_t *to, const char *key, uint64_t value)
{
    (void)json_object_set_new(to, key, json_integer((json_int_t)value));
}

/* What every file has, or NULL where it is none that can be read twice. */
static json_t *begin(const char *path)
{
    struct stat there;
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode) || there.st_size == 0) {
        return NULL;
    }
    json_t *to = json_object();
    (void)json_object_set_new(to, "file", slc_cli_json_text(path));
    put(to, "bytes", (uint64_t)there.st_size);
    return to;
}

/* ---- images ------------------------------------------------------------------------------------ */

static bool is_list(const char *path)
{
    slc_io_pixels *file = NULL;
    const bool is = slc_io_pixels_open(path, NULL, &file, NULL) == SLC_OK;
    slc_io_pixels_close(file);
    return is;
}

json_t *slc_info_images(const char *path, bool *good)
{
    slc_io_images *images = NULL;
    slc_error error = {.status = SLC_OK};
    json_t *to = begin(path);
    if (to == NULL || slc_io_images_open(path, NULL, &images, &error) != SLC_OK) {
        json_decref(to);
        return NULL;
    }
    if (strcmp(slc_io_images_format(images), "npy") == 0 && is_list(path)) {
        slc_io_images_close(images);
        json_decref(to);
        return NULL;
    }
    slc_image image;
    uint64_t pages = 0, pixels = 0;
    slc_status status;
    while ((status = slc_io_images_next(images, &image, &error)) == SLC_OK) {
        if (pages++ == 0) {
            (void)json_object_set_new(to, "format", json_string(slc_io_images_format(images)));
            (void)json_object_set_new(to, "type", json_string(slc_image_type_name(image.type)));
            put(to, "width", image.width);
            put(to, "height", image.height);
        }
        pixels += (uint64_t)image.width * image.height;
        if (slc_io_images_warning(images) != NULL) {
            slc_cli_say("info", "%s", slc_io_images_warning(images));
        }
    }
    if (status != SLC_END) {
        slc_cli_say("info", "%s", error.text);
        *good = false;
    } else if (slc_io_images_warning(images) != NULL) {
        slc_cli_say("info", "%s", slc_io_images_warning(images));
    }
    if (pages > 0) {
        put(to, "pages", pages);
        put(to, "pixels", pixels);
    }
    slc_io_images_close(images);
    return to;
}

/* ---- lists of pixels ----------------------------------------------------------------------------- */

/* Reads to the end; *frames counts events. A frame may be larger than a piece. */
static slc_status read_pixels(slc_io_pixels *file, const slc_io_pixels_info *about, uint64_t *frames,
                              slc_error *error)
{
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(about->with, columns);
    slc_pixels pixels = {0};
    size_t room = PIECE;
    slc_status status = slc_columns_reserve(&schema, &pixels, room, PIECE);
    while (status == SLC_OK) {
        slc_columns_reset(&pixels);
        status = slc_io_pixels_read(file, &pixels, room, error);
        *frames += about->frames ? pixels.head.n_events : 0;
        if (status == SLC_ERR_CAPACITY && room < MOST_PIXELS) {
            room *= 2;
            status = slc_columns_reserve(&schema, &pixels, room, PIECE);
        }
    }
    slc_columns_clear(&schema, &pixels);
    return status;
}

json_t *slc_info_pixels(const char *path, bool *good)
{
    slc_io_pixels *file = NULL;
    slc_error error = {.status = SLC_OK};
    json_t *to = begin(path);
    if (to == NULL || slc_io_pixels_open(path, NULL, &file, &error) != SLC_OK) {
        json_decref(to);
        return NULL;
    }
    const slc_io_pixels_info about = slc_io_pixels_about(file);
    uint64_t frames = 0;
    const slc_status status = read_pixels(file, &about, &frames, &error);
    const slc_io_pixels_counts counts = slc_io_pixels_count(file);
    (void)json_object_set_new(to, "format", json_string(about.format));
    put(to, "pixels", counts.pixels);
    if (about.frames) {
        put(to, "frames", frames);
    }
    if (strcmp(about.format, "tpx3") == 0) {
        put(to, "chunks", counts.chunks);
        put(to, "heartbeats", counts.heartbeats);
        put(to, "tdc", counts.tdc);
        put(to, "other", counts.other);
        put(to, "skipped", counts.skipped);
    }
    put(to, "damaged", counts.damaged);
    if (about.tick_seconds > 0) {
        (void)json_object_set_new(to, "tick_seconds", json_real(about.tick_seconds));
    }
    if (counts.damaged > 0) {
        slc_cli_say("info", "%s: byte %llu: %s; %llu damaged", path,
                    (unsigned long long)counts.damaged_offset, counts.damaged_reason,
                    (unsigned long long)counts.damaged);
    }
    if (status != SLC_END) {
        slc_cli_say("info", "%s", status == SLC_ERR_MEMORY ? "no memory for the pixels" : error.text);
    }
    *good = status == SLC_END && counts.damaged == 0 && counts.skipped == 0;
    slc_io_pixels_close(file);
    return to;
}
