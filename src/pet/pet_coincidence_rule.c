/* SPDX-License-Identifier: Apache-2.0
 *
 * The policies on one window: rows for what pet_coincidence_core.h finds.
 */
#include "pet/pet_coincidence_rule.h"

slc_status slc_pet_rule_grow(slc_pet_groups *groups)
{
    const size_t most = UINT32_MAX;
    const size_t rows = groups->head.capacity < 1024 ? 2048 : 2 * groups->head.capacity;
    if (groups->head.capacity >= most) {
        return SLC_ERR_MEMORY;
    }
    return slc_columns_reserve(&slc_pet_groups_schema, groups, rows < most ? rows : most, 1) == SLC_OK
               ? SLC_OK
               : SLC_ERR_MEMORY;
}

static slc_status emit_goods(slc_pet_rule *rule, slc_pet_walk walk)
{
    size_t first = 0, second = 0;
    slc_status status = SLC_OK;
    while (status == SLC_OK && slc_pet_walk_next(&walk, &first, &second)) {
        if (slc_pet_takes(&rule->terms, first, second)) {
            status = slc_pet_rule_emit(rule, first, second, 2);
        }
    }
    return status;
}

/* Neighbours in time. */
static slc_status emit_neighbours(slc_pet_rule *rule, size_t opener, size_t a, size_t b)
{
    slc_status status = SLC_OK;
    for (size_t i = opener, k = a; k < b && status == SLC_OK; i = k++) {
        if (slc_pet_good_pair(&rule->terms, i, k)) {
            status = slc_pet_rule_emit(rule, i, k, 2);
        }
    }
    return status;
}

slc_status slc_pet_rule_window(slc_pet_rule *rule, size_t opener, size_t a, size_t b)
{
    const size_t n = 1 + b - a;
    if (n == 2) {
        return slc_pet_rule_pair(rule, opener, a);
    }
    rule->counts.windows++;
    rule->counts.multiplicity[n < SLC_PET_MULTIPLICITIES ? n : SLC_PET_MULTIPLICITIES - 1]++;
    if (n > UINT32_MAX) {
        return SLC_ERR_MEMORY;
    }
    const slc_pet_asked asked = slc_pet_ask(&rule->terms);
    slc_pet_look look;
    if (asked.look) {
        look = slc_pet_look_at(&rule->terms, asked, opener, a, b);
    } else {
        look = slc_pet_look_none();
    }
    const slc_pet_verdict verdict = slc_pet_judge(&rule->terms, &look, n);
    switch (verdict.kind) {
    case SLC_PET_VERDICT_PAIR:
        return slc_pet_rule_emit(rule, verdict.first, verdict.second, 2);
    case SLC_PET_VERDICT_GROUP:
        return slc_pet_rule_emit(rule, opener, a, (uint32_t)n);
    case SLC_PET_VERDICT_GOODS:
        return emit_goods(rule, slc_pet_walk_of(opener, a, b, verdict.opener_only));
    case SLC_PET_VERDICT_NEIGHBOURS:
        return emit_neighbours(rule, opener, a, verdict.opener_only ? a + 1 : b);
    default:
        return SLC_OK;
    }
}
