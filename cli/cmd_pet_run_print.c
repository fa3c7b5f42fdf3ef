/* SPDX-License-Identifier: Apache-2.0
 * What `sluice pet run` tells: a table for people, or one JSON object. */
#include "cli_faults.h"
#include "cli_sums.h"
#include "cmd_pet_run.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

static uint64_t multiples_of(const slc_pet_coincidence_counts *c)
{
    uint64_t sum = 0;
    for (int i = 3; i < SLC_PET_MULTIPLICITIES; i++) {
        sum += c->multiplicity[i];
    }
    return sum;
}

static const char *device_of(const slc_pet_run_job *job)
{
    return job->options->device != NULL ? job->options->device : "cpu";
}

/* ---- text -------------------------------------------------------------------------------------- */

static void print_pairs(const char *label, const slc_pet_coincidence_counts *c)
{
    (void)printf("%-14s %" PRIu64 " of %" PRIu64 " windows with two singles or more (%" PRIu64
                 " with more); %" PRIu64 " larger groups\n",
                 label, c->pairs, c->windows, multiples_of(c), c->groups);
}

static void print_rates(const slc_pet_run_job *job, const char *indent)
{
    slc_pet_rates_totals t;
    slc_pet_rates_totals_of(job->rates, &t);
    (void)printf("%s%-14s %.0f randoms expected from singles, in %.6f s\n", indent, "rates", t.randoms,
                 t.seconds);
    if (job->dead_time_ns > 0) {
        (void)printf("%s%-14s %.0f frames expected in it (%.3f %%; %.3f %% of the busiest block)", indent,
                     "dead time", t.dead_frames,
                     100 * slc_cli_ratio(t.dead_frames, (double)t.frames + t.dead_frames),
                     100 * t.worst_fraction);
        (void)printf(t.saturated > 0 ? "; %" PRIu64 " blocks and bins beyond what it allows\n" : "\n",
                     t.saturated);
    }
}

void slc_pet_run_print_outputs(const slc_pet_run_job *job, const char *indent)
{
    const slc_pet_run_options *o = job->options;
    if (job->randoms != NULL) {
        double sigma = 0;
        const double randoms = slc_pet_run_randoms(job, &sigma);
        (void)printf(isnan(randoms) ? "%s%-14s too short for an estimate\n"
                                    : "%s%-14s %.0f +- %.0f prompts expected to be random\n",
                     indent, "randoms", randoms, sigma);
    }
    if (job->rates != NULL) {
        print_rates(job, indent);
    }
    if (job->writes_nothing) {
        return;
    }
    if (o->output != NULL && job->lost[SLC_PET_RUN_PAIRS]) {
        (void)printf("%s%-14s no pairs to %s, which failed\n", indent, "written", o->output);
    } else if (o->output != NULL) {
        (void)printf("%s%-14s %" PRIu64 " pairs to %s (%s), time 0 is %.9f s", indent, "written",
                     job->written, o->output, slc_pet_run_format_name((size_t)job->format),
                     (double)job->start_ps * 1e-12);
        (void)printf(job->left_out > 0 ? "; %" PRIu64 " that it has no number for left out\n" : "\n",
                     job->left_out);
    }
    if (o->sinogram != NULL && job->lost[SLC_PET_RUN_SINOGRAM]) {
        (void)printf("%s%-14s none at %s, which failed\n", indent, "sinogram", o->sinogram);
    } else if (o->sinogram != NULL) {
        (void)printf("%s%-14s %" PRIu64 " pairs, %" PRIu64 " outside of it\n", indent, "sinogram",
                     job->sinogram_in, job->sinogram_outside);
    }
}

