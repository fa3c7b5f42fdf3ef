// SPDX-License-Identifier: Apache-2.0
// The page: asks for /status.json about once a second and shows what is in it, whatever program it comes from.
// Elements are made once and then changed, so that focus, scrolling and choices stay.
const page = (() => {
  const HISTORY = 600;

  // "#TOKEN" or "#token=TOKEN" after the page's address; a token has nothing that an address would write otherwise.
  function tokenOf(hash) {
    return hash.replace(/^#(token=)?/, "");
  }

  // Values without a label by group, and those with one as rows of a table.
  function arrange(status) {
    const groups = new Map();
    const of = (name) => {
      if (!groups.has(name)) groups.set(name, { values: [], texts: [], plots: [], maps: [], table: null });
      return groups.get(name);
    };
    for (const v of status.values) {
      const g = of(v.group);
      if (v.label === undefined) {
        g.values.push(v);
        continue;
      }
      g.table = g.table || { label: v.label, columns: [], rows: new Map() };
      if (!g.table.columns.includes(v.title)) g.table.columns.push(v.title);
      if (!g.table.rows.has(v.is)) g.table.rows.set(v.is, new Map());
      g.table.rows.get(v.is).set(v.title, v);
    }
    for (const t of status.texts) of(t.group).texts.push(t);
    for (const p of status.plots) of(p.group).plots.push(p);
    for (const m of status.maps) of(m.group).maps.push(m);
    return groups;
  }

  // Adds a snapshot to the history that is there; the same one again changes nothing.
  function remember(kept, status) {
    if (status.history) {
      return { sequence: status.sequence, seconds: status.history.seconds.slice(), series: status.history.series.map((s) => s.slice()) };
    }
    if (status.sequence === kept.sequence) return kept;
    const row = [];
    for (const v of status.values) if (v.series !== undefined) row[v.series] = v.rate !== undefined ? v.rate : v.value;
    const n = kept.seconds.length;
    kept.seconds.push(status.seconds);
    for (let k = 0; k < row.length; k++) {
      kept.series[k] = kept.series[k] || new Array(n).fill(null);
      kept.series[k].push(row[k] === undefined ? null : row[k]);
    }
    if (n >= HISTORY) {
      kept.seconds.shift();
      kept.series.forEach((s) => s.shift());
    }
    kept.sequence = status.sequence;
    return kept;
  }

  const isAlarm = (v) => Boolean(v.alarm) && (v.text !== undefined ? v.text !== "" : v.value > 0);
  const unitOf = (v) => (v.unit ? "\u202f" + v.unit : "");

  function isAnother(before, now) {
    return before !== null && (before.began !== now.began || before.program !== now.program || before.command !== now.command);
  }

  function stateWords(status, missing) {
    const over = status.state === "finished" || status.state === "failed";
    if (missing > 0) return over ? status.state + "; its page is gone" : `no answer for ${picture.number(Math.round(missing))} s: the run has ended, or its page is gone`;
    if (status.age > 5 * Math.max(1, status.period) && status.state === "running") return `running, but its numbers are ${picture.number(Math.round(status.age))} s old`;
    return { waiting: "waiting for data", running: "running", ending: "ending: writing what is left", finished: "finished", failed: "failed" }[status.state];
  }

  // ---- the document ------------------------------------------------------------------------------

  const made = new Map();
  let status = null, fresh = false, kept = { sequence: -1, seconds: [], series: [] }, token = "", answered = 0, shown = null, held = false;
  const view = { turn: 0.6, tilt: 0.15, zoom: 1 }, maps = new Map();

  function make(key, parent, tag, set = {}) {
    if (!made.has(key)) {
      const e = document.createElement(tag);
      Object.assign(e, set);
      parent.append(e);
      made.set(key, e);
    }
    return made.get(key);
  }
  function say(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }
  function ask(path) {
    return fetch(path, { headers: token ? { Authorization: "Bearer " + token } : {}, cache: "no-store", signal: AbortSignal.timeout(4000) });
  }

  function tile(key, parent, v, text) {
    const box = make(key, parent, "div", { className: "tile" }), alarm = isAlarm(v);
    say(make(key + "/t", box, "dt"), v.title);
    const dd = make(key + "/d", box, "dd");
    say(make(key + "/v", dd, "span"), text);
    if (v.metric) dd.dataset.metric = v.metric;
    if (v.series !== undefined && v.rate !== undefined) say(make(key + "/r", box, "span", { className: "rate" }), v.rate === null ? "" : picture.short(v.rate) + "\u202f/s");
    box.className = "tile" + (v.text !== undefined ? " text" : "") + (alarm ? " alarm" : "");
  }

  function showTable(key, section, table) {
    const frame = make(key, section, "div", { className: "scroll", tabIndex: 0 });
    const t = make(key + "/t", frame, "table"), head = make(key + "/h", make(key + "/head", t, "thead"), "tr"), body = make(key + "/b", t, "tbody");
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", "by " + table.label);
    [table.label, ...table.columns].forEach((c) => { const th = make(`${key}/h/${c}`, head, "th", { scope: "col" }); say(th, c); });
    for (const [name, row] of table.rows) {
      const tr = make(`${key}/r/${name}`, body, "tr");
      say(make(`${key}/r/${name}/n`, tr, "th", { scope: "row" }), name);
      for (const c of table.columns) {
        const v = row.get(c), td = make(`${key}/r/${name}/${c}`, tr, "td");
        say(td, v ? picture.number(v.value) + unitOf(v) : "");
        td.className = v && isAlarm(v) ? "alarm" : "";
        if (v && v.metric) td.dataset.metric = v.metric;
      }
    }
  }

  function figure(key, parent, kind, title) {
    const f = make(key, parent, "figure", { className: kind }), caption = make(key + "/c", f, "figcaption");
    say(make(key + "/s", caption, "span"), title);
    const canvas = make(key + "/p", f, "canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", title);
    return { canvas, caption };
  }
  function switchOf(key, caption, text, on) {
    const b = make(key, caption, "button", { type: "button", textContent: text });
    if (!b.hasAttribute("aria-pressed")) {
      b.setAttribute("aria-pressed", String(Boolean(on)));
      b.onclick = () => { b.setAttribute("aria-pressed", String(b.getAttribute("aria-pressed") !== "true")); draw(); };
    }
    return b.getAttribute("aria-pressed") === "true";
  }

  function showMap(key, parent, about) {
    const { canvas, caption } = figure(key, parent, "map", about.title);
    let chosen = about.number;
    if (about.count > 1) {
      const input = make(key + "/n", caption, "input", { type: "number", min: 0, max: about.count - 1, value: 0, title: `0 to ${about.count - 1}` });
      input.setAttribute("aria-label", `${about.title}, 0 to ${about.count - 1}`);
      input.onchange = poll;
      chosen += Math.min(about.count - 1, Math.max(0, Math.floor(Number(input.value) || 0)));
    }
    const log = switchOf(key + "/l", caption, "log", false), m = maps.get(chosen);
    maps.set(chosen, m || null);
    if (m) {
      picture.cells(canvas, m, about, log);
      canvas.setAttribute("aria-label", `${about.title}: ${m.width} × ${m.height}, at most ${picture.number(m.largest)} ${about.unit || ""}`);
    }
    return chosen;
  }

  function showEvent(parent) {
    const { canvas, caption } = figure("event", parent, "event", shown ? picture.eventWords(shown) : "No event yet");
    held = switchOf("event/hold", caption, "hold", false);
    if (!canvas.onkeydown) {
      const turn = (dx, dy, zoom) => { view.turn += dx; view.tilt += dy; view.zoom *= zoom; draw(); };
      const keys = { ArrowLeft: [0, -0.1, 1], ArrowRight: [0, 0.1, 1], ArrowUp: [-0.1, 0, 1], ArrowDown: [0.1, 0, 1], "+": [0, 0, 1.25], "-": [0, 0, 0.8] };
      canvas.tabIndex = 0;
      canvas.onkeydown = (e) => {
        if (e.key === " ") made.get("event/hold").click();
        else if (e.key === "0") { Object.assign(view, { turn: 0.6, tilt: 0.15, zoom: 1 }); draw(); }
        else if (keys[e.key]) turn(...keys[e.key]);
        else return;
        e.preventDefault();
      };
      canvas.onpointermove = (e) => { if (e.buttons) turn(e.movementY / 150, e.movementX / 200, 1); };
      canvas.addEventListener("wheel", (e) => { if (document.activeElement === canvas) { e.preventDefault(); turn(0, 0, e.deltaY < 0 ? 1.15 : 0.87); } }, { passive: false });
    }
    if (shown) {
      picture.event(canvas, shown, view);
      canvas.dataset.event = shown.number;
    }
  }

  function draw() {
    if (!status) return;
    const main = document.querySelector("main");
    for (const [name, g] of arrange(status)) {
      const key = "g/" + name, section = make(key, main, "section");
      if (g.values.length + g.texts.length > 4 || g.plots.length + g.maps.length > 1) section.className = "wide";
      say(make(key + "/h", section, "h2"), name);
      const tiles = make(key + "/tiles", section, "dl", { className: "tiles" });
      for (const v of g.values) tile(`${key}/v/${v.title}`, tiles, v, picture.number(v.value) + unitOf(v));
      for (const t of g.texts) tile(`${key}/t/${t.title}`, tiles, t, t.text || "none");
      if (g.table) showTable(key + "/table", section, g.table);
      const figures = make(key + "/figures", section, "div", { className: "figures" });
      for (const v of status.values.filter((s) => s.group === name && s.series !== undefined)) {
        const title = (v.is ? v.is + ": " : "") + v.title + (v.rate !== undefined ? " a second" : "");
        const { canvas } = figure(`${key}/s/${v.series}`, figures, "history", title), last = v.rate !== undefined ? v.rate : v.value;
        picture.history(canvas, kept.seconds, kept.series[v.series] || [], v.unit || (v.rate !== undefined ? "1/s" : ""));
        canvas.setAttribute("aria-label", `${title}, the last ten minutes; now ${picture.short(last)}`);
      }
      for (const p of g.plots) {
        const { canvas, caption } = figure(`${key}/p/${p.title}`, figures, "plot", p.title);
        picture.histogram(canvas, p, switchOf(`${key}/p/${p.title}/l`, caption, "log", p.log));
        canvas.setAttribute("aria-label", picture.words(p));
      }
      g.maps.forEach((m) => { m.chosen = showMap(`${key}/m/${m.title}`, figures, m); });
    }
    if (status.events.length || shown) showEvent(make("event/figures", make("event/section", main, "section", { className: "wide" }), "div", { className: "figures" }));
  }

  function showHead(missing) {
    const state = document.getElementById("state");
    say(state, stateWords(status, missing));
    state.className = missing > 0 ? "gone" : status.state;
    say(document.getElementById("name"), `${status.program} ${status.command}`);
    say(document.getElementById("title"), status.title);
    say(document.getElementById("when"), `${picture.duration(status.seconds)} since ${new Date(1000 * status.began).toLocaleString()}`);
    document.title = `${isAny(status) ? "\u25b2 " : ""}${status.command}: ${status.state}`;
    const told = document.getElementById("told");
    status.told.forEach((t, i) => say(make("told/" + i, told, "p"), t.text + (t.count > 1 ? ` (${picture.number(t.count)} times)` : "")));
  }
  const isAny = (s) => s.state === "failed" || s.values.some(isAlarm) || s.texts.some(isAlarm);

  function complain(text) {
    say(document.getElementById("state"), text);
    document.getElementById("state").className = "gone";
  }

  // ---- asking ------------------------------------------------------------------------------------

  async function more() {
    const wanted = status.maps.map((m) => m.chosen).filter((n) => n !== undefined);
    for (const n of maps.keys()) if (!wanted.includes(n)) maps.delete(n);
    await Promise.all(wanted.map(async (n) => {
      const r = await ask("map.bin?block=" + n);
      if (r.ok) maps.set(n, picture.map(await r.arrayBuffer()));
    }));
    if (status.events.length && !held && (!shown || shown.number !== status.events[0])) {
      const r = await ask("event.json");
      if (r.ok) shown = await r.json();
    }
  }

  let asking = false;
  async function poll() {
    if (asking) return;
    asking = true;
    let got = false;
    try {
      const r = await ask("status.json" + (fresh ? "" : "?history=1"));
      if (r.status === 401) complain("this page needs its token: put #TOKEN behind its address, then load it again");
      else if (!r.ok) complain(`refused: ${r.status} ${await r.text()}`);
      else {
        const next = await r.json();
        got = true;
        if (isAnother(status, next)) return void location.reload(); // nothing of the run before stays
        status = next;
        kept = remember(kept, status);
        answered = Date.now();
        fresh = true;
        showHead(0);
        draw();
        got = false;
        await more();
        got = true;
        draw();
      }
    } catch (e) {
      fresh = false; // it may be another run's page that answers next
      if (got) {
        complain(`the page itself has failed: ${e.message}`);
        console.error(e);
      } else if (status) showHead((Date.now() - answered) / 1000);
      else complain("no answer yet");
    }
    asking = false;
  }

  function start() {
    token = tokenOf(location.hash);
    const again = async () => {
      await poll();
      const calm = status && (status.state === "finished" || status.state === "failed");
      const gone = answered && Date.now() - answered > 15000;
      setTimeout(again, calm || gone ? 3000 : 1000 * (status ? Math.max(0.2, status.period) : 1));
    };
    addEventListener("resize", draw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    again();
  }

  return { tokenOf, arrange, remember, isAlarm, isAnother, stateWords, start };
})();
if (typeof document !== "undefined") page.start();
else if (typeof module !== "undefined") module.exports = { picture, page };
