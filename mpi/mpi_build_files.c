/* SPDX-License-Identifier: Apache-2.0
 *
 * A unit that is a file of packets: of each source (MFP), as they come, or those of many sources under heads
 * (MEP). A packet belongs to the pack that its event id names; one whose id cannot be, or whose head is
 * damaged, to the pack that lacks it where it stands.
 */
#define _POSIX_C_SOURCE 200809L
#include "mpi_build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS_MAX = 65535, GAP = 16, ALONE = 2 };

typedef struct entry {
    slc_io_mfp mfp;
    uint64_t pack; /* NOWHERE: not known yet */
} entry;
#define NOWHERE UINT64_MAX

struct slc_build_file {
    const char *path;
    uint8_t *bytes;
    size_t size;
    entry *entries;
    size_t n, capacity;
    slc_build_packs seen;
    uint64_t residue; /* of event ids to the packing */
    uint64_t n_packs;
    size_t *begin; /* of each pack in `order`, and the end */
    size_t *order; /* entries by pack */
    uint64_t largest;
};

/* ---- finding packets --------------------------------------------------------------------------- */

static bool add(slc_build_file *file, const slc_io_mfp *mfp)
{
    if (file->n == file->capacity) {
        const size_t capacity = 2 * file->capacity + 1024;
        entry *larger = realloc(file->entries, capacity * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        file->entries = larger;
        file->capacity = capacity;
    }
    file->entries[file->n++] = (entry){*mfp, NOWHERE};
    return true;
}

static bool is_readable(const entry *e)
{
    return e->mfp.fault != SLC_FAULT_PACK_HEADER;
}

/* How many events most packets have, and where packs begin modulo that. */
static bool find_packing(slc_build_file *file)
{
    uint32_t *count = calloc(EVENTS_MAX + 1, sizeof *count);
    if (count == NULL) {
        return false;
    }
    uint32_t best = 0;
    for (size_t i = 0; i < file->n; i++) {
        const slc_io_mfp *mfp = &file->entries[i].mfp;
        if (is_readable(&file->entries[i]) && ++count[mfp->n] > count[best]) {
            best = mfp->n;
        }
    }
    for (uint32_t n = EVENTS_MAX; n > best; n--) { /* the last pack may have fewer, and all its packets */
        if (2 * (uint64_t)count[n] >= count[best] && count[n] > 0) {
            best = n;
        }
    }
    free(count);
    file->seen.packing = best;
    int64_t votes = 0; /* a majority there is, unless most is damaged */
    for (size_t i = 0; i < file->n && best > 0; i++) {
        const slc_io_mfp *mfp = &file->entries[i].mfp;
        if (is_readable(&file->entries[i])) {
            file->residue = votes == 0 ? mfp->event_id % best : file->residue;
            votes += mfp->event_id % best == file->residue ? 1 : -1;
        }
    }
    return true;
}

/* Is it of a pack that there may be? */
static bool has_place(const slc_build_file *file, const entry *e)
{
    return is_readable(e) && file->seen.packing > 0 &&
           e->mfp.event_id % file->seen.packing == file->residue && e->mfp.n <= file->seen.packing;
}

static uint64_t next_id(const slc_build_file *file, size_t i)
{
    for (i++; i < file->n; i++) {
        if (has_place(file, &file->entries[i])) {
            return file->entries[i].mfp.event_id;
        }
    }
    return UINT64_MAX;
}

/* The events from the first packet to the last: event ids rise, and are no further away than all packets of
 * the file could be; others are damaged, and say nothing. */
static void find_range(slc_build_file *file)
{
    uint64_t last = 0, end = 0, first = UINT64_MAX;
    const uint64_t reach = (2 * file->n + GAP) * file->seen.packing;
    for (size_t i = 0; i < file->n; i++) {
        const slc_io_mfp *mfp = &file->entries[i].mfp;
        if (!has_place(file, &file->entries[i]) || (first != UINT64_MAX && mfp->event_id == last)) {
            continue;
        }
        const uint64_t next = next_id(file, i);
        if (mfp->event_id < last || (mfp->event_id > next && next >= last) ||
            (first != UINT64_MAX && mfp->event_id - first > reach)) {
            continue;
        }
        first = first == UINT64_MAX ? mfp->event_id : first;
        last = mfp->event_id;
        end = last + mfp->n;
    }
    file->seen.event_id = first == UINT64_MAX ? 0 : first;
    file->seen.n_events = first == UINT64_MAX ? 0 : end - first;
}

static slc_status map(slc_build_file *file, slc_error *error)
{
    struct stat about;
    const int f = open(file->path, O_RDONLY | O_CLOEXEC);
    if (f < 0 || fstat(f, &about) != 0) {
        const int why = errno;
        if (f >= 0) {
            (void)close(f);
        }
        return slc_fail(error, SLC_ERR_IO, "%s: %s", file->path, strerror(why));
    }
    slc_status status = SLC_OK;
    if (!S_ISREG(about.st_mode) || about.st_size == 0) {
        status = slc_fail(error, SLC_ERR_FORMAT, "%s: %s", file->path,
                          S_ISREG(about.st_mode) ? "the file is empty" : "units are regular files");
    } else {
        file->size = (size_t)about.st_size;
        void *bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, f, 0);
        file->bytes = bytes != MAP_FAILED ? bytes : NULL;
        status = file->bytes != NULL ? SLC_OK
                                     : slc_fail(error, SLC_ERR_IO, "%s: %s", file->path, strerror(errno));
    }
    (void)close(f);
    return status;
}

