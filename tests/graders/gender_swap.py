"""Gender swap of English texts: each gendered word and common first name becomes its counterpart."""

from __future__ import annotations

import re

_PAIRS = """
she he|herself himself|woman man|women men|girl boy|girls boys|lady gentleman|ladies gentlemen|lass lad|gal guy
female male|females males|mother father|mothers fathers|mum dad|mom dad|mommy daddy|mummy daddy|mama papa
mothering fathering|motherhood fatherhood|motherly fatherly|stepmother stepfather|godmother godfather
grandmother grandfather|grandmothers grandfathers|grandma grandpa|granny grandad|great-grandmother great-grandfather
mother-in-law father-in-law|sister brother|sisters brothers|stepsister stepbrother|sister-in-law brother-in-law
daughter son|daughters sons|stepdaughter stepson|granddaughter grandson|granddaughters grandsons
daughter-in-law son-in-law|goddaughter godson|wife husband|wives husbands|ex-wife ex-husband|aunt uncle|aunts uncles
niece nephew|nieces nephews|girlfriend boyfriend|girlfriends boyfriends|bride groom|widow widower|widows widowers
queen king|queens kings|princess prince|duchess duke|countess earl|baroness baron|empress emperor|mrs mr|ms mr
madam sir|ma'am sir|madame monsieur|dame sir|signora signor|frau herr|sorceress sorcerer|witch wizard
matriarch patriarch|headmistress headmaster|schoolmistress schoolmaster|landlady landlord|nun monk|nuns monks
abbess abbot
schoolgirl schoolboy|cowgirl cowboy|milkmaid milkman|barmaid barman|chairwoman chairman|spokeswoman spokesman
policewoman policeman|businesswoman businessman|congresswoman congressman|saleswoman salesman|craftswoman craftsman
fisherwoman fisherman|firewoman fireman|forewoman foreman|servicewoman serviceman|sportswoman sportsman
noblewoman nobleman|gentlewoman gentleman|horsewoman horseman|anchorwoman anchorman|camerawoman cameraman
councilwoman councilman|stuntwoman stuntman|weatherwoman weatherman|frontwoman frontman|oarswoman oarsman
womanhood manhood|girlhood boyhood
"""
_NAMES = """
Anna Paul|Maria Thomas|Sarah Daniel|Elena Marco|Lisa Tom|Ana Ben|Ines Luis|Marta Pedro|Julia Felix|Claire Simon
Nora Oscar|Clara Emil|Helena Viktor|Olga Boris|Irina Dmitri|Ruth Frank|Rosa Diego|Naomi Caleb|Olivia Lucas|Emma Liam
Amara Kwame|Fatima Ahmed|Priya Rajesh|Leila Omar|Ingrid Lars|Mei Wei|Grace Henry|Hannah Jacob|Ada Otto|Vera Ivan
Eleni Giorgos|Katarzyna Tomasz|Camille Antoine|Joanna Martin|Margaret George|Mary James|Linda Robert|Petra Peter
Rosalind Edmund|Ottilie Gustav|Ludmila Jaroslav|Annika Erik|Wilhelmina Wilhelm|Dolores Hector|Lena Piotr|Joan Carl
"""
_OF_BOTH = {
    word: other
    for pairs in (_PAIRS, _NAMES.lower())
    for pair in re.split(r"[|\n]", pairs.strip())
    for word, other in (pair.split(), pair.split()[::-1])
}
_OF_BOTH |= {
    "waitress": "waiter", "actress": "actor", "hostess": "host", "stewardess": "steward", "seamstress": "tailor",
    "heiress": "heir", "priestess": "priest", "goddess": "god", "huntress": "hunter", "heroine": "hero",
}  # fmt: skip
"""The men's words among these are said of women, too: they stay."""
# Of several words with one counterpart the plainest goes back.
_OF_BOTH |= {"dad": "mom", "mr": "ms", "sir": "madam", "daddy": "mommy", "ladies": "gentlemen", "lord": "lady"}
_TITLED = {"lady": "lord", "miss": "mr"}
"""Words that mean something else without a capital."""
_AFTER_OBJECT = """
a an the my your his their our its this that these those it them him us me he she they we i you in on at to from for
with by of about into onto over under up down out off back away after before until till since through across around
along behind beside between like than as and or but nor if when while because so who whom whose what where why how
which was were is are had has have did does do would will could can should might must not never again once twice too
also there here then now alone home everything nothing something anything all both only just even every each some any
no one go come say take leave think feel know see hear laugh smile walk sit stand stop run pass speak talk down sign set
pull limp wait watch lift carry play sing eat drink sleep clean open mark yesterday today tomorrow tonight instead
anyway either personally properly directly closely carefully quietly afterwards more most less better well right
left-handed flowers bread fishing
"""
_NO_NOUN_FOLLOWS = (
    rf"(?=\s*(?:$|[^\w\s])| (?:{'|'.join(_AFTER_OBJECT.split())})\b| \w+(?:ing|ed) (?:the|a|an|his|her|at|in|on|to)\b)"
)
_WORD = re.compile(
    rf"\b(?:ma'am\b|(her){_NO_NOUN_FOLLOWS}|(his)(?=\s*(?:$|[^\w\s])| (?:and|or|but|to|in|was|is)\b)"
    r"|[^\W\d_]+(?:-[^\W\d_]+)*)",
    re.IGNORECASE,
)


def gender_swap(text: str) -> str:
    """Return a text with every gendered word of it in the other gender.

    "Her" becomes "him" where no noun can follow, else "his"; "his" becomes "hers" or "her" likewise. What no other
    word stands for ("tomboy", "pregnant", "beard", rare names) stays.
    """

    def swap(match: re.Match[str]) -> str:
        word = match[0].lower()
        if word == "her":
            other = "him" if match[1] else "his"
        elif word == "his":
            other = "hers" if match[2] else "her"
        else:
            titled = match[0][0].isupper() and re.match(r"\.? [A-Z]", text[match.end() :])
            title = _TITLED.get(word) if titled else None
            other = title or {"him": "her", "hers": "his"}.get(word) or _OF_BOTH.get(word) or match[0]
        if other == match[0]:
            return other
        if match[0].isupper() and len(other) > 1:
            return other.upper()
        return other.capitalize() if match[0][0].isupper() else other

    swapped = _WORD.sub(swap, text)
    return re.sub(r"\b(Mr|Ms)(?= [A-Z])", r"\1.", swapped)
