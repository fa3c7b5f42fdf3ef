/* SPDX-License-Identifier: Apache-2.0
 * Slow and obvious: the momentum of a long track, in double precision, and which of tracks that share hits
 * stay. */
#include "oracle/hlt1_search_oracle.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const double z_curve = 8520.0;

static double polynomial(const float *c, int n, const int powers[][2], double x, double y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += (double)c[i] * pow(x, powers[i][0]) * pow(y, powers[i][1]);
    }
    return sum;
}

float oracle_hlt1_momentum(const slc_hlt1_event *event, const float velo[5], const float scifi[4])
{
    static const int even[10][2] = {{0, 0}, {2, 0}, {4, 0}, {0, 2}, {0, 4},
                                    {2, 2}, {6, 0}, {0, 5}, {4, 2}, {2, 4}};
    static const int odd[14][2] = {{0, 0}, {1, 0}, {3, 0}, {5, 0}, {7, 0}, {0, 2}, {0, 4},
                                   {0, 6}, {1, 2}, {1, 4}, {1, 6}, {3, 2}, {3, 4}, {5, 2}};
    const slc_hlt1_forward_params *p = event->geometry->forward;
    const double tx = (double)velo[3], ty = (double)velo[4], sx = (double)scifi[2], sy = (double)scifi[3];
    const double x0 = (double)velo[0] - tx * (double)velo[2], y0 = (double)velo[1] - ty * (double)velo[2];
    const double z = ((double)scifi[0] - sx * z_curve - x0) / (tx - sx);
    const double behind[3] = {(double)scifi[0] - (x0 + tx * z), (double)scifi[1] - (y0 + ty * z),
                              z_curve - z};
    const double before[3] = {tx * z, ty * z, z};
    double squares = 0;
    for (int i = 0; i < 3; i++) {
        squares += behind[i] * behind[i] + before[i] * before[i];
    }
    const double integral = 1e-3 * sqrt(squares) * cos(asin(ty)) * (double)event->geometry->polarity;
    const double bend = sx / sqrt(1 + sx * sx + sy * sy) - tx / sqrt(1 + tx * tx + ty * ty);
    const double c = polynomial(p->qop_c0, 10, even, tx, ty) + bend * polynomial(p->qop_c1, 14, odd, tx, ty) +
                     pow(bend, 2) * polynomial(p->qop_c2, 10, even, tx, ty) +
                     pow(bend, 3) * polynomial(p->qop_c3, 14, odd, tx, ty) +
                     pow(bend, 4) * polynomial(p->qop_c4, 10, even, tx, ty);
    return (float)(bend / (integral * c));
}

/* The best track first (the first of equals): each marks its hits, those with too many marked ones go. */
size_t oracle_hlt1_keep_better(const slc_hlt1_config *config, oracle_hlt1_track *tracks, size_t n,
                               uint8_t *taken)
{
    bool *judged = calloc(n + 1, sizeof *judged), *stays = calloc(n + 1, sizeof *stays);
    size_t kept = 0;
    assert(judged != NULL && stays != NULL);
    for (size_t round = 0; round < n; round++) {
        size_t best = n;
        uint32_t shared = 0;
        for (size_t i = 0; i < n; i++) {
            if (!judged[i] && (best == n || tracks[i].quality < tracks[best].quality)) {
                best = i;
            }
        }
        const oracle_hlt1_track *t = &tracks[best];
        judged[best] = true;
        for (uint32_t k = 0; k < t->n_hits; k++) {
            shared += taken[t->hit[k]];
        }
        stays[best] = (float)shared <= config->forward.max_shared * (float)t->n_hits;
        for (uint32_t k = 0; k < t->n_hits && stays[best]; k++) {
            taken[t->hit[k]] = 1;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (stays[i]) {
            tracks[kept++] = tracks[i];
        }
    }
    free(judged);
    free(stays);
    return kept;
}
