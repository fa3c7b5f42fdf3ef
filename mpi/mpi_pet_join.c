/* SPDX-License-Identifier: Apache-2.0
 *
 * What the processes have read, joined on process 0 in the order of the inputs, so that what is told of them
 * is what one process would tell: inputs and their damage, losses, frames that were dropped and their
 * numbers, and frames that are earlier than the one before of their module, which may be in the share before.
 */
#include "mpi_pet.h"

#include <stdlib.h>
#include <string.h>

enum { SEEN = 1 << 22 /* frames that the scanner is judged by (slc_io_pet_seen) */ };

/* Of one process. */
typedef struct summary {
    slc_mpi_pet_clocks clocks;
    slc_pet_convert_counts convert;
    slc_pet_sort_counts sort;
    slc_faults faults;
    slc_io_pet_losses losses;
    uint64_t n_inputs;
} summary;

static void join_clocks(slc_mpi_pet_clocks *to, const slc_mpi_pet_clocks *from, uint64_t *backwards)
{
    for (int m = 0; m < SLC_PET_MAX_MODULES; m++) {
        if (from->began[m]) {
            *backwards += to->began[m] && from->first[m] < to->last[m];
            to->began[m] = true;
            to->last[m] = from->last[m];
        }
    }
}

static void join_convert(slc_pet_convert_counts *to, const slc_pet_convert_counts *from)
{
    to->frames += from->frames;
    to->singles += from->singles;
    to->module += from->module;
    to->unit += from->unit;
    to->position += from->position;
    to->no_crystal += from->no_crystal;
    to->below += from->below;
    to->above += from->above;
    to->clock += from->clock;
    to->turns += from->turns;
    to->bridged += from->bridged;
    to->backwards += from->backwards;
}

static void join_sort(slc_pet_sort_counts *to, const slc_pet_sort_counts *from)
{
    to->taken += from->taken;
    to->given += from->given;
    to->late += from->late;
    to->held += from->held;
    to->largest_lag_ps = from->largest_lag_ps > to->largest_lag_ps ? from->largest_lag_ps
                                                                   : to->largest_lag_ps;
}

/* Frames are numbered through all inputs, `before` of them in the shares before. */
static void join_faults(slc_faults *to, slc_faults *from, uint64_t before)
{
    from->of_event = NULL;
    for (uint32_t i = 0; i < from->n_kept; i++) {
        from->kept[i].event += before;
        from->kept[i].offset += before * SLC_PET_FRAME_BYTES;
    }
    slc_faults_merge(to, from);
}

static void join_losses(slc_io_pet_losses *to, const slc_io_pet_losses *from)
{
    to->known = to->known || from->known;
    to->lost += from->lost;
    to->repeated += from->repeated;
    to->foreign += from->foreign;
    to->lost_frames += from->lost_frames;
    to->foreign_frames += from->foreign_frames;
}

/* An input, or, `goes_on`, a later part of one. */
static void join_input(slc_io_pet_input *to, slc_io_pet_input *from, size_t first, bool goes_on)
{
    const char *path = to->path;
    from->faults.of_event = NULL;
    if (goes_on) {
        to->frames += from->frames;
        to->first = to->datagrams > 0 ? to->first : from->first;
        to->datagrams = from->datagrams > 0 ? from->datagrams : to->datagrams;
        slc_faults_merge(&to->faults, &from->faults);
        to->error = to->error.status == SLC_OK ? from->error : to->error;
        return;
    }
    *to = *from;
    to->path = path;
    to->before += to->before >= 0 ? (ptrdiff_t)first : 0;
    to->other = -1;
}

/* What a process has told. */
static void join(slc_mpi_pet *pet, int rank, summary *s, slc_io_pet_input *inputs)
{
    slc_pet_run_job *job = pet->job;
    const slc_mpi_pet_place *place = &pet->place[rank];
    join_faults(&job->faults, &s->faults, job->totals.convert.frames);
    join_convert(&job->totals.convert, &s->convert);
    join_sort(&job->totals.sort, &s->sort);
    join_losses(&job->inputs.losses, &s->losses);
    if (rank == 0) {
        pet->clocks = s->clocks;
    } else {
        join_clocks(&pet->clocks, &s->clocks, &job->totals.convert.backwards);
    }
    for (size_t i = 0; i < s->n_inputs; i++) {
        join_input(&job->inputs.input[place->input + i], &inputs[i], place->input,
                   i == 0 && place->frame > 0);
    }
}

