/* SPDX-License-Identifier: Apache-2.0
 * Raw frames as inputs, the words that say how they are converted, and how their counts are told. */
#include "cmd_pet_frames.h"
#include "cli_faults.h"
#include "cli_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------------- */

void slc_pet_convert_config_of(const slc_pet_frame_words *words, const double kev[2],
                               slc_pet_convert_config *config)
{
    config->tick_numerator = words->ticks[0];
    config->tick_denominator = words->ticks[1];
    config->tick_bits = (uint32_t)words->tick_bits;
    if (kev[0] < kev[1]) {
        config->low_kev = kev[0];
        config->high_kev = kev[1];
    }
}

int slc_pet_tables_of(const slc_cli_command *command, const slc_pet_frame_words *words,
                      slc_pet_tables *tables, bool *owned)
{
    slc_error error = {0};
    *tables = (slc_pet_tables){.position = NULL};
    *owned = false;
    if ((words->tables != NULL) == (words->scanner != NULL)) {
        return slc_cli_wrong(command,
                             words->tables == NULL
                                 ? "the scanner must be known: give --tables or --scanner"
                                 : "--tables and --scanner exclude each other: tables name a scanner");
    }
    if (words->scanner != NULL) {
        return slc_pet_scanner(words->scanner, &tables->geometry, &error) == SLC_OK
                   ? SLC_CLI_GO_ON
                   : slc_cli_wrong(command, "--scanner: %s", error.text);
    }
    if (slc_io_read_pet_tables(words->tables, tables, &error) != SLC_OK) {
        slc_cli_say(command->name, "%s", error.text);
        return SLC_CLI_FAILED;
    }
    *owned = true;
    return SLC_CLI_GO_ON;
}

/* ---- inputs ------------------------------------------------------------------------------------ */

bool slc_pet_received_room(const slc_pet_frame_words *words, size_t frames, uint64_t **received_ns)
{
    *received_ns = words->tick_bits < 64 ? malloc(frames * sizeof **received_ns) : NULL;
    return words->tick_bits == 64 || *received_ns != NULL;
}

bool slc_pet_inputs_tell(const slc_io_pet_inputs *inputs, const char *command, bool quiet, bool tolerate_loss)
{
    bool good = true;
    for (size_t i = 0; i < inputs->n; i++) {
        const slc_io_pet_input *input = &inputs->input[i];
        const bool damaged = slc_faults_of(&input->faults, SLC_FAULT_PET_BLOCK) > 0;
        if (input->error.status != SLC_OK) {
            slc_cli_say(command, "%s", input->error.text);
        }
        if (input->other >= 0 && !quiet) {
            slc_cli_say(command, "%s is of another acquisition than %s", input->path,
                        inputs->input[input->other].path);
        }
        if (input->missing > 0) {
            slc_cli_say(command, "%" PRIu64 " datagrams of the acquisition between %s and %s are in neither",
                        input->missing, inputs->input[input->before].path, input->path);
        }
        slc_cli_tell_faults(command, input->path, "module", &input->faults);
        good = good && !damaged && input->missing == 0 && input->error.status == SLC_OK;
    }
    return slc_pet_losses_tell(inputs, command, tolerate_loss) && good;
}

void slc_pet_frame_faults_tell(const slc_io_pet_inputs *inputs, const char *command, const slc_faults *faults)
{
    slc_cli_tell_faults(command, inputs->n == 1 ? inputs->input[0].path : "all inputs", "module", faults);
}

bool slc_pet_clock_tell(const char *command, const slc_pet_convert_counts *c)
{
    if (c->clock > 0) {
        slc_cli_say(command,
                    "%" PRIu64 " of %" PRIu64 " frames have a time that no other agrees with, and are left "
                    "out: bits are wrong, or --tick-bits, or --horizon is less than frames are out of order",
                    c->clock, c->frames);
    }
    if (c->bridged > 0) {
        slc_cli_say(command,
                    "%" PRIu64
                    " turns of all clocks were added to the times, where nothing was received for that long",
                    c->bridged);
    }
    return c->clock <= c->frames / 1000;
}

