/* SPDX-License-Identifier: Apache-2.0
 * What several commands of PET tell: of inputs and their losses, of frames and singles that are lost, and
 * counts by the names that they have in JSON. */
#include "cmd_pet_tell.h"
#include "cli_faults.h"
#include "cli_sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- losses ------------------------------------------------------------------------------------ */

bool slc_pet_loss_is_large(uint64_t lost, uint64_t kept)
{
    return lost > 0 && (double)lost > 1e-3 * ((double)lost + (double)kept);
}

void slc_pet_unused_tell(const char *command, const char *path, uint64_t repeated, uint64_t foreign,
                         bool most)
{
    const char *colon = path[0] != '\0' ? ": " : "";
    if (repeated > 0) {
        slc_cli_say(command, "%s%s%" PRIu64 " repeated datagrams, copies of others, are not used", path,
                    colon, repeated);
    }
    if (foreign > 0) {
        slc_cli_say(command,
                    "%s%s%" PRIu64
                    " foreign datagrams, whose numbers are not of their module's sequence, are not "
                    "used%s",
                    path, colon, foreign,
                    most ? "; as they are so many, --sequence may have named a place at which no counter "
                           "stands"
                         : "");
    }
}

/* By the sequence counters, under --quiet, too. False: the exit status is to be 1. */
static bool tell_losses(const slc_io_pet_inputs *inputs, const char *command, bool tolerate)
{
    const slc_io_pet_losses *l = &inputs->losses;
    const char *path = inputs->n == 1 ? inputs->input[0].path : "all inputs";
    const char *status = "; more than 0.1 %: exit status 1 (--tolerate-loss: 0)";
    const uint64_t kept = inputs->frames, frames = (uint64_t)(l->lost_frames + 0.5);
    const uint64_t foreign = (uint64_t)(l->foreign_frames + 0.5);
    const bool too_many = slc_pet_loss_is_large(frames + foreign, kept);
    if (l->lost > 0) {
        slc_cli_say(command,
                    "%s: lost %" PRIu64 " datagrams, about %" PRIu64
                    " frames (%.3g %%), by the modules' sequence counters%s",
                    path, l->lost, frames, 100 * slc_cli_ratio((double)frames, (double)frames + (double)kept),
                    too_many && foreign == 0 && !tolerate ? status : "");
    }
    slc_pet_unused_tell(command, path, l->repeated, l->foreign, foreign > kept);
    if (too_many && foreign > 0 && !tolerate) {
        slc_cli_say(command, "%s: about %" PRIu64 " frames are lost or not used%s", path, frames + foreign,
                    status);
    }
    return !too_many || tolerate;
}

void slc_pet_outside_tell(const char *command, const char *path, uint64_t outside)
{
    if (outside > 0) {
        slc_cli_say(command, "%s: %" PRIu64 " pairs are outside of the sinogram", path, outside);
    }
}

void slc_pet_left_out_tell(const char *command, const char *path, uint64_t left_out)
{
    if (left_out > 0) {
        slc_cli_say(command, "%s: %" PRIu64 " that it has no number for are left out", path, left_out);
    }
}

void slc_pet_not_read_tell(const char *command, const char *path, const char *what)
{
    if (what[0] != '\0') {
        slc_cli_say(command, "%s: not read: %s", path, what);
    }
}

void slc_pet_moved_tell(const char *command, const char *path, const slc_io_pet_list_about *about)
{
    if (about->moved[0] != '\0') {
        slc_cli_say(command, "%s: %s", path, about->moved);
    }
}

bool slc_pet_strangers_tell(const char *command, const char *path, const slc_io_pet_list_about *about)
{
    const uint64_t lost = about->no_crystal + about->no_tof,
                   all = about->totals.prompts + about->totals.delayeds + lost;
    const bool many = lost > all / 10;
    if (about->no_crystal > 0) {
        slc_cli_say(command,
                    "%s: %" PRIu64 " of %" PRIu64
                    " pairs are of crystals that the scanner does not have, and are "
                    "left out%s",
                    path, about->no_crystal, all, many ? ": is it this scanner?" : "");
    }
    if (about->no_tof > 0) {
        slc_cli_say(command,
                    "%s: %" PRIu64 " of %" PRIu64
                    " pairs have a time of flight that is no number of picoseconds, "
                    "and are left out",
                    path, about->no_tof, all);
    }
    return many;
}

