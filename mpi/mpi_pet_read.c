/* SPDX-License-Identifier: Apache-2.0
 *
 * Shares of the inputs by bytes. A file without a head may be cut at any frame, one with a head at any block.
 * But what is followed from the first to the last file of an acquisition (counters of datagrams, numbers of
 * files) is one process's; and so are all inputs if one is a pipe, or if counters of time begin again, as
 * each frame's turn follows from those before it.
 *
 * Each process converts and sorts its share as a chain that ends there. A single is late by those before it
 * in all inputs: by those of its own share the chain tells; of what the shares before have come to, the
 * latest time is enough, and then the late ones are the first of those in order.
 */
#include "mpi_pet.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- shares ------------------------------------------------------------------------------------ */

typedef struct file {
    uint64_t bytes, series;
    bool cut;     /* it may be */
    bool goes_on; /* not to be parted from the one before */
} file;

/* False: it is no regular file. */
static bool look(const char *path, file *f)
{
    struct stat there;
    slc_io_pet_raw *raw = NULL;
    slc_error error;
    *f = (file){.bytes = 0};
    if (strcmp(path, "-") == 0 || stat(path, &there) != 0) {
        return strcmp(path, "-") != 0; /* what is not there is told when it is read */
    }
    if (!S_ISREG(there.st_mode)) {
        return false;
    }
    f->bytes = (uint64_t)there.st_size;
    if (slc_io_pet_raw_open(path, &raw, &error) == SLC_OK) {
        slc_io_pet_raw_info info;
        slc_io_pet_raw_info_of(raw, &info);
        f->series = info.series;
        f->cut = info.bare || (info.series != 0 && info.payload.sequence_bytes == 0);
    }
    slc_io_pet_raw_close(raw);
    return true;
}

/* From the first to the last file of an acquisition nothing is parted. */
static void join_series(file *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t last = i;
        for (size_t k = i + 1; k < n && files[i].series != 0; k++) {
            last = files[k].series == files[i].series ? k : last;
        }
        for (size_t k = i + 1; k <= last; k++) {
            files[k].goes_on = true;
        }
        while (i + 1 < n && files[i].series != 0 && files[i + 1].series == files[i].series) {
            i++; /* has been looked at */
        }
    }
}

/* The place at or near so many bytes. */
static slc_mpi_pet_place place_at(const file *files, size_t n, uint64_t bytes)
{
    size_t i = 0;
    while (i < n && bytes >= files[i].bytes) {
        bytes -= files[i++].bytes;
    }
    if (i < n && files[i].cut && !files[i].goes_on && (i + 1 == n || !files[i + 1].goes_on)) {
        return (slc_mpi_pet_place){i, bytes / SLC_PET_FRAME_BYTES};
    }
    while (i < n && i > 0 && files[i].goes_on) {
        i++;
    }
    return (slc_mpi_pet_place){i, 0};
}

static slc_status plan(slc_mpi_pet *pet)
{
    const slc_pet_run_job *job = pet->job;
    const size_t n = (size_t)job->paths.n, many = (size_t)pet->world.size;
    file *files = malloc((n + 1) * sizeof *files);
    if (files == NULL) {
        return slc_fail(&pet->job->error, SLC_ERR_MEMORY, "no memory for %zu inputs", n);
    }
    bool shared = job->config.convert.tick_bits == 64;
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        shared = look(job->paths.path[i], &files[i]) && shared;
        bytes += files[i].bytes;
    }
    join_series(files, n);
    for (size_t k = 0; k <= many; k++) {
        pet->place[k] = k == 0 ? (slc_mpi_pet_place){0, 0}
                        : k == many || !shared
                            ? (slc_mpi_pet_place){n, 0}
                            : place_at(files, n, bytes / many * k + bytes % many * k / many);
    }
    free(files);
    return SLC_OK;
}

