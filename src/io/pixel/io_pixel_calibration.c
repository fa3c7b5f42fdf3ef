/* SPDX-License-Identifier: Apache-2.0
 *
 * Calibrations of ToT: four matrices of a, b, c and t, a file each, as Pixet saves them (text) or as NPY
 * arrays; one NPY array of all four; or a list with a pixel a line. docs/formats/pixel-tables.md.
 */
#include "io/io_npy.h"
#include "io/pixel/io_pixel_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 512 << 20, WORD = 64, SPACE = UINT16_MAX + 1, LIST = 6 };

/* ---- text --------------------------------------------------------------------------------------- */

typedef struct text_reader {
    const char *at, *end, *name;
    size_t line;
    char between; /* of numbers: ',' or ' '; 0: not yet known */
    slc_error *error;
} text_reader;

static slc_status wrong(const text_reader *r, const char *reason)
{
    return slc_fail(r->error, SLC_ERR_FORMAT, "%s: line %zu: %s", r->name, r->line, reason);
}

/* What is before the next number of the line; a comma with the point's meaning would give twice the numbers.
 */
static bool pass_between(text_reader *r, const char *end, bool is_first)
{
    bool blank = false, comma = false;
    for (; r->at < end && strchr(" \t\r,;", *r->at) != NULL && *r->at != 0; r->at++) {
        const bool is_comma = *r->at == ',' || *r->at == ';';
        if (is_comma && comma) {
            return false; /* nothing between two of them */
        }
        blank = blank || !is_comma;
        comma = comma || is_comma;
    }
    if (r->at == end || *r->at == '#' || is_first) {
        return !(is_first && comma);
    }
    const char here = comma ? ',' : ' ';
    const bool alike = r->between == 0 || r->between == here;
    r->between = here;
    return alike && (blank || comma);
}

/* Numbers of the line up to `end`: as many as there are; values beyond `room` are counted alone. */
static slc_status take_numbers(text_reader *r, const char *end, double *values, size_t room, size_t *n)
{
    for (*n = 0;; ++*n) {
        char word[WORD], *rest = NULL;
        size_t size = 0;
        if (!pass_between(r, end, *n == 0)) {
            return wrong(r, "numbers have a point, and between them blanks, or one comma, everywhere");
        }
        if (r->at == end || *r->at == '#') {
            return SLC_OK;
        }
        while (r->at < end && size < WORD - 1 && strchr(" \t\r,;#", *r->at) == NULL) {
            word[size++] = *r->at++;
        }
        word[size] = 0;
        const double value = strtod(word, &rest);
        if (size == 0 || *rest != 0) {
            return wrong(r, "no number where one is needed");
        }
        if (*n < room) {
            values[*n] = value;
        }
    }
}

static const char *line_end(const text_reader *r)
{
    return memchr(r->at, '\n', (size_t)(r->end - r->at));
}

static slc_status parse_list(const char *text, size_t size, const char *name, slc_io_pixels_tables *tables,
                             slc_error *error)
{
    text_reader r = {.at = text, .end = text + size, .name = name, .line = 1, .error = error};
    slc_status status = SLC_OK;
    for (; r.at < r.end && status == SLC_OK; r.line++) {
        const char *newline = line_end(&r);
        double v[LIST];
        size_t n = 0;
        if (newline == NULL) {
            return wrong(&r, "the last line has no end: the file is cut");
        }
        status = take_numbers(&r, newline, v, LIST, &n);
        if (status == SLC_OK && n != 0) {
            if (n != LIST || !(v[0] >= 0 && v[0] < SPACE && v[1] >= 0 && v[1] < SPACE) ||
                floor(v[0]) != v[0] || floor(v[1]) != v[1]) {
                return wrong(&r, "a calibrated pixel is x and y (0 to 65535), a, b, c and t");
            }
            if (!isfinite(v[2]) || !isfinite(v[3]) || !isfinite(v[4]) || !isfinite(v[5])) {
                return wrong(&r, "a, b, c and t are to be numbers: a pixel without them is left out");
            }
            const slc_pixel_calibration of = {v[2], v[3], v[4], v[5]};
            status = slc_io_pixels_calibration_put_once(tables, (uint32_t)v[0], (uint32_t)v[1], &of, error);
            if (status == SLC_END) {
                char reason[96];
                (void)snprintf(reason, sizeof reason, "the pixel at x %.0f, y %.0f has a line before it",
                               v[0], v[1]);
                return wrong(&r, reason);
            }
        }
        r.at = newline + 1;
    }
    return status;
}

