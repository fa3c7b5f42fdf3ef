/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice-mpi label --volume`: the slices of every volume are shared out in slabs. Each process reads and
 * labels its own, and all join what crosses the borders (image_volume.h, "slices that are with several"). To
 * what is sent and written a slice is a row: the strip at hand is as wide as a slice has voxels.
 */
#include "mpi_label.h"

#include "cmd_label_mask.h"
#include "cmd_label_volume.h"
#include "mpi_cleanup.h"
#include "mpi_commands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COMMAND (&slc_mpi_cmd_label)

typedef struct run {
    slc_label_volume_job *job; /* everybody's; process 0 fills it with results */
    slc_mpi_strip strip;
    slc_mpi_output output;
    slc_volume_config slab_config, join_config; /* of a slab by itself, and of what is joined */
    slc_volume foreground;
    bool greys_wanted;
    slc_volume_labeller *labeller;
    slc_column all_columns[SLC_VOLUME_COLUMNS], columns[SLC_VOLUME_COLUMNS], kept_columns[SLC_VOLUME_COLUMNS];
    slc_schema all, schema, kept_schema;                 /* of slabs, of what is wanted, of `kept` */
    slc_volume_components found, of_pieces, kept, whole; /* whole: in process 0 */
    size_t width, height;
    slc_volume_grey_part *greys, *greys_of_pieces; /* of found and of_pieces, if any are wanted */
    uint64_t *counts;
    uint32_t n_found, filtered;
    double seconds;
    slc_error error;
} run;

/* ---- what cannot be had ------------------------------------------------------------------------ */

static int check_options(const slc_label_volume_job *job)
{
    return (job->config.periodic & SLC_VOLUME_PERIODIC_Z) != 0
               ? slc_cli_wrong(COMMAND, "--periodic z cannot be had over ranks, which share the slices out; "
                                        "sluice label has it")
               : SLC_CLI_GO_ON;
}

/* ---- a slab ------------------------------------------------------------------------------------ */

/* What every process read: the volume's shape, also for those without a slice. */
static slc_status agree_on_shape(run *r, slc_error *error)
{
    slc_volume *v = &r->job->stack.volume;
    uint64_t shape[3] = {v->width, v->height, (uint64_t)v->type};
    (void)MPI_Bcast(shape, 3, MPI_UINT64_T, 0, MPI_COMM_WORLD); /* process 0 has a slice if anyone has */
    const bool same = v->depth == 0 ||
                      (v->width == shape[0] && v->height == shape[1] && (uint64_t)v->type == shape[2]);
    r->width = (size_t)shape[0];
    r->height = (size_t)shape[1];
    slc_mpi_strip *strip = &r->strip;
    strip->image = (slc_image){v->voxels, r->width * r->height, v->depth, v->slice_stride,
                               (slc_image_type)shape[2]};
    const slc_status status = same ? SLC_OK
                                   : slc_fail(
                                         error, SLC_ERR_FORMAT,
                                         "%s: slices of %zux%zu of %s, and the first is %llux%llu: no volume",
                                         r->job->label->inputs[r->job->input - 1], v->width, v->height,
                                         slc_image_type_name(v->type), (unsigned long long)shape[0],
                                         (unsigned long long)shape[1]);
    return slc_mpi_agree(&strip->world, status, error) == SLC_OK ? slc_mpi_strip_agree(strip, error)
                                                                 : SLC_ERR_FORMAT;
}

/* The foreground's threshold, of all slabs where it is Otsu's. */
static slc_status choose_threshold(run *r, slc_error *error)
{
    slc_mpi_strip *strip = &r->strip;
    r->job->threshold = r->job->config.threshold;
    if (!r->job->label->setup.otsu || strip->image.type == SLC_IMAGE_BITS) {
        return SLC_OK;
    }
    slc_status status = slc_mpi_strip_otsu(strip, error);
    if (status == SLC_OK && strip->fault) {
        status = slc_fail(error, strip->why.status, "%s", strip->why.text);
    }
    r->job->threshold = strip->threshold;
    return status;
}

/* Sums of the grey values of the slab's components, or of its own voxels. */
static slc_status find_greys(run *r, slc_error *error)
{
    const slc_label_volume_job *job = r->job;
    const slc_volume *v = &job->stack.volume;
    const slc_volume *grey = job->label->options->intensity != NULL ? &job->grey.volume : v;
    const ptrdiff_t row = (ptrdiff_t)(v->width * sizeof *r->strip.labels);
    const slc_volume labels = {
        r->strip.labels, v->width, v->height, v->depth, row, row * (ptrdiff_t)v->height, SLC_IMAGE_U32};
    free(r->greys);
    r->greys = malloc(((size_t)r->n_found + 1) * sizeof *r->greys);
    return r->greys == NULL ? slc_fail(error, SLC_ERR_MEMORY, "no memory for the components")
           : v->depth == 0  ? SLC_OK
                            : slc_volume_grey_parts(&labels, r->n_found, grey,
                                                    r->strip.first_row[r->strip.world.rank], r->greys, error);
}

static slc_status label_slab(run *r, slc_error *error)
{
    slc_mpi_strip *strip = &r->strip;
    const slc_volume *v = &r->job->stack.volume;
    const size_t voxels = strip->image.width * v->depth;
    slc_columns_reset(&r->found);
    r->n_found = 0;
    if (v->depth == 0) {
        return SLC_OK;
    }
    if (voxels > strip->labels_room) {
        free(strip->labels);
        strip->labels = calloc(voxels, sizeof *strip->labels);
        strip->labels_room = strip->labels != NULL ? voxels : 0;
    }
    if (strip->labels == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the labels of %zu slices", v->depth);
    }
    const ptrdiff_t row = (ptrdiff_t)(v->width * sizeof *strip->labels);
    slc_volume_labels out = {strip->labels, row, row * (ptrdiff_t)v->height, &r->found, 0};
    const slc_status status = slc_volume_run(r->labeller, &r->foreground, &out, error);
    r->n_found = out.n_labels;
    return status;
}

/* ---- joined ------------------------------------------------------------------------------------ */

typedef struct joining {
    slc_image_join *joins;
    slc_image_piece *pieces;
    uint64_t n_pieces;
    uint32_t *numbers;
    uint32_t n_labels;
} joining;

static uint32_t connectivity_of(const slc_volume_config *config)
{
    return !config->inverse ? config->connectivity : config->connectivity == 6 ? 26 : 6;
}

static slc_status find_pieces(run *r, joining *j, slc_error *error)
{
    const slc_mpi_world *world = &r->strip.world;
    const slc_volume *v = &r->job->stack.volume;
    const bool equal = r->job->config.equal && r->strip.image.type != SLC_IMAGE_BITS;
    const size_t plane = r->strip.image.width, last = v->depth > 0 ? v->depth - 1 : 0;
    const size_t slice = slc_image_row_bytes(r->strip.image.type, r->width) * r->height;
    void *above = NULL, *values = NULL, *all = NULL;
    slc_image_join *mine = NULL;
    uint64_t n = 0, total = 0;
    slc_status status = slc_mpi_send_border(&r->strip, r->strip.labels + last * plane,
                                            plane * sizeof *r->strip.labels, &above, error);
    if (status == SLC_OK && equal) {
        status = slc_mpi_send_border(&r->strip, (const char *)v->voxels + last * slice, slice, &values,
                                     error);
    }
    if (status == SLC_OK && above != NULL) {
        const slc_volume_join_border border = {.above = above,
                                               .below = r->strip.labels,
                                               .width = r->width,
                                               .height = r->height,
                                               .connectivity = connectivity_of(&r->job->config),
                                               .periodic = r->job->config.periodic,
                                               .values_above = values,
                                               .values_below = v->voxels,
                                               .type = r->strip.image.type};
        status = slc_volume_join_slices(&border, &mine, &n, error);
    }
    free(above);
    free(values);
    status = slc_mpi_agree(world, status, error);
    status = status == SLC_OK ? slc_mpi_gather_all(world, mine, n, sizeof *mine, r->counts, &all, error)
                              : status;
    free(mine);
    j->joins = all;
    for (int k = 0; status == SLC_OK && k < world->size; k++) {
        total += r->counts[k];
    }
    if (status == SLC_OK) {
        j->pieces = malloc((size_t)(2 * total + 1) * sizeof *j->pieces);
        status = j->pieces != NULL ? slc_image_join_pieces(r->counts, (uint32_t)world->size, j->joins,
                                                           j->pieces, &j->n_pieces, error)
                                   : slc_fail(error, SLC_ERR_MEMORY, "no memory for what crosses borders");
        status = slc_mpi_agree(world, status, error);
    }
    return status;
}

static size_t width_of(const slc_column *column)
{
    return column->type == SLC_TYPE_U32 ? 4 : 8; /* there are no others */
}

/* A row of a collection into bytes, or out of them. */
static size_t move_row(const slc_schema *schema, slc_volume_components *c, size_t row, char *bytes, bool in)
{
    size_t at = 0;
    for (size_t i = 0; i < schema->n_columns; i++) {
        const size_t size = width_of(&schema->columns[i]);
        char *column;
        memcpy(&column, (const char *)c + schema->columns[i].member, sizeof column);
        char *value = column != NULL ? column + row * size : NULL;
        if (bytes != NULL && value != NULL) {
            memcpy(in ? value : bytes + at, in ? bytes + at : value, size);
        }
        at += size;
    }
    return at;
}

/* The rows of all pieces, from those who have them. */
static slc_status share_rows(run *r, const joining *j, slc_error *error)
{
    const slc_mpi_world *world = &r->strip.world;
    const size_t size = move_row(&r->all, &r->found, 0, NULL, false);
    void *all = NULL;
    uint64_t n = 0;
    char *mine = malloc((size_t)(j->n_pieces + 1) * size + 1); /* a row may have no column */
    slc_columns_reset(&r->of_pieces);
    slc_status status = mine != NULL && slc_columns_reserve(&r->all, &r->of_pieces, (size_t)j->n_pieces + 1,
                                                            1) == SLC_OK
                            ? SLC_OK
                            : slc_fail(error, SLC_ERR_MEMORY, "no memory for what crosses borders");
    status = slc_mpi_agree(world, status, error);
    for (uint64_t i = 0; status == SLC_OK && i < j->n_pieces; i++) {
        if (j->pieces[i].strip == (uint32_t)world->rank) {
            (void)move_row(&r->all, &r->found, j->pieces[i].label - 1, mine + n++ * size, false);
        }
    }
    status = status == SLC_OK ? slc_mpi_gather_all(world, mine, n, size, r->counts, &all, error) : status;
    free(mine);
    for (uint64_t i = 0; status == SLC_OK && i < j->n_pieces; i++) {
        (void)move_row(&r->all, &r->of_pieces, (size_t)i, (char *)all + i * size, true);
    }
    free(all);
    return status;
}

/* Of grey values the same. */
static slc_status share_greys(run *r, const joining *j, slc_error *error)
{
    const slc_mpi_world *world = &r->strip.world;
    uint64_t n = 0;
    void *all = NULL;
    slc_volume_grey_part *mine = malloc((size_t)(j->n_pieces + 1) * sizeof *mine);
    free(r->greys_of_pieces);
    r->greys_of_pieces = NULL;
    slc_status status = mine != NULL ? SLC_OK
                                     : slc_fail(error, SLC_ERR_MEMORY, "no memory for what crosses borders");
    status = slc_mpi_agree(world, status, error);
    for (uint64_t i = 0; status == SLC_OK && mine != NULL && i < j->n_pieces; i++) {
        if (j->pieces[i].strip == (uint32_t)world->rank) {
            mine[n++] = r->greys[j->pieces[i].label - 1];
        }
    }
    status = status == SLC_OK ? slc_mpi_gather_all(world, mine, n, sizeof *mine, r->counts, &all, error)
                              : status;
    free(mine);
    r->greys_of_pieces = all;
    return status;
}

static slc_volume_join_slab slab_of(const run *r, const joining *j)
{
    const slc_mpi_strip *strip = &r->strip;
    return (slc_volume_join_slab){.width = r->width,
                                  .height = r->height,
                                  .depth = strip->height,
                                  .n_slabs = (uint32_t)strip->world.size,
                                  .slab = (uint32_t)strip->world.rank,
                                  .first_slice = strip->first_row,
                                  .n_found = r->n_found,
                                  .pieces = j->pieces,
                                  .n_pieces = j->n_pieces,
                                  .found = (slc_volume_components *)&r->found,
                                  .of_pieces = (slc_volume_components *)&r->of_pieces,
                                  .grey_found = r->greys,
                                  .grey_of_pieces = r->greys_of_pieces};
}

/* Numbers what begins in this slab, from 1. */
static slc_status number(run *r, joining *j, const slc_volume_join_slab *slab, slc_error *error)
{
    slc_mpi_strip *strip = &r->strip;
    free(strip->map);
    strip->map = malloc(((size_t)r->n_found + 1) * sizeof *strip->map);
    j->numbers = malloc((size_t)(j->n_pieces + 1) * sizeof *j->numbers);
    slc_columns_reset(&r->kept);
    if (strip->map == NULL || j->numbers == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the components");
    }
    return slc_volume_join_number(&r->join_config, slab, strip->map, j->numbers, &j->n_labels,
                                  r->kept_schema.n_columns > 0 ? &r->kept : NULL, &r->filtered, error);
}

/* Keeps the largest of volumes, those of some of the slab's components; `keeps` is of these. */
static slc_status sift(run *r, joining *j, const slc_volume_join_slab *slab, const uint8_t *keeps,
                       slc_error *error)
{
    const uint32_t before = j->n_labels;
    const slc_status status = slc_volume_join_sift(slab, keeps, r->strip.map, j->numbers, &j->n_labels,
                                                   r->join_config.features, &r->kept, error);
    r->filtered += status == SLC_OK ? before - j->n_labels : 0;
    return status;
}

/* First each keeps the largest of its own, then all of what is left of all. */
static slc_status keep_largest(run *r, joining *j, const slc_volume_join_slab *slab, slc_error *error)
{
    const slc_mpi_world *world = &r->strip.world;
    const uint32_t largest = r->job->config.largest;
    uint8_t *keeps = calloc((size_t)j->n_labels + 1, 1);
    void *all = NULL;
    slc_status status = keeps != NULL
                            ? slc_volume_join_largest(r->kept.volume, j->n_labels, largest, keeps, error)
                            : slc_fail(error, SLC_ERR_MEMORY, "no memory for the largest");
    status = status == SLC_OK ? sift(r, j, slab, keeps, error) : status;
    free(keeps);
    status = slc_mpi_agree(world, status, error);
    status = status == SLC_OK ? slc_mpi_gather_all(world, r->kept.volume, j->n_labels, sizeof(uint64_t),
                                                   r->counts, &all, error)
                              : status;
    if (status == SLC_OK) {
        uint64_t n = 0, before = 0;
        for (int k = 0; k < world->size; k++) {
            before += k < world->rank ? r->counts[k] : 0;
            n += r->counts[k];
        }
        keeps = calloc((size_t)n + 1, 1);
        status = keeps != NULL ? slc_volume_join_largest(all, (size_t)n, largest, keeps, error)
                               : slc_fail(error, SLC_ERR_MEMORY, "no memory for the largest");
        status = status == SLC_OK ? sift(r, j, slab, keeps + before, error) : status;
        free(keeps);
        status = slc_mpi_agree(world, status, error);
    }
    free(all);
    return status;
}

static slc_status join(run *r, slc_error *error)
{
    joining j = {.joins = NULL};
    slc_status status = find_pieces(r, &j, error);
    status = status == SLC_OK ? share_rows(r, &j, error) : status;
    status = status == SLC_OK && r->greys_wanted ? share_greys(r, &j, error) : status;
    if (status == SLC_OK) {
        const slc_volume_join_slab slab = slab_of(r, &j);
        status = slc_mpi_agree(&r->strip.world, number(r, &j, &slab, error), error);
        status = status == SLC_OK && r->job->config.largest > 0 ? keep_largest(r, &j, &slab, error) : status;
    }
    if (status == SLC_OK) { /* which fails nowhere or everywhere */
        status = slc_mpi_strip_number(&r->strip, r->n_found, j.n_labels, j.pieces, j.n_pieces, j.numbers,
                                      r->counts, error);
    }
    free(j.joins);
    free(j.pieces);
    free(j.numbers);
    return status;
}

/* ---- a volume ---------------------------------------------------------------------------------- */

/* What process 0 could not do it has told. */
static bool all_good(const run *r, bool good)
{
    slc_error told = {.status = SLC_ERR_IO, .text = ""};
    return slc_mpi_agree(&r->strip.world, good ? SLC_OK : SLC_ERR_IO, &told) == SLC_OK;
}

/* Process 0 has the results, and makes room in the label file. */
static bool take_results(run *r, uint64_t filtered)
{
    slc_label_volume_job *job = r->job;
    slc_volume *v = &job->stack.volume;
    v->depth = r->strip.height;
    slc_label_volume_tell_threshold(job);
    bool good = slc_label_volume_take(job, &r->whole, r->strip.n_labels, (uint32_t)filtered, r->seconds);
    const slc_image slice = {.width = r->width,
                             .height = r->height,
                             .stride = (ptrdiff_t)(r->width * sizeof(uint32_t)),
                             .type = SLC_IMAGE_U32};
    for (size_t z = 0; z < v->depth && good && job->label->image_writer != NULL; z++) {
        good = slc_io_image_writer_add(job->label->image_writer, &slice, &job->label->error) == SLC_OK;
        if (!good) {
            slc_cli_say("label", "%s", job->label->error.text);
        }
    }
    return good;
}

static slc_status label_volume(run *r, slc_error *error)
{
    slc_status status = agree_on_shape(r, error);
    const double began = slc_clock_seconds();
    status = status == SLC_OK ? choose_threshold(r, error) : status;
    const bool some = r->job->stack.volume.depth > 0;
    if (status == SLC_OK &&
        !all_good(r, !some || (slc_label_volume_intensity(r->job) &&
                               slc_label_volume_foreground(r->job, &r->job->stack.volume,
                                                           &r->job->within.volume, &r->foreground)))) {
        error->text[0] = '\0'; /* it has been told */
        status = SLC_ERR_FORMAT;
    }
    if (status == SLC_OK) {
        status = slc_mpi_agree(&r->strip.world, label_slab(r, error), error);
    }
    if (status == SLC_OK && r->greys_wanted) {
        status = slc_mpi_agree(&r->strip.world, find_greys(r, error), error);
    }
    status = status == SLC_OK ? join(r, error) : status;
    r->seconds = slc_clock_seconds() - began;
    (void)MPI_Allreduce(MPI_IN_PLACE, &r->seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return status == SLC_OK && r->schema.n_columns > 0
               ? slc_mpi_gather_rows(&r->strip.world, &r->schema, &r->kept, &r->whole, error)
               : status;
}

static bool do_volume(run *r, uint32_t input)
{
    slc_label_volume_job *job = r->job;
    const char *path = job->label->inputs[input];
    slc_error error = {.text = ""};
    job->input = input + 1;
    if (!all_good(r, slc_label_volume_read(job, path, &job->stack, job->config.equal))) {
        return false;
    }
    uint64_t filtered;
    slc_status status = label_volume(r, &error);
    filtered = r->filtered;
    slc_mpi_sum_u64(&filtered, 1);
    const bool first = r->strip.world.rank == 0;
    if (status == SLC_OK && !all_good(r, !first || take_results(r, filtered))) {
        return false;
    }
    if (status == SLC_OK && job->label->options->output != NULL) {
        status = slc_mpi_output_write(&r->output, &r->strip, job->label->image_writer,
                                      job->label->options->output, &error);
    }
    if (status != SLC_OK && error.text[0] != '\0') {
        slc_cli_say("label", "%s: %s", path, error.text);
    }
    return status == SLC_OK;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static slc_status open_all(run *r)
{
    slc_label_volume_job *job = r->job;
    r->slab_config = job->config;
    r->slab_config.features = SLC_VOLUME_ALL;
    r->slab_config.min_volume = 0;
    r->slab_config.max_volume = UINT64_MAX;
    r->slab_config.border = SLC_IMAGE_BORDER_ANY;
    r->slab_config.filter = NULL;
    r->slab_config.largest = 0;
    r->join_config = job->config;
    r->join_config.features |= job->config.largest > 0 ? SLC_VOLUME_SIZE : 0U;
    r->all = slc_volume_components_schema(SLC_VOLUME_ALL, r->all_columns);
    r->schema = slc_volume_components_schema(job->config.features, r->columns);
    r->kept_schema = slc_volume_components_schema(r->join_config.features, r->kept_columns);
    r->output.file = -1;
    r->counts = calloc((size_t)slc_mpi_here().size, sizeof *r->counts);
    job->part = (uint32_t)slc_mpi_here().rank;
    job->n_parts = (uint32_t)slc_mpi_here().size;
    uint32_t features = 0;
    slc_status status = slc_volume_open(&r->slab_config, &r->labeller, &r->error);
    status = status == SLC_OK ? slc_volume_config_needs(&r->join_config, &features, &r->error) : status;
    r->greys_wanted = (features & ~(uint32_t)SLC_VOLUME_ALL) != 0;
    if (status == SLC_OK && r->counts == NULL) {
        status = slc_fail(&r->error, SLC_ERR_MEMORY, "no memory to begin with");
    }
    const slc_mpi_world world = slc_mpi_here();
    status = slc_mpi_agree(&world, status, &r->error);
    return status == SLC_OK ? slc_mpi_strip_open(&r->strip, &job->label->config, &r->error) : status;
}

static void close_all(run *r)
{
    slc_columns_clear(&r->all, &r->found);
    slc_columns_clear(&r->all, &r->of_pieces);
    slc_columns_clear(&r->kept_schema, &r->kept);
    slc_columns_clear(&r->schema, &r->whole);
    slc_volume_close(r->labeller);
    slc_mpi_strip_close(&r->strip);
    free(r->greys);
    free(r->greys_of_pieces);
    free(r->counts);
}

static int work(run *r)
{
    slc_label_job *label = r->job->label;
    const bool first = slc_mpi_here().rank == 0;
    slc_error error = {.text = ""};
    const slc_status status = open_all(r);
    if (status != SLC_OK) {
        slc_cli_say("label", "%s", r->error.text);
    }
    bool good = status == SLC_OK && all_good(r, slc_label_volume_others(r->job)) &&
                all_good(r, !first || slc_label_open_outputs(label));
    if (good && label->image_writer != NULL) {
        slc_io_image_writer_slices(label->image_writer);
        slc_mpi_cleanup_of(slc_io_temporary(label->image_writer));
    }
    for (int i = 0; i < label->n_inputs && good; i++) {
        good = do_volume(r, (uint32_t)i);
    }
    if (status == SLC_OK) {
        const slc_status closed = slc_mpi_agree(
            &r->strip.world, slc_mpi_output_close(&r->output, label->options->output, &error), &error);
        if (closed != SLC_OK && good) {
            slc_cli_say("label", "%s", error.text);
        }
        good = closed == SLC_OK && good;
        good = first ? slc_label_close_outputs(label, good) : good;
        slc_mpi_cleanup_of(NULL);
        good = all_good(r, good);
    }
    good = good && (!first || slc_label_volume_print(r->job));
    close_all(r);
    return good ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

int slc_mpi_label_volume(const slc_cli_call *call)
{
    slc_label_volume_job job;
    run r = {.job = &job};
    int status = slc_label_volume_begin(call, &job);
    status = status == SLC_CLI_GO_ON ? check_options(&job) : status;
    if (status == SLC_CLI_GO_ON) {
        status = slc_mpi_begin() ? work(&r) : SLC_CLI_USAGE;
    }
    slc_label_volume_end(&job);
    return status;
}
