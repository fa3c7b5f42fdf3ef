#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All settings: --print-config is read back by --config; preset, file and options go over each other in this order; a change of
# any setting changes the result, or is refused; results and JSON tell the settings that made them.
. "$(dirname "$0")/common.sh" "$@"
make_events a.mdf 4 51

# What is printed, is read: with nothing, with every preset, with options, of a file in part.
for options in "" "--preset standard" "--preset fast" "--preset open" "--preset smog2" "--preset upgrade2" "--fast --trim 0.5" \
    "--banks retina --beam 0.5,-0.25 --strategy full --gec-ut 7"; do
    # shellcheck disable=SC2086 # words on purpose
    run velo --print-config $options
    want 0
    want_silent
    cp out first.json
    run velo --print-config --preset open --config first.json
    want 0
    same out <first.json
done
run velo --print-config
cp out all.json
run velo a.mdf not-looked-at --print-config --preset standard
want 0
same out <all.json
run velo --print-config --config - </dev/null
want 1

# The order.
settings() { # OPTIONS...: three settings
    run velo --print-config "$@"
    want 0
    key out "o['track']['candidates'], o['track']['trim_mm2'], o['track']['second_candidates']"
}
echo '{"comment": "of a file", "track": {"trim_mm2": 0.5, "candidates": 4}}' >file.json
equal "preset" "$(settings --preset fast)" "(3, 0, 0)"
equal "as ever" "$(settings --fast)" "(3, 0, 0)"
equal "both" "$(settings --fast --preset fast)" "(3, 0, 0)"
equal "file" "$(settings --preset fast --config file.json)" "(4, 0.5, 0)"
equal "file alone" "$(settings --config file.json)" "(4, 0.5, 5)"
equal "options" "$(settings --candidates 5 --config file.json --second-candidates 6 --preset fast)" "(5, 0.5, 6)"

# A run tells its settings, and what made them.
result() { # ARGS...: the checksum
    run velo a.mdf -q --json "$@"
    want 0
    cp out result.json
    key out "o['checksum']"
}
normal=$(result)
equal "settings" "$(key result.json "o['settings']")" "$(key all.json "o")"
equal "a file of all" "$(result --config all.json)" "$normal"
fast=$(result --fast)
equal "preset" "$(result --preset fast)" "$fast"
equal "preset of settings" "$(key result.json "o['settings']['track']['second_candidates']")" 0
run velo a.mdf -q --preset fast --config file.json -o fast.h5
want 0
grep -q "^settings       preset fast, file.json$" out || fail "the table: $(cat out)"
h5dump -a /settings fast.h5 | sed -n '/(0): "/,/"$/p' | grep -c '"trim_mm2": 0.5,' >n
equal "attribute" "$(cat n)" 1
run velo a.mdf -q -o fast.arrow --preset fast --config file.json
want 0
[ "$(grep -a -c '"size_sigma_mm": \[0.0131' fast.arrow)" -ge 1 ] || fail "no settings in Arrow"
compared=$((compared + 1))
run velo a.mdf -q --json --config <(echo '{"fit": {"beam_x_mm": 0.125}}')
want 0
equal "beam" "$(key out "o['beam']['x_mm'], o['beam']['from'], o['settings']['fit']['beam_x_mm']")" "(0.125, 'config', 0.125)"
run velo a.mdf -q --json --config <(echo '{"fit": {"beam_x_mm": 0.125}}') --beam 0,0
equal "beam" "$(key out "o['beam']['x_mm'], o['beam']['from']")" "(0.0, 'option')"
run velo a.mdf -q --json --beam auto
equal "beam found" "$(key out "o['settings']['fit']['beam_x_mm'] == o['beam']['x_mm'], o['settings']['fit']['beam_y_mm'] == o['beam']['y_mm']")" "(True, True)"

