# SPDX-License-Identifier: Apache-2.0
"""The command line: python -m bench norm | gemm | host | report."""

from __future__ import annotations

import argparse
import sys

from bench import gemm, host, norm, report
from bench.failure import BenchError

COMMANDS = {"norm": norm, "gemm": gemm, "host": host, "report": report}


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measures kiln beside its peers, interleaved in one process, and reports it.",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        help_text = (module.__doc__ or "").strip().splitlines()[0]
        command = commands.add_parser(name, help=help_text, description=help_text)
        module.add_arguments(command)
    return top


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        return COMMANDS[options.command].run(options)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
