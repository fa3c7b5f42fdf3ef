/* SPDX-License-Identifier: Apache-2.0
 * Files of PETSIRD that are cut, flipped, or promise more than there is; schemas that are no schemas.
 */
#include "support/cmocka_all.h"

#include "support/pet_petsird.h"

/* ---- damage ------------------------------------------------------------------------------------ */

static const slc_pet_geometry tiny = {.channels = 2,
                                      .modules = 1,
                                      .module_rings = 1,
                                      .blocks_y = 1,
                                      .blocks_z = 1,
                                      .crystals_y = 1,
                                      .crystals_z = 1,
                                      .radius_mm = 50,
                                      .pitch_z_mm = 2,
                                      .depth_mm = 10};

static char *tiny_file(size_t n, size_t *size)
{
    slc_io_pet_list_config config = config_of(n > 0);
    slc_pet_coincidences pairs = pet_pairs(n, n / 2, 5);
    config.tof_resolution_ps = n > 0 ? 8000 : 0; /* a few bins */
    config.geometry = tiny;
    for (size_t i = 0; i < pairs.head.size; i++) {
        pairs.crystal1[i] = i % 2;
        pairs.crystal2[i] = (i + 1) % 2;
    }
    char *bytes = written(&config, &pairs, size, NULL);
    pet_clear(&pairs);
    return bytes;
}

static void a_file_may_be_cut_at_every_byte(void **state)
{
    (void)state;
    size_t size, most = 0;
    char *bytes = tiny_file(20, &size);
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    for (size_t n = 0; n < size; n++) {
        assert_int_equal(read_bytes(bytes, n, &tiny, &pairs, &totals, &error), SLC_ERR_FORMAT);
        assert_memory_equal(error.text, "m: byte ", 8);
        assert_true(pairs.head.size >= most && totals.prompts + totals.delayeds == pairs.head.size);
        most = pairs.head.size;
    }
    assert_int_equal(most, 30);
    assert_int_equal(read_bytes(bytes, size, &tiny, &pairs, &totals, &error), SLC_END);
    char *more = realloc(bytes, size + 1);
    assert_non_null(more);
    more[size] = 0;
    assert_int_equal(read_bytes(more, size + 1, &tiny, &pairs, &totals, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "something is behind its end"));
    free(more);
    pet_clear(&pairs);
}

/* Bits of the schema, here and there, and all bits of the rest. */
static void every_bit_may_be_flipped(void **state)
{
    (void)state;
    enum { SCHEMA = 12884 + 11 };
    size_t size, refused = 0;
    char *bytes = tiny_file(20, &size);
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    for (size_t bit = 0; bit < 8 * size; bit += bit < 8 * SCHEMA ? 63 : 1) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
        const slc_status status = read_bytes(bytes, size, bit % 2 == 0 ? &tiny : NULL, &pairs, &totals,
                                             &error);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ (1 << bit % 8));
        assert_true(status == SLC_END || status == SLC_ERR_FORMAT || status == SLC_ERR_UNSUPPORTED);
        assert_true(status == SLC_END || error.text[0] != '\0');
        assert_int_equal(totals.prompts + totals.delayeds, pairs.head.size);
        for (size_t i = 0; i < pairs.head.size; i++) {
            assert_true(pairs.crystal1[i] < 2 && pairs.crystal2[i] < 2);
        }
        refused += status != SLC_END;
    }
    assert_true(refused > 1000);
    free(bytes);
    pet_clear(&pairs);
}

/* A file of no pairs whose last byte, the end of blocks, other bytes replace. */
static void assert_blocks(const char *blocks, size_t n, slc_status wanted, const char *text)
{
    size_t size;
    char *head = tiny_file(0, &size);
    char *bytes = malloc(size + n);
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    assert_non_null(bytes);
    memcpy(bytes, head, size - 1);
    memcpy(bytes + size - 1, blocks, n);
    assert_int_equal(read_bytes(bytes, size - 1 + n, &tiny, &pairs, &totals, &error), wanted);
    if (strstr(error.text, text) == NULL) {
        fail_msg("'%s', wanted '%s'", error.text, text);
    }
    free(head);
    free(bytes);
    pet_clear(&pairs);
}
#define BLOCKS(bytes, wanted, text) assert_blocks(bytes, sizeof(bytes) - 1, wanted, text)
#define ENORMOUS                    "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1" /* 2^64 − 1 */

