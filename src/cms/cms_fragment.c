/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk over fragments. Where the next one begins stands in the size of this one alone, so a flipped bit
 * of a size would lose the rest of the event. Headers and trailers say it again: a header repeats the id, a
 * trailer the length. So a size is held against them, and where it is wrong the next place is looked for at
 * which id, size and header agree. Neighbours of a damaged fragment may be damaged as well: so a size that
 * leads to what is a fragment but for one damage is believed, or the walk would not see that one.
 */
#include "cms/cms_fragment.h"

#include "base/bytes.h"

bool slc_cms_word_is_header(const uint8_t *bytes)
{
    return bytes[7] >> 4 == 5;
}

bool slc_cms_word_is_trailer(const uint8_t *bytes)
{
    return bytes[7] >> 4 == 10;
}

uint32_t slc_cms_header_source(const uint8_t *bytes)
{
    return slc_load_u32(bytes) >> 8 & 0xfffU;
}

uint32_t slc_cms_trailer_length(const uint8_t *bytes)
{
    return slc_load_u32(bytes + 4) & 0xffffffU;
}

/* ---- what begins here -------------------------------------------------------------------------- */

static bool id_known(uint32_t fed)
{
    return fed - SLC_CMS_FED_FIRST < SLC_CMS_FEDS;
}

static bool size_possible(uint64_t size)
{
    return size % SLC_CMS_FRAGMENT_WORD == 0 && size >= SLC_CMS_FRAGMENT_LEAST;
}

bool slc_cms_fragment_begins(const uint8_t *bytes, size_t size)
{
    if (size < SLC_CMS_FRAGMENT_START) {
        return false;
    }
    const uint32_t fed = slc_load_u32(bytes);
    return id_known(fed) && size_possible(slc_load_u32(bytes + 4)) &&
           slc_cms_word_is_header(bytes + SLC_CMS_FRAGMENT_HEAD) &&
           slc_cms_header_source(bytes + SLC_CMS_FRAGMENT_HEAD) == fed;
}

/* A header behind it says that it is not empty, but its size is wrong. */
bool slc_cms_fragment_is_empty(const uint8_t *bytes, size_t size)
{
    if (size < SLC_CMS_FRAGMENT_HEAD) {
        return false;
    }
    const uint32_t fed = slc_load_u32(bytes);
    if (!id_known(fed) || slc_load_u32(bytes + 4) != 0) {
        return false;
    }
    return size < SLC_CMS_FRAGMENT_START || !slc_cms_word_is_header(bytes + SLC_CMS_FRAGMENT_HEAD) ||
           slc_cms_header_source(bytes + SLC_CMS_FRAGMENT_HEAD) != fed;
}

bool slc_cms_fragments_begin(const uint8_t *bytes, size_t size, uint32_t most)
{
    size_t at = 0;
    uint32_t n = 0;
    while (n < SLC_CMS_FEDS && n < most && slc_cms_fragment_is_empty(bytes + at, size - at)) {
        at += SLC_CMS_FRAGMENT_HEAD;
        n++;
    }
    return n < most && slc_cms_fragment_begins(bytes + at, size - at);
}

bool slc_cms_event_begins(const uint8_t *bytes, size_t size)
{
    if (size < SLC_CMS_EVENT_HEAD + SLC_CMS_FRAGMENT_START) {
        return false;
    }
    const uint32_t n = slc_load_u32(bytes);
    return n <= SLC_CMS_EVENT_FRAGMENTS &&
           slc_cms_fragments_begin(bytes + SLC_CMS_EVENT_HEAD, size - SLC_CMS_EVENT_HEAD, n);
}

/* Whether bytes begin … end are ended by a trailer of this length. */
static bool is_closed(const uint8_t *bytes, size_t begin, size_t end)
{
    const size_t size = end - begin;
    const uint8_t *last = bytes + end - SLC_CMS_FRAGMENT_WORD;
    return size_possible(size) && slc_cms_word_is_trailer(last) &&
           slc_cms_trailer_length(last) == (size / SLC_CMS_FRAGMENT_WORD & 0xffffffU);
}

/* Whether a fragment of the stream, or another event, begins at `at`. The end of a trailer that lost a byte
 * could be a number: where bytes are lost or added, it must be one that detectors have. */
