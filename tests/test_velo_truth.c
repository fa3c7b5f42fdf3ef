/* SPDX-License-Identifier: Apache-2.0
 * Truth banks made here: contents, writing and reading back over several pieces, and what must not be
 * believed. */
#include "support/cmocka_all.h"
#include "support/support.h"
#include "velo/velo_truth.h"

#include "base/bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 64512 };

static slc_status read_event(const void *bytes, size_t size, slc_velo_truth *truth, slc_faults *faults)
{
    slc_batch batch = {0};
    assert_int_equal(slc_batch_append(&batch, bytes, size, 0), SLC_OK);
    batch.first_event = 30;
    const slc_status status = slc_velo_truth_read(&batch, truth, faults, NULL);
    slc_batch_clear(&batch);
    return status;
}

static void tiny_event_is_read(void **state)
{
    (void)state;
    support_bytes event = support_event(3);
    slc_velo_truth truth = {0};
    slc_faults faults = {0};
    assert_int_equal(read_event(event.at, event.size, &truth, &faults), SLC_OK);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_int_equal(truth.particles.head.size, 1);
    assert_int_equal(truth.particles.key[0], 77);
    assert_int_equal(truth.particles.pid[0], -211);
    assert_float_equal(truth.particles.p_mev[0], 5000.0, 0.0);
    assert_float_equal(truth.particles.pt_mev[0], 300.0, 0.0);
    assert_float_equal(truth.particles.eta[0], 3.5, 0.0);
    assert_float_equal(truth.particles.phi_rad[0], 1.25, 0.0);
    assert_float_equal(truth.particles.origin_z_mm[0], 1.5, 0.0);
    assert_int_equal(truth.particles.flags[0], SLC_VELO_IS_LONG | SLC_VELO_HAS_VELO | SLC_VELO_HAS_UT |
                                                   SLC_VELO_HAS_SCIFI | SLC_VELO_FROM_STRANGE);
    assert_float_equal(truth.particles.charge[0], -1.0, 0.0);
    assert_int_equal(truth.particles.mother_key[0], 12);
    assert_int_equal(truth.particles.mother_pid[0], 310);
    assert_int_equal(truth.particles.n_ids[0], SUPPORT_TRACK_HITS); /* not the one of the UT */
    assert_int_equal(truth.ids.head.size, SUPPORT_TRACK_HITS);
    assert_int_equal(truth.vertices.head.size, 1);
    assert_int_equal(truth.vertices.n_tracks[0], 5);
    assert_true(truth.vertices.z_mm[0] == 1.5 && truth.vertices.x_mm[0] == 0.01);
    slc_velo_truth_clear(&truth);
    support_clear(&event);
}

/* Two events of many particles, more than one piece each. */
static slc_velo_truth made_truth(uint32_t n_particles)
{
    slc_velo_truth truth = {0};
    slc_velo_particles *p = &truth.particles;
    uint64_t seed = n_particles;
    assert_int_equal(slc_columns_reserve(&slc_velo_particles_schema, p, 2 * n_particles, 2), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_velo_particle_ids_schema, &truth.ids, 64 * n_particles, 2),
                     SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_velo_vertices_schema, &truth.vertices, 20, 2), SLC_OK);
    for (int e = 0; e < 2; e++) {
        const size_t first_id = truth.ids.head.size;
        for (uint32_t i = 0; i < n_particles; i++) {
            const size_t row = p->head.size++;
            float *const floats[] = {&p->p_mev[row],       &p->pt_mev[row],      &p->eta[row],
                                     &p->phi_rad[row],     &p->origin_x_mm[row], &p->origin_y_mm[row],
                                     &p->origin_z_mm[row], &p->charge[row]};
            for (size_t f = 0; f < sizeof floats / sizeof *floats; f++) {
                *floats[f] = (float)(int32_t)support_random(&seed);
            }
            p->key[row] = (uint32_t)support_random(&seed);
            p->pid[row] = (int32_t)support_random(&seed);
            p->flags[row] = (uint32_t)support_random(&seed) & 0x1ff;
            p->mother_key[row] = (int32_t)support_random(&seed);
            p->mother_pid[row] = (int32_t)support_random(&seed);
            p->id_begin[row] = (uint32_t)(truth.ids.head.size - first_id);
            p->n_ids[row] = (uint32_t)(support_random(&seed) % 30);
            for (uint32_t h = 0; h < p->n_ids[row]; h++) {
                truth.ids.id[truth.ids.head.size++] = (uint32_t)support_random(&seed);
            }
        }
        for (int v = 0; v < 9; v++) {
            const size_t row = truth.vertices.head.size++;
            truth.vertices.n_tracks[row] = v;
            truth.vertices.x_mm[row] = 0.1 * v;
            truth.vertices.y_mm[row] = -0.1 * v;
            truth.vertices.z_mm[row] = 10.0 * v + e;
        }
        slc_velo_truth_end_event(&truth);
    }
    return truth;
}