slc_status slc_build_file_open(slc_build_file **file, const char *path, slc_error *error)
{
    slc_build_file *f = *file = calloc(1, sizeof *f);
    if (f == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to begin with", path);
    }
    f->path = path;
    slc_status status = map(f, error);
    size_t at = 0;
    bool all = true;
    slc_io_mfp mfp;
    while (status == SLC_OK && all && slc_io_mfp_next(f->bytes, f->size, &at, &mfp) == SLC_OK) {
        all = add(f, &mfp);
    }
    if (status == SLC_OK && (!all || !find_packing(f))) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a list of its packets", path);
    }
    if (status == SLC_OK && f->seen.packing == 0) {
        status = slc_fail(error, SLC_ERR_FORMAT,
                          "%s: no packets of a readout unit (MFP) in it; events are built of those, or with "
                          "--split of a file of events",
                          path);
    }
    if (status != SLC_OK) {
        slc_build_file_close(f);
        *file = NULL;
        return status;
    }
    find_range(f);
    return SLC_OK;
}

void slc_build_file_close(slc_build_file *file)
{
    if (file != NULL) {
        if (file->bytes != NULL) {
            (void)munmap(file->bytes, file->size);
        }
        free(file->entries);
        free(file->begin);
        free(file->order);
        free(file);
    }
}

slc_build_packs slc_build_file_packs(const slc_build_file *file)
{
    return file->seen;
}

/* ---- sources ----------------------------------------------------------------------------------- */

typedef struct claim {
    uint16_t source;
    uint64_t pack;
} claim;

static int by_source(const void *a, const void *b)
{
    const claim *x = a, *y = b;
    if (x->source != y->source) {
        return x->source < y->source ? -1 : 1;
    }
    return x->pack < y->pack ? -1 : x->pack > y->pack;
}

/* A source has as many packets in a pack as it has in most; those that are there in one pack alone, of three
 * or more, are damage. */
static slc_io_mfp_source judge_source(const claim *claims, size_t n, uint64_t n_packs)
{
    slc_io_mfp_source found = {.source = claims[0].source};
    for (uint16_t level = 1; level < UINT16_MAX; level++) {
        uint64_t packs = 0;
        for (size_t i = 0, run = 0; i < n; i++) {
            run = i > 0 && claims[i].pack == claims[i - 1].pack ? run + 1 : 1;
            packs += run == level;
        }
        if (packs == 0) {
            break;
        }
        found.must = 2 * packs > n_packs ? level : found.must;
        found.may = 2 * packs > n_packs || packs > 1 || n_packs <= ALONE ? level : found.may;
    }
    return found;
}

static slc_status find_sources(slc_build_file *file, slc_io_mfp_source **sources, uint32_t *n_sources,
                               slc_error *error)
{
    claim *claims = calloc(file->n + 1, sizeof *claims);
    slc_io_mfp_source *found = calloc(EVENTS_MAX + 1, sizeof *found);
    uint8_t *has = calloc(file->n_packs + 1, 1);
    if (claims == NULL || found == NULL || has == NULL) {
        free(claims);
        free(found);
        free(has);
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its sources", file->path);
    }
    size_t n = 0;
    uint64_t n_packs = 0;
    for (size_t i = 0; i < file->n; i++) {
        const entry *e = &file->entries[i];
        if (e->pack != NOWHERE && e->mfp.type != SLC_LHCB_BANK_MC_TRACKS &&
            e->mfp.type != SLC_LHCB_BANK_MC_VERTICES) {
            claims[n++] = (claim){e->mfp.source, e->pack};
            n_packs += !has[e->pack];
            has[e->pack] = 1;
        }
    }
    if (n > 1) {
        qsort(claims, n, sizeof *claims, by_source);
    }
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && claims[next].source == claims[i].source; next++) {
        }
        found[*n_sources] = judge_source(claims + i, next - i, n_packs);
        *n_sources += found[*n_sources].may > 0;
    }
    *sources = found;
    free(claims);
    free(has);
    return SLC_OK;
}

