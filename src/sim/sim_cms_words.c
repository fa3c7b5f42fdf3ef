/* SPDX-License-Identifier: Apache-2.0
 *
 * Pixels to CMS's raw data: words in the order of the read-out, some sent twice, some made wrong, fragments
 * with headers and trailers, of which some are damaged; and what a right decoder makes of it. The layout is
 * told in docs/formats/cms-raw.md, and so is what the decoder has to say about damage.
 */
#include "base/bytes.h"
#include "sim/sim_cms_event.h"

#include <stdlib.h>

enum {
    CHIPS = SLC_CMS_ROCS,
    FEDS = SLC_CMS_FEDS,
    LINKS = SLC_CMS_LINKS,
    LINK_SHIFT = 26,
    CHIP_SHIFT = 21,
    FIRST_ERROR = 25 /* chip numbers from here on are error words */
};

/* ---- the order of the read-out -------------------------------------------------------------------- */

/* Where fragments stand in the event, and links in their fragment. */
typedef struct readout {
    uint8_t fed_at[FEDS], fed_rank[FEDS]; /* which FED comes k-th; the inverse */
    uint8_t link_rank[FEDS][LINKS];
} readout;

static void permute(sim_random *random, bool shuffled, uint8_t *at, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        at[i] = (uint8_t)i;
    }
    for (uint32_t i = n; shuffled && i > 1; i--) {
        const uint32_t j = (uint32_t)(random_uniform(random) * i);
        const uint8_t kept = at[i - 1];
        at[i - 1] = at[j];
        at[j] = kept;
    }
}

static void draw_readout(slc_sim_cms *sim, readout *order)
{
    permute(&sim->random, sim->config.shuffled, order->fed_at, FEDS);
    for (uint32_t i = 0; i < FEDS; i++) {
        order->fed_rank[order->fed_at[i]] = (uint8_t)i;
        permute(&sim->random, sim->config.shuffled, order->link_rank[i], LINKS);
    }
}

/* Layer 1 sends column and row; the others number pixels down one column of a double column and up the other.
 */
static uint32_t address_bits(bool layer1, uint32_t row, uint32_t column)
{
    return layer1 ? column << 15 | row << 8 : column / 2 << 16 | ((80 - row) * 2 + column % 2) << 8;
}

static uint32_t word_of(const slc_sim_cms *sim, const sim_cms_pixel *p, sim_cms_place *place)
{
    uint32_t row, column;
    const uint32_t roc = slc_sim_cms_to_chip(p->module, p->x, p->y, &row, &column);
    *place = sim->places[p->module * CHIPS + roc];
    return (uint32_t)place->link << LINK_SHIFT | (uint32_t)place->chip << CHIP_SHIFT |
           address_bits(p->module < SLC_CMS_LAYER1_END, row, column) | p->adc;
}

static int by_order(const void *first, const void *second)
{
    const sim_cms_word *a = first, *b = second;
    return (a->order > b->order) - (a->order < b->order);
}

/* All pixels as words: by fragment, link, chip and place, so that no two are equal. */
static void order_words(slc_sim_cms *sim, const readout *order)
{
    const sim_cms_pixel *pixels = sim->pixels.rows;
    const size_t n = sim->pixels.size;
    sim->ordered.size = 0;
    sim_cms_word *words = slc_sim_list_append(&sim->ordered, n, sizeof *words, &sim->failed);
    for (size_t i = 0; i < n && words != NULL; i++) {
        sim_cms_place place;
        const uint32_t bits = word_of(sim, &pixels[i], &place);
        const uint64_t fed = order->fed_rank[place.fed], link = order->link_rank[place.fed][place.link - 1];
        words[i] = (sim_cms_word){.order = fed << 40 | link << 32 | (bits & ((1U << LINK_SHIFT) - 1)),
                                  .bits = bits,
                                  .pixel = pixels[i],
                                  .fed = place.fed,
                                  .kind = place.bad != 0 ? SIM_CMS_BAD : SIM_CMS_DIGI};
    }
    if (words != NULL && n > 1) {
        qsort(words, n, sizeof *words, by_order);
    }
}

