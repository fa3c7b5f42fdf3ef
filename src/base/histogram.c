/* SPDX-License-Identifier: Apache-2.0
 * Histograms of equal bins. */
#include <sluice/base.h>

#include <math.h>
#include <string.h>

void slc_histogram_init(slc_histogram *histogram, double low, double high, uint32_t n_bins)
{
    memset(histogram, 0, sizeof *histogram);
    histogram->low = low;
    histogram->high = high;
    histogram->n_bins = n_bins < SLC_HISTOGRAM_BINS ? n_bins : (uint32_t)SLC_HISTOGRAM_BINS;
}

void slc_histogram_add(slc_histogram *histogram, double value)
{
    if (isnan(value)) {
        return;
    }
    if (value < histogram->low) {
        histogram->under++;
        return;
    }
    if (value >= histogram->high) {
        histogram->over++;
        return;
    }
    const double width = (histogram->high - histogram->low) / histogram->n_bins;
    uint32_t bin = (uint32_t)((value - histogram->low) / width);
    if (bin >= histogram->n_bins) {
        bin = histogram->n_bins - 1; /* rounding just below `high` */
    }
    histogram->bin[bin]++;
    histogram->inside++;
    histogram->sum += value;
    histogram->sum_squares += value * value;
}

double slc_histogram_mean(const slc_histogram *histogram)
{
    return histogram->inside > 0 ? histogram->sum / (double)histogram->inside : 0;
}

double slc_histogram_rms(const slc_histogram *histogram)
{
    if (histogram->inside == 0) {
        return 0;
    }
    const double mean = slc_histogram_mean(histogram);
    const double variance = histogram->sum_squares / (double)histogram->inside - mean * mean;
    return variance > 0 ? sqrt(variance) : 0;
}

double slc_histogram_quantile(const slc_histogram *histogram, double q)
{
    const double all = (double)(histogram->under + histogram->inside + histogram->over);
    double below = (double)histogram->under;
    const double wanted = q * all;
    const double width = (histogram->high - histogram->low) / histogram->n_bins;
    if (all == 0) {
        return 0;
    }
    if (wanted <= below) {
        return histogram->low;
    }
    for (uint32_t i = 0; i < histogram->n_bins; i++) {
        const double here = (double)histogram->bin[i];
        if (here > 0 && below + here >= wanted) {
            return histogram->low + width * (i + (wanted - below) / here);
        }
        below += here;
    }
    return histogram->high;
}

double slc_histogram_half_width(const slc_histogram *histogram)
{
    const double one_sigma = 0.682689492137086;
    if (histogram->under + histogram->inside + histogram->over == 0) {
        return 0;
    }
    return (slc_histogram_quantile(histogram, 0.5 + one_sigma / 2) -
            slc_histogram_quantile(histogram, 0.5 - one_sigma / 2)) /
           2;
}
