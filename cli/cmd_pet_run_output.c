/* SPDX-License-Identifier: Apache-2.0
 *
 * What `sluice pet run` writes: coincidences in order, singles, late singles, a sinogram, rates.
 */
#include "cli_words.h"
#include "cmd_pet_run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- formats ----------------------------------------------------------------------------------- */

const char *slc_pet_run_format_name(size_t i)
{
    return i < SLC_IO_PET_LIST_FORMATS ? slc_io_pet_list_name((slc_io_pet_list_format)i)
           : i == SLC_PET_RUN_CSV      ? "csv"
           : i < SLC_PET_RUN_FORMATS   ? slc_pet_columns_name(i - SLC_PET_RUN_ARROW)
                                       : NULL;
}

int slc_pet_run_format_of(const char *name)
{
    static const struct {
        const char *end;
        int format;
    } ends[] = {
        {".cdh", SLC_IO_PET_CASTOR},      {".cdf", SLC_IO_PET_CASTOR},    {".clm.safir", SLC_IO_PET_SAFIR},
        {".l", SLC_IO_PET_SIEMENS},       {".l.hdr", SLC_IO_PET_SIEMENS}, {".lmdat", SLC_IO_PET_YRT},
        {".csv", SLC_IO_PET_GATE},        {".h5", SLC_IO_PET_HDF5},       {".hdf5", SLC_IO_PET_HDF5},
        {".petsird", SLC_IO_PET_PETSIRD}, {".arrow", SLC_PET_RUN_ARROW},  {".arrows", SLC_PET_RUN_ARROW},
        {".npy", SLC_PET_RUN_NPY},        {".npz", SLC_PET_RUN_NPZ},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (slc_cli_ends_with(name, ends[i].end)) {
            return ends[i].format;
        }
    }
    return SLC_PET_RUN_FORMATS;
}

bool slc_pet_run_format_has_delayeds(int format)
{
    return format != SLC_IO_PET_CASTOR && format != SLC_IO_PET_YRT;
}

char *slc_pet_run_list_files(const void *options, const char *name, size_t i)
{
    const slc_pet_run_options *o = options;
    return slc_pet_list_files(o->format > 0 ? o->format - 1 : slc_pet_run_format_of(name), name, i);
}

/* ---- opening ----------------------------------------------------------------------------------- */

slc_status slc_pet_run_sinogram_open(const slc_pet_run_job *job, slc_io_pet_sinogram **sinogram,
                                     slc_error *error)
{
    const slc_pet_run_options *o = job->options;
    slc_io_pet_sinogram_config config;
    slc_io_pet_sinogram_config_default(&config);
    config.geometry = job->tables.geometry;
    config.tangential = (uint32_t)o->tangential;
    config.ring_difference = slc_pet_ring_difference_of(&config.geometry, o->ring_difference);
    config.rebin = o->rebin;
    config.subtract = o->subtract;
    const slc_status status = slc_io_pet_sinogram_open(&config, sinogram, error);
    if (status == SLC_OK) {
        slc_pet_tell_sinogram("pet run", *sinogram);
    }
    return status;
}

static slc_status open_rates(slc_pet_run_job *job)
{
    slc_pet_rates_config config;
    slc_pet_rates_config_default(&config);
    config.geometry = job->tables.geometry;
    config.good = job->config.prompt.good;
    config.window_ns = job->config.prompt.window_ns;
    config.bin_s = job->bin_s;
    config.horizon_ps = job->config.sort.horizon_ps;
    config.dead_time_ns = job->dead_time_ns;
    config.paralysable = job->options->paralysable;
    return slc_pet_rates_open(&config, &job->rates, &job->error);
}

/* What is written only later is tried at once: a name that cannot be is told before the work, not after it.
 */
static slc_status try_name(const char *name, slc_error *error)
{
    struct stat there;
    slc_io_writer *writer = NULL;
    if (name == NULL || strcmp(name, "-") == 0 || (stat(name, &there) == 0 && !S_ISREG(there.st_mode))) {
        return SLC_OK;
    }
    const slc_status status = slc_io_text_create(name, &writer, error);
    slc_io_abandon(writer);
    return status;
}

