# SPDX-License-Identifier: Apache-2.0
"""Docstrings: each public name has one that says something, and that Sphinx can read (docs/site/conf.py makes code of indented lines)."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import types

import pytest

import sluice

MODULES = ("image", "velo", "hlt1", "pixel", "cms", "pet", "io", "sim", "plot", "compat.ndimage", "compat.cv2", "compat.skimage")


def public():
    """(name, object) of all that users call: functions, classes and their methods."""
    modules = [sluice]
    for name in MODULES:
        try:
            modules.append(importlib.import_module(f"sluice.{name}"))
        except ModuleNotFoundError as missing:
            assert missing.name == f"sluice.{name}", missing
    for module in modules:
        yield module.__name__, module
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, types.ModuleType) or not callable(thing):
                continue
            yield f"{module.__name__}.{name}", thing
            for below, member in vars(thing).items() if isinstance(thing, type) and thing.__module__.startswith("sluice") else ():
                if not below.startswith("_") and (callable(member) or isinstance(member, (property, classmethod, types.GetSetDescriptorType))):
                    yield f"{module.__name__}.{name}.{below}", member


ALL = dict(public())


def test_there_is_one_for_each():
    assert len(ALL) > 60
    without = [name for name, thing in ALL.items() if len(inspect.getdoc(thing) or "") < 8]
    assert without == []


def test_those_of_functions_say_more_than_their_names():
    """A function that takes something says what: 60 characters are a sentence or two."""
    short = []
    for name, thing in ALL.items():
        if inspect.isroutine(thing) and inspect.ismodule(ALL.get(name.rpartition(".")[0])):
            try:
                takes = [one for one in inspect.signature(thing).parameters if one != "self"]
            except ValueError:
                takes = [] if name in ("sluice.version", "sluice.targets", "sluice.devices") else ["?"]
            if takes and len(inspect.getdoc(thing) or "") < 60:
                short.append(f"{name}: {inspect.getdoc(thing)}")
    assert short == []


def code_marked(lines):
    """As docs/site/conf.py has it."""
    names = {}
    text = (pathlib.Path(__file__).parents[2] / "docs/site/conf.py").read_text(encoding="utf-8")
    begin = text.index("def docstring(")
    exec("from typing import Any\n" + text[begin : text.index("def setup(")], names)
    names["docstring"](None, "", "", None, None, lines)
    return lines


def test_sphinx_can_read_them():
    pytest.importorskip("docutils")
    from docutils import core, nodes
    from docutils.parsers.rst import Directive, directives, roles

    class Ignored(Directive):
        has_content, optional_arguments = True, 1

        def run(self):
            return []

    directives.register_directive("code-block", Ignored)
    for role in ("func", "class", "data", "meth", "attr", "mod", "exc"):
        roles.register_local_role(role, lambda name, raw, text, *_: ([nodes.literal(raw, text)], []))
    wrong = []
    for name, thing in ALL.items():
        text = "\n".join(code_marked((inspect.getdoc(thing) or "").split("\n")))
        made = core.publish_doctree(text, settings_overrides={"report_level": 5, "default_role": None})
        wrong += [f"{name}: {message.astext()}" for message in made.findall(nodes.system_message) if message["level"] >= 2]
    assert wrong == []
