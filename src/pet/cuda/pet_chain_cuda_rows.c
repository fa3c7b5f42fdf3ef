/* SPDX-License-Identifier: Apache-2.0
 * What came from a GPU, packed, to where the caller wants it: columns, shared by threads. */
#include "pet/cuda/pet_chain_cuda_part.h"

#include <string.h>

/* A column of a part: the share of one of the threads that copy. */
static void copy_share(void *to, const char **from, size_t n, size_t width, uint32_t share, uint32_t shares)
{
    const size_t begin = n * share / shares, end = n * (share + 1) / shares;
    memcpy((char *)to + begin * width, *from + begin * width, (end - begin) * width);
    *from += slc_pet_cuda_padded(n * width);
}

static void copy_pairs(slc_pet_coincidences *to, size_t row, const char **from, size_t n, uint8_t delayed,
                       uint32_t share, uint32_t shares)
{
    if (n == 0) {
        return;
    }
    copy_share(to->time_ps + row, from, n, sizeof *to->time_ps, share, shares);
    copy_share(to->dt_ps + row, from, n, sizeof *to->dt_ps, share, shares);
    copy_share(to->crystal1 + row, from, n, sizeof *to->crystal1, share, shares);
    copy_share(to->crystal2 + row, from, n, sizeof *to->crystal2, share, shares);
    copy_share(to->energy1_kev + row, from, n, sizeof *to->energy1_kev, share, shares);
    copy_share(to->energy2_kev + row, from, n, sizeof *to->energy2_kev, share, shares);
    const size_t begin = n * share / shares, end = n * (share + 1) / shares;
    memset(to->delayed + row + begin, delayed, end - begin);
}

void slc_pet_cuda_copy_rows(slc_pet_cuda_call *r, uint32_t share, uint32_t shares)
{
    slc_pet_singles *singles = &r->result->singles;
    const char *from = r->from->host.at;
    copy_pairs(&r->result->pairs, r->prompt_row, &from, r->from->prompts, 0, share, shares);
    copy_pairs(&r->chain->later, r->later_row, &from, r->from->delayeds, 1, share, shares);
    const size_t n = r->from->singles;
    if (n > 0) {
        copy_share(singles->time_ps + r->single_row, &from, n, sizeof *singles->time_ps, share, shares);
        copy_share(singles->crystal + r->single_row, &from, n, sizeof *singles->crystal, share, shares);
        copy_share(singles->energy_kev + r->single_row, &from, n, sizeof *singles->energy_kev, share, shares);
    }
}

slc_status slc_pet_cuda_grow(const slc_schema *schema, void *collection, size_t more, slc_error *error)
{
    slc_columns *head = collection;
    if (more > 0 && slc_columns_reserve(schema, collection, head->size + more, 1) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu %s", head->size + more, schema->name);
    }
    head->size += more;
    return SLC_OK;
}

enum { COLUMNS = 7 }; /* of a pair */

/* A share of the delayeds of all pieces, to behind the prompts. */
static void copy_later(void *context, uint32_t share)
{
    const slc_pet_cuda_call *r = context;
    slc_pet_coincidences *to = &r->result->pairs;
    const slc_pet_coincidences *from = &r->chain->later;
    const uint32_t shares = slc_team_size(r->chain->team);
    const size_t n = from->head.size, row = r->later_row;
    const size_t begin = n * share / shares, some = n * (share + 1) / shares - begin;
    const struct {
        void *to;
        const void *from;
        size_t width;
    } columns[COLUMNS] = {{to->time_ps, from->time_ps, 8},         {to->dt_ps, from->dt_ps, 8},
                          {to->crystal1, from->crystal1, 4},       {to->crystal2, from->crystal2, 4},
                          {to->energy1_kev, from->energy1_kev, 4}, {to->energy2_kev, from->energy2_kev, 4},
                          {to->delayed, from->delayed, 1}};
    for (int c = 0; c < COLUMNS; c++) {
        const size_t width = columns[c].width;
        memcpy((char *)columns[c].to + (row + begin) * width, (const char *)columns[c].from + begin * width,
               some * width);
    }
}

slc_status slc_pet_cuda_add_delayeds(slc_pet_cuda_call *r)
{
    const size_t n = r->chain->later.head.size;
    r->later_row = r->result->pairs.head.size;
    const slc_status status = slc_pet_cuda_grow(&slc_pet_coincidences_schema, &r->result->pairs, n, r->error);
    if (status == SLC_OK && n > 0) {
        slc_team_run(r->chain->team, slc_team_size(r->chain->team), copy_later, r);
    }
    return status;
}
