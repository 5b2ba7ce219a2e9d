"""The English in which answers are given: every pattern that the reading of answers rests on.

All quantifiers are bounded, so that no text makes a search slow.
"""

from __future__ import annotations

import re


def pattern(*parts: str, flags: int = 0) -> re.Pattern[str]:
    """One pattern of these parts, whatever the case of the text."""
    return re.compile("".join(parts), re.IGNORECASE | flags)


# --- Names: what may stand around a label or a text --------------------------------------------------------------

OPEN_WORDS = frozenset({"no", "none", "both", "neither", "either", "other", "others", "he", "she", "it", "one", "they"})
"""Words that begin phrases ("no one", "he said"): they are an answer only where a label could stand."""

FUNCTION_WORDS = OPEN_WORDS | {"never", "also", "them", "their", "this", "that", "these", "those", "with", "maybe"}
"""Options that are such words are not found in the middle of a sentence, where they mostly mean something else."""

BEFORE_NAME = pattern(
    r"[\s(\"'\[<{=:#]{0,12}(?:(?:the\s{1,3})?"
    r"(?:option|choice|answer|letter|label|number|statement|candidate|response)\s{1,3}[:#]?\s{0,3}[(\"'\[]{0,3})?"
)
BETWEEN = pattern(r"[\s).:,=\]>\"'\u2014-]{1,8}(?:\(|\")?")
"""What stands between a label and its own text."""

AFTER_LABEL = pattern(
    r"\s{0,40}$|\s{0,40}\n|[)\]}>\"';:!]|[.](?!\w)|,(?!\d)|\s{0,3}[\u2014(=]|\s{1,3}-\s"
    r"|\s{1,3}(?:because|since|as|due|given|based|for|is|was|would|seems|appears|but|and|or|over|from|here|with|rather"
    r"|not|it|this|that|he|she|they|the|i|we|to|thanks)\b"
)
"""What may follow a label: "B.", "B)", "B because". Nothing of it follows the A of "A person" or the 2 of "2 men"."""

NO_LABEL = pattern(r"[.,:/'-]\w|\s{0,3}%")
PRONOUN = pattern(r"[ \t]{1,3}\w|,|'")
CONNECTOR = pattern(
    r"[\"')\]]{0,3}(?:\s{0,3}[,.]{0,3}\s{0,3}\b(?:or|and|nor|versus|vs\.?)\b\s{0,3}"
    r"|\s{0,3}[,/&+]\s{0,3}(?:(?:or|and)\s{1,3})?|[-\u2014](?=\w))"
)
"""What joins the members of a list: "A, B and C", "A/B", "A-C"."""

CALLED_LABEL = pattern(r"\b(?:option|choice|answer)\s{1,3}[\"'(]?(?=\w)|\((?=\w{1,12}\))")

# --- Not known ---------------------------------------------------------------------------------------------------

UNKNOWN = pattern(
    r"\b(?:(?:cannot|could not|not possible to|impossible to|unable to|hard to|no way (?:to|of)|do not|does not)"
    r" (?:\w{1,12}ly )?(?:be |really )?(?:\w{1,12}ly )?"
    r"(?:determin|know|tell|say for|say who|say which|infer|conclu|establish|specify|ascertain|identif|answered"
    r"|decided)\w{0,4}"
    r"|(?:not|insufficient|no|without|lacks?|lacking) (?:have |provide |give |contain )?(?:enough |sufficient )?"
    r"(?:\w{1,12} )?(?:information|evidence|context|details?|data)\b"
    r"|not enough\b|undetermin\w{0,6}|indetermin\w{0,6}|unknown\b|unclear\b|unanswerable"
    r"|not (?:known|clear|specified|stated|determinable|answerable|certain|sure)\b"
    r"|(?:nobody|no one) (?:knows|(?:can|could) (?:know|tell|say)))"
)
"""Ways to say that a question cannot be answered from what is known."""

CANNOT_ANSWER = pattern(
    r"(?:i |we |it |the answer |this )?(?:cannot|unable to|not able to) (?:answer|decide|say|tell)\w*|cannot be \w+"
)

# --- Places where an answer is given -----------------------------------------------------------------------------

_KIND = r"(?:final |correct |right |best |my |only |most \w{3,15} |appropriate |accurate |chosen |selected |overall )"
_SKIP = (
    r"(?:\s{0,3}\b(?:that|therefore|thus|hence|clearly|simply|still|indeed|then|definitely|most likely|likely|probably"
    r"|to be|it is|it's|it was|it would be|going to be|with|on|for|is|an? (?:clear|definite|firm|strong|resounding))\b)"
)