/* Whoever opens a pipe waits for its reader. In an acquisition that shall hold up the chain alone, and not
 * its end: false, the pipe is one of those, to be opened by open_pipe. */
static bool opens_at_once(const slc_pet_run_job *job, const char *name)
{
    struct stat there;
    return job->ending == NULL || stat(name, &there) != 0 || !S_ISFIFO(there.st_mode);
}

/* Waits for the reader of a pipe. *held keeps it until the output has opened the pipe for itself; -1: none.
 */
static slc_status wait_for_reader(slc_pet_run_job *job, const char *name, int *held)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    *held = -1;
    if (opens_at_once(job, name)) {
        return SLC_OK;
    }
    while ((*held = open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO) {
        if (atomic_load(job->ending)) {
            return slc_fail(&job->error, SLC_ERR_IO, "%s: nobody has opened this pipe to read it", name);
        }
        atomic_store(&job->waits_for, name);
        (void)nanosleep(&moment, NULL);
    }
    atomic_store(&job->waits_for, NULL);
    return SLC_OK; /* of another error the opening tells */
}

static void let_go(int held)
{
    if (held >= 0) {
        (void)close(held);
    }
}

/* What is known of the measurement. */
static slc_io_pet_list_config list_config(const slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    slc_io_pet_list_config config;
    slc_io_pet_list_config_default(&config);
    config.geometry = job->tables.geometry;
    config.scanner = slc_pet_scanner_word_name(o->frames.scanner);
    config.tof = job->tof_ns > 0;
    config.tof_resolution_ps = job->tof_ns * 1000;
    config.window_ps = job->config.prompt.window_ns * 1000;
    config.start_ps = job->start_ps;
    config.checksum = &job->totals.checksum;
    config.partial = &job->partial;
    config.rotate_bytes = o->rotate_bytes;
    config.rotate_seconds = o->rotate_ns * 1e-9;
    config.exec = job->config.exec.threads != 1 ? &job->config.exec : NULL;
    if (isfinite(job->config.convert.high_kev)) {
        config.low_kev = job->config.convert.low_kev;
        config.high_kev = job->config.convert.high_kev;
    }
    config.efficiency = job->tables.efficiency;
    config.factors = job->factors;
    config.prompt_multiples = slc_pet_multiples_of(job->config.prompt.policy);
    config.delayed_multiples = job->config.delayed && !o->prompts ? config.prompt_multiples
                                                                  : SLC_PET_MULTIPLES_NO_PAIRS;
    return config;
}

static slc_status open_singles(slc_pet_run_job *job, const char *name, slc_pet_singles_file *file)
{
    int held = -1;
    slc_status status = wait_for_reader(job, name, &held);
    if (status == SLC_OK) {
        const slc_io_pet_list_config config = list_config(job);
        status = slc_pet_singles_create(name, file == &job->singles ? &config : NULL, file, &job->error);
    }
    let_go(held);
    return status;
}

static slc_status open_marks(slc_pet_run_job *job)
{
    int held = -1;
    const char *name = job->options->marks;
    slc_status status = wait_for_reader(job, name, &held);
    if (status == SLC_OK) {
        status = slc_pet_marks_create(name, &job->marks, &job->error);
    }
    let_go(held);
    return status;
}

static slc_status write_marks(slc_pet_run_job *job, const slc_pet_marks *marks)
{
    slc_status status = SLC_OK;
    if (job->options->marks != NULL && job->marks.writer == NULL) {
        status = open_marks(job);
    }
    if (status == SLC_OK && job->marks.writer != NULL) {
        status = slc_pet_marks_put(&job->marks, marks, &job->error);
    }
    return status;
}