/* ---- matrices ----------------------------------------------------------------------------------- */

/* values[(plane * height + y) * width + x] */
typedef struct matrix {
    double *values;
    size_t planes, height, width;
} matrix;

static slc_status no_memory(const char *name, slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a calibration", name);
}

/* One line more of the matrix. */
static slc_status take_row(text_reader *r, const char *end, matrix *m, size_t *capacity)
{
    size_t n = 0;
    const size_t used = m->height * m->width, room = m->height > 0 ? m->width : SPACE;
    if (used + room > *capacity) {
        const size_t larger = 2 * *capacity + room;
        double *values = realloc(m->values, larger * sizeof *values);
        if (values == NULL) {
            return no_memory(r->name, r->error);
        }
        m->values = values;
        *capacity = larger;
    }
    const slc_status status = take_numbers(r, end, m->values + used, room, &n);
    if (status != SLC_OK || n == 0) {
        return status;
    }
    if (n > SPACE || (m->height > 0 && n != m->width) || m->height == SPACE) {
        return wrong(r, m->height == SPACE ? "more than 65536 rows"
                                           : "this row is not as long as those before it");
    }
    m->width = n;
    m->height++;
    return SLC_OK;
}

static slc_status parse_text_matrix(const char *text, size_t size, const char *name, matrix *m,
                                    slc_error *error)
{
    text_reader r = {.at = text, .end = text + size, .name = name, .line = 1, .error = error};
    size_t capacity = 0;
    slc_status status = SLC_OK;
    m->planes = 1;
    for (; r.at < r.end && status == SLC_OK; r.line++) {
        const char *newline = line_end(&r);
        if (newline == NULL) {
            return wrong(&r, "the last line has no end: the file is cut");
        }
        status = take_row(&r, newline, m, &capacity);
        r.at = newline + 1;
    }
    return status == SLC_OK && m->height == 0 ? wrong(&r, "there are no numbers") : status;
}

static double load(const slc_io_npy_header *header, const uint8_t *from, size_t size)
{
    const bool little = slc_io_number_little_endian() != header->swap;
    uint64_t bits = 0;
    double wide;
    float narrow;
    for (size_t i = 0; i < size; i++) {
        bits |= (uint64_t)from[i] << 8 * (little ? i : size - 1 - i);
    }
    if (size == sizeof wide) {
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
    const uint32_t half = (uint32_t)bits;
    memcpy(&narrow, &half, sizeof narrow);
    return (double)narrow;
}

static slc_status take_array(slc_io_stream *stream, const slc_io_npy_header *header, size_t dimensions,
                             matrix *m, slc_error *error)
{
    const uint64_t *shape = header->shape + (dimensions == 3 ? 1 : 0);
    const size_t size = header->number == SLC_IO_NUMBER_F64 ? 8 : 4;
    const uint8_t *bytes = NULL;
    size_t visible = 0;
    if ((header->number != SLC_IO_NUMBER_F64 && header->number != SLC_IO_NUMBER_F32) ||
        header->n_dimensions != dimensions || (dimensions == 3 && header->shape[0] != 4) || shape[0] == 0 ||
        shape[1] == 0 || shape[0] > SPACE || shape[1] > SPACE || header->fortran) {
        return slc_io_stream_fail(stream, error, SLC_ERR_FORMAT, header->shape_at,
                                  "a calibration is an array of f4 or f8 in C order, %s",
                                  dimensions == 3 ? "4 x height x width" : "height x width");
    }
    m->planes = dimensions == 3 ? 4 : 1;
    m->height = (size_t)shape[0];
    m->width = (size_t)shape[1];
    const uint64_t n = (uint64_t)m->planes * m->height * m->width;
    slc_status status = slc_io_stream_peek(stream, n * size + 1, &bytes, &visible, error);
    if (status == SLC_OK && visible != n * size) {
        status = slc_io_stream_fail(stream, error, SLC_ERR_FORMAT, stream->offset, "%s the array",
                                    visible < n * size ? "the file ends inside of"
                                                       : "the file goes on behind");
    }
    m->values = status == SLC_OK ? malloc(n * sizeof *m->values) : NULL;
    if (m->values == NULL) {
        return status == SLC_OK ? no_memory(stream->name, error) : status;
    }
    for (uint64_t i = 0; i < n; i++) {
        m->values[i] = load(header, bytes + i * size, size);
    }
    return SLC_OK;
}

static slc_status parse_npy(const char *text, size_t size, const char *name, size_t dimensions, matrix *m,
                            slc_error *error)
{
    slc_io_stream stream;
    slc_io_npy_header header;
    slc_status status = slc_io_stream_open_memory(&stream, text, size, name, error);
    if (status != SLC_OK) {
        return status;
    }
    status = slc_io_npy_read_header(&stream, &header, error);
    status = status == SLC_OK ? take_array(&stream, &header, dimensions, m, error) : status;
    slc_io_stream_close(&stream);
    return status;
}

/* ---- files -------------------------------------------------------------------------------------- */

static slc_status put_matrices(const double *const of[4], size_t height, size_t width,
                               slc_io_pixels_tables *tables, slc_error *error)
{
    slc_status status = SLC_OK;
    for (size_t i = 0; i < height * width && status == SLC_OK; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no status is SLC_OK after slc_fail */
        const slc_pixel_calibration one = {of[0][i], of[1][i], of[2][i], of[3][i]};
        status = slc_io_pixels_calibration_put(tables, (uint32_t)(i % width), (uint32_t)(i / width), &one,
                                               error);
    }
    return status;
}

/* After reading with `status`: a calibration that has none is a wrong file. */
static slc_status settle(slc_io_pixels_tables *tables, slc_status status, const char *name, slc_error *error)
{
    if (status == SLC_OK && tables->n_calibrated == tables->n_settled) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: no pixel has a calibration with a > 0 and c >= 0", name);
    }
    tables->n_settled = tables->n_calibrated;
    return status;
}

