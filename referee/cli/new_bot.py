"""Implement `referee new-bot`, which copies a starter bot from the project's ``bots/`` into a new folder."""

import json
from dataclasses import dataclass
from pathlib import Path

import click

from referee.cli.options import json_option
from referee.cli.output import show
from referee.cli.plain_text import quote_argument
from referee.project_files import BOTS

MAX_NAME_LENGTH = 64  # characters, in the manifest


@dataclass(frozen=True, slots=True)
class Language:
    """Describe the starter bot of a language: its ``file`` in ``bots/LANGUAGE``, its requirement, its commands."""

    file: str
    needs: str
    tool: str  # the program that runs it
    start: str
    choose: str  # the beginning of the function that the user replaces
    beside: tuple[str, ...] = ()  # other files that the tool reads


LANGUAGES = {
    "python": Language("bot.py", "Python 3.9", "python3", "python3 bot.py", "def choose"),
    "javascript": Language("bot.mjs", "Node.js 18", "node", "node bot.mjs", "function choose"),
    "go": Language("bot.go", "Go 1.19", "go", "go run bot.go", "func choose", ("go.mod",)),
}


@click.command("new-bot")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--language", type=click.Choice(list(LANGUAGES)), default="python", help="Programming language of the bot."
)
@json_option
def new_bot(folder: Path, language: str, as_json: bool) -> None:
    """Write a starter bot into DIR, which must be new or empty, and show the next steps.

    The bot plays every game, checks signatures and needs nothing but the language's standard library. It is named after
    its folder.
    """
    chosen = LANGUAGES[language]
    try:
        write_bot(folder, language)
    except FileExistsError as error:
        raise click.UsageError(f"{click.format_filename(folder)} {error}. Pass a new or an empty folder.") from error
    except OSError as error:
        raise click.ClickException(f"Cannot write to {click.format_filename(folder)}: {error.strerror}.") from error
    file = click.format_filename(folder / chosen.file)
    here = quote_argument(str(folder))
    steps = {
        f"referee play saint-poker {here} house:3": "play a match (starts and stops the bot)",
        f"cd {here} && {chosen.start} 9000": "serve the bot, for a service or `referee check`",
    }
    width = max(map(len, steps))
    lines = [f"{file} is a bot for {chosen.needs} or newer. Next steps:\n"]
    lines += [f"  {command:<{width}}  # {purpose}" for command, purpose in steps.items()]
    lines.append("\nREADME.md in that folder has the next steps.")
    document = {"file": file, "language": language, "needs": chosen.needs, "next": list(steps)}
    show(document, "\n".join(lines), as_json=as_json)


def write_bot(folder: Path, language: str) -> None:
    """Create the folder with the bot, a README.md, and a .gitignore that excludes the secret of the bot.

    Raise ``FileExistsError`` if ``folder`` is a file or not empty, and any other ``OSError`` of writing.
    """
    if folder.exists() and not folder.is_dir():
        raise FileExistsError("is a file")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError("is not empty")
    name, chosen = manifest_name(folder), LANGUAGES[language]
    source = BOTS / language
    program = (source / chosen.file).read_text(encoding="utf-8")
    # "x" instead of "w", so that no file is overwritten, even if another process writes here at the same time.
    for file, text in (
        (chosen.file, program.replace('"starter"', json.dumps(name, ensure_ascii=False))),
        *((file, (source / file).read_text(encoding="utf-8")) for file in chosen.beside),
        ("README.md", readme(name, chosen)),
        (".gitignore", "secret.*\n"),
    ):
        with (folder / file).open("x", encoding="utf-8") as out:
            out.write(text)


def manifest_name(folder: Path) -> str:
    """Return the folder's name in the form that a manifest may contain, or ``starter`` if that form is empty."""
    printable = "".join(character for character in folder.resolve().name if character.isprintable())
    return printable[:MAX_NAME_LENGTH].strip() or "starter"


def readme(name: str, chosen: Language) -> str:
    """Return the text of the README.md, which describes three steps to a rated match."""
    return f"""# {name}

A bot for the referee's card games; it needs {chosen.needs} or newer and nothing else.

1. **Let it play.** In this folder:

   ```sh
   referee play saint-poker {chosen.file} house:3 --log match.ndjson
   referee replay match.ndjson
   ```

   This starts the bot for the duration of the match. `{chosen.start} 9000` serves it until Ctrl-C, for a service or for
   `referee check http://127.0.0.1:9000`.

   `referee games` lists the other games.

2. **Make it think.** It plays any legal action. Replace `{chosen.choose}` in `{chosen.file}`: it receives the question
   and returns one of its legal actions. `referee rules saint-poker` explains a game and what its questions contain.

3. **Register it.** Make it reachable at a public https address (it listens on 127.0.0.1, or on all addresses with
   `HOST=0.0.0.0`: put a tunnel or a web server in front of it), register that URL, and save the secret that is shown
   (`whsec_…`) as `secret.txt` in this folder. The bot reads this file at each call (`$REFEREE_BOT_SECRET` takes
   precedence over it). From then on the bot refuses calls that the referee has not signed, proves that the address is
   yours, and contributes to the shuffling of the cards.
   With a secret, the calls in local matches are signed too:

   ```sh
   REFEREE_BOT_SECRET="$(cat secret.txt)" referee play saint-poker {chosen.file} house:3
   ```
"""
