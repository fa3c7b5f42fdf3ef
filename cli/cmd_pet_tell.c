/* SPDX-License-Identifier: Apache-2.0
 * Counts of PET's stages by the names that they have in JSON. */
#include "cmd_pet_tell.h"

#include <math.h>
#include <stdio.h>

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
