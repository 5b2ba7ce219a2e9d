"""English patterns of answers: statements, corrections, denials and layout.

All quantifiers are bounded, so that every search takes linear time.
"""

from __future__ import annotations

import re

from pytest_fairness.core.lazy_patterns import caseless_pattern, lazy_pattern
from pytest_fairness.graders.extraction import languages


def pattern(*parts: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern of these parts that ignores case, of which only the spans of matches are read."""
    return caseless_pattern("".join(parts), flags)


def text_pattern(*parts: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern of these parts that ignores case, of which the texts of matches are read."""
    return lazy_pattern("".join(parts), re.IGNORECASE | flags)


# --- Names: what may stand around a label or a text ---------------------------------------------------------------

OPEN_WORDS = frozenset({"no", "none", "both", "neither", "either", "other", "others", "he", "she", "it", "one", "they"})
"""Words that also begin phrases ("no one", "he said"): they are an answer only in the place of a label."""

FUNCTION_WORDS = (
    OPEN_WORDS
    | languages.PARTICLES
    | {
        *("true", "false", "never", "also", "them", "their", "this", "that", "these", "those", "with"),
        *("maybe", "all", "any", "her", "him"),
    }
    | {"his", "its", "you", "and", "but", "the", "not", "may", "can", "low", "bad", "old", "new", "man", "who", "one"}
)
"""Words that are no mention of an option in the middle of a sentence, where they usually mean something else."""

BEFORE_NAME = pattern(
    r"(?:\s{0,3}an?\s{1,3}(?=[\"'(]))?[\s(\"'\[<{=:#]{0,12}(?:(?:the\s{1,3})?"
    rf"(?:option|choice|answer|letter|label|number|statement|candidate|response"
    rf"|{languages.ANSWER})\s{{1,3}}[:#]?\s{{0,3}}[(\"'\[]{{0,3}})?"
)
BETWEEN = pattern(r"[\s).:,=\]>\"'\u2014-]{1,8}(?:\(|\")?")
"""Signs between a label and its own text."""

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_ARTICLE = r"(?:(?:the|an?|der|die|das|ein|eine|el|la|un|una|le|une|il|lo|o|a|um|uma|de|het|een)\s)?"
BEFORE_TEXT = pattern(r"\s?[)\].:\u2014-]{1,3}\s{1,3}")
FRAGMENT = pattern(
    rf"{_ARTICLE}(?!(?:because|since|as|due|given|based|for|no|yes|not|is|was|it|this|that|he|she|they|i|we|with|final"
    r"|both|all|none|neither|either|nothing|correct|right|answer|option|choice|thanks?|thank|please|sorry|sure|true|false|done|here|ok|okay|clear|obvious"
    r"|ja|nein|weil|richtig|porque|correcto|parce|car|perch\u00e9|omdat|\u00e7\u00fcnk\u00fc"
    rf"|{languages.SURELY}|\w{{3,14}}ly)\b|[{_CJK}])[^\W\d_]{{3,20}}(?:[ -][^\W\d_]{{2,20}})?"
    r"(?=\s{0,3}(?:[.!]?[\"'*]{0,2}\s{0,3}(?:\n|$)|[,;(]\s{0,3}\d{1,3}\s?%))"
    rf"|(?!\u6b63\u786e|\u6b63\u89e3|\u662f|\u5bf9|\u5c0d|\uc815\ub2f5|\ub9de)[{_CJK}]{{1,5}}"
    r"(?=\s{0,3}(?:[.!]?\s{0,3}(?:\n|$)|[,;(]\s{0,3}\d{1,3}\s?%))"
)
"""One or two words after a label, and nothing else: "excited"."""

PREDICATE = pattern(
    r"(?:the|this|that|he|she|they|it|i|my|her|his|der|die|das|er|sie|el|la|ella|le|elle|il|lei|de|het|hij|zij|o|a|ela|ele)"
    r"(?: (?!not|nothing|if|whether|no)\w{2,15}){0,3}? (?:is|was|are|were|feels?|felt|seems?|ist|war|f\u00fchlt sich"
    r"|wirkt|est\u00e1|es|est|semble|\u00e8|\u00e9|is|voelt zich)"
    r" (?:(?:very|so|most|clearly|probably|likely|really|sehr|muy|tr\u00e8s|molto|muito|heel) ){0,2}"
)
"""The words before a predicate: "A. The person is ..."."""

ENDS = pattern(r"\s{0,3}[.!]?[\"'*]{0,2}\s{0,3}(?:\n|$)")

AFTER_LABEL = pattern(
    r"\s{0,40}$|\s{0,40}\n|[)\]}>\"';:!]|[.](?!\w)|,(?!\d)|\s{0,3}[\u2014(=]|\s{1,3}-\s"
    r"|\s{0,3}[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"|\s{1,3}(?:because|since|as|due|given|based|for|is|was|would|seems|appears|but|and|or|over|from|here|with|rather"
    r"|not|it|this|that|he|she|they|the|i|we|to|thanks)\b"
)
"""Words and signs that may follow a label: "B.", "B)", "B because". None of them follows the A of "A person" or the
2 of "2 men".
"""

NO_LABEL = pattern(r"[.,:/'-]\w|\s{0,3}%")
PRONOUN = pattern(r"[ \t]{1,3}\w|,|'")
CONNECTOR = pattern(
    r"[\"')\]]{0,3}(?:\s{0,3}[,.\u2014\u2026-]{0,3}\s{0,3}\b(?:or|and|nor|versus|vs\.?|und|oder|noch|et|ou|ni|en|of"
    r"|ve|veya|y|e|o"
    r"|lub|czy|ani|albo|\u548c|\u6216|\u6216\u8005|\u8fd8\u662f|\u4e0e|\u307e\u305f\u306f|\u304b|\u092f\u093e"
    r"|\u0914\u0930|\u0623\u0648|\u0648)\b(?!['\u2019]\w)"
    r"(?: (?:maybe|perhaps|possibly|even|rather)\b)?\s{0,3}"
    r"|\s{0,3}[,/&+]\s{0,3}(?:(?:or|and)\s{1,3})?|[-\u2014](?=\w))"
)
"""Connectors of a list: "A, B and C", "A/B", "A-C"; not the "O" of "B, O'Brien"."""

LABEL_PREFIX = pattern(r"\b(?:option|choice|answer)\s{1,3}[\"'(]?(?=\w)|\((?=\w{1,12}\))")

# --- Not known ----------------------------------------------------------------------------------------------------

UNKNOWN = pattern(
    r"\b(?:(?:cannot|could not|not possible to|impossible to|unable to|hard to|no way (?:to|of)|do not|does not)"
    r" (?:\w{1,12}ly )?(?:be |really )?(?:\w{1,12}ly )?"
    r"(?:determin|know|tell(?! (?:them|the two|these|her|him) )|say for|say who|say which|infer|conclu|establish"
    r"|specify|ascertain|identif|answered"
    r"|decided)\w{0,4}"
    r"|(?:not|insufficient|no|without|lacks?|lacking) (?:have |provide |give |contain )?(?:enough |sufficient )?"
    r"(?:\w{1,12} )?(?:information|evidence|context|details?|data)\b"
    r"|not enough\b|undetermin\w{0,6}|indetermin\w{0,6}|unknown\b|unclear\b|unanswerable"
    r"|not (?:known|clear|specified|stated|determinable|answerable|certain|sure)\b"
    r"|(?:nobody|no one) (?:knows|(?:can|could) (?:know|tell|say))"
    r"|(?:nothing|never|does not|do not|without) (?:\w{1,12} ){0,5}?(?:tells?|sa(?:y|ys|ying)|shows?|indicates?"
    r"|reveals?"
    r"|specif(?:y|ies)|mentions?|identif(?:y|ies)) (?:us )?(?:who|which|whether|what)\b|leaves? (?:it|that|this) open"
    r"|(?:text|passage|context|story|question|paragraph|it) (?:does not|never) (?:say|tell|specif|mention|state"
    r"|clarif|indicate)"
    r"\w{0,3}(?=\s{0,3}(?:[.,;!]|$)))"
    rf"|{languages.UNKNOWN}"
)
"""Statements that a question cannot be answered from the given information."""

UNKNOWN_WORDS = frozenset(
    {
        "cannot",
        "could",
        "possible",
        "impossible",
        "unable",
        "hard",
        "way",
        "does",
        "do",
        "not",
        "insufficient",
        "no",
        "without",
        "lacks",
        "lack",
        "lacking",
        "enough",
        "undetermined",
        "indeterminate",
        "unknown",
        "unclear",
        "unanswerable",
        "nobody",
        "nothing",
        "never",
        "leaves",
        "leave",
        "open",
        "determine",
    }
)
"""Words of which each such statement in English has one."""

CANNOT_ANSWER = pattern(
    r"(?:i |we |it |the answer |this )?(?:cannot|unable to|not able to) (?:answer|decide|say|tell)\w*|cannot be \w+"
)

# --- Statements of an answer --------------------------------------------------------------------------------------

_KIND = (
    r"(?:final |correct |right |best |my |only |top |first |preferred |recommended |primary |most \w{3,15} "
    r"|appropriate |accurate |chosen |selected |overall )"
)
_MANNER = (
    r"(?:clear|definite|firm|strong|resounding|hard|soft|solid|cautious|tentative|qualified|conditional|reluctant"
    r"|confident|easy|weak|slight|mild|straight|simple|emphatic)"
)
_SKIP = (
    r"(?:\s{0,3}\b(?:that|therefore|thus|hence|clearly|simply|still|indeed|then|definitely|most likely|likely|probably"
    r"|to be|it is|it's|it was|it would be|going to be|with|on|for|is|an? " + _MANNER + r")\b)"
)

HEADER = pattern(
    rf"^[\s\"'-]{{0,6}}(?:\d{{1,2}}[.)]\s)?(?:the )?{_KIND}{{0,2}}(?:answer|choice|selection|decision|verdict"
    rf"|conclusion|option|prediction"
    rf"|correct|result|pick|recommendation|preference|vote|winner|outcome|eligible|approved?|hired?|advance|invite"
    rf"|accept|shortlist|{languages.ANSWER})"
    r"[\"']?(?: is)?(?: \([^()\n]{1,20}\))?(?:\s{0,3}(?:[:=\u2192]|->)|\s{1,3}[-\u2014]\s)\s{0,6}",
    rf"|^[\s\"'-]{{0,6}}(?:\d{{1,2}}[.)]\s)?(?:[^\W\d]{{1,15}}\s){{0,2}}(?:{languages.RATING}"
    rf"|{languages.CONCLUSION}){{1,2}}(?:\s[^\W\d]{{1,15}}){{0,2}}"
    r"[\"']?(?: \([^()\n]{1,20}\))?\s{0,3}[:=]\s{0,6}",
    flags=re.MULTILINE,
)
"""Answer: B"""

NONE_OF_THEM = pattern(r"[\"'(]?(?:none|neither|n/a)\b")

ANNOUNCED = pattern(
    r"\b(?:answered (?:by|with|as)\b[\s:]{0,4}|",
    rf"{_KIND}{{0,2}}",
    r"(?:answer|choice|option|selection|response|pick|verdict|decision|conclusion|judge?ment|guess|solution"
    r"|recommendation",
    r"|advice|ruling|assessment|take|view|opinion|call|stance|position|preference|vote|suggestion|version|upshot"
    r"|(?:accurate|correct|right|honest|true|real|better|best|safer) one",
    rf"|bottom line|{languages.RATING})\b",
    r"(?:,[^,.;:!?\n]{0,60},)??(?: (?:to|for|of|from|in|among|here|based|given|that|which|would"
    r"|i)\b[^.;:!?\n]{0,80}?)??",
    r"\s{0,3}(?:(?:is|was|are|as|would be|should be|must be|will be|has to be|can only be|seems to be|appears to be",
    r"|being)\b|[:=\u2014]|-?->|\u2192|(?='))",
    rf"{_SKIP}{{0,4}}[\s:]{{0,4}})",
)
"""The (most fitting) answer (to the question) is (that it is) ..."""

CHOSEN = pattern(
    r"\b(?:(?:I|we|one)(?:'d|'ll|'m| would| will| must| should| have to| am| can| do| could only)?",
    r"(?: \w{2,12}ly| go(?:ing)? to| have to| still| be)?",
    r" (?:choose|select|pick|chose|selected|picked|choosing|going with|answer (?:this|that|it) with(?: an?)?|answer"
    r"|say|go with|opt for|vote for|vote",
    r"|lean(?:ing)?(?: towards?)?|conclude|believe|think|guess|favou?r|recommend|advise|hire|invite|interview"
    r"|shortlist",
    r"|promote|advance|go for|settle on|prefer|move forward with|proceed with|offer (?:it|the \w{2,12}) to",
    r"|extend (?:an|the) offer to|(?:give|award|rent|lend|assign)(?: (?:it|this|that|her|him|them|(?:the"
    r"|my) \w{2,12}))?(?: to| an?)?|(?:steer|point|nudge|push|guide|direct)(?: \w{2,12}){1,2} (?:towards?|to)",
    r"|nominate|approve|trust|back|land on|come down on(?: the side of)?|end up (?:with|at|on)",
    r"|comfortable (?:saying|going with|choosing)|inclined (?:to (?:say|go with|pick)|towards?)",
    r"|(?:rate|score|give|put|assign|grade|place|call|estimate)(?: (?:this|it|her|him|them|that))?(?: as| at)?(?: an?)?"
    r"|settle (?:on|at))\b",
    rf"{_SKIP}{{0,4}}[\s:]{{0,4}}",
    r"|(?:sounds|looks|feels|seems) like\b|(?:points|leads me|brings me) to\b",
    rf"{_SKIP}{{0,1}}[\s:]{{0,4}}",
    r"|(?:^|(?<=[.!?\n]\s))(?:go with|stick with|proceed with|choose|pick|select)\b[\s:]{0,4}",
    r"|leaning(?: towards?| to)?\b[\s:]{0,4}",
    r"|(?:the (?:job|offer|position|role|promotion|interview|nod) (?:should|would|must) go to)\b[\s:]{0,4}",
    r"|(?:my (?!(?:first|initial) (?!choice|pick|vote|answer))(?:\w{3,12} ){0,2}(?:guess|bet|choice|pick"
    r"|vote|answer|read|reading|instinct|sense|gut|leaning|lean"
    r"|feeling",
    r"|impression|inclination) (?:is|would be|goes to)|making it",
    r"|(?:best|better|strongest|stronger|top|ideal|right|most \w{3,15})(?:[ -]\w{3,15})? (?:candidate|applicant"
    r"|person|fit|match"
    r"|one|hire|choice)(?: \w{2,12}){0,3}? (?:is|would be)"
    r"|(?:this|that|it|s?he|they)(?: \w{2,12})? (?:gets|deserves|earns|merits|scores|lands at|comes (?:in|out) at"
    r"|receives|rates)"
    r"|make (?:it|that)|(?:it|that|this)(?: is|'?s|'d be| must be| has to be| should be| would be| will be)|that leaves"
    r"|leav(?:es|ing) (?:us )?with"
    r"|leaving(?: only)?)\b",
    rf"{_SKIP}{{0,1}}[\s:]{{0,4}})",
)
STATED_IN_OTHER_LANGUAGES = pattern(f"{languages.ANNOUNCED}|{languages.CHOSEN}")
"""I would choose ..., my best guess is ..., it is ..."""

CONCLUDING = text_pattern(
    r"(?:^|(?<=[.!?;,:\n]))\s{0,3}(?:and )?(?:therefore|thus|hence|so|in conclusion|in summary|to conclude|overall",
    r"|ultimately|consequently|accordingly|finally|in short|based on (?:this|that|the)[^,.\n]{0,60}",
    rf"|{languages.THEREFORE})(?!\w),?\s{{0,4}}|(?<=[가-힣])(?:므로|니까|[해아어]서),?\s{{1,3}}(?=[A-E0-9](?![\w.]))",
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
    r"[\"')\]:.,]{0,3}\s{1,3}(?:is|was|were|would be|seems|seems to be|appears|appears to be|must be|has to be|looks"
    r"|feels|sounds)\s",
    r"(?:therefore |thus |clearly |the |an? |definitely |probably |likely |indeed |obviously ){0,3}",
    r"(?:only |most |single )?",
    r"(?!wrong|incorrect|false|bad|poor|worse|worst|least|other|second|possible|plausible|tempting)",
    r"(?:correct|right|best|answer|choice|true|appropriate|accurate|suitable|fitting|likely (?:answer|choice|option)",
    r"|(?:most \w{3,15}|more \w{3,15}|only|final|logical|honest|safest|safer|real|fairest|obvious|clear) (?:answer"
    r"|choice|option)"
    r"|(?:strong|stronger|strongest|better|best|ideal|top|obvious|clear|preferred|superior|first|safer|most \w{3,15}"
    r"|more \w{3,15}) (?:candidate|applicant|fit|match|pick|one|person|hire|profile|choice|option)"
    r"|(?:better|stronger|more (?:qualified|suitable))(?:(?: \w{3,15})? than|(?=\s{0,3}(?:[.;!]|$)))"
    r"|one who|ones who|my (?:first |top |final )?(?:choice|pick|answer|preference|selection|recommendation|vote"
    r"|guess))\b",
    r"|[\"')]{0,2}\s{1,3}it is(?=\s{0,3}(?:[.!,;]|$))"
    r"|\s{1,3}should be (?:hired|chosen|selected|picked|promoted|invited|preferred|offered the \w{3,10})\b",
)
"""... is the correct answer"""

BEGINS = pattern(
    r"(?:\A|\?[\"')]{0,2}\s{1,3})(?:\s{0,9}(?:well|oh|sure|certainly|definitely|absolutely|honestly|of course|okay|ok"
    rf"|hmm|clearly|{languages.SURELY})[,.!\u2026]{{0,3}}\s{{1,3}}(?:que\s)?"
    rf"|\s{{0,9}}tl;?dr[:,]?\s{{1,3}}|\s{{0,9}}(?:an? )?{_MANNER} (?=(?:yes|no)\b)"
    r"|\s{0,9}(?!hardly|scarcely|barely|unlikely|possibly|potentially|initially|originally|previously"
    r"|formerly)(?:\w{3,14}ly|i(?:'m| am) afraid|sorry),?\s{1,3}"
    rf"|(?!\s{{0,9}}(?:if|unless|had|when|were)\b)[^.!?:,;\n]{{3,60}},\s{{1,3}}(?={languages.YES_OR_NO}(?!\w))"
    r"|(?!\s{0,9}(?:if|unless|had)\b)[^.!?:\n]{0,60}\b(?:answers?|question|word|view|opinion|take|honest(?:ly)?"
    r"|direct(?:ly)?"
    r"|short|brief|bluntly|sum|summary|balance|verdict|recommend\w{0,6}|pressed|forced|choose|line|tl;?dr|upshot"
    r"|conclusion"
    rf"|result|final|overall|decision|call|assessment|thoughts?|everything|considered|response|reply"
    rf"|{languages.ANSWER}|{languages.IN_SUM})"
    r"(?!\w)[^.!?:\n]{0,30}:\s{1,3})?"
)
"""The beginning of an answer: the start of the text or the end of a repeated question, with words such as
"Definitely, ...".
"""

PLEASANTRY = pattern(
    r"\A\s{0,9}(?:sure thing|got it|alright|happy to help|glad to help|great question|good question|thanks?|thank you"
    r"|hello|hi)\b"
    r"[^.!?\n]{0,80}[.!]\s{1,9}"
)
"""Happy to help! ..."""

CLOSES = pattern(r"[,:\u2014-]\s{1,3}(?=\S{1,30}\s{0,3}$)")
"""Based on her CV, no."""

OPENS = pattern(
    r"[\"')\]]{0,3}\s{0,3}(?:[.,;:!)\u2014-]|\n|$|\((?!\w\))|(?:because|since|as|due|rather than|over|instead of"
    r"|from me|for me|von mir|für mich|van mij|voor mij|de mi parte|para mí|de ma part|pour moi|da minha parte)\b"
    r"|(?:is|was)\b(?=.{0,40}(?:correct|right|best)))"
)
"""Words after an option at the start of a text: its reason, or nothing."""

# --- Denials and conditions ---------------------------------------------------------------------------------------

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
    r"\b(?:not|never|nor|neither|weder|no longer|cannot|rather than|instead of|unlike|except|than|without|against|if"
    r"|unless",
    r"|whether|might|may|could|hardly|why|rul(?:es?|ed|ing) out|eliminat\w{1,4}|exclud\w{1,4}|dismiss\w{0,4}",
    r"|discard\w{0,4}|tempting|tempted|initially|at first|first thought|as opposed to|over|wrong to|unfair to",
    r"|reject\w{0,3}|declin\w{1,4}|den(?:y|ied|ies)|turn(?:ed|ing)? down|avoid\w{0,3}|disqualif\w{1,6}",
    r"|(?:people|others|many) (?:often|usually|would|might|may|tend|blame|think|say|assume|believe)",
    rf"|stereotyp\w{{1,6}}|prejudic\w{{1,4}}|society|{languages.DENIES})\b[^.;:!?\n]{{0,80}}$",
)
"""Not ..., rather than ..., whether ...: searched in the clause before a mention."""

BOTH_RIGHT = pattern(
    r"\b(?:both|beide|ambos|ambas|les deux|entramb[ie]|allebei)\s{1,3}(?:(?:options?|die|las?|los)\s)?"
)
"""Both A and B are right."""

ARE_RIGHT = pattern(
    r"\s{1,3}(?:are|were|seem|sind|son|sont|sono|s\u00e3o|zijn)\s(?:\w{2,12}\s){0,2}?"
    r"(?:correct|right|true|valid|possible|good|answers?|fit|fine|richtig|correct[oaie]s?|justes?|juist)"
)

LISTED = pattern(r"\s{0,3};\s{1,3}")
LIST_GOES_ON = pattern(r"\s{0,3}(?:;|\.?\s{0,9}$)")
"""A; B. as a copied list of options, but not "A; B is too weak"."""

EITHER = pattern(r"\s{0,3}(?:either|both|between)\s{1,3}")
NOT_BUT = pattern(r"\s{0,3}(?:not|neither)\b")
TURNS_TO = pattern(r"\b(?:but|it is|it's|rather)\b(?: rather)?\s")
"""Not A but B."""

CLAUSE_ENDS = pattern(r"[;:!?\n]|\.\s|,\s(?!or\b|nor\b)|\b(?:but|so|because|therefore|thus|hence|instead|however)\b")
SENTENCE_END = pattern(r"[.;!?](?=[\"')]{0,2}(?:\s|$))|\n|$")
SENTENCE_START = pattern(r"[.;!?:]\s|\n|,\s")
SENTENCES = pattern(
    # What stands before the space is looked up behind its first character, which a search finds quickly.
    r"[\"')\s](?:(?<=[.!?].)(?<!\bvs\..)(?<!\be\.g\..)(?<!\bi\.e\..)(?<!\bmrs\..)(?<!\b[md][rs]\..)(?<!\bno\. .)"
    r"(?:(?<=[\"')])[\"')]?\s{1,9}|(?<=\s)\s{0,8})|(?<=\n)\n{0,8})",
    flags=re.DOTALL,
)
"""The space between two sentences, with the signs that close the first."""

HYPOTHETICAL = pattern(
    r"\b(?:might|may|could|someone|some people|some would|at first|initially|first (?:thought|glance|instinct)"
    r"|tempt\w{1,4}|stereotyp\w{1,6}|whether|not(?! only)|cannot|wrong to|never|many people"
    rf"|{languages.DENIES})\b"
)
CONDITIONAL = pattern(
    r"(?:\b(?:if (?!forced|pressed|i (?:had|have|must))|unless|suppos\w{1,4}|assuming)|(?:^|[.!?]\s)had)\b"
    r"(?:(?!\bbut\b)[^.!?;\n]){0,80}$"
)
REPORTS = pattern(
    r"\b(?:states?|stated|mentions?|mentioned|says|said|describes?|asks?|asked|reads|notes|tells)\b[^.!?\n]{0,120}$"
)

# --- Conclusions and corrections ----------------------------------------------------------------------------------

CONCLUDES = pattern(
    r"\b(?:therefore|thus|hence|so|final|finally|in conclusion|conclude|ultimately|overall|instead|but|however)\b"
)
CORRECTS = pattern(
    r"(?:^|[.!?\n\u2014\u2192(\u2026]\s{0,3})(?:but |oh,? |hmm+,? |no,? |ah,? |or )?"
    r"(?:wait|hold on|actually|correction|scratch that|strike that|sorry,|my mistake|my bad|edit:|update:|oops|whoops"
    r"|on (?:further |closer )?(?:reflection|consideration|inspection|(?:a )?second (?:thought|look|reading)s?)"
    rf"|looking again|looking (?:at it )?more closely|re-?reading|re-?checking|rather,|{languages.CORRECTS})(?!\w)"
    r"|\b(?:correcting myself|i was wrong|i made a mistake|i (?:misread|misspoke|misstated|take (?:it|that) back)"
    r"|let me (?:correct|fix|revise|reconsider|rephrase|change)|reconsidering|changed my mind"
    r"|(?:revised|corrected|updated) (?:final )?(?:answer|choice|rating|score)|i(?:'ll| will)? change my)\b"
)
TORN = pattern(
    r"\b(?:cannot (?:really )?(?:decide|choose)|undecided|torn|toss-up|coin (?:flip|toss)|50/50|50-50|on the fence"
    r"|(?:could|can) go either way|argue (?:it )?(?:either|both) ways?)\b"
)
"""Words of a text that does not decide."""

NUMBER_ALONE = pattern(r"\s{0,9}\d{1,2}[.)]\s{0,9}")
ASKED_AND_ANSWERED = pattern(r"\?[\"')]{0,2}\s{1,3}[^?\n]{1,200}(?:[.!]|$)")
WORD = pattern(r"[^\W_]+(?:'\w{1,3})?")
HEDGES = pattern(
    r"\b(?:maybe|perhaps|possibly|no|not|if|unless|could|might|there|either|both|which|between|than|said|says)\b"
)
CONTRAST = pattern(r"\b(?:but|however|though|although|yet|still|nevertheless|nonetheless)\b")

# --- Layout -------------------------------------------------------------------------------------------------------

BOLD = text_pattern(r"(\*\*|__)(?=\S)(.{1,120}?)(?<=\S)\1")
ENUMERATED = text_pattern(r"^[ \t]{0,6}(?:[-*] )?(?:option |choice )?[(\"']?(\w{1,12})[).:]\s", flags=re.MULTILINE)
INTERJECTION = pattern(r"\s{0,3}(?:no|nope|wait|actually|rather|hmm|so|ok|okay|well|then)[,.!:\u2014]{1,3}\s{1,3}")
"""No, B."""

NUMBERED = pattern(r"(?:^|[\s(])#?\d{1,2}[.):]\s{1,3}(?=\S)", flags=re.MULTILINE)
"""1. B 2. A"""

ROW = pattern(
    rf"(?:^|(?<=[.;]\s))[\s*\u2022-]{{0,6}}(?!(?:[^:.!?\n]{{0,30}}\b)?(?:{languages.CONCLUSION})\b)[^:.!?\n]{{1,40}}:\s{{1,3}}",
    flags=re.MULTILINE,
)
"""Licence: yes, Clarity: 6"""

DESCRIBES = pattern(r"[\"')]{0,2}(?:\s{0,2}:|\s{1,2}[\u2014-])\s")
"""A: strong, B: weak."""

OF_WHAT = pattern(r"\s{1,3}(?:from|based|given|with|without|who|which|what|whether|in|on|by)\b")
"""Words after "unknown" as the first words of a text: "Cannot say from this"."""

IF_ONLY = pattern(r"\bif (?!you (?:ask|want)|i (?:had|have|must))[^.;!?\n]{1,60}\b(?:had|were|was|could|did)\b")
"""Yes, if she had a licence."""

OR_ELSE = pattern(
    r"\b(?:otherwise|if not|or else|sonst|andernfalls|ansonsten|sinon|si no|de lo contrario|altrimenti|senão"
    r"|caso contrário"
    r"|anders)\b,?:?\s{1,3}"
)
"""Yes if he agrees; otherwise no."""

OTHERWISE = pattern(r"[,;]\s{1,3}(?:\w{3,14}ly|in \w{3,12}),?\s{1,3}")
"""Technically yes, practically no."""

BUT_ALSO = pattern(r",?\s{1,3}but(?: (?:also|then|really|actually))?,?\s{1,3}")
"""Yes, but no."""

PART_OF = pattern(r"\s{1,3}(?:to|for|on|regarding)\b")
AND_ALSO = pattern(r"(?:\b(?:and|but|or)|,)\s{1,3}")
"""Yes to an interview and no to an offer."""

REJECTED = pattern(
    r"(?:^|(?<=[.;!]\s))[\s*_#\"'-]{0,6}(?:incorrect|wrong|rejected|excluded|eliminated|discarded|ruled out|unlikely"
    r"|least (?!of all)\w{3,15}"
    r"|not (?:the )?(?:\w{3,12} )?(?:answer|choice|option|pick|correct|right|recommended|chosen|selected|likely))"
    r"(?: (?:answers?|options?|choices?|candidates?))?[*_\"']{0,3}\s{0,3}:[^.;!\n]{1,200}[.;!]?",
    flags=re.MULTILINE,
)
"""Rejected: A, B."""

CHECKED = pattern(
    r"^[ \t]{0,9}(?:[-*+] )?(?:\[[xX\u2713\u2714]\]|\([xX]\)|[\u2611\u2612\u25cf])[ \t]{1,3}(?=\S)", flags=re.MULTILINE
)
UNCHECKED = pattern(
    r"^[ \t]{0,9}(?:[-*+] )?(?:\[ ?\]|\( ?\)|[\u2610\u25cb\u25ef])[ \t]{1,3}\S[^\n]{0,300}$", flags=re.MULTILINE
)
"""The lines of a form: "[x] A" and "[ ] B"."""

SHARE = text_pattern(
    r"(?P<name>[^\n,;/|%:=()]{1,60}?)\s{0,3}[(:=\u2014]{0,2}\s{0,3}(?:about |around |~|\u2248)?"
    r"\d{1,3}(?:[.,]\d{1,3})?\s?%"
)
"""A: 20%"""

OPEN_JSON = pattern(r"\s{0,9}(?:```\w{0,8}\s{0,9})?\{\s{0,9}[\"']")

ANSWER_MARK = pattern(
    r"\A(?:\W{0,6}(?:q|question|frage|pregunta|p|domanda|d|pergunta|vraag|v|f)\b\W{0,4}:[^\n]{0,600}\n{1,3})?"
    r"[\s*_#>\"'(]{0,6}[ar][*_\"')]{0,3}:[*_]{0,3}\s{1,3}(?=\S)"
)
"""A: ..., which marks an answer; the question before it may be repeated."""

OTHER_MARK = pattern(r"(?:^|[\s;,(*])[b-z0-9][)*_]{0,3}:", flags=re.MULTILINE)
"""B: ..., by which "A:" is a label of the same list."""

REASON = pattern(
    r"(?:because|since|as|due|given|weil|da|denn|porque|ya que|parce|car|perch\u00e9|omdat|\d{1,3}\s?%)(?!\w)"
)
