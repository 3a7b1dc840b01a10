"""Run the command ``referee`` as ``python -m referee``."""

from referee.cli import main

main(prog_name="referee")
