/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of images and of lists of pixels, read to the end.
 */
#include "cli_talk.h"
#include "cmd_info.h"

#include <string.h>

enum { PIECE = 1 << 16, MOST_PIXELS = 1 << 28 };

/* ---- images ------------------------------------------------------------------------------------ */

bool slc_info_images(const char *path, const slc_io_format_row *format, slc_cli_tree *to)
{
    slc_io_images *images = NULL;
    slc_error error = {.status = SLC_OK};
    if (slc_io_images_open(path, NULL, &images, &error) != SLC_OK) {
        slc_cli_say("info", "%s", error.text);
        return false;
    }
    slc_image image;
    uint64_t pages = 0, pixels = 0;
    slc_status status;
    while ((status = slc_io_images_next(images, &image, &error)) == SLC_OK) {
        if (pages++ == 0) {
            slc_cli_put(to, "format", format->name);
            slc_cli_put(to, "type", slc_image_type_name(image.type));
            slc_cli_put(to, "width", image.width);
            slc_cli_put(to, "height", image.height);
        }
        pixels += (uint64_t)image.width * image.height;
        if (slc_io_images_warning(images) != NULL) {
            slc_cli_say("info", "%s", slc_io_images_warning(images));
        }
    }
    if (status != SLC_END) {
        slc_cli_say("info", "%s", error.text);
    } else if (slc_io_images_warning(images) != NULL) {
        slc_cli_say("info", "%s", slc_io_images_warning(images));
    }
    if (pages > 0) {
        slc_cli_put(to, "pages", pages);
        slc_cli_put(to, "pixels", pixels);
    }
    slc_io_images_close(images);
    return status == SLC_END;
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

#define OF(member)                                                                                           \
    {                                                                                                        \
#member, FIELD(slc_io_pixels_counts, member)                                                         \
    }
static const slc_cli_field tpx3[] = {OF(chunks),
                                     OF(heartbeats),
                                     OF(tdc),
                                     {"tdc1_rise", FIELD(slc_io_pixels_counts, edges[0])},
                                     {"tdc1_fall", FIELD(slc_io_pixels_counts, edges[1])},
                                     {"tdc2_rise", FIELD(slc_io_pixels_counts, edges[2])},
                                     {"tdc2_fall", FIELD(slc_io_pixels_counts, edges[3])},
                                     {"tdc_invalid", FIELD(slc_io_pixels_counts, no_edges)},
                                     OF(other),
                                     OF(skipped)};

static const slc_cli_field tpx4[] = {OF(chunks), OF(heartbeats), OF(other), OF(skipped)};

static void tell(const char *path, const slc_io_pixels_counts *counts)
{
    if (counts->unread > 0) {
        slc_cli_say("info", "%s: columns that are not read: %s", path, counts->unread_names);
    }
    if (counts->unended > 0) {
        slc_cli_say("info", "%s: the last line has no end: its last number may lack digits", path);
    }
    if (counts->assumed_lines > 0) {
        slc_cli_say("info", "%s: nothing ends a frame: each is taken to have %llu lines, as many as columns",
                    path, (unsigned long long)counts->assumed_lines);
    }
    if (counts->absent_columns > 0) {
        slc_cli_say("info",
                    "%s: %llu columns of the first line are not in the rows: taken as missing are the row's "
                    "number, if it is named, and the last ones",
                    path, (unsigned long long)counts->absent_columns);
    }
    if (counts->assumed_width > 0) {
        slc_cli_say(
            "info",
            "%s: nothing tells how wide the sensor is: %llu columns are taken, as there are indices of "
            "more than a chip",
            path, (unsigned long long)counts->assumed_width);
    }
    if (counts->damaged > 0) {
        slc_cli_say("info", "%s: byte %llu: %s; %llu damaged", path,
                    (unsigned long long)counts->damaged_offset, counts->damaged_reason,
                    (unsigned long long)counts->damaged);
    }
}

bool slc_info_pixels(const char *path, const slc_io_format_row *format, slc_cli_tree *to)
{
    slc_io_pixels *file = NULL;
    slc_error error = {.status = SLC_OK};
    if (slc_io_pixels_open(path, NULL, &file, &error) != SLC_OK) {
        slc_cli_say("info", "%s", error.text);
        return false;
    }
    const slc_io_pixels_info about = slc_io_pixels_about(file);
    uint64_t frames = 0;
    const slc_status status = read_pixels(file, &about, &frames, &error);
    const slc_io_pixels_counts counts = slc_io_pixels_count(file);
    slc_cli_put(to, "format", format->name);
    slc_cli_put(to, "pixels", counts.pixels);
    if (about.frames) {
        slc_cli_put(to, "frames", frames);
    }
    if (strcmp(about.format, "tpx4") == 0) {
        slc_cli_put_fields(to, "", tpx4, sizeof tpx4 / sizeof *tpx4, &counts);
    }
    if (strcmp(about.format, "tpx3") == 0) {
        slc_cli_put_fields(to, "", tpx3, sizeof tpx3 / sizeof *tpx3, &counts);
    }
    slc_cli_put(to, "damaged", counts.damaged);
    if (about.tick_seconds > 0) {
        slc_cli_put(to, "tick_seconds", about.tick_seconds);
    }
    tell(path, &counts);
    if (status != SLC_END) {
        slc_cli_say("info", "%s", status == SLC_ERR_MEMORY ? "no memory for the pixels" : error.text);
    }
    slc_io_pixels_close(file);
    return status == SLC_END && counts.damaged == 0 && counts.skipped == 0;
}
