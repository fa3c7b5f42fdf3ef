/* SPDX-License-Identifier: Apache-2.0
 * What `sluice pet run` tells: a table for people, or one JSON object. */
#include "cli_sums.h"
#include "cmd_pet_run.h"
#include "cmd_pet_tell.h"

#include <math.h>

#define LINES(array) (array), sizeof(array) / sizeof *(array)

static const slc_cli_line lines[] = {
    {"frames", "{convert.frames} of {inputs} input{inputs|s}", NULL},
    {"records",
     "{records.records} by the frames' format: {records.singles} singles, {records.marks} marks, "
     "{records.skipped} skipped; {records.unknown} of no kind, {.records_refused} that do not fit",
     "records"},
    {"lost",
     "{convert.module} of unknown modules, {convert.unit} units, {convert.position} places; "
     "{convert.no_crystal} "
     "between crystals",
     NULL},
    {"energies", "{convert.below} below, {convert.above} above", NULL},
    {"clocks",
     "{convert.turns} turns of counters, {convert.bridged} more in which nothing came; {convert.backwards} "
     "frames "
     "back in their module's time, {convert.clock} of no right time",
     NULL},
    {"singles", "{convert.singles}, largest lag {sort.largest_lag_ps*1e-6|.9g} us", NULL},
    {"late", "{sort.late} behind the horizon of {sort.horizon_ps*1e-6|.9g} us", NULL},
    {"prompts",
     "{prompts.pairs} of {prompts.windows} windows with two singles or more ({prompts..more} with more); "
     "{prompts.groups} larger groups",
     NULL},
    {"delayeds",
     "{delayeds.pairs} of {delayeds.windows} windows with two singles or more ({delayeds..more} with more); "
     "{delayeds.groups} larger groups",
     "delayeds"},
};
static const slc_cli_line output_lines[] = {
    {"randoms", "too short for an estimate", ".randoms_unknown"},
    {"randoms", "{randoms|.0f} +- {randoms_sigma|.0f} prompts expected to be random", ".randoms_known"},
    {"rates", "{randoms_from_singles|.0f} randoms expected from singles, in {seconds_measured|.6f} s",
     ".rates"},
    {"dead time",
     "{dead_time.frames_expected_in_it|.0f} frames expected in it ({.dead_share*100|.3f} %; "
     "{dead_time.worst_fraction*100|.3f} % of the busiest block)[dead_time.saturated|; {dead_time.saturated} "
     "blocks "
     "and bins beyond what it allows]",
     "dead_time"},
    {"written", "no pairs to {output.file}, which failed", ".list_failed"},
    {"written",
     "{output.written} pairs to {output.file} ({output.format}), time 0 is {output.start_ps*1e-12|.9f} "
     "s[output.left_out|; {output.left_out} that it has no number for left out]",
     ".list_written"},
    {"sinogram", "none at {.sinogram_name}, which failed", ".sinogram_failed"},
    {"sinogram", "{sinogram.in} pairs, {sinogram.outside} outside of it", ".sinogram_written"},
};
static const slc_cli_line end_lines[] = {
    {"checksum", "{checksum}", NULL},
    {"faults", "{faults|list}", NULL},
    {"time",
     "convert {seconds.convert|.3f} s, sort {seconds.sort|.3f} s, coincidences {seconds.coincidences|.3f} s "
     "({convert.frames/.chain*1e-6|.1f} Mframe/s); {seconds.total|.3f} s in all",
     NULL},
};

/* Are delayeds as many as randoms whatever the rate? */
static bool delayeds_fit(const slc_pet_coincidence_config *prompt)
{
    return prompt->all_open &&
           (prompt->policy == SLC_PET_TAKE_ALL_GOODS || prompt->policy == SLC_PET_MULTIPLES_AS_ALL);
}

