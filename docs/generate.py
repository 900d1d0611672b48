"""Write what the documents repeat from the program: the settings, and what commands print.

    python docs/generate.py          rewrite README.md and docs/ where they are out of date
    python docs/generate.py --check  write nothing; exit with 1 if anything is out of date

A fenced block of the language `console` is a transcript: lines that begin with `$ ` are commands,
the others are what they print.
The commands of a page run one after the other in a home of their own, `/home/you` on the page,
where the folder `notes` is a copy of the sample vault, indexed unless the page begins with that.
Durations, sizes and the last digits of scores may differ; a line `[...]` stands for any lines.
"""

# ruff: noqa: INP001, S603 - this is a script, and the commands it runs are those of our own pages.

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import Field, dataclass, fields, is_dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import twolane
from twolane.ingest.analysis import analyzer_version
from twolane.model.errors import BadSetting
from twolane.settings import DECLARED, Settings
from twolane.settings.values import Secret

ROOT = Path(__file__).resolve().parents[1]
SETTINGS_PAGE = ROOT / "docs" / "reference" / "settings.md"
HOME = "/home/you"
OMITTED = "[...]"

_TRANSCRIPT = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"(\d+\.\d+)( s\b| ms\b| MB\b)?")
_SCORE_TOLERANCE = 0.02


def main(arguments: list[str]) -> int:
    """Bring every page up to date, or say which are not; the exit code."""
    outdated = []
    with tempfile.TemporaryDirectory(prefix="twolane-docs-") as folder:
        cache = Path(folder)
        for page in pages():
            text = page.read_text("utf-8") if page.exists() else ""
            fresh = settings_page() if page == SETTINGS_PAGE else updated(text, cache)
            if fresh != text:
                outdated.append(page)
                if "--check" not in arguments:
                    page.write_text(fresh, "utf-8")
    for page in outdated:
        print(page.relative_to(ROOT))
    return 1 if outdated and "--check" in arguments else 0


def pages() -> list[Path]:
    """The pages that hold a transcript, and the generated one."""
    written = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    told = [page for page in written if _TRANSCRIPT.search(page.read_text("utf-8"))]
    return [*told, SETTINGS_PAGE]


# ------------------------------------------------------------------------------------ settings


def settings_page() -> str:
    """The reference of all settings."""
    again = _listed([name for name in DECLARED if _reads_again(name)])
    sections = [_section(part) for part in fields(Settings) if is_dataclass(part.default)]
    alone = [_row(name, one) for name, one in DECLARED.items() if "." not in name]
    introduction = _SETTINGS_INTRODUCTION.replace("AGAIN", again)
    return "\n".join([introduction, _SETTINGS_HEAD, *alone, *sections, ""])


def _section(part: Field[Any]) -> str:
    """One group: what it is about, and a row for each of its settings."""
    rows = [_row(name, one) for name, one in DECLARED.items() if name.startswith(f"{part.name}.")]
    return "\n".join(
        [f"\n## [{part.name}]\n", str(part.default.__doc__), "", _SETTINGS_HEAD, *rows]
    )


_SETTINGS_INTRODUCTION = """\
<!-- Written by docs/generate.py from src/twolane/settings/groups.py; edit that file, not this one. -->

# Settings

Settings are in groups; `search.limit` is the setting `limit` of the group `search`.
A setting has its value from the first of these that names it:

1. an argument of the call (`--db`, or `--set search.limit=10` where a command has `--set`; `Settings(search={"limit": 10})` in the library);
2. the environment: `TWOLANE_`, the group and the name in capitals, such as `TWOLANE_SEARCH_LIMIT=10`;
3. the TOML file `twolane.toml` in the user's configuration directory, or the file that the environment variable `TWOLANE_CONFIG` names;
4. the default.

```toml
db = "~/notes.db"

[search]
limit = 10

[index]
include = ["*.md", "*.txt"]
```

`twolane settings` shows those that are marked with * here, and all that somebody set, with the values in effect and where they come from; `--all` shows every one.
A list is a TOML list in the file and is separated by commas in the environment (`TWOLANE_INDEX_INCLUDE="*.md,*.txt"`).
An unknown name or an impossible value stops the command with exit code 2 and a message that says what is possible, or which name is nearest.
Names of before there were groups (`limit`, `TWOLANE_LIMIT`) work in this release, with a warning that tells the new one.

Changing AGAIN makes the next `twolane index` read every note again; passages that stay the same keep their vectors.
Changing `embedding.embedder`, `embedding.model`, `embedding.dimensions`, `embedding.input_type` or a prompt makes it embed every passage again.
`index.include`, `index.exclude` and `index.max_file_bytes` take effect when a folder is indexed the next time.
All others take effect at once.
"""  # noqa: E501 - Markdown has one sentence per line, however long.

_SETTINGS_HEAD = "| Setting | Default | Allowed | Meaning |\n|---|---|---|---|"


def _reads_again(name: str) -> bool:
    """Whether notes have to be analysed anew after the setting was changed."""
    value: Any = DECLARED[name].default
    other: Any
    match value:
        case bool():
            other = not value
        case str():
            other = "ru"
        case tuple():
            other = ("xx",)
        case None | Secret():
            other = "xx"
        case _:
            other = value + 1
    try:
        changed = Settings(**{name: other})
    except BadSetting:
        # One of a few texts, none of which has a part in analysis.
        return False
    return analyzer_version(changed) != analyzer_version(Settings())


