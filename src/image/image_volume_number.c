/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of components, which are in the order of their first voxels. A root is the first label of its
 * component, so that the component begins in the layer in which that label was made. Of single rows labels
 * are in order. Of bundles they are not: for each component that begins in a layer, the first voxel is found
 * among its runs of the layer, and these voxels are counted in raster order.
 */
#include "image/image_volume_part.h"

#include "simd/simd_bits.h"

#include <string.h>

/* Lets every label point to its root, and counts the roots. Parents are smaller, so they are done already. */
static uint32_t flatten(uint32_t *parent, uint32_t first, uint32_t end)
{
    uint32_t roots = 0;
    for (uint32_t i = first; i < end; i++) {
        const uint32_t root = parent[parent[i]];
        parent[i] = root;
        roots += root == i ? 1 : 0;
    }
    return roots;
}

void slc_volume_flatten(slc_volume_labeller *labeller)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < labeller->n_parts; p++) {
        slc_volume_part *part = &labeller->parts[p];
        for (size_t i = 0; i < part->n_layers; i++) {
            part->layer_before[i] = n;
            n += flatten(labeller->parent, part->layer_fresh[i], part->layer_fresh[i + 1]);
        }
        part->layer_before[part->n_layers] = n;
    }
    labeller->n_labels = n;
}

/* ---- layers of bundles ------------------------------------------------------------------------- */

/* Lists the roots of a range of labels. */
static size_t list_roots(const uint32_t *parent, uint32_t first, uint32_t end, uint32_t *roots)
{
    size_t n = 0;
    for (uint32_t i = first; i < end; i++) {
        roots[n] = i;
        n += parent[i] == i ? 1 : 0;
    }
    return n;
}

/* The first voxels of components are marked in rows of bits, of all of the layer's rows in raster order; a
 * component's number is how many marks there are up to its own. */
static void number_layer(slc_volume_labeller *labeller, slc_volume_part *part, size_t i)
{
    const uint32_t first = part->layer_fresh[i], end = part->layer_fresh[i + 1];
    const size_t words = slc_volume_marks(labeller);
    slc_volume_layer *layer = &part->ring[0];
    uint64_t *firsts = part->firsts, *marks = part->marks;
    slc_volume_layer_of(labeller, part, part->first_layer + i, layer);
    labeller->kernels.relabel(labeller->parent, layer->labels, layer->n_runs);
    memset(firsts, 0xff, (end - first) * sizeof *firsts);
    for (size_t j = 0; j < labeller->bundles; j++) {
        labeller->kernels.begin(&part->strip, layer, j, first, firsts);
    }
    const size_t n = list_roots(labeller->parent, first, end, part->roots);
    memset(marks, 0, words * sizeof *marks);
    for (size_t k = 0; k < n; k++) {
        const uint64_t at = firsts[part->roots[k] - first];
        marks[at / 64] |= (uint64_t)1 << at % 64;
    }
    uint32_t before = part->layer_before[i];
    for (size_t k = 0; k < words; k++) {
        part->marks_before[k] = before;
        before += (uint32_t)bits_count(marks[k]);
    }
    for (size_t k = 0; k < n; k++) {
        const uint64_t at = firsts[part->roots[k] - first], upto = ~(uint64_t)0 >> (63 - at % 64);
        const uint32_t number = part->marks_before[at / 64] + (uint32_t)bits_count(marks[at / 64] & upto);
        labeller->numbers[part->roots[k]] = number;
        if (labeller->firsts != NULL) {
            labeller->firsts[number] = at;
        }
    }
}

void slc_volume_number(slc_volume_labeller *labeller, slc_volume_part *part)
{
    const uint32_t *parent = labeller->parent;
    uint32_t n = part->layer_before[0];
    if (labeller->across == 1) {
        for (uint32_t i = part->layer_fresh[0]; i < part->layer_fresh[part->n_layers]; i++) {
            n += parent[i] == i ? 1 : 0;
            labeller->numbers[i] = n; /* those of roots are asked for alone */
        }
        return;
    }
    for (size_t i = 0; i < part->n_layers; i++) {
        if (part->layer_before[i + 1] > part->layer_before[i]) {
            number_layer(labeller, part, i);
        }
    }
}

void slc_volume_number_all(slc_volume_labeller *labeller, slc_volume_part *part)
{
    const uint32_t first = part->layer_fresh[0];
    labeller->kernels.relabel(labeller->numbers, labeller->parent + first,
                              part->layer_fresh[part->n_layers] - first);
}