slc_status slc_pet_run_outputs_open(slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    const char *const later[] = {o->output, o->sinogram, o->rates, o->rate_plot, o->crystal_rates};
    slc_status status = SLC_OK;
    for (size_t i = 0; i < sizeof later / sizeof *later && status == SLC_OK; i++) {
        status = try_name(later[i], &job->error);
    }
    if (status == SLC_OK && o->output != NULL) {
        status = slc_pet_pairs_open(&job->config, &job->order, &job->error);
    }
    if (status == SLC_OK && o->singles != NULL && opens_at_once(job, o->singles) &&
        !slc_pet_singles_are_petsird(o->singles)) { /* which needs its time 0 */
        status = open_singles(job, o->singles, &job->singles);
    }
    if (status == SLC_OK && o->late != NULL && opens_at_once(job, o->late)) {
        status = open_singles(job, o->late, &job->late);
    }
    if (status == SLC_OK && o->marks != NULL && opens_at_once(job, o->marks)) {
        status = open_marks(job);
    }
    if (status == SLC_OK && o->sinogram != NULL) {
        status = slc_pet_run_sinogram_open(job, &job->sinogram, &job->error);
    }
    if (status == SLC_OK && (o->rates != NULL || o->rate_plot != NULL || o->dead_time_ns > 0)) {
        status = open_rates(job);
    }
    return status == SLC_OK ? slc_pet_run_randoms_open(job) : status;
}

static const char *command_of(const slc_pet_run_job *job)
{
    return job->command != NULL ? job->command : "pet run";
}

slc_status slc_pet_run_list_create(slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    if (job->format == SLC_PET_RUN_CSV) {
        const slc_status status = slc_io_text_create(o->output, &job->csv, &job->error);
        const slc_io_text_form form = {.schema = &slc_pet_coincidences_schema};
        return status == SLC_OK ? slc_io_text_rows(job->csv, &form, NULL, &job->error) : status;
    }
    slc_io_pet_list_config config = list_config(job);
    config.randoms = slc_pet_run_pairs_wait(job) ? job->randoms : NULL;
    const bool columns = job->format >= SLC_PET_RUN_ARROW;
    if (job->format == (int)SLC_IO_PET_PETSIRD && job->tables.geometric.radial != NULL) {
        slc_cli_say(command_of(job),
                    "%s: PETSIRD gets the crystals' efficiencies: the tables' radial and axial "
                    "factors are not written",
                    o->output);
    }
    config.form = columns ? slc_pet_columns_form((size_t)job->format - SLC_PET_RUN_ARROW, o->output) : NULL;
    return slc_io_pet_list_create(o->output, columns ? SLC_IO_PET_HDF5 : (slc_io_pet_list_format)job->format,
                                  &config, &job->list, &job->error);
}

/* The list begins when its time 0 is known. */
static slc_status open_list(slc_pet_run_job *job)
{
    const char *name = job->options->output;
    if (name == NULL || job->list != NULL || job->csv != NULL) {
        return SLC_OK;
    }
    int held = -1;
    slc_status status = wait_for_reader(job, name, &held);
    status = status == SLC_OK ? slc_pet_run_list_create(job) : status;
    let_go(held);
    return status;
}

/* ---- a result ---------------------------------------------------------------------------------- */

/* Time 0 of what is written: the first single's millisecond, rounded down. Late singles may be before it;
 * pairs are not. */
static void find_start(slc_pet_run_job *job, const slc_pet_singles *singles)
{
    const int64_t ms = 1000000000;
    if (!job->started && singles->head.size > 0) {
        const int64_t first = singles->time_ps[0], rest = first % ms;
        job->started = true;
        job->start_ps = first - rest - (rest < 0 && first > INT64_MIN + ms ? ms : 0);
    }
}

