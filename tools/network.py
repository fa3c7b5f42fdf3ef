#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What share of its links does an event builder use? A simulation of transfers in a fat tree, for docs/scale.md.

    tools/network.py                                          the builder of docs/scale.md
    tools/network.py --events 300,3000,30000 --in-flight 1,2  a row for each combination: every option takes a list
    tools/network.py --events 100:100000 --svg packs.svg      five sizes of packs a decade, as a drawing too
    tools/network.py --self-test                              cases whose answer is known

N units, each with one link of full duplex to a leaf switch; a leaf has a link to each of its spine switches. Every unit holds
a part of every event and builds every Nth pack of events, so each needs a pack of each. Transfers are fluids: what runs at one
time shares the links by max-min fairness, and from one end or beginning of a transfer to the next rates stand. There are no
packets in it, nor buffers of switches that overflow or block others: what it says of bad orders is the best that they can do.

Orders: `steps`, in step k all units send to the kth after them, and nobody begins step k + 1 before all are through; `shift`, a
builder asks one unit after the other, beginning with the next one, with so many packs in flight and no other word between
units; `random`, the same, each in an order of its own for each pack.
"""
import argparse
import collections
import itertools
import sys

try:
    import numpy as np
except ImportError:
    print("network.py: this needs NumPy: /usr/bin/python3 and Debian's python3-numpy", file=sys.stderr)
    sys.exit(77)

Network = collections.namedtuple("Network", "units ring capacity up down leaf")
LINKS = 4 # of a transfer: out of a unit, up, down, into a unit


def network(units, gbps, leaf, uplinks, placement, routing, ghosts, rng):
    """Links are numbered: out of units, into units, up from leaves, down to leaves, and one without a limit for what needs none.
    `ring` is the number of places in the order of the shift: units and, after them, ghosts that send nothing."""
    ring = -(-units // leaf) * leaf if ghosts else units
    leaves = -(-units // leaf)
    port = np.arange(units)
    if placement == "random":
        port = rng.permutation(leaves * leaf)[:units]
    elif placement == "round": # one leaf after the other, as a list of hosts that is sorted by something else may do
        port = port % leaves * leaf + port // leaves
    where = port // leaf
    # The spine of a destination is in the tables of the switches: its port modulo the spines, or drawn for each leaf and destination.
    spine = np.tile(port % uplinks, (leaves, 1)) if routing == "modulo" else rng.integers(0, uplinks, (leaves, units))
    first_up, first_down = 2 * units, 2 * units + leaves * uplinks
    capacity = np.full(first_down + leaves * uplinks + 1, gbps * 1e9 / 8)
    capacity[-1] = np.inf
    at = np.arange(leaves)[:, None] * uplinks
    return Network(units, ring, capacity, first_up + at + spine, first_down + where * uplinks + spine, where)


def links_of(net, source, target):
    """The links of each transfer, one column each; those within a leaf use no spine."""
    here, none = net.leaf[source], len(net.capacity) - 1
    within = here == net.leaf[target]
    return np.stack([source, np.where(within, none, net.up[here, target]), np.where(within, none, net.down[here, target]),
                     net.units + target], axis=1)


def fair_rates(links, capacity):
    """Max-min fair rates of transfers. A link is filled when none of its transfers has a narrower one: then those get its share."""
    rate, which_is, left, n = np.empty(len(links)), np.arange(len(links)), capacity.copy(), len(capacity)
    while len(links):
        share = (left / np.maximum(np.bincount(links.ravel(), minlength=n), 1))[links]
        least = share.min(axis=1)
        narrow = share > (least * (1 + 1e-9))[:, None]
        waits = np.zeros(n, dtype=bool)
        waits[links[narrow]] = True # some transfer of such a link is held elsewhere: it is not filled yet
        waits[-1] = True
        found = (~waits[links]).any(axis=1)
        rate[which_is[found]] = least[found]
        left -= np.bincount(links[found].ravel(), weights=np.repeat(least[found], LINKS), minlength=n)
        np.maximum(left, 0, out=left)
        links, which_is = links[~found], which_is[~found]
    return rate


def drain(net, source, target, size):
    """Seconds until the last of those transfers has ended that begin together."""
    seconds, left = 0.0, size
    while len(source):
        rate = fair_rates(links_of(net, source, target), net.capacity)
        step = (left / rate).min()
        seconds += step
        left = left - rate * step
        going = left > 1e-6 * size
        source, target, left, size = source[going], target[going], left[going], size[going]
    return seconds


def in_steps(net, size, overhead, latency):
    """One round of the shift with a barrier after every step."""
    seconds, moved = 0.0, 0.0
    for k in range(1, net.ring):
        source = np.arange(net.units)
        target = (source + k) % net.ring
        real = target < net.units
        seconds += overhead + latency + drain(net, source[real], target[real], size[source[real]])
        moved += size[source[real]].sum()
    return seconds, moved


class Builders:
    """Builders that pull, each with so many packs in flight, from round to round without an end."""

    def __init__(self, net, size, order, in_flight, overhead, latency, queue, rng):
        self.net, self.size, self.order, self.rng = net, size, order, rng
        self.overhead, self.latency, self.queue, self.in_flight = overhead, latency, queue, in_flight
        n = net.units * in_flight
        self.target = np.repeat(np.arange(net.units), in_flight)
        self.source = np.zeros(n, dtype=np.int64)
        self.links = np.zeros((n, LINKS), dtype=np.int64)
        source, target = (grid.ravel() for grid in np.indices((net.units, net.units)))
        self.table = links_of(net, source, target).reshape(net.units, net.units, LINKS)
        self.left = np.zeros(n)
        self.begins = np.full(n, np.inf)  # when bytes begin to flow
        self.flows = np.zeros(n, dtype=bool)
        self.waits = np.zeros(n, dtype=bool) # for its pack, which has not come
        self.oldest = np.arange(net.units) * in_flight
        self.free = np.zeros(net.units)   # when a builder's processor is free to ask for the next
        self.lists = [self.sources(builder) for builder in range(net.units)]
        self.asked = [collections.deque() for _ in range(net.units)]
        self.now = self.moved = 0.0
        apart = size.mean() / net.capacity[0] / in_flight # packs that begin together end together, and hide no latency
        for turn in range(in_flight):
            for builder in range(net.units):
                self.ask(builder * in_flight + turn)
                self.begins[builder * in_flight + turn] += turn * apart

    def sources(self, builder):
        """Whom a builder asks, round after round."""
        while True:
            ring = (builder - np.arange(self.net.ring)) % self.net.ring
            order = self.rng.permutation(self.net.units) if self.order == "random" else ring
            yield from (int(s) for s in order if s != builder)

    def ask(self, slot):
        """The next pack for this place: the builder's processor takes `overhead` for each, the first byte `latency`. Instead of a
        ghost's pack a builder waits as long as a pack takes, so as to remain in step with the others."""
        builder = self.target[slot]
        source, begin = next(self.lists[builder]), max(self.free[builder], self.now)
        while source >= self.net.units:
            begin += self.overhead + self.latency + self.in_flight * self.size.mean() / self.net.capacity[0]
            source = next(self.lists[builder])
        self.free[builder] = begin + self.overhead
        self.source[slot], self.left[slot], self.waits[slot] = source, self.size[source], True
        self.links[slot] = self.table[source, builder]
        self.begins[slot] = self.free[builder] + self.latency

    def begin(self):
        for slot in np.flatnonzero(self.begins <= self.now * (1 + 1e-12) + 1e-15):
            self.begins[slot] = np.inf
            if self.queue: # a unit serves one builder at a time, in the order in which they ask
                waiting = self.asked[self.source[slot]]
                waiting.append(slot)
                self.flows[slot] = waiting[0] == slot
            else:
                self.flows[slot] = True

    def end(self, slot):
        self.flows[slot] = False
        if self.queue:
            waiting = self.asked[self.source[slot]]
            waiting.popleft()
            if waiting:
                self.flows[waiting[0]] = True
        builder = self.target[slot]
        first, self.waits[slot] = self.oldest[builder], False
        while not self.waits[first]: # in order: a pack's place is free when those before it have come, too
            self.ask(first)
            first += 1 if (first + 1) % self.in_flight else 1 - self.in_flight
        self.oldest[builder] = first

    def run(self, until):
        """Until so many bytes have moved since the beginning; the time is the one at which the last of them arrives."""
        while self.moved < until * (1 - 1e-12):
            self.begin()
            go = np.flatnonzero(self.flows)
            step = self.begins.min() - self.now
            if len(go):
                rate = fair_rates(self.links[go], self.net.capacity)
                total = rate.sum()
                step = min(step, (self.left[go] / rate).min(), (until - self.moved) / total)
                self.left[go] -= rate * step
                self.moved += total * step
            self.now += step
            for slot in go[self.left[go] <= 1e-6 * self.size[self.source[go]]]:
                self.end(slot)
        return self.now