slc_status slc_io_pixels_calibration_parse(const char *text, size_t size, const char *name,
                                           slc_io_pixels_tables *tables, slc_error *error)
{
    matrix m = {.values = NULL};
    slc_status status;
    if (!slc_io_npy_probe((const uint8_t *)text, size)) {
        status = parse_list(text, size, name, tables, error);
        return settle(tables, status, name, error);
    }
    status = parse_npy(text, size, name, 3, &m, error);
    if (status == SLC_OK) {
        const size_t plane = m.height * m.width;
        const double *const of[] = {m.values, m.values + plane, m.values + 2 * plane, m.values + 3 * plane};
        status = put_matrices(of, m.height, m.width, tables, error);
    }
    free(m.values);
    return settle(tables, status, name, error);
}

slc_status slc_io_pixels_calibration_parse_four(const char *const text[4], const size_t size[4],
                                                const char *const name[4], slc_io_pixels_tables *tables,
                                                slc_error *error)
{
    matrix m[4] = {{.values = NULL}};
    slc_status status = SLC_OK;
    for (int i = 0; i < 4 && status == SLC_OK; i++) {
        status = slc_io_npy_probe((const uint8_t *)text[i], size[i])
                     ? parse_npy(text[i], size[i], name[i], 2, &m[i], error)
                     : parse_text_matrix(text[i], size[i], name[i], &m[i], error);
        if (status == SLC_OK && (m[i].height != m[0].height || m[i].width != m[0].width)) {
            status = slc_fail(error, SLC_ERR_FORMAT, "%s: %zu x %zu numbers, where %s has %zu x %zu", name[i],
                              m[i].width, m[i].height, name[0], m[0].width, m[0].height);
        }
    }
    if (status == SLC_OK) {
        const double *const of[] = {m[0].values, m[1].values, m[2].values, m[3].values};
        status = settle(tables, put_matrices(of, m[0].height, m[0].width, tables, error), name[0], error);
    }
    for (int i = 0; i < 4; i++) {
        free(m[i].values);
    }
    return status;
}

static slc_status read_four(const char *const path[4], slc_io_pixels_tables *tables, slc_error *error)
{
    void *bytes[4] = {NULL};
    size_t size[4] = {0};
    slc_status status = SLC_OK;
    for (int i = 0; i < 4 && status == SLC_OK; i++) {
        status = slc_io_read_file(path[i], MOST_BYTES, &bytes[i], &size[i], error);
    }
    if (status == SLC_OK) {
        const char *const text[] = {bytes[0], bytes[1], bytes[2], bytes[3]};
        status = slc_io_pixels_calibration_parse_four(text, size, path, tables, error);
    }
    for (int i = 0; i < 4; i++) {
        free(bytes[i]);
    }
    return status;
}

enum { LONGEST = 4096 };