void slc_pet_table_tell(const char *command, const char *path, const slc_pet_geometry *geometry)
{
    if (geometry->layout != NULL) {
        slc_cli_say(command,
                    "%s: its scanner is none that is known: its elements are a table of %" PRIu32
                    " crystals, %.4g mm deep towards the axis",
                    path, slc_pet_crystals(geometry), geometry->depth_mm);
    }
}

void slc_pet_note_tell(const char *command, const char *path, const char *note)
{
    if (note[0] != '\0') {
        slc_cli_say(command, "%s: %s", path, note);
    }
}

/* ---- inputs, frames, singles ------------------------------------------------------------------- */

bool slc_pet_inputs_tell(const slc_io_pet_inputs *inputs, const char *command, bool quiet, bool tolerate_loss)
{
    bool good = true;
    for (size_t i = 0; i < inputs->n; i++) {
        const slc_io_pet_input *input = &inputs->input[i];
        const bool damaged = slc_faults_of(&input->faults, SLC_FAULT_PET_BLOCK) > 0 ||
                             slc_faults_of(&input->faults, SLC_FAULT_PET_CUT) > 0;
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
        if (input->other_format) {
            slc_cli_say(command, "%s: its head tells another format of frames than the one that is used",
                        input->path);
        }
        slc_cli_tell_faults(command, input->path, "module", &input->faults);
        good = good && !damaged && input->missing == 0 && input->error.status == SLC_OK;
    }
    const char *path = inputs->n == 1 ? inputs->input[0].path : "all inputs";
    good = slc_pet_records_tell(command, path, &inputs->records, tolerate_loss) && good;
    return tell_losses(inputs, command, tolerate_loss) && good;
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

static bool tell_energies(const char *command, const slc_io_pet_seen *seen, const slc_pet_tables *tables,
                          const slc_pet_convert_config *config, const slc_pet_convert_counts *c, bool units)
{
    char text[SLC_REPORT_PET_DOUBT];
    const uint64_t all = c->singles + c->below + c->above;
    if (slc_report_pet_frames_doubt(seen, tables, config, c, text) ||
        (units && slc_report_pet_units_doubt(seen, tables, text))) {
        slc_cli_say(command, "%s", text);
    }
    if (c->no_crystal > 0 && all == 0) {
        slc_cli_say(command, "%" PRIu64 " of %" PRIu64 " frames are between crystals, none is of one",
                    c->no_crystal, c->frames);
    }
    return c->frames == 0 || c->singles > 0;
}

bool slc_pet_energies_tell(const char *command, const slc_io_pet_seen *seen, const slc_pet_tables *tables,
                           const slc_pet_convert_config *config, const slc_pet_convert_counts *c)
{
    return tell_energies(command, seen, tables, config, c, false);
}

bool slc_pet_singles_tell(const char *command, const slc_io_pet_seen *seen, const slc_pet_tables *tables,
                          const slc_pet_convert_config *config, const slc_pet_convert_counts *c)
{
    return tell_energies(command, seen, tables, config, c, true);
}

bool slc_pet_nothing_tell(const slc_io_pet_inputs *inputs, const char *command,
                          const slc_pet_convert_counts *c)
{
    if (c->frames == 0) {
        slc_cli_say(command, "%s%sno frames were read: no file was written",
                    inputs->n == 1 ? inputs->input[0].path : "", inputs->n == 1 ? ": " : "");
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
    const bool many = lost > c->frames / 10;
    if (many) {
        slc_cli_say(command, "%" PRIu64 " of %" PRIu64 " frames were lost: are these frames of this scanner?",
                    lost, c->frames);
    }
    return many;
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

/* ---- counts ------------------------------------------------------------------------------------ */

#define PUT(tree, path, fields, from)                                                                        \
    slc_cli_put_fields(tree, path, fields, sizeof(fields) / sizeof *(fields), from)

#define C slc_pet_convert_counts
void slc_pet_put_convert(slc_cli_tree *tree, const slc_pet_convert_counts *counts)
{
    static const slc_cli_field fields[] = {
        {"frames", FIELD(C, frames)}, {"singles", FIELD(C, singles)},   {"module", FIELD(C, module)},
        {"unit", FIELD(C, unit)},     {"position", FIELD(C, position)}, {"no_crystal", FIELD(C, no_crystal)},
        {"below", FIELD(C, below)},   {"above", FIELD(C, above)},       {"clock", FIELD(C, clock)},
        {"turns", FIELD(C, turns)},   {"bridged", FIELD(C, bridged)},   {"backwards", FIELD(C, backwards)},
    };
    PUT(tree, "convert", fields, counts);
}
#undef C

#define C slc_pet_sort_counts
void slc_pet_put_sort(slc_cli_tree *tree, const slc_pet_sort_counts *counts, int64_t horizon_ps)
{
    static const slc_cli_field fields[] = {{"taken", FIELD(C, taken)},
                                           {"given", FIELD(C, given)},
                                           {"late", FIELD(C, late)},
                                           {"largest_lag_ps", FIELD(C, largest_lag_ps)}};
    PUT(tree, "sort", fields, counts);
    slc_cli_put_integer(tree, "sort.horizon_ps", horizon_ps);
}
#undef C

#define C slc_pet_coincidence_counts
void slc_pet_put_pairs(slc_cli_tree *tree, const char *path, const slc_pet_coincidence_counts *counts)
{
    static const slc_cli_field fields[] = {{"singles", FIELD(C, singles)},
                                           {"windows", FIELD(C, windows)},
                                           {"pairs", FIELD(C, pairs)},
                                           {"groups", FIELD(C, groups)}};
    char whole[64];
    uint64_t more = 0;
    for (int i = 3; i < SLC_PET_MULTIPLICITIES; i++) {
        more += counts->multiplicity[i];
    }
    PUT(tree, path, fields, counts);
    (void)snprintf(whole, sizeof whole, "%s.multiplicity", path);
    slc_cli_put_counts(tree, whole, counts->multiplicity, SLC_PET_MULTIPLICITIES);
    (void)snprintf(whole, sizeof whole, "%s..more", path);
    slc_cli_put_count(tree, whole, more);
}
#undef C

void slc_pet_put_randoms(slc_cli_tree *tree, double randoms, double sigma)
{
    slc_cli_put_real(tree, "randoms", randoms);
    slc_cli_put_real(tree, "randoms_sigma", isnan(randoms) ? NAN : sigma);
    slc_cli_put_bool(tree, ".randoms_known", !isnan(randoms));
    slc_cli_put_bool(tree, ".randoms_unknown", isnan(randoms));
}

void slc_pet_put_losses(slc_cli_tree *tree, const slc_io_pet_inputs *inputs)
{
    const slc_io_pet_losses *l = &inputs->losses;
    /* Without counters nothing is known: no number is better than a 0. */
    slc_cli_put_null(tree, "lost");
    slc_cli_put_null(tree, "lost_frames");
    if (l->known) {
        slc_cli_put_count(tree, "lost", l->lost);
        slc_cli_put_count(tree, "lost_frames", (uint64_t)(l->lost_frames + 0.5));
    }
    slc_cli_put_count(tree, "repeated", l->repeated);
    slc_cli_put_count(tree, "foreign", l->foreign);
}

void slc_pet_put_doubts(slc_cli_tree *tree, const slc_io_pet_seen *seen, const slc_pet_tables *tables)
{
    char text[SLC_REPORT_PET_DOUBT];
    const uint32_t side = tables->position != NULL ? tables->position_side : 0;
    slc_cli_put_array(tree, "doubts");
    for (size_t i = 0; slc_report_pet_scanner_doubt(seen, &tables->geometry, side, i, text); i++) {
        slc_cli_append_text(tree, "doubts", text);
    }
}

void slc_pet_put_faults(slc_cli_tree *tree, const slc_io_pet_inputs *inputs, const slc_faults *faults)
{
    slc_faults all = *faults;
    slc_faults_merge(&all, &inputs->faults);
    slc_cli_put_faults(tree, "faults", &all);
}
