/* SPDX-License-Identifier: Apache-2.0
 *
 * A chain of PET, for arrays or for files, and what it has come to. */
#ifndef PY_PET_CHAIN_H
#define PY_PET_CHAIN_H

#include "py_pet.h"

#include <stdatomic.h>

typedef struct chain {
    pet_handle head;
    pet_tables tables;
    slc_pet_config config;
    slc_pet_chain *chain;
    slc_pet_pairs *order;          /* NULL: pairs come as the chain gives them */
    slc_pet_rates *rates;          /* NULL, too, if they were given up: */
    slc_pet_pair_randoms *randoms; /* so are these */
    slc_pet_pair_randoms_totals randoms_totals;
    slc_error rates_error, randoms_error, error;
    slc_pet_rates_totals rates_totals;
    slc_pet_totals totals;
    slc_faults faults;
    double seconds[SLC_PET_STAGES];
    int64_t start_ps; /* the first single's millisecond */
    bool started, ended;
    slc_pet_result result; /* what is not given away keeps its memory for the next call */
    bool gives_singles;
    /* Of files, in place of frames that are given: the library's flow, which has the chain. */
    char **path; /* NULL: none */
    uint32_t n_paths;
    slc_io_pet_inputs inputs;
    slc_io_pet_format *format; /* of their frames; NULL: what they tell */
    slc_pet_marks marks;       /* of all batches so far */
    slc_flow_pet_setup setup;
    slc_flow *flow; /* NULL: it has ended */
    atomic_bool stop;
} chain;

#endif
