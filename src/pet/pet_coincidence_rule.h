/* SPDX-License-Identifier: Apache-2.0
 *
 * What a configuration of coincidences comes to, for the stages on the processor and on a GPU, and what
 * becomes of one window (pet_coincidence.h): the policies, without times.
 */
#ifndef SLUICE_PET_COINCIDENCE_RULE_H
#define SLUICE_PET_COINCIDENCE_RULE_H

#include "pet/pet_coincidence_core.h"

/* Singles that are from low to high after their opener are in its window: a window that is open at its end
 * has a high that is one step less. */
typedef struct slc_pet_settings {
    slc_pet_terms terms; /* without singles */
    uint64_t low_ps, high_ps;
    double low_ns, high_ns;
    bool whole_ps; /* window and offset are whole picoseconds */
    bool selects;  /* there is an energy window */
} slc_pet_settings;

/* SLC_ERR_USAGE for a configuration that cannot be; the text names the field. Afterwards
 * slc_pet_good_close(&settings->terms.good). */
slc_status slc_pet_settings_of(const slc_pet_coincidence_config *config, slc_pet_settings *settings,
                               slc_error *error);

/* Singles of a run in time order, and the coincidences that are found among them. */
typedef struct slc_pet_rule {
    slc_pet_terms terms;
    const uint64_t *index; /* of each single in the whole input; NULL: base + its place */
    uint64_t base;
    slc_pet_groups *groups;
    slc_pet_coincidence_counts counts;
} slc_pet_rule;

/* The opener and members a … b - 1, at least one; in a window that is not delayed a is opener + 1. Appends to
 * rule->groups. SLC_ERR_MEMORY. */
slc_status slc_pet_rule_window(slc_pet_rule *rule, size_t opener, size_t a, size_t b);
/* Room for one row more. */
slc_status slc_pet_rule_grow(slc_pet_groups *groups);

static inline bool slc_pet_policy_is_opengate(slc_pet_policy policy)
{
    return policy >= SLC_PET_OPENGATE_REMOVE_MULTIPLES &&
           policy <= SLC_PET_OPENGATE_TAKE_WINNER_IF_ALL_ARE_GOODS;
}

/* Are there rows of windows with two singles alone, which nobody inside opens another? */
static inline bool slc_pet_rule_kills(const slc_pet_rule *rule)
{
    return !rule->terms.all_open &&
           (rule->terms.policy == SLC_PET_KILL_ALL || rule->terms.policy == SLC_PET_KEEP_ALL ||
            rule->terms.policy == SLC_PET_REJECT_HIGHER_MULTIPLES);
}

/* Appends one row. */
static inline slc_status slc_pet_rule_emit(slc_pet_rule *rule, size_t first, size_t second, uint32_t size)
{
    slc_pet_groups *groups = rule->groups;
    if (groups->head.size == groups->head.capacity && slc_pet_rule_grow(groups) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    const size_t row = groups->head.size++;
    groups->first[row] = rule->index != NULL ? rule->index[first] : rule->base + first;
    groups->second[row] = rule->index != NULL ? rule->index[second] : rule->base + second;
    groups->size[row] = size;
    rule->counts.pairs += size == 2;
    rule->counts.groups += size > 2;
    return SLC_OK;
}

/* A window with one single beside its opener. All policies agree on it. */
static inline slc_status slc_pet_rule_pair(slc_pet_rule *rule, size_t first, size_t second)
{
    const uint32_t a = rule->terms.crystal[first], b = rule->terms.crystal[second];
    rule->counts.windows++;
    rule->counts.multiplicity[2]++;
    const bool left_out = rule->terms.opengate && a == b;
    return !left_out && slc_pet_is_good(&rule->terms.good, a, b) ? slc_pet_rule_emit(rule, first, second, 2)
                                                                 : SLC_OK;
}

#endif
