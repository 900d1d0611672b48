"""Named variations of the settings: what an ablation switches, one thing at a time, and why.

A variation changes one thing about whatever settings are in force.
The story is the other kind: steps that build on each other, from the search as it was found
to the one that is shipped, so that the worth of each step can be measured on other notes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

from twolane import Mode, Settings
from twolane.errors import BadInput


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings by what they change, and the reason for trying it.

    `follows` names the preset that it is compared with; None for one that begins a comparison.
    One that is `optional` is measured only if it is asked for by name: it takes long, or means
    nothing to most settings.
    """

    name: str
    reason: str
    changes: Mapping[str, Any]
    follows: str | None = "default"
    mode: Mode = Mode.HYBRID
    optional: bool = False

    def applied(self, settings: Settings) -> Settings:
        """The settings with these changes, and no others."""
        return replace(settings, **self.changes)

    def differs(self, settings: Settings) -> bool:
        """Whether anything is other than it already is."""
        return self.mode != Mode.HYBRID or self.applied(settings) != settings


def selected(settings: Settings, only: Sequence[str] = (), *, story: bool = False) -> list[Preset]:
    """The presets to measure, in order, each after the one that it is compared with.

    All variations that change something about the settings and are not optional, or all steps
    of the story;
    with `only`, those whose names match one of its patterns (`k-*`), and what they follow.
    """
    offered = STORY if story else (DEFAULT, *VARIATIONS)
    by_name = {preset.name: preset for preset in offered}
    for pattern in only:
        if not any(fnmatchcase(name, pattern) for name in by_name):
            raise BadInput(
                f"no {'step of the story' if story else 'variation'} is called {pattern!r}; "
                f"there are {', '.join(by_name)}"
            )
    wanted: set[str] = set()
    for preset in offered:
        named = any(fnmatchcase(preset.name, pattern) for pattern in only)
        named = named or (not only and not preset.optional)
        if named and (story or preset is DEFAULT or preset.differs(settings)):
            wanted |= {preset.name, preset.follows or preset.name}
    if not wanted:
        raise BadInput(f"{', '.join(only)} is what the settings already say; nothing to compare")
    return [preset for preset in offered if preset.name in wanted]


def difference(before: Settings, after: Settings) -> dict[str, Any]:
    """The settings in which the second differs from the first, with its values."""
    return {
        one.name: getattr(after, one.name)
        for one in fields(Settings)
        if getattr(before, one.name) != getattr(after, one.name)
    }


def _preset(name: str, reason: str, *, optional: bool = False, **changes: Any) -> Preset:
    return Preset(name, reason, MappingProxyType(changes), optional=optional)


DEFAULT = Preset("default", "The settings as they are.", MappingProxyType({}), follows=None)

