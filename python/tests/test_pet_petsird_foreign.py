# SPDX-License-Identifier: Apache-2.0
"""Files of PETSIRD as another program writes them, of a scanner that is none of ours: made by an encoder that knows yardl's
binary form (the reference of microsoft/yardl) and the schema, and nothing of the library."""

from __future__ import annotations

import json
import os
import struct
import subprocess

import numpy as np
import pytest

from sluice import pet

COMMAND = os.environ["SLUICE_COMMAND"]
MM_PER_PS = 0.299792458 / 2


# ---- the encoder ---------------------------------------------------------------------------------


def number(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


class Encoder:
    def __init__(self, schema):
        self.schema = schema
        self.named = {one["name"]: one for one in json.loads(schema)["types"]}

    def put(self, kind, value, bound):
        if isinstance(kind, str):
            kind = kind.split(".")[-1]
            if kind in bound:
                return self.put(*(bound[kind][0], value, bound[kind][1]))
            if kind in ("uint8", "uint32", "uint64", "size"):
                return number(value)
            if kind in ("int32", "int64", "datetime"):
                return number(2 * value if value >= 0 else -2 * value - 1)
            if kind == "float32":
                return struct.pack("<f", value)
            if kind == "string":
                return number(len(value.encode())) + value.encode()
            return self.name(kind, [], value, bound)
        if isinstance(kind, list):  # null comes first, or cases by their tags: value is (tag, value)
            if kind[0] is None:
                return b"\0" if value is None else b"\1" + self.put(kind[1], value, bound)
            case = next(i for i, one in enumerate(kind) if one["tag"] == value[0])
            return number(case) + self.put(kind[case]["type"], value[1], bound)
        if "name" in kind:
            return self.name(kind["name"].split(".")[-1], kind["typeArguments"], value, bound)
        if "vector" in kind:
            items = b"".join(self.put(kind["vector"]["items"], one, bound) for one in value)
            return items if "length" in kind["vector"] else number(len(value)) + items
        array = kind["array"]
        value, sizes = np.asarray(value), array.get("dimensions")
        fixed = isinstance(sizes, list) and all("length" in one for one in sizes)
        head = b"" if fixed else b"".join(map(number, value.shape))
        return head + b"".join(self.put(array["items"], one.item(), bound) for one in value.ravel())

    def name(self, name, arguments, value, bound):
        one = self.named[name]
        bound = {p: (a, bound) for p, a in zip(one.get("typeParameters", []), arguments)}
        if "fields" in one:
            return b"".join(self.put(f["type"], value[f["name"]], bound) for f in one["fields"])
        if "values" in one:
            return self.put("int32", next(v["value"] for v in one["values"] if v["symbol"] == value), {})
        return self.put(one["type"], value, bound)

    def file(self, header, blocks):
        out = b"yardl" + struct.pack("<I", 1) + self.put("string", self.schema, {}) + self.put("Header", header, {})
        return out + b"".join(b"\1" + self.put("TimeBlock", one, {}) for one in blocks) + b"\0"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    path = tmp_path_factory.mktemp("schema") / "a.petsird"
    with pet.ListWriter(path, "vectors", window_ns=4):
        pass
    data, size, shift, at = path.read_bytes(), 0, 0, 9
    while True:
        size, shift, at = size | (data[at] & 127) << shift, shift + 7, at + 1
        if data[at - 1] < 128:
            return Encoder(data[at : at + size].decode())


# ---- a scanner -----------------------------------------------------------------------------------

CORNERS = [6, 1, 4, 0, 7, 2, 5, 3]  # their order is not told


def box(size):
    corners = [[(i >> k & 1) * size[k] - size[k] / 2 for k in range(3)] for i in CORNERS]
    return {"shape": {"corners": [{"c": c} for c in corners]}, "materialId": 0}


def frame(turn, shift):
    return {"matrix": np.hstack([turn, np.reshape(shift, (3, 1))])}


def around_z(degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


# A box's x lies along the scanner's z, its y is its depth, its z goes across.
TO_SCANNER = np.array([[0.0, -1, 0], [0, 0, 1], [1, 0, 0]]) * [[1], [-1], [1]]


def panel(ny, nz, size, turns, distance):
    """A module type: its elements, and modules around the axis. Its crystals' middles, normals and axes beside it."""
    places = [[0, y - (ny - 1) / 2, z - (nz - 1) / 2] * np.array([0, size[2] + 0.1, size[0] + 0.1]) for y in range(ny) for z in range(nz)]
    elements = [frame(TO_SCANNER, p) for p in places]
    modules = [frame(around_z(t), around_z(t) @ [distance, 0, 3.5 * i]) for i, t in enumerate(turns)]
    rows = [(around_z(t) @ (np.array(p) + [distance, 0, 0]) + [0, 0, 3.5 * i], around_z(t) @ [-1, 0, 0]) for i, t in enumerate(turns) for p in places]
    part = {
        "object": {"detectingElements": {"object": box(size), "transforms": elements}, "nonDetectingElements": []},
        "transforms": modules,
    }
    return part, np.array([r[0] for r in rows]), np.array([r[1] for r in rows])


def header(types, **more):
    n = len(types)
    bins = {"edges": [-600.0, 600.0]}
    counts = [len(t["transforms"]) * len(t["object"]["detectingElements"]["transforms"]) for t in types]
    scanner = {
        "modelName": "nobody's panels",
        "scannerGeometry": {"replicatedModules": types, "nonDetectingVolumes": None},
        "bulkMaterials": [],
        "gantryAlignment": frame(around_z(30), [0, 0, 0]),
        "tofBinEdges": [[bins] * (t + 1) for t in range(n)],
        "tofResolution": [[1200.0] * (t + 1) for t in range(n)],
        "eventEnergyBinEdges": [{"edges": [430.0, 650.0]}] * n,
        "energyResolutionAt511": [0.0] * n,
        "singlesHistogramLevel": "none",
        "singlesHistogramEnergyBinEdges": [],
        "singleEventPolicy": "none",
        "promptEventPolicy": "rejectHigherMultiples",
        "delayedEventPolicy": "none",
        "tripleEventPolicy": "none",
        "quadrupleEventPolicy": "none",
        "detectionEfficiencies": {
            "methodDescription": "",
            "calibrationFactor": 1.0,
            "detectionBinEfficiencies": [np.ones(c) for c in counts],
            "modulePairSGIDLUT": [],
            "modulePairEfficienciesVectors": [],
        },
    }
    for name, value in more.items():
        place = scanner if name in scanner else scanner["detectionEfficiencies"]
        place[name] = value
    return {"scanner": scanner, "exam": None}


def block(ms, prompts):
    """prompts[t1][t2]: triples of bins and time of flight."""
    events = [[[{"detectionBins": e[:2], "tofIdx": e[2]} for e in pairs] for pairs in row] for row in prompts]
    lists = {"promptEvents": events, "delayedEvents": [], "singleEvents": [], "tripleEvents": [], "quadrupleEvents": []}
    return ("EventTimeBlock", {"timeInterval": {"start": ms, "stop": ms + 1}, **lists})


def command(*arguments):
    made = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return made


def castor(folder):
    lut = np.fromfile(folder / "c.lut", "<f4").reshape(-1, 6)
    events = np.fromfile(folder / "c.cdf", "<u4").reshape(-1, 3)
    return lut[:, :3], lut[:, 3:], events


# ---- tests ---------------------------------------------------------------------------------------


def test_its_elements_are_a_table(encoder, tmp_path):
    part, middles, normals = panel(6, 8, (2.0, 15.0, 2.5), (0, 180), 50)
    rng = np.random.default_rng(1)
    pairs = [(int(a), int(b), 0) for a, b in zip(rng.integers(48, 96, 500), rng.integers(0, 48, 500))]
    path = tmp_path / "a.petsird"
    path.write_bytes(encoder.file(header([part]), [block(i, [[pairs[i::5]]]) for i in range(5)]))
    made = command("pet", "list", path, "--format", "petsird", "--to", "castor", "-o", tmp_path / "c.cdh")
    assert "its elements are a table of 96 crystals, 15 mm deep" in made.stderr and "not read" not in made.stderr
    at, towards, events = castor(tmp_path)
    turn = around_z(30)  # the gantry's
    assert np.abs(at - middles @ turn.T).max() < 1e-3
    assert np.abs(np.abs((towards * (normals @ turn.T)).sum(1)) - 1).max() < 1e-4
    assert sorted(map(tuple, events[:, 1:].tolist())) == sorted((p[0], p[1]) for p in pairs)
    # Through Sluice's own writer its modules are two of one type again, and all crystals are where they were.
    command("pet", "list", path, "--format", "petsird", "--to", "petsird", "-o", tmp_path / "b.petsird", "-q")
    command("pet", "list", tmp_path / "b.petsird", "--format", "petsird", "--to", "castor", "-o", tmp_path / "c.cdh", "-q")
    again = castor(tmp_path)
    assert np.abs(again[0] - at).max() < 1e-3 and np.abs(again[1] - towards).max() < 1e-4 and (again[2] == events).all()
    with pet.open_list(path) as reader:
        assert sum(some.n_rows for some in reader) == 500 and reader.about["geometry"].n_crystals == 96 and reader.about["geometry"].crystals is not None


def test_modules_that_are_not_alike(encoder, tmp_path):
    one, middles1, normals1 = panel(4, 5, (2.0, 15.0, 2.5), (0, 90, 180, 270), 60)
    two, middles2, normals2 = panel(3, 3, (4.0, 15.0, 5.0), (45, 225), 80)
    path = tmp_path / "a.petsird"
    prompts = [[[(60, 0, 0), (79, 20, 0)]], [[(17, 5, 0)], [(9, 0, 0)]]]  # t1, t2: (0, 0); (1, 0), (1, 1)
    path.write_bytes(encoder.file(header([one, two], gantryAlignment=None), [block(0, prompts)]))
    made = command("pet", "list", path, "--format", "petsird", "--to", "castor", "-o", tmp_path / "c.cdh")
    assert "a table of 98 crystals" in made.stderr
    at, towards, events = castor(tmp_path)
    assert np.abs(at - np.vstack([middles1, middles2])).max() < 1e-3
    assert np.abs(np.abs((towards * np.vstack([normals1, normals2])).sum(1)) - 1).max() < 1e-4
    assert sorted(map(tuple, events[:, 1:].tolist())) == sorted([(60, 0), (79, 20), (97, 5), (89, 80)])


def test_look(encoder, tmp_path):
    """Lines through (5, -4, 2) are an image there."""
    part, middles, _ = panel(16, 16, (2.0, 15.0, 2.0), (0, 60, 120, 180, 240, 300), 50)
    point, pairs = np.array([5.0, -4.0, 5.0]), []
    for a, at in enumerate(middles):
        to = middles - point
        along = to @ (at - point) / np.linalg.norm(to, axis=1) / np.linalg.norm(at - point)
        b = int(along.argmin())
        if along[b] < -0.9998 and b != a:
            pairs.append((max(a, b), min(a, b), 0))
    assert len(pairs) > 200
    path = tmp_path / "a.petsird"
    path.write_bytes(encoder.file(header([part], gantryAlignment=None), [block(0, [[pairs]])]))
    made = command("pet", "look", path, "-o", tmp_path / "a.png", "--json")
    found = json.loads(made.stdout)
    assert "a table of 1536 crystals" in made.stderr and found["pairs"] == len(pairs)
    assert np.linalg.norm([found["centroid_mm"][k] - p for k, p in zip("xyz", point)]) < 1.5


def test_what_is_ignored_is_told(encoder, tmp_path):
    part, _, _ = panel(2, 2, (2.0, 15.0, 2.5), (0, 180), 50)
    path = tmp_path / "a.petsird"
    more = {
        "calibrationFactor": 2.5,
        "methodDescription": "as they were",
        "energyResolutionAt511": [0.12],
        "singlesHistogramLevel": "module",
        "bulkMaterials": [{"id": 1, "name": "LYSO", "density": 7.1, "atoms": [], "massFractions": []}],
    }
    path.write_bytes(encoder.file(header([part], **more), [block(0, [[[(4, 0, 0)]]])]))
    told = "methodDescription, calibrationFactor 2.5, bulkMaterials, energyResolutionAt511, singlesHistogramLevel"
    for words in (["info", path], ["pet", "list", path, "--format", "petsird"], ["pet", "look", path, "-o", tmp_path / "a.png"]):
        made = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, check=False)
        assert f"a.petsird: not read: {told}\n" in made.stderr, made.stderr