bool slc_pet_energies_tell(const char *command, const slc_io_pet_seen *seen, const slc_pet_tables *tables,
                           const slc_pet_convert_config *config, const slc_pet_convert_counts *c)
{
    char text[SLC_REPORT_PET_DOUBT];
    const uint64_t all = c->singles + c->below + c->above;
    if (slc_report_pet_frames_doubt(seen, tables, config, c, text)) {
        slc_cli_say(command, "%s", text);
    }
    if (c->no_crystal > 0 && all == 0) {
        slc_cli_say(command, "%" PRIu64 " of %" PRIu64 " frames are between crystals, none is of one",
                    c->no_crystal, c->frames);
    }
    return c->frames == 0 || c->singles > 0;
}

bool slc_pet_nothing_tell(const char *command, const slc_pet_convert_counts *c)
{
    if (c->frames == 0) {
        slc_cli_say(command, "no frames were read: no file was written");
    } else if (c->module + c->unit + c->position + c->clock == c->frames) {
        slc_cli_say(command,
                    "all %" PRIu64 " frames were lost: is this a file of frames of this scanner? No file was "
                    "written",
                    c->frames);
    } else if (c->singles == 0) {
        slc_cli_say(command, "no single is left of %" PRIu64 " frames: no file was written", c->frames);
    } else {
        return false;
    }
    return true;
}

bool slc_pet_malformed_tell(const char *command, uint64_t malformed, uint64_t datagrams)
{
    const bool most = malformed > datagrams / 10 * 9 + datagrams % 10 * 9 / 10;
    if (most) {
        slc_cli_say(command,
                    "%" PRIu64 " of %" PRIu64 " datagrams hold no whole number of frames: they were received "
                    "with another --header-bytes, or --sequence, than they have",
                    malformed, datagrams);
    }
    return most;
}

bool slc_pet_places_tell(const char *command, const slc_pet_convert_counts *c)
{
    const uint64_t lost = c->module + c->unit + c->position + c->clock;
    const bool most = lost > c->frames / 10 * 9 + c->frames % 10 * 9 / 10;
    if (most) {
        slc_cli_say(command, "%" PRIu64 " of %" PRIu64 " frames were lost: are these frames of this scanner?",
                    lost, c->frames);
    }
    return most;
}

bool slc_pet_most_lost_tell(const slc_io_pet_inputs *inputs, const char *command,
                            const slc_pet_convert_counts *c)
{
    uint64_t malformed = 0, datagrams = 0;
    for (size_t i = 0; i < inputs->n; i++) { /* files without heads have no datagrams */
        const slc_io_pet_input *input = &inputs->input[i];
        malformed += input->datagrams > 0 ? slc_faults_of(&input->faults, SLC_FAULT_PET_DATAGRAM) : 0;
        datagrams += input->datagrams - input->first;
    }
    const bool most_malformed = datagrams > 0 && slc_pet_malformed_tell(command, malformed, datagrams);
    return slc_pet_places_tell(command, c) || most_malformed;
}

void slc_pet_doubts_tell(const char *command, const slc_io_pet_seen *seen, const slc_pet_tables *tables)
{
    char text[SLC_REPORT_PET_DOUBT];
    const uint32_t side = tables->position != NULL ? tables->position_side : 0;
    for (size_t i = 0; slc_report_pet_scanner_doubt(seen, &tables->geometry, side, i, text); i++) {
        slc_cli_say(command, "%s: is it this scanner?", text);
    }
}

/* ---- counts ------------------------------------------------------------------------------------ */

bool slc_pet_late_tell(const char *command, const slc_pet_sort_counts *c, int64_t horizon_ps)
{
    const bool most = c->late > c->taken / 2;
    const bool far = c->largest_lag_ps / 100 > horizon_ps; /* no packets are so late: times are wrong */
    if (c->late == 0) {
        return true;
    }
    slc_cli_say(
        command,
        "%" PRIu64 " of %" PRIu64 " singles came later than the horizon of %.15g us allows and are in "
        "no coincidence; %.15g us would have been enough%s",
        c->late, c->taken, (double)horizon_ps * 1e-6, (double)c->largest_lag_ps * 1e-6,
        far ? "; if one of the times is far ahead of all others, 'sluice pet convert' and then 'sluice pet "
              "coincidences', which sorts all at once, find what is behind it; if clocks have begun "
              "again, --late FILE of 'sluice pet run' keeps the second measurement"
            : "");
    return !most;
}
