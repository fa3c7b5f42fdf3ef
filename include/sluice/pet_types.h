/* SPDX-License-Identifier: Apache-2.0
 *
 * PET scanners: an ideal ring or any table of crystals, the frames that its modules send, and the collections
 * that the chain is made of.
 *
 * Frame: z along the axis (mm), x and y across it. Crystal k of the ideal ring is at the angle 2π·k /
 * crystals_per_ring from the x axis towards the y axis, ring r at z = (r − (rings − 1) / 2) · pitch_z_mm. A
 * crystal's number is k + r · crystals_per_ring, and in a table its row. Times are integers, picoseconds,
 * from any origin.
 */
#ifndef SLUICE_PET_TYPES_H
#define SLUICE_PET_TYPES_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Faults of PET. `event` is the frame's number in the input; of raw files' blocks, the datagram's. */
#define SLC_FAULT_OF_PET(n) SLC_FAULT_CODE('p', 'e', 't', n)
enum {
    SLC_FAULT_PET_MODULE = SLC_FAULT_OF_PET(
        1), /* a frame of a module that the scanner does not have: dropped */
    SLC_FAULT_PET_UNIT = SLC_FAULT_OF_PET(2),     /* of a unit that the module does not have: dropped */
    SLC_FAULT_PET_POSITION = SLC_FAULT_OF_PET(3), /* of a place outside of the block: dropped */
    SLC_FAULT_PET_CLOCK = SLC_FAULT_OF_PET(
        4), /* of a time that no other frame agrees with (tick_bits): dropped */
    SLC_FAULT_PET_BLOCK = SLC_FAULT_OF_PET(
        5), /* a damaged block of a raw file: bytes were skipped up to the next good one */
    SLC_FAULT_PET_DATAGRAM = SLC_FAULT_OF_PET(
        6), /* a datagram that is no whole number of frames: its tail was dropped */
    SLC_FAULT_PET_RECORD = SLC_FAULT_OF_PET(7), /* a record that is none of its format of frames: left out */
    SLC_FAULT_PET_RANGE = SLC_FAULT_OF_PET(
        8), /* a record with a number that a frame has no room for: left out */
    SLC_FAULT_PET_CUT = SLC_FAULT_OF_PET(
        9), /* bytes at the end of bare frames that are no whole one: left out */
};

/* ---- the scanner ------------------------------------------------------------------------------- */

/* One crystal of a table. */
typedef struct slc_pet_crystal_row {
    uint32_t module, unit, crystal; /* in its unit, from 0 */
    uint32_t layer;        /* of several at different depths; 0 is the nearest to the field of view */
    double position_mm[3]; /* its middle */
    double normal[3];      /* a unit vector towards the field of view */
    double axis[3];        /* a unit vector: the crystal's own z */
} slc_pet_crystal_row;

/* Where the crystals of a scanner are that is no ideal ring, by their numbers. Made by slc_pet_layout_make.
 */
typedef struct slc_pet_layout {
    uint32_t crystals;              /* in all: every module has as many units, every unit as many crystals */
    uint32_t layers;                /* 1 or more */
    const slc_pet_crystal_row *row; /* of each crystal */
    const uint32_t *number;         /* of the crystal at [module][unit][crystal in the unit] */
    bool grid;  /* crystal = y · n + x in all units, x along their axis, n = crystals_z of the geometry */
    bool rings; /* numbers are k + r · crystals_per_ring in this, too, around the axis and along it */
} slc_pet_layout;

/* A module (BDM) has blocks_y · blocks_z blocks (detector units, DU; unit = y · blocks_z + z), a block
 * crystals_y · crystals_z crystals (local = y · crystals_z + z); y goes around the ring, z along the axis.
 * Modules are numbered around the ring first (channels · modules of them), then along the axis.
 *
 * With a layout these numbers say how many modules, units and crystals of a unit there are, and where
 * crystals are says the layout alone. Where it has no rings (layout->rings) all modules are channels and all
 * units blocks_y, and radius_mm and pitch_z_mm are those of a cylinder that comes near: the least distance of
 * a crystal's front from the axis, and how far neighbours in a unit are apart along its axis. */
typedef struct slc_pet_geometry {
    uint32_t channels;     /* C: inputs of the acquisition around the ring */
    uint32_t modules;      /* Ny: modules of a channel */
    uint32_t module_rings; /* rows of modules along the axis */
    uint32_t blocks_y, blocks_z;
    uint32_t crystals_y, crystals_z;
    double radius_mm, pitch_z_mm;
    double depth_mm; /* of a crystal; its position is half way */
    /* NULL: the ideal ring. It is not copied with the geometry, and has to be there as long as any copy of it
     * is used: of what is opened with one, too. */
    const slc_pet_layout *layout;
} slc_pet_geometry;

enum { SLC_PET_MAX_MODULES = 256, SLC_PET_MAX_UNITS = 16 }; /* what a frame can tell */

SLC_API uint32_t slc_pet_module_count(const slc_pet_geometry *geometry);
/* Of a layout without rings no more than two numbers whose product is that of the crystals. */
SLC_API uint32_t slc_pet_crystals_per_ring(const slc_pet_geometry *geometry);
SLC_API uint32_t slc_pet_rings(const slc_pet_geometry *geometry);
SLC_API uint32_t slc_pet_crystals(const slc_pet_geometry *geometry);

/* Middle of the crystal and the direction that it looks in (a unit vector towards the field of view). */
SLC_API void slc_pet_crystal_position(const slc_pet_geometry *geometry, uint32_t crystal,
                                      double position_mm[3], double direction[3]);