static slc_status write_pairs(slc_pet_run_job *job, const slc_pet_result *result, bool last)
{
    slc_columns_reset(&job->due);
    slc_status status = slc_pet_pairs_add(job->order, result, last, &job->due, &job->error);
    const bool wait = slc_pet_run_pairs_wait(job);
    if (status == SLC_OK && (job->started || last) && !wait) {
        status = open_list(job);
    }
    if (status != SLC_OK) {
        return status;
    }
    if (job->options->prompts) {
        slc_pet_keep_prompts(&job->due);
    }
    job->written += job->due.head.size;
    if (wait) {
        return slc_pet_run_pairs_put(job, &job->due);
    }
    if (job->csv != NULL) {
        const slc_io_text_form form = {.schema = &slc_pet_coincidences_schema, .exec = &job->config.exec};
        status = slc_io_text_rows(job->csv, &form, &job->due, &job->error);
    } else if (job->due.head.size > 0) {
        status = slc_io_pet_list_write(job->list, &job->due, &job->error);
    }
    const double flush_s = job->options->flush_ns * 1e-9;
    if (status == SLC_OK && job->list != NULL && (job->reads_once || flush_s > 0)) {
        status = slc_io_pet_list_flush(job->list, flush_s > 0 ? flush_s : SLC_CLI_FLUSH_SECONDS, &job->error);
    }
    return status;
}

/* Rates that cannot go on are given up, and that is told at the end: they are no reason to lose the rest. */
static void take_rates(slc_pet_run_job *job, const slc_pet_batch *batch)
{
    if (job->rates == NULL) {
        return;
    }
    slc_status status = slc_pet_rates_add(job->rates, batch, &job->rates_error);
    if (status == SLC_OK && batch->last) {
        status = slc_pet_rates_finish(job->rates, &job->rates_totals, &job->rates_error);
    }
    if (status != SLC_OK) {
        slc_pet_rates_close(job->rates);
        job->rates = NULL;
    }
}

/* So are the randoms. */
static void take_randoms(slc_pet_run_job *job, const slc_pet_batch *batch)
{
    const slc_pet_coincidences *pairs = &batch->result->pairs;
    for (size_t i = 0; i < pairs->head.size; i++) {
        job->delayeds += pairs->delayed[i] != 0;
    }
    if (job->randoms != NULL &&
        slc_pet_pair_randoms_add(job->randoms, batch, &job->randoms_error) != SLC_OK) {
        slc_pet_pair_randoms_close(job->randoms);
        job->randoms = NULL;
    }
}

static slc_status write_singles(slc_pet_run_job *job, const char *name, slc_pet_singles_file *file,
                                const slc_pet_singles *singles)
{
    const bool due = name != NULL && !slc_pet_singles_are_open(file) &&
                     (job->started || !slc_pet_singles_are_petsird(name));
    slc_status status = due ? open_singles(job, name, file) : SLC_OK;
    if (status == SLC_OK && slc_pet_singles_are_open(file)) {
        status = slc_pet_singles_put(file, singles, &job->error);
    }
    return status;
}

static slc_status write_part(slc_pet_run_job *job, slc_pet_run_part part, const slc_pet_batch *batch)
{
    const slc_pet_run_options *o = job->options;
    const slc_pet_result *result = batch->result;
    switch (part) {
    case SLC_PET_RUN_SINGLES:
        return write_singles(job, o->singles, &job->singles, &result->singles);
    case SLC_PET_RUN_LATE:
        return write_singles(job, o->late, &job->late, &result->late);
    case SLC_PET_RUN_PAIRS:
        return job->order != NULL ? write_pairs(job, result, batch->last) : SLC_OK;
    case SLC_PET_RUN_MARKS:
        return write_marks(job, batch->marks);
    default:
        return job->sinogram != NULL ? slc_io_pet_sinogram_add(job->sinogram, &result->pairs, &job->error)
                                     : SLC_OK;
    }
}

/* Closes one that failed; nothing appears under its name. */
static void give_up(slc_pet_run_job *job, slc_pet_run_part part)
{
    job->lost[part] = true;
    job->failed = true;
    job->failure[job->n_failures++] = job->error;
    if (part == SLC_PET_RUN_SINGLES) {
        slc_pet_singles_abandon(&job->singles);
    } else if (part == SLC_PET_RUN_LATE) {
        slc_pet_singles_abandon(&job->late);
    } else if (part == SLC_PET_RUN_MARKS) {
        slc_pet_singles_abandon(&job->marks);
    } else if (part == SLC_PET_RUN_PAIRS) {
        slc_io_pet_list_abandon(job->list);
        slc_io_abandon(job->csv);
        job->list = NULL;
        job->csv = NULL;
        job->written = 0;
    } else {
        slc_io_pet_sinogram_close(job->sinogram);
        job->sinogram = NULL;
    }
}