def simulate(o):
    """The delivered share of the links in one round of packs."""
    rng = np.random.default_rng(o.seed)
    net = network(o.units, o.gbps, o.leaf, o.uplinks or o.leaf, o.placement, o.routing, o.ghosts, rng)
    size = np.full(o.units, o.events * o.event_size / o.units)
    factor = np.maximum(rng.normal(1, o.imbalance, o.units), 0.1)
    size, overhead, latency = size * factor / factor.mean(), o.overhead * 1e-6, o.latency * 1e-6
    if o.order == "steps":
        seconds, moved = in_steps(net, size, overhead, latency)
    else:
        builders = Builders(net, size, o.order, o.in_flight, overhead, latency, o.serve == "queue", rng)
        whole = size.sum() * (o.units - 1)
        begin = builders.run(whole * o.after)
        seconds, moved = builders.run(whole * (o.after + 1)) - begin, whole
    return moved / (seconds * o.units * o.gbps * 1e9 / 8)


# What is printed and drawn ---------------------------------------------------------------------------------------------

KINDS = {"units": int, "gbps": float, "leaf": int, "uplinks": int, "placement": ("leaf", "round", "random"),
         "routing": ("modulo", "random"), "ghosts": ("no", "yes"), "order": ("steps", "shift", "random"), "in-flight": int,
         "serve": ("share", "queue"), "events": int, "event-size": float, "overhead": float, "latency": float, "imbalance": float,
         "after": float, "seed": int}
