/* SPDX-License-Identifier: Apache-2.0
 * Headers of projection data: docs/formats/pet-interfile.md. Keys as in the headers of STIR's examples. */
#include "io/pet/io_pet_interfile.h"

/* "{a,b,…}" of f(−most) … f(most). */
static void list(FILE *out, const char *key, int32_t most, int32_t base, int32_t slope, int32_t sign)
{
    (void)fprintf(out, "%s := {", key);
    for (int32_t d = -most; d <= most; d++) {
        const int32_t apart = d < 0 ? -d : d;
        (void)fprintf(out, "%s%d", d == -most ? "" : ",", base + slope * apart + sign * d);
    }
    (void)fprintf(out, "}\n");
}

static void segments(FILE *out, const slc_io_pet_interfile *h)
{
    const int32_t rings = (int32_t)slc_pet_rings(h->geometry), most = (int32_t)h->ring_difference;
    const uint32_t views = slc_pet_crystals_per_ring(h->geometry) / 2;
    const int axial_label = h->by_view ? 2 : 3, view_label = h->by_view ? 3 : 2;
    const bool one = h->rebin && most > 0; /* rings that are not apart need no rebinning */
    char key[64];
    (void)fprintf(out,
                  "number of dimensions := 4\nmatrix axis label [4] := segment\n!matrix size [4] := %d\n",
                  one ? 1 : 2 * most + 1);
    (void)fprintf(out, "matrix axis label [%d] := view\n!matrix size [%d] := %u\n", view_label, view_label,
                  views);
    (void)fprintf(out, "matrix axis label [%d] := axial coordinate\n", axial_label);
    (void)snprintf(key, sizeof key, "!matrix size [%d]", axial_label);
    list(out, key, one ? 0 : most, one ? 2 * rings - 1 : rings, one ? 0 : -1, 0);
    (void)fprintf(out, "matrix axis label [1] := tangential coordinate\n!matrix size [1] := %u\n",
                  h->tangential);
    list(out, "minimum ring difference per segment", one ? 0 : most, one ? -most : 0, 0, 1);
    list(out, "maximum ring difference per segment", one ? 0 : most, one ? most : 0, 0, 1);
}

bool slc_io_pet_interfile_write(FILE *out, const slc_io_pet_interfile *h)
{
    const slc_pet_geometry *g = h->geometry;
    const double turn = 6.283185307179586;
    /* STIR's crystal k is at x = r sin(a), y = -r cos(a), a = 2 pi k / N + offset: with a quarter of a turn,
     * whatever N, it is at x = r cos(2 pi k / N), y = r sin(2 pi k / N), where pet_types.h has it. */
    const int offset = 90;
    /* Half of what a crystal takes of the ring, where it is hit: how far neighbouring lines are apart. */
    const double bin_cm = turn * (g->radius_mm + 0.5 * g->depth_mm) / slc_pet_crystals_per_ring(g) / 20;
    (void)fprintf(out,
                  "!INTERFILE :=\n!imaging modality := PT\nname of data file := %s\n"
                  "originating system := %s\n!version of keys := STIR3.0\n!GENERAL DATA :=\n"
                  "!GENERAL IMAGE DATA :=\n!type of data := PET\nimagedata byte order := LITTLEENDIAN\n"
                  "!PET STUDY (General) :=\n!PET data type := Emission\napplied corrections := {None}\n"
                  "!number format := float\n!number of bytes per pixel := 4\n",
                  h->data_name, h->scanner);
    segments(out, h);
    (void)fprintf(out,
                  "Scanner parameters :=\nScanner type := %s\nNumber of rings := %u\n"
                  "Number of detectors per ring := %u\nInner ring diameter (cm) := %.9g\n"
                  "Average depth of interaction (cm) := %.9g\nDistance between rings (cm) := %.9g\n"
                  "Default bin size (cm) := %.9g\nView offset (degrees) := %d\n"
                  "Maximum number of non-arc-corrected bins := %u\n"
                  "Default number of arc-corrected bins := %u\n",
                  h->scanner, slc_pet_rings(g), slc_pet_crystals_per_ring(g), g->radius_mm / 5,
                  g->depth_mm / 20, g->pitch_z_mm / 10, bin_cm, offset, h->tangential, h->tangential);
    static const char *const ones[] = {"Number of blocks per bucket in transaxial direction",
                                       "Number of blocks per bucket in axial direction",
                                       "Number of crystals per block in axial direction",
                                       "Number of crystals per block in transaxial direction",
                                       "Number of detector layers",
                                       "Number of crystals per singles unit in axial direction",
                                       "Number of crystals per singles unit in transaxial direction"};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) {
        (void)fprintf(out, "%s := 1\n", ones[i]);
    }
    (void)fprintf(out,
                  "end scanner parameters :=\neffective central bin size (cm) := %.9g\n"
                  "number of time frames := 1\n!END OF INTERFILE :=\n",
                  bin_cm);
    return ferror(out) == 0;
}