static bool any_is_left(const slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    const bool wanted[SLC_PET_RUN_PARTS] = {[SLC_PET_RUN_SINGLES] = o->singles != NULL,
                                            [SLC_PET_RUN_LATE] = o->late != NULL,
                                            [SLC_PET_RUN_PAIRS] = o->output != NULL,
                                            [SLC_PET_RUN_MARKS] = o->marks != NULL,
                                            [SLC_PET_RUN_SINOGRAM] = o->sinogram != NULL};
    bool any = job->rates != NULL;
    for (int part = 0; part < SLC_PET_RUN_PARTS; part++) {
        any = any || (wanted[part] && !job->lost[part]);
    }
    return any;
}

slc_status slc_pet_run_outputs_take(slc_pet_run_job *job, const slc_pet_batch *batch)
{
    find_start(job, &batch->result->singles);
    for (int i = 0; i < SLC_PET_RUN_PARTS; i++) {
        const slc_pet_run_part part = (slc_pet_run_part)i;
        const slc_status status = job->lost[part] ? SLC_OK : write_part(job, part, batch);
        if (status != SLC_OK && job->ending == NULL) {
            return status;
        }
        if (status != SLC_OK) {
            give_up(job, part);
        }
    }
    take_rates(job, batch);
    take_randoms(job, batch);
    return job->n_failures == 0 || any_is_left(job) ? SLC_OK : SLC_ERR_IO;
}

/* ---- the end ----------------------------------------------------------------------------------- */

void slc_pet_run_judge(slc_pet_run_job *job, const char *name, slc_status status)
{
    job->failed |= !slc_cli_kept_judge(&job->kept, command_of(job), name, status, &job->error);
}

/* The same of a part of its own. */
static void judge_part(slc_pet_run_job *job, slc_pet_run_part part, slc_status status)
{
    const slc_pet_run_options *o = job->options;
    const char *const names[SLC_PET_RUN_PARTS] = {[SLC_PET_RUN_SINGLES] = o->singles,
                                                  [SLC_PET_RUN_LATE] = o->late,
                                                  [SLC_PET_RUN_PAIRS] = o->output,
                                                  [SLC_PET_RUN_MARKS] = o->marks,
                                                  [SLC_PET_RUN_SINOGRAM] = o->sinogram};
    slc_pet_run_judge(job, names[part], status);
    job->lost[part] = status != SLC_OK;
}

static slc_status write_rates(slc_pet_run_job *job)
{
    slc_io_writer *writer = NULL;
    int held = -1;
    slc_status status = wait_for_reader(job, job->options->rates, &held);
    if (status == SLC_OK) {
        status = slc_io_text_create(job->options->rates, &writer, &job->error);
    }
    let_go(held);
    if (status != SLC_OK) {
        return status;
    }
    const slc_io_text_form form = {.schema = &slc_pet_rate_rows_schema};
    status = slc_io_text_rows(writer, &form, NULL, &job->error);
    status = status == SLC_OK ? slc_io_text_rows(writer, &form, slc_pet_rates_rows(job->rates), &job->error)
                              : status;
    if (status == SLC_OK) {
        return slc_io_finish(writer, &job->error);
    }
    slc_io_abandon(writer);
    return status;
}

/* What ends with the last batch, which has not come. */
static void end_early(slc_pet_run_job *job)
{
    if (job->rates != NULL &&
        slc_pet_rates_finish(job->rates, &job->rates_totals, &job->rates_error) != SLC_OK) {
        slc_pet_rates_close(job->rates);
        job->rates = NULL;
    }
}

/* The pairs that waited for their randoms, if any did. */
static void write_waiting(slc_pet_run_job *job)
{
    const slc_status status = job->waiting != NULL ? slc_pet_run_pairs_write(job) : SLC_OK;
    if (status != SLC_OK) {
        slc_io_pet_list_abandon(job->list);
        job->list = NULL;
        job->written = 0;
        judge_part(job, SLC_PET_RUN_PAIRS, status);
    }
}

