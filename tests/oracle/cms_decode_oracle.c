/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's fragments to digis, slowly and obviously, in the words of docs/formats/cms-raw.md. Numbers are built
 * from bytes, bits are taken one field at a time, and digis are sorted by a general sort.
 */
#include "oracle/cms_decode_oracle.h"

#include "support/cmocka_all.h"

#include <stdlib.h>

/* An event's bytes. */
typedef struct bytes {
    const uint8_t *at;
    size_t size;
} bytes;

static uint32_t u32_at(bytes of, size_t at)
{
    assert_true(at + 4 <= of.size);
    return of.at[at] + 256U * of.at[at + 1] + 65536U * of.at[at + 2] + 16777216U * of.at[at + 3];
}

static uint32_t bits(uint32_t value, uint32_t high, uint32_t low)
{
    return (value >> low) % (1U << (high - low + 1));
}

/* ---- 64-bit words at the ends of fragments --------------------------------------------------------- */

typedef struct mark {
    uint32_t kind; /* 5: header; 10: trailer */
    uint32_t source, length;
    bool more, wrong_crc;
} mark;

static mark mark_at(bytes of, size_t at)
{
    const uint32_t low = u32_at(of, at), high = u32_at(of, at + 4);
    return (mark){.kind = bits(high, 31, 28),
                  .source = bits(low, 19, 8),
                  .length = bits(high, 23, 0),
                  .more = bits(low, 3, 3) == 1,
                  .wrong_crc = bits(low, 2, 2) == 1};
}

static bool is_header(mark m, uint32_t id)
{
    return m.kind == 5 && m.source == id;
}

static bool is_trailer(mark m)
{
    return m.kind == 10;
}

/* ---- where fragments are --------------------------------------------------------------------------- */

static bool possible_size(uint32_t size)
{
    return size % 8 == 0 && size >= 16;
}

static bool known_id(uint32_t id)
{
    return id >= 1200 && id <= 1349;
}

static bool fragment_begins(bytes of, size_t at)
{
    return at + 16 <= of.size && known_id(u32_at(of, at)) && possible_size(u32_at(of, at + 4)) &&
           is_header(mark_at(of, at + 8), u32_at(of, at));
}

/* An id and the size 0, with no header of this id behind them. */
static bool empty_fragment(bytes of, size_t at)
{
    return at + 8 <= of.size && known_id(u32_at(of, at)) && u32_at(of, at + 4) == 0 &&
           !(at + 16 <= of.size && is_header(mark_at(of, at + 8), u32_at(of, at)));
}

/* Where a size leads; 0 where it cannot be. */
static size_t led_to(bytes of, size_t at)
{
    const uint32_t size = u32_at(of, at + 4);
    return possible_size(size) && size <= of.size - at - 8 ? at + 8 + size : 0;
}

static bool closed(bytes of, size_t begin, size_t end)
{
    if (end < begin + 16 || (end - begin) % 8 != 0) {
        return false;
    }
    const mark last = mark_at(of, end - 8);
    return is_trailer(last) && last.length == (end - begin) / 8;
}

static size_t next_place(bytes of, size_t at)
{
    for (size_t place = at + 4; place < of.size; place += 4) {
        if (fragment_begins(of, place)) {
            return place;
        }
    }
    return of.size;
}

/* The fragment at `at` ends here: `place`, or before empty fragments that end there. */
static size_t end_before(bytes of, size_t at, size_t place)
{
    while (place >= at + 16 && empty_fragment((bytes){of.at, place}, place - 8)) {
        place -= 8;
    }
    return place;
}

/* Behind empty fragments: two of an id that is known, a size that is possible within the event, and a header
 * of an id that is known. */
static bool fragment_may_begin(bytes of, size_t at)
{
    for (int n = 0; n < 150 && empty_fragment(of, at); n++) {
        at += 8;
    }
    if (at + 16 > of.size) {
        return false;
    }
    const uint32_t size = u32_at(of, at + 4);
    const mark header = mark_at(of, at + 8);
    int right = 0;
    right += known_id(u32_at(of, at)) ? 1 : 0;
    right += possible_size(size) && size <= of.size ? 1 : 0;
    right += header.kind == 5 && known_id(header.source) ? 1 : 0;
    return right >= 2;
}

