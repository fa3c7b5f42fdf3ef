/* SPDX-License-Identifier: Apache-2.0
 *
 * Binary images as formulas over x and y where there is one, drawn with a pen otherwise.
 */
#include "support/image_patterns.h"

#include "support/random.h"

#include <stdio.h>
#include <string.h>

/* ---- formulas ---------------------------------------------------------------------------------- */

typedef int (*formula)(size_t x, size_t y, size_t width, size_t height);

static void fill(uint8_t *on, size_t width, size_t height, formula f)
{
    for (size_t i = 0; i < width * height; i++) {
        on[i] = f(i % width, i / width, width, height) != 0;
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* FORMULA(name, expression): a pattern whose pixels are on where the expression is not 0. */
#define FORMULA(name, expression)                                                                            \
    static int name##_at(size_t x, size_t y, size_t w, size_t h)                                             \
    {                                                                                                        \
        (void)x, (void)y, (void)w, (void)h;                                                                  \
        return (expression) != 0;                                                                            \
    }                                                                                                        \
    static void name(uint8_t *on, size_t width, size_t height, uint64_t *seed)                               \
    {                                                                                                        \
        (void)seed;                                                                                          \
        fill(on, width, height, name##_at);                                                                  \
    }

FORMULA(empty, 0)
FORMULA(full, 1)
FORMULA(first_pixel, x == 0 && y == 0)
FORMULA(last_pixel, x == w - 1 && y == h - 1)
FORMULA(corners, (x == 0 || x == w - 1) && (y == 0 || y == h - 1))
FORMULA(middle_pixel, x == w / 2 && y == h / 2)
FORMULA(all_but_middle, x != w / 2 || y != h / 2)
FORMULA(frame, x == 0 || y == 0 || x == w - 1 || y == h - 1)
FORMULA(inside_frame, x > 0 && y > 0 && x < w - 1 && y < h - 1)
FORMULA(row_middle, y == h / 2)
FORMULA(row_last, y == h - 1)
FORMULA(column_first, x == 0)
FORMULA(column_last, x == w - 1)
FORMULA(column_middle, x == w / 2)
FORMULA(cross, x == w / 2 || y == h / 2)
FORMULA(chess_1, (x + y) % 2 == 0)
FORMULA(chess_1_odd, (x + y) % 2)
FORMULA(chess_2, (x / 2 + y / 2) % 2)
FORMULA(dots, x % 2 == 0 && y % 2 == 0)
FORMULA(holes, x % 2 == 0 || y % 2 == 0)
FORMULA(dots_3, x % 3 == 1 && y % 3 == 1)
FORMULA(stripes_across, y % 2 == 0)
FORMULA(stripes_down, x % 2 == 0)
FORMULA(stripes_down_63, x % 64 != 63)
FORMULA(stripes_down_64, x / 64 % 2)
FORMULA(diagonals_right, (x + 3 * h - y) % 3 == 0)
FORMULA(diagonals_left, (x + y) % 3 == 0)
FORMULA(diagonals_wide, (x + y) % 7 < 3)
FORMULA(comb_down, y == 0 || x % 2 == 0)
FORMULA(comb_up, y == h - 1 || x % 2 == 0)
FORMULA(comb_right, x == 0 || y % 2 == 0)
FORMULA(comb_left, x == w - 1 || y % 2 == 0)
FORMULA(comb_both, (x % 4 == 0 && y > 0) || (x % 4 == 2 && y < h - 1) || (y == h - 1 && x % 2 == 0))
FORMULA(rings, least(least(x, w - 1 - x), least(y, h - 1 - y)) % 2 == 0)
FORMULA(rings_off, least(least(x, w - 1 - x), least(y, h - 1 - y)) % 2)
FORMULA(rings_wide, least(least(x, w - 1 - x), least(y, h - 1 - y)) % 5 < 3)
FORMULA(stairs_right, x == y || x == y + 1)
FORMULA(stairs_left, x + y == w - 1 || x + y == w)
FORMULA(diagonal_right, x == y)
FORMULA(diagonal_left, x + y == w - 1)
FORMULA(stairs_many, (x + 6 * h - y) % 6 < 2)
FORMULA(stairs_many_left, (x + y) % 6 < 2)
/* U: two arms that meet in the last row. W: pairs of arms that meet at different depths. */
FORMULA(u_shapes, x % 4 != 3 && (x % 2 == 0 || y == h - 1))
FORMULA(w_shapes, x % 2 == 0 || (y == h - 1 - (x / 2) % (h / 2 + 1)))
FORMULA(w_tree, x % 2 == 0 || (((x + 1) & (~x)) != 0 && y == (h > 8 ? h - 8 : 0) + least(x / 16, 7)))
FORMULA(w_rising, x % 2 == 0 || y == h - 1 - least(h - 1, x / 2))
FORMULA(w_falling, x % 2 == 0 || y == least(h - 1, x / 2))
/* A line that goes down one step to the right at a time and back up, touching by corners. */
FORMULA(zig_zag, y % 8 == (x % 8 < 4 ? x % 4 : 3 - x % 4))
FORMULA(zig_zag_tall, x % 8 == (y % 8 < 4 ? y % 4 : 3 - y % 4))
FORMULA(snake, y % 4 == 0 || (y % 4 == 1 && x == w - 1) || (y % 4 == 2) || (y % 4 == 3 && x == 0))
FORMULA(snake_open, y % 2 == 0 || (y % 4 == 1 && x == w - 1) || (y % 4 == 3 && x == 0))
FORMULA(snake_down, x % 2 == 0 || (x % 4 == 1 && y == h - 1) || (x % 4 == 3 && y == 0))
FORMULA(diamonds, (x % 9 > 4 ? x % 9 - 4 : 4 - x % 9) + (y % 9 > 4 ? y % 9 - 4 : 4 - y % 9) == 4)
/* Bit patterns of x AND y: a Sierpinski gasket, with components of every size. */
FORMULA(gasket, (x & y) == 0)
FORMULA(gasket_off, x &y)

/* ---- drawn ------------------------------------------------------------------------------------- */

typedef struct pen {
    uint8_t *on;
    size_t width, height, x, y;
    int dx, dy;
} pen;

static int is_on(const pen *p, size_t x, size_t y)
{
    return x < p->width && y < p->height && p->on[y * p->width + x] != 0;
}

/* May the pen go on without touching what it drew earlier? */
static int is_free(const pen *p)
{
    const size_t x = p->x + (size_t)p->dx, y = p->y + (size_t)p->dy;
    const size_t x2 = x + (size_t)p->dx, y2 = y + (size_t)p->dy;
    return x < p->width && y < p->height && !is_on(p, x, y) && !is_on(p, x2, y2);
}

/* From the upper left corner inwards, one pixel wide with one pixel between the turns. */
static void spiral(uint8_t *on, size_t width, size_t height, int clockwise)
{
    memset(on, 0, width * height);
    pen p = {.on = on, .width = width, .height = height, .dx = clockwise, .dy = !clockwise};
    on[0] = 1;
    for (int turns = 0; turns < 2;) {
        if (is_free(&p)) {
            p.x += (size_t)p.dx;
            p.y += (size_t)p.dy;
            on[p.y * width + p.x] = 1;
            turns = 0;
        } else {
            const int dx = p.dx;
            p.dx = clockwise ? -p.dy : p.dy;
            p.dy = clockwise ? dx : -dx;
            turns++;
        }
    }
}

static void spiral_right(uint8_t *on, size_t width, size_t height, uint64_t *seed)
{
    (void)seed;
    spiral(on, width, height, 1);
}

static void spiral_left(uint8_t *on, size_t width, size_t height, uint64_t *seed)
{
    (void)seed;
    spiral(on, width, height, 0);
}

/* The same, from the last pixel to the first. */
static void spiral_turned(uint8_t *on, size_t width, size_t height, uint64_t *seed)
{
    (void)seed;
    spiral(on, width, height, 1);
    for (size_t i = 0, k = width * height - 1; i < k; i++, k--) {
        const uint8_t keep = on[i];
        on[i] = on[k];
        on[k] = keep;
    }
}

static void blobs(uint8_t *on, size_t width, size_t height, uint64_t *seed)
{
    memset(on, 0, width * height);
    for (size_t n = width * height / 150 + 1; n > 0; n--) {
        const long cx = (long)random_below(seed, (uint32_t)width);
        const long cy = (long)random_below(seed, (uint32_t)height), r = (long)random_below(seed, 9);
        for (long y = cy - r; y <= cy + r; y++) {
            for (long x = cx - r; x <= cx + r; x++) {
                if (x >= 0 && y >= 0 && x < (long)width && y < (long)height &&
                    (x - cx) * (x - cx) + (y - cy) * (y - cy) <= r * r) {
                    on[(size_t)y * width + (size_t)x] ^= 1;
                }
            }
        }
    }
}

/* Lines of words of letters: boxes of 5 x 7 with strokes in the places of a seven-segment display and two
 * diagonals. */
static void text(uint8_t *on, size_t width, size_t height, uint64_t *seed)
{
    memset(on, 0, width * height);
    for (size_t top = 1; top < height; top += 10) {
        for (size_t left = 1; left < width; left += 7) {
            const uint32_t strokes = random_below(seed, 6) == 0 ? 0 : random_below(seed, 512);
            for (size_t k = 0; k < 35; k++) {
                const size_t x = k % 5, y = k / 5;
                const int at = (y == 0) << 0 | (y == 3) << 1 | (y == 6) << 2 | (x == 0 && y < 3) << 3 |
                               (x == 0 && y > 3) << 4 | (x == 4 && y < 3) << 5 | (x == 4 && y > 3) << 6 |
                               (x == y) << 7 | (x + y == 6) << 8;
                if (left + x < width && top + y < height && ((uint32_t)at & strokes) != 0) {
                    on[(top + y) * width + left + x] = 1;
                }
            }
        }
    }
}

void image_macro_pixels(uint8_t *on, size_t width, size_t height, uint32_t g, uint32_t percent,
                        uint64_t *seed)
{
    for (size_t y = 0; y < height; y += g) {
        for (size_t x = 0; x < width; x += g) {
            const uint8_t value = random_below(seed, 100) < percent;
            for (size_t i = y; i < least(y + g, height); i++) {
                memset(on + i * width + x, value, least(g, width - x));
            }
        }
    }
}

static void macro_pixels(uint8_t *on, size_t width, size_t height, uint64_t *seed)
{
    const uint32_t g = 1 + random_below(seed, random_below(seed, 2) == 0 ? 2 : 16);
    image_macro_pixels(on, width, height, g, random_below(seed, 101), seed);
}

/* Near the densities at which components grow through the whole image. */
static void percolation(uint8_t *on, size_t width, size_t height, uint64_t *seed)
{
    image_macro_pixels(on, width, height, 1, 38 + random_below(seed, 25), seed);
}

/* Long and short runs in random rows. */
static void runs(uint8_t *on, size_t width, size_t height, uint64_t *seed)
{
    uint8_t now = 0;
    const uint32_t one_in = 1 + random_below(seed, 100);
    for (size_t i = 0; i < width * height; i++) {
        now ^= random_below(seed, one_in) == 0;
        on[i] = now;
    }
}

#define PATTERN(name)                                                                                        \
    {                                                                                                        \
#name, name                                                                                          \
    }
const image_pattern image_patterns[] = {
    PATTERN(empty),
    PATTERN(full),
    PATTERN(first_pixel),
    PATTERN(last_pixel),
    PATTERN(corners),
    PATTERN(middle_pixel),
    PATTERN(all_but_middle),
    PATTERN(frame),
    PATTERN(inside_frame),
    PATTERN(row_middle),
    PATTERN(row_last),
    PATTERN(column_first),
    PATTERN(column_last),
    PATTERN(column_middle),
    PATTERN(cross),
    PATTERN(chess_1),
    PATTERN(chess_1_odd),
    PATTERN(chess_2),
    PATTERN(dots),
    PATTERN(holes),
    PATTERN(dots_3),
    PATTERN(stripes_across),
    PATTERN(stripes_down),
    PATTERN(stripes_down_63),
    PATTERN(stripes_down_64),
    PATTERN(diagonals_right),
    PATTERN(diagonals_left),
    PATTERN(diagonals_wide),
    PATTERN(comb_down),
    PATTERN(comb_up),
    PATTERN(comb_right),
    PATTERN(comb_left),
    PATTERN(comb_both),
    PATTERN(rings),
    PATTERN(rings_off),
    PATTERN(rings_wide),
    PATTERN(stairs_right),
    PATTERN(stairs_left),
    PATTERN(diagonal_right),
    PATTERN(diagonal_left),
    PATTERN(stairs_many),
    PATTERN(stairs_many_left),
    PATTERN(u_shapes),
    PATTERN(w_shapes),
    PATTERN(w_tree),
    PATTERN(w_rising),
    PATTERN(w_falling),
    PATTERN(zig_zag),
    PATTERN(zig_zag_tall),
    PATTERN(snake),
    PATTERN(snake_open),
    PATTERN(snake_down),
    PATTERN(diamonds),
    PATTERN(gasket),
    PATTERN(gasket_off),
    PATTERN(spiral_right),
    PATTERN(spiral_left),
    PATTERN(spiral_turned),
    PATTERN(blobs),
    PATTERN(text),
    PATTERN(macro_pixels),
    PATTERN(percolation),
    PATTERN(runs),
    {NULL, NULL},
};

const char *image_pattern_any(uint8_t *on, size_t width, size_t height, uint64_t *seed)
{
    enum { N = sizeof image_patterns / sizeof *image_patterns - 1 };
    static char name[64];
    if (random_below(seed, 2) == 0) {
        const image_pattern *pattern = &image_patterns[random_below(seed, N)];
        pattern->draw(on, width, height, seed);
        return pattern->name;
    }
    const uint32_t g = 1 + random_below(seed, random_below(seed, 2) == 0 ? 2 : 16);
    const uint32_t percent = random_below(seed, 101);
    image_macro_pixels(on, width, height, g, percent, seed);
    (void)snprintf(name, sizeof name, "macro-pixels of %u at %u %%", g, percent);
    return name;
}

void image_scene(uint8_t *grey, size_t width, size_t height, uint64_t *seed)
{
    const uint32_t tilt = random_below(seed, 100);
    for (size_t i = 0; i < width * height; i++) {
        const size_t x = i % width, y = i / width;
        uint32_t value = (uint32_t)((x * tilt / width + y * (99 - tilt) / height)) + 40;
        if ((x / 3 + y / 2) % 29 == 0) {
            value += 60; /* lines at an angle */
        }
        grey[i] = (uint8_t)(value + random_below(seed, 24));
    }
    for (uint32_t n = 0; n < 12; n++) {
        const uint64_t cx = random_below(seed, (uint32_t)width), cy = random_below(seed, (uint32_t)height);
        const uint64_t r = 1 + random_below(seed, (uint32_t)(least(width, height) / 4 + 1));
        const uint32_t bright = random_below(seed, 230);
        for (size_t i = 0; i < width * height; i++) {
            const uint64_t dx = i % width - cx, dy = i / width - cy, d = dx * dx + dy * dy;
            if (d < r * r) {
                grey[i] = (uint8_t)(bright + (r * r - d) * 20 / (r * r) + grey[i] % 5);
            }
        }
    }
}
