/* SPDX-License-Identifier: Apache-2.0
 *
 * The fragments of a batch: where their data words are, and whether headers and trailers are what they should
 * be, in the order in which CMS's unpacker looks (CRC bit, headers, trailers). docs/formats/cms-raw.md has
 * the rules.
 */
#include "cms/cms_fragment.h"
#include "cms/cms_stages.h"

#include "base/bytes.h"
#include "base/columns.h"

static const slc_column columns[] = {
    SOA_COLUMN(slc_cms_fragments, fed, "id"),
    SOA_COLUMN(slc_cms_fragments, begin, "byte"),
    SOA_COLUMN(slc_cms_fragments, n_words, "1"),
};
SOA_SCHEMA(slc_cms_fragments, slc_cms_fragments_schema, "fragments", columns);

enum { MORE_FOLLOW = 8, CRC_WRONG = 4 }; /* bits of the low word of headers and trailers */

typedef struct walk {
    slc_cms_view view;
    uint64_t event;
    slc_faults *faults;
    slc_cms_fragments *fragments; /* NULL: they are only counted */
    uint64_t n_fragments, n_words;
} walk;

static void note(const walk *w, slc_fault_code code, const slc_cms_fragment *fragment, size_t offset)
{
    slc_faults_add(w->faults, code, w->event, (int32_t)fragment->fed, offset);
}

static void note_event(const walk *w, size_t offset)
{
    slc_faults_add(w->faults, SLC_FAULT_CMS_EVENT, w->event, -1, offset);
}

/* ---- one fragment ------------------------------------------------------------------------------ */

/* Behind the headers; 0 where one is missing or of another source. */
static size_t behind_headers(const uint8_t *bytes, const slc_cms_fragment *fragment)
{
    if (fragment->fed - SLC_CMS_FED_FIRST >= SLC_CMS_FEDS) {
        return 0;
    }
    for (size_t at = fragment->begin; at < fragment->end;) {
        const uint8_t *header = bytes + at;
        if (!slc_cms_word_is_header(header) || slc_cms_header_source(header) != fragment->fed) {
            return 0;
        }
        at += SLC_CMS_FRAGMENT_WORD;
        if ((header[0] & MORE_FOLLOW) == 0) {
            return at;
        }
    }
    return 0;
}

/* Where the trailers begin; 0 where one is missing. */
static size_t before_trailers(const uint8_t *bytes, size_t begin, size_t end)
{
    for (size_t at = end; at >= begin + SLC_CMS_FRAGMENT_WORD;) {
        at -= SLC_CMS_FRAGMENT_WORD;
        const uint8_t *trailer = bytes + at;
        if (!slc_cms_word_is_trailer(trailer)) {
            return 0;
        }
        if ((trailer[0] & MORE_FOLLOW) == 0) {
            return at;
        }
    }
    return 0;
}

static slc_status take(walk *w, const slc_cms_fragment *fragment)
{
    const uint8_t *bytes = w->view.bytes;
    const size_t last = fragment->end - SLC_CMS_FRAGMENT_WORD;
    if (slc_cms_word_is_trailer(bytes + last) && (bytes[last] & CRC_WRONG) != 0) {
        note(w, SLC_FAULT_CMS_CRC, fragment, last);
    }
    const size_t begin = behind_headers(bytes, fragment);
    if (begin == 0) {
        note(w, SLC_FAULT_CMS_HEADER, fragment, fragment->begin);
        return SLC_OK;
    }
    const size_t end = before_trailers(bytes, begin, fragment->end);
    if (end == 0) {
        note(w, SLC_FAULT_CMS_TRAILER, fragment, last);
        return SLC_OK;
    }
    const size_t words = (fragment->end - fragment->begin) / SLC_CMS_FRAGMENT_WORD;
    if (slc_cms_trailer_length(bytes + last) != (words & 0xffffffU)) {
        note(w, SLC_FAULT_CMS_LENGTH, fragment, last);
    }
    w->n_fragments++;
    w->n_words += (end - begin) / 4;
    slc_cms_fragments *fragments = w->fragments;
    if (fragments == NULL) {
        return SLC_OK;
    }
    const size_t row = fragments->head.size;
    if (row >= fragments->head.capacity) {
        return SLC_ERR_CAPACITY;
    }
    fragments->fed[row] = fragment->fed;
    fragments->begin[row] = (uint32_t)begin;
    fragments->n_words[row] = (uint32_t)((end - begin) / 4);
    fragments->head.size = row + 1;
    return SLC_OK;
}

