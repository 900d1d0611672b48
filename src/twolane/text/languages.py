"""Scripts, the languages that use them, and their function words.

Function words hold a sentence together and say nothing about its subject.
They have two uses: they tell a text's language, and in a query they neither require nor score.
The lists are written for this project and hold folded forms (lower case, `е` for `ё`).
They leave out words that people search for (numbers, `good`, `other`, `time`).
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from operator import itemgetter

# The languages of each script, the one first that it is read as when nothing says more.
# Every other language is written in Latin letters.
_LANGUAGES = {
    "latin": "en",
    "cyrillic": "ru uk bg sr be",
    "greek": "el",
    "armenian": "hy",
    "hebrew": "he yi",
    "arabic": "ar fa",
    "devanagari": "hi ne",
    "tamil": "ta",
    "thai": "th",
    "han": "zh",
    "kana": "ja",
    "hangul": "ko",
}
USUAL = {script: languages.split()[0] for script, languages in _LANGUAGES.items()}
_SCRIPTS = {one: script for script, languages in _LANGUAGES.items() for one in languages.split()}

# First code point of each block that we tell apart; a block lasts until the next one.
_BLOCKS = [
    (int(point, 16), script)
    for point, script in (
        pair.split("=")
        for pair in """
            0000=latin 0370=greek 0400=cyrillic 0530=armenian 0590=hebrew 0600=arabic
            0900=devanagari 0980=other 0b80=tamil 0c00=other 0e00=thai 0e80=other 1100=hangul
            1200=other 1e00=latin
            1f00=greek 2000=other 2e80=han 3040=kana 3100=han 3130=hangul 3190=han a000=other
            ac00=hangul d7b0=other f900=han fb00=latin fb50=arabic fe00=other ff10=latin ff66=kana
            ffa0=hangul ffe0=other 20000=han 32000=other
        """.split()
    )
]


@lru_cache(maxsize=1 << 13)
def script_of(token: str) -> str:
    """The script of the token's first letter; digits count as Latin."""
    for char in token:
        if char.isalpha():
            return _block(ord(char))
    return "latin"


def script_for(language: str) -> str:
    """The script that a language is written in."""
    return _SCRIPTS.get(language, "latin")


def _block(point: int) -> str:
    return _BLOCKS[bisect_right(_BLOCKS, point, key=itemgetter(0)) - 1][1]


FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """
            a about above after again against all also am an and any are as at be because been
            before being below between both but by can cannot could did do does doing dont down
            during each either else ever every few for from further had has have having he her
            here hers herself him himself his how i if im in into is isnt it its itself just may
            me might more most must my myself neither no nor not of off on once only onto or our
            ours out over own per shall she should since so some such than that thats the their
            theirs them themselves then there these they this those though through to too under
            until up upon us very was we were what whats when where whether which while who whom
            whose why will with within without would yet you your yours""",
        "ru": """
            а без более бы был была были было быть в вам вас ведь весь во вот все всего всей всех
            всю вы где да даже для до его ее если есть еще ж же за здесь и из или им их к каждый
            как какая какие какой каких какого когда кого которая которого которое которой
            которую которые который которых кто куда ли либо лишь между меня мне много могут мог
            может можно мои мой моя мы на над надо нам нас нашего наш наша не него нее ней нем нет
            ни нибудь никогда ним них но ну нужно о об однако он она они оно от очень перед по под
            после потом потому при про с сам свои свой свою своего себе себя со так также такая
            такие такой там тебе тебя тем теперь то тогда того тоже той только том тот ту тут ты у
            уж уже хоть чего чей чем через что чтоб чтобы чтото эта эти этим этих это этого этой
            этом этот эту я""",
        "uk": """
            а або але без би був була були було бути в вам вас весь ви від все він вона вони воно
            де для до є ж же за з зі і із її їх й його коли котрий ще на над нас не ні під по при
            про що щоб та так також там те ти то тому тут у хто це цей ця ці чи через як який яка
            які якщо я""",
        "de": """
            ab aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein
            dem den der des die dies diese dieser dieses doch dort du durch ein eine einem einen
            einer eines er es euch fur gegen habe haben hat hatte hier ich ihm ihn ihr ihre im in
            ist ja jede jeder jedes kann kein keine man mein mich mir mit muss nach nicht nichts
            noch nun nur ob oder ohne sehr sein seine sich sie sind so uber um und uns unser
            unter vom von vor war waren warum was weil welche welcher wenn wer werden wie wieder
            wir wird wo wurde zu zum zur""",
        "fr": """
            a ai alors apres au aucun aussi autre aux avant avec avoir car ce cela ces cet cette
            ceux chez comme comment dans de des dont du elle elles en est et etait ete etre eux
            fait il ils je la le les leur leurs lui ma mais me mes moi mon ne ni nos notre nous on
            ont ou par pas pendant peu pour pourquoi qu quand que quel quelle quelles quels qui
            sa sans se sera ses si son sont sous sur ta te tes toi ton tous tout tres tu un une
            vos votre vous""",
        "es": """
            a al algo ante antes como con contra cual cuando de del desde donde durante e el ella
            ellas ellos en entre era es esa ese eso esta estaba estan estas este esto estos fue
            ha hace hasta hay la las le les lo los mas me mi mis muy nada ni no nos nosotros o os
            otra otro para pero por porque que quien se sea segun ser si sin sobre son su sus
            tambien te tiene todo todos tu tus un una uno unos y ya yo""",
        "it": """
            a ad agli ai al alla alle allo anche ancora c che chi ci come con contro cosa cui da
            dagli dai dal dalla dalle degli dei del della delle dello di dove e ed era erano essere
            gli ha hanno ho i il in io la le lei li lo loro lui ma mi mia mio ne nei nel nella
            nelle noi non nostro o per perche piu quale quando quanto quella quello questa queste
            questi questo se sei si sia siamo sono su sua sue sugli sul sulla suo tra tu tua tuo un
            una uno vi voi""",
        "pt": """
            a ao aos as ate com como da das de dela dele do dos e ela elas ele eles em entre era
            essa esse esta este eu foi ha isso isto ja lhe mais mas me mesmo meu minha muito na nao
            nas nem no nos o os ou para pela pelas pelo pelos por porque qual quando que quem sao
            se sem ser seu seus so sua suas tambem te tem um uma umas uns voce voces""",
        "nl": """
            aan al alles als ben bij dan dat de der deze die dit doch doen door dus een en er geen
            haar had heb hebben heeft hem het hier hij hoe hun ik in is ja je jij jullie kan maar
            me meer men met mij mijn moet na naar niet nog nu of om omdat onder ons ook op over te
            tegen toch toen tot u uit van veel voor waar waarom wanneer want waren was wat we wel
            werd wie wij worden zal ze zelf zich zij zijn zo zonder zou""",
        "sv": """
            alla att av bara blev bli da de dem den denna deras dess det detta dig din dina ditt
            du dar efter ej eller en er ett for fran ha hade han har henne hennes hon honom hos
            hur har i icke inte inom jag ju kan man med mellan men mig min mina mitt mot nar ni nu
            och om oss pa sa samma se sedan sig sin sina ska skulle som till under upp ut utan vad
            var vara varfor vem vi vid vilka vilken vill at""",
    }.items()
}
