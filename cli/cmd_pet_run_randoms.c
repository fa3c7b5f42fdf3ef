/* SPDX-License-Identifier: Apache-2.0
 *
 * Randoms of each pair in `sluice pet run`. They are known once all singles have come: which multiples a
 * policy makes is measured over the whole run. So pairs that are written with them wait in a file without a
 * name beside the output, 34 bytes each, and are read once more at the end.
 */
#include "cmd_pet_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options ----------------------------------------------------------------------------------- */

bool slc_pet_run_pairs_wait(const slc_pet_run_job *job)
{
    return job->options->randoms != SLC_PET_RUN_RANDOMS_OFF && job->options->output != NULL;
}

/* What pairs with randoms are written to. */
static int check_list(const slc_cli_command *command, const slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    const bool castor = job->format == SLC_IO_PET_CASTOR, yrt = job->format == SLC_IO_PET_YRT;
    const bool columns = job->format == SLC_IO_PET_HDF5 || job->format >= SLC_PET_RUN_ARROW;
    if (!castor && !yrt && !columns) {
        return slc_cli_wrong(command,
                             "%s has no place for randoms: castor, yrt, hdf5, arrow, npy and npz have",
                             slc_pet_run_format_name((size_t)job->format));
    }
    if (yrt && job->tof_ns <= 0) {
        return slc_cli_wrong(command, "randoms of yrt need --tof, too: nothing else tells its records from "
                                      "those with time of flight alone");
    }
    if (o->flush_ns > 0 || o->rotate_ns > 0) {
        return slc_cli_wrong(command, "with --randoms pairs are written at the end: leave out %s",
                             o->flush_ns > 0 ? "--flush" : "--rotate-time");
    }
    return SLC_CLI_GO_ON;
}

int slc_pet_run_randoms_check(const slc_cli_command *command, const slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    if (o->randoms == SLC_PET_RUN_RANDOMS_OFF) {
        return o->randoms_sinogram == NULL
                   ? SLC_CLI_GO_ON
                   : slc_cli_wrong(command, "--randoms-sinogram needs --randoms singles or delayeds");
    }
    return o->output != NULL ? check_list(command, job) : SLC_CLI_GO_ON;
}

/* They are told, or judge what --subtract does, or are written. */
static bool wants_randoms(const slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    const bool told = job->config.delayed && (!o->quiet || o->json || o->subtract);
    return told || o->randoms != SLC_PET_RUN_RANDOMS_OFF || o->crystal_rates != NULL;
}

slc_status slc_pet_run_randoms_open(slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    slc_pet_pair_randoms_config config;
    if (!wants_randoms(job)) {
        return SLC_OK;
    }
    slc_pet_pair_randoms_config_default(&config);
    config.geometry = job->tables.geometry;
    config.prompt = job->config.prompt;
    config.prompt.exec.threads = job->config.exec.threads;
    config.delay_ns = job->config.delayed ? job->config.delay_ns : 0;
    config.bin_s = job->bin_s;
    config.from = o->randoms == SLC_PET_RUN_RANDOMS_DELAYEDS ? SLC_PET_RANDOMS_FROM_DELAYEDS
                                                             : SLC_PET_RANDOMS_FROM_SINGLES;
    config.dead_time_ns = job->dead_time_ns;
    config.paralysable = o->paralysable;
    return slc_pet_pair_randoms_open(&config, &job->randoms, &job->error);
}

/* ---- pairs that wait --------------------------------------------------------------------------- */

/* What the system says of the file of waiting pairs. */
static slc_status fail_waiting(slc_pet_run_job *job, const char *what)
{
    return slc_fail(&job->error, SLC_ERR_IO, "%s: its pairs %s: %s", job->options->output, what,
                    strerror(errno));
}

/* A file beside the output that is gone when it is closed, however that comes about. */
static slc_status open_waiting(slc_pet_run_job *job)
{
    static const char end[] = ".waiting-XXXXXX";
    const char *output = job->options->output;
    const size_t size = strlen(output) + sizeof end;
    char *name = malloc(size);
    if (name == NULL) {
        return slc_fail(&job->error, SLC_ERR_MEMORY, "%s: no memory for its pairs", output);
    }
    (void)snprintf(name, size, "%s%s", output, end);
    const int file = mkstemp(name);
    if (file >= 0) {
        (void)unlink(name);
        job->waiting = fdopen(file, "w+b");
    }
    const slc_status status = job->waiting != NULL ? SLC_OK : fail_waiting(job, "cannot wait beside it");
    if (job->waiting == NULL && file >= 0) {
        (void)close(file);
    }
    free(name);
    return status;
}