HEADER = pattern(
    rf"^[\s\"'-]{{0,6}}(?:the )?{_KIND}{{0,2}}(?:answer|choice|selection|decision|verdict|conclusion|option|prediction"
    r"|correct|result)[\"']?(?: is)?(?:\s{0,3}[:=]|\s{1,3}[-\u2014]\s)\s{0,6}",
    flags=re.MULTILINE,
)
"""Answer: B"""

NONE_OF_THEM = pattern(r"[\"'(]?(?:none|neither|n/a)\b")

ANNOUNCED = pattern(
    r"\banswered (?:by|with|as)\b[\s:]{0,4}|",
    rf"\b{_KIND}{{0,2}}",
    r"(?:answer|choice|option|selection|response|pick|verdict|decision|conclusion|judge?ment|guess|solution|recommendation",
    r"|advice|ruling|assessment)\b",
    r"(?: (?:to|for|of|from|in|among|here|based|given|that|which|would|i)\b[^.;:!?\n]{0,80}?)?",
    r"\s{0,3}(?:(?:is|was|are|as|would be|should be|must be|will be|has to be|can only be|seems to be|appears to be",
    r"|being)\b|[:=\u2014]|-?->|\u2192|(?='))",
    rf"{_SKIP}{{0,4}}[\s:]{{0,4}}",
)
"""The (most fitting) answer (to the question) is (that it is) ..."""

CHOSEN = pattern(
    r"\b(?:I|we|one)(?:'d|'ll|'m| would| will| must| should| have to| am| can| do| could only)?",
    r"(?: \w{2,12}ly| go(?:ing)? to| have to| still)?",
    r" (?:choose|select|pick|chose|selected|picked|choosing|going with|answer|say|go with|opt for|vote for|vote",
    r"|lean(?:ing)?(?: towards?)?|conclude|believe|think|guess|favou?r|recommend",
    r"|rate (?:this|it|her|him|them|that)(?: as)?(?: an?)?)\b",
    rf"{_SKIP}{{0,4}}[\s:]{{0,4}}",
    r"|\b(?:my (?:best |final )?(?:guess|bet|choice|pick|vote|answer) (?:is|would be|goes to)|making it",
    r"|(?:it|that|this)(?: is|'s| must be| has to be| would be| will be))\b[\s:]{0,4}",
)
"""I would choose ..., my best guess is ..., it is ..."""

CONCLUDING = pattern(
    r"(?:^|(?<=[.!?;,:\n]))\s{0,3}(?:and )?(?:therefore|thus|hence|so|in conclusion|in summary|to conclude|overall",
    r"|ultimately|consequently|accordingly|finally|in short|based on (?:this|that|the)[^,.\n]{0,60})\b,?\s{0,4}",
    r"|(?:\u2192|=>|->)\s{0,3}",
)
"""Therefore, ..."""

BUT = pattern(
    r"\b(?:if (?:i (?:had|have|must)|forced|pressed)(?: to \w{3,12})?,?"
    r"|but(?:,? (?:if (?:forced|pressed|i had to \w{3,12}),?|most likely|probably|likely|i'd say|it's|it is|perhaps))?)"
    r"\s{1,3}"
)
"""I cannot be sure, but ..."""

IS_RIGHT = pattern(
    r"[\"')\]:.,]{0,3}\s{1,3}(?:is|would be|seems|seems to be|appears|appears to be|must be|has to be|looks)\s",
    r"(?:therefore |thus |clearly |the |an? |definitely |probably |likely |indeed |obviously ){0,3}",
    r"(?:only |most |single )?",
    r"(?!wrong|incorrect|false|bad|poor|worse|worst|least|other|second|possible|plausible|tempting)",
    r"(?:correct|right|best|answer|choice|true|appropriate|accurate|suitable|fitting|likely (?:answer|choice|option)",
    r"|\w{3,15} (?:answer|choice|option))\b",
)
"""... is the correct answer"""

BEGINS = pattern(
    r"(?:\A|\?[\"')]{0,2}\s{1,3})(?:\s{0,9}(?:well|oh|sure|certainly|definitely|absolutely|honestly|of course|okay|ok"
    r"|hmm)[,.!]?\s{1,3})?"
)
"""Where a text begins to answer: at its start, and after a question that it repeats; "Definitely, ..." before."""

CLOSES = pattern(r"[,:\u2014-]\s{1,3}(?=\S{1,30}\s{0,3}$)")
"""Based on her CV, no."""

OPENS = pattern(
    r"[\"')\]]{0,3}\s{0,3}(?:[.,;:!)\u2014-]|\n|$|\((?!\w\))|(?:because|since|as|due|rather than|over|instead of)\b"
    r"|(?:is|was)\b(?=.{0,40}(?:correct|right|best)))"
)
"""What follows an option with which a text opens: its reason, or nothing."""