static void counts_are_not_believed(void **state)
{
    (void)state;
    BLOCKS("\1\0\0\1\0\0\0\0\0\0", SLC_END, "");
    BLOCKS("\1\0\0\1\0\1\1\1\1\0\5\0\0\0\0", SLC_END, "");
    BLOCKS("\1\0\0\1\0\1\1" ENORMOUS "\1\0\0", SLC_ERR_FORMAT, "it ends inside of a number");
    BLOCKS("\1\0\0\1" ENORMOUS "\1\0\0", SLC_ERR_FORMAT, "it ends inside of a number");
    BLOCKS(ENORMOUS "\1\0\0\1\0\0\0\0\0", SLC_ERR_FORMAT, "it ends inside of a number");
    BLOCKS("\1\5\0\1\1" ENORMOUS "\1\0", SLC_ERR_FORMAT, "a number above 4294967295");
    BLOCKS("\1\5\0\1\1\377\377\377\377\17\1\0", SLC_ERR_FORMAT, "it ends inside of a number");
    BLOCKS("\1\4\0\1\1\377\377\377\377\17\1", SLC_ERR_FORMAT, "it ends inside of an array");
    BLOCKS("\1\4\0\1\0\1\1\21\1\1", SLC_ERR_UNSUPPORTED, "an array of 17 dimensions");
    BLOCKS("\1\1\0\1\1" ENORMOUS "\1\0", SLC_ERR_FORMAT, "it ends inside of an array");
    /* Numbers of more bits than they may have; kinds and types that are not there. */
    BLOCKS("\1\0\xff\xff\xff\xff\x1f\1\0\0\0\0\0\0", SLC_ERR_FORMAT, "a number above 4294967295");
    BLOCKS("\1\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", SLC_ERR_FORMAT, "a number above 4294967295");
    BLOCKS("\xff\xff\xff\xff\xff\xff\xff\xff\xff\2\0", SLC_ERR_FORMAT, "a number above 18446744073709551615");
    BLOCKS("\1\6\0", SLC_ERR_FORMAT, "time block of kind 6");
    BLOCKS("\1\0\0\1\0\2\0\1\1\0\0\0\0\0\0\0", SLC_ERR_FORMAT, "pairs of the module types 1 and 0");
    BLOCKS("\1\0\0\1\0\1\2\0\1\0\0\0\0\0\0\0", SLC_ERR_FORMAT, "pairs of the module types 0 and 1");
}

/* Behind the schema: an absurd text, absurd numbers of modules and elements. */
static void headers_are_not_believed(void **state)
{
    (void)state;
    enum { HEAD = 9 + 2 + 12884 };
    static const struct {
        const char *bytes;
        size_t size;
        const char *text;
    } cases[] = {
        {ENORMOUS, 10, "a text of 18446744073709551615 bytes"},
        {"\1x" ENORMOUS "\0\0\0\0", 16, "it ends inside of an array"},
        {"\1x\0\0\0\0", 6, "it ends inside of a number"},
        {"\1x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 23, "it has no list of 1 to 1024 module types"},
    };
    size_t size;
    char *file = tiny_file(0, &size), bytes[HEAD + 64];
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    memcpy(bytes, file, HEAD);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(bytes + HEAD, 0, 64);
        memcpy(bytes + HEAD, cases[i].bytes, cases[i].size);
        const size_t n = HEAD + cases[i].size + (i == 3 ? 20 : 0);
        assert_int_equal(read_bytes(bytes, n, NULL, &pairs, &totals, &error), SLC_ERR_FORMAT - (i == 0));
        assert_non_null(strstr(error.text, cases[i].text));
    }
    free(file);
    pet_clear(&pairs);
}

static void assert_schema(const char *json, slc_status wanted, const char *text)
{
    uint8_t bytes[4096] = {'y', 'a', 'r', 'd', 'l', 1};
    const size_t n = strlen(json);
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    assert_true(n < 4000);
    bytes[9] = (uint8_t)((n & 127) | 128);
    bytes[10] = (uint8_t)(n >> 7);
    for (size_t i = 0; i < n; i++) {
        bytes[11 + i] = json[i] == '\'' ? '"' : (uint8_t)json[i];
    }
    assert_int_equal(read_bytes(bytes, n + 100, NULL, &pairs, &totals, &error), wanted);
    assert_non_null(strstr(error.text, text));
    pet_clear(&pairs);
}
#define PROTOCOL "{'protocol':{'name':'PETSIRD','sequence':[{'name':'header','type':'H'}]},'types':["

