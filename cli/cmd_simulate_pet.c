/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice simulate pet`: generated frames of a PET scanner, written as a raw file or sent as its modules
 * would send them, with the tables that they convert with and the truth.
 */
#include "cmd_pet.h"

#include <sluice/sluice.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define COMMAND (&slc_cmd_simulate_pet)

typedef struct simulate_options {
    const char *scanner, *output, *tables, *truth, *isotope, *crystal;
    uint32_t ticks[2];
    slc_cli_texts source, phantom, send;
    uint64_t seed, packet, repeat, tick_bits, flood_side;
    double seconds, rate, activity, efficiency, scatter, time_sigma, resolution, dead_time, lso, threshold,
        delay, wait, gain_spread, offset_sigma, efficiency_spread, flood_sigma, pair_share, noncollinearity;
    bool each_crystal, fast, bare, sequence, flat_out, replace, quiet;
} simulate_options;
_Static_assert(sizeof(simulate_options) <= SLC_CLI_OPTIONS_BYTES, "the help needs room for them");

#define O simulate_options
static const slc_cli_option table[] = {
    {"scanner", 0, INPUTS(O, scanner, slc_pet_scanner_files), "NAME",
     "by name, in words, or FILE.csv; a wrong name lists all (default mouse20)"},
    {"seconds", 0, NUMBER(O, seconds, 1e-6, 1e6), "X", "length of the measurement"},
    {"output", 'o', RAW | STDOUT_TOO | OUTPUT(O, output), "FILE", "write a raw file"},
    {"bare", 0, FLAG(O, bare), NULL, "write frames alone, without heads; '-' is then standard output"},
    {"replace", 0, FLAG(O, replace), NULL, "overwrite FILE if it is there; otherwise that is an error"},
    {"write-tables", 0, OUTPUT(O, tables), "FILE", "write the tables that the frames convert with (HDF5)"},
    {"truth", 0, OUTPUT(O, truth), "FILE", "write a row for each frame (CSV): where it is from"},
    {"send", 0, TEXTS(O, send), "ADDR:PORT",
     "send it; given again, module m sends to address m mod their number"},
    {"flat-out", 0, FLAG(O, flat_out), NULL, "send as fast as it goes, not at the rate of the measurement"},
    {"repeat", 0, COUNT(O, repeat, 1, 1e12), "N",
     "send the measurement so many times, each later by its length"},
    {"sequence", 0, FLAG(O, sequence), NULL, "datagrams begin with 8 bytes that count those of their module"},
    {"seed", 0, COUNT(O, seed, 0, 0), "N", "same seed, same frames"},
    {"rate", 0, NUMBER(O, rate, 0, 1e10), "X", "singles a second in all; 0: as the activity gives it"},
    {"source", 0, TEXTS(O, source), "X,Y,Z,R,L,BQ",
     "a cylinder along z or a point (R = L = 0), in mm and Bq; again for more"},
    {"activity", 0, NUMBER(O, activity, 0, 1e12), "X", "Bq of a point in the middle, without --source"},
    {"efficiency", 0, NUMBER(O, efficiency, 0, 1), "X", "of a photon that meets a crystal"},
    {"scatter", 0, NUMBER(O, scatter, 0, 1), "X",
     "fraction of photons that have scattered, without --phantom"},
    {"isotope", 0, TEXT(O, isotope), "NAME",
     "F-18, Ga-68, I-124: activities of decays, range, prompt gammas (default ideal)"},
    {"noncollinearity", 0, NUMBER(O, noncollinearity, -1, 5), "X",
     "of photons, degrees FWHM; negative: 0.5 with --isotope, else 0"},
    {"phantom", 0, TEXTS(O, phantom), "X,Y,Z,R,L,MU",
     "a cylinder along z that scatters, mm and per mm (water 0.0096); again for more"},
    {"crystal", 0, TEXT(O, crystal), "NAME",
     "LSO, BGO, GSO or MU,SHARE: depth, scatter between, escape (default ideal)"},
    {"each-crystal", 0, FLAG(O, each_crystal), NULL,
     "with --crystal, a frame for each crystal that has light, not for each block"},
    {"time-sigma", 0, NUMBER(O, time_sigma, 0, 1e6), "X", "resolution of a single's time in ps"},
    {"resolution", 0, NUMBER(O, resolution, 0, 1), "X", "of energy, full width at half maximum over 511 keV"},
    {"dead-time", 0, NUMBER(O, dead_time, 0, 1e9), "X", "of a block after a single in ns"},
    {"lso", 0, NUMBER(O, lso, 0, 1e6), "X", "background singles of a crystal a second"},
    {"threshold", 0, NUMBER(O, threshold, 0, 1e5), "X", "in keV"},
    {"ticks", 0, FRACTION(O, ticks, "picoseconds as N or N/D"), "N/D",
     "a tick of the frames' clock is N/D picoseconds (default 1)"},
    {"tick-bits", 0, COUNT(O, tick_bits, 8, 64), "N",
     "bits of the clock, which begins again at 0 after them"},
    {"packet", 0, COUNT(O, packet, 1, 4000), "N", "frames of a datagram"},
    {"packet-delay", 0, NUMBER(O, delay, 0, 1e9), "X",
     "mean in us by which modules' datagrams are out of step"},
    {"packet-wait", 0, NUMBER(O, wait, 0, 1e9), "X",
     "us after which one is sent though it is not full; 0: never"},
    {"flood-side", 0, COUNT(O, flood_side, 0, 256), "N",
     "places of a flood map's side; 0: x and y are the crystal's"},
    {"flood-sigma", 0, NUMBER(O, flood_sigma, 0, 10), "X", "width of crystals in it, of their distance"},
    {"gain-spread", 0, NUMBER(O, gain_spread, 0, 1), "X", "of crystals, of their mean"},
    {"offset-sigma", 0, NUMBER(O, offset_sigma, 0, 1e6), "X", "spread of the crystals' time offsets in ps"},
    {"efficiency-spread", 0, NUMBER(O, efficiency_spread, 0, 0.3), "X",
     "of crystals, of --efficiency; --write-tables then has them"},
    {"fast", 0, FLAG(O, fast), NULL, "no physics: singles at --rate in random crystals, for measurements"},
    {"pair-share", 0, NUMBER(O, pair_share, 0, 1), "X", "with --fast, the part of them that are pairs"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress and no notes on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    slc_sim_pet_config c;
    slc_sim_pet_config_default(&c);
    *(simulate_options *)at = (simulate_options){.seconds = 1,
                                                 .ticks = {1, 1},
                                                 .repeat = 1,
                                                 .seed = c.seed,
                                                 .activity = c.source[0].activity_bq,
                                                 .rate = c.singles_hz,
                                                 .efficiency = c.efficiency,
                                                 .scatter = c.scatter_fraction,
                                                 .noncollinearity = c.noncollinearity_deg,
                                                 .time_sigma = c.time_sigma_ps,
                                                 .resolution = c.energy_resolution,
                                                 .dead_time = c.dead_time_ns,
                                                 .lso = c.lso_hz,
                                                 .threshold = c.threshold_kev,
                                                 .tick_bits = c.clock.tick_bits,
                                                 .packet = c.frames_per_packet,
                                                 .delay = c.packet_delay_us,
                                                 .wait = c.packet_wait_us,
                                                 .flood_side = c.flood_side,
                                                 .flood_sigma = c.flood_sigma,
                                                 .gain_spread = c.gain_spread,
                                                 .offset_sigma = c.time_offset_sigma_ps,
                                                 .pair_share = c.pair_share};
}

typedef struct job {
    const simulate_options *options;
    slc_sim_pet_config config;
    slc_sim_pet *sim;
    slc_io_pet_raw_writer *raw;
    slc_io_writer *bare, *truth_file;
    slc_pet_frame *frames;
    size_t n, capacity; /* frames at hand: all of them for sending, else those of a step */
    slc_sim_pet_truth truth;
    uint64_t written, sequence[SLC_PET_MAX_MODULES];
    void *datagrams; /* of a step: times, sizes, sockets, and their bytes */
    uint64_t began_ns;
    slc_error error;
} job;

/* ---- words ------------------------------------------------------------------------------------- */

/* Six numbers with commas. */
static int numbers(const char *option, const char *takes, const char *word, double v[6])
{
    const char *text = word;
    char *end = NULL;
    for (size_t n = 0; n < 6; n++, text = end + 1) {
        v[n] = strtod(text, &end);
        if (end == text || *end != (n < 5 ? ',' : '\0')) {
            return slc_cli_wrong(COMMAND, "--%s takes %s, six numbers, not '%s'", option, takes, word);
        }
    }
    return SLC_CLI_GO_ON;
}

static int sources(const simulate_options *o, slc_sim_pet_config *c)
{
    int status = SLC_CLI_GO_ON;
    double v[6];
    c->source[0].activity_bq = o->activity;
    for (uint32_t i = 0; i < o->source.n && status == SLC_CLI_GO_ON; i++) {
        status = numbers("source", "X,Y,Z,R,L,BQ", o->source.word[i], v);
        c->source[i] = (slc_sim_pet_source){v[0], v[1], v[2], v[3], v[4], v[5]};
        c->n_sources = i + 1;
    }
    for (uint32_t i = 0; i < o->phantom.n && status == SLC_CLI_GO_ON; i++) {
        status = numbers("phantom", "X,Y,Z,R,L,MU", o->phantom.word[i], v);
        c->phantom[i] = (slc_sim_pet_phantom){v[0], v[1], v[2], v[3], v[4], v[5]};
        c->n_phantoms = i + 1;
    }
    return status;
}

static int configure(job *j)
{
    const simulate_options *o = j->options;
    slc_sim_pet_config *c = &j->config;
    slc_sim_pet_config_default(c);
    int status = slc_pet_scanner_of(COMMAND, o->scanner != NULL ? o->scanner : "mouse20", &c->geometry);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    const slc_pet_frame_words words = {.ticks = {o->ticks[0], o->ticks[1]}, .tick_bits = o->tick_bits};
    const double all[2] = {0, 0};
    slc_pet_convert_config_of(&words, all, &c->clock);
    status = sources(o, c);
    c->seed = o->seed;
    c->singles_hz = o->rate;
    c->efficiency = o->efficiency;
    c->scatter_fraction = o->scatter;
    c->time_sigma_ps = o->time_sigma;
    c->energy_resolution = o->resolution;
    c->dead_time_ns = o->dead_time;
    c->lso_hz = o->lso;
    c->threshold_kev = o->threshold;
    c->frames_per_packet = (uint32_t)o->packet;
    c->packet_delay_us = o->delay;
    c->packet_wait_us = o->wait;
    c->flood_side = (uint32_t)o->flood_side;
    c->flood_sigma = o->flood_sigma;
    c->gain_spread = o->gain_spread;
    c->time_offset_sigma_ps = o->offset_sigma;
    c->efficiency_spread = o->efficiency_spread;
    c->fast = o->fast;
    c->pair_share = o->pair_share;
    c->isotope = o->isotope;
    c->noncollinearity_deg = o->noncollinearity;
    c->crystal = o->crystal;
    c->each_crystal = o->each_crystal;
    return status;
}

static int check_words(const simulate_options *o)
{
    if ((o->output != NULL) == (o->send.n > 0)) {
        return slc_cli_wrong(COMMAND, "it is written or sent: give --output or --send");
    }
    if (o->send.n == 0 && (o->flat_out || o->repeat > 1)) {
        return slc_cli_wrong(COMMAND, "--flat-out and --repeat are of --send");
    }
    if (o->bare && (o->output == NULL || o->sequence)) {
        return slc_cli_wrong(COMMAND, "--bare is of --output, and has no place for --sequence");
    }
    slc_sim_pet_config usual;
    slc_sim_pet_config_default(&usual);
    if (o->phantom.n > 0 && o->scatter != usual.scatter_fraction && o->scatter != 0) {
        return slc_cli_wrong(COMMAND,
                             "--scatter is of a measurement without --phantom, which scatters itself");
    }
    if (o->output != NULL && strcmp(o->output, "-") == 0 && !o->bare) {
        return slc_cli_wrong(COMMAND, "--output needs the name of a file, not '-'");
    }
    return slc_pet_files_check(COMMAND, o, NULL, 0);
}

/* ---- outputs ----------------------------------------------------------------------------------- */

/* Frames without heads are raw data all the same. */
static slc_status open_bare(job *j)
{
    const char *name = j->options->output;
    struct stat there;
    if (!j->options->replace && strcmp(name, "-") != 0 && stat(name, &there) == 0 && S_ISREG(there.st_mode)) {
        return slc_fail(&j->error, SLC_ERR_IO, "%s: cannot create: File exists; raw data are not overwritten",
                        name);
    }
    return slc_io_text_create(name, &j->bare, &j->error);
}

/* Without physics nothing but the first columns is to be told. */
static slc_io_text_form truth_form(const simulate_options *o)
{
    static slc_schema short_truth;
    short_truth = slc_sim_pet_truth_schema;
    short_truth.n_columns = 4;
    const bool physics = o->isotope != NULL || o->phantom.n > 0 || o->crystal != NULL ||
                         o->noncollinearity >= 0;
    return (slc_io_text_form){.schema = physics ? &slc_sim_pet_truth_schema : &short_truth};
}

static slc_status open_outputs(job *j)
{
    const simulate_options *o = j->options;
    slc_status status = SLC_OK;
    if (o->tables != NULL) {
        status = slc_io_write_pet_tables(o->tables, slc_sim_pet_tables(j->sim), &j->error);
    }
    if (status == SLC_OK && o->truth != NULL) {
        const slc_io_text_form form = truth_form(o);
        status = slc_io_text_create(o->truth, &j->truth_file, &j->error);
        status = status == SLC_OK ? slc_io_text_rows(j->truth_file, &form, NULL, &j->error) : status;
    }
    if (status == SLC_OK && o->bare) {
        status = open_bare(j);
    } else if (status == SLC_OK && o->output != NULL) {
        slc_io_pet_raw_config config;
        slc_io_pet_raw_config_default(&config);
        config.replace = o->replace;
        config.payload.header_bytes = config.payload.sequence_bytes = o->sequence ? 8 : 0;
        status = slc_io_pet_raw_create(o->output, &config, &j->raw, &j->error);
    }
    /* After the raw file's own beginning, which its head tells: nothing is received before. */
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    j->began_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    return status;
}

/* Datagrams as they would be sent: frames of one module that follow each other. */
static slc_status write_raw(job *j, double begin_s)
{
    const size_t header = j->options->sequence ? 8 : 0, most = j->config.frames_per_packet;
    const size_t all = j->n + 1; /* a frame a datagram at worst */
    free(j->datagrams);
    j->datagrams = malloc(all * (sizeof(uint64_t) + 2 * sizeof(uint16_t) + sizeof *j->frames + header));
    if (j->datagrams == NULL) {
        return slc_fail(&j->error, SLC_ERR_MEMORY, "no memory for %zu frames", j->n);
    }
    uint64_t *times = j->datagrams;
    uint16_t *sizes = (uint16_t *)(times + all), *sockets = sizes + all;
    uint8_t *packed = (uint8_t *)(sockets + all);
    uint8_t *end = packed;
    size_t n = 0;
    for (size_t i = 0, k = 0; i < j->n; i += k, n++) {
        const uint8_t module = j->frames[i].module;
        for (k = 1; k < most && i + k < j->n && j->frames[i + k].module == module; k++) {
        }
        for (size_t b = 0; b < header; b++) {
            end[b] = (uint8_t)(j->sequence[module] >> 8 * b);
        }
        j->sequence[module]++;
        memcpy(end + header, j->frames + i, k * sizeof *j->frames);
        sizes[n] = (uint16_t)(header + k * sizeof *j->frames);
        sockets[n] = 0;
        times[n] = j->began_ns + (uint64_t)(begin_s * 1e9);
        end += sizes[n];
    }
    return slc_io_pet_raw_write(j->raw, packed, sizes, times, sockets, n, &j->error);
}

/* What the last step has generated. For sending, all frames are kept. */
static slc_status write_step(job *j, double begin_s)
{
    slc_status status = SLC_OK;
    if (j->truth_file != NULL) {
        const slc_io_text_form form = truth_form(j->options);
        status = slc_io_text_rows(j->truth_file, &form, &j->truth, &j->error);
        slc_columns_reset(&j->truth);
    }
    if (status == SLC_OK && j->bare != NULL) {
        if (fwrite(j->frames, sizeof *j->frames, j->n, slc_io_text_stream(j->bare)) != j->n) {
            status = slc_fail(&j->error, SLC_ERR_IO, "%s: cannot write: %s", j->options->output,
                              strerror(errno));
        }
    } else if (status == SLC_OK && j->raw != NULL) {
        status = write_raw(j, begin_s);
    }
    if (j->options->send.n == 0) {
        j->written += j->n;
        j->n = 0;
    }
    return status;
}

static slc_status finish_outputs(job *j)
{
    slc_status status = SLC_OK;
    if (j->raw != NULL) {
        status = slc_io_pet_raw_finish(j->raw, &j->error);
        j->raw = NULL;
    }
    if (status == SLC_OK && j->bare != NULL) {
        status = slc_io_finish(j->bare, &j->error);
        j->bare = NULL;
    }
    if (status == SLC_OK && j->truth_file != NULL) {
        status = slc_io_finish(j->truth_file, &j->error);
        j->truth_file = NULL;
    }
    return status;
}

/* ---- work -------------------------------------------------------------------------------------- */

/* Steps of about a million frames; packets are closed at their ends. */
static slc_status generate(job *j)
{
    const simulate_options *o = j->options;
    slc_cli_progress progress;
    slc_cli_progress_begin(&progress, "simulate pet", o->quiet);
    progress.unit = "frames";
    slc_status status = SLC_OK;
    double step = o->rate > 0 ? 1e6 / o->rate : 0.1;
    uint64_t all = 0;
    for (double at = 0; at < o->seconds && status == SLC_OK && !slc_cli_interrupted(); at += step) {
        const double left = o->seconds - at;
        const size_t before = j->n;
        status = slc_sim_pet_next(j->sim, left < step * 1.000001 ? left : step, &j->frames, &j->n,
                                  &j->capacity, j->truth_file != NULL ? &j->truth : NULL, &j->error);
        all += j->n - before;
        status = status == SLC_OK ? write_step(j, at) : status;
        slc_cli_progress_show(&progress, all, 0);
    }
    slc_cli_progress_end(&progress);
    return status;
}

static slc_status send_all(job *j)
{
    const simulate_options *o = j->options;
    const slc_pet_convert_config *clock = &j->config.clock;
    slc_daq_pet_send_config send;
    slc_daq_pet_send_config_default(&send);
    send.n_to = o->send.n;
    send.frames_hz = o->flat_out ? 0 : (double)j->n / o->seconds;
    send.frames_per_datagram = j->config.frames_per_packet;
    send.sequence = o->sequence;
    send.repeat = o->repeat;
    send.stop = slc_cli_stop;
    for (uint32_t i = 0; i < o->send.n; i++) {
        send.to[i] = o->send.word[i];
    }
    const double ticks = o->seconds * 1e12 / clock->tick_numerator * clock->tick_denominator;
    send.repeat_ticks = ticks < 1.8e19 ? (uint64_t)ticks : 0;
    uint64_t sent = 0, datagrams = 0;
    const double began = slc_clock_seconds();
    const slc_status status = slc_daq_pet_send_frames(&send, j->frames, j->n, &sent, &datagrams, &j->error);
    const double seconds = slc_clock_seconds() - began;
    if (!o->quiet) {
        slc_cli_say("simulate pet",
                    "sent %" PRIu64 " frames in %" PRIu64 " datagrams, %.3f s, %.3f M frames/s", sent,
                    datagrams, seconds, (double)sent / seconds * 1e-6);
    }
    return status == SLC_END ? SLC_OK : status;
}

static int simulate(job *j)
{
    const simulate_options *o = j->options;
    slc_status status = slc_sim_pet_open(&j->config, &j->sim, &j->error);
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(COMMAND, "%s", j->error.text);
    }
    slc_cli_catch_signals();
    status = status == SLC_OK ? open_outputs(j) : status;
    status = status == SLC_OK ? generate(j) : status;
    if (status == SLC_OK && !slc_cli_interrupted()) {
        status = finish_outputs(j);
    }
    if (status == SLC_OK && o->send.n > 0 && !slc_cli_interrupted()) {
        status = send_all(j);
    }
    if (status != SLC_OK) {
        slc_cli_say("simulate pet", "%s", j->error.text);
    }
    if (status != SLC_OK || slc_cli_interrupted()) {
        return SLC_CLI_FAILED;
    }
    if (!o->quiet && o->output != NULL) {
        slc_cli_say("simulate pet", "%s: %" PRIu64 " frames of %g s with seed %" PRIu64,
                    strcmp(o->output, "-") == 0 ? "standard output" : o->output, j->written, o->seconds,
                    o->seed);
    }
    return SLC_CLI_DONE;
}

static int act(const slc_cli_call *call)
{
    job j = {.options = call->options};
    int status = check_words(j.options);
    status = status == SLC_CLI_GO_ON ? configure(&j) : status;
    status = status == SLC_CLI_GO_ON ? simulate(&j) : status;
    slc_sim_pet_close(j.sim);
    slc_pet_geometry_clear(&j.config.geometry);
    slc_io_pet_raw_abandon(j.raw);
    slc_io_abandon(j.bare);
    slc_io_abandon(j.truth_file);
    slc_columns_clear(&slc_sim_pet_truth_schema, &j.truth);
    free(j.frames);
    free(j.datagrams);
    return status;
}

const slc_cli_command slc_cmd_simulate_pet = {
    .name = "simulate pet",
    .operands = "",
    .summary = "generate frames of a PET scanner with truth, or send them",
    .description =
        "Generates annihilations in a ring of crystals and writes the frames that its modules would send, as "
        "a raw\n"
        "file that sluice pet run reads; or sends them to sluice pet acquire at the rate of the "
        "measurement. For\n"
        "--send all frames are in memory: long loads are short measurements with --repeat.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .defaults = set_defaults,
    .act = act,
};
