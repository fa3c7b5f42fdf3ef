/* SPDX-License-Identifier: Apache-2.0
 * The page of images that are labelled: the newest one, and its components. */
#include "live/live_flow_part.h"

#include <math.h>
#include <string.h>

#define GROUP     "Images"
#define PICTURE_S 0.9 /* from one picture to the next */
enum { SIDE = 512, AREAS = 4096, PIECE = 1024 };

typedef struct own {
    uint64_t pages, pixels, components, filtered, foreground, faults;
    double seconds;
    /* Of the newest page. */
    double threshold;
    uint64_t of_page;
    size_t page_width, page_height;
    uint64_t areas[AREAS + 1], sampled; /* of the sample; the last bin: all that is more */
    double pictured_at;                 /* 0: never */
    uint32_t width, height, cells[SIDE * SIDE];
} own;

/* ---- the sample -------------------------------------------------------------------------------- */

static uint32_t value_of(const slc_image *image, size_t x, size_t y)
{
    const char *row = (const char *)image->pixels + (ptrdiff_t)y * image->stride;
    uint16_t narrow;
    uint32_t wide;
    float real;
    switch (image->type) {
    case SLC_IMAGE_U8:
        return (uint8_t)row[x];
    case SLC_IMAGE_U16:
        memcpy(&narrow, row + 2 * x, sizeof narrow);
        return narrow;
    case SLC_IMAGE_U32:
        memcpy(&wide, row + 4 * x, sizeof wide);
        return wide;
    case SLC_IMAGE_F32:
        memcpy(&real, row + 4 * x, sizeof real);
        return real > 0 ? (uint32_t)fminf(real, 4e9F) : 0;
    default: /* bits */
        return (uint32_t)((unsigned char)row[x / 8] >> x % 8 & 1);
    }
}

/* One pixel of each cell: what is looked at is where things are, not how bright. Rows of pictures go up. */
static void picture(own *o, const slc_image *image)
{
    const size_t largest = image->width > image->height ? image->width : image->height;
    const size_t step = (largest - 1) / SIDE + 1;
    o->width = (uint32_t)((image->width - 1) / step + 1);
    o->height = (uint32_t)((image->height - 1) / step + 1);
    for (uint32_t y = 0; y < o->height; y++) {
        for (uint32_t x = 0; x < o->width; x++) {
            o->cells[(size_t)(o->height - 1 - y) * o->width + x] = value_of(image, x * step, y * step);
        }
    }
}

static void look_at(own *o, const slc_live_flow *page, const slc_image_components *c)
{
    const size_t n = c->head.size;
    for (size_t i = 0; i < n && c->area != NULL; i++) {
        o->foreground += c->area[i];
    }
    for (size_t i = 0; i < n && c->area != NULL && slc_live_budget_left(&page->budget); i += PIECE) {
        for (size_t k = i; k < n && k < i + PIECE; k++) {
            o->areas[c->area[k] < AREAS ? c->area[k] : AREAS]++;
            o->sampled++;
        }
    }
    o->components += n;
    o->of_page += n;
}

static void add(slc_live_flow *page, const slc_flow_item *item)
{
    own *o = page->own;
    const slc_flow_image_result *r = item->result;
    const double now = slc_clock_seconds();
    o->pages++;
    o->pixels += (uint64_t)r->image.width * r->image.height;
    o->page_width = r->image.width;
    o->page_height = r->image.height;
    o->threshold = r->threshold;
    o->filtered += r->filtered;
    o->faults += r->fault != NULL;
    o->seconds += r->seconds;
    o->of_page = 0;
    look_at(o, page, &r->components);
    if (r->image.pixels != NULL && r->image.width > 0 && r->image.height > 0 &&
        (o->pictured_at <= 0 || (now - o->pictured_at > PICTURE_S && slc_live_wants(page->live, 0)))) {
        picture(o, &r->image);
        o->pictured_at = now;
    }
}

void slc_live_flow_add_components(slc_live_flow *page, const slc_image_components *components)
{
    if (page != NULL && page->view == &slc_live_view_image) {
        slc_live_budget_begin(&page->budget);
        look_at(page->own, page, components);
        slc_live_budget_end(&page->budget);
    }
}

/* ---- what is put ------------------------------------------------------------------------------- */

static void put_picture(const own *o, slc_live *live)
{
    if (o->width == 0) {
        return;
    }
    slc_live_put_map(live, &(slc_live_map){.group = "Newest page",
                                           .title = "Grey values",
                                           .x = "column of the picture",
                                           .y = "row from below",
                                           .unit = "value",
                                           .count = 1});
    slc_live_put_cells(live, 0, o->width, o->height, o->cells);
}

static void put(slc_live_flow *page, const slc_live_flow_state *now)
{
    const own *o = page->own;
    slc_live *live = page->live;
    (void)now;
    const slc_live_counted list[] = {
        {"sluice_label_pages_total", "Pages that were read.", "Pages", SLC_LIVE_KEEP, (double)o->pages},
        {"sluice_label_pixels_total", "Pixels of the pages.", "Pixels", SLC_LIVE_KEEP, (double)o->pixels},
        {"sluice_label_components_total", "Components that were found and kept.", "Components", SLC_LIVE_KEEP,
         (double)o->components},
        {"sluice_label_filtered_total", "Components that a filter left out.", "Left out by filters", 0,
         (double)o->filtered},
        {"sluice_label_foreground_pixels_total", "Pixels of the components.", "Foreground pixels", 0,
         (double)o->foreground},
        {"sluice_label_faults_total", "Pages that could not be labelled.", "Pages that are no use",
         SLC_LIVE_ALARM, (double)o->faults},
        {"sluice_label_seconds_total", "Time of labelling, where the flow does it.", NULL, 0, o->seconds},
        {"sluice_label_sampled_total", "Components that the distribution is of.", "In the distribution", 0,
         (double)o->sampled},
    };
    SLC_LIVE_PUT(live, GROUP, SLC_LIVE_COUNTER, list);
    slc_live_put_each(live, GROUP, "Components a page", o->components, o->pages);
    const slc_live_counted newest[] = {
        {"sluice_label_page_width", "Width of the newest page, pixels.", "Width", 0, (double)o->page_width},
        {"sluice_label_page_height", "Height of the newest page, pixels.", "Height", 0,
         (double)o->page_height},
        {"sluice_label_page_components", "Components of the newest page so far.", "Components so far",
         SLC_LIVE_KEEP, (double)o->of_page},
        {"sluice_label_threshold", "Threshold of the newest page.", "Threshold", 0,
         o->pages > 0 ? o->threshold : NAN},
    };
    SLC_LIVE_PUT(live, "Newest page", SLC_LIVE_GAUGE, newest);
    put_picture(o, live);
    slc_live_put_bins(live, &(slc_live_bins){.group = "Components",
                                             .title = "Areas of components",
                                             .x = "pixels",
                                             .y = "components of a sample",
                                             .width = 1,
                                             .of = o->areas,
                                             .n = AREAS + 1});
}

const slc_live_view slc_live_view_image = {
    .chain = &slc_flow_image, .group = GROUP, .bytes = sizeof(own), .add = add, .put = put};