typedef struct piece {
    void *memory;
    size_t size; /* of a row */
} piece;
enum { PIECES = 7 };

static void pieces_of(slc_pet_coincidences *p, piece pieces[PIECES])
{
    const piece of[PIECES] = {
        {p->time_ps, sizeof *p->time_ps},         {p->dt_ps, sizeof *p->dt_ps},
        {p->crystal1, sizeof *p->crystal1},       {p->crystal2, sizeof *p->crystal2},
        {p->energy1_kev, sizeof *p->energy1_kev}, {p->energy2_kev, sizeof *p->energy2_kev},
        {p->delayed, sizeof *p->delayed}};
    memcpy(pieces, of, sizeof of);
}

slc_status slc_pet_run_pairs_put(slc_pet_run_job *job, const slc_pet_coincidences *pairs)
{
    slc_status status = job->waiting == NULL ? open_waiting(job) : SLC_OK;
    const uint64_t n = pairs->head.size;
    if (status != SLC_OK || n == 0) {
        return status;
    }
    slc_pet_coincidences all = *pairs;
    piece pieces[PIECES];
    pieces_of(&all, pieces);
    bool good = fwrite(&n, sizeof n, 1, job->waiting) == 1;
    for (size_t i = 0; i < PIECES && good; i++) {
        good = fwrite(pieces[i].memory, pieces[i].size, n, job->waiting) == n;
    }
    return good ? SLC_OK : fail_waiting(job, "cannot wait beside it");
}

/* The next that were put; SLC_END after the last. */
static slc_status take_back(slc_pet_run_job *job, slc_pet_coincidences *pairs)
{
    uint64_t n = 0;
    slc_columns_reset(pairs);
    if (fread(&n, sizeof n, 1, job->waiting) != 1) {
        return ferror(job->waiting) != 0 ? fail_waiting(job, "that waited cannot be read") : SLC_END;
    }
    slc_status status = slc_columns_reserve(&slc_pet_coincidences_schema, pairs, n, 1);
    if (status != SLC_OK) {
        return slc_fail(&job->error, status, "%s: no memory for its pairs", job->options->output);
    }
    piece pieces[PIECES];
    pieces_of(pairs, pieces);
    bool good = true;
    for (size_t i = 0; i < PIECES && good; i++) {
        good = fread(pieces[i].memory, pieces[i].size, n, job->waiting) == n;
    }
    pairs->head.size = n;
    return good ? SLC_OK
                : slc_fail(&job->error, SLC_ERR_IO, "%s: waiting pairs cannot be read", job->options->output);
}

slc_status slc_pet_run_pairs_write(slc_pet_run_job *job)
{
    if (job->randoms == NULL || isnan(job->randoms_totals.randoms)) {
        return slc_fail(
            &job->error, SLC_ERR_FORMAT, "%s: randoms of its pairs are not known: %s", job->options->output,
            job->randoms == NULL ? job->randoms_error.text : "the measurement is shorter than two delays");
    }
    slc_status status = fflush(job->waiting) == 0 && fseek(job->waiting, 0, SEEK_SET) == 0
                            ? SLC_OK
                            : fail_waiting(job, "that waited cannot be read");
    status = status == SLC_OK ? slc_pet_run_list_create(job) : status;
    while (status == SLC_OK && (status = take_back(job, &job->due)) == SLC_OK) {
        status = slc_io_pet_list_write(job->list, &job->due, &job->error);
    }
    (void)fclose(job->waiting);
    job->waiting = NULL;
    return status == SLC_END ? SLC_OK : status;
}

/* ---- the end ----------------------------------------------------------------------------------- */

void slc_pet_run_randoms_end(slc_pet_run_job *job)
{
    if (job->randoms != NULL &&
        slc_pet_pair_randoms_finish(job->randoms, &job->randoms_totals, &job->randoms_error) != SLC_OK) {
        slc_pet_pair_randoms_close(job->randoms);
        job->randoms = NULL;
    }
}