/* A sinogram that is wrong by its delayeds looks like any other. */
void slc_pet_run_judge_subtraction(const slc_pet_run_job *job)
{
    const double percent_of_note = 3, sigmas_of_note = 3;
    const char *command = job->command != NULL ? job->command : "pet run";
    const double randoms = job->randoms_totals.randoms, sigma = job->randoms_totals.sigma;
    const double delayeds = (double)job->delayeds;
    if (isnan(randoms)) {
        slc_cli_say(
            command,
            "--subtract takes %.0f delayeds away: the measurement is too short for an estimate of the "
            "randoms, which they would be compared with",
            delayeds);
        return;
    }
    const double apart = fabs(delayeds - randoms);
    const bool differ = apart > percent_of_note / 100 * randoms &&
                        apart > sigmas_of_note * sqrt(sigma * sigma + delayeds);
    if (differ || !delayeds_fit(&job->config.prompt)) {
        slc_cli_say(
            command,
            "--subtract takes %.0f delayeds away, and %.0f +- %.0f prompts are expected to be random: "
            "delayeds of %s with %s windows %s",
            delayeds, randoms, sigma, slc_pet_policy_name(job->config.prompt.policy),
            job->config.prompt.all_open ? "all-open" : "single", differ ? "do not fit" : "need not fit");
    }
}

static void put_rates(const slc_pet_run_job *job, slc_cli_tree *tree)
{
    const slc_pet_rates_totals t = job->rates_totals;
    slc_cli_put_bool(tree, ".rates", true);
    slc_cli_put(tree, "randoms_from_singles", t.randoms);
    slc_cli_put(tree, "seconds_measured", t.seconds);
    if (job->dead_time_ns > 0) {
        slc_cli_put(tree, "dead_time.ns", job->dead_time_ns);
        slc_cli_put(tree, "dead_time.paralysable", job->options->paralysable);
        slc_cli_put(tree, "dead_time.frames", t.frames);
        slc_cli_put(tree, "dead_time.frames_expected_in_it", t.dead_frames);
        slc_cli_put(tree, "dead_time.worst_fraction", t.worst_fraction);
        slc_cli_put(tree, "dead_time.saturated", t.saturated);
        slc_cli_put(tree, ".dead_share", slc_cli_ratio(t.dead_frames, (double)t.frames + t.dead_frames));
    }
}

static void put_failed(const slc_pet_run_job *job, slc_cli_tree *tree)
{
    const char *const names[] = {[SLC_PET_RUN_SINGLES] = job->options->singles,
                                 [SLC_PET_RUN_LATE] = job->options->late,
                                 [SLC_PET_RUN_PAIRS] = job->options->output,
                                 [SLC_PET_RUN_MARKS] = job->options->marks,
                                 [SLC_PET_RUN_SINOGRAM] = job->options->sinogram};
    slc_cli_put_array(tree, "failed_outputs");
    for (size_t i = 0; i < SLC_PET_RUN_PARTS; i++) {
        if (job->lost[i] || (job->writes_nothing && names[i] != NULL)) {
            slc_cli_append_text(tree, "failed_outputs", names[i]);
        }
    }
}

static void put_randoms(const slc_pet_run_job *job, slc_cli_tree *tree)
{
    const slc_pet_pair_randoms_totals *t = &job->randoms_totals;
    const slc_pet_run_options *o = job->options;
    slc_pet_put_randoms(tree, t->randoms, t->sigma);
    slc_cli_put_real(tree, "randoms_by_pair.company", t->company);
    slc_cli_put_real(tree, "randoms_by_pair.within_blocks", t->within_blocks);
    slc_cli_put_real(tree, "randoms_by_pair.bin_s", t->bin_s);
    slc_cli_put_count(tree, "randoms_by_pair.bins", t->bins);
    if (o->randoms_sinogram != NULL) {
        slc_cli_put_real(tree, "randoms_by_pair.sinogram", job->randoms_in);
    }
}