/* Makes a scanner of a table: crystal i is row i. All modules, units and crystals from 0 on must be there
 * once, all modules with the same units and all units with the same crystals; vectors may be a thousandth
 * longer or shorter than 1, and are made 1. Normals must point towards the other crystals, unless all are in
 * one plane. Everything is copied; slc_pet_geometry_clear frees it.
 * SLC_ERR_FORMAT names the first row (from 1) or crystal that is wrong; SLC_ERR_MEMORY. */
SLC_API slc_status slc_pet_layout_make(const slc_pet_crystal_row *rows, size_t n, double depth_mm,
                                       slc_pet_geometry *geometry, slc_error *error);
/* Frees the layout that slc_pet_layout_make, slc_pet_scanner or a reader has made, if there is one. Of tables
 * that were read slc_io_pet_tables_clear does it. */
SLC_API void slc_pet_geometry_clear(slc_pet_geometry *geometry);

/* Scanners by name: "mouse20" (20 modules), "explorer" (a long one), "vectors" (312 × 40 crystals at 60 mm).
 * The name of number i, NULL beyond the last. SLC_ERR_USAGE for another name; *error lists them. Or in words:
 * "channels=10,modules=1,module-rings=1,blocks=1x4,crystals=8x8,radius=60mm,pitch=1.6mm,depth=12mm", Y before
 * Z; modules, module-rings and blocks are 1 and depth is 0 where they are left out. Further words make a
 * layout that is numbered as the ring and is freed by slc_pet_geometry_clear: "flat=module,pitch-y=2mm" (or
 * block: planes whose middles are the radius away), "block-gap=1x2mm,module-gap=3mm" (beside the pitches),
 * "turn=17deg,direction=clockwise,shift=-5mm"; with "layers=2,layer-gap=0.5mm" (each as deep as `depth`) it
 * is numbered by module, unit and place, the rows of a layer behind those before it. SLC_ERR_USAGE for words
 * that cannot be; *error names the first. */
SLC_API const char *slc_pet_scanner_name(size_t i);
SLC_API slc_status slc_pet_scanner(const char *name, slc_pet_geometry *geometry, slc_error *error);

/* ---- frames ------------------------------------------------------------------------------------ */

/* One hit of a block as it is sent, 16 bytes; many in one datagram. */
typedef struct slc_pet_frame {
    uint8_t head_unit;  /* low four bits: unit in the module; high: the head's mark, any */
    uint8_t module;     /* BDM */
    uint8_t time[8];    /* ticks, big-endian */
    uint8_t x, y;       /* position in the block's flood map */
    uint8_t energy[2];  /* big-endian */
    int8_t temperature; /* whole degrees */
    uint8_t temperature_tail;
} slc_pet_frame;
enum { SLC_PET_FRAME_BYTES = 16 };

/* ---- collections ------------------------------------------------------------------------------- */

/* One row is one hit of a crystal. An event is a batch, or whatever the caller wants to keep apart; stages
 * look at all rows. */
typedef struct slc_pet_singles {
    slc_columns head;
    int64_t *time_ps;
    uint32_t *crystal;
    float *energy_kev;
} slc_pet_singles;
SLC_API extern const slc_schema slc_pet_singles_schema;

/* Times that come as floating point numbers, of which picoseconds would lose digits; used by the stage of
 * coincidences alone. */
typedef struct slc_pet_singles_f64 {
    slc_columns head;
    double *time_ns;
    uint32_t *crystal;
    float *energy_kev;
} slc_pet_singles_f64;
SLC_API extern const slc_schema slc_pet_singles_f64_schema;

/* One row is one coincidence: single `first`, and `size` − 1 singles from `second` on, which follow each
 * other in time. Numbers count the sorted singles of the whole input from 0, but where there is an energy
 * window only those inside it. A pair has size 2. */
typedef struct slc_pet_groups {
    slc_columns head;
    uint64_t *first, *second;
    uint32_t *size;
} slc_pet_groups;
SLC_API extern const slc_schema slc_pet_groups_schema;

/* Pairs with what list-mode files need. dt = time of 2 − time of 1; 1 is the earlier one, but for delayed
 * pairs the one that opened the window. */
typedef struct slc_pet_coincidences {
    slc_columns head;
    int64_t *time_ps; /* of single 1 */
    int64_t *dt_ps;   /* without the delay */
    uint32_t *crystal1, *crystal2;
    float *energy1_kev, *energy2_kev;
    uint8_t *delayed; /* 0 or 1 */
} slc_pet_coincidences;
SLC_API extern const slc_schema slc_pet_coincidences_schema;

/* What tells of a measurement's time beside its singles: pulses that clocks are compared by, signals from
 * outside (TDC), phases of heart and breath, positions of the bed. */
typedef enum slc_pet_mark_kind {
    SLC_PET_MARK_OTHER = 0,
    SLC_PET_MARK_SYNC,
    SLC_PET_MARK_TRIGGER,
    SLC_PET_MARK_GATE,
    SLC_PET_MARK_BED,
    SLC_PET_MARKS
} slc_pet_mark_kind;
/* "other", "sync", "trigger", "gate", "bed"; NULL beyond. */
SLC_API const char *slc_pet_mark_name(uint32_t kind);

/* One row is one mark, on the clock of the singles and in the order of the input. */
typedef struct slc_pet_marks {
    slc_columns head;
    int64_t *time_ps;
    double *value;   /* in the unit that the records' format makes of it: a bed's position in mm, say */
    uint8_t *kind;   /* slc_pet_mark_kind */
    uint8_t *module; /* that sent it; 0 where that is not told */
} slc_pet_marks;
SLC_API extern const slc_schema slc_pet_marks_schema;

#ifdef __cplusplus
}
#endif
#endif
