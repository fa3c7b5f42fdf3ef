/* SPDX-License-Identifier: Apache-2.0
 *
 * List-mode files of PET: the table of formats, opening, the loop over records, and outputs of several files
 * that appear together. What a record means is in io_pet_<format>.c.
 */
#include "base/config.h"
#include "io/io_formats.h"
#include "pet/pet_scanner.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AT_ONCE = 1 << 15 /* records */ };

static const slc_io_pet_list_ops *ops_of(slc_io_pet_list_format format)
{
    const slc_io_row *row = slc_io_row_of_pairs(format);
    return row != NULL ? row->pairs : NULL;
}

const char *slc_io_pet_list_name(slc_io_pet_list_format format)
{
    const slc_io_pet_list_ops *ops = ops_of(format);
    return ops != NULL ? ops->name : NULL;
}

/* The path without an extension of the format, if it has one; the caller frees. */
static char *base_of(const slc_io_pet_list_ops *ops, const char *path)
{
    char *base = strdup(path);
    for (const char *const *e = ops->extensions; base != NULL && e != NULL && *e != NULL; e++) {
        if (slc_io_pet_ends_in(base, *e)) {
            base[strlen(base) - strlen(*e)] = '\0';
            break;
        }
    }
    return base;
}

/* Two strings in one; the caller frees. */
static char *join(const char *a, const char *b)
{
    char *both = malloc(strlen(a) + strlen(b) + 1);
    if (both != NULL) {
        memcpy(both, a, strlen(a));
        memcpy(both + strlen(a), b, strlen(b) + 1);
    }
    return both;
}

char *slc_io_pet_list_file(const char *path, slc_io_pet_list_format format, size_t i)
{
    const slc_io_pet_list_ops *ops = ops_of(format);
    if (ops == NULL || i >= SLC_IO_PET_LIST_FILES || (ops->written == NULL && i > 0)) {
        return NULL;
    }
    for (size_t k = 0; ops->written != NULL && k <= i; k++) {
        if (ops->written[k] == NULL) {
            return NULL;
        }
    }
    char *base = base_of(ops, path);
    char *name = base != NULL ? join(base, ops->written != NULL ? ops->written[i] : "") : NULL;
    free(base);
    return name;
}

/* ---- opening ----------------------------------------------------------------------------------- */

static slc_status no_memory(const char *path, slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", path);
}

static slc_status make(const char *path, slc_io_pet_list_format format, const slc_pet_geometry *geometry,
                       slc_io_pet_list **made, slc_error *error)
{
    const slc_io_pet_list_ops *ops = ops_of(format);
    if (ops == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: there is no list-mode format number %d", path,
                        (int)format);
    }
    if (ops->needs_geometry && geometry == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: to read %s files the scanner must be known", path,
                        ops->name);
    }
    if (geometry != NULL) {
        const slc_status status = slc_pet_geometry_check(geometry, error);
        if (status != SLC_OK) {
            return status;
        }
    }
    slc_io_pet_list *in = calloc(1, sizeof *in);
    if (in == NULL) {
        return no_memory(path, error);
    }
    in->ops = ops;
    in->has_geometry = geometry != NULL;
    if (geometry != NULL) {
        in->geometry = *geometry;
        in->crystals = slc_pet_crystals(geometry);
    }
    *made = in;
    return SLC_OK;
}

/* From the header's text, the path of the data beside it. */
static slc_status data_beside(const slc_io_pet_list *in, const char *header, char **data, slc_error *error)
{
    char name[1024];
    if (!slc_io_pet_header_value(in->header, in->ops->separator, in->ops->data_key, name, sizeof name) ||
        name[0] == '\0') {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: \"%s\" is missing, or too long", header,
                        in->ops->data_key);
    }
    *data = slc_io_pet_beside(header, name);
    return *data != NULL ? SLC_OK : no_memory(header, error);
}

/* The header, where the format has one, and the path of the data: the header names it, unless the path was
 * that of the data. */