/* What inputs say of each other, and all of them together. */
static void finish(slc_io_pet_inputs *all)
{
    ptrdiff_t last = -1;
    for (size_t i = 0; i < all->n; i++) {
        slc_io_pet_input *input = &all->input[i];
        if (input->has_head) {
            input->other = last >= 0 && all->input[last].series != input->series ? last : -1;
            last = (ptrdiff_t)i;
        }
        all->frames += input->frames;
        all->missing += input->missing;
        slc_faults_merge(&all->faults, &input->faults);
    }
    all->at = all->n;
}

/* The first frames show the scanner: of those beyond the share of process 0 they are read once more. */
static slc_status see(slc_mpi_pet *pet)
{
    slc_io_pet_inputs *all = &pet->job->inputs, again = {.n = 0};
    all->seen = pet->inputs.seen;
    if (all->seen.frames >= SEEN || all->seen.frames == all->frames) {
        return SLC_OK;
    }
    enum { SOME = 1 << 14 };
    slc_error *error = &pet->job->error;
    slc_pet_frame *frames = malloc(SOME * sizeof *frames);
    slc_status status = frames == NULL ? slc_fail(error, SLC_ERR_MEMORY, "no memory for frames") : SLC_OK;
    size_t n = 0;
    if (status == SLC_OK) {
        status = slc_io_pet_inputs_open((const char *const *)pet->job->paths.path, all->n, &again, error);
    }
    while (status == SLC_OK && again.seen.frames < SEEN &&
           slc_io_pet_inputs_read(&again, frames, NULL, SOME, &n) == SLC_OK) {
    }
    all->seen = again.seen;
    slc_io_pet_inputs_close(&again);
    free(frames);
    return status;
}

static slc_status receive(slc_mpi_pet *pet, int rank, summary *s)
{
    slc_mpi_pet_swap(NULL, 0, MPI_PROC_NULL, s, sizeof *s, rank);
    const size_t size = (size_t)s->n_inputs * sizeof(slc_io_pet_input);
    slc_io_pet_input *inputs = malloc(size + 1);
    int there = inputs != NULL;
    (void)MPI_Send(&there, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
    if (inputs == NULL) {
        return slc_fail(&pet->job->error, SLC_ERR_MEMORY, "no memory for the inputs of process %d", rank);
    }
    slc_mpi_pet_swap(NULL, 0, MPI_PROC_NULL, inputs, size, rank);
    join(pet, rank, s, inputs);
    free(inputs);
    return SLC_OK;
}

static void tell(const slc_mpi_pet *pet, const summary *s)
{
    int wanted = 0;
    slc_mpi_pet_swap(s, sizeof *s, 0, NULL, 0, MPI_PROC_NULL);
    (void)MPI_Recv(&wanted, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (wanted != 0) {
        slc_mpi_pet_swap(pet->inputs.input, pet->inputs.n * sizeof *pet->inputs.input, 0, NULL, 0,
                         MPI_PROC_NULL);
    }
}

slc_status slc_mpi_pet_gather(slc_mpi_pet *pet)
{
    slc_pet_run_job *job = pet->job;
    summary s = {.clocks = pet->clocks,
                 .convert = pet->totals.convert,
                 .sort = pet->totals.sort,
                 .faults = pet->faults,
                 .losses = pet->inputs.losses,
                 .n_inputs = pet->inputs.n};
    slc_status status = SLC_OK;
    if (pet->world.rank == 0) {
        status = slc_io_pet_inputs_open((const char *const *)job->paths.path, (size_t)job->paths.n,
                                        &job->inputs, &job->error);
    }
    status = slc_mpi_agree(&pet->world, status, &job->error);
    if (status != SLC_OK) {
        return status;
    }
    if (pet->world.rank > 0) {
        tell(pet, &s);
        return slc_mpi_agree(&pet->world, SLC_OK, &job->error);
    }
    join(pet, 0, &s, pet->inputs.input);
    for (int rank = 1; rank < pet->world.size; rank++) {
        const slc_status some = receive(pet, rank, &s);
        status = status == SLC_OK ? some : status;
    }
    if (status == SLC_OK) {
        finish(&job->inputs);
        status = see(pet);
    }
    return slc_mpi_agree(&pet->world, status, &job->error);
}
