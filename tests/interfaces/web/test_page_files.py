"""The page's files: small, ours, free of strings as markup, with every word in both languages."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from twolane.model.space import GenerationState

WEB = Path(str(files("twolane.interfaces").joinpath("web")))
SCRIPTS = sorted(WEB.glob("js/*.js"))
PLURALS = {"en": {"one", "other"}, "ru": {"one", "few", "many", "other"}}


def words(language: str) -> dict[str, str | dict[str, str]]:
    """The table of a language; it is JSON inside a module."""
    text = (WEB / "js" / f"words.{language}.js").read_text("utf-8")
    table: dict[str, str | dict[str, str]] = json.loads(
        text.removeprefix("export default ").rstrip().removesuffix(";")
    )
    return table


def code() -> str:
    """All scripts but the tables of words, and the page that loads them."""
    scripts = [one.read_text("utf-8") for one in SCRIPTS if not one.name.startswith("words.")]
    return "\n".join([*scripts, (WEB / "index.html").read_text("utf-8")])


def used() -> tuple[set[str], set[str]]:
    """The keys that are spelled out, and the beginnings of those that are put together."""
    text = code()
    whole = set(re.findall(r'\bt\(\s*"([^"]+)"', text))
    whole |= set(re.findall(r'data-t(?:-label)?="([^"]+)"', text))
    # Chosen between two, or listed in a table: a string that looks like a key counts as one.
    whole |= {one for one in re.findall(r'"([a-z]+(?:\.[\w-]+)*)"', text) if one in words("en")}
    return whole, set(re.findall(r"`(\w+\.)\$\{", text)) - {"twolane."}


def test_both_languages_have_the_same_keys() -> None:
    """No word of the interface is missing in either language, and none is empty."""
    english, russian = words("en"), words("ru")
    assert set(english) == set(russian)
    for table in (english, russian):
        assert list(table) == sorted(table)
        assert all(table.values())


@pytest.mark.parametrize("language", PLURALS)
def test_plurals_are_complete(language: str) -> None:
    """Where a number chooses the form, the language has all of its forms."""
    for key, entry in words(language).items():
        if isinstance(entry, dict):
            assert set(entry) == PLURALS[language], key


def test_every_state_of_a_generation_has_words() -> None:
    """No name that only programs know is shown for what a set of vectors is for."""
    for state in GenerationState:
        assert f"generation.{state}" in words("en"), state


def test_placeholders_agree() -> None:
    """What is filled into a text is filled in in both languages."""
    english, russian = words("en"), words("ru")
    for key in english:
        ours, theirs = (_places(table[key]) for table in (english, russian))
        assert ours == theirs, key


def test_every_key_that_is_used_exists() -> None:
    """The code asks for no words that are not there."""
    whole, beginnings = used()
    table = words("en")
    assert {one for one in whole if one not in table} == set()
    for beginning in beginnings:
        assert any(key.startswith(beginning) for key in table), beginning


def test_every_key_is_used() -> None:
    """No words are left over from what is gone."""
    whole, beginnings = used()
    idle = {
        key for key in words("en") if key not in whole and not key.startswith(tuple(beginnings))
    }
    assert not idle


def test_no_text_outside_the_tables() -> None:
    """A Russian letter in the code would be a word that no table knows."""
    for script in SCRIPTS:
        if not script.name.startswith("words."):
            lines = script.read_text("utf-8").splitlines()
            said = [line for line in lines if re.search("[а-яё]", line) and "/**" not in line]
            assert not said, script.name


def test_nothing_is_parsed_as_markup() -> None:
    """No script makes HTML or code of a string: texts of documents stay texts."""
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|setHTML"
        r"|createContextualFragment|\beval\(|new Function|srcdoc"
    )
    for script in SCRIPTS:
        assert not forbidden.search(script.read_text("utf-8")), script.name


def test_nothing_comes_from_elsewhere() -> None:
    """The page asks nobody but its own server, and has no inline script or style."""
    page = (WEB / "index.html").read_text("utf-8")
    style = (WEB / "style.css").read_text("utf-8")
    assert not re.search(r"https?://", page)
    assert not re.search(r"url\(|@import", style)
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page)
    for script in SCRIPTS:
        text = re.sub(r"http://www\.w3\.org/\S+", "", script.read_text("utf-8"))
        assert not re.search(r'"https?://', text), script.name


def test_modules_are_small() -> None:
    """A script of the page is read at a sitting, as every module is."""
    for script in SCRIPTS:
        if not script.name.startswith("words."):
            assert len(script.read_text("utf-8").splitlines()) <= 250, script.name


def _places(entry: str | dict[str, str]) -> set[str]:
    texts = [entry] if isinstance(entry, str) else list(entry.values())
    return {name for text in texts for name in re.findall(r"\{(\w+)\}", text)}
