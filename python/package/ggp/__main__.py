"""The command `ggp`, also as `python -m ggp`."""

import sys

from ggp._ggp import _main


def main() -> int:
    """Runs the command with the arguments of this process and returns its exit code."""
    return _main(["ggp", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
