#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far the VELO's hits are off, by the pixels of their cluster: where the errors come from that the fit takes.

    sluice velo FILE --truth -o hits.h5
    velo_hit_residuals.py hits.h5 [--p-gev 10] [--slope LOW:HIGH]        needs NumPy and h5py

Of tracks that belong to a particle of at least this momentum: each hit but the first and the last against the straight line through the two
hits on either side of it, x and y alike. Printed are the 68 % half-width of the distance in um, less what the errors of those two hits add to it,
and the number of values.
"""
import argparse
import sys

import h5py
import numpy as np

SIGMA_UM = 12.5 # to begin with


def columns(file, group, *names):
    return [file[f"{group}/{name}"][...] for name in names]


def rows_of_tracks(file):
    """Of every track: its event, its first hit's row in `track_hits`, the number of its hits."""
    offsets, = columns(file, "tracks", "event_offset")
    begin, n = columns(file, "tracks", "hit_begin", "n_hits")
    event = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets).astype(np.int64))
    first, = columns(file, "track_hits", "event_offset")
    return event, first[event].astype(np.int64) + begin, n.astype(np.int64)


def momenta_gev(file, event):
    """Of every track that of its particle, 0 without one."""
    particle, = columns(file, "matches", "particle")
    p, first = columns(file, "particles", "p_mev", "event_offset")
    known = particle >= 0
    row = np.where(known, first[event].astype(np.int64) + particle, 0)
    return np.where(known, p[row] / 1000, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--p-gev", type=float, default=10)
    parser.add_argument("--slope", default="0:9", help="of the line through the two, LOW:HIGH")
    options = parser.parse_args()
    low, high = map(float, options.slope.split(":"))
    with h5py.File(options.file) as file:
        event, begin, n = rows_of_tracks(file)
        wanted = momenta_gev(file, event) >= options.p_gev
        hit, = columns(file, "track_hits", "hit")
        hits_first, = columns(file, "hits", "event_offset")
        x, y, z, size = columns(file, "hits", "x_mm", "y_mm", "z_mm", "n_pixels")
    middle = [(e, b + k) for e, b, m in zip(event[wanted], begin[wanted], n[wanted]) for k in range(1, m - 1)]
    if not middle:
        sys.exit(f"{options.file}: no track of {options.p_gev} GeV with truth")
    event, place = np.array(middle, np.int64).T
    row = [hits_first[event].astype(np.int64) + hit[place + k] for k in (-1, 0, 1)]
    span = z[row[2]].astype(float) - z[row[0]]
    share = np.divide(z[row[1]] - z[row[0]], span, out=np.full(len(span), -1.0), where=span != 0)
    slope = np.hypot(x[row[2]] - x[row[0]], y[row[2]] - y[row[0]]) / np.maximum(np.abs(span), 1e-9)
    good = (share > 0.3) & (share < 0.7) & (slope >= low) & (slope < high)
    off = np.stack([1000 * (v[row[1]] - (1 - share) * v[row[0]] - share * v[row[2]]) for v in (x, y)])
    sizes = [np.minimum(size[r], 6) for r in row]
    some = [good & (sizes[1] == pixels) for pixels in range(7)]
    width = [np.quantile(np.abs(off[:, of]), 0.68) if of.any() else 0 for of in some]
    sigma = np.full(7, SIGMA_UM)
    for _ in range(20): # what the two hits add depends on what comes out
        added = share**2 * sigma[sizes[2]]**2 + (1 - share)**2 * sigma[sizes[0]]**2
        sigma = np.array([np.sqrt(max(0, w**2 - added[of].mean())) if of.any() else SIGMA_UM for w, of in zip(width, some)])
    for pixels in range(1, 7):
        if some[pixels].any():
            print(f"{pixels}{' and more' if pixels == 6 else ''} pixels: {sigma[pixels]:.1f} um ({2 * some[pixels].sum()})")


main()
