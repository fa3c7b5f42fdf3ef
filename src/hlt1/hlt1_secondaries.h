/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: from fitted tracks to particles, pairs and decisions. All are rows of one event,
 * appended and ended; memory is the caller's to reserve (a particle a long track, SLC_HLT1_MAX_SECONDARIES
 * pairs an event). Nothing allocates.
 */
#ifndef SLUICE_HLT1_SECONDARIES_H
#define SLUICE_HLT1_SECONDARIES_H

#include <sluice/hlt1_select.h>

/* Rows of an event in collections. */
typedef struct slc_hlt1_found {
    const slc_hlt1_fitted *fitted;
    const slc_velo_primaries *primaries;
    const slc_muon_ids *muons; /* NULL: nobody is one */
    uint32_t event;
} slc_hlt1_found;

void slc_hlt1_particles_run(const slc_hlt1_found *found, slc_hlt1_particles *particles);

/* `network` may be NULL. True where there were more pairs than are kept. The event's particles must be there.
 */
bool slc_hlt1_secondaries_run(const slc_hlt1_secondaries_config *config, const slc_hlt1_network *network,
                              const slc_hlt1_found *found, const slc_hlt1_particles *particles,
                              slc_hlt1_secondaries *secondaries);

/* Number of the event for prescales: any that is the event's own. */
uint64_t slc_hlt1_event_key(uint32_t run, uint64_t event);
/* Decides about an event; `limited`: it has pairs that were not kept. */
void slc_hlt1_lines_run(const slc_hlt1_lines *lines, const slc_hlt1_found *found,
                        const slc_hlt1_particles *particles, const slc_hlt1_secondaries *secondaries,
                        uint64_t key, bool limited, slc_velo_decisions *decisions);

#endif
