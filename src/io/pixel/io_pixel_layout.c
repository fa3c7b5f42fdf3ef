/* SPDX-License-Identifier: Apache-2.0
 * Where the chips of a readout lie: words for the usual ways to mount them, and lists of a chip a line.
 * docs/formats/pixel-layout.md.
 */
#include "io/pixel/io_pixel_layout.h"

#include "io/io_stream.h"

#include <stdlib.h>
#include <string.h>

enum {
    SIDE = SLC_PIXEL_CHIP_SIDE,
    CHIPS = SLC_IO_PIXELS_CHIPS,
    SPACE = UINT16_MAX + 1,
    LARGEST_FILE = 1 << 16
};

static void measure(slc_io_pixels_layout *layout)
{
    layout->width = layout->height = 0;
    for (uint32_t i = 0; i < CHIPS; i++) {
        const slc_io_pixels_chip *chip = &layout->chip[i];
        const uint32_t right = chip->is_there ? chip->x + SIDE : 0,
                       bottom = chip->is_there ? chip->y + SIDE : 0;
        layout->width = right > layout->width ? right : layout->width;
        layout->height = bottom > layout->height ? bottom : layout->height;
    }
}

/* ---- words -------------------------------------------------------------------------------------- */

/* The number behind "quad+"; UINT32_MAX where there is none. */
static uint32_t gap_of(const char *text)
{
    char *end = NULL;
    if (*text == 0) {
        return 0;
    }
    const unsigned long gap = text[0] == '+' && text[1] >= '0' && text[1] <= '9' ? strtoul(text + 1, &end, 10)
                                                                                 : 0;
    return end != NULL && *end == 0 && gap < SIDE ? (uint32_t)gap : UINT32_MAX;
}

static bool take_word(const char *text, slc_io_pixels_layout *layout)
{
    const bool is_quad = strncmp(text, "quad", 4) == 0, is_row = strncmp(text, "row", 3) == 0;
    const uint32_t gap = is_quad || is_row ? gap_of(text + (is_quad ? 4 : 3)) : UINT32_MAX;
    if (gap == UINT32_MAX) {
        return false;
    }
    const uint16_t far = (uint16_t)(SIDE + gap);
    if (is_quad) {
        layout->chip[0] = (slc_io_pixels_chip){.is_there = true, .x = far};
        layout->chip[1] = (slc_io_pixels_chip){.is_there = true, .x = far, .y = far, .turns = 2};
        layout->chip[2] = (slc_io_pixels_chip){.is_there = true, .y = far, .turns = 2};
        layout->chip[3] = (slc_io_pixels_chip){.is_there = true};
    }
    for (uint32_t i = 0; is_row && i < CHIPS && i * far + SIDE <= SPACE; i++) {
        layout->chip[i] = (slc_io_pixels_chip){.is_there = true, .x = (uint16_t)(i * far)};
    }
    return true;
}

/* ---- lists -------------------------------------------------------------------------------------- */

/* Whole numbers of a line, up to four, and "mirror" behind them; how many, or -1. */
static int take_line(const char *line, const char *end, uint32_t numbers[4], bool *mirror)
{
    int n = 0;
    *mirror = false;
    while (line < end) {
        const size_t left = (size_t)(end - line);
        uint32_t value = 0;
        if (*line == ' ' || *line == '\t' || *line == ',' || *line == '\r') {
            line++;
            continue;
        }
        if (*line == '#') {
            break;
        }
        if (left >= 6 && memcmp(line, "mirror", 6) == 0 && !*mirror) {
            *mirror = true;
            line += 6;
            continue;
        }
        if (*line < '0' || *line > '9' || n == 4 || *mirror) {
            return -1;
        }
        for (; line < end && *line >= '0' && *line <= '9' && value <= SPACE; line++) {
            value = 10 * value + (uint32_t)(*line - '0');
        }
        numbers[n++] = value;
    }
    return n;
}

static bool overlaps(const slc_io_pixels_layout *layout, const slc_io_pixels_chip *one, uint32_t *with)
{
    for (*with = 0; *with < CHIPS; ++*with) {
        const slc_io_pixels_chip *other = &layout->chip[*with];
        if (other->is_there && other->x < one->x + SIDE && one->x < other->x + SIDE &&
            other->y < one->y + SIDE && one->y < other->y + SIDE) {
            return true;
        }
    }
    return false;
}