/* ---- words that are wrong -------------------------------------------------------------------------- */

/* What is done to a word, in turn. Seven error words of the hardware come first: chips 25 … 31. */
enum { ERROR_WORDS = 7, PKAM = ERROR_WORDS, CHANNEL, ROC_ID, PIXEL, ORDER, EMPTY, DAMAGES };

static uint32_t below(slc_sim_cms *sim, uint32_t n)
{
    return (uint32_t)(random_uniform(&sim->random) * n);
}

static sim_cms_word *emit(slc_sim_cms *sim, const sim_cms_word *word)
{
    sim_cms_word *row = slc_sim_list_append(&sim->words, 1, sizeof *row, &sim->failed);
    if (row != NULL) {
        *row = *word;
    }
    return row;
}

static void emit_fault(slc_sim_cms *sim, const sim_cms_word *like, uint32_t bits, slc_fault_code code)
{
    sim_cms_word word = *like;
    word.bits = bits;
    word.kind = SIM_CMS_FAULT;
    word.code = (uint16_t)(code & 0xff);
    (void)emit(sim, &word);
}

/* An error word of the word's link. With bits 11 … 8 = 1, number 30 has another meaning. */
static void emit_error(slc_sim_cms *sim, const sim_cms_word *like, uint32_t damage)
{
    static const slc_fault_code codes[ERROR_WORDS + 1] = {
        SLC_FAULT_CMS_ROC_INVALID, SLC_FAULT_CMS_GAP,         SLC_FAULT_CMS_DUMMY,        SLC_FAULT_CMS_FIFO,
        SLC_FAULT_CMS_TIMEOUT,     SLC_FAULT_CMS_TBM_TRAILER, SLC_FAULT_CMS_EVENT_NUMBER, SLC_FAULT_CMS_PKAM};
    uint32_t low = below(sim, 1U << CHIP_SHIFT) & ~0xf00U;
    low |= damage == PKAM ? 0x100U : 0x200U;
    const uint32_t chip = damage == PKAM ? FIRST_ERROR + 5 : FIRST_ERROR + damage;
    emit_fault(sim, like, like->bits >> LINK_SHIFT << LINK_SHIFT | chip << CHIP_SHIFT | low, codes[damage]);
}

/* A link that is none, or that nothing is connected to. */
static uint32_t wrong_link(slc_sim_cms *sim, uint32_t fed)
{
    const uint32_t link = below(sim, 64);
    const bool connected = link >= 1 && link <= LINKS && sim->link_chips[fed * LINKS + link - 1] > 0;
    return connected ? LINKS + 1 + link % 15 : link;
}

/* A chip that the link does not have: 0, or above its own and below the error words. */
static uint32_t wrong_chip(slc_sim_cms *sim, const sim_cms_word *word)
{
    const uint32_t chips = sim->link_chips[word->fed * LINKS + (word->bits >> LINK_SHIFT) - 1];
    const uint32_t chip = below(sim, FIRST_ERROR - chips);
    return chip == 0 ? 0 : chips + chip;
}

/* The word with a pixel that its chip does not have. */
static uint32_t wrong_pixel(slc_sim_cms *sim, const sim_cms_word *word)
{
    const bool row = below(sim, 2) != 0;
    if (word->pixel.module < SLC_CMS_LAYER1_END) {
        return row ? (word->bits & ~(127U << 8)) | (80 + below(sim, 48)) << 8
                   : (word->bits & ~(63U << 15)) | (52 + below(sim, 12)) << 15;
    }
    const uint32_t pixel = below(sim, 96);
    return row ? (word->bits & ~(255U << 8)) | (pixel < 2 ? pixel : 160 + pixel) << 8
               : (word->bits & ~(31U << 16)) | (26 + below(sim, 6)) << 16;
}