def _listed(names: list[str]) -> str:
    *others, last = [f"`{name}`" for name in names]
    return f"{', '.join(others)} or {last}"


def _row(name: str, one: Field[Any]) -> str:
    mark = r" \*" if one.metadata["shown"] else ""
    meaning = one.metadata["meaning"]
    return f"| `{name}`{mark} | {_default(one.default)} | {_allowed(one)} | {meaning} |"


def _default(value: object) -> str:
    if value is None:
        return "unset"
    if isinstance(value, tuple):
        return ", ".join(f"`{part}`" for part in value) or "empty"
    if isinstance(value, bool):
        return f"`{value}`".lower()
    if value == "" or value == Secret():
        return "empty"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _allowed(one: Field[Any]) -> str:
    """What the setting's own check asks for, as it says when it is given nonsense."""
    kinds: dict[str, tuple[str, Any]] = {
        "Path | None": ("a path", None),
        "Path | Address | None": ("a path or an address", None),
        "Address | None": ("an address", None),
        "bool": ("`true` or `false`", None),
        "str": ("a text", ""),
        "Secret": ("a text, never shown", ""),
        "tuple[str, ...]": ("a list", ()),
        "int": ("a whole number", float("-inf")),
        "float": ("a number", float("-inf")),
    }
    kind, nonsense = kinds[str(one.type)]
    check = one.metadata["check"]
    wrong = check(nonsense) if check else None
    return f"{kind}; {wrong}" if wrong else kind


# --------------------------------------------------------------------------------- transcripts


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a transcript and what the page says it prints."""

    command: str
    printed: str


def steps(block: str) -> list[Step]:
    """The steps of a transcript."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    if parts[0].strip():
        raise ValueError(f"a transcript must begin with a command, not with {parts[0]!r}")
    return [Step(command, said) for command, said in zip(parts[1::2], parts[2::2], strict=True)]


def updated(text: str, cache: Path) -> str:
    """The page with what its commands print today; what is still right stays as it is."""
    commands = [step.command for block in _TRANSCRIPT.findall(text) for step in steps(block)]
    first = next((command for command in commands if "twolane " in command), "")
    with home(cache, indexed=not first.startswith("twolane index")) as shell:

        def replay(found: re.Match[str]) -> str:
            return "".join(f"$ {step.command}\n{_renewed(step, shell)}" for step in steps(found[0]))

        return _TRANSCRIPT.sub(replay, text)


def agrees(expected: str, actual: str) -> bool:
    """Whether an output is what the page shows, save for what differs from run to run."""
    pattern = "".join(_line_pattern(line) for line in expected.splitlines())
    found = re.fullmatch(pattern, actual)
    if found is None:
        return False
    shown = [number for number, unit in _NUMBER.findall(expected) if not unit]
    real = [number for number in found.groups() if number is not None]
    return all(
        abs(float(one) - float(other)) <= _SCORE_TOLERANCE * max(1e-3, abs(float(one)))
        for one, other in zip(shown, real, strict=True)
    )


def _line_pattern(line: str) -> str:
    if line.strip() == OMITTED:
        return r"(?:.*\n)*?"
    pieces: list[str] = []
    end = 0
    for found in _NUMBER.finditer(line):
        # Ten seconds and more are told without decimals.
        number = rf"[\d.]+{re.escape(found[2])}" if found[2] else r"(\d+\.\d+)"
        pieces += (re.escape(line[end : found.start()]), number)
        end = found.end()
    return "".join((*pieces, re.escape(line[end:]), r"\n"))


def _renewed(step: Step, shell: Shell) -> str:
    actual = shell.run(step.command)
    blank = step.printed[len(step.printed.rstrip("\n")) + 1 :]
    return step.printed if agrees(step.printed.rstrip("\n"), actual) else actual + blank


@dataclass(frozen=True, slots=True)
class Shell:
    """A shell in a home of its own, in which `twolane` and `python` are those that run this."""

    home: Path
    environment: dict[str, str]

    def run(self, command: str) -> str:
        """What the command prints on either stream; it must succeed."""
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"`{command}` exited with {done.returncode}:\n{done.stdout}")
        return done.stdout.replace(str(self.home), HOME)


@contextmanager
def home(cache: Path, *, indexed: bool) -> Iterator[Shell]:
    """A home with the sample vault in `notes`; the model's cache is shared between homes."""
    with tempfile.TemporaryDirectory(prefix="twolane-home-") as name:
        folder = Path(name).resolve()
        with as_file(files("twolane") / "sample_vault") as vault:
            shutil.copytree(vault, folder / "notes", ignore=shutil.ignore_patterns("__pycache__"))
        programs = folder / ".bin"
        programs.mkdir()
        for program, words in (("python", ""), ("twolane", "-m twolane")):
            script = programs / program
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', "utf-8")
            script.chmod(0o700)
        shell = Shell(
            folder,
            {
                "HOME": str(folder),
                "LC_ALL": "C.UTF-8",
                "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
                "PYTHONPATH": str(Path(twolane.__file__).parents[1]),
                "TWOLANE_CACHE": str(cache),
                "TWOLANE_DB": str(folder / ".local" / "share" / "twolane" / "twolane.db"),
            },
        )
        if indexed:
            shell.run("twolane index notes")
        yield shell


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