HELP = {"units": ("170", "units, each a source and a builder"), "gbps": ("200", "Gb/s of a link, each way"),
        "leaf": ("20", "units of a leaf switch"), "uplinks": ("0", "links from a leaf to the spines; 0: as many as it has units"),
        "placement": ("leaf", "units' numbers along the leaves, round them, or at random"),
        "routing": ("modulo", "spine by the destination's port, or at random for each leaf and destination"),
        "ghosts": ("no", "fill the last leaf with places that send nothing"),
        "order": ("shift", "steps, shift, random: see above"), "in-flight": ("2", "packs that a builder waits for at once"),
        "serve": ("share", "a unit's packs share its link, or wait for each other"),
        "events": ("30000", "events of a pack; A:B for five sizes a decade"), "event-size": ("100000", "bytes of an event"),
        "overhead": ("1", "us of a builder's processor for each pack"), "latency": ("15", "us from asking to a pack's first byte"),
        "imbalance": ("0", "spread of the units' sizes (standard deviation over mean)"),
        "after": ("0.5", "rounds of packs before the one that is measured; no matter for steps"), "seed": ("1", "of all that is random")}


def values(name, text):
    kind = KINDS[name]
    found = text.split(",")
    if isinstance(kind, tuple):
        for value in found:
            if value not in kind:
                sys.exit(f"network.py: --{name}: {value} is none of {', '.join(kind)}")
        return [value == "yes" for value in found] if name == "ghosts" else found
    try:
        if name == "events" and ":" in text:
            low, high = (np.log10(max(1, int(t))) for t in text.split(":"))
            found = [round(10 ** x) for x in np.linspace(low, high, round((high - low) * 5) + 1)]
        numbers = [kind(value) for value in found]
    except (ValueError, OverflowError):
        sys.exit(f"network.py: --{name}: {text} is no list of numbers")
    least = 2 if name == "units" else 1 if name in ("leaf", "in-flight", "events", "gbps", "event-size") else 0
    return numbers if min(numbers, default=-1) >= least else sys.exit(f"network.py: --{name}: {least} is the least")


def rows(options):
    lists = {name.replace("-", "_"): values(name, getattr(options, name.replace("-", "_"))) for name in KINDS}
    for combination in itertools.product(*lists.values()):
        yield argparse.Namespace(**dict(zip(lists, combination)))