static void assert_same_truth(const slc_velo_truth *a, const slc_velo_truth *b, uint32_t n_events)
{
    const struct {
        const slc_schema *schema;
        const void *a, *b;
    } all[] = {{&slc_velo_particles_schema, &a->particles, &b->particles},
               {&slc_velo_particle_ids_schema, &a->ids, &b->ids},
               {&slc_velo_vertices_schema, &a->vertices, &b->vertices}};
    for (uint32_t e = 0; e < n_events; e++) {
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(slc_columns_checksum(all[i].schema, all[i].a, e, SLC_CHECKSUM_START),
                             slc_columns_checksum(all[i].schema, all[i].b, e, SLC_CHECKSUM_START));
        }
    }
}

static support_bytes banks_of(const slc_velo_truth *truth, uint32_t e)
{
    support_bytes banks = {.size = slc_velo_truth_bound(truth, NULL, e)};
    banks.at = malloc(banks.size);
    banks.capacity = banks.size;
    assert_non_null(banks.at);
    assert_int_equal(slc_velo_truth_write(truth, NULL, e, banks.at, banks.size - 1),
                     0); /* one byte too few */
    assert_int_equal(slc_velo_truth_write(truth, NULL, e, banks.at, banks.size), banks.size);
    return banks;
}

static void round_trip_over_pieces(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 200, 3000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        slc_velo_truth made = made_truth(counts[i]), read = {0};
        slc_batch batch = {0};
        slc_faults faults = {0};
        for (uint32_t e = 0; e < 2; e++) {
            support_bytes banks = banks_of(&made, e);
            if (counts[i] == 3000) {
                assert_true(banks.size > 3 * PIECE); /* it does straddle banks */
            }
            assert_int_equal(slc_batch_append(&batch, banks.at, banks.size, 0), SLC_OK);
            support_clear(&banks);
        }
        assert_int_equal(slc_velo_truth_read(&batch, &read, &faults, NULL), SLC_OK);
        assert_int_equal(slc_faults_total(&faults), 0);
        assert_int_equal(read.particles.head.size, 2 * counts[i]);
        assert_int_equal(read.vertices.head.size, 18);
        assert_same_truth(&made, &read, 2);
        slc_batch_clear(&batch);
        slc_velo_truth_clear(&made);
        slc_velo_truth_clear(&read);
    }
}

/* The banks of an event as a list, to be put together in another way. */
typedef struct bank_list {
    slc_lhcb_bank bank[16];
    size_t n;
} bank_list;

static bank_list list_banks(const support_bytes *event)
{
    bank_list list = {.n = 0};
    slc_lhcb_bank_cursor cursor = {.bytes = event->at, .size = event->size};
    while (list.n < 16 && slc_lhcb_bank_next(&cursor, &list.bank[list.n], NULL) == SLC_OK) {
        list.n++;
    }
    return list;
}

static void append_bank(support_bytes *to, const slc_lhcb_bank *bank, uint8_t version, size_t size)
{
    uint8_t *bytes = malloc(slc_lhcb_bank_bound(bank->size));
    assert_non_null(bytes);
    const size_t n = slc_lhcb_bank_write(bytes, slc_lhcb_bank_bound(bank->size), bank->type, version,
                                         bank->source, bank->payload, size);
    assert_true(n > 0);
    support_append(to, bytes, n);
    free(bytes);
}

static void pieces_come_in_any_order(void **state)
{
    (void)state;
    slc_velo_truth made = made_truth(1500), read = {0};
    slc_faults faults = {0};
    support_bytes banks = banks_of(&made, 0), turned = {0};
    const bank_list list = list_banks(&banks);
    assert_true(list.n >= 4);
    for (size_t i = list.n; i-- > 0;) {
        append_bank(&turned, &list.bank[i], list.bank[i].version, list.bank[i].size);
    }
    assert_int_equal(read_event(turned.at, turned.size, &read, &faults), SLC_OK);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_same_truth(&made, &read, 1);
    support_clear(&turned);
    support_clear(&banks);
    slc_velo_truth_clear(&made);
    slc_velo_truth_clear(&read);
}