static slc_status share_inputs(slc_mpi_pet *pet)
{
    const size_t places = (size_t)pet->world.size + 1;
    pet->place = calloc(places, sizeof *pet->place);
    slc_error *error = &pet->job->error;
    slc_status status = pet->place == NULL     ? slc_fail(error, SLC_ERR_MEMORY, "no memory for the shares")
                        : pet->world.rank == 0 ? plan(pet)
                                               : SLC_OK;
    status = slc_mpi_agree(&pet->world, status, error);
    if (status == SLC_OK) {
        (void)MPI_Bcast(pet->place, (int)(places * sizeof *pet->place), MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    return status;
}

/* ---- clocks ------------------------------------------------------------------------------------ */

static uint64_t ticks_of(const slc_pet_frame *frame)
{
    uint64_t ticks = 0;
    for (int i = 0; i < 8; i++) {
        ticks = ticks << 8 | frame->time[i];
    }
    return ticks;
}

/* The first and the last frame of each module that a chain has a clock of: of units that there are. */
static void follow(slc_mpi_pet_clocks *c, const slc_pet_geometry *g, const slc_pet_frame *frames, size_t n)
{
    const uint32_t modules = slc_pet_module_count(g), units = g->blocks_y * g->blocks_z;
    bool found[SLC_PET_MAX_MODULES] = {false};
    uint32_t known = 0, more = 0;
    for (uint32_t m = 0; m < SLC_PET_MAX_MODULES; m++) {
        known += c->began[m];
    }
    for (size_t i = 0; i < n && known < modules; i++) {
        const slc_pet_frame *f = &frames[i];
        if (f->module < modules && (f->head_unit & 15U) < units && !c->began[f->module]) {
            c->began[f->module] = true;
            c->first[f->module] = ticks_of(f);
            known++;
        }
    }
    for (size_t i = n; i > 0 && more < known; i--) {
        const slc_pet_frame *f = &frames[i - 1];
        if (f->module < modules && (f->head_unit & 15U) < units && !found[f->module]) {
            found[f->module] = true;
            c->last[f->module] = ticks_of(f);
            more++;
        }
    }
}

/* ---- a share ----------------------------------------------------------------------------------- */

static void note_times(slc_mpi_pet *pet, const slc_pet_singles *singles)
{
    for (size_t i = 0; i < singles->head.size; i++) {
        const int64_t t = singles->time_ps[i];
        pet->earliest = !pet->any || t < pet->earliest ? t : pet->earliest;
        pet->latest = !pet->any || t > pet->latest ? t : pet->latest;
        pet->any = true;
    }
}

static slc_status take(slc_mpi_pet *pet, const slc_pet_result *result)
{
    const slc_schema *schema = &slc_pet_singles_schema;
    const size_t n = result->singles.head.size, all = pet->singles.head.size + n;
    slc_faults_merge(&pet->faults, &result->faults);
    for (int s = 0; s < SLC_PET_STAGES; s++) {
        pet->seconds[s] += result->seconds[s];
    }
    note_times(pet, &result->late);
    if (all > pet->singles.head.capacity &&
        slc_columns_reserve(schema, &pet->singles, all + all / 2, 1) != SLC_OK &&
        slc_columns_reserve(schema, &pet->singles, all, 1) != SLC_OK) {
        return slc_fail(&pet->job->error, SLC_ERR_MEMORY, "no memory for %zu singles", all);
    }
    return slc_columns_append(schema, &result->singles, 0, n, &pet->singles) == SLC_OK
               ? SLC_OK
               : slc_fail(&pet->job->error, SLC_ERR_MEMORY, "no memory for %zu singles", all);
}

static slc_status read_frames(slc_mpi_pet *pet, slc_pet_chain *chain)
{
    slc_pet_run_job *job = pet->job;
    const size_t batch = (size_t)job->options->batch;
    const bool turns = job->config.convert.tick_bits < 64;
    slc_pet_frame *frames = malloc(batch * sizeof *frames);
    uint64_t *received = turns ? malloc(batch * sizeof *received) : NULL;
    slc_pet_result result = {.seconds = {0}};
    size_t n = 0;
    slc_status status = frames == NULL || (turns && received == NULL)
                            ? slc_fail(&job->error, SLC_ERR_MEMORY, "no memory for %zu frames", batch)
                            : SLC_OK;
    while (status == SLC_OK && slc_io_pet_inputs_read(&pet->inputs, frames, received, batch, &n) == SLC_OK) {
        follow(&pet->clocks, &job->tables.geometry, frames, n);
        status = slc_pet_chain_run(chain, frames, received, n, false, &result, &job->error);
        status = status == SLC_OK ? take(pet, &result) : status;
    }
    if (status == SLC_OK) {
        status = slc_pet_chain_run(chain, NULL, NULL, 0, true, &result, &job->error);
        status = status == SLC_OK ? take(pet, &result) : status;
    }
    slc_pet_chain_totals(chain, &pet->totals);
    slc_pet_result_clear(&result);
    free(frames);
    free(received);
    return status;
}

/* Room for a share at once, if it can be had: memory that is not touched costs nothing. */
static void make_room(slc_mpi_pet *pet)
{
    uint64_t bytes = 0;
    file f;
    for (size_t i = 0; i < pet->inputs.n; i++) {
        bytes += look(pet->inputs.input[i].path, &f) ? f.bytes : 0;
    }
    const bool cut = pet->inputs.from > 0 || pet->inputs.until > 0;
    bytes = cut && pet->inputs.n == 1
                ? SLC_PET_FRAME_BYTES *
                      ((pet->inputs.until > 0 ? pet->inputs.until : bytes / SLC_PET_FRAME_BYTES) -
                       pet->inputs.from)
                : bytes;
    const uint64_t rows = bytes / SLC_PET_FRAME_BYTES + (bytes >> 9) + 1024;
    if (rows < UINT32_MAX) {
        (void)slc_columns_reserve(&slc_pet_singles_schema, &pet->singles, (size_t)rows, 1);
    }
}

static slc_status open_share(slc_mpi_pet *pet)
{
    const slc_mpi_pet_place *from = &pet->place[pet->world.rank], *until = from + 1;
    const bool none = from->input == until->input && from->frame == until->frame;
    const size_t n = none ? 0 : (size_t)(until->input - from->input) + (until->frame > 0);
    const slc_status status = slc_io_pet_inputs_open((const char *const *)pet->job->paths.path + from->input,
                                                     n, &pet->inputs, &pet->job->error);
    pet->inputs.from = from->frame;
    pet->inputs.until = until->frame;
    if (status == SLC_OK) {
        make_room(pet);
    }
    return status;
}

/* Those that are late by what the shares before this one have come to. */
static void drop_late(slc_mpi_pet *pet)
{
    const uint64_t horizon = (uint64_t)pet->job->config.sort.horizon_ps;
    slc_pet_singles *s = &pet->singles;
    slc_pet_sort_counts *c = &pet->totals.sort;
    if (s->head.size > 0) {
        const slc_pet_singles ends[2] = {{.head = {.size = 1}, .time_ps = s->time_ps},
                                         {.head = {.size = 1}, .time_ps = s->time_ps + s->head.size - 1}};
        note_times(pet, &ends[0]);
        note_times(pet, &ends[1]);
    }
    int64_t mine = pet->any ? pet->latest : INT64_MIN, before = INT64_MIN;
    (void)MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (pet->world.rank == 0 || !pet->any || before <= pet->earliest) {
        return;
    }
    const uint64_t lag = (uint64_t)before - (uint64_t)pet->earliest;
    const int64_t largest = lag > INT64_MAX ? INT64_MAX : (int64_t)lag;
    c->largest_lag_ps = largest > c->largest_lag_ps ? largest : c->largest_lag_ps;
    size_t late = 0;
    while (late < s->head.size && s->time_ps[late] < before &&
           (uint64_t)before - (uint64_t)s->time_ps[late] > horizon) {
        late++;
    }
    c->late += late;
    c->given -= late;
    s->head.size -= late;
    memmove(s->time_ps, s->time_ps + late, s->head.size * sizeof *s->time_ps);
    memmove(s->crystal, s->crystal + late, s->head.size * sizeof *s->crystal);
    memmove(s->energy_kev, s->energy_kev + late, s->head.size * sizeof *s->energy_kev);
}

slc_status slc_mpi_pet_read(slc_mpi_pet *pet)
{
    slc_pet_run_job *job = pet->job;
    slc_pet_chain *chain = NULL;
    slc_pet_config config = job->config;
    slc_status status = share_inputs(pet);
    if (status != SLC_OK) {
        return status;
    }
    config.until = SLC_PET_STAGE_SORT;
    config.delayed = false;
    status = open_share(pet);
    status = status == SLC_OK ? slc_pet_chain_open(&config, &job->tables, &chain, &job->error) : status;
    status = status == SLC_OK ? read_frames(pet, chain) : status;
    slc_pet_chain_close(chain);
    status = slc_mpi_agree(&pet->world, status, &job->error);
    if (status == SLC_OK) {
        drop_late(pet);
    }
    return status;
}