VARIATIONS: tuple[Preset, ...] = (
    _preset(
        "dense-pool-5",
        "Five documents of the dense lane leave the other language's answers behind.",
        dense_pool=5,
    ),
    _preset("dense-pool-30", "A pool just beyond what is shown may be enough.", dense_pool=30),
    _preset("dense-pool-50", "Fifty is where others found nothing left to gain.", dense_pool=50),
    _preset("dense-pool-100", "A pool of a hundred is wider than any list shown.", dense_pool=100),
    _preset("k-2", "A small constant lets the first ranks decide.", rrf_k=2.0),
    _preset("k-10", "Between the first ranks alone and all ranks nearly alike.", rrf_k=10.0),
    _preset("k-60", "The constant of the paper that proposed the fusion.", rrf_k=60.0),
    _preset("k-100", "A large constant counts lanes more than ranks.", rrf_k=100.0),
    _preset("lexical-half", "Words may deserve less of a say than meaning.", lexical_weight=0.5),
    _preset("lexical-double", "Words may deserve more of a say than meaning.", lexical_weight=2.0),
    _preset("dense-half", "Meaning may deserve less of a say than words.", dense_weight=0.5),
    _preset("dense-double", "Meaning may deserve more of a say than words.", dense_weight=2.0),
    _preset(
        "keyword-dense-full",
        "Meaning may deserve its full say about names and codes, too.",
        keyword_dense_weight=1.0,
    ),
    _preset(
        "one-stemmer",
        "Stemming every word as Russian shows what stemming by language is worth.",
        stemming="ru",
    ),
    _preset(
        "relaxation-all",
        "Asking for every word keeps the lexical lane precise and often silent.",
        relaxation="all",
    ),
    _preset(
        "relaxation-any",
        "A full vote for one common word shows why matches must be graded.",
        relaxation="any",
    ),
    _preset(
        "relaxation-graded",
        "All words first, then most, then some, each with the vote that it deserves.",
        relaxation="graded",
    ),
    _preset("coverage-0", "Every match votes alike, however little it covers.", coverage_power=0.0),
    _preset("coverage-1", "A match votes by the share that it covers.", coverage_power=1.0),
    _preset("coverage-2", "Half of the query is worth a quarter of a vote.", coverage_power=2.0),
    _preset("coverage-3", "Only nearly complete matches vote.", coverage_power=3.0),
    _preset(
        "no-abstention",
        "The lexical lane's silence about other languages counts as a no.",
        abstention=False,
    ),
    _preset(
        "no-sentences",
        "A passage is compared as a whole, however well one of its sentences answers.",
        sentence_weight=0.0,
    ),
    _preset("sentence-1", "The best sentence counts as much as its passage.", sentence_weight=1.0),
    _preset(
        "no-counterparts",
        "Documents that say the same in two languages are judged each by itself.",
        counterparts=False,
    ),
    _preset(
        "no-confidence",
        "The dense lane votes in full, however little it understands of the query.",
        confidence=False,
    ),
    _preset(
        "no-exact",
        "Parts of words, addresses and symbols are left to the words that they are made of.",
        exact_weight=0.0,
    ),
    _preset("exact-half", "Letters may deserve less of a say than words.", exact_weight=0.5),
    _preset("exact-double", "Letters may deserve more of a say than words.", exact_weight=2.0),
    _preset(
        "no-identity",
        "A title counts through the weight of its field alone.",
        identity_weight=0.0,
    ),
    _preset(
        "no-translation",
        "Words of another language may be told by meaning alone.",
        translation_weight=0.0,
    ),
    _preset("identity-half", "A name may deserve less of a say.", identity_weight=0.5),
    _preset("identity-double", "A name may deserve more of a say.", identity_weight=2.0),
    _preset("recency-10", "What was changed lately may be what is looked for.", recency_weight=0.1),
    _preset("use-10", "What was used lately may be what is looked for.", use_weight=0.1),
    _preset("usage-10", "What is used often may be what is looked for.", usage_weight=0.1),
    _preset("tags-10", "A word that is a tag of a document says more of it.", tag_weight=0.1),
    _preset("tags-30", "A word that is a tag may say much more of it.", tag_weight=0.3),
    _preset(
        "no-kind-floor",
        "One kind of document may take all of the first places from another that has the words.",
        kind_floor=0,
    ),
    _preset(
        "no-folding",
        "Copies of a document take the places of other answers.",
        fold_copies=False,
    ),
    _preset(
        "no-brevity",
        "A note of a word or two is near every query of a word or two.",
        brevity=False,
    ),
    _preset(
        "no-forms",
        "Lines of templates that many notes share are embedded with each of them.",
        forms=False,
    ),
    _preset("no-repair", "Words that no document holds stay as they were typed.", repair=False),
    _preset(
        "no-breadcrumb", "A passage is embedded without the headings above it.", breadcrumb=False
    ),
    _preset(
        "characters-2000",
        "Passages of as many characters hold twice the tokens in Cyrillic.",
        chunk_characters=2000,
    ),
    _preset("tokens-450", "Passages that fit the window of small models.", chunk_tokens=450),
    _preset(
        "tokens-750", "Longer passages hold more context and mix more topics.", chunk_tokens=750
    ),
    _preset("overlap-0", "Passages without overlap are fewest.", chunk_overlap=0),
    _preset(
        "overlap-100",
        "A repeated end of the passage before may rescue what was cut in two.",
        chunk_overlap=100,
    ),
    _preset(
        "cosine",
        "Cosine equals the dot product for unit vectors and costs more.",
        similarity="cosine",
    ),
    _preset("threshold-0", "Everything that points the same way is a hit.", min_similarity=0.0),
    _preset(
        "threshold-30",
        "A threshold that suits larger models may cut answers off here.",
        min_similarity=0.30,
    ),
    _preset(
        "threshold-40",
        "A threshold that is right for one model is wrong for another.",
        min_similarity=0.40,
    ),
    _preset(
        "no-centring",
        "Vectors of the second model keep the accent of their language.",
        optional=True,
        centring=False,
    ),
    _preset(
        "embedder-use",
        "The fast model alone, which reads sentences and has no accent.",
        optional=True,
        embedder="use",
    ),
    _preset(
        "embedder-e5",
        "The slow model alone, centred by language.",
        optional=True,
        embedder="e5",
    ),
    _preset(
        "embedder-ensemble",
        "Both models side by side err less than either, and take the time of both.",
        optional=True,
        embedder="ensemble",
    ),
    _preset("lexical-only", "What words alone find, without any vectors.", embedder="none"),
    Preset(
        "dense-only",
        "What meaning alone finds, without the lexical lane.",
        MappingProxyType({}),
        mode=Mode.SEMANTIC,
    ),
)