static slc_status put_chip(slc_io_pixels_layout *layout, const uint32_t numbers[4], int n, bool mirror,
                           const char *name, size_t line, slc_error *error)
{
    const uint32_t turn = n == 4 ? numbers[3] : 0;
    uint32_t with = 0;
    if (n < 3 || numbers[0] >= CHIPS || numbers[1] > SPACE - SIDE || numbers[2] > SPACE - SIDE ||
        turn % 90 != 0 || turn > 270) {
        return slc_fail(
            error, SLC_ERR_FORMAT,
            "%s: line %zu: a chip is: number (0 to 255), x and y of its corner (0 to %d), and a turn of "
            "0, 90, 180 or 270, and mirror, where it has them",
            name, line, SPACE - SIDE);
    }
    const slc_io_pixels_chip chip = {.is_there = true,
                                     .x = (uint16_t)numbers[1],
                                     .y = (uint16_t)numbers[2],
                                     .turns = (uint8_t)(turn / 90),
                                     .is_mirrored = mirror};
    if (layout->chip[numbers[0]].is_there) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: line %zu: chip %u is there twice", name, line,
                        numbers[0]);
    }
    if (overlaps(layout, &chip, &with)) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: line %zu: chip %u lies over chip %u", name, line,
                        numbers[0], with);
    }
    layout->chip[numbers[0]] = chip;
    return SLC_OK;
}

slc_status slc_io_pixels_layout_parse(const char *text, size_t size, const char *name,
                                      slc_io_pixels_layout *layout, slc_error *error)
{
    const char *at = text, *end = text + size;
    slc_status status = SLC_OK;
    size_t line = 1, chips = 0;
    *layout = (slc_io_pixels_layout){.width = 0};
    for (; at < end && status == SLC_OK; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *behind = newline != NULL ? newline : end;
        uint32_t numbers[4] = {0};
        bool mirror;
        const int n = take_line(at, behind, numbers, &mirror);
        if (n != 0 || mirror) {
            status = put_chip(layout, numbers, n, mirror, name, line, error);
            chips++;
        }
        at = newline != NULL ? newline + 1 : end;
    }
    measure(layout);
    return status == SLC_OK && chips == 0
               ? slc_fail(error, SLC_ERR_FORMAT, "%s: there is no chip in it", name)
               : status;
}

slc_status slc_io_pixels_layout_read(const char *text, slc_io_pixels_layout *layout, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    *layout = (slc_io_pixels_layout){.width = 0};
    if (take_word(text, layout)) {
        measure(layout);
        return SLC_OK;
    }
    slc_status status = slc_io_read_file(text, LARGEST_FILE, &bytes, &size, error);
    if (status == SLC_OK) {
        status = slc_io_pixels_layout_parse(bytes, size, text, layout, error);
        free(bytes);
    }
    return status;
}

/* ---- pixels ------------------------------------------------------------------------------------- */

/* Of a chip of SIDE x SIDE. */
static inline void place(const slc_io_pixels_chip *chip, uint16_t *x, uint16_t *y)
{
    const uint32_t last = SIDE - 1, along = *x % SIDE, own_x = chip->is_mirrored ? last - along : along;
    const uint32_t own_y = *y;
    const bool turned = chip->turns % 2 == 1;
    const uint32_t a = turned ? own_y : own_x, b = turned ? own_x : own_y;
    const bool back_x = chip->turns == 1 || chip->turns == 2, back_y = chip->turns == 2 || chip->turns == 3;
    *x = (uint16_t)(chip->x + (back_x ? last - a : a));
    *y = (uint16_t)(chip->y + (back_y ? last - b : b));
}

size_t slc_io_pixels_layout_run(const slc_io_pixels_options *options, slc_pixels *pixels, size_t first)
{
    const slc_io_pixels_layout *layout = options->layout;
    size_t to = first;
    for (size_t i = first; i < pixels->head.size; i++) {
        uint16_t x = pixels->x[i], y = pixels->y[i];
        const uint32_t chip = x / SIDE;
        if ((layout != NULL && !layout->chip[chip].is_there) ||
            (options->chips != NULL && (options->chips[chip / 8] >> chip % 8 & 1) == 0)) {
            continue;
        }
        if (layout != NULL) {
            place(&layout->chip[chip], &x, &y);
        }
        pixels->x[to] = x;
        pixels->y[to] = y;
        pixels->charge[to] = pixels->charge[i];
        pixels->time[to++] = pixels->time[i];
    }
    const size_t left_out = pixels->head.size - to;
    pixels->head.size = to;
    return left_out;
}