/* Leaves out, doubles, cuts or renames pieces: no particles, the vertices stay, one fault. */
static void wrong_pieces_are_a_fault(void **state)
{
    (void)state;
    enum { MISSING, TWICE, SHORTER, VERSION, ALL_VERSIONS, WRONGS };
    slc_velo_truth made = made_truth(1500), read = {0};
    support_bytes banks = banks_of(&made, 0);
    const bank_list list = list_banks(&banks);
    for (int wrong = 0; wrong < WRONGS; wrong++) {
        support_bytes other = {0};
        slc_faults faults = {0};
        for (size_t i = 0; i < list.n; i++) {
            const slc_lhcb_bank *bank = &list.bank[i];
            const bool here = i == 1, truth = bank->type == SLC_LHCB_BANK_MC_TRACKS;
            const bool renamed = (wrong == VERSION && here) || (wrong == ALL_VERSIONS && truth);
            for (int copy = here && wrong == MISSING ? 1 : 0; copy < (here && wrong == TWICE ? 2 : 1);
                 copy++) {
                append_bank(&other, bank, renamed ? 3 : bank->version,
                            bank->size - (here && wrong == SHORTER));
            }
        }
        assert_int_equal(read_event(other.at, other.size, &read, &faults), SLC_OK);
        assert_int_equal(slc_faults_of(&faults, SLC_FAULT_TRUTH), 1);
        assert_int_equal(faults.kept[0].event, 30);
        assert_int_equal(read.particles.head.size, 0);
        assert_int_equal(read.particles.head.n_events, 1);
        assert_int_equal(read.ids.head.size, 0);
        assert_int_equal(read.vertices.head.size, 9);
        support_clear(&other);
    }
    support_clear(&banks);
    slc_velo_truth_clear(&made);
    slc_velo_truth_clear(&read);
}

/* Every count in the tiny truth is set to numbers that it cannot be. */
static void counts_are_not_believed(void **state)
{
    (void)state;
    static const uint32_t values[] = {0xffffffffU, 0x80000000U, 0x40000000U, 0x3fffffffU, 1000, 3};
    support_bytes event = support_event(0);
    slc_velo_truth read = {0};
    const bank_list list = list_banks(&event);
    const slc_lhcb_bank *tracks = &list.bank[list.n - 2], *vertices = &list.bank[list.n - 1];
    assert_int_equal(tracks->type, SLC_LHCB_BANK_MC_TRACKS);
    const size_t base = tracks->offset + 8, lists = base + 4 + 77;
    const size_t places[] = {base, lists, lists + 4 + 4 * SUPPORT_TRACK_HITS,
                             lists + 12 + 4 * SUPPORT_TRACK_HITS, vertices->offset + 8};
    for (size_t p = 0; p < 5; p++) {
        for (size_t v = 0; v < 6; v++) {
            support_bytes damaged = {0};
            slc_faults faults = {0};
            support_append(&damaged, event.at, event.size);
            assert_int_not_equal(slc_load_u32(damaged.at + places[p]), values[v]);
            slc_store_u32(damaged.at + places[p], values[v]);
            assert_int_equal(read_event(damaged.at, damaged.size, &read, &faults), SLC_OK);
            assert_int_equal(slc_faults_of(&faults, SLC_FAULT_TRUTH), 1);
            assert_int_equal(read.particles.head.size, p == 4 ? 1 : 0);
            assert_int_equal(read.vertices.head.size, p == 4 ? 0 : 1);
            support_clear(&damaged);
        }
    }
    slc_velo_truth_clear(&read);
    support_clear(&event);
}

static void version_1_has_no_signal_byte(void **state)
{
    (void)state;
    support_bytes event = support_event(0), old = {0}, payload = {0};
    slc_velo_truth read = {0};
    slc_faults faults = {0};
    const bank_list list = list_banks(&event);
    const slc_lhcb_bank *tracks = &list.bank[list.n - 2];
    support_append(&payload, tracks->payload, 4 + 36 + 8);
    support_append(&payload, tracks->payload + 4 + 36 + 9, tracks->size - (4 + 36 + 9));
    slc_lhcb_bank bank = *tracks;
    bank.payload = payload.at;
    append_bank(&old, &bank, 1, payload.size);
    assert_int_equal(read_event(old.at, old.size, &read, &faults), SLC_OK);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_int_equal(read.particles.head.size, 1);
    assert_int_equal(read.particles.mother_pid[0], 310);
    assert_int_equal(read.particles.n_ids[0], SUPPORT_TRACK_HITS);
    assert_int_equal(read.vertices.head.size, 0);
    slc_velo_truth_clear(&read);
    support_clear(&payload);
    support_clear(&old);
    support_clear(&event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_event_is_read),       cmocka_unit_test(round_trip_over_pieces),
        cmocka_unit_test(pieces_come_in_any_order), cmocka_unit_test(wrong_pieces_are_a_fault),
        cmocka_unit_test(counts_are_not_believed),  cmocka_unit_test(version_1_has_no_signal_byte),
    };
    return cmocka_run_group_tests_name("velo_truth", tests, NULL, NULL);
}