/* The size leads to where a fragment may begin, and none begins before. */
static bool leads_on(bytes of, size_t at, size_t led)
{
    return led > 0 && next_place(of, at) >= led && fragment_may_begin(of, led);
}

/* ---- one fragment ---------------------------------------------------------------------------------- */

typedef struct fragment {
    uint32_t event, fed;
    size_t begin, n_words; /* byte of the event; 32-bit words */
} fragment;

typedef struct fragments {
    fragment *of;
    size_t n, capacity;
} fragments;

static void put_fragment(fragments *list, fragment one)
{
    if (list->n == list->capacity) {
        list->capacity = 2 * list->capacity + 64;
        list->of = realloc(list->of, list->capacity * sizeof *list->of);
        assert_non_null(list->of);
    }
    list->of[list->n++] = one;
}

/* The bytes begin … end - 1 of an event. `event`: in the batch; `number`: in the input. */
static void check_fragment(bytes of, uint32_t event, uint64_t number, uint32_t id, size_t begin, size_t end,
                           fragments *list, slc_faults *faults)
{
    size_t first = begin, last = end - 8; /* the header and trailer that are looked at */
    const int32_t module = (int32_t)id;
    if (is_trailer(mark_at(of, last)) && mark_at(of, last).wrong_crc) {
        slc_faults_add(faults, SLC_FAULT_CMS_CRC, number, module, last);
    }
    bool headers = known_id(id) && is_header(mark_at(of, first), id);
    while (headers && mark_at(of, first).more) {
        first += 8;
        headers = first + 8 <= end && is_header(mark_at(of, first), id);
    }
    if (!headers) {
        slc_faults_add(faults, SLC_FAULT_CMS_HEADER, number, module, begin);
        return;
    }
    bool trailers = is_trailer(mark_at(of, last));
    while (trailers && mark_at(of, last).more) {
        last -= 8;
        trailers = last >= first + 8 && is_trailer(mark_at(of, last));
    }
    if (!trailers) {
        slc_faults_add(faults, SLC_FAULT_CMS_TRAILER, number, module, end - 8);
        return;
    }
    if (mark_at(of, end - 8).length != (end - begin) / 8) {
        slc_faults_add(faults, SLC_FAULT_CMS_LENGTH, number, module, end - 8);
    }
    put_fragment(
        list, (fragment){.event = event, .fed = id, .begin = first + 8, .n_words = (last - first - 8) / 4});
}

static void find_fragments(bytes of, uint32_t event, uint64_t number, fragments *list, slc_faults *faults)
{
    uint32_t found = 0;
    bool damaged = false;
    size_t at = 4;
    if (of.size < 4) {
        slc_faults_add(faults, SLC_FAULT_CMS_EVENT, number, -1, 0);
        return;
    }
    while (at < of.size) {
        if (of.size - at < 8) {
            slc_faults_add(faults, SLC_FAULT_CMS_EVENT, number, -1, at);
            damaged = true;
            break;
        }
        if (empty_fragment(of, at)) {
            found++;
            at += 8;
            continue;
        }
        const uint32_t id = u32_at(of, at);
        const size_t begin = at + 8, led = led_to(of, at);
        const bool sound = led > 0 && is_header(mark_at(of, begin), id) && closed(of, begin, led);
        const size_t end = sound || leads_on(of, at, led) ? led : end_before(of, at, next_place(of, at));
        found++;
        if (end != led) {
            slc_faults_add(faults, SLC_FAULT_CMS_EVENT, number, -1, at);
            damaged = true;
        }
        if (end == led || closed(of, begin, end)) {
            check_fragment(of, event, number, id, begin, end, list, faults);
        }
        at = end;
    }
    if (!damaged && found != u32_at(of, 0)) {
        slc_faults_add(faults, SLC_FAULT_CMS_EVENT, number, -1, 0);
    }
}

/* ---- words ------------------------------------------------------------------------------------------ */