static slc_status find_header(slc_io_pet_list *in, const char *path, char **data, slc_error *error)
{
    const slc_io_pet_list_ops *ops = in->ops;
    const bool is_data = slc_io_pet_ends_in(path, ops->extensions[0]);
    const char *slash = strrchr(path, '/'), *last = slash != NULL ? slash + 1 : path;
    const bool is_header = !is_data && (ops->header_needed || strstr(last, ops->header) != NULL);
    if (!is_data && !is_header) { /* some other name: data without a header */
        *data = strdup(path);
        return *data != NULL ? SLC_OK : no_memory(path, error);
    }
    char *base = base_of(ops, path);
    char *header = base != NULL ? join(base, ops->header) : NULL;
    free(base);
    if (header == NULL) {
        return no_memory(path, error);
    }
    slc_status status = SLC_OK;
    if (is_header || ops->header_needed || access(header, F_OK) == 0) {
        /* A header may be given by a name of its own. */
        const char *named = is_header && access(path, F_OK) == 0 ? path : header;
        status = slc_io_pet_header_read(named, &in->header, error);
        if (status == SLC_OK && is_header) {
            status = data_beside(in, named, data, error);
        }
    }
    free(header);
    if (status == SLC_OK && *data == NULL) {
        *data = strdup(path);
        status = *data != NULL ? SLC_OK : no_memory(path, error);
    }
    return status;
}

static slc_status open_path(slc_io_pet_list *in, const char *path, slc_error *error)
{
    char *data = NULL;
    slc_status status = SLC_OK;
    if (in->ops->header != NULL) {
        status = find_header(in, path, &data, error);
    }
    if (status == SLC_OK && !in->ops->by_path) {
        status = slc_io_stream_open(&in->stream, data != NULL ? data : path, error);
        in->has_stream = status == SLC_OK;
    }
    free(data);
    in->name = in->has_stream ? in->stream.name : path;
    return status == SLC_OK ? in->ops->start(in, path, error) : status;
}

slc_status slc_io_pet_list_open(const char *path, slc_io_pet_list_format format,
                                const slc_pet_geometry *geometry, slc_io_pet_list **input, slc_error *error)
{
    *input = NULL;
    slc_io_pet_list *in = NULL;
    slc_status status = make(path, format, geometry, &in, error);
    if (in == NULL) {
        return status;
    }
    status = open_path(in, path, error);
    if (status == SLC_OK) {
        *input = in;
    } else {
        slc_io_pet_list_close(in);
    }
    return status;
}

slc_status slc_io_pet_list_open_memory(const void *bytes, size_t size, const char *header, const char *name,
                                       slc_io_pet_list_format format, const slc_pet_geometry *geometry,
                                       slc_io_pet_list **input, slc_error *error)
{
    *input = NULL;
    slc_io_pet_list *in = NULL;
    slc_status status = make(name, format, geometry, &in, error);
    if (in == NULL) {
        return status;
    }
    if (in->ops->by_path) {
        status = slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: %s files are read from a disk alone", name,
                          in->ops->name);
    } else if (in->ops->header_needed && header == NULL) {
        status = slc_fail(error, SLC_ERR_USAGE, "%s: %s files have a header", name, in->ops->name);
    } else {
        in->header = header != NULL ? strdup(header) : NULL;
        status = header != NULL && in->header == NULL
                     ? no_memory(name, error)
                     : slc_io_stream_open_memory(&in->stream, bytes, size, name, error);
        in->has_stream = status == SLC_OK;
        in->name = in->has_stream ? in->stream.name : name;
        status = status == SLC_OK ? in->ops->start(in, name, error) : status;
    }
    if (status == SLC_OK) {
        *input = in;
    } else {
        slc_io_pet_list_close(in);
    }
    return status;
}

void slc_io_pet_list_close(slc_io_pet_list *in)
{
    if (in == NULL) {
        return;
    }
    if (in->ops->stop != NULL) {
        in->ops->stop(in);
    }
    if (in->has_stream) {
        slc_io_stream_close(&in->stream);
    }
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        free(in->corrections.value[k]);
    }
    free(in->header);
    free(in);
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* One stretch of whole records of one size. */
static slc_status read_records(slc_io_pet_list *in, size_t most, slc_pet_coincidences *pairs,
                               slc_error *error)
{
    const uint8_t *bytes = NULL;
    size_t visible = 0;
    const size_t want = most < AT_ONCE ? most : AT_ONCE, size = in->record_bytes;
    slc_status status = slc_io_stream_peek(&in->stream, want * size, &bytes, &visible, error);
    if (status != SLC_OK && status != SLC_END) {
        return status;
    }
    const size_t n = visible / size < want ? visible / size : want;
    if (n == 0 && visible == 0) {
        return in->ops->ended != NULL ? in->ops->ended(in, error) : SLC_END;
    }
    if (n == 0) {
        return slc_io_stream_fail(&in->stream, error, SLC_ERR_FORMAT, in->stream.offset,
                                  "%zu bytes are left, a record has %zu", visible, size);
    }
    if (slc_columns_reserve(&slc_pet_coincidences_schema, pairs, pairs->head.size + n, 1) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its pairs", in->stream.name);
    }
    status = slc_io_pet_list_correct_reserve(in, pairs->head.size + n, error);
    status = status == SLC_OK ? in->ops->decode(in, bytes, n, pairs, error) : status;
    if (status == SLC_OK) {
        slc_io_stream_skip(&in->stream, n * size);
    }
    return status;
}