/* All bins, and in each the crystals one by one. */
static slc_status put_crystal_rates(slc_pet_run_job *job, slc_io_writer *writer)
{
    const slc_pet_randoms_bins *bins = slc_pet_pair_randoms_bins(job->randoms);
    slc_pet_crystal_rates crystals = {.head = {.size = 0}};
    const slc_io_group both[] = {{"bins", &slc_pet_randoms_bins_schema, bins, SLC_IO_ROWS_WHOLE},
                                 {"crystals", &slc_pet_crystal_rates_schema, &crystals, SLC_IO_ROWS_WHOLE}};
    slc_status status = slc_io_results_put(writer, both, 2, &job->error);
    for (size_t bin = 0; bin < bins->head.size && status == SLC_OK; bin++) {
        if (slc_pet_pair_randoms_crystals(job->randoms, bin, &crystals) != SLC_OK) {
            status = slc_fail(&job->error, SLC_ERR_MEMORY, "%s: no memory for it",
                              job->options->crystal_rates);
        } else {
            status = slc_io_results_put(writer, &both[1], 1, &job->error);
        }
    }
    slc_columns_clear(&slc_pet_crystal_rates_schema, &crystals);
    return status;
}

static slc_status write_crystal_rates(slc_pet_run_job *job)
{
    const slc_pet_pair_randoms_totals *t = &job->randoms_totals;
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"n_crystals", slc_pet_crystals(&job->tables.geometry)},
                   {"bin_s", t->bin_s},
                   {"window_ns", job->config.prompt.window_ns},
                   {"dead_time_ns", job->dead_time_ns},
                   {"company", t->company},
                   {"within_blocks", t->within_blocks},
                   {"randoms", t->randoms},
                   {"randoms_sigma", t->sigma}};
    slc_io_writer *writer = NULL;
    slc_status status = slc_io_results_create(job->options->crystal_rates, NULL, &writer, &job->error);
    if (status != SLC_OK) {
        return status;
    }
    status = slc_io_results_text(writer, "sluice_version", slc_version(), &job->error);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == SLC_OK; i++) {
        status = slc_io_results_number(writer, numbers[i].name, numbers[i].value, &job->error);
    }
    status = status == SLC_OK ? put_crystal_rates(job, writer) : status;
    if (status == SLC_OK && job->partial) {
        status = slc_io_results_number(writer, "partial", 1, &job->error);
    }
    if (status == SLC_OK) {
        return slc_io_finish(writer, &job->error);
    }
    slc_io_abandon(writer);
    return status;
}

static slc_status write_sinogram(slc_pet_run_job *job)
{
    slc_io_pet_sinogram *sinogram = NULL;
    slc_status status = isnan(job->randoms_totals.randoms)
                            ? slc_fail(&job->error, SLC_ERR_FORMAT,
                                       "%s: the measurement is shorter than two delays",
                                       job->options->randoms_sinogram)
                            : slc_pet_run_sinogram_open(job, &sinogram, &job->error);
    if (status == SLC_OK) {
        status = slc_io_pet_sinogram_write_randoms(sinogram, job->randoms, job->options->randoms_sinogram,
                                                   &job->randoms_in, &job->error);
    }
    slc_io_pet_sinogram_close(sinogram);
    return status;
}

void slc_pet_run_randoms_write(slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    if (job->randoms == NULL) {
        return;
    }
    if (o->randoms_sinogram != NULL) {
        slc_pet_run_judge(job, o->randoms_sinogram, write_sinogram(job));
    }
    if (o->crystal_rates != NULL) {
        slc_pet_run_judge(job, o->crystal_rates, write_crystal_rates(job));
    }
    if ((o->randoms != SLC_PET_RUN_RANDOMS_OFF || o->crystal_rates != NULL) &&
        job->randoms_totals.bin_s > job->bin_s * 1.5) {
        slc_cli_say(job->command != NULL ? job->command : "pet run",
                    "bins of %.9g s are too many for %u crystals: %.9g s were taken", job->bin_s,
                    slc_pet_crystals(&job->tables.geometry), job->randoms_totals.bin_s);
    }
}

void slc_pet_run_randoms_abandon(slc_pet_run_job *job)
{
    if (job->waiting != NULL) {
        (void)fclose(job->waiting);
        job->waiting = NULL;
    }
    slc_pet_pair_randoms_close(job->randoms);
    job->randoms = NULL;
}