void oracle_cms_to_module(uint32_t raw_id, uint32_t roc, uint32_t row, uint32_t column, uint32_t *x,
                          uint32_t *y)
{
    const bool barrel = bits(raw_id, 27, 25) == 1;
    const bool layer1 = barrel && bits(raw_id, 23, 20) == 1;
    const bool minus = bits(raw_id, 11, 2) < 5;
    const bool case_a = !barrel || (minus && !layer1);
    if (case_a && roc < 8) {
        *x = row;
        *y = (8 - roc) * 52 - 1 - column;
    } else if (case_a) {
        *x = 159 - row;
        *y = (roc - 8) * 52 + column;
    } else if (roc < 8) {
        *x = 159 - row;
        *y = roc * 52 + column;
    } else {
        *x = row;
        *y = (16 - roc) * 52 - 1 - column;
    }
}

static const slc_cms_cable *cable_of(const slc_cms_cabling *cabling, uint32_t fed, uint32_t link,
                                     uint32_t chip)
{
    if (link < 1 || link > 48 || chip < 1 || chip > 8) {
        return NULL;
    }
    const slc_cms_cable *cable = &cabling->cable[(fed - 1200) * 48 * 8 + (link - 1) * 8 + (chip - 1)];
    return cable->raw_id == 0 ? NULL : cable;
}

static bool link_is_used(const slc_cms_cabling *cabling, uint32_t fed, uint32_t link)
{
    bool used = false;
    for (uint32_t chip = 1; chip <= 8; chip++) {
        used = used || cable_of(cabling, fed, link, chip) != NULL;
    }
    return used;
}

static slc_fault_code error_code(uint32_t word)
{
    switch (bits(word, 25, 21)) {
    case 25:
        return SLC_FAULT_CMS_ROC_INVALID;
    case 26:
        return SLC_FAULT_CMS_GAP;
    case 27:
        return SLC_FAULT_CMS_DUMMY;
    case 28:
        return SLC_FAULT_CMS_FIFO;
    case 29:
        return SLC_FAULT_CMS_TIMEOUT;
    case 30:
        return bits(word, 11, 8) == 1 ? SLC_FAULT_CMS_PKAM : SLC_FAULT_CMS_TBM_TRAILER;
    default:
        return SLC_FAULT_CMS_EVENT_NUMBER;
    }
}

/* A digi, and which word it was. */
typedef struct found_digi {
    uint32_t module, raw_id, x, y, adc;
    size_t serial;
} found_digi;

typedef struct decoding {
    const slc_cms_decode_config *config;
    const slc_cms_cabling *cabling;
    slc_cms_word_counts *counts;
    slc_faults *faults;
    found_digi *digis; /* of the event at hand */
    size_t n, capacity;
} decoding;

static void put_digi(decoding *d, found_digi one)
{
    if (d->n == d->capacity) {
        d->capacity = 2 * d->capacity + 64;
        d->digis = realloc(d->digis, d->capacity * sizeof *d->digis);
        assert_non_null(d->digis);
    }
    one.serial = d->n;
    d->digis[d->n++] = one;
    d->counts->digis++;
}

/* Is the chip of a higher number, of the same link, directly before? */
static bool out_of_order(uint32_t word, uint32_t before)
{
    return bits(before, 31, 26) == bits(word, 31, 26) && bits(before, 25, 21) >= 1 &&
           bits(before, 25, 21) <= 8 && bits(before, 25, 21) > bits(word, 25, 21);
}

/* The pixel of a word. False: the chip has no such pixel. */
static bool pixel_of(uint32_t word, bool layer1, uint32_t *row, uint32_t *column)
{
    if (layer1) {
        *row = bits(word, 14, 8);
        *column = bits(word, 20, 15);
        return *row < 80 && *column < 52;
    }
    const uint32_t dcol = bits(word, 20, 16), pxid = bits(word, 15, 8);
    if (dcol >= 26 || pxid < 2 || pxid >= 162) {
        return false;
    }
    *row = 80 - pxid / 2;
    *column = 2 * dcol + pxid % 2;
    return true;
}