static bool something_begins(const slc_cms_view *view, size_t at)
{
    const uint8_t *bytes = view->bytes + at;
    return slc_cms_fragment_begins(bytes, view->size - at) ||
           (view->stream && slc_cms_event_begins(bytes, view->size - at) &&
            (at % 4 == 0 || slc_load_u32(bytes) <= SLC_CMS_FEDS));
}

/* Whether a fragment with data, or empty ones before it, may begin at `at`, with one damage: two of its id,
 * its size and its header are as they can be. */
static bool fragment_may_begin(const slc_cms_view *view, size_t at)
{
    for (uint32_t n = 0; n < SLC_CMS_FEDS && slc_cms_fragment_is_empty(view->bytes + at, view->size - at);
         n++) {
        at += SLC_CMS_FRAGMENT_HEAD;
    }
    if (view->size - at < SLC_CMS_FRAGMENT_START) {
        return false;
    }
    const uint8_t *bytes = view->bytes + at, *header = bytes + SLC_CMS_FRAGMENT_HEAD;
    const uint32_t size = slc_load_u32(bytes + 4);
    const bool is_id = id_known(slc_load_u32(bytes)), is_size = size_possible(size) && size <= view->limit;
    const bool is_header = slc_cms_word_is_header(header) && id_known(slc_cms_header_source(header));
    return is_id + is_size + is_header >= 2;
}

/* Whether an event may begin at `at`, or ones without fragments before it, or before the end of all. */
static bool event_may_begin(const slc_cms_view *view, size_t at)
{
    const size_t first = at;
    while (at - first < SLC_CMS_HOLE && view->size - at >= SLC_CMS_EVENT_HEAD &&
           slc_load_u32(view->bytes + at) == 0) {
        at += SLC_CMS_EVENT_HEAD;
    }
    if (view->size - at < SLC_CMS_EVENT_HEAD) {
        return at == view->size;
    }
    return slc_load_u32(view->bytes + at) <= SLC_CMS_EVENT_FRAGMENTS &&
           fragment_may_begin(view, at + SLC_CMS_EVENT_HEAD);
}

/* ---- the step ---------------------------------------------------------------------------------- */

static size_t pace_of(const slc_cms_view *view)
{
    return view->stream ? 1 : 4;
}

/* The end of the bytes, or the first place behind `at` where something begins. */
static slc_cms_step find_end(const slc_cms_view *view, size_t at, slc_cms_fragment *fragment)
{
    enum { AHEAD = 1 << 16 };
    const size_t limit = view->size < view->limit ? view->size : view->limit;
    const size_t pace = pace_of(view);
    /* What is found may not depend on how much is seen. */
    const size_t start = view->whole ? SLC_CMS_FRAGMENT_START : SLC_CMS_EVENT_START;
    for (at += pace; at + SLC_CMS_FRAGMENT_START <= limit && at + start <= view->size; at += pace) {
        if (something_begins(view, at)) {
            fragment->end = at;
            return SLC_CMS_STEP_FRAGMENT;
        }
    }
    if (at + SLC_CMS_FRAGMENT_START > view->limit && view->stream) {
        return SLC_CMS_STEP_LARGE;
    }
    if (!view->whole) {
        fragment->want = 2 * view->size + AHEAD;
        return SLC_CMS_STEP_MORE;
    }
    fragment->end = view->size;
    return SLC_CMS_STEP_FRAGMENT;
}

/* Whether the size of the fragment at `at` is believed though header or trailer do not say the same: nothing
 * begins before the place to which it leads, and something may begin there. */
static bool leads_on(const slc_cms_view *view, size_t at, size_t told)
{
    const size_t pace = pace_of(view);
    /* A trailer that has lost its marker alone leaves its length: before a fragment that looks like an event.
     */
    const uint8_t *last = view->bytes + told - SLC_CMS_FRAGMENT_WORD;
    const size_t words = (told - at - SLC_CMS_FRAGMENT_HEAD) / SLC_CMS_FRAGMENT_WORD;
    const bool has_length = slc_cms_trailer_length(last) == (words & 0xffffffU);
    const size_t until = has_length ? told - SLC_CMS_EVENT_HEAD : told;
    for (size_t place = at + pace; place < until; place += pace) {
        if (something_begins(view, place)) {
            return false;
        }
    }
    return fragment_may_begin(view, told) || (view->stream && event_may_begin(view, told));
}

