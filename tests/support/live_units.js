// SPDX-License-Identifier: Apache-2.0
// Tests of the live page's functions: live_units.js PAGE.js
"use strict";
const assert = require("node:assert");
const { picture, page } = require(process.argv[2]);
let checks = 0;
const same = (got, wanted, what) => { assert.deepStrictEqual(got, wanted, what); checks++; };
const plain = (text) => text.replace(/\u202f/g, " ").replace(/\u2212/g, "-");

for (const [value, text] of [[0, "0"], [999, "999"], [1000, "1 000"], [12345678901, "12 345 678 901"], [-1234, "-1 234"], [0.12345, "0.1235"],
  [12345.678, "12 346"], [null, "unknown"], [NaN, "unknown"], [9007199254740991, "9 007 199 254 740 991"]]) same(plain(picture.number(value)), text);
for (const [value, unit, text] of [[0, "", "0"], [999, "Hz", "999 Hz"], [9999, "", "10 000"], [12345, "", "12.3 k"], [46131585, "B", "46.1 MB"],
  [3e9, "B", "3 GB"], [2.5e13, "", "25 T"], [0.001234, "s", "0.00123 s"], [null, "B", "unknown"], [-2e6, "", "-2 M"]]) same(plain(picture.short(value, unit)), text);
same([0, 59, 3599, 3600, 90061].map(picture.duration), ["0:00", "0:59", "59:59", "1:00:00", "25:01:01"]);

same(picture.ticks(-250, 250, 5), [-200, -100, 0, 100, 200]);
same(picture.ticks(0, 1, 4), [0, 0.5, 1]);
same(picture.ticks(0.1, 0.35, 5), [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]);
for (const [low, high] of [[0, 0], [1, 0], [0, Infinity], [NaN, 1]]) same(picture.ticks(low, high, 5), []);
for (let e = -6; e < 9; e++) {
  const found = picture.ticks(0, 3.7 * 10 ** e, 5);
  same(found.length >= 3 && found.length <= 8 && found.every((t) => t >= 0 && t <= 3.7 * 10 ** e * 1.0001), true, `ticks to 1e${e}`);
}

// Lightness rises all along, whatever kind of colour vision.
const light = ([r, g, b]) => 0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2;
for (let i = 1; i <= 100; i++) same(light(picture.colour(i / 100)) > light(picture.colour((i - 1) / 100)), true);
same([picture.colour(-1), picture.colour(2)], [[68, 1, 84], [253, 231, 37]]);

const bytes = new ArrayBuffer(32 + 24), view = new DataView(bytes);
[0x534c4d50].forEach((w) => view.setUint32(0, w, false));
[1, 9, 3, 2, 50].forEach((w, i) => view.setUint32(4 + 4 * i, w, true));
[0, 10, 20, 30, 40, 50].forEach((w, i) => view.setUint32(32 + 4 * i, w, true));
const map = picture.map(bytes);
same([map.number, map.width, map.height, map.largest, [...map.cells]], [9, 3, 2, 50, [0, 10, 20, 30, 40, 50]]);
same([picture.map(bytes.slice(0, 55)), picture.map(bytes.slice(0, 8)), picture.map(new ArrayBuffer(100))], [null, null, null]);

same(picture.project(0, 0, 225, { turn: 1, tilt: 0.3, zoom: 2 }), [0, 0]);
same(picture.project(0, 55, 225, { turn: 0, tilt: 0, zoom: 2 }), [0, 2]);
same(plain(picture.words({ title: "T", x: "z (mm)", low: -2, high: 2, counts: [1, 0, 5, 2] })), "T: 8 entries, most at 0.5 (z (mm))");
same(picture.words({ title: "T", x: "z", low: 0, high: 1, counts: [0, 0] }), "T: 0 entries");
same(picture.thin([1, 2, 3, 4, 5], [1, null, 3, NaN, 5], 100), [[1, 1], [3, 3], [5, 5]]);
same(picture.thin([1, 2, 3, 4, 5], [1, 3, null, null, 10], 3), [[2, 2], [5, 10]]);

same(["", "#abc", "#token=abc", "#a+/="].map(page.tokenOf), ["", "abc", "abc", "a+/="]);
const status = (sequence, value, more) => ({ sequence, seconds: sequence, values: [{ group: "G", title: "E", series: 0, rate: value, value: 1 }], texts: [], plots: [], maps: [], ...more });
let kept = page.remember({ sequence: -1, seconds: [], series: [] }, status(5, 0, { history: { seconds: [4, 5], series: [[null, 7]] } }));
same(kept, { sequence: 5, seconds: [4, 5], series: [[null, 7]] });
kept = page.remember(kept, status(5, 9));
same(kept.seconds, [4, 5], "the same snapshot again");
for (let i = 6; i < 1200; i++) kept = page.remember(kept, status(i, i));
same([kept.seconds.length, kept.series[0].length, kept.seconds[599], kept.series[0][599]], [600, 600, 1199, 1199]);
kept = page.remember({ sequence: 1, seconds: [1], series: [[1]] }, { ...status(2, 2), values: [{ series: 0, value: 3 }, { series: 1, value: 4 }] });
same(kept.series, [[1, 3], [null, 4]], "a series that begins later, and values of gauges");

const groups = page.arrange({ values: [{ group: "A", title: "x", value: 1 }, { group: "B", title: "lost", label: "module", is: "0", value: 1 },
  { group: "B", title: "bad", label: "module", is: "1", value: 2 }], texts: [{ group: "A", title: "t", text: "" }], plots: [], maps: [{ group: "C", title: "m" }] });
same([...groups.keys()], ["A", "B", "C"]);
same([groups.get("B").table.columns, [...groups.get("B").table.rows.keys()]], [["lost", "bad"], ["0", "1"]]);
same([{ alarm: true, value: 0 }, { alarm: true, value: 1 }, { value: 1 }, { alarm: true, text: "" }, { alarm: true, text: "x" }, { alarm: true, value: null }].map(page.isAlarm),
  [false, true, false, false, true, false]);
const run = { began: 1, program: "sluice", command: "velo" };
same([[null, run], [run, { ...run }], [run, { ...run, began: 2 }], [run, { ...run, command: "cms" }]].map((two) => page.isAnother(...two)), [false, false, true, true]);
same(page.stateWords({ state: "running", age: 0.5, period: 1 }, 0), "running");
same(page.stateWords({ state: "running", age: 60, period: 1 }, 0).includes("60 s old"), true);
same(page.stateWords({ state: "running", age: 0, period: 1 }, 12).includes("no answer for 12 s"), true);
same(page.stateWords({ state: "failed", age: 0, period: 1 }, 12), "failed; its page is gone");
console.log(`${checks} checks`);
