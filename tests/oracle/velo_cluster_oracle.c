/* SPDX-License-Identifier: Apache-2.0
 * Flood fill over a whole sensor. Slow, and obviously right. */
#include "oracle/velo_cluster_oracle.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 768, ROWS = 256 };

static uint8_t image[COLUMNS + 2][ROWS + 2]; /* a border of zeros */

static void fill(int column, int row, oracle_cluster *cluster)
{
    static int stack[COLUMNS * ROWS][2];
    size_t depth = 0;
    image[column][row] = 0;
    stack[depth][0] = column;
    stack[depth++][1] = row;
    while (depth > 0) {
        const int c = stack[--depth][0], r = stack[depth][1];
        cluster->n++;
        cluster->sum_column += (uint32_t)(c - 1);
        cluster->sum_row += (uint32_t)(r - 1);
        for (int dc = -1; dc <= 1; dc++) {
            for (int dr = -1; dr <= 1; dr++) {
                if (image[c + dc][r + dr]) {
                    image[c + dc][r + dr] = 0;
                    stack[depth][0] = c + dc;
                    stack[depth++][1] = r + dr;
                }
            }
        }
    }
}

size_t oracle_velo_cluster(const uint32_t *words, size_t n, oracle_cluster *clusters)
{
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < 8; k++) {
            if (words[i] >> k & 1U) {
                image[2 * (words[i] >> 14 & 0x1ffU) + k / 4 + 1][4 * (words[i] >> 8 & 0x3fU) + k % 4 + 1] = 1;
            }
        }
    }
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < 8; k++) {
            const int column = (int)(2 * (words[i] >> 14 & 0x1ffU) + k / 4 + 1);
            const int row = (int)(4 * (words[i] >> 8 & 0x3fU) + k % 4 + 1);
            if (image[column][row]) {
                clusters[found] = (oracle_cluster){0, 0, 0};
                fill(column, row, &clusters[found++]);
            }
        }
    }
    return found;
}