# Every setting: another value makes another result, by what is said here; what is not said must not be there.
cat >values <<'END'
banks "retina" refused
track.algorithm "triplet"
track.strategy "split"
track.candidates 1
track.max_scatter_seeding_mm2 0.002
track.max_scatter_extending_mm2 0.005
track.max_scatter_3hits_mm2 0.0002
track.second_candidates 1
track.second_seeding_mm2 0.002
track.second_extending_mm2 0.0002
track.second_3hits_mm2 0.0002
track.missing_layer_mm2 0.01
track.missing_r_low_mm 30.9 many
track.missing_r_high_mm 9.1 many
track.trim_mm2 0.002
track.pickup_mm2 0.001
track.min_hits 5
track.merge_slope 0 many
track.merge_mm2 0 many
track.max_layer_hits 50
track.max_event_hits 1000
fit.hit_sigma_mm 0.1 hits
fit.size_sigma_mm [0.0131,0.0115,0.0148,0.0208,0.0325,0.08]
fit.noise_constant 1e-6
fit.noise_slope 1e-5
fit.second_noise_slope 1e-5
fit.scatter_prior 2
fit.beam_x_mm 0.1
fit.beam_y_mm 0.1
fit.end_z_mm 700
vertex.z_min_mm 0
vertex.z_max_mm 0
vertex.bin_mm 5
vertex.error_scale 2
vertex.max_track_chi2 0.1
vertex.max_track_sigma_z_mm 0.1
vertex.min_peak_tracks 20
vertex.max_dip_per_mm 0.01 many
vertex.iterations 1
vertex.max_fit_chi2 1
vertex.min_tracks 20
vertex.max_beam_distance2_mm2 0.0001
vertex.min_separation2 1000000
gec.max_velo 500
gec.max_ut 1 counts
gec.max_scifi 1 counts
gec.max_ut_scifi 1 counts
END
key all.json "'\n'.join(k if not isinstance(v, dict) else '\n'.join(k + '.' + m for m in v) for k, v in o.items())" >names
cut -d ' ' -f 1 values >named
same named <names
make_events many.mdf 60 52
many=$("$sluice" velo many.mdf -q --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["checksum"])')
while read -r name value how; do
    python3 -c 'import json,sys; g, _, k = sys.argv[1].rpartition("."); v = {k: json.loads(sys.argv[2])}; print(json.dumps({g: v} if g else v))' \
        "$name" "$value" >one.json
    case $how in
    "") [ "$(result --config one.json)" != "$normal" ] || fail "$name $value changes no result" ;;
    many)
        run velo many.mdf -q --json --config one.json
        want 0
        cp out result.json
        [ "$(key out "o['checksum']")" != "$many" ] || fail "$name $value changes no result"
        ;;
    refused) # such events are not there
        run velo a.mdf -q --json --config one.json
        want 1
        continue
        ;;
    hits | counts) result --config one.json >/dev/null ;; # of other inputs: test_velo_fit.c, velo_gec.sh
    esac
    equal "$name" "$(key result.json "o['settings']$(sed 's/[a-z_0-9]*/["&"]/g; s/\.//' <<<"$name") == json.loads('$value')")" True
done <values

# What is wrong with a file.
echo '{"track": {"candidats": 3}}' >wrong.json
run velo a.mdf --config wrong.json
want 1
want_no_out
grep -q "^sluice velo: wrong.json: line 1, column 12: unknown setting 'candidats' of track; there are: algorithm, strategy, " err || fail "$(cat err)"
run velo a.mdf --config nowhere.json
want 1
run velo a.mdf --preset retracted
want 2
run velo --preset open --fast --print-config
want 2
echo "sluice velo: --fast is --preset fast: it does not go with --preset open; see sluice velo --help" | want_err
run velo --beam auto --print-config
want 2
want_no_out
run velo a.mdf --config all.json -o all.json
want 2
run velo
want 2
echo "sluice velo: INPUT... is missing; see sluice velo --help" | want_err
# Documents name every setting.
while IFS=. read -r group name; do
    grep -q "\`${name:-$group}\`" "$source/docs/formats/velo-config.md" || fail "docs/formats/velo-config.md has no ${name:-$group}"
done <names
passed
