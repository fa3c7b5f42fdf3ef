/* SPDX-License-Identifier: Apache-2.0
 *
 * What a list has of each pair beside its columns, read with the pairs and written with them: attenuation,
 * scatter, randoms, normalisation. Where they lie is each format's (io_pet_castor.c, io_pet_yrt.c,
 * io_pet_columns.c).
 */
#include "io/pet/io_pet_list.h"

#include <stdlib.h>

const char *slc_io_pet_correction_name(size_t i)
{
    static const char *const names[SLC_IO_PET_CORRECTIONS] = {"attenuation", "scatter_hz", "randoms_hz",
                                                              "normalisation"};
    return i < SLC_IO_PET_CORRECTIONS ? names[i] : NULL;
}

static slc_status no_memory(const slc_io_pet_list *in, slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for what its pairs are corrected by", in->name);
}

slc_status slc_io_pet_list_correct(slc_io_pet_list *in, size_t k, slc_error *error)
{
    in->corrections.value[k] = calloc(1, sizeof(float));
    in->corrected = true;
    in->corrections_room = 1;
    return in->corrections.value[k] != NULL ? SLC_OK : no_memory(in, error);
}

slc_status slc_io_pet_list_correct_reserve(slc_io_pet_list *in, size_t rows, slc_error *error)
{
    const size_t n = rows - in->base;
    if (!in->corrected || n <= in->corrections_room) {
        return SLC_OK;
    }
    const size_t room = n + n / 2;
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        float **value = &in->corrections.value[k];
        float *more = *value != NULL ? realloc(*value, room * sizeof *more) : NULL;
        if (*value != NULL && more == NULL) {
            return no_memory(in, error);
        }
        *value = more;
    }
    in->corrections_room = room;
    return SLC_OK;
}

slc_status slc_io_pet_list_carries_check(const slc_io_pet_list_config *config, const slc_io_pet_list_ops *ops,
                                         const char *path, slc_error *error)
{
    const bool twice[SLC_IO_PET_CORRECTIONS] = {
        [SLC_IO_PET_ATTENUATION] = config->factors != NULL && slc_pet_factors_attenuate(config->factors),
        [SLC_IO_PET_RANDOMS] = config->randoms != NULL,
        [SLC_IO_PET_NORMALISATION] = config->factors != NULL && slc_pet_factors_normalise(config->factors)};
    for (size_t k = 0; config->corrections != NULL && k < SLC_IO_PET_CORRECTIONS; k++) {
        if (config->corrections->value[k] == NULL) {
            continue;
        }
        if ((ops->corrections >> k & 1) == 0) {
            return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: %s files have no place for %s of pairs", path,
                            ops->name, slc_io_pet_correction_name(k));
        }
        if (twice[k]) {
            return slc_fail(error, SLC_ERR_USAGE, "%s: %s of pairs is there twice", path,
                            slc_io_pet_correction_name(k));
        }
    }
    return SLC_OK;
}