void slc_pet_run_put_outputs(const slc_pet_run_job *job, slc_cli_tree *tree)
{
    const slc_pet_run_options *o = job->options;
    put_failed(job, tree);
    slc_pet_measured_put(&job->measured, tree);
    slc_pet_put_doubts(tree, &job->inputs.seen, &job->tables);
    if (job->randoms != NULL) {
        put_randoms(job, tree);
    }
    if (job->rates != NULL) {
        put_rates(job, tree);
    }
    if (o->output != NULL) {
        const bool lost = job->lost[SLC_PET_RUN_PAIRS];
        slc_cli_put(tree, "output.file", o->output);
        slc_cli_put(tree, "output.format", slc_pet_run_format_name((size_t)job->format));
        slc_cli_put_count(tree, "output.written", lost ? 0 : job->written);
        slc_cli_put(tree, "output.left_out", job->left_out);
        slc_cli_put(tree, "output.start_ps", job->start_ps);
        slc_cli_put_bool(tree, ".list_failed", lost && !job->writes_nothing);
        slc_cli_put_bool(tree, ".list_written", !lost && !job->writes_nothing);
    }
    if (o->sinogram != NULL) {
        const bool lost = job->lost[SLC_PET_RUN_SINOGRAM];
        slc_cli_put(tree, "sinogram.in", job->sinogram_in);
        slc_cli_put(tree, "sinogram.outside", job->sinogram_outside);
        slc_cli_put(tree, ".sinogram_name", o->sinogram);
        slc_cli_put_bool(tree, ".sinogram_failed", lost && !job->writes_nothing);
        slc_cli_put_bool(tree, ".sinogram_written", !lost && !job->writes_nothing);
    }
}

void slc_pet_run_print_outputs(const slc_cli_tree *tree, const char *indent)
{
    slc_cli_print_lines(tree, indent, LINES(output_lines));
}

bool slc_pet_run_print(const slc_pet_run_job *job)
{
    const slc_pet_run_options *o = job->options;
    const char *name = job->command != NULL ? job->command : "pet run";
    slc_cli_tree tree = slc_cli_tree_new(name);
    slc_cli_put(&tree, "command", name);
    slc_cli_put(&tree, "inputs", job->inputs.n);
    slc_cli_put(&tree, "partial", job->partial);
    slc_cli_put(&tree, "policy", slc_pet_policy_name(job->config.prompt.policy));
    slc_pet_put_convert(&tree, &job->totals.convert);
    slc_pet_put_records(&tree, &job->inputs.records);
    slc_pet_put_sort(&tree, &job->totals.sort, job->config.sort.horizon_ps);
    slc_pet_put_pairs(&tree, "prompts", &job->totals.prompt);
    slc_cli_put_hex(&tree, "checksum", job->totals.checksum);
    slc_pet_put_faults(&tree, &job->inputs, &job->faults);
    slc_cli_put(&tree, "seconds.convert", job->seconds[SLC_PET_STAGE_CONVERT]);
    slc_cli_put(&tree, "seconds.sort", job->seconds[SLC_PET_STAGE_SORT]);
    slc_cli_put(&tree, "seconds.coincidences", job->seconds[SLC_PET_STAGE_COINCIDENCE]);
    slc_cli_put(&tree, "seconds.total", job->seconds_total);
    slc_cli_put(&tree, ".chain", slc_cli_sum(job->seconds, SLC_PET_STAGES));
    slc_cli_put(&tree, "device", o->device != NULL ? o->device : "cpu");
    slc_cli_put_count(&tree, "missing_datagrams", job->inputs.missing);
    slc_pet_put_losses(&tree, &job->inputs);
    if (job->config.delayed) {
        slc_pet_put_pairs(&tree, "delayeds", &job->totals.delayed);
    }
    slc_pet_run_put_outputs(job, &tree);
    if (!o->json && !o->quiet) {
        slc_cli_print_lines(&tree, "", LINES(lines));
        slc_pet_run_print_outputs(&tree, "");
        slc_cli_print_lines(&tree, "", LINES(end_lines));
    }
    const bool printed = !o->json || slc_cli_tree_print_json(&tree);
    slc_cli_tree_clear(&tree);
    return printed;
}