slc_status slc_io_pet_list_read(slc_io_pet_list *in, size_t most, slc_pet_coincidences *pairs,
                                slc_error *error)
{
    const size_t before = pairs->head.size;
    slc_status status = in->wrong;
    in->base = before;
    while (status == SLC_OK && pairs->head.size - before < most) {
        const size_t left = most - (pairs->head.size - before);
        status = in->ops->decode != NULL ? read_records(in, left, pairs, &in->reason)
                                         : in->ops->read(in, left, pairs, &in->reason);
    }
    /* What is wrong behind good pairs ends the next call, and all that follow. */
    in->wrong = status == SLC_END ? SLC_OK : status;
    if (pairs->head.size > before || most == 0) {
        return SLC_OK;
    }
    return status == SLC_END ? SLC_END : slc_fail(error, status, "%s", in->reason.text);
}

void slc_io_pet_list_about_of(const slc_io_pet_list *in, slc_io_pet_list_about *about)
{
    *about = in->about;
    about->totals = in->totals;
    about->corrections = &in->corrections;
    about->totals.seconds = ((double)in->last_ps - (double)in->first_ps) * 1e-12;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static slc_status check_config(const slc_io_pet_list_config *config, const char *path, slc_error *error)
{
    slc_error reason = {0};
    const slc_status status = slc_pet_geometry_check(&config->geometry, &reason);
    if (status != SLC_OK) {
        return slc_fail(error, status, "%s: %.400s", path, reason.text);
    }
    if (config->tof && !(config->tof_resolution_ps > 0 && config->window_ps > 0)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: with time of flight, its resolution and the window must be above 0", path);
    }
    if (!(config->duration_s >= 0) || !isfinite(config->duration_s)) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: its duration must be 0 or more", path);
    }
    if (config->scanner != NULL && strpbrk(config->scanner, "\r\n") != NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: the scanner's name has more than one line", path);
    }
    return SLC_OK;
}

void slc_io_pet_list_config_default(slc_io_pet_list_config *config)
{
    *config = (slc_io_pet_list_config){.size = sizeof *config};
}

slc_status slc_io_pet_list_create(const char *path, slc_io_pet_list_format format,
                                  const slc_io_pet_list_config *given, slc_io_pet_list_writer **out,
                                  slc_error *error)
{
    *out = NULL;
    slc_io_pet_list_config own;
    const slc_io_pet_list_config *config = &own;
    slc_io_pet_list_config_default(&own);
    const slc_io_pet_list_ops *ops = ops_of(format);
    if (ops == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: there is no list-mode format number %d", path,
                        (int)format);
    }
    slc_status status = slc_config_take(&own, sizeof own, given, "slc_io_pet_list_config", error);
    status = status == SLC_OK ? check_config(config, path, error) : status;
    const char *no = config->factors != NULL && !ops->factors   ? "factors of pairs"
                     : config->randoms != NULL && !ops->randoms ? "randoms"
                                                                : NULL;
    if (status == SLC_OK && no != NULL) {
        status = slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: %s files have no place for %s", path, ops->name,
                          no);
    }
    status = status == SLC_OK ? slc_io_pet_list_carries_check(config, ops, path, error) : status;
    if (status == SLC_OK && ops->extensions != NULL && strcmp(path, "-") == 0) {
        status = slc_fail(error, SLC_ERR_USAGE,
                          "%s is several files, which standard output cannot take: give a name", ops->name);
    }
    if (status != SLC_OK) {
        return status;
    }
    slc_io_pet_list_writer *writer = calloc(1, sizeof *writer);
    char *base = base_of(ops, path), *scanner = strdup(config->scanner != NULL ? config->scanner : "");
    if (writer == NULL || base == NULL || scanner == NULL) {
        free(writer);
        free(base);
        free(scanner);
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", path);
    }
    *writer = (slc_io_pet_list_writer){.ops = ops,
                                       .config = *config,
                                       .scanner = scanner,
                                       .base = base,
                                       .time_ms = -1,
                                       .flushed = slc_clock_seconds()};
    writer->config.scanner = scanner;
    status = ops->create(writer, error);
    if (status != SLC_OK) {
        slc_io_pet_list_abandon(writer);
        return status;
    }
    *out = writer;
    return SLC_OK;
}

