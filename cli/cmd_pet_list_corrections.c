/* SPDX-License-Identifier: Apache-2.0
 * What a list has of each pair beside its columns, and crystals' efficiencies: into what `sluice pet list`
 * writes, or told to be lost. */
#include "cli_talk.h"
#include "cmd_pet_list.h"

#include <stdio.h>
#include <string.h>

typedef slc_pet_list_job job;

enum { WORDS = 160 };

static const char *const in_words[SLC_IO_PET_CORRECTIONS] = {"attenuation", "scatter", "randoms",
                                                             "normalisation"};

/* "attenuation and randoms" of bits. */
static void words_of(uint32_t bits, char words[WORDS])
{
    size_t n = 0;
    words[0] = '\0';
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        if ((bits >> k & 1) != 0) {
            const char *between = n == 0 ? "" : bits >> (k + 1) != 0 ? ", " : " and ";
            n += (size_t)snprintf(words + n, WORDS - n, "%s%s", between, in_words[k]);
        }
    }
}

uint32_t slc_pet_list_corrections_of(const slc_io_pet_list_about *about)
{
    uint32_t bits = 0;
    for (size_t k = 0; about->corrections != NULL && k < SLC_IO_PET_CORRECTIONS; k++) {
        bits |= about->corrections->value[k] != NULL ? 1U << k : 0;
    }
    return bits;
}

/* That the output has a place for. */
static uint32_t taken(const job *j)
{
    const uint32_t all = (1U << SLC_IO_PET_CORRECTIONS) - 1;
    return j->sinogram                                ? 0
           : j->to == SLC_IO_PET_CASTOR               ? all
           : j->to == SLC_IO_PET_HDF5                 ? all
           : j->to == SLC_IO_PET_YRT && j->tof_ns > 0 ? 1U << SLC_IO_PET_RANDOMS
                                                      : 0;
}

/* What takes the place of the file's own. */
static uint32_t replaced(const job *j)
{
    const slc_pet_factor_words *w = &j->options->factors;
    return (w->normalise ? 1U << SLC_IO_PET_NORMALISATION : 0) |
           (w->attenuation.n > 0 || w->image != NULL ? 1U << SLC_IO_PET_ATTENUATION : 0);
}

static void tell_lost(const slc_cli_command *command, const job *j, const char *path, uint32_t lost)
{
    char words[WORDS];
    const bool needs_tof = j->to == SLC_IO_PET_YRT && !j->sinogram && (lost >> SLC_IO_PET_RANDOMS & 1) != 0;
    words_of(lost, words);
    slc_cli_say(command->name, "%s: the %s of its pairs are lost: %s has no place for them%s", path, words,
                j->to_name, needs_tof ? " (for randoms with --tof)" : "");
}

/* Crystals' efficiencies are factors of pairs where these have a place. */
static int settle_efficiency(const slc_cli_command *command, job *j, const char *path)
{
    const slc_pet_factor_words *given = &j->options->factors;
    const slc_io_pet_list_about *a = &j->about;
    if (a->efficiency == NULL || (!j->sinogram && j->to == SLC_IO_PET_PETSIRD)) {
        return SLC_CLI_GO_ON;
    }
    if (given->normalise) {
        slc_cli_say(command->name, "%s has efficiencies of crystals: those of --tables are taken", path);
        return SLC_CLI_GO_ON;
    }
    if (j->sinogram || j->to != SLC_IO_PET_CASTOR || a->crystals != slc_pet_crystals(&j->geometry)) {
        slc_cli_say(command->name, "%s: the efficiencies of its crystals are lost: %s has no place for them",
                    path, j->to_name);
        return SLC_CLI_GO_ON;
    }
    slc_pet_factor_words words = *given;
    const slc_pet_tables tables = {.geometry = j->geometry, .efficiency = a->efficiency};
    words.normalise = true;
    slc_pet_factors_close(j->factors);
    return slc_pet_factors_of_words(command, &words, &tables, &j->factors);
}

int slc_pet_list_corrections_settle(const slc_cli_command *command, job *j, const char *path)
{
    char words[WORDS];
    const uint32_t there = slc_pet_list_corrections_of(&j->about), other = there & replaced(j),
                   kept = there & taken(j) & ~other;
    j->lost = there & ~kept & ~other;
    j->kept = kept;
    if (other != 0) {
        words_of(other, words);
        slc_cli_say(command->name, "%s has the %s of its pairs: what is given is taken in their place", path,
                    words);
    }
    if (j->lost != 0) {
        tell_lost(command, j, path, j->lost);
    }
    slc_pet_list_corrections_take(j); /* the writer wants to know which there are */
    return settle_efficiency(command, j, path);
}

/* The writer's copies of the reader's pointers, which move. */
void slc_pet_list_corrections_take(job *j)
{
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        j->corrections.value[k] = (j->kept >> k & 1) != 0 ? j->about.corrections->value[k] : NULL;
    }
}

void slc_pet_list_corrections_keep_prompts(job *j)
{
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        float *value = j->corrections.value[k];
        for (size_t i = 0, kept = 0; value != NULL && i < j->pairs.head.size; i++) {
            if (j->pairs.delayed[i] == 0) {
                value[kept++] = value[i];
            }
        }
    }
}

static void put_bits(slc_cli_tree *tree, const char *name, uint32_t bits)
{
    if (bits == 0) {
        return;
    }
    slc_cli_put_array(tree, name);
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        if ((bits >> k & 1) != 0) {
            slc_cli_append_text(tree, name, slc_io_pet_correction_name(k));
        }
    }
}

void slc_pet_list_corrections_put(const job *j, slc_cli_tree *tree)
{
    char words[WORDS];
    const uint32_t there = slc_pet_list_corrections_of(&j->about);
    put_bits(tree, "corrections", there);
    put_bits(tree, "lost", j->lost);
    if (there != 0) {
        words_of(there, words);
        slc_cli_put(tree, ".corrections", (const char *)words);
    }
}