def _story() -> tuple[Preset, ...]:
    """The steps in order; each has all changes of the one that it follows."""
    steps: list[Preset] = []

    def step(name: str, follows: str | None, reason: str, **changes: Any) -> None:
        before = next((one.changes for one in steps if one.name == follows), {})
        steps.append(Preset(name, reason, MappingProxyType({**before, **changes}), follows))

    step(
        "F0",
        None,
        "The search as it was found: narrow pool, one stemmer, all words or nothing.",
        dense_pool=5,
        rrf_k=60.0,
        lexical_weight=1.0,
        dense_weight=1.0,
        keyword_dense_weight=1.0,
        stemming="ru",
        relaxation="all",
        abstention=False,
        counterparts=False,
        sentence_weight=0.0,
        centring=False,
        confidence=False,
        repair=False,
        exact_weight=0.0,
        identity_weight=0.0,
        translation_weight=0.0,
        recency_weight=0.0,
        use_weight=0.0,
        usage_weight=0.0,
        tag_weight=0.0,
        kind_floor=0,
        fold_copies=False,
        forms=False,
        brevity=False,
        breadcrumb=False,
        chunk_characters=2000,
        similarity="cosine",
        # The threshold of the time belonged to another model; 0 cuts nothing that matters.
        min_similarity=0.0,
    )
    step("F1", "F0", "A wide pool of the dense lane.", dense_pool=50)
    step("F2", "F1", "Words are stemmed by their own language.", stemming="per-language")
    step(
        "F4",
        "F2",
        "Passages are sized by tokens and embedded under their headings.",
        breadcrumb=True,
        chunk_characters=0,
    )
    step("F5", "F4", "The dot product in place of cosine.", similarity="dot")
    step(
        "F5x",
        "F5",
        "Any word is enough for a full vote: the step that was taken back.",
        relaxation="any",
    )
    # What is shipped is no step from F5 but the settings as they are, compared with it.
    steps.append(Preset("ours", "The settings as they are.", MappingProxyType({}), "F5"))
    return tuple(steps)


# F3 of the original story is a reranker, which is not among the settings.
STORY: tuple[Preset, ...] = _story()