/* ---- packs ------------------------------------------------------------------------------------- */

/* Where a packet that does not say it belongs: to the pack at hand, if that has fewer than it should, to one
 * between it and the next, or to the next. */
static uint64_t place(const slc_build_file *file, size_t i, uint64_t before, uint64_t has, uint64_t should)
{
    uint64_t next = NOWHERE;
    for (size_t k = i + 1; k < file->n && next == NOWHERE; k++) {
        next = file->entries[k].pack;
    }
    if (before == NOWHERE) {
        return next == NOWHERE ? 0 : next > 0 ? next - 1 : 0;
    }
    if (has < should || before + 1 == file->n_packs) {
        return before;
    }
    return next != NOWHERE && next <= before ? before : before + 1;
}

static slc_status sort_packs(slc_build_file *file, slc_error *error)
{
    file->begin = calloc(file->n_packs + 2, sizeof *file->begin);
    file->order = calloc(file->n + 1, sizeof *file->order);
    if (file->begin == NULL || file->order == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a list of its packs", file->path);
    }
    for (size_t i = 0; i < file->n; i++) {
        file->begin[file->entries[i].pack + 2]++;
    }
    for (uint64_t p = 2; p <= file->n_packs + 1; p++) {
        file->begin[p] += file->begin[p - 1];
    }
    for (size_t i = 0; i < file->n; i++) {
        file->order[file->begin[file->entries[i].pack + 1]++] = i;
    }
    for (uint64_t p = 0; p < file->n_packs; p++) {
        const uint64_t size = slc_build_file_size(file, p);
        file->largest = size > file->largest ? size : file->largest;
    }
    return SLC_OK;
}

slc_status slc_build_file_settle(slc_build_file *file, const slc_build_packs *packs,
                                 slc_io_mfp_source **sources, uint32_t *n, slc_error *error)
{
    file->n_packs = packs->n_packs;
    for (size_t i = 0; i < file->n; i++) {
        const slc_io_mfp *mfp = &file->entries[i].mfp;
        if (is_readable(&file->entries[i]) && mfp->event_id >= packs->event_id &&
            mfp->event_id - packs->event_id < packs->n_events &&
            (mfp->event_id - packs->event_id) % packs->packing == 0) {
            file->entries[i].pack = (mfp->event_id - packs->event_id) / packs->packing;
        }
    }
    const slc_status status = find_sources(file, sources, n, error);
    if (status != SLC_OK) {
        return status;
    }
    uint64_t should = 0, before = NOWHERE, has = 0;
    for (uint32_t s = 0; s < *n; s++) {
        should += (*sources)[s].must;
    }
    for (size_t i = 0; i < file->n; i++) {
        entry *e = &file->entries[i];
        e->pack = e->pack != NOWHERE ? e->pack : place(file, i, before, has, should);
        has = e->pack == before ? has + 1 : 1;
        before = e->pack;
    }
    return sort_packs(file, error);
}

uint64_t slc_build_file_capacity(const slc_build_file *file)
{
    return file->largest;
}

/* What fills a packet up to eight bytes follows it, unless its end is missing: it would be taken for that. */
static uint64_t with_filling(const slc_io_mfp *mfp)
{
    return mfp->fault == SLC_FAULT_NONE ? (mfp->here + 7) / 8 * 8 : mfp->here;
}

uint64_t slc_build_file_size(const slc_build_file *file, uint64_t pack)
{
    uint64_t size = 0;
    for (size_t i = file->begin[pack]; i < file->begin[pack + 1]; i++) {
        size += with_filling(&file->entries[file->order[i]].mfp);
    }
    return size;
}

void slc_build_file_fill(const slc_build_file *file, uint64_t pack, uint8_t *to)
{
    for (size_t i = file->begin[pack]; i < file->begin[pack + 1]; i++) {
        const slc_io_mfp *mfp = &file->entries[file->order[i]].mfp;
        memcpy(to, file->bytes + mfp->at, mfp->here);
        memset(to + mfp->here, 0, with_filling(mfp) - mfp->here);
        to += with_filling(mfp);
    }
}