def table(found):
    """Columns: what there is more than one value of, then pack, share, rates."""
    told = [name for name in KINDS if len({getattr(o, name.replace("-", "_")) for o, _ in found}) > 1]
    heads = told + ["pack, MB", "share, %", "Gb/s a unit", "MHz"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for o, share in found:
        whole = share * o.units / (o.units - 1) # a unit's own part of its packs crosses no link
        mine = [getattr(o, name.replace("-", "_")) for name in told]
        cells = [("yes" if m else "no") if isinstance(m, bool) else f"{m:g}" if isinstance(m, float) else str(m) for m in mine]
        cells += [f"{o.events * o.event_size / o.units / 1e6:.3g}", f"{100 * share:.1f}", f"{share * o.gbps:.1f}",
                  f"{whole * o.gbps * 1e9 / 8 * o.units / o.event_size / 1e6:.1f}"]
        print("| " + " | ".join(cells) + " |")


def drawing(found, path):
    """Share against the events of a pack, a curve for each combination of the rest."""
    told = [n for n in KINDS if n != "events" and len({getattr(o, n.replace("-", "_")) for o, _ in found}) > 1]
    curves = collections.defaultdict(list)
    for o, share in found:
        curves[", ".join(f"{n} {getattr(o, n.replace('-', '_'))}" for n in told)].append((o.events, share))
    low, high = (np.log10(f(o.events for o, _ in found)) for f in (min, max))
    left, top, wide, tall = 56, 16, 420, 260
    x = lambda events: left + wide * (np.log10(events) - low) / max(high - low, 1e-9)
    y = lambda share: top + tall * (1 - share)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 170}" height="{top + tall + 46}" '
           'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>']
    for percent in range(0, 101, 20):
        out.append(f'<path d="M{left} {y(percent / 100):.1f}h{wide}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y(percent / 100) + 4:.1f}" text-anchor="end">{percent}</text>')
    for decade in range(int(np.ceil(low - 1e-9)), int(np.floor(high + 1e-9)) + 1):
        out.append(f'<path d="M{x(10 ** decade):.1f} {top}v{tall}" stroke="#ddd"/>'
                   f'<text x="{x(10 ** decade):.1f}" y="{top + tall + 16}" text-anchor="middle">{10 ** decade}</text>')
    colours = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#b8860b", "#333333")
    ends = []
    for colour, (name, points) in zip(itertools.cycle(colours), curves.items()):
        line = " ".join(f"{x(e):.1f},{y(s):.1f}" for e, s in sorted(points))
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        ends.append((y(max(points)[1]), colour, name))
    free = 0
    for place, colour, name in sorted(ends): # names at the curves' ends, one below the other
        place = max(place, free)
        free = place + 15
        out.append(f'<text x="{left + wide + 6}" y="{place + 4:.1f}" fill="{colour}">{name}</text>')
    out.append(f'<text x="{left + wide / 2}" y="{top + tall + 36}" text-anchor="middle">events of a pack</text>')
    out.append(f'<text transform="translate(14 {top + tall / 2}) rotate(-90)" text-anchor="middle">share of the links, %</text></svg>')
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(out) + "\n")


# Cases whose answer is known -------------------------------------------------------------------------------------------

def near(what, found, wanted, within):
    if not abs(found - wanted) <= within * abs(wanted):
        sys.exit(f"network.py: {what}: {found}, not {wanted} within {within}")


def plain(**changes):
    texts = dict({name: default for name, (default, _) in HELP.items()}, overhead="0", latency="0", events="1000")
    texts.update({name.replace("_", "-"): str(value) for name, value in changes.items()})
    return next(rows(argparse.Namespace(**{name.replace("-", "_"): text for name, text in texts.items()})))


def pulled(**changes):
    return simulate(plain(**changes))


