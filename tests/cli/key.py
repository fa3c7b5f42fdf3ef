# SPDX-License-Identifier: Apache-2.0
"""Answers `key` of common.sh, as long as its script runs.

A question is three texts with a NUL after each: a folder, a JSON file, and a Python expression over its object o. The answer
is the number of lines of what the expression is, and these lines; or -1 and why there are none, in one line.
"""

import json
import os
import sys


def answer(folder, name, expression):
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            o = json.load(file)
        return 0, str(eval(expression, {"o": o, "json": json, "sys": sys}))
    except Exception as error:
        return -1, f"{type(error).__name__}: {error}".replace("\n", " ")


waiting = b""
while more := os.read(0, 1 << 16):
    *texts, waiting = (waiting + more).split(b"\0")
    while len(texts) >= 3:
        failed, text = answer(*(part.decode() for part in texts[:3]))
        del texts[:3]
        print(failed or text.count("\n") + 1, text, sep=" " if failed else "\n", flush=True)
    waiting = b"".join(part + b"\0" for part in texts) + waiting