/* Four files as Pixet saves them, or MAFalda's users name them. */
static bool find_four(const char *path, char name[4][LONGEST])
{
    static const char *const forms[][2] = {{"calib", "txt"}, {"_Calib_", "txt"}, {"calib", "npy"}};
    bool all = false;
    for (size_t form = 0; form < sizeof forms / sizeof *forms && !all; form++) {
        struct stat about;
        all = true;
        for (int i = 0; i < 4; i++) {
            const int n = snprintf(name[i], LONGEST, "%s/%s%c.%s", path, forms[form][0], "abct"[i],
                                   forms[form][1]);
            all = all && n > 0 && n < LONGEST && stat(name[i], &about) == 0;
        }
    }
    return all;
}

static slc_status read_folder(const char *path, slc_io_pixels_tables *tables, slc_error *error)
{
    char name[4][LONGEST];
    const char *const four[] = {name[0], name[1], name[2], name[3]};
    return find_four(path, name)
               ? read_four(four, tables, error)
               : slc_fail(error, SLC_ERR_IO,
                          "%s: a folder without caliba.txt, calibb.txt, calibc.txt and calibt.txt (or "
                          "_Calib_a.txt, caliba.npy …), or chip0, chip1 … of chips",
                          path);
}

/* "a,b,c,t"; a name with a comma that is there is one file. */
static slc_status read_named(const char *names, slc_io_pixels_tables *tables, slc_error *error)
{
    const size_t size = strlen(names) + 1;
    char *copy = malloc(size);
    const char *four[4] = {copy};
    int n = 1;
    if (copy == NULL) {
        return no_memory(names, error);
    }
    memcpy(copy, names, size);
    for (char *comma = copy; (comma = strchr(comma, ',')) != NULL; n++) {
        *comma++ = 0;
        if (n < 4) {
            four[n] = comma;
        }
    }
    const slc_status status = n == 4
                                  ? read_four(four, tables, error)
                                  : slc_fail(error, SLC_ERR_USAGE,
                                             "%s: four files are needed, of a, b, c and t, not %d", names, n);
    free(copy);
    return status;
}

static slc_status read_file(const char *path, slc_io_pixels_tables *tables, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_status status = slc_io_read_file(path, MOST_BYTES, &bytes, &size, error);
    if (status == SLC_OK) {
        status = slc_io_pixels_calibration_parse(bytes, size, path, tables, error);
    }
    free(bytes);
    return status;
}

/* Of each chip what the folder has of it: a folder chipK, or a file chipK.npy or chipK.txt. */
static slc_status read_chips(const char *path, slc_io_pixels_tables *tables, uint32_t *n_chips,
                             slc_error *error)
{
    static const char *const ends[] = {"", ".npy", ".txt"};
    slc_status status = SLC_OK;
    *n_chips = 0;
    for (uint32_t chip = 0; chip < SLC_PIXEL_TILES && status == SLC_OK; chip++) {
        bool found = false;
        for (size_t i = 0; i < sizeof ends / sizeof *ends && status == SLC_OK; i++) {
            char name[LONGEST];
            struct stat about;
            const int n = snprintf(name, sizeof name, "%s/chip%u%s", path, chip, ends[i]);
            if (n < 0 || (size_t)n >= sizeof name || stat(name, &about) != 0) {
                continue;
            }
            if (found) {
                return slc_fail(error, SLC_ERR_FORMAT, "%s: chip %u has more than one calibration", name,
                                chip);
            }
            found = true;
            tables->of_chip = name;
            tables->chip = chip;
            status = S_ISDIR(about.st_mode) ? read_folder(name, tables, error)
                                            : read_file(name, tables, error);
            tables->of_chip = NULL;
            tables->chip = 0;
        }
        *n_chips += found;
    }
    return status;
}

slc_status slc_io_pixels_calibration_read(const char *path, slc_io_pixels_tables *tables, slc_error *error)
{
    struct stat about;
    const bool there = stat(path, &about) == 0;
    if (there && S_ISDIR(about.st_mode)) {
        uint32_t n_chips;
        char all[4][LONGEST];
        const slc_status status = read_chips(path, tables, &n_chips, error);
        if (status == SLC_OK && n_chips > 0 && find_four(path, all)) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s: has calibrations of chips, and %s: which is meant?",
                            path, all[0]);
        }
        return n_chips > 0 || status != SLC_OK ? status : read_folder(path, tables, error);
    }
    return !there && strchr(path, ',') != NULL ? read_named(path, tables, error)
                                               : read_file(path, tables, error);
}