/* Any pixel of the chip before, after this word: chips of a link are then out of order. */
static void emit_earlier(slc_sim_cms *sim, const sim_cms_word *word)
{
    uint32_t row, column;
    sim_cms_word earlier = *word;
    const uint32_t wanted =
        slc_sim_cms_to_chip(word->pixel.module, word->pixel.x, word->pixel.y, &row, &column) - 1;
    do { /* one of 16 chips is the right one */
        earlier.pixel.x = (uint8_t)below(sim, SLC_CMS_ROWS);
        earlier.pixel.y = (uint16_t)below(sim, SLC_CMS_COLUMNS);
    } while (slc_sim_cms_to_chip(word->pixel.module, earlier.pixel.x, earlier.pixel.y, &row, &column) !=
             wanted);
    earlier.pixel.adc = (uint8_t)below(sim, 256);
    sim_cms_place place;
    earlier.bits = word_of(sim, &earlier.pixel, &place);
    earlier.kind = place.bad != 0 ? SIM_CMS_BAD : SIM_CMS_DIGI;
    (void)emit(sim, &earlier);
}

/* Writes the word, or what it becomes. False: this damage cannot be done to this word, and waits for another.
 */
static bool emit_damaged(slc_sim_cms *sim, const sim_cms_word *word, uint32_t damage)
{
    const uint32_t chip = word->bits >> CHIP_SHIFT & 31U, rest = word->bits & ((1U << CHIP_SHIFT) - 1);
    const uint32_t link = word->bits >> LINK_SHIFT;
    if ((damage == PIXEL && word->kind != SIM_CMS_DIGI) || (damage == ORDER && chip == 1)) {
        (void)emit(sim, word);
        return false;
    }
    if (damage == CHANNEL) {
        emit_fault(sim, word, wrong_link(sim, word->fed) << LINK_SHIFT | chip << CHIP_SHIFT | rest,
                   SLC_FAULT_CMS_CHANNEL);
    } else if (damage == ROC_ID) {
        emit_fault(sim, word, link << LINK_SHIFT | wrong_chip(sim, word) << CHIP_SHIFT | rest,
                   SLC_FAULT_CMS_ROC_ID);
    } else if (damage == PIXEL) {
        emit_fault(sim, word, wrong_pixel(sim, word), SLC_FAULT_CMS_PIXEL);
    } else {
        (void)emit(sim, word);
        if (damage <= PKAM) {
            emit_error(sim, word, damage);
        } else if (damage == ORDER) {
            emit_earlier(sim, word);
        } else {
            const sim_cms_word empty = {.fed = word->fed, .kind = SIM_CMS_EMPTY};
            (void)emit(sim, &empty);
        }
    }
    return true;
}

static void send_words(slc_sim_cms *sim)
{
    const sim_cms_word *words = sim->ordered.rows;
    uint32_t damage = below(sim, DAMAGES);
    sim->words.size = 0;
    for (size_t i = 0; i < sim->ordered.size && !sim->failed; i++) {
        if (sim->config.corrupt > 0 && random_uniform(&sim->random) < (double)sim->config.corrupt) {
            damage = (damage + emit_damaged(sim, &words[i], damage)) % DAMAGES;
        } else {
            (void)emit(sim, &words[i]);
        }
        if (sim->config.duplicates > 0 && random_uniform(&sim->random) < (double)sim->config.duplicates) {
            sim_cms_word again = words[i];
            again.pixel.adc = (uint8_t)below(sim, 256);
            again.bits = (again.bits & ~255U) | again.pixel.adc;
            (void)emit(sim, &again);
        }
    }
}

/* ---- fragments ------------------------------------------------------------------------------------ */

/* What is done to a fragment. After a damaged one comes a sound one, so that where it ends can be seen. */
typedef enum harm {
    SOUND = -1,
    NO_HEADER,
    OTHER_SOURCE,
    NO_TRAILER,
    WRONG_LENGTH,
    WRONG_CRC,
    FOREIGN, /* an id that is none of this detector's */
    HARMS
} harm;

static void put_u32(slc_sim_cms *sim, uint32_t value)
{
    uint8_t *at = slc_sim_list_append(&sim->bytes, 4, 1, &sim->failed);
    if (at != NULL) {
        slc_store_u32(at, value);
    }
}