slc_status slc_io_pet_list_write(slc_io_pet_list_writer *writer, const slc_pet_coincidences *pairs,
                                 slc_error *error)
{
    const uint32_t crystals = slc_pet_crystals(&writer->config.geometry);
    uint64_t delayeds = 0;
    for (size_t i = 0; i < pairs->head.size; i++) {
        const uint32_t larger = pairs->crystal1[i] > pairs->crystal2[i] ? pairs->crystal1[i]
                                                                        : pairs->crystal2[i];
        if (larger >= crystals) {
            return slc_fail(error, SLC_ERR_USAGE, "%s: pair %llu has crystal %u; the scanner has %u",
                            writer->base, (unsigned long long)(writer->prompts + writer->delayeds + i),
                            larger, crystals);
        }
        delayeds += pairs->delayed[i] != 0;
    }
    if (delayeds > 0 && !writer->ops->delayeds) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "%s: %s files have no delayed pairs, and there are some: write prompts alone",
                        writer->base, writer->ops->name);
    }
    const slc_status status = writer->ops->write(writer, pairs, error);
    if (status == SLC_OK) {
        writer->delayeds += delayeds;
        writer->prompts += pairs->head.size - delayeds;
    }
    return status;
}

slc_status slc_io_pet_list_singles(slc_io_pet_list_writer *writer, const slc_pet_singles *singles,
                                   slc_error *error)
{
    const uint32_t crystals = slc_pet_crystals(&writer->config.geometry);
    if (writer->ops->write_singles == NULL || !writer->config.singles) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: it is not a file of singles", writer->base);
    }
    for (size_t i = 0; i < singles->head.size; i++) {
        if (singles->crystal[i] >= crystals) {
            return slc_fail(error, SLC_ERR_USAGE, "%s: single %llu has crystal %u; the scanner has %u",
                            writer->base, (unsigned long long)(writer->singles + i), singles->crystal[i],
                            crystals);
        }
    }
    const slc_status status = writer->ops->write_singles(writer, singles, error);
    writer->singles += status == SLC_OK ? singles->head.size : 0;
    return status;
}

slc_status slc_io_pet_list_flush(slc_io_pet_list_writer *writer, double seconds, slc_error *error)
{
    const double now = slc_clock_seconds();
    if (writer->ops->flush != NULL) {
        return writer->ops->flush(writer, seconds, error);
    }
    if (now - writer->flushed < seconds) {
        return SLC_OK;
    }
    writer->flushed = now;
    const slc_status status = writer->ops->settle != NULL ? writer->ops->settle(writer, error) : SLC_OK;
    if (status != SLC_OK) {
        return status;
    }
    for (size_t i = 0; i < writer->n_outputs; i++) {
        if (fflush(writer->output[i].stream) != 0) {
            return slc_io_output_failed(writer->output[i].path, error);
        }
    }
    return SLC_OK;
}

static void give_back(slc_io_pet_list_writer *writer)
{
    if (writer->ops->abandon != NULL) {
        writer->ops->abandon(writer);
    }
    for (size_t i = 0; i < writer->n_outputs; i++) {
        slc_io_output_abandon(&writer->output[i]);
    }
    free(writer->scanner);
    free(writer->base);
    free(writer);
}

slc_status slc_io_pet_list_finish(slc_io_pet_list_writer *writer, slc_error *error)
{
    slc_status status = writer->ops->finish(writer, error);
    char *names[SLC_IO_PET_LIST_FILES] = {NULL};
    size_t done = 0;
    for (; done < writer->n_outputs && status == SLC_OK; done++) {
        names[done] = writer->output[done].temporary != NULL ? strdup(writer->output[done].path) : NULL;
        status = slc_io_output_commit(&writer->output[done], error);
    }
    /* All of them or none: where one cannot appear, those that have are taken away again. */
    for (size_t i = 0; i < SLC_IO_PET_LIST_FILES; i++) {
        if (status != SLC_OK && i + 1 < done && names[i] != NULL) {
            (void)unlink(names[i]);
        }
        free(names[i]);
    }
    give_back(writer);
    return status;
}

