#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documentation's site: every Markdown file of the tree, the package's docstrings, the notebooks with what they print and draw,
and the C interface from the public headers. Warnings are errors.

    tools/site.py build/dev build/site      # `make site`: a build with SLUICE_PYTHON, and where the pages go

Needs Sphinx, MyST's parser, matplotlib and Doxygen (Debian: python3-sphinx, python3-myst-parser, python3-matplotlib, doxygen; furo for its looks).
`--missing` says which of them are not there, and exits with 77 if any.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.M | re.S)
#: Not documents of the source.
LEFT_OUT = {"build", "demo", ".cache", ".git"}
MODULES = ("image", "velo", "pixel", "cms", "pet", "io", "sim", "plot", "compat")


def missing() -> list[str]:
    """What is needed and not there."""
    gone = [name for name in ("sphinx", "myst_parser", "matplotlib", "numpy") if importlib.util.find_spec(name) is None]
    return gone + ([] if shutil.which("doxygen") else ["doxygen"])


def documents() -> list[pathlib.Path]:
    """Every Markdown file, by its path in the tree."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        found += [pathlib.Path(folder, name).relative_to(ROOT) for name in files if name.endswith(".md")]
    return found


def c_page(header: str) -> str:
    """Doxygen's name of the page of a header."""
    return "c/" + header.replace("_", "__").replace(".", "_8") + ".html"


def relink(match: re.Match[str], page: pathlib.Path) -> str:
    """A link of a document, for the site: to documents as it is, to public headers as Doxygen shows them; else its text alone."""
    picture, text, target = match.groups()
    name, _, _ = target.partition("#")
    if re.match(r"[a-z]+:", target) or not name:
        return match[0]
    there = pathlib.Path(os.path.normpath(page.parent / name))
    if there.suffix in (".md", ".svg", ".png"):
        return match[0]
    if (ROOT / there / "README.md").exists():
        return f"[{text}]({name.rstrip('/')}/README.md)"
    if there.parts[:2] == ("include", "sluice"):
        up = "../" * (len(page.parts) - 1)
        label = re.sub(r"`([^`]*)`", r"<code>\1</code>", text)
        return f'<a href="{up}{c_page(there.name)}">{label}</a>'
    return f"{picture}{text}" if not picture else match[0]


def stage(source: pathlib.Path) -> None:
    """Documents, and pictures in them, as they lie in the tree."""
    for path in documents():
        to = source / path
        to.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / path).read_text(encoding="utf-8")
        parts, at = [], 0
        for fence in FENCE.finditer(text):
            parts += [LINK.sub(lambda m, p=path: relink(m, p), text[at : fence.start()]), fence[0]]
            at = fence.end()
        parts.append(LINK.sub(lambda m, p=path: relink(m, p), text[at:]))
        to.write_text("".join(parts), encoding="utf-8")
    for picture in (p for suffix in ("svg", "png") for p in ROOT.glob(f"docs/**/*.{suffix}")):
        to = source / picture.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, to)
    for path in (ROOT / "docs/site").iterdir():
        if path.is_file():
            shutil.copy(path, source)
    listed = "".join((source / name).read_text(encoding="utf-8") for name in ("index.rst", "guides.rst", "formats.rst"))
    rest = [path.with_suffix("") for path in sorted(documents(), key=lambda path: (path.name != "README.md", path))]
    with (source / "inside.rst").open("a", encoding="utf-8") as inside:
        for path in rest:
            if f"   {path}\n" not in listed and f"   {path.parent}/*\n" not in listed:
                inside.write(f"   {path}\n")


def modules(source: pathlib.Path, package: pathlib.Path) -> None:
    """A page for each module of the package; for one that is a folder with modules of its own, these below it."""
    (source / "modules").mkdir()
    for name in MODULES:
        if not (package / "sluice" / name).exists() and not (package / "sluice" / f"{name}.py").exists():
            continue
        title = f"sluice.{name}"
        text = f"{title}\n{'=' * len(title)}\n\n.. automodule:: {title}\n   :members:\n   :undoc-members:\n   :imported-members:\n"
        if name == "compat":
            for path in sorted((package / "sluice" / name).glob("[a-z]*.py")):
                below = f"{title}.{path.stem}"
                text += f"\n{below}\n{'-' * len(below)}\n\n.. automodule:: {below}\n   :members:\n   :undoc-members:\n"
        (source / "modules" / f"{name}.rst").write_text(text, encoding="utf-8")


