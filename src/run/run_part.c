/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of a run. Of as many inputs as parts, or more, each part has some that follow one another, shared out
 * by bytes. Of fewer, all are one long row of bytes (pages, frames) that is cut into N equal pieces, and what
 * begins in a piece belongs to it. So the parts are in the order of the inputs, and their results one after
 * the other are those of one run.
 */
#include "run/run_part.h"

#include "base/columns.h"
#include "io/image/io_image_source.h"
#include "io/io_part.h"

#include <sluice/run_flow_hlt1.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- how much an input has ----------------------------------------------------------------------- */

/* A pipe gives its bytes to one process, and a file that is not there has no size to go by. */
static slc_status count_bytes(const char *path, uint64_t *n, slc_error *error)
{
    struct stat about;
    if (strcmp(path, "-") == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "standard input has no parts: a part is of files");
    }
    if (stat(path, &about) != 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: %s: parts are cut by the sizes of all inputs", path,
                        strerror(errno));
    }
    if (!S_ISREG(about.st_mode)) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: is no regular file, and has no parts", path);
    }
    *n = (uint64_t)about.st_size;
    return SLC_OK;
}

static slc_status count_pages(const char *path, uint64_t *n, slc_error *error)
{
    slc_io_images *images = NULL;
    slc_status status = slc_io_images_open(path, NULL, &images, error);
    *n = 0;
    if (status == SLC_OK) {
        status = slc_io_images_count(images, n, error);
    }
    slc_io_images_close(images);
    return status;
}

static slc_status read_frames(slc_io_pixels *file, const slc_schema *schema, slc_pixels *pixels, uint64_t *n,
                              slc_error *error)
{
    size_t room = 1 << 16;
    slc_status status = SLC_OK;
    while (status == SLC_OK) {
        status = slc_columns_reserve(schema, pixels, room, 1 << 16);
        if (status != SLC_OK) {
            return slc_fail(error, status, "no memory for the pixels");
        }
        slc_columns_reset(pixels);
        status = slc_io_pixels_read(file, pixels, room, error);
        if (status == SLC_ERR_CAPACITY && pixels->head.n_events == 0) {
            room *= 2;
            status = SLC_OK;
        }
        status = status == SLC_ERR_CAPACITY ? SLC_OK : status;
        *n += pixels->head.n_events;
    }
    return status == SLC_END ? SLC_OK : status;
}

static slc_status count_frames(const char *path, uint64_t *n, slc_error *error)
{
    slc_io_pixels *file = NULL;
    slc_status status = slc_io_pixels_open(path, NULL, &file, error);
    *n = 0;
    if (status == SLC_OK && !slc_io_pixels_about(file).frames) {
        status = slc_fail(error, SLC_ERR_USAGE,
                          "%s: has no frames, and cannot be cut: give as many inputs as there are parts",
                          path);
    } else if (status == SLC_OK) {
        slc_column columns[SLC_PIXEL_COLUMNS];
        const slc_schema schema = slc_pixels_schema(slc_io_pixels_about(file).with, columns);
        slc_pixels pixels = {.head = {.size = 0}};
        status = read_frames(file, &schema, &pixels, n, error);
        slc_columns_clear(&schema, &pixels);
    }
    slc_io_pixels_close(file);
    return status;
}

/* How a chain's inputs can be cut. NULL: they cannot. */
typedef slc_status count_function(const char *path, uint64_t *n, slc_error *error);
static count_function *count_of(const slc_flow_chain *chain)
{
    return chain == &slc_flow_velo || chain == &slc_flow_hlt1 || chain == &slc_flow_cms ? count_bytes
           : chain == &slc_flow_image                                                   ? count_pages
           : chain == &slc_flow_pixel                                                   ? count_frames
                                                                                        : NULL;
}

/* ---- cutting ----------------------------------------------------------------------------------- */