/* ---- events and batches ------------------------------------------------------------------------ */

static slc_cms_view view_of(const slc_batch *batch, uint32_t event)
{
    /* A batch of empty events may have no memory. */
    return (slc_cms_view){.bytes = batch->size > 0 ? batch->bytes + batch->offset[event] : NULL,
                          .size = batch->length[event],
                          .whole = true,
                          .limit = batch->length[event]};
}

/* An event that columns of 32 bits cannot count is none. */
static bool can_walk(const slc_cms_view *view)
{
    return view->bytes != NULL && view->size >= SLC_CMS_EVENT_HEAD && view->size <= UINT32_MAX;
}

static slc_status walk_event(walk *w)
{
    if (!can_walk(&w->view)) {
        note_event(w, 0);
        return SLC_OK;
    }
    uint32_t found = 0;
    bool told = false;
    slc_cms_fragment fragment;
    for (size_t at = SLC_CMS_EVENT_HEAD;; at = fragment.end) {
        const slc_cms_step step = slc_cms_fragment_next(&w->view, at, &fragment);
        if (step == SLC_CMS_STEP_END) {
            break;
        }
        found++;
        if (fragment.damaged) {
            note_event(w, at);
            told = true;
        }
        const slc_status status = step == SLC_CMS_STEP_FRAGMENT ? take(w, &fragment) : SLC_OK;
        if (status != SLC_OK) {
            return status;
        }
    }
    if (!told && found != slc_load_u32(w->view.bytes)) {
        note_event(w, 0);
    }
    return SLC_OK;
}

/* Where the next fragment of an event begins stands in this one, which lies some kB before it: who goes
 * through a batch that another core has read waits for memory at each. So a first look goes through many
 * events in turns, and asks for what comes next in each; damaged sizes end it. */
static void ask_for_heads(const slc_batch *batch)
{
    enum { EVENTS = 32 };
    for (uint32_t first = 0; first < batch->n_events && batch->bytes != NULL; first += EVENTS) {
        size_t at[EVENTS];
        const uint32_t left = batch->n_events - first, n = left < EVENTS ? left : EVENTS;
        for (uint32_t i = 0; i < n; i++) {
            at[i] = SLC_CMS_EVENT_HEAD;
            __builtin_prefetch(batch->bytes + batch->offset[first + i]);
        }
        for (uint32_t going = n; going > 0;) {
            going = 0;
            for (uint32_t i = 0; i < n; i++) {
                const size_t length = batch->length[first + i];
                if (at[i] + SLC_CMS_FRAGMENT_HEAD > length) {
                    continue;
                }
                const uint8_t *event = batch->bytes + batch->offset[first + i];
                at[i] += SLC_CMS_FRAGMENT_HEAD + slc_load_u32(event + at[i] + 4);
                if (at[i] < length) { /* the end of this one, with its trailer, and the next one's header */
                    __builtin_prefetch(event + at[i] - SLC_CMS_FRAGMENT_WORD);
                    __builtin_prefetch(event + at[i] + SLC_CMS_FRAGMENT_HEAD);
                    going++;
                }
            }
        }
    }
}

