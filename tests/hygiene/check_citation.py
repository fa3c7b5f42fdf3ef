#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CITATION.cff has what the Citation File Format 1.2.0 demands and nothing that it does not know, and the version of VERSION.

    check_citation.py ROOT
    check_citation.py --self-test
"""
import copy
import datetime
import pathlib
import re
import sys

import yaml

NEEDED = {"authors", "cff-version", "message", "title"}
KNOWN = NEEDED | {"abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license", "license-url",
                  "preferred-citation", "references", "repository", "repository-artifact", "repository-code", "type", "url", "version"}
PERSON = {"address", "affiliation", "alias", "city", "country", "email", "family-names", "fax", "given-names", "name-particle",
          "name-suffix", "orcid", "post-code", "region", "tel", "website"}
ENTITY = {"address", "alias", "city", "country", "date-end", "date-start", "email", "fax", "location", "name", "orcid", "post-code",
          "region", "tel", "website"}
REFERENCE = {"type", "title", "authors"}


def author_problems(where, authors):
    if not isinstance(authors, list) or not authors:
        yield f"{where}: authors is to be a list of one at least"
        return
    for author in authors:
        allowed = ENTITY if "name" in author else PERSON
        for key in sorted(set(author) - allowed):
            yield f"{where}: an author has no {key}"
        if not author:
            yield f"{where}: an author without a name"


def problems(cited, version):
    for key in sorted(NEEDED - set(cited)):
        yield f"{key} is missing"
    for key in sorted(set(cited) - KNOWN):
        yield f"there is no key {key}"
    if cited.get("cff-version") != "1.2.0":
        yield f"cff-version is {cited.get('cff-version')}, not 1.2.0"
    if cited.get("type", "software") not in ("software", "dataset"):
        yield f"type is {cited['type']}"
    if cited.get("version") != version:
        yield f"version is {cited.get('version')}, VERSION says {version}"
    if cited.get("license") != "Apache-2.0":
        yield f"license is {cited.get('license')}"
    released = cited.get("date-released")
    if released is not None and not isinstance(released, datetime.date) and not re.fullmatch(r"\d{4}-\d\d-\d\d", str(released)):
        yield f"date-released is {released}, not YYYY-MM-DD"
    if not all(isinstance(word, str) for word in cited.get("keywords", [])):
        yield "keywords are to be texts"
    yield from author_problems("CITATION.cff", cited.get("authors"))
    for reference in cited.get("references", []):
        for key in sorted(REFERENCE - set(reference)):
            yield f"a reference without {key}"
        yield from author_problems("a reference", reference.get("authors"))


def self_test(good, version):
    def changed(change):
        one = copy.deepcopy(good)
        change(one)
        return list(problems(one, version))

    cases = [(lambda c: c.pop("message"), "message is missing"), (lambda c: c.update(colour="red"), "no key colour"),
             (lambda c: c.update({"cff-version": "1.1.0"}), "cff-version"), (lambda c: c.update(version="9"), "VERSION says"),
             (lambda c: c.update({"date-released": "May"}), "YYYY"), (lambda c: c.update(authors=[]), "one at least"),
             (lambda c: c["authors"][0].update(shoe=9), "an author has no shoe"), (lambda c: c["references"][0].pop("type"), "without type")]
    for change, words in cases:
        if not any(words in one for one in changed(change)):
            sys.exit(f"self-test: '{words}' is not found: {changed(change)}")
    if changed(lambda c: None):
        sys.exit(f"self-test: {changed(lambda c: None)}")
    print(f"{len(cases)} breaches found")


def main():
    testing = sys.argv[1:] == ["--self-test"]
    root = pathlib.Path(__file__).resolve().parents[2] if testing else pathlib.Path(sys.argv[1])
    cited = yaml.safe_load((root / "CITATION.cff").read_text())
    version = (root / "VERSION").read_text().strip()
    if testing:
        return self_test(cited, version)
    wrong = list(problems(cited, version))
    if wrong:
        sys.exit("\n".join(f"CITATION.cff: {one}" for one in wrong))
    print(f"CITATION.cff of version {version}")


if __name__ == "__main__":
    main()
