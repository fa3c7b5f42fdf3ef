/* SPDX-License-Identifier: Apache-2.0
 * `sluice bench volume`: labelling of volumes on every instruction set, over random cells.
 */
#include "bench/bench_volume.h"
#include "cli_talk.h"
#include "cli_words.h"
#include "cmd_bench.h"

#include <string.h>

#define COMMAND (&slc_cmd_bench_volume)

typedef struct volume_options {
    slc_cli_count_list sizes, granularities; /* empty: the defaults */
    slc_cli_number_list densities;
    slc_cli_count_list threads;
    const char *simd, *csv;
    uint64_t connectivity, repetitions, seed;
    int type, cells;
    bool equal, features, baseline, json, quiet;
} volume_options;

enum { SIDE = 2048 };

#define O       volume_options
#define SIDES   "whole numbers from 1 to 2048 with commas"
#define PERCENT "up to 256 numbers from 0 to 100 with commas or as first:last:step"
static const slc_cli_option table[] = {
    {"sizes", 0, COUNTS(O, sizes, SIDE, SIDES), "LIST", "sides of the volumes in voxels (default 256)"},
    {"granularities", 0, COUNTS(O, granularities, SIDE, SIDES), "LIST",
     "sides of the cells in them (default 1,4,16)"},
    {"cells", 0, CHOICE(O, cells, TAKES("cubes", "voronoi")), "WHICH",
     "cubes, or Voronoi cells of as many points (default cubes)"},
    {"type", 0, CHOICE(O, type, TAKES("u8", "u32")), "T", "of voxels, u8 or u32 (default u8)"},
    {"densities", 0, NUMBERS(O, densities, 0, 100, PERCENT), "LIST",
     "in percent, or first:last:step (default 10:90:10)"},
    {"simd", 0, TEXT(O, simd), "T", "only this instruction set, or auto (default all that run here)"},
    {"connectivity", 0, COUNT(O, connectivity, 0, 0), "N", "6, 18 or 26 (default 26)"},
    {"equal", 0, FLAG(O, equal), NULL, "components of equal values"},
    {"threads", 0, COUNTS(O, threads, 4096, "whole numbers from 1 to 4096, as in 1,2"), "LIST",
     "of each labelling: numbers of threads (default 1)"},
    {"features", 0, FLAG(O, features), NULL, "make all features, too"},
    {"baseline", 0, FLAG(O, baseline), NULL, "beside two passes over voxels with a decision tree"},
    {"repetitions", 0, COUNT(O, repetitions, 1, 100000), "N", "calls of each; fewer where they take long"},
    {"seed", 0, COUNT(O, seed, 0, 16777215), "S", "of the volumes"},
    {"csv", 0, OUTPUT_AS(O, csv, ENDS_OR_NONE(".csv")), "FILE", "write every measurement"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress on standard error, only errors"},
};
#undef O

static void defaults(void *at)
{
    *(volume_options *)at = (volume_options){
        .threads = {1, {1}}, .connectivity = 26, .repetitions = 7, .seed = 1};
}

static size_t choose_targets(const char *simd, slc_simd_target *targets, slc_error *error)
{
    size_t n = 0;
    const bool all = simd == NULL || strcmp(simd, "all") == 0;
    if (slc_simd_choose(all ? NULL : simd, &targets[0], error) != SLC_OK) {
        return 0;
    }
    if (!all || targets[0] != SLC_SIMD_AUTO) {
        return 1;
    }
    for (int i = SLC_SIMD_C; i < SLC_SIMD_TARGETS; i++) {
        if (slc_simd_runs((slc_simd_target)i)) {
            targets[n++] = (slc_simd_target)i;
        }
    }
    return n;
}

static int act(const slc_cli_call *call)
{
    static volume_options o; /* lists are long */
    o = *(const volume_options *)call->options;
    slc_simd_target targets[SLC_SIMD_TARGETS];
    slc_error error;
    if (o.connectivity != 6 && o.connectivity != 18 && o.connectivity != 26) {
        return slc_cli_wrong(COMMAND, "--connectivity takes 6, 18 or 26, not '%llu'",
                             (unsigned long long)o.connectivity);
    }
    if (o.baseline && (o.connectivity != 26 || o.features)) {
        return slc_cli_wrong(COMMAND, "--baseline has 26 neighbours and no features");
    }
    const size_t n_targets = choose_targets(o.simd, targets, &error);
    if (n_targets == 0) {
        return slc_cli_wrong(COMMAND, "%s", error.text);
    }
    if (o.sizes.n == 0) {
        o.sizes.n = slc_cli_whole_numbers("256", SIDE, o.sizes.value, SLC_CLI_LIST);
    }
    if (o.granularities.n == 0) {
        o.granularities.n = slc_cli_whole_numbers("1,4,16", SIDE, o.granularities.value, SLC_CLI_LIST);
    }
    if (o.densities.n == 0) {
        o.densities.n = slc_cli_numbers("10:90:10", 0, 100, o.densities.value, SLC_CLI_LIST);
    }
    for (size_t i = 0; i < o.densities.n; i++) {
        o.densities.value[i] /= 100;
    }
    const slc_bench_volume_config config = {.sizes = o.sizes.value,
                                            .n_sizes = o.sizes.n,
                                            .granularities = o.granularities.value,
                                            .n_granularities = o.granularities.n,
                                            .densities = o.densities.value,
                                            .n_densities = o.densities.n,
                                            .targets = targets,
                                            .n_targets = n_targets,
                                            .connectivity = (uint32_t)o.connectivity,
                                            .threads = o.threads.value,
                                            .n_threads = o.threads.n,
                                            .type = o.type == 1 ? SLC_IMAGE_U32 : SLC_IMAGE_U8,
                                            .voronoi = o.cells == 1,
                                            .baseline = o.baseline,
                                            .seed = (uint32_t)o.seed,
                                            .equal = o.equal,
                                            .features = o.features,
                                            .repetitions = (uint32_t)o.repetitions,
                                            .seconds = 1};
    const slc_bench_output output = {.csv = o.csv, .json = o.json};
    return slc_cmd_bench_run(COMMAND, o.quiet, slc_bench_volume, &config, &output);
}

const slc_cli_command slc_cmd_bench_volume = {
    .name = "bench volume",
    .operands = "",
    .summary = "measure labelling of volumes: instruction sets, densities",
    .description =
        "Labels random volumes, cells of g voxels with values at random (from 1 to 200 in u8) or 0, on "
        "every\n"
        "instruction set in turn, into labels that were written before, and prints the average over the\n"
        "densities and the worst density. All must make the same labels. The time of one thread alone is\n"
        "that of the processor.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .defaults = defaults,
    .act = act,
};
