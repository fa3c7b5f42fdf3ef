/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice convert`: LHCb's raw events from one format to another: MDF, packets of 2019, packets of Run 3.
 */
#include "cli_options.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_convert)

enum { BATCH_EVENTS = 64, BATCH_BYTES = 16 << 20 };

typedef struct convert_options {
    const char *output;
    uint32_t packing;
    slc_io_packets layout;
    bool quiet;
} convert_options;

#define O convert_options
static const slc_cli_option options_table[] = {
    {"output", 'o', NEEDED | STDOUT_TOO | OUTPUT_AS(O, output, ENDS_OR_NONE(".mdf", ".mep")), "FILE",
     "where to write the events, .mdf or .mep; '-' is standard output"},
    {"packing", 0, COUNT(O, packing, 1, 65535), "N",
     "write packets (MEP) of N events, whose banks are in memory meanwhile; without it, MDF"},
    {"layout", 0, CHOICE(O, layout, WORDS("2019", "mfp")), "L",
     "of packets: 2019, each a record below 2^32 bytes, or mfp, that of Run 3"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no summary and no progress, only errors and what was lost"},
};
#undef O

typedef struct job {
    const convert_options *options;
    slc_io_writer *writer;
    slc_batch batch;
    uint8_t *event; /* one, its banks one after the other */
    size_t capacity;
    slc_cli_progress progress;
    uint64_t events, cut; /* written; of which banks are damaged */
    bool failed;
    slc_error error;
} job;

/* An event's sound banks, one after the other, in j->event. */
static slc_status gather(job *j, uint32_t e, size_t *size)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(&j->batch, e);
    slc_lhcb_bank bank;
    slc_status status;
    *size = 0;
    while ((status = slc_lhcb_bank_next(&cursor, &bank, NULL)) == SLC_OK) {
        const size_t need = *size + slc_lhcb_bank_bound(bank.size);
        if (need > j->capacity) {
            uint8_t *larger = realloc(j->event, 2 * need);
            if (larger == NULL) {
                return slc_fail(&j->error, SLC_ERR_MEMORY, "no memory for an event of %zu bytes", need);
            }
            j->event = larger;
            j->capacity = 2 * need;
        }
        *size += slc_lhcb_bank_write(j->event + *size, j->capacity - *size, bank.type, bank.version,
                                     bank.source, bank.payload, bank.size);
    }
    j->cut += status != SLC_END;
    return SLC_OK;
}

static slc_status write_batch(job *j, const char *path)
{
    slc_status status = SLC_OK;
    for (uint32_t e = 0; e < j->batch.n_events && status == SLC_OK; e++) {
        size_t size = 0;
        if (j->options->packing == 0) {
            status = slc_io_select_write(j->writer, path, &j->batch, e, NULL, &j->error);
        } else {
            status = gather(j, e, &size);
            status = status == SLC_OK ? slc_io_mdf_write(j->writer, j->event, size, &j->error) : status;
        }
        j->events += status == SLC_OK;
    }
    return status;
}

/* All of it goes out under --quiet, too. */
static void tell_input(job *j, const char *path, const slc_io_source *source, const slc_faults *faults,
                       uint64_t cut)
{
    slc_io_totals read;
    slc_io_totals_of(source, &read);
    if (read.lost_events > 0 || read.incomplete_events > 0 || slc_faults_total(faults) > 0) {
        slc_cli_say("convert",
                    "%s; %" PRIu64 " lost, %" PRIu64 " without a source of theirs, %" PRIu64 " read",
                    slc_io_damage(source) != NULL ? slc_io_damage(source) : path, read.lost_events,
                    read.incomplete_events, read.events);
        j->failed = true;
    }
    if (cut > 0) {
        slc_cli_say("convert", "%s: %" PRIu64 " events have damaged banks, which were left out", path, cut);
        j->failed = true;
    }
}

static slc_status convert_input(job *j, const char *path)
{
    slc_io_source *source = NULL;
    slc_io_config config;
    slc_faults faults;
    const uint64_t cut = j->cut;
    slc_faults_reset(&faults);
    slc_io_config_default(&config);
    config.keep_records = j->options->packing == 0;
    slc_status status = slc_io_open(path, &config, &source, &j->error);
    if (status == SLC_OK && slc_io_content_of(source) != SLC_IO_RAW_EVENTS) {
        status = slc_fail(&j->error, SLC_ERR_FORMAT, "%s: format %s, but events of raw banks are needed",
                          path, slc_io_format(source));
    }
    while (status == SLC_OK && !slc_cli_interrupted()) {
        status = slc_io_read_batch(source, BATCH_EVENTS, BATCH_BYTES, &j->batch, &faults, &j->error);
        status = status == SLC_OK ? write_batch(j, path) : status;
        slc_cli_progress_show(&j->progress, j->events, 0);
    }
    if (source != NULL) {
        tell_input(j, path, source, &faults, j->cut - cut);
    }
    slc_io_close(source);
    return status == SLC_END ? SLC_OK : status;
}

static int convert(job *j, char **paths, int n)
{
    const convert_options *o = j->options;
    const slc_io_mdf_config config = {.packing = o->packing, .packets = o->layout};
    const double began = slc_clock_seconds();
    slc_cli_catch_signals();
    slc_cli_progress_begin(&j->progress, "convert", o->quiet);
    slc_status status = o->packing > 0 ? slc_io_mdf_create(o->output, &config, &j->writer, &j->error)
                                       : slc_io_select_create(o->output, &j->writer, &j->error);
    for (int i = 0; i < n && status == SLC_OK && !slc_cli_interrupted(); i++) {
        status = convert_input(j, paths[i]);
    }
    slc_cli_progress_end(&j->progress);
    if (status == SLC_OK && !slc_cli_interrupted()) {
        status = slc_io_finish(j->writer, &j->error);
        j->writer = NULL;
    }
    slc_io_abandon(j->writer);
    if (status != SLC_OK) {
        slc_cli_say("convert", "%s", j->error.text);
    } else if (!o->quiet && !slc_cli_interrupted()) {
        slc_cli_say("convert", "%s: %" PRIu64 " events in %.1f s",
                    strcmp(o->output, "-") == 0 ? "standard output" : o->output, j->events,
                    slc_clock_seconds() - began);
    }
    return status == SLC_OK && !j->failed && !slc_cli_interrupted() ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int act(const slc_cli_call *call)
{
    const convert_options *o = call->options;
    const bool mdf = slc_cli_ends_with(o->output, ".mdf"), mep = slc_cli_ends_with(o->output, ".mep");
    if (o->packing == 0 && mep) {
        return slc_cli_wrong(COMMAND, "--output %s: packets need --packing N, how many events each has",
                             o->output);
    }
    if (o->packing > 0 && mdf) {
        return slc_cli_wrong(COMMAND, "--packing makes packets, which are no MDF: name the output .mep");
    }
    if (o->packing == 0 && slc_cli_word(COMMAND, "layout") != NULL) {
        return slc_cli_wrong(COMMAND, "--layout needs --packing");
    }
    job j = {.options = o};
    const int status = convert(&j, call->operands, call->n);
    slc_batch_clear(&j.batch);
    free(j.event);
    return status;
}

const slc_cli_command slc_cmd_convert = {
    .name = "convert",
    .operands = "FILE...",
    .summary = "convert LHCb raw events: MDF, multi-event packets",
    .description =
        "Writes the events of MDF and MEP files, one after the other, as MDF or, with --packing, as packets "
        "of\n"
        "many events (MEP). Banks are the same byte for byte. Records of MDF stay as they are if MDF is\n"
        "written; those made of packets have run, orbit and bunch crossing of ODIN and a checksum. A packet\n"
        "keeps no header of a record, and of banks that stand in another order in one event than in another\n"
        "one's order; --layout mfp sorts them by source. '-' is standard input.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .reads_operands = true,
    .act = act,
};
