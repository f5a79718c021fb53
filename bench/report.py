# SPDX-License-Identifier: Apache-2.0
"""Records as Markdown tables and SVG figures; needs neither torch nor a GPU."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import bars, curves, record, speedups, tables
from bench.failure import BenchError

UNITS = {
    "norm": "Medians of device time in µs, and in brackets GB/s of the bytes that must move, every matrix once.",
    "gemm": "Medians of device time in ms, and in brackets TFLOPS.",
    "host": "Medians of host time in µs a call, from eager Python, the device's time hidden.",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("records", nargs="*", help="default: the newest of each kind in bench/results")
    parser.add_argument("--out", help="folder for the report (default: beside each record)")
    parser.add_argument(
        "--splice",
        help="also put tables and figures into this Markdown file, between <!-- bench:norm --> and "
        "<!-- /bench:norm --> (likewise gemm, host, norm-layer, norm-pair)",
    )


def kind(read: Mapping[str, Any]) -> str:
    """norm, gemm, host; norm-layer, norm-pair: what stands in a file's markers."""
    op = read["options"].get("op")
    return read["what"] if op in (None, "rms") else f"{read['what']}-{op}"


def newest(folder: Path = record.RESULTS) -> list[Path]:
    """The newest record of each kind, by its start. What the command line recorded is no such record."""
    found: dict[str, tuple[str, Path]] = {}
    for path in sorted(folder.glob("*.json")):
        if record.is_foreign(path):
            continue
        read = record.read(path)
        if kind(read) not in found or read["started"] >= found[kind(read)][0]:
            found[kind(read)] = (read["started"], path)
    if not found:
        raise BenchError(f"no record in {folder}: run python -m bench norm on a GPU first")
    return [path for _, path in found.values()]


def figures(read: Mapping[str, Any], stem: str) -> dict[str, str]:
    """SVG texts by file name, in the order of showing."""
    found = {}
    if read["what"] == "gemm" and (picture := speedups.figure(read)):
        found[f"{stem}-speedups.svg"] = picture
    for op in bars.ops(read):
        suffix = "" if len(bars.ops(read)) == 1 else "-" + op.removeprefix("grouped_gemm_")
        curve = curves.curves(read, op)
        if any(bars.shown(case, {}) for case in read["cases"] if case["op"] == op):
            found[f"{stem}{suffix}-bars.svg"] = bars.bars(read, op)
        if curve:
            found[f"{stem}{suffix}-rows.svg"] = curve
    return found


def body(read: Mapping[str, Any], pictures: Mapping[str, str], folder: str = "", short: bool = False) -> str:
    """The report; short: what a README shows. `folder` is where the pictures are, seen from the text."""
    parts = [tables.environment(read), tables.ceilings(read)]
    gemm = read["what"] == "gemm"
    for name in pictures:
        if short and gemm and not name.endswith("-speedups.svg"):
            continue  # an op is a long figure: the report has them
        parts.append(f"![{read['what']}: {_alt(name)}]({folder}{name})")
    if gemm:
        parts.append(tables.speedups(read))
        if short:
            return _joined(parts)
    parts.append(UNITS[read["what"]])
    for op in bars.ops(read):
        parts += [f"**{op}**", tables.times(read, op)]
        if short and read["what"] != "host":
            continue
        parts.append(tables.verdicts(read, op))
    parts.append(tables.exposed(read))
    if short:
        parts.append(tables.tally(read))
    else:
        parts.append(_section("Beside figures recorded before", tables.reproduced(read, _before(read))))
        parts.append(_section("Not measured", tables.absent(read)))
    return _joined(parts)


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def _alt(name: str) -> str:
    if name.endswith("-rows.svg"):
        return "time against rows"
    return "speed-up over the best peer" if name.endswith("-speedups.svg") else "bars against the ceiling"


def _before(read: Mapping[str, Any]) -> dict[str, Any] | None:
    return tables.recorded(read["environment"].get("gpu", ""))


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def splice(text: str, what: str, inside: str) -> str:
    """The text with what stands between the two markers replaced."""
    begin, end = f"<!-- bench:{what} -->", f"<!-- /bench:{what} -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise BenchError(f"no place for {what}: the file wants the lines {begin} and {end}")
    return f"{before}{begin}\n\n{inside.strip()}\n\n{end}{after}"


def run(options: argparse.Namespace) -> int:
    paths = [Path(given) for given in options.records] or newest()
    for path in paths:
        read = record.read(path)
        folder = Path(options.out) if options.out else path.parent
        folder.mkdir(parents=True, exist_ok=True)
        pictures = figures(read, path.stem)
        for name, text in pictures.items():
            (folder / name).write_text(text, encoding="utf-8")
        title = f"# {read['what']}, {read['started'][:10]}\n\n"
        (folder / f"{path.stem}.md").write_text(title + body(read, pictures), encoding="utf-8")
        print(f"{path.stem}: {folder / path.stem}.md, {len(pictures)} figures")
        if options.splice:
            _splice_file(Path(options.splice), read, pictures, folder)
    return 0


def _splice_file(target: Path, read: Mapping[str, Any], pictures: Mapping[str, str], folder: Path) -> None:
    away = os.path.relpath(folder, target.resolve().parent).replace(os.sep, "/")
    try:
        text = target.read_text(encoding="utf-8")
    except OSError as error:
        raise BenchError(f"cannot read {target}: {error.strerror}") from error
    short = body(read, pictures, folder=f"{away}/", short=True)
    target.write_text(splice(text, kind(read), short), encoding="utf-8")
