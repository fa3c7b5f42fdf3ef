/* SPDX-License-Identifier: Apache-2.0
 * Three slices of a picture of what is in a scanner. */
#include "report/report_pet_sheet.h"

#include <sluice/report_pet.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 24, TITLE = 62, LONGEST = 460, LEAST = 120, LETTERS = 24 };

/* A slice across axis `across`, with axis x to the right and y upwards. */
typedef struct slice {
    const char *name, *x_label, *y_label;
    int x, y, across;
} slice;
static const slice slices[3] = {{"transverse", "x (mm)", "y (mm)", 0, 1, 2},
                                {"coronal", "z (mm)", "x (mm)", 2, 0, 1},
                                {"sagittal", "z (mm)", "y (mm)", 2, 1, 0}};

static size_t nearest(const slc_pet_look_image *image, int axis, double mm)
{
    const double at = (mm - image->first_mm[axis]) / image->voxel_mm + 0.5;
    return at < 0 ? 0 : at < image->n[axis] ? (size_t)at : image->n[axis] - 1U;
}

static void fill(const slc_pet_look_image *image, const slice *s, size_t at, float *value)
{
    const size_t stride[3] = {1, image->n[0], (size_t)image->n[0] * image->n[1]};
    for (size_t j = 0; j < image->n[s->y]; j++) {
        for (size_t i = 0; i < image->n[s->x]; i++) {
            value[j * image->n[s->x] + i] =
                image->value[i * stride[s->x] + j * stride[s->y] + at * stride[s->across]];
        }
    }
}

/* A cell with its neighbours in a row of so many, those that there are. */
static void smooth_row(float *value, size_t n, size_t stride)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): filled by its caller */
    float before = value[0];
    for (size_t i = 0; i < n; i++) {
        const float now = value[i * stride], after = i + 1 < n ? value[(i + 1) * stride] : now;
        value[i * stride] = 0.25F * before + 0.5F * now + 0.25F * after;
        before = now;
    }
}

/* The slice at a point, smoothed in its plane: each time widens by half a cell's square. */
static void fill_smooth(const slc_report_pet_look *look, const slice *s, float *value)
{
    const slc_pet_look_image *image = look->image;
    const size_t columns = image->n[s->x], rows = image->n[s->y];
    const double width = look->smooth_mm / 2.3548 / image->voxel_mm;
    fill(image, s, nearest(image, s->across, look->at_mm[s->across]), value);
    for (double done = 0; done + 0.25 < width * width; done += 0.5) {
        for (size_t j = 0; j < rows; j++) {
            smooth_row(value + j * columns, columns, 1);
        }
        for (size_t i = 0; i < columns; i++) {
            smooth_row(value + i, rows, columns);
        }
    }
}

static slc_report_axis axis_of(const slc_pet_look_image *image, int axis, const char *label)
{
    const double low = image->first_mm[axis] - 0.5 * image->voxel_mm;
    return (slc_report_axis){low, low + image->n[axis] * image->voxel_mm, label};
}

static size_t pixels_of(const slc_pet_look_image *image, int axis, double scale)
{
    const double pixels = scale * image->n[axis] * image->voxel_mm + 0.5;
    return pixels < LEAST ? LEAST : (size_t)pixels;
}

static void draw(const slc_report_canvas *canvas, const slc_report_pet_look *look, double scale, float *value)
{
    const slc_pet_look_image *image = look->image;
    static const char axes[] = "xyz";
    char text[96];
    size_t left = GAP + SLC_REPORT_MARGIN_LEFT, lowest = 0;
    float most = 0;
    for (int i = 0; i < 3; i++) {
        const slice *s = &slices[i];
        fill_smooth(look, s, value);
        for (size_t v = 0; v < (size_t)image->n[s->x] * image->n[s->y]; v++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): set where the call before it succeeds */
            most = fmaxf(most, value[v]);
        }
    }
    slc_report_canvas_text(canvas, GAP, 14, 2, SLC_REPORT_INK, look->title);
    slc_report_canvas_text(canvas, GAP, 36, 2, SLC_REPORT_FAINT, look->note);
    for (int i = 0; i < 3; i++) {
        const slice *s = &slices[i];
        (void)snprintf(text, sizeof text, "%s, %c = %.1f mm", s->name, axes[s->across],
                       look->at_mm[s->across]);
        slc_report_panel panel = {.left = left,
                                  .top = TITLE + SLC_REPORT_MARGIN_ABOVE,
                                  .width = pixels_of(image, s->x, scale),
                                  .height = pixels_of(image, s->y, scale),
                                  .x = axis_of(image, s->x, s->x_label),
                                  .y = axis_of(image, s->y, s->y_label),
                                  .title = text,
                                  .value = value,
                                  .columns = image->n[s->x],
                                  .rows = image->n[s->y],
                                  .smooth = true};
        fill_smooth(look, s, value);
        for (size_t v = 0; v < panel.columns * panel.rows; v++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): filled by its caller */
            value[v] /= most > 0 ? most : 1;
        }
        slc_report_panel_draw(canvas, &panel);
        slc_report_panel_cross(canvas, &panel, look->at_mm[s->x], look->at_mm[s->y]);
        const size_t letters = (size_t)LETTERS * 2 * SLC_REPORT_TEXT_WIDTH;
        left += (panel.width > letters ? panel.width : letters) + GAP + SLC_REPORT_MARGIN_LEFT;
        lowest = panel.top + panel.height > lowest ? panel.top + panel.height : lowest;
    }
    (void)snprintf(text, sizeof text, "%.3g", (double)most);
    slc_report_scale_draw(canvas, GAP + SLC_REPORT_MARGIN_LEFT, lowest + SLC_REPORT_MARGIN_BELOW + 6, 240,
                          "0", text, look->unit);
}

slc_status slc_report_pet_look_png(const char *path, const slc_report_pet_look *look, slc_error *error)
{
    const slc_pet_look_image *image = look->image;
    double longest = 0;
    size_t width = GAP, height = 0, most = 0;
    for (int k = 0; k < 3; k++) {
        longest = fmax(longest, image->n[k] * image->voxel_mm);
    }
    const double scale = LONGEST / longest;
    for (int i = 0; i < 3; i++) {
        const size_t letters = (size_t)LETTERS * 2 * SLC_REPORT_TEXT_WIDTH;
        const size_t across = pixels_of(image, slices[i].x, scale), up = pixels_of(image, slices[i].y, scale);
        const size_t values = (size_t)image->n[slices[i].x] * image->n[slices[i].y];
        width += (across > letters ? across : letters) + GAP + SLC_REPORT_MARGIN_LEFT;
        height = up > height ? up : height;
        most = values > most ? values : most;
    }
    height += TITLE + SLC_REPORT_MARGIN_ABOVE + SLC_REPORT_MARGIN_BELOW + 60;
    slc_report_canvas canvas = {.pixels = NULL};
    float *value = malloc(most * sizeof *value);
    slc_status status;
    if (value == NULL || !slc_report_sheet_open(&canvas, width, height)) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the picture", path);
    } else {
        draw(&canvas, look, scale, value);
        status = slc_report_sheet_write(&canvas, path, error);
    }
    free(value);
    free(canvas.pixels);
    return status;
}