def notebook_page(path: pathlib.Path, source: pathlib.Path, work: pathlib.Path) -> None:
    """A notebook as a page, with what its cells print and draw."""
    sys.path.insert(0, str(ROOT / "python/tests"))
    import notebook_runner

    folder = work / f"run-{path.stem}"
    folder.mkdir()
    text = []
    for number, cell in enumerate(notebook_runner.run(path, folder)[1]):
        if cell.kind == "markdown":
            text.append(cell.source + "\n")
            continue
        text.append(f"```python\n{cell.source}\n```\n")
        told = cell.printed + (f"{cell.value!r}\n" if cell.value is not None else "")
        if told and not told.startswith("<Axes"):
            text.append(f"```none\n{told}```\n")
        for i, picture in enumerate(cell.pictures):
            name = f"{path.stem}-{number}-{i}.png"
            (source / "notebooks" / name).write_bytes(picture)
            text.append(f"![picture]({name})\n")
    (source / "notebooks" / f"{path.stem}.md").write_text("\n".join(text), encoding="utf-8")


def notebooks(source: pathlib.Path, work: pathlib.Path) -> None:
    """All notebooks, each in a process of its own, and their list."""
    (source / "notebooks").mkdir()
    books = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))
    running = [subprocess.Popen([sys.executable, __file__, "--notebook", str(book), str(source), str(work)]) for book in books]
    failed = [book.name for book, process in zip(books, running, strict=True) if process.wait() != 0]
    if failed:
        sys.exit(f"site: {', '.join(failed)} failed")
    names = "".join(f"   {book.stem}\n" for book in books)
    text = "Notebooks\n=========\n\nThey are in ``examples/notebooks``, run here with what they print and draw.\n\n"
    (source / "notebooks/index.rst").write_text(f"{text}.. toctree::\n   :maxdepth: 1\n\n{names}", encoding="utf-8")


DOXYGEN = """
PROJECT_NAME = "libsluice"
PROJECT_NUMBER = {version}
PROJECT_BRIEF = "the C interface"
INPUT = {root}/include/sluice
FILE_PATTERNS = *.h
STRIP_FROM_PATH = {root}/include
OUTPUT_DIRECTORY = {out}
HTML_OUTPUT = c
INPUT_FILTER = "{python} {root}/tools/doxygen-filter.py"
OPTIMIZE_OUTPUT_FOR_C = YES
JAVADOC_AUTOBRIEF = YES
EXTRACT_ALL = YES
TYPEDEF_HIDES_STRUCT = YES
MARKDOWN_SUPPORT = NO
MACRO_EXPANSION = NO
SEARCH_INCLUDES = NO
SORT_MEMBER_DOCS = NO
GENERATE_LATEX = NO
GENERATE_TREEVIEW = YES
DISABLE_INDEX = NO
HTML_COLORSTYLE_HUE = 210
HTML_TIMESTAMP = NO
HAVE_DOT = NO
QUIET = YES
WARNINGS = YES
WARN_IF_UNDOCUMENTED = NO
WARN_NO_PARAMDOC = NO
WARN_AS_ERROR = FAIL_ON_WARNINGS
"""


def main() -> None:
    """Builds the site in a folder beside it, then puts it in place."""
    if sys.argv[1:2] == ["--missing"]:
        gone = missing()
        print(f"site: not installed: {', '.join(gone)}" if gone else "site: all there")
        sys.exit(77 if gone else 0)
    if sys.argv[1:2] == ["--notebook"]:
        notebook_page(*(pathlib.Path(argument) for argument in sys.argv[2:]))
        return
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    build, to = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    gone = missing()
    if gone:
        print(f"site: not installed: {', '.join(gone)}", file=sys.stderr)
        sys.exit(77)
    package = build / "python"
    work = to.with_name(to.name + "-work")
    shutil.rmtree(work, ignore_errors=True)
    source, extra = work / "source", work / "extra"
    source.mkdir(parents=True)
    extra.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(package), "SLUICE_STUB": str(package / "sluice/_core.pyi"), "MPLBACKEND": "Agg"}
    os.environ.update(environment)
    text = DOXYGEN.format(version=(ROOT / "VERSION").read_text().strip(), root=ROOT, out=extra, python=sys.executable)
    (work / "Doxyfile").write_text(text, encoding="utf-8")
    doxygen = subprocess.Popen(["doxygen", str(work / "Doxyfile")])
    stage(source)
    modules(source, package)
    notebooks(source, work)
    if doxygen.wait() != 0:
        sys.exit("site: Doxygen has warnings")
    sphinx = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2", "-d", str(work / "trees"), str(source), str(work / "html")]
    if subprocess.run(sphinx, check=False, env=environment).returncode != 0:
        sys.exit("site: Sphinx has warnings")
    shutil.rmtree(to, ignore_errors=True)
    (work / "html").rename(to)
    shutil.rmtree(work)
    print(f"site: {to / 'index.html'}")


if __name__ == "__main__":
    main()
