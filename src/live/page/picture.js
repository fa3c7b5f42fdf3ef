// SPDX-License-Identifier: Apache-2.0
// Pictures on a canvas: axes, histograms, histories, maps in false colour, events to be turned. What can be
// told apart from drawing is a function of its own, which the tests call in node.
"use strict";
const picture = (() => {
  const NARROW = "\u202f";

  // 12345.678 -> "12 346"; whole numbers in full, others with four digits.
  function number(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "unknown";
    if (Number.isInteger(value)) return String(value).replace(/\B(?=(\d{3})+$)/g, NARROW).replace("-", "\u2212");
    const size = Math.abs(value);
    if (size >= 1e4 && size < 1e15) return number(Math.round(value));
    return String(Number(value.toPrecision(4))).replace("-", "\u2212");
  }

  // 4.6e7, "B" -> "46 MB"
  function short(value, unit = "") {
    if (value === null || value === undefined || Number.isNaN(value)) return "unknown";
    const size = Math.abs(value);
    const step = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]].find(([from]) => size >= from);
    if (!step) return number(Number(value.toPrecision(3))) + (unit ? NARROW + unit : "");
    const scale = step[1] === "k" ? 1e3 : step[0];
    return number(Number((value / scale).toPrecision(3))) + NARROW + step[1] + unit;
  }

  function duration(seconds) {
    const s = Math.max(0, Math.floor(seconds));
    const two = (n) => String(n).padStart(2, "0");
    return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  }

  // Round numbers from low to high, about so many.
  function ticks(low, high, about) {
    if (!(high > low) || !Number.isFinite(high - low)) return [];
    const raw = (high - low) / Math.max(1, about);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(Number((k * step).toPrecision(12)));
    return found;
  }

  // Viridis by Stéfan van der Walt and Nathaniel Smith (CC0): rising lightness, for all kinds of colour vision.
  const VIRIDIS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];
  function colour(part) {
    const at = Math.min(1, Math.max(0, part)) * (VIRIDIS.length - 1);
    const i = Math.min(VIRIDIS.length - 2, Math.floor(at));
    return VIRIDIS[i].map((c, k) => Math.round(c + (VIRIDIS[i + 1][k] - c) * (at - i)));
  }

  // The bytes of /map.bin, or null if they are none.
  function map(buffer) {
    const view = new DataView(buffer);
    if (buffer.byteLength < 32 || view.getUint32(0, false) !== 0x534c4d50 || view.getUint32(4, true) !== 1) return null;
    const [number_, width, height, largest] = [8, 12, 16, 20].map((at) => view.getUint32(at, true));
    if (buffer.byteLength !== 32 + 4 * width * height) return null;
    return { number: number_, width, height, largest, cells: new Uint32Array(buffer, 32) };
  }

  // x, y in units of the picture's half height, of a point in mm: z to the right, turned about it, then tilted.
  function project(x, y, z, view) {
    const [ct, st, cu, su] = [Math.cos(view.turn), Math.sin(view.turn), Math.cos(view.tilt), Math.sin(view.tilt)];
    const [a, up, along] = [(x * ct - y * st) / 55, (x * st + y * ct) / 55, (z - 225) / 235];
    return [(along * cu + a * su) * view.zoom, up * view.zoom];
  }

  // What is told of a histogram in words.
  function words(plot) {
    let sum = 0, top = 0;
    plot.counts.forEach((n, i) => { sum += n; if (n > plot.counts[top]) top = i; });
    const width = (plot.high - plot.low) / plot.counts.length;
    return `${plot.title}: ${number(sum)} entries` + (sum ? `, most at ${number(Number((plot.low + (top + 0.5) * width).toPrecision(3)))} (${plot.x})` : "");
  }

  // Rows of [time, value] as points of a curve of at most `most`: neighbours are averaged, unknown ones left out.
  function thin(times, values, most) {
    const step = Math.max(1, Math.ceil(times.length / most)), points = [];
    for (let i = 0; i < times.length; i += step) {
      const known = values.slice(i, i + step).filter((v) => v !== null && Number.isFinite(v));
      if (known.length) points.push([times[Math.min(i + step, times.length) - 1], known.reduce((a, b) => a + b) / known.length]);
    }
    return points;
  }

  // ---- drawing: everything from here on takes a canvas ------------------------------------------

  function begin(canvas) {
    const dense = globalThis.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    const [w, h] = [Math.max(50, Math.round(box.width)), Math.max(40, Math.round(box.height))];
    if (canvas.width !== Math.round(w * dense) || canvas.height !== Math.round(h * dense)) {
      canvas.width = Math.round(w * dense);
      canvas.height = Math.round(h * dense);
    }
    const c = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    const ink = (name) => style.getPropertyValue("--" + name).trim();
    const font = 0.75 * parseFloat(style.fontSize);
    c.setTransform(dense, 0, 0, dense, 0, 0);
    c.clearRect(0, 0, w, h);
    c.font = `${font}px system-ui, sans-serif`;
    return { c, w, h, ink, font };
  }

  // Axes with their texts; returns where the picture is, and functions from values to places.
  function axes(p, x, y, names, log) {
    const { c, w, h, ink, font } = p;
    const label = (v) => short(v);
    const yTicks = log ? ticks(0, Math.log10(y[1]), 4).filter(Number.isInteger).map((e) => 10 ** e) : ticks(y[0], y[1], h / font / 3);
    const left = 6 + Math.max(0, ...yTicks.map((t) => c.measureText(label(t)).width));
    const box = { left, top: 1.5 * font, right: w - 8, bottom: h - 2.7 * font };
    const fx = (v) => box.left + (v - x[0]) / (x[1] - x[0]) * (box.right - box.left);
    const part = (v) => log ? Math.log10(Math.max(v, 0.7)) - Math.log10(0.7) : v - y[0];
    const fy = (v) => box.bottom - part(v) / part(y[1]) * (box.bottom - box.top);
    c.strokeStyle = ink("line");
    c.fillStyle = ink("soft");
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(box.left, box.top);
    c.lineTo(box.left, box.bottom);
    c.lineTo(box.right, box.bottom);
    c.textAlign = "center";
    for (const t of ticks(x[0], x[1], w / font / 7)) {
      c.moveTo(fx(t), box.bottom);
      c.lineTo(fx(t), box.bottom + 4);
      const at = Math.min(Math.max(fx(t), c.measureText(label(t)).width / 2), w - c.measureText(label(t)).width / 2);
      c.fillText(label(t), at, box.bottom + 1.2 * font);
    }
    c.textAlign = "right";
    for (const t of yTicks) {
      c.moveTo(box.left - 3, fy(t));
      c.lineTo(box.left, fy(t));
      c.fillText(label(t), box.left - 5, fy(t) + 0.35 * font);
    }
    c.stroke();
    c.fillText(names[0], box.right, h - 0.35 * font);
    c.textAlign = "left";
    c.fillText(names[1] + (log ? ", logarithmic" : ""), 2, 0.9 * font);
    return { box, fx, fy };
  }

  function histogram(canvas, plot, log) {
    const p = begin(canvas), top = Math.max(1, ...plot.counts);
    const { box, fx, fy } = axes(p, [plot.low, plot.high], [0, log ? Math.max(10, 1.3 * top) : 1.05 * top], [plot.x, plot.y], log);
    const { c, ink } = p, width = (plot.high - plot.low) / plot.counts.length;
    if (plot.from !== undefined) {
      c.fillStyle = ink("other");
      c.globalAlpha = 0.25;
      c.fillRect(fx(Math.max(plot.low, plot.from)), box.top, fx(Math.min(plot.high, plot.to)) - fx(Math.max(plot.low, plot.from)), box.bottom - box.top);
      c.globalAlpha = 1;
    }
    c.fillStyle = ink("data");
    plot.counts.forEach((n, i) => {
      if (!n) return;
      const [x0, x1] = [fx(plot.low + i * width), fx(plot.low + (i + 1) * width)];
      c.fillRect(x0, fy(n), Math.max(1, x1 - x0 - (x1 - x0 > 4 ? 1 : 0)), box.bottom - fy(n));
    });
  }

  // Values against seconds: the last ten minutes at the right, now at its edge.
  function history(canvas, times, values, unit) {
    const points = thin(times, values, 300), p = begin(canvas);
    const now = times.length ? times[times.length - 1] : 0, first = times.length ? times[0] : 0;
    const top = Math.max(1e-9, ...points.map((q) => q[1]));
    const { fx, fy } = axes(p, [Math.min(first, now - 10) - now, 0], [0, 1.1 * top], ["seconds from now", unit], false);
    const { c, ink, font } = p;
    c.strokeStyle = ink("data");
    c.lineWidth = font / 6;
    c.lineCap = "round";
    c.beginPath();
    points.forEach(([t, v], i) => { if (!i) c.moveTo(fx(t - now), fy(v)); c.lineTo(fx(t - now), fy(v)); });
    c.stroke();
  }

  function cells(canvas, m, about, log) {
    const p = begin(canvas), { c, w, h, ink, font } = p;
    const small = document.createElement("canvas");
    small.width = m.width;
    small.height = m.height;
    const s = small.getContext("2d"), image = s.createImageData(m.width, m.height);
    const top = log ? Math.log1p(m.largest) : m.largest;
    for (let y = 0; y < m.height; y++) {
      for (let x = 0; x < m.width; x++) {
        const n = m.cells[y * m.width + x], at = 4 * ((m.height - 1 - y) * m.width + x);
        const rgb = colour(top ? (log ? Math.log1p(n) : n) / top : 0);
        image.data.set([rgb[0], rgb[1], rgb[2], 255], at);
      }
    }
    s.putImageData(image, 0, 0);
    const [ax, ay] = about.x_low === undefined ? [[0, m.width], [0, m.height]] : [[about.x_low, about.x_high], [about.y_low, about.y_high]];
    const { box } = axes(p, ax, ay, [about.x || "", about.y || ""], false);
    const bar = 5 * font, room = [box.right - box.left - bar, box.bottom - box.top];
    const side = Math.min(room[0] / m.width, room[1] / m.height);
    c.clearRect(0, 0, w, h);
    const [pw, ph] = [side * m.width, side * m.height];
    const view = { ...p, w: box.left + pw + 8, h: box.top + ph + 2.7 * font };
    const inner = axes(view, ax, ay, [about.x || "", about.y || ""], false).box;
    c.imageSmoothingEnabled = false;
    c.drawImage(small, inner.left, inner.top, inner.right - inner.left, inner.bottom - inner.top);
    const x = inner.right + font;
    for (let i = 0; i < 50; i++) {
      c.fillStyle = `rgb(${colour((i + 0.5) / 50)})`;
      c.fillRect(x, inner.bottom - (i + 1) / 50 * ph, font, ph / 50 + 1);
    }
    c.fillStyle = ink("soft");
    c.fillText(short(m.largest), x + 1.3 * font, inner.top + font);
    c.fillText("0" + (log ? " (log)" : ""), x + 1.3 * font, inner.bottom);
    c.fillText(about.unit || "", x, inner.top - 0.4 * font);
  }

  function event(canvas, e, view) {
    const { c, w, h, ink, font } = begin(canvas);
    const scale = Math.min(h / 2.1, w / 4.9), place = (x, y, z) => {
      const [a, b] = project(x, y, z, view);
      return [w / 2 + a * scale, h / 2 - b * scale];
    };
    const hit = (i) => place(e.points[3 * i], e.points[3 * i + 1], e.points[3 * i + 2]);
    const used = new Set();
    c.strokeStyle = ink("line");
    c.beginPath();
    c.moveTo(...place(0, 0, -300));
    c.lineTo(...place(0, 0, 760));
    c.stroke();
    c.strokeStyle = ink("data");
    c.lineWidth = font / 9;
    c.beginPath();
    for (const line of e.lines) {
      line.forEach((i, k) => { used.add(i); if (3 * i < e.points.length) c[k ? "lineTo" : "moveTo"](...hit(i)); });
    }
    c.stroke();
    for (let i = 0; 3 * i < e.points.length; i++) {
      const [x, y] = hit(i);
      c.fillStyle = ink(used.has(i) ? "data" : "soft");
      c.fillRect(x - font / 11, y - font / 11, font / 5.5, font / 5.5);
    }
    c.strokeStyle = ink("other");
    c.lineWidth = 2;
    for (let i = 0; i < e.vertices.length; i += 3) {
      const [x, y] = place(e.vertices[i], e.vertices[i + 1], e.vertices[i + 2]);
      c.beginPath();
      c.arc(x, y, 0.45 * font, 0, 7);
      c.stroke();
    }
  }
  const eventWords = (e) => `Event ${number(e.number)}: ${number(e.hits)} hits, ${number(e.tracks)} tracks (lines), ${number(e.vertices.length / 3)} vertices (rings)`;

  return { number, short, duration, ticks, colour, map, project, words, thin, histogram, history, cells, event, eventWords };
})();