static void schemas_are_judged(void **state)
{
    (void)state;
    assert_schema("{", SLC_ERR_FORMAT, "m: byte 11: the schema is no JSON");
    assert_schema("[]", SLC_ERR_FORMAT, "the schema has no protocol");
    assert_schema("{'protocol':{'name':'MRD','sequence':[]},'types':null}", SLC_ERR_UNSUPPORTED,
                  "its protocol is MRD, not PETSIRD");
    assert_schema(PROTOCOL "]}", SLC_ERR_UNSUPPORTED, "a type that is not known: H");
    assert_schema(PROTOCOL "{'name':'H','type':'int32'}]}", SLC_ERR_UNSUPPORTED,
                  "it is no header and a stream of time blocks");
    assert_schema(PROTOCOL "{'name':'H','type':'H'}]}", SLC_ERR_UNSUPPORTED, "go round in circles");
    assert_schema(PROTOCOL "{'name':'H','fields':[{'name':'a','type':{'vector':{'items':'H'}}}]}]}",
                  SLC_ERR_UNSUPPORTED, "go round in circles");
    assert_schema(PROTOCOL "{'name':'N','fields':[]},{'name':'H','type':{'vector':{'items':'N'}}}]}",
                  SLC_ERR_UNSUPPORTED, "it has items without bytes");
    assert_schema(PROTOCOL "{'name':'H','type':{'vector':{'items':'bool','length':99999999999}}}]}",
                  SLC_ERR_UNSUPPORTED, "more than 2^32 items");
    assert_schema(PROTOCOL "{'name':'H','type':{'map':{'keys':'string','values':'bool'}}}]}",
                  SLC_ERR_UNSUPPORTED, "a type that is not known: map");
    assert_schema(PROTOCOL "{'name':'G','typeParameters':['T'],'type':'T'},{'name':'H','type':'G'}]}",
                  SLC_ERR_FORMAT, "parameters that do not fit to the type G");
    /* Each type is twice the one before: 2^30 of them. */
    char json[4096] = PROTOCOL "{'name':'G0','typeParameters':['T'],'fields':[{'name':'a','type':'T'}]}";
    for (int i = 1; i <= 30; i++) {
        const size_t used = strlen(json);
        (void)snprintf(json + used, sizeof json - used,
                       ",{'name':'G%d','typeParameters':['T'],'fields':[{'name':'a','type':{'name':'G%d',"
                       "'typeArguments':['T']}},{'name':'b','type':{'name':'G%d','typeArguments':['T']}}]}",
                       i, i - 1, i - 1);
        if (strlen(json) > 3700) {
            (void)snprintf(json + strlen(json), sizeof json - strlen(json),
                           ",{'name':'H','type':{'name':'G%d','typeArguments':['bool']}}]}", i);
            break;
        }
    }
    assert_schema(json, SLC_ERR_UNSUPPORTED, "it has too many types");
}

static void what_is_no_petsird_is_told(void **state)
{
    (void)state;
    slc_pet_coincidences pairs = {0};
    slc_io_pet_list_totals totals;
    slc_error error;
    assert_int_equal(read_bytes("", 0, NULL, &pairs, &totals, &error), SLC_ERR_FORMAT);
    assert_string_equal(error.text, "m: byte 0: it does not begin with \"yardl\"");
    assert_int_equal(read_bytes("yardl\2\0\0\0\0", 10, NULL, &pairs, &totals, &error), SLC_ERR_UNSUPPORTED);
    assert_string_equal(error.text, "m: byte 5: it is not yardl's version 1");
    assert_int_equal(read_bytes("yardl\1\0\0\0" ENORMOUS, 19, NULL, &pairs, &totals, &error), SLC_ERR_FORMAT);
    assert_string_equal(error.text, "m: byte 19: a schema of 18446744073709551615 bytes");
    pet_clear(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_may_be_cut_at_every_byte, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(every_bit_may_be_flipped, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(counts_are_not_believed, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(headers_are_not_believed, make_folder, remove_all),
        cmocka_unit_test(schemas_are_judged),
        cmocka_unit_test(what_is_no_petsird_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