static void put_headers(slc_sim_cms *sim, uint64_t event, uint32_t id, uint32_t n, harm how)
{
    const uint32_t source = how == OTHER_SOURCE ? id ^ 1U : id;
    for (uint32_t i = 0; i < n; i++) {
        put_u32(sim, (uint32_t)(event % 3564) << 20 | source << 8 | (i + 1 < n ? 8U : 0U));
        put_u32(sim, (how == NO_HEADER ? 0x4U : 0x5U) << 28 | ((uint32_t)event & 0xffffffU));
    }
}

static void put_trailers(slc_sim_cms *sim, uint32_t words64, uint32_t n, harm how)
{
    const uint32_t length = how == WRONG_LENGTH ? words64 + 1 : words64;
    for (uint32_t i = 0; i < n; i++) {
        put_u32(sim, (i > 0 ? 8U : 0U) | (how == WRONG_CRC ? 4U : 0U));
        put_u32(sim, (how == NO_TRAILER ? 0xbU : 0xaU) << 28 | length);
    }
}

/* The fault of a fragment whose id stands at byte `begin`. True: it is dropped. */
static bool judge(slc_sim_cms *sim, uint64_t event, uint32_t id, size_t begin, harm how)
{
    const size_t header = begin + 8, trailer = sim->bytes.size - 8;
    if (how == NO_HEADER || how == OTHER_SOURCE || how == FOREIGN) {
        slc_faults_add(&sim->faults, SLC_FAULT_CMS_HEADER, event, (int32_t)id, header);
    } else if (how == NO_TRAILER) {
        slc_faults_add(&sim->faults, SLC_FAULT_CMS_TRAILER, event, (int32_t)id, trailer);
    } else if (how == WRONG_LENGTH) {
        slc_faults_add(&sim->faults, SLC_FAULT_CMS_LENGTH, event, (int32_t)id, trailer);
    } else if (how == WRONG_CRC) {
        slc_faults_add(&sim->faults, SLC_FAULT_CMS_CRC, event, (int32_t)id, trailer);
    }
    return how != SOUND && how != WRONG_LENGTH && how != WRONG_CRC;
}

/* Words first … end - 1 as the fragment of a FED. Some FEDs send two headers or trailers. */
static void put_fragment(slc_sim_cms *sim, uint64_t event, uint32_t fed, size_t first, size_t end, harm how)
{
    sim_cms_word *words = sim->words.rows;
    const size_t begin = sim->bytes.size;
    const uint32_t id = how == FOREIGN ? SLC_CMS_FED_FIRST + FEDS + fed : SLC_CMS_FED_FIRST + fed;
    const uint32_t headers = fed % 50 == 7 ? 2 : 1, trailers = fed % 50 == 11 ? 2 : 1;
    const uint32_t words64 = headers + trailers + (uint32_t)(end - first + 1) / 2;
    put_u32(sim, id);
    put_u32(sim, 8 * words64);
    put_headers(sim, event, id, headers, how);
    for (size_t i = first; i < end; i++) {
        words[i].offset = (uint32_t)sim->bytes.size;
        put_u32(sim, words[i].bits);
    }
    if ((end - first) % 2 != 0) {
        put_u32(sim, 0);
    }
    put_trailers(sim, words64, trailers, how);
    if (!sim->failed) {
        sim->dropped[fed] = judge(sim, event, id, begin, how);
    }
}

/* The event ends inside its last fragment, which stands at `begin`: an odd number of its bytes is left. */
static void cut_short(slc_sim_cms *sim, uint64_t event, uint32_t fed, size_t begin)
{
    const uint32_t size = (uint32_t)(sim->bytes.size - begin - 8);
    sim->bytes.size = begin + 8 + (below(sim, size / 2) * 2 + 1);
    sim->dropped[fed] = true;
    slc_faults_add(&sim->faults, SLC_FAULT_CMS_EVENT, event, -1, begin);
}

