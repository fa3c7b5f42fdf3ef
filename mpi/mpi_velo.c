/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice-mpi velo`: the inputs are cut into many shares (--part), of which each process takes the next one
 * that nobody has, so that none waits for a slow one; what comes of them is put together in their order, and
 * is that of `sluice velo`. Results are parts, joined at the end.
 */
#include "mpi_velo.h"

#include "cli_rows.h"
#include "cli_words.h"
#include "mpi_cleanup.h"
#include "mpi_commands.h"
#include "mpi_shares.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options ----------------------------------------------------------------------------------- */

/* What needs all events in one process, or in order. */
static const char *const refused[][2] = {
    {"part", "shares are made and joined without"},
    {"truth", "sums of fractions are not the same in another order"},
    {"select", "prescales count events in order"},
    {"strict", "no process knows which fault is the first"},
    {"monitor", "it counts in one process"},
    {"report", "it is drawn from one process"},
    {"residuals", "they are summed in one process"},
    {"timing", "it tells of one process; --json tells how evenly the ranks worked"},
    {"device", "ranks of one machine would all take the same"},
    {"repeat", "events are kept in one process"},
    {"warmup", "events are kept in one process"},
    {"flush", "parts are joined at the end"},
    {"rotate-size", "parts are joined at the end"},
    {"rotate-time", "parts are joined at the end"},
    {"serve", "a page is of one process"},
    {"serve-anywhere", "a page is of one process"},
    {"serve-token", "a page is of one process"},
    {"serve-hold", "a page is of one process"},
};

static bool is_hdf5(const slc_velo_options *options)
{
    static const char *const others[] = {".arrow", ".arrows", ".npy", ".npz"};
    bool other = strcmp(options->output, "-") == 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        other = other || slc_cli_ends_with(options->output, others[i]);
    }
    const char *form = slc_cli_word(&slc_mpi_cmd_velo, "form");
    return form != NULL ? strcmp(form, "hdf5") == 0 && strcmp(options->output, "-") != 0 : !other;
}

static int check(const slc_cli_call *call)
{
    const slc_velo_options *options = call->options;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (slc_cli_word(&slc_mpi_cmd_velo, refused[i][0]) != NULL) {
            return slc_cli_wrong(&slc_mpi_cmd_velo, "--%s is not for several processes: %s; see sluice velo",
                                 refused[i][0], refused[i][1]);
        }
    }
    if (options->beam != NULL && strcmp(options->beam, "auto") == 0) {
        return slc_cli_wrong(&slc_mpi_cmd_velo, "--beam auto is not for several processes: find the beam by "
                                                "sluice velo, and give it as X,Y");
    }
    if (options->output != NULL && !is_hdf5(options)) {
        return slc_cli_wrong(&slc_mpi_cmd_velo,
                             "--output %s: parts are joined as HDF5 alone: a name such as tracks.h5",
                             options->output);
    }
    return call->n > 0 || options->print_config
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(&slc_mpi_cmd_velo, "%s is missing", slc_mpi_cmd_velo.operands);
}

/* ---- beginning --------------------------------------------------------------------------------- */

/* Decided by process 0: sizes may be seen late elsewhere. What is not there is told by who opens it. */
static uint32_t count_shares(const slc_mpi_world *world, char *const *inputs, int n)
{
    uint32_t shares = 1;
    uint64_t *bytes = world->rank == 0 ? calloc((size_t)n, sizeof *bytes) : NULL;
    for (int i = 0; bytes != NULL && i < n; i++) {
        struct stat about = {.st_size = 0};
        bytes[i] = stat(inputs[i], &about) == 0 ? (uint64_t)about.st_size : 0;
    }
    if (bytes != NULL) {
        shares = slc_mpi_shares_for(bytes, (size_t)n, (uint32_t)world->size);
    }
    free(bytes);
    (void)MPI_Bcast(&shares, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    return shares;
}

/* A folder beside the output, for the parts. */
static bool make_folder(slc_mpi_velo *velo)
{
    bool made = true;
    if (velo->output == NULL || strstr(velo->output, "%p") != NULL) {
        (void)snprintf(velo->pattern, sizeof velo->pattern, "%s", velo->output != NULL ? velo->output : "");
        velo->folder[0] = '\0';
        return slc_mpi_all(true);
    }
    if (velo->world.rank == 0) {
        const int size = snprintf(velo->folder, sizeof velo->folder, "%s.parts-%ld", velo->output,
                                  (long)getpid());
        made = size < (int)sizeof velo->folder && mkdir(velo->folder, 0777) == 0;
        if (made) {
            slc_mpi_cleanup_of(velo->folder);
        } else {
            slc_cli_say("velo", "%s: cannot write: %s", velo->output, strerror(errno));
            velo->folder[0] = '\0';
        }
    }
    (void)MPI_Bcast(velo->folder, (int)sizeof velo->folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    (void)snprintf(velo->pattern, sizeof velo->pattern, "%s/%%p.h5", velo->folder);
    return slc_mpi_all(made);
}

/* Configuration, geometry and mask, by every process; the flow is opened for each share. */
static int open_job(slc_mpi_velo *velo, const slc_cli_call *call)
{
    slc_velo_job *job = &velo->job;
    velo->options = *(const slc_velo_options *)call->options;
    velo->command_line = call->command_line;
    velo->output = velo->options.output;
    velo->table = velo->options.table;
    velo->options.table = NULL;
    slc_velo_job_init(job, &velo->options);
    job->inputs = call->operands;
    job->n_inputs = call->n;
    if (velo->options.print_config) {
        return slc_velo_config_print(job);
    }
    velo->options.part.n = velo->n_shares;
    const int status = slc_velo_job_open_chain(job);
    slc_flow_close(job->flow);
    job->flow = NULL;
    return status;
}

/* ---- shares ------------------------------------------------------------------------------------ */

static bool do_shares(slc_mpi_velo *velo)
{
    bool all = true;
    for (uint64_t share; all && (share = slc_mpi_counter_add(&velo->counter, 1)) < velo->n_shares;) {
        const double began = slc_clock_seconds();
        all = slc_mpi_velo_share(velo, (uint32_t)share);
        velo->busy += slc_clock_seconds() - began;
    }
    if (!all) {
        (void)slc_mpi_counter_add(&velo->counter, velo->n_shares); /* nobody begins another one */
    }
    return all;
}

enum { SIZE = 1, BYTES, MOST = 1 << 30 };

static void send(const slc_mpi_velo_bytes *bytes)
{
    const uint64_t size = bytes->size;
    (void)MPI_Send(&size, 1, MPI_UINT64_T, 0, SIZE, MPI_COMM_WORLD);
    for (uint64_t at = 0; at < size; at += MOST) {
        const uint64_t n = size - at < MOST ? size - at : MOST;
        (void)MPI_Send(bytes->at + at, (int)n, MPI_BYTE, 0, BYTES, MPI_COMM_WORLD);
    }
}

static void receive(slc_mpi_velo_bytes *bytes, int from)
{
    uint64_t size = 0;
    (void)MPI_Recv(&size, 1, MPI_UINT64_T, from, SIZE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *bytes = (slc_mpi_velo_bytes){.at = malloc(size), .size = size};
    if (bytes->at == NULL) {
        slc_cli_say("velo", "no memory for what came of the shares");
        (void)MPI_Abort(MPI_COMM_WORLD, SLC_CLI_FAILED); /* the others would wait for ever */
    }
    for (uint64_t at = 0; at < size; at += MOST) {
        const uint64_t n = size - at < MOST ? size - at : MOST;
        (void)MPI_Recv(bytes->at + at, (int)n, MPI_BYTE, from, BYTES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* The job of process 0, which has done shares, becomes that of the run. */
static bool begin_merge(slc_mpi_velo *velo)
{
    slc_velo_job *job = &velo->job;
    json_decref(job->totals.hits_per_event);
    slc_cli_identity_clear(&job->identity);
    job->totals = (slc_velo_totals){.hits_per_event = velo->options.json ? json_array() : NULL};
    memset(&job->identity, 0, sizeof job->identity);
    job->failed = false;
    job->beam.settled = true;
    slc_velo_beam_reset(&job->beam.sample);
    slc_velo_beam_reset(&job->beam.all);
    velo->options.part = (slc_cli_part){.n = 0};
    velo->options.output = velo->output;
    velo->options.table = velo->table;
    return !velo->options.json ||
           (slc_cli_identity_keep(&job->identity) && job->totals.hits_per_event != NULL);
}

/* To process 0 in the order of the shares, which each process has done its own of. */
static bool collect(slc_mpi_velo *velo)
{
    const bool first = velo->world.rank == 0;
    int *owner = calloc(velo->n_shares, sizeof *owner);
    if (!slc_mpi_all(owner != NULL && (!first || begin_merge(velo))) || owner == NULL) {
        free(owner);
        return false;
    }
    for (size_t i = 0; i < velo->n_done; i++) {
        owner[velo->done[i].share] = velo->world.rank;
    }
    (void)MPI_Allreduce(MPI_IN_PLACE, owner, (int)velo->n_shares, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    size_t own = 0;
    for (uint32_t share = 0; share < velo->n_shares; share++) {
        slc_mpi_velo_bytes bytes = {.at = NULL};
        if (owner[share] == velo->world.rank) {
            bytes = velo->done[own];
            velo->done[own++].at = NULL;
        }
        if (first && owner[share] != 0) {
            receive(&bytes, owner[share]);
        } else if (!first && bytes.at != NULL) {
            send(&bytes);
        }
        if (first && !slc_mpi_velo_merge(velo, &bytes)) {
            (void)MPI_Abort(MPI_COMM_WORLD, SLC_CLI_FAILED);
        }
        free(bytes.at);
    }
    free(owner);
    if (first) {
        slc_mpi_velo_merge_end(velo);
    }
    return true;
}

/* ---- the end, at process 0 --------------------------------------------------------------------- */

/* Parts are all open at once. */
static void open_many(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

static bool join(slc_mpi_velo *velo)
{
    slc_velo_job *job = &velo->job;
    const uint32_t n = velo->n_shares;
    char **paths = calloc(n, sizeof *paths);
    bool all = paths != NULL;
    const int width = snprintf(NULL, 0, "%u", (unsigned)(n - 1));
    for (uint32_t i = 0; all && i < n; i++) {
        const size_t size = strlen(velo->folder) + 32;
        paths[i] = malloc(size);
        all = paths[i] != NULL;
        if (all) {
            (void)snprintf(paths[i], size, "%s/%0*u.h5", velo->folder, width, (unsigned)i);
        }
    }
    open_many();
    const slc_status status = all ? slc_io_join((const char *const *)paths, n, velo->output, true,
                                                velo->command_line, NULL, &job->error)
                                  : slc_fail(&job->error, SLC_ERR_MEMORY, "no memory for the names of parts");
    for (uint32_t i = 0; paths != NULL && i < n; i++) {
        free(paths[i]);
    }
    free(paths);
    if (status != SLC_OK) {
        slc_cli_say("velo", "%s: no file was written", job->error.text);
    }
    return status == SLC_OK;
}

static int finish(slc_mpi_velo *velo, double seconds, double balance)
{
    slc_velo_job *job = &velo->job;
    char title[256];
    job->totals.seconds_total = seconds;
    job->ranks = (uint32_t)velo->world.size;
    job->shares = velo->n_shares;
    job->balance = balance;
    if (velo->folder[0] != '\0' && slc_velo_job_keeps(job) && !join(velo)) {
        job->failed = true;
    }
    (void)snprintf(title, sizeof title, "%s", job->inputs[0]);
    slc_velo_job_write(job, title, velo->command_line);
    return job->failed || job->totals.lost_events > 0 ? SLC_CLI_FAILED : SLC_CLI_DONE;
}

static int go(slc_mpi_velo *velo)
{
    const double began = slc_clock_seconds();
    slc_mpi_counter_open(&velo->world, &velo->counter);
    bool all = do_shares(velo);
    double times[2] = {velo->busy, 0}, sum = 0, longest = 0;
    times[1] = slc_clock_seconds() - began;
    slc_mpi_counter_close(&velo->counter);
    all = slc_mpi_all(all);
    (void)MPI_Reduce(&times[0], &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    (void)MPI_Reduce(&times[1], &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    all = all && collect(velo);
    int end = all ? SLC_CLI_DONE : SLC_CLI_FAILED;
    if (all && velo->world.rank == 0) {
        end = finish(velo, slc_clock_seconds() - began, longest > 0 ? sum / longest / velo->world.size : 1);
    }
    if (velo->world.rank == 0 && velo->folder[0] != '\0') {
        slc_mpi_cleanup_now(velo->folder);
        slc_mpi_cleanup_of(NULL);
    }
    return end;
}

static int act(const slc_cli_call *call)
{
    if (!slc_mpi_begin()) {
        return SLC_CLI_USAGE;
    }
    int status = check(call);
    slc_mpi_velo *velo = status == SLC_CLI_GO_ON ? calloc(1, sizeof *velo) : NULL;
    if (status == SLC_CLI_GO_ON && velo == NULL) {
        slc_cli_say("velo", "no memory to begin with");
        status = SLC_CLI_FAILED;
    }
    if (!slc_mpi_all(velo != NULL) || velo == NULL) {
        free(velo);
        return status == SLC_CLI_GO_ON ? SLC_CLI_FAILED : status;
    }
    velo->world = slc_mpi_here();
    velo->n_shares = count_shares(&velo->world, call->operands, call->n);
    status = open_job(velo, call);
    const bool opened = slc_mpi_all(status == SLC_CLI_GO_ON);
    if (!opened) {
        status = status == SLC_CLI_GO_ON ? SLC_CLI_FAILED : status;
    } else {
        status = make_folder(velo) ? go(velo) : SLC_CLI_FAILED;
    }
    for (size_t i = 0; i < velo->n_done; i++) {
        free(velo->done[i].at);
    }
    free(velo->done);
    free(velo->tracks.line);
    slc_velo_job_clear(&velo->job);
    free(velo);
    return status;
}

const slc_cli_command slc_mpi_cmd_velo = {
    .name = "velo",
    .operands = "INPUT...",
    .summary = "reconstruct tracks in LHCb's pixel vertex detector",
    .description =
        "What `sluice velo` does, by all processes: the inputs, which are files, are cut into shares, and "
        "each\n"
        "process takes the next one. Results and checksum are those of one process. -o FILE.h5 is joined "
        "from\n"
        "parts in a folder beside it, which goes; with %p in its name the parts stay, for sluice join.\n"
        "--threads is of each process. Not for several processes: --beam auto, --truth, --select, "
        "--monitor,\n"
        "--report, --residuals, --strict, --timing, --repeat, --part, --flush, --rotate-..., and results "
        "other\n"
        "than HDF5.\n",
    .options = slc_velo_options_table,
    .n_options = SLC_VELO_OPTIONS,
    .min_operands = 0, /* with --print-config */
    .max_operands = SIZE_MAX,
    .reads_operands = true,
    .defaults = slc_velo_options_defaults,
    .act = act,
};
