#!/usr/bin/env python3
"""Writes pcaps/index.tsv: one line a session. Arguments: the sessions just recorded; the others keep their versions."""

import csv
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from lab import versions  # noqa: E402
from sessions import SESSIONS  # noqa: E402

COLUMNS = ["file", "exit", "shows", "app", "browser", "servers"]


def exit_status(verdicts):
    """What `handoff check` says of these verdicts of the gated rules: 1 for a violation, 4 for one undecided."""
    return 1 if "fail" in verdicts else 4 if "inconclusive" in verdicts else 0


def main(recorded):
    pcaps = os.path.dirname(HERE)
    expected = {}
    with open(os.path.join(pcaps, "expected.tsv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            expected.setdefault(row["file"], []).append(row["verdict"])
    index, old = os.path.join(pcaps, "index.tsv"), {}
    if os.path.exists(index):
        with open(index, encoding="utf-8", newline="") as file:
            old = {row["file"]: row for row in csv.DictReader(file, delimiter="\t")}
    software, rows = versions(), []
    for name, setup in SESSIONS.items():
        file_name = name + ".pcapng"
        if not os.path.exists(os.path.join(pcaps, file_name)):
            print(f"index: {file_name} is not there", file=sys.stderr)
            continue
        row = {"file": file_name, "exit": exit_status(expected.get(file_name, [])),
               "shows": " ".join(setup["play"].__doc__.split()), "app": software[setup["app"]],
               "browser": software["chromium"],
               "servers": ", ".join(software[tool] for tool in ("nginx", "tcpdump", "editcap"))}
        if file_name in old and name not in recorded:
            row.update({column: old[file_name][column] for column in ("app", "browser", "servers")})
        rows.append(row)
    with open(index, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
