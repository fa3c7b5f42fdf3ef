/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults: every one is counted, the first ones are kept, and merging is as if they had been added in that
 * order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sluice/sluice.h>

#include <string.h>

enum { CODES = 7 };
static slc_fault_code code_of(uint32_t i)
{
    return SLC_FAULT_CODE('a', 'z', i % 2 == 0 ? 'b' : 'a', 1 + i % CODES);
}

static void test_all_are_counted_and_the_first_kept(void **state)
{
    (void)state;
    slc_faults faults = {0};
    const uint32_t n = 3 * SLC_FAULTS_KEPT;
    for (uint32_t i = 0; i < n; i++) {
        slc_faults_add(&faults, SLC_FAULT_CODE('t', 's', 't', 1 + i % CODES), i, (int32_t)i - 5, 100ULL * i);
    }
    assert_int_equal(slc_faults_total(&faults), n);
    assert_int_equal(faults.n_kept, SLC_FAULTS_KEPT);
    for (uint32_t i = 0; i < faults.n_kept; i++) {
        assert_int_equal(faults.kept[i].event, i);
        assert_int_equal(faults.kept[i].module, (int32_t)i - 5);
        assert_int_equal(faults.kept[i].offset, 100ULL * i);
        assert_int_equal(faults.kept[i].code, SLC_FAULT_CODE('t', 's', 't', 1 + i % CODES));
    }
    assert_int_equal(faults.n_kinds, CODES);
    for (uint32_t k = 0; k < CODES; k++) {
        assert_int_equal(slc_faults_of(&faults, SLC_FAULT_CODE('t', 's', 't', 1 + k)),
                         n / CODES + (k < n % CODES));
    }
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_CODE('t', 's', 't', 1 + CODES)), 0);
    slc_faults_reset(&faults);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_int_equal(faults.n_kept, 0);
}

/* Events before the first and after the last counter are counted as ever, and elsewhere. */
static void test_faults_of_events(void **state)
{
    (void)state;
    uint32_t of_event[7] = {0};
    slc_faults faults = {.of_event = of_event + 1, .first_event = 100, .n_events = 5}, others = {0};
    for (uint64_t e = 95; e < 115; e++) {
        for (uint64_t n = 0; n < e - 90; n++) {
            slc_faults_add(&faults, code_of((uint32_t)n), e, 0, n);
        }
    }
    slc_faults_count(&faults, code_of(0), 1000); /* of no event */
    slc_faults_add(&others, code_of(0), 100, 0, 0);
    slc_faults_merge(&faults, &others); /* which had been counted, or not */
    assert_int_equal(of_event[0], 0);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(of_event[1 + i], 10 + i);
    }
    assert_int_equal(of_event[6], 0);
    slc_faults_reset(&faults);
    slc_faults_add(&faults, code_of(0), 100, 0, 0);
    assert_int_equal(of_event[1], 10);
}

/* Adding to one record, and adding to two that are merged, must be the same for every place of the cut. */
static void test_merge_is_adding_in_order(void **state)
{
    (void)state;
    const uint32_t n = SLC_FAULTS_KEPT + 20;
    slc_faults whole = {0};
    for (uint32_t i = 0; i < n; i++) {
        slc_faults_add(&whole, code_of(i), i, 1, i);
    }
    for (uint32_t cut = 0; cut <= n; cut++) {
        slc_faults first = {0}, second = {0};
        for (uint32_t i = 0; i < n; i++) {
            slc_faults_add(i < cut ? &first : &second, code_of(i), i, 1, i);
        }
        slc_faults_merge(&first, &second);
        assert_int_equal(first.n_kinds, whole.n_kinds);
        for (uint32_t k = 0; k < whole.n_kinds; k++) {
            assert_int_equal(first.kind[k].code, whole.kind[k].code);
            assert_int_equal(first.kind[k].n, whole.kind[k].n);
            assert_true(k == 0 || first.kind[k].code > first.kind[k - 1].code);
        }
        assert_int_equal(first.n_kept, whole.n_kept);
        for (uint32_t i = 0; i < whole.n_kept; i++) {
            assert_int_equal(first.kept[i].event, whole.kept[i].event);
            assert_int_equal(first.kept[i].code, whole.kept[i].code);
        }
    }
}

static uint64_t first_event_of(const slc_faults *faults, slc_fault_code code)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < faults->n_kept; i++) {
        first = faults->kept[i].code == code && faults->kept[i].event < first ? faults->kept[i].event : first;
    }
    return first;
}

/* Two stages, each over all events of a batch before the other: of every code the earliest place is kept,
 * whatever the batch, also if it comes when there is no room any more. */
static void test_the_earliest_of_a_code_is_kept(void **state)
{
    (void)state;
    enum { EVENTS = 60, LAST = 2 };
    for (uint32_t batch = 1; batch <= EVENTS; batch++) {
        slc_faults all = {0};
        for (uint32_t begin = 0; begin < EVENTS; begin += batch) {
            slc_faults some = {0};
            for (uint32_t stage = 0; stage < 2; stage++) {
                for (uint32_t e = begin; e < begin + batch && e < EVENTS; e++) {
                    for (uint32_t k = 0; k <= LAST;
                         k++) { /* the first stage finds code k from event 2 k on */
                        if (stage == 1 ? k == LAST && e >= 1 : e >= 2 * k) {
                            slc_faults_add(&some, SLC_FAULT_CODE('t', 's', 't', 1 + k), e, 0, stage);
                        }
                    }
                }
            }
            slc_faults_merge(&all, &some);
        }
        assert_int_equal(all.n_kept, SLC_FAULTS_KEPT);
        for (uint32_t k = 0; k <= LAST; k++) {
            assert_int_equal(first_event_of(&all, SLC_FAULT_CODE('t', 's', 't', 1 + k)),
                             k == LAST ? 1 : 2 * k);
        }
    }
}

