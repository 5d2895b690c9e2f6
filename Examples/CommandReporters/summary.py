#!/usr/bin/env python3
"""Keeps a text file, for Prometheus' node exporter or a status page, of how the installs are doing.

    ferry install … --reporter 'exec:Examples/CommandReporters/summary.py /var/lib/node_exporter/ferry.prom'

Each line of standard input is an object of docs/json-log.md. Only what is known here is looked at: kinds and keys may be
added. When this program is started anew, it is told the present state again, so nothing has to be kept.
"""

import json
import os
import sys


def write(path, text):
    """Puts the new file in the place of the old one: whoever reads sees one of the two."""
    beside = path + ".new"
    with open(beside, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(beside, path)


def main(path):
    stages = {}  # of the installs that have not ended, by id
    outcomes = {"installed": 0, "failed": 0, "cancelled": 0}
    for line in sys.stdin:
        event = json.loads(line)
        install = event.get("install")
        if event["kind"] == "progress" or install is None:
            continue
        if event["kind"] == "finished":
            stages.pop(install, None)
            outcomes[event["outcome"]] += 1
        else:
            stages[install] = event["stage"]
        lines = ["# TYPE ferry_installs_running gauge"]
        for stage in ("waiting", "downloading", "signing", "installing"):
            count = sum(1 for other in stages.values() if other == stage)
            lines.append(f'ferry_installs_running{{stage="{stage}"}} {count}')
        lines.append("# TYPE ferry_installs_ended counter")
        for outcome, count in outcomes.items():
            lines.append(f'ferry_installs_ended{{outcome="{outcome}"}} {count}')
        write(path, "\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: summary.py FILE")
    main(sys.argv[1])