/* total · k / n, rounded down. */
static uint64_t share(uint64_t total, uint64_t k, uint64_t n)
{
    return total / n * k + total % n * k / n;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* The first input of part k: parts are cut where the bytes before are closest to their share, and never so
 * that one has no input. `before` has n + 1 sums, and n is n_parts or more. */
static uint32_t first_input(const uint64_t *before, uint32_t n, uint32_t k, uint32_t n_parts)
{
    uint32_t i = 0;
    for (uint32_t p = 1; p <= k && p < n_parts; p++) {
        const uint64_t wanted = share(before[n], p, n_parts);
        i++; /* part p - 1 has one at least, and leaves one for each after it */
        while (i < n - (n_parts - p) && apart(before[i + 1], wanted) < apart(before[i], wanted)) {
            i++;
        }
    }
    return k < n_parts ? i : n;
}

/* The input that place `at` of the row is in; where one ends there, the one after it, be it empty. */
static uint32_t input_at(const uint64_t *before, uint32_t n, uint64_t at)
{
    uint32_t i = 0;
    while (i < n && before[i] != at && before[i + 1] <= at) {
        i++;
    }
    return i;
}

/* What begins at or after share k of the row, and before share k + 1. */
static void cut_row(const uint64_t *before, uint32_t n, uint32_t k, uint32_t n_parts, slc_run_part *part)
{
    const uint64_t from = share(before[n], k, n_parts), until = share(before[n], k + 1, n_parts);
    const uint32_t first = input_at(before, n, from), last = input_at(before, n, until);
    *part = (slc_run_part){.first = first, .end = first, .until = UINT64_MAX};
    const bool is_last = k + 1 == n_parts; /* which has what is empty at the end, too */
    if (from < until || is_last) {
        const bool inside = last < n && until > before[last];
        part->from = from - before[first];
        part->end = is_last ? n : last + inside;
        part->until = inside ? until - before[last] : UINT64_MAX;
    }
}

/* All that a run over the inputs hands out before `until`: what is lost has no number. */
static slc_status count_events(const slc_flow_config *config, const char *path, uint64_t until, uint64_t *n,
                               slc_error *error)
{
    slc_io_source *source = NULL;
    slc_io_totals totals = {.events = 0};
    slc_batch batch = {.n_events = 0};
    slc_velo_hits hits = {.head = {.size = 0}};
    if (slc_io_open(path, &config->io, &source, NULL) != SLC_OK) {
        return SLC_OK; /* it has none, which is told by the part that it is in */
    }
    slc_status status = slc_io_cut(source, 0, until, &totals, error);
    while (status == SLC_OK) {
        status = slc_io_content_of(source) == SLC_IO_VELO_HITS
                     ? slc_io_read_velo_hits(source, config->batch_events, &hits, NULL, NULL, NULL, error)
                     : slc_io_read_batch(source, config->batch_events, config->batch_bytes, &batch, NULL,
                                         error);
    }
    slc_io_totals_of(source, &totals);
    *n += totals.events;
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    slc_batch_clear(&batch);
    slc_io_close(source);
    return status == SLC_ERR_MEMORY ? status : SLC_OK; /* what cannot be read on ends an input, not the run */
}

static slc_status count_before(const slc_flow_config *config, slc_run_part *part, slc_error *error)
{
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < part->first && status == SLC_OK; i++) {
        status = count_events(config, config->paths[i], UINT64_MAX, &part->first_event, error);
    }
    return status == SLC_OK && part->from > 0
               ? count_events(config, config->paths[part->first], part->from, &part->first_event, error)
               : status;
}

static slc_status check(const slc_flow_config *config, const slc_flow_chain *chain, slc_error *error)
{
    if (config->part >= config->n_parts) {
        return slc_fail(error, SLC_ERR_USAGE, "part %u of %u: parts are counted from 0", config->part,
                        config->n_parts);
    }
    if (config->read != NULL || chain->joined) {
        return slc_fail(error, SLC_ERR_USAGE, "the chain \"%s\" has no parts%s", chain->name,
                        config->read != NULL ? " of what a function reads" : "");
    }
    if (config->n_paths < config->n_parts && count_of(chain) == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "the chain \"%s\" cannot cut %u inputs into %u parts",
                        chain->name, config->n_paths, config->n_parts);
    }
    return SLC_OK;
}

slc_status slc_run_part_of(const slc_flow_config *config, const slc_flow_chain *chain, slc_run_part *part,
                           slc_error *error)
{
    const uint32_t n = config->n_paths, n_parts = config->n_parts;
    *part = (slc_run_part){.end = n, .until = UINT64_MAX};
    if (n_parts < 2 && config->part == 0) {
        return SLC_OK;
    }
    slc_status status = check(config, chain, error);
    uint64_t *before = status == SLC_OK ? calloc((size_t)n + 1, sizeof *before) : NULL;
    if (status == SLC_OK && before == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the sizes of the inputs");
    }
    const bool cut = n < n_parts;
    for (uint32_t i = 0; i < n && status == SLC_OK; i++) {
        uint64_t units = 0;
        status = count_bytes(config->paths[i], &units, error);
        if (status == SLC_OK && cut) {
            status = count_of(chain)(config->paths[i], &units, error);
        }
        before[i + 1] = before[i] + units;
    }
    if (status == SLC_OK && cut) {
        cut_row(before, n, config->part, n_parts, part);
    } else if (status == SLC_OK) {
        part->first = first_input(before, n, config->part, n_parts);
        part->end = first_input(before, n, config->part + 1, n_parts);
    }
    free(before);
    return status == SLC_OK && config->count_before && count_of(chain) == count_bytes
               ? count_before(config, part, error)
               : status;
}

void slc_run_part_place(const slc_run_part *part, uint32_t input, slc_flow_config *config)
{
    config->from = input == part->first ? part->from : 0;
    config->until = input + 1 == part->end ? part->until : UINT64_MAX;
}