/* By the place where the next one begins, or the empty ones before that. `told`: where its size leads, 0
 * where that cannot be. */
static slc_cms_step by_next(const slc_cms_view *view, size_t at, size_t told, slc_cms_fragment *fragment)
{
    const slc_cms_step step = find_end(view, at, fragment);
    if (step != SLC_CMS_STEP_FRAGMENT) {
        return step;
    }
    while (fragment->end >= fragment->begin + SLC_CMS_FRAGMENT_HEAD &&
           slc_cms_fragment_is_empty(view->bytes + fragment->end - SLC_CMS_FRAGMENT_HEAD,
                                     SLC_CMS_FRAGMENT_HEAD)) {
        fragment->end -= SLC_CMS_FRAGMENT_HEAD;
    }
    if (fragment->end == told) {
        return step;
    }
    fragment->damaged = true;
    return fragment->end >= fragment->begin + SLC_CMS_FRAGMENT_LEAST &&
                   is_closed(view->bytes, fragment->begin, fragment->end)
               ? SLC_CMS_STEP_FRAGMENT
               : SLC_CMS_STEP_LOST;
}

static slc_cms_step more(slc_cms_fragment *fragment, size_t want)
{
    fragment->want = want;
    return SLC_CMS_STEP_MORE;
}

/* Whether header and trailer are those of this id and size. */
static bool is_sound(const slc_cms_view *view, const slc_cms_fragment *fragment, size_t end)
{
    const uint8_t *header = view->bytes + fragment->begin;
    return slc_cms_word_is_header(header) && slc_cms_header_source(header) == fragment->fed &&
           is_closed(view->bytes, fragment->begin, end);
}

slc_cms_step slc_cms_fragment_next(const slc_cms_view *view, size_t at, slc_cms_fragment *fragment)
{
    const size_t left = view->size - at;
    *fragment = (slc_cms_fragment){.begin = at, .end = view->size};
    if (left < SLC_CMS_FRAGMENT_HEAD) {
        if (!view->whole) {
            return more(fragment, at + SLC_CMS_FRAGMENT_HEAD);
        }
        fragment->damaged = left > 0;
        return left > 0 ? SLC_CMS_STEP_LOST : SLC_CMS_STEP_END;
    }
    fragment->fed = slc_load_u32(view->bytes + at);
    fragment->begin = at + SLC_CMS_FRAGMENT_HEAD;
    const size_t size = slc_load_u32(view->bytes + at + 4);
    size_t told = 0;
    if (size == 0 && left < SLC_CMS_FRAGMENT_START && !view->whole) {
        return more(fragment, at + SLC_CMS_FRAGMENT_START);
    }
    if (slc_cms_fragment_is_empty(view->bytes + at, left)) {
        fragment->end = fragment->begin;
        return SLC_CMS_STEP_EMPTY;
    }
    /* No overflow: the limit is an event's. */
    if (size_possible(size) && fragment->begin + size <= view->limit) {
        told = fragment->begin + size;
        if (told > view->size && !view->whole) {
            return more(fragment, told);
        }
        if (told <= view->size && is_sound(view, fragment, told)) {
            fragment->end = told;
            return SLC_CMS_STEP_FRAGMENT;
        }
    }
    if (view->stream) {
        if (left < SLC_CMS_EVENT_START && !view->whole) {
            return more(fragment, at + SLC_CMS_EVENT_START);
        }
        if (slc_cms_event_begins(view->bytes + at, view->size - at)) {
            return SLC_CMS_STEP_END;
        }
        if (told > 0 && !view->whole && view->size - told < SLC_CMS_HOLE + SLC_CMS_EVENT_START) {
            return more(fragment, told + SLC_CMS_HOLE + SLC_CMS_EVENT_START);
        }
    }
    if (told > 0 && told <= view->size && leads_on(view, at, told)) {
        fragment->end = told;
        return SLC_CMS_STEP_FRAGMENT;
    }
    return by_next(view, at, told, fragment);
}