/* More kinds than there is room for are still counted. */
static void test_no_room(void **state)
{
    (void)state;
    slc_faults faults = {0}, twice = {0};
    for (uint32_t i = 0; i < SLC_FAULTS_KINDS + 3; i++) {
        slc_faults_count(&faults, SLC_FAULT_CODE('t', 's', 't', i + 1), 2);
    }
    assert_int_equal(faults.n_kinds, SLC_FAULTS_KINDS);
    assert_int_equal(faults.n_other, 6);
    assert_int_equal(faults.n_kept, 0);
    slc_faults_count(&faults, SLC_FAULT_CODE('z', 'z', 'z', 1), 0);
    assert_int_equal(slc_faults_total(&faults), 2 * (SLC_FAULTS_KINDS + 3));
    slc_faults_merge(&twice, &faults);
    slc_faults_merge(&twice, &faults);
    assert_int_equal(slc_faults_total(&twice), 4 * (SLC_FAULTS_KINDS + 3));
}

/* JSON output uses the words as keys: they must be there, be words, and differ; of every module. */
static void test_words_are_unique(void **state)
{
    (void)state;
    const struct {
        slc_fault_code first, last;
    } modules[] = {{SLC_FAULT_RECORD_HEADER, SLC_FAULT_PACKET_ERROR},
                   {SLC_FAULT_BANK_MAGIC, SLC_FAULT_BANK_DUPLICATE},
                   {SLC_FAULT_SUPERPIXEL_ADDRESS, SLC_FAULT_EVENT_CROWDED},
                   {SLC_FAULT_CMS_ROC_INVALID, SLC_FAULT_CMS_MODULE_CROWDED},
                   {SLC_FAULT_PET_MODULE, SLC_FAULT_PET_CUT}};
    const char *seen[64];
    size_t n = 0;
    for (size_t m = 0; m < sizeof modules / sizeof *modules; m++) {
        for (slc_fault_code code = modules[m].first; code <= modules[m].last; code++) {
            const char *name = slc_fault_name(code);
            assert_string_not_equal(name, "unknown");
            assert_true(strlen(name) > 0);
            assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
            assert_true(strlen(slc_fault_text(code)) > strlen(name) / 2);
            for (size_t i = 0; i < n; i++) {
                assert_string_not_equal(name, seen[i]);
            }
            seen[n++] = name;
        }
        assert_string_equal(slc_fault_name(modules[m].last + 1), "unknown");
    }
    assert_int_equal(n, 52);
    assert_string_equal(slc_fault_name(SLC_FAULT_NONE), "unknown");
    assert_string_equal(slc_fault_text(SLC_FAULT_NONE), "unknown fault");
}

static void test_places(void **state)
{
    (void)state;
    const struct {
        slc_fault fault;
        const char *text;
    } cases[] = {
        {{7, 96, 12, SLC_FAULT_BANK_LENGTH}, "event 7, source 12, byte 96 of the event"},
        {{7, 96, -1, SLC_FAULT_BANK_MAGIC}, "event 7, byte 96 of the event"},
        {{7, 9, 3, SLC_FAULT_PET_UNIT}, "frame 7, of module 3"},
        {{7, 9, 3, SLC_FAULT_PET_BLOCK}, "byte 9, datagram 7"},
        {{7, 9, 3, SLC_FAULT_CMS_MODULE_CROWDED}, "event 7, module 3, digi 9 of the event"},
        {{7, 0, -1, SLC_FAULT_EVENT_NO_VP}, "event 7"},
        {{7, 0, -1, SLC_FAULT_HLT1_FIT}, "event 7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[96];
        slc_fault_place(&cases[i].fault, "source", text, sizeof text);
        assert_string_equal(text, cases[i].text);
        for (size_t size = 1; size < 12 && size <= strlen(cases[i].text); size++) {
            slc_fault_place(&cases[i].fault, "source", text, size);
            assert_int_equal(strlen(text), size - 1);
            assert_memory_equal(text, cases[i].text, size - 1);
        }
    }
}

int main(void)
{
    /* An archive gives only what is asked for: one thing of each module, with its table. */
    const slc_schema *const all[] = {&slc_velo_superpixels_schema, &slc_cms_digis_schema,
                                     &slc_pet_singles_schema, &slc_hlt1_long_schema};
    slc_io_config io;
    slc_io_config_default(&io);
    if (slc_lhcb_bank_type_name(SLC_LHCB_BANK_VP) == NULL ||
        all[0]->n_columns + all[1]->n_columns + all[2]->n_columns + all[3]->n_columns == 0) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_counted_and_the_first_kept),
        cmocka_unit_test(test_faults_of_events),
        cmocka_unit_test(test_merge_is_adding_in_order),
        cmocka_unit_test(test_the_earliest_of_a_code_is_kept),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_words_are_unique),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
