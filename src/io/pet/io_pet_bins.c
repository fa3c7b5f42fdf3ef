/* SPDX-License-Identifier: Apache-2.0
 * Pairs of crystals and bins of sinograms, both ways: io_pet_bins.h. */
#include "io/pet/io_pet_bins.h"

slc_status slc_io_pet_bins_init(slc_io_pet_bins *bins, uint32_t crystals_per_ring, uint32_t rings,
                                uint32_t tangential, uint32_t ring_difference, slc_error *error)
{
    const uint32_t d = crystals_per_ring;
    if (d % 2 != 0 || d < 4) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "a ring of %u crystals has no sinogram: their number must be even, and 4 or more", d);
    }
    const uint32_t most = d - 1; /* the place left out joins two crystals at one angle */
    if (tangential > most) {
        return slc_fail(error, SLC_ERR_USAGE, "%u tangential places are more than the %u of %u crystals",
                        tangential, most, d);
    }
    if (rings == 0 || ring_difference >= rings) {
        return slc_fail(error, SLC_ERR_USAGE, "a ring difference of %u cannot be with %u rings",
                        ring_difference, rings);
    }
    *bins = (slc_io_pet_bins){.crystals_per_ring = d,
                              .rings = rings,
                              .views = d / 2,
                              .tangential = tangential != 0 ? tangential : most,
                              .ring_difference = ring_difference};
    const uint64_t m = ring_difference;
    bins->sinograms = rings + 2 * m * rings - m * (m + 1);
    bins->bins = bins->sinograms * bins->views * bins->tangential;
    return SLC_OK;
}

bool slc_io_pet_bin_of(const slc_io_pet_bins *bins, uint32_t crystal1, uint32_t crystal2, slc_io_pet_bin *bin)
{
    const int32_t d = (int32_t)bins->crystals_per_ring, half = d / 2;
    int32_t a = (int32_t)(crystal1 % bins->crystals_per_ring);
    const int32_t b = (int32_t)(crystal2 % bins->crystals_per_ring);
    uint32_t ring1 = crystal1 / bins->crystals_per_ring, ring2 = crystal2 / bins->crystals_per_ring;
    if (a == b || ring1 >= bins->rings || ring2 >= bins->rings) {
        return false;
    }
    /* a − b = t − D/2 modulo D. With the crystals the other way round t changes its sign and the view is half
     * a turn on: one of the two ways has a view that counts. */
    int32_t t = (a - b + half + d) % d;
    t = t > half ? t - d : t;
    int32_t view = (a - (t >= 0 ? t / 2 : -((1 - t) / 2)) + d) % d;
    if (view >= half) {
        view -= half;
        t = -t;
        const uint32_t ring = ring1;
        ring1 = ring2;
        ring2 = ring;
    }
    const int32_t at = t + (int32_t)(bins->tangential / 2);
    const uint32_t apart = ring1 > ring2 ? ring1 - ring2 : ring2 - ring1;
    if (at < 0 || at >= (int32_t)bins->tangential || apart > bins->ring_difference) {
        return false;
    }
    *bin = (slc_io_pet_bin){
        .view = (uint32_t)view, .tangential = (uint32_t)at, .ring1 = ring1, .ring2 = ring2};
    return true;
}

void slc_io_pet_bin_crystals(const slc_io_pet_bins *bins, const slc_io_pet_bin *bin, uint32_t *crystal1,
                             uint32_t *crystal2)
{
    const int32_t d = (int32_t)bins->crystals_per_ring, view = (int32_t)bin->view;
    const int32_t t = (int32_t)bin->tangential - (int32_t)(bins->tangential / 2);
    const int32_t low = t >= 0 ? t / 2 : -((1 - t) / 2), high = t - low; /* floor(t/2), floor((t+1)/2) */
    *crystal1 = (uint32_t)((view + low + d) % d) + bin->ring1 * bins->crystals_per_ring;
    *crystal2 = (uint32_t)((view - high + d / 2 + d) % d) + bin->ring2 * bins->crystals_per_ring;
}

/* Sinograms before those of rings that are `apart` apart: of 0, and of both signs of what is between. */
static uint64_t sinograms_before(const slc_io_pet_bins *bins, uint64_t apart)
{
    return apart == 0 ? 0 : bins->rings + 2 * (apart - 1) * bins->rings - (apart - 1) * apart;
}

uint64_t slc_io_pet_bin_offset(const slc_io_pet_bins *bins, const slc_io_pet_bin *bin)
{
    const bool up = bin->ring2 > bin->ring1;
    const uint32_t apart = up ? bin->ring2 - bin->ring1 : bin->ring1 - bin->ring2;
    const uint32_t axial = up ? bin->ring1 : bin->ring2;
    const uint64_t sinogram = sinograms_before(bins, apart) + (up ? bins->rings - apart : 0) + axial;
    return (sinogram * bins->views + bin->view) * bins->tangential + bin->tangential;
}

bool slc_io_pet_bin_at(const slc_io_pet_bins *bins, uint64_t offset, slc_io_pet_bin *bin)
{
    if (offset >= bins->bins) {
        return false;
    }
    bin->tangential = (uint32_t)(offset % bins->tangential);
    bin->view = (uint32_t)(offset / bins->tangential % bins->views);
    const uint64_t sinogram = offset / bins->tangential / bins->views;
    /* The last difference whose sinograms begin at or before this one. */
    uint32_t low = 0, high = bins->ring_difference;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (sinograms_before(bins, middle) <= sinogram) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    const uint32_t places = bins->rings - low;
    const uint32_t left = (uint32_t)(sinogram - sinograms_before(bins, low));
    const bool up = low > 0 && left >= places;
    const uint32_t axial = up ? left - places : left;
    bin->ring1 = up ? axial : axial + low;
    bin->ring2 = up ? axial + low : axial;
    return true;
}