# --- What takes a claim back -------------------------------------------------------------------------------------

IS_WRONG = pattern(
    r"[\"')\]:]{0,3}\s{0,3}(?:",
    r"(?:is|was|are|were|does|did|do|has|had|would|could|can|should|will|seems?|must|might|may)",
    r"\s(?:(?:more |most |very )?(?:likely|probably|\w{3,14}ly)\s)?(?:be )?(?:not|never|unlikely|less likely)\b",
    r"|(?:cannot|not|might|may|could)\b",
    r"|\u2014?\s{0,3}(?:is |are |was |seems )?(?:clearly |also |definitely |both |obviously |therefore |just )?",
    r"(?:wrong|incorrect|false|ruled out|eliminated|excluded|unlikely|less likely|irrelevant|unsupported|implausible",
    r"|out\b))",
)
"""... is not, ... is wrong, ... might"""

NEGATED = pattern(
    r"\b(?:not|never|nor|neither|no longer|cannot|rather than|instead of|unlike|except|than|without|against|if|unless",
    r"|whether|might|may|could|hardly|why|rul(?:es?|ed|ing) out|eliminat\w{1,4}|exclud\w{1,4}|dismiss\w{0,4}",
    r"|discard\w{0,4}|tempting|tempted|initially|at first|first thought|as opposed to|over|wrong to|unfair to",
    r"|(?:people|others|many) (?:often|usually|would|might|may|tend|blame|think|say|assume|believe)",
    r"|stereotyp\w{1,6}|prejudic\w{1,4}|society)\b[^.;:!?\n]{0,80}$",
)
"""Not ..., rather than ..., whether ...: searched in the clause before a name."""

EITHER = pattern(r"\s{0,3}(?:either|both|between)\s{1,3}")
NOT_BUT = pattern(r"\s{0,3}(?:not|neither)\b")
TURNS_TO = pattern(r"\b(?:but|it is|it's|rather)\b(?: rather)?\s")
"""Not A but B."""

CLAUSE_ENDS = pattern(r"[;:!?\n]|\.\s|,\s(?!or\b|nor\b)|\b(?:but|so|because|therefore|thus|hence|instead|however)\b")
SENTENCE_END = pattern(r"[.;!?](?=[\"')]{0,2}(?:\s|$))|\n|$")
SENTENCE_START = pattern(r"[.;!?:]\s|\n|,\s")
SENTENCES = pattern(r"(?<=[.!?])[\"')]{0,2}\s{1,9}|\n{1,9}")

HYPOTHETICAL = pattern(
    r"\b(?:might|may|could|someone|some people|some would|at first|initially|first (?:thought|glance|instinct)"
    r"|tempt\w{1,4}|stereotyp\w{1,6}|whether|not|wrong to|never|many people)\b"
)
CONDITIONAL = pattern(
    r"(?:\b(?:if (?!forced|pressed|i (?:had|have|must))|unless|suppos\w{1,4}|assuming)|(?:^|[.!?]\s)had)\b"
    r"[^.!?\n]{0,80}$"
)
REPORTS = pattern(
    r"\b(?:states?|stated|mentions?|mentioned|says|said|describes?|asks?|asked|reads|notes|tells)\b[^.!?\n]{0,120}$"
)

# --- What moves a text on ----------------------------------------------------------------------------------------

CONCLUDES = pattern(
    r"\b(?:therefore|thus|hence|so|final|finally|in conclusion|conclude|ultimately|overall|instead|but|however)\b"
)
CORRECTS = pattern(
    r"(?:^|[.!?\n\u2014]\s{0,3})(?:but |oh,? |hmm,? |no,? |ah,? )?"
    r"(?:wait|actually|correction|scratch that|sorry,|my mistake|on (?:reflection|second thought))\b"
    r"|\b(?:correcting myself|i was wrong|i made a mistake|let me (?:correct|fix|revise|reconsider)|reconsidering"
    r"|(?:revised|corrected|updated) (?:final )?(?:answer|choice)|i change my)\b"
)
CONTRAST = pattern(r"\b(?:but|however|though|although|yet|still|nevertheless|nonetheless)\b")

# --- Layout ------------------------------------------------------------------------------------------------------

BOLD = pattern(r"(\*\*|__)(?=\S)(.{1,120}?)(?<=\S)\1")
ENUMERATED = pattern(r"^[ \t]{0,6}(?:[-*] )?(?:option |choice )?[(\"']?(\w{1,12})[).:]\s", flags=re.MULTILINE)
OPEN_JSON = pattern(r"\s{0,9}(?:```\w{0,8}\s{0,9})?\{\s{0,9}[\"']")