void slc_cms_decode_bound(const slc_batch *batch, size_t *fragments, size_t *digis)
{
    *fragments = 0;
    *digis = 0;
    ask_for_heads(batch);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        const slc_cms_view view = view_of(batch, e);
        slc_cms_fragment fragment;
        for (size_t at = SLC_CMS_EVENT_HEAD; can_walk(&view); at = fragment.end) {
            const slc_cms_step step = slc_cms_fragment_next(&view, at, &fragment);
            if (step == SLC_CMS_STEP_END) {
                break;
            }
            if (step == SLC_CMS_STEP_FRAGMENT) {
                *fragments += 1;
                *digis += (fragment.end - fragment.begin - SLC_CMS_FRAGMENT_LEAST) / 4;
            }
        }
    }
}

slc_status slc_cms_index_run(const slc_batch *batch, slc_cms_fragments *fragments, slc_faults *faults)
{
    slc_columns_reset(fragments);
    if (fragments->head.block == NULL || fragments->head.event_capacity < batch->n_events) {
        return SLC_ERR_CAPACITY;
    }
    for (uint32_t e = 0; e < batch->n_events; e++) {
        walk w = {view_of(batch, e), batch->first_event + e, faults, fragments, 0, 0};
        const slc_status status = walk_event(&w);
        if (status != SLC_OK) {
            return status;
        }
        slc_columns_end_event(fragments);
    }
    return SLC_OK;
}

void slc_cms_count_fragments(const slc_batch *batch, uint64_t *fragments, uint64_t *words, slc_faults *faults)
{
    *fragments = 0;
    *words = 0;
    for (uint32_t e = 0; e < batch->n_events; e++) {
        walk w = {view_of(batch, e), batch->first_event + e, faults, NULL, 0, 0};
        (void)walk_event(&w); /* without a collection there is always room */
        *fragments += w.n_fragments;
        *words += w.n_words;
    }
}

/* ---- which event it is --------------------------------------------------------------------------- */

/* What a header says of its event: number of the trigger above the bunch crossing. */
static uint64_t identity_of(const uint8_t *header)
{
    const uint64_t number = slc_load_u32(header + 4) & 0xffffffU;
    return number << 12 | slc_load_u32(header) >> 20;
}

/* Goes over the sound fragments: the one that more than half have is among `leading`'s in the end (Boyer and
 * Moore); or counts them, and those that have another. */
typedef struct ballot {
    uint64_t leading;
    uint32_t ahead, fragments, others;
} ballot;

static void vote(const slc_batch *batch, uint32_t event, bool counts, ballot *b)
{
    const slc_cms_view view = view_of(batch, event);
    slc_cms_fragment fragment;
    for (size_t at = SLC_CMS_EVENT_HEAD; can_walk(&view); at = fragment.end) {
        const slc_cms_step step = slc_cms_fragment_next(&view, at, &fragment);
        if (step == SLC_CMS_STEP_END) {
            break;
        }
        if (step != SLC_CMS_STEP_FRAGMENT || behind_headers(view.bytes, &fragment) == 0) {
            continue;
        }
        const uint64_t identity = identity_of(view.bytes + fragment.begin);
        if (counts) {
            b->fragments++;
            b->others += identity != b->leading;
        } else {
            const bool leads = b->ahead == 0 || identity == b->leading;
            b->leading = leads ? identity : b->leading;
            b->ahead += leads ? 1 : UINT32_MAX;
            b->fragments++;
        }
    }
}

slc_status slc_cms_identify(const slc_batch *batch, slc_cms_events *events)
{
    slc_columns_reset(events);
    if (events->head.capacity < batch->n_events || events->head.event_capacity < batch->n_events) {
        return SLC_ERR_CAPACITY;
    }
    for (uint32_t e = 0; e < batch->n_events; e++) {
        ballot b = {.leading = 0};
        vote(batch, e, false, &b);
        if (b.ahead < b.fragments) { /* not all of them */
            b.fragments = 0;
            vote(batch, e, true, &b);
        }
        const size_t row = events->head.size++;
        events->level1_id[row] = (uint32_t)(b.leading >> 12);
        events->bunch_crossing[row] = (uint16_t)(b.leading & 0xfff);
        events->fragments[row] = (uint16_t)b.fragments;
        events->others[row] = (uint16_t)b.others;
        slc_columns_end_event(events);
    }
    return SLC_OK;
}