void slc_io_pet_list_abandon(slc_io_pet_list_writer *writer)
{
    if (writer != NULL) {
        give_back(writer);
    }
}

uint64_t slc_io_pet_list_left_out(const slc_io_pet_list_writer *writer)
{
    return writer->left_out;
}

uint64_t slc_io_pet_list_dead(const slc_io_pet_list_writer *writer)
{
    return writer->dead;
}

/* ---- what formats use -------------------------------------------------------------------------- */

slc_status slc_io_pet_needs_rings(const slc_pet_geometry *geometry, const char *name, const char *what,
                                  slc_error *error)
{
    if (geometry->layout == NULL || geometry->layout->rings) {
        return SLC_OK;
    }
    return slc_fail(error, SLC_ERR_UNSUPPORTED,
                    "%s: %s crystals of rings, and this scanner is a table of crystals anywhere", name, what);
}

slc_status slc_io_pet_list_output(slc_io_pet_list_writer *writer, const char *extension, slc_error *error)
{
    char *path = join(writer->base, extension);
    if (path == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its name", writer->base);
    }
    const slc_status status = slc_io_output_open(&writer->output[writer->n_outputs], path, error);
    writer->n_outputs += status == SLC_OK;
    free(path);
    return status;
}

slc_status slc_io_pet_list_put(slc_io_pet_list_writer *writer, size_t file, const void *bytes, size_t size,
                               slc_error *error)
{
    slc_io_output *output = &writer->output[file];
    if (fwrite(bytes, 1, size, output->stream) != size) {
        return slc_io_output_failed(output->path, error);
    }
    return SLC_OK;
}

slc_status slc_io_pet_list_no_ms(const slc_io_pet_list_writer *writer, int64_t time_ps, int64_t most,
                                 slc_error *error)
{
    if (time_ps < writer->config.start_ps) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: a pair at %lld ps is before the file's time 0, %lld ps",
                        writer->base, (long long)time_ps, (long long)writer->config.start_ps);
    }
    int64_t ms;
    (void)slc_io_pet_list_ms(writer, time_ps, most, &ms);
    return slc_fail(error, SLC_ERR_UNSUPPORTED,
                    "%s: a pair %lld ms after the file's time 0; %s files end at %lld ms", writer->base,
                    (long long)ms, writer->ops->name, (long long)most);
}

const char *slc_io_pet_list_base_name(const slc_io_pet_list_writer *writer)
{
    const char *slash = strrchr(writer->base, '/');
    return slash != NULL ? slash + 1 : writer->base;
}

void slc_io_pet_list_order_init(slc_io_pet_list_order *order, const slc_pet_coincidences *pairs)
{
    const size_t n = pairs->head.size;
    size_t split = 0;
    while (split < n && pairs->delayed[split] == 0) {
        split++;
    }
    *order = (slc_io_pet_list_order){.split = split, .a = 0, .b = split, .size = n};
}

slc_status slc_io_pet_list_blocks(slc_io_pet_list_writer *writer, size_t file,
                                  const slc_pet_coincidences *pairs, size_t row_bytes,
                                  slc_io_pet_list_encode *encode, slc_error *error)
{
    uint8_t block[SLC_IO_PET_LIST_BLOCK], *end = block;
    const size_t most = sizeof block / row_bytes;
    slc_io_pet_list_order order = {.size = 0};
    slc_status status = SLC_OK;
    if (writer->ops->delayeds) {
        slc_io_pet_list_order_init(&order, pairs);
    }
    for (size_t at = 0, n = 0; at < pairs->head.size && status == SLC_OK; at += n) {
        n = pairs->head.size - at < most ? pairs->head.size - at : most;
        status = encode(writer, pairs, &order, at, n, block, &end, error);
        if (status == SLC_OK) {
            writer->bytes += (uint64_t)(end - block);
            status = slc_io_pet_list_put(writer, file, block, (size_t)(end - block), error);
        }
    }
    return status;
}