/* One word; `before` is the one directly before in its fragment, 0 for the first. */
static void decode_word(decoding *d, uint64_t number, uint32_t fed, uint32_t word, uint32_t before,
                        size_t offset)
{
    const uint32_t link = bits(word, 31, 26), chip = bits(word, 25, 21);
    const int32_t module = (int32_t)fed;
    uint32_t row = 0, column = 0;
    d->counts->words++;
    if (word == 0) {
        d->counts->empty++;
        return;
    }
    if (chip >= 25) {
        d->counts->errors++;
        slc_faults_add(d->faults, error_code(word), number, module, offset);
        return;
    }
    const slc_cms_cable *cable = cable_of(d->cabling, fed, link, chip);
    if (cable == NULL) {
        d->counts->invalid++;
        slc_faults_add(d->faults,
                       link_is_used(d->cabling, fed, link) ? SLC_FAULT_CMS_ROC_ID : SLC_FAULT_CMS_CHANNEL,
                       number, module, offset);
        return;
    }
    if (cable->bad != 0 || cable->module >= d->config->modules ||
        (d->config->unpack != NULL && d->config->unpack[cable->module] == 0)) {
        d->counts->bad_roc++;
        return;
    }
    const bool layer1 = bits(cable->raw_id, 27, 25) == 1 && bits(cable->raw_id, 23, 20) == 1;
    if (!pixel_of(word, layer1, &row, &column)) {
        d->counts->invalid++;
        slc_faults_add(d->faults, SLC_FAULT_CMS_PIXEL, number, module, offset);
        return;
    }
    if (out_of_order(word, before)) {
        slc_faults_add(d->faults, SLC_FAULT_CMS_ORDER, number, module, offset);
    }
    found_digi one = {.module = cable->module, .raw_id = cable->raw_id, .adc = bits(word, 7, 0)};
    oracle_cms_to_module(cable->raw_id, cable->roc, row, column, &one.x, &one.y);
    put_digi(d, one);
}

static int by_module(const void *first, const void *second)
{
    const found_digi *a = first, *b = second;
    if (a->module != b->module) {
        return a->module < b->module ? -1 : 1;
    }
    return (a->serial > b->serial) - (a->serial < b->serial);
}

static void end_event(decoding *d, slc_cms_digis *digis)
{
    if (d->n > 1) {
        qsort(d->digis, d->n, sizeof *d->digis, by_module);
    }
    assert_int_equal(slc_columns_reserve(&slc_cms_digis_schema, digis, digis->head.size + d->n + 1,
                                         digis->head.n_events + 1),
                     SLC_OK);
    for (size_t i = 0; i < d->n; i++) {
        const found_digi *one = &d->digis[i];
        const size_t row = digis->head.size++;
        digis->cluster[row] = SLC_CMS_NO_CLUSTER;
        digis->packed[row] = one->x + one->y * 2048 + one->adc * 4194304;
        digis->raw_id[row] = one->raw_id;
        digis->adc[row] = (uint16_t)one->adc;
        digis->x[row] = (uint16_t)one->x;
        digis->y[row] = (uint16_t)one->y;
        digis->module[row] = (uint16_t)one->module;
    }
    slc_columns_end_event(digis);
    d->n = 0;
}

void oracle_cms_decode(const slc_cms_decode_config *config, const slc_cms_cabling *cabling,
                       const slc_batch *batch, slc_cms_digis *digis, slc_cms_word_counts *counts,
                       slc_faults *faults)
{
    fragments list = {.n = 0};
    decoding d = {.config = config, .cabling = cabling, .counts = counts, .faults = faults};
    *counts = (slc_cms_word_counts){.words = 0};
    slc_columns_reset(digis);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        const bytes of = {batch->bytes + batch->offset[e], batch->length[e]};
        find_fragments(of, e, batch->first_event + e, &list, faults);
    }
    size_t f = 0;
    for (uint32_t e = 0; e < batch->n_events; e++) {
        const bytes of = {batch->bytes + batch->offset[e], batch->length[e]};
        for (; f < list.n && list.of[f].event == e; f++) {
            uint32_t before = 0;
            for (size_t w = 0; w < list.of[f].n_words; w++) {
                const size_t at = list.of[f].begin + 4 * w;
                decode_word(&d, batch->first_event + e, list.of[f].fed, u32_at(of, at), before, at);
                before = u32_at(of, at);
            }
        }
        end_event(&d, digis);
    }
    free(list.of);
    free(d.digis);
}