/* Pairs that the list leaves out, or has no factor for. */
static void tell_list(const slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    slc_pet_dead_tell(command_of(job), o->output, slc_io_pet_list_dead(job->list));
    if (o->quiet) { /* else it stands in the table */
        slc_pet_left_out_tell(command_of(job), o->output, job->left_out);
    }
}

void slc_pet_run_outputs_finish(slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    if (job->partial) {
        end_early(job);
    }
    slc_pet_run_randoms_end(job);
    write_waiting(job);
    if (job->list != NULL) {
        job->left_out = slc_io_pet_list_left_out(job->list);
        tell_list(job);
        job->written -= job->left_out;
        judge_part(job, SLC_PET_RUN_PAIRS, slc_io_pet_list_finish(job->list, &job->error));
        job->list = NULL;
    }
    if (job->csv != NULL) {
        judge_part(job, SLC_PET_RUN_PAIRS, slc_io_finish(job->csv, &job->error));
        job->csv = NULL;
    }
    if (slc_pet_singles_are_open(&job->singles)) {
        judge_part(job, SLC_PET_RUN_SINGLES,
                   slc_pet_singles_finish(&job->singles, job->partial, &job->error));
        slc_pet_left_out_tell(command_of(job), o->singles, job->singles.left_out);
    }
    if (slc_pet_singles_are_open(&job->late)) {
        judge_part(job, SLC_PET_RUN_LATE, slc_pet_singles_finish(&job->late, job->partial, &job->error));
    }
    if (job->marks.writer != NULL) { /* those behind the last frame are left */
        slc_status status = slc_pet_marks_put(&job->marks, &job->inputs.marks, &job->error);
        if (status == SLC_OK) {
            status = slc_pet_singles_finish(&job->marks, job->partial, &job->error);
        }
        judge_part(job, SLC_PET_RUN_MARKS, status);
    }
    if (job->sinogram != NULL) {
        slc_io_pet_sinogram_counts_of(job->sinogram, &job->sinogram_in, &job->sinogram_outside);
        slc_pet_outside_tell(command_of(job), o->sinogram, job->sinogram_outside);
        judge_part(job, SLC_PET_RUN_SINOGRAM,
                   slc_io_pet_sinogram_write(job->sinogram, o->sinogram, &job->error));
    }
    slc_pet_run_randoms_write(job);
    if (job->randoms_error.status != SLC_OK) {
        slc_cli_say(command_of(job), "no randoms: %s", job->randoms_error.text);
        job->failed = true;
    } else if (o->subtract && job->randoms != NULL && !job->lost[SLC_PET_RUN_SINOGRAM]) {
        slc_pet_run_judge_subtraction(job);
    }
    if (job->rates_error.status != SLC_OK) {
        slc_cli_say(command_of(job), "no rates: %s", job->rates_error.text);
        job->failed = true;
    }
    if (o->rates != NULL && job->rates != NULL) {
        slc_pet_run_judge(job, o->rates, write_rates(job));
    }
    if (o->rate_plot != NULL && job->rates != NULL) {
        slc_pet_run_judge(
            job, o->rate_plot,
            slc_report_pet_rates_svg(o->rate_plot, slc_pet_rates_rows(job->rates), job->bin_s, &job->error));
    }
}

void slc_pet_run_outputs_abandon(slc_pet_run_job *job)
{
    slc_io_pet_list_abandon(job->list);
    slc_io_abandon(job->csv);
    slc_pet_singles_abandon(&job->singles);
    slc_pet_singles_abandon(&job->late);
    slc_pet_singles_abandon(&job->marks);
    slc_io_pet_sinogram_close(job->sinogram);
    slc_pet_rates_close(job->rates);
    slc_pet_run_randoms_abandon(job);
    slc_pet_pairs_close(job->order);
    slc_columns_clear(&slc_pet_coincidences_schema, &job->due);
}