void slc_pet_run_print_text(const slc_pet_run_job *job)
{
    const slc_pet_convert_counts *c = &job->totals.convert;
    const slc_pet_sort_counts *s = &job->totals.sort;
    const double seconds = slc_cli_sum(job->seconds, SLC_PET_STAGES);
    slc_faults faults = job->faults;
    slc_pet_inputs_faults(&job->inputs, &faults);
    (void)printf("%-14s %" PRIu64 " of %d input%s\n", "frames", c->frames, job->inputs.n,
                 job->inputs.n == 1 ? "" : "s");
    (void)printf("%-14s %" PRIu64 " of unknown modules, %" PRIu64 " units, %" PRIu64 " places; %" PRIu64
                 " between crystals\n",
                 "lost", c->module, c->unit, c->position, c->no_crystal);
    (void)printf("%-14s %" PRIu64 " below, %" PRIu64 " above\n", "energies", c->below, c->above);
    (void)printf("%-14s %" PRIu64 " turns of counters, %" PRIu64 " more in which nothing came; %" PRIu64
                 " frames back in their module's time, %" PRIu64 " of no right time\n",
                 "clocks", c->turns, c->bridged, c->backwards, c->clock);
    (void)printf("%-14s %" PRIu64 ", largest lag %.9g us\n", "singles", c->singles,
                 (double)s->largest_lag_ps * 1e-6);
    (void)printf("%-14s %" PRIu64 " behind the horizon of %.9g us\n", "late", s->late,
                 (double)job->config.sort.horizon_ps * 1e-6);
    print_pairs("prompts", &job->totals.prompt);
    if (job->config.delayed) {
        print_pairs("delayeds", &job->totals.delayed);
    }
    slc_pet_run_print_outputs(job, "");
    slc_cli_print_faults(&faults);
    (void)printf("%-14s convert %.3f s, sort %.3f s, coincidences %.3f s (%.1f Mframe/s); %.3f s in all\n",
                 "time", job->seconds[SLC_PET_STAGE_CONVERT], job->seconds[SLC_PET_STAGE_SORT],
                 job->seconds[SLC_PET_STAGE_COINCIDENCE], slc_cli_ratio((double)c->frames, seconds) * 1e-6,
                 job->seconds_total);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static json_t *pairs_json(const slc_pet_coincidence_counts *c)
{
    json_t *multiplicity = json_array();
    for (int i = 0; i < SLC_PET_MULTIPLICITIES && multiplicity != NULL; i++) {
        (void)json_array_append_new(multiplicity, json_integer((json_int_t)c->multiplicity[i]));
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "singles", (json_int_t)c->singles, "windows",
                     (json_int_t)c->windows, "pairs", (json_int_t)c->pairs, "groups", (json_int_t)c->groups,
                     "multiplicity", multiplicity);
}

static void add_rates(const slc_pet_run_job *job, json_t *object)
{
    slc_pet_rates_totals t;
    slc_pet_rates_totals_of(job->rates, &t);
    (void)json_object_set_new(object, "randoms_from_singles", json_real(t.randoms));
    (void)json_object_set_new(object, "seconds_measured", json_real(t.seconds));
    if (job->dead_time_ns > 0) {
        json_t *dead = json_pack("{s:f, s:b, s:I, s:f, s:f, s:I}", "ns", job->dead_time_ns, "paralysable",
                                 (int)job->options->paralysable, "frames", (json_int_t)t.frames,
                                 "frames_expected_in_it", t.dead_frames, "worst_fraction", t.worst_fraction,
                                 "saturated", (json_int_t)t.saturated);
        (void)json_object_set_new(object, "dead_time", dead);
    }
}

void slc_pet_run_add_outputs(const slc_pet_run_job *job, json_t *object)
{
    const char *const names[] = {[SLC_PET_RUN_SINGLES] = job->options->singles,
                                 [SLC_PET_RUN_LATE] = job->options->late,
                                 [SLC_PET_RUN_PAIRS] = job->options->output,
                                 [SLC_PET_RUN_SINOGRAM] = job->options->sinogram};
    json_t *failed = json_array();
    for (size_t i = 0; i < SLC_PET_RUN_PARTS && failed != NULL; i++) {
        if (job->lost[i] || (job->writes_nothing && names[i] != NULL)) {
            (void)json_array_append_new(failed, json_string(names[i]));
        }
    }
    (void)json_object_set_new(object, "failed_outputs", failed);
    (void)json_object_set_new(object, "doubts", slc_pet_doubts_json(&job->inputs.seen, &job->tables));
    if (job->randoms != NULL) {
        slc_pet_randoms_counts counts;
        slc_pet_randoms_counts_of(job->randoms, &counts);
        slc_pet_randoms_json(object, &counts);
    }
    if (job->rates != NULL) {
        add_rates(job, object);
    }
    if (job->options->output != NULL) {
        json_t *list = json_pack("{s:s, s:s, s:I, s:I, s:I}", "file", job->options->output, "format",
                                 slc_pet_run_format_name((size_t)job->format), "written",
                                 (json_int_t)(job->lost[SLC_PET_RUN_PAIRS] ? 0 : job->written), "left_out",
                                 (json_int_t)job->left_out, "start_ps", (json_int_t)job->start_ps);
        (void)json_object_set_new(object, "output", list);
    }
    if (job->options->sinogram != NULL) {
        (void)json_object_set_new(object, "sinogram",
                                  json_pack("{s:I, s:I}", "in", (json_int_t)job->sinogram_in, "outside",
                                            (json_int_t)job->sinogram_outside));
    }
}

bool slc_pet_run_print_json(const slc_pet_run_job *job)
{
    char checksum[17];
    slc_faults faults = job->faults;
    slc_pet_inputs_faults(&job->inputs, &faults);
    (void)snprintf(checksum, sizeof checksum, "%016" PRIx64, job->totals.checksum);
    json_t *seconds = json_pack("{s:f, s:f, s:f, s:f}", "convert", job->seconds[SLC_PET_STAGE_CONVERT],
                                "sort", job->seconds[SLC_PET_STAGE_SORT], "coincidences",
                                job->seconds[SLC_PET_STAGE_COINCIDENCE], "total", job->seconds_total);
    json_t *object = json_pack("{s:s, s:i, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:s}", "command", "pet run",
                               "inputs", job->inputs.n, "policy",
                               slc_pet_policy_name(job->config.prompt.policy), "convert",
                               slc_pet_convert_json(&job->totals.convert), "sort",
                               slc_pet_sort_json(&job->totals.sort, job->config.sort.horizon_ps), "prompts",
                               pairs_json(&job->totals.prompt), "checksum", checksum, "faults",
                               slc_cli_faults_json(&faults), "seconds", seconds, "device", device_of(job));
    if (object != NULL) {
        (void)json_object_set_new(object, "missing_datagrams",
                                  json_integer((json_int_t)slc_pet_inputs_missing(&job->inputs)));
        slc_pet_losses_json(&job->inputs, object);
    }
    if (object != NULL && job->config.delayed) {
        (void)json_object_set_new(object, "delayeds", pairs_json(&job->totals.delayed));
    }
    if (object != NULL) {
        slc_pet_run_add_outputs(job, object);
    }
    return slc_cli_print_json("pet run", object);
}