def self_test():
    rng, c = np.random.default_rng(1), 200e9 / 8
    one = network(8, 200, 8, 8, "leaf", "modulo", False, rng)
    def seconds(net, pairs, sizes):
        s, t = np.array(pairs).T
        return drain(net, s, t, np.array(sizes, dtype=float) * c)
    near("one transfer", seconds(one, [(0, 1)], [1]), 1, 1e-9)
    near("two into one unit share its link", seconds(one, [(0, 2), (1, 2)], [1, 1]), 2, 1e-9)
    near("a short and a long one", seconds(one, [(0, 2), (1, 2)], [1, 3]), 4, 1e-9)
    near("what does not meet", seconds(one, [(0, 1), (1, 0), (2, 3)], [1, 1, 1]), 1, 1e-9)
    for k in (2, 5, 7):
        near(f"{k} into one", seconds(one, [(i, 7) for i in range(k)], [1] * k), k, 1e-9)
    # Max-min: three into unit 4 get a third each, and the other transfer of unit 0 what is left, two thirds.
    rate = fair_rates(links_of(one, np.array([0, 1, 2, 0]), np.array([4, 4, 4, 5])), one.capacity) / c
    for found, wanted in zip(rate, (1 / 3, 1 / 3, 1 / 3, 2 / 3)):
        near("max-min", found, wanted, 1e-9)
    # Four units of a leaf with two uplinks: half of the rate to another leaf, all of it within; one spine for all: a quarter.
    thin = network(8, 200, 4, 2, "leaf", "modulo", False, rng)
    near("two uplinks for four", seconds(thin, [(i, 4 + i) for i in range(4)], [1] * 4), 2, 1e-9)
    near("no uplink within a leaf", seconds(thin, [(0, 1), (1, 2), (2, 3), (3, 0)], [1] * 4), 1, 1e-9)
    full = network(8, 200, 4, 4, "leaf", "modulo", False, rng)
    near("four to one spine", seconds(full, [(0, 4), (1, 4), (2, 4), (3, 4)], [1] * 4), 4, 1e-9)
    # No link carries more than it can, and every transfer has a full link on which none is faster: that is max-min.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        net = network(24, 200, 6, 4, "random", "random", False, rng)
        links = links_of(net, rng.integers(0, 24, 60), rng.integers(0, 24, 60))
        rate = fair_rates(links, net.capacity)
        load = sum(np.bincount(links[:, i], weights=rate, minlength=len(net.capacity)) for i in range(LINKS))
        fastest = np.zeros(len(load))
        np.maximum.at(fastest, links, rate[:, None])
        held = (load[links] > net.capacity[links] * (1 - 1e-6)) & (rate[:, None] >= fastest[links] * (1 - 1e-6))
        if (load > net.capacity * (1 + 1e-6)).any() or not held.any(axis=1).all():
            sys.exit(f"network.py: rates of seed {seed} are not max-min fair")
    for order in ("steps", "shift"):
        near(f"{order} on a crossbar", pulled(units=16, leaf=16, order=order), 1, 1e-9)
        near(f"{order} on a full fat tree", pulled(units=16, leaf=4, order=order), 1, 1e-9)
        near(f"{order} with two ghosts", pulled(units=10, leaf=4, order=order, in_flight=1, ghosts="yes"), 9 / 11, 1e-9)
    pack = 1000 * 1e5 / 16 / c * 1e6 # us
    near("overhead in steps", pulled(units=16, leaf=16, order="steps", overhead=pack), 0.5, 1e-6)
    near("overhead, one in flight", pulled(units=16, leaf=16, in_flight=1, overhead=pack / 2, latency=pack / 2), 0.5, 1e-6)
    near("latency is hidden by two in flight", pulled(units=16, leaf=16, in_flight=2, latency=pack / 2), 1, 1e-6)
    # Of units that differ, the largest decides.
    factor = np.maximum(np.random.default_rng(1).normal(1, 0.2, 16), 0.1)
    near("imbalance in steps", pulled(units=16, leaf=16, order="steps", imbalance=0.2), factor.mean() / factor.max(), 1e-9)
    near("imbalance, in turn", pulled(units=16, leaf=16, in_flight=1, serve="queue", imbalance=0.2), factor.mean() / factor.max(), 0.04)
    # A closed network of N queues and N customers: 1/2 with shared service, 2 - sqrt(2) in order of arrival, equal sizes.
    near("random order, shared", pulled(units=48, leaf=48, order="random", in_flight=1), 0.5, 0.06)
    near("random order, queues", pulled(units=48, leaf=48, order="random", in_flight=1, serve="queue"), 2 - 2 ** 0.5, 0.06)
    # Bytes: what has moved is what packs that have ended and the parts of the others say.
    net = network(12, 200, 4, 4, "random", "modulo", False, rng)
    builders = Builders(net, np.full(12, 1e6), "random", 2, 1e-5, 1e-5, False, rng)
    ended, first_end = [0], builders.end
    def end(slot):
        ended[0] += builders.size[builders.source[slot]]
        first_end(slot)
    builders.end = end
    builders.run(5e7)
    started = np.where(builders.flows, builders.size[builders.source] - builders.left, 0).sum()
    near("bytes", ended[0] + started, 5e7, 1e-6)
    near("one seed, one result", pulled(units=12, leaf=4, order="random"), pulled(units=12, leaf=4, order="random"), 0)
    print("network.py: all cases as they should be")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, (default, text) in HELP.items():
        kind = KINDS[name]
        parser.add_argument(f"--{name}", default=default, metavar="|".join(kind) if isinstance(kind, tuple) else "N",
                            help=f"{text} ({default})")
    parser.add_argument("--svg", metavar="FILE", help="draw the share against the events of a pack")
    parser.add_argument("--self-test", action="store_true", help="cases whose answer is known")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    found = [(o, simulate(o)) for o in rows(options)]
    table(found)
    return drawing(found, options.svg) if options.svg else None


if __name__ == "__main__":
    main()