void slc_sim_cms_words(slc_sim_cms *sim, uint64_t event)
{
    readout order;
    draw_readout(sim, &order);
    order_words(sim, &order);
    send_words(sim);
    slc_faults_reset(&sim->faults);
    sim->bytes.size = 0;
    put_u32(sim, FEDS);
    const sim_cms_word *words = sim->words.rows;
    const double corrupt = (double)sim->config.corrupt;
    harm before = SOUND;
    uint32_t turn = below(sim, HARMS);
    size_t first = 0, begin = 0;
    for (uint32_t i = 0; i < FEDS && !sim->failed; i++) {
        const uint32_t fed = order.fed_at[i];
        size_t end = first;
        while (end < sim->words.size && words[end].fed == fed) {
            end++;
        }
        harm how = SOUND;
        if (corrupt > 0 && before == SOUND && i + 1 < FEDS && random_uniform(&sim->random) < corrupt) {
            how = (harm)(turn++ % HARMS);
        }
        begin = sim->bytes.size;
        put_fragment(sim, event, fed, first, end, how);
        before = how;
        first = end;
    }
    if (!sim->failed && before == SOUND && corrupt > 0 && random_uniform(&sim->random) < corrupt &&
        !sim->config.whole) {
        cut_short(sim, event, order.fed_at[FEDS - 1], begin);
    }
}

/* ---- what a right decoder makes of it ------------------------------------------------------------- */

/* The data word directly before in the fragment is of a higher chip of the same link. */
static bool out_of_order(const sim_cms_word *word, const sim_cms_word *before)
{
    const uint32_t chip = before->bits >> CHIP_SHIFT & 31U;
    return before->bits != 0 && before->bits >> LINK_SHIFT == word->bits >> LINK_SHIFT && chip >= 1 &&
           chip <= SLC_CMS_LINK_ROCS && chip > (word->bits >> CHIP_SHIFT & 31U);
}

static bool is_digi(const slc_sim_cms *sim, const sim_cms_word *word)
{
    return word->kind == SIM_CMS_DIGI && !sim->dropped[word->fed];
}

static void put_digi(slc_cms_digis *digis, size_t row, const sim_cms_pixel *p)
{
    digis->cluster[row] = SLC_CMS_NO_CLUSTER;
    digis->packed[row] = p->x | (uint32_t)p->y << 11 | (uint32_t)p->adc << 22;
    digis->raw_id[row] = slc_sim_cms_raw_id(p->module);
    digis->adc[row] = p->adc;
    digis->x[row] = p->x;
    digis->y[row] = p->y;
    digis->module[row] = p->module;
}

void slc_sim_cms_fill_digis(slc_sim_cms *sim, uint64_t event, slc_sim_cms_truth *truth)
{
    const sim_cms_word *words = sim->words.rows;
    const size_t n = sim->words.size;
    size_t at[SLC_CMS_MODULES_PHASE1 + 1] = {0};
    slc_cms_digis *digis = &truth->digis;
    slc_faults_merge(&truth->faults, &sim->faults);
    for (size_t i = 0; i < n; i++) {
        at[words[i].pixel.module + 1] += is_digi(sim, &words[i]);
        const int32_t fed = SLC_CMS_FED_FIRST + words[i].fed;
        if (words[i].kind == SIM_CMS_FAULT && !sim->dropped[words[i].fed]) {
            slc_faults_add(&truth->faults, SLC_FAULT_OF_CMS(words[i].code), event, fed, words[i].offset);
        } else if (is_digi(sim, &words[i]) && i > 0 && words[i - 1].fed == words[i].fed &&
                   out_of_order(&words[i], &words[i - 1])) {
            slc_faults_add(&truth->faults, SLC_FAULT_CMS_ORDER, event, fed, words[i].offset);
        }
    }
    at[0] = digis->head.size;
    for (uint32_t m = 0; m < SLC_CMS_MODULES_PHASE1; m++) {
        at[m + 1] += at[m];
    }
    digis->head.size = at[SLC_CMS_MODULES_PHASE1];
    for (size_t i = 0; i < n; i++) {
        if (is_digi(sim, &words[i])) {
            put_digi(digis, at[words[i].pixel.module]++, &words[i].pixel);
        }
    }
    slc_columns_end_event(digis);
}
