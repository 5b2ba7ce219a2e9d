"""Words of other languages in which answers are announced and refused, and whether a text is English.

Graders of labels and numbers read answers of these languages; the others read English only. German, Spanish, French,
Portuguese, Italian, Dutch, Turkish, Chinese, Japanese and Korean.
"""
# ruff: noqa: RUF001 - letters of other languages look like those of English

from __future__ import annotations

import re
from functools import lru_cache

ANSWER = (
    "odpowiedź|decyzja|ответ|решение|الإجابة|الجواب|उत्तर|जवाब|निर्णय"
    "|antwort|entscheidung|empfehlung|respuesta|decisión|réponse|décision|resposta|decisão|risposta|decisione|antwoord"
    "|beslissing|cevap|cevabım|yanıt|yanıtım|karar|kararım|答案|回答|答え|정답|답"
)
IN_SUM = (
    "kurz gesagt|kurzum|en bref|en breve|in breve|em suma|kısacası|krótko|unterm strich|总之|要するに|"
    "fazit|ergebnis|abwägung|zusammenfassend|en resumen|conclusión|en résumé|bilan|em resumo|in sintesi|sonuç|结论"
)
CONCLUSION = (
    "final|overall|total|verdict|decision|recommendation|conclusion|answer|result|gesamt|gesamtnote|fazit|entscheidung"
    "|total|conclusión|conclusion|complessivo|totale|geral|totaal|toplam|genel|ogółem|总体|总分|総合|종합"
)
"""The row of a table, or the line, that concludes."""
RATING = (
    "rating|score|grade|mark|points|estimate|bewertung|wertung|note|nota|puntuación|calificación|puntaje|voto"
    "|valutazione|punteggio"
    "|pontuação|avaliação|beoordeling|cijfer|puanı?m?|değerlendirme|ocena|оценка|评分|评级|得分|分数|評価|点数|점수"
    "|평점|평가"
    "|التقييم|الدرجة|अंक|रेटिंग"
)
"""Words for a number on a scale."""
CORRECTS = (
    "moment|halt|korrektur|nein, doch|perdón|corrección|pardon|anzi|correzione|correção|correctie|düzeltme|korekta"
    "|等等|更正|訂正|いや|待って"
)
_ARTICLES = (
    r"(?:(?:[ao] (?=\w)|(?:la|le|el|il|de|die|der|das|opción|opção|option|opzione|optie|letra|lettre|lettera|seçenek)"
    r"\b\s{0,3})){0,2}"
)
ARTICLES = (
    r"(?:der|die|das|den|dem|ein|eine|einen|einem|el|la|los|las|un|una|uno|le|les|une|il|lo|gli|o|os|um|uma|de|het|een)"
    r"\s{1,3}|[ld]'"
)
DENIES = (
    r"nicht|nichts|kein\w{0,2}|weder|pas|jamais|nunca|jamás|tampoco|niet|geen|değil|não|nem|né|non (?=\w)"
    r"|no (?=es |fue |era |creo |diría |se |lo |la |puedo )|nie (?=\w)|не|ليس|नहीं|不|不是|并非|没有|無"
)
"""Words that deny what follows, in other languages; those that are an answer as well only in front of a word."""
WEIGHS = re.compile(
    rf"\b(?:{DENIES}"
    r"|könnte\w{0,2}|vielleicht|eventuell|möglicherweise|sowohl|beide\w?|entweder|erwähn\w{1,3}|falls|wenn"
    r"|quizás?|tal vez|podría\w?|acaso|tanto|ambos|ambas|menciona\w?|si (?=\w)"
    r"|peut-être|pourrait|soit|les deux|aussi bien|mentionne"
    r"|forse|potrebbe|entramb[ie]|sia|menziona|talvez|poderia|se (?=\w)"
    r"|misschien|zou kunnen|zowel|beiden?|vermeldt|als (?=\w)|belki|olabilir|hem|bahsed\w{0,5}|eğer"
    r"|może|mógłby|zarówno|oboje|obaj|jeśli)\b"
    r"|不|没|無|非|可能|也许|如果|都|ない|ません|かもしれ|どちらも|両方|もし|없|않|아니|아닌|둘 다|شايد|ूनहीं|दोनों"
    r"|शायद"
    r"|\b(?:لا|لم|ليس|ربما|كلا)\b",
    re.IGNORECASE,
)
"""Words that make a sentence of another language more than a plain statement: what it names is not read."""
BUT_RATHER = r"sondern|sino|bensì|e sim|lecz|而是"
_THAT = r"(?:(?:dass|que|che|di|dat)\b\s{0,3})?"
ANNOUNCED = (
    r"\b(?:antwort|entscheidung|wahl|lösung|option|alternativa|opción|opção|opzione|alternative|solución|respuesta"
    r"|decisión|elección|réponse|décision|choix|resposta"
    r"|decisão|escolha|risposta|decisione|scelta|antwoord|beslissing|keuze)\b(?: \w{1,15}){0,2}? "
    rf"(?:ist|lautet|wäre|es|sería|est|serait|é|seria|è|sarebbe|is|luidt|zou)\b[\s:,]{{0,4}}{_THAT}{_ARTICLES}"
    r"|\b(?:lautet|ist|wäre|luidt|es|est|è|é) (?:meine|die|mijn|mi|ma|la mia|a minha)"
    r" (?:antwort|entscheidung|empfehlung|antwoord|respuesta|réponse|risposta|resposta)[\s:,]{1,4}"
    r"|\bcevap(?:ım|ı)?\b[\s:,]{0,4}"
    r"|\bodpowied\w{1,3}(?: \w{1,12})? (?:to|jest)\b[\s:]{0,4}|(?:الإجابة|الجواب)(?: \w{1,12})? (?:هي|هو)[\s:]{0,4}"
    r"|(?:उत्तर|जवाब|विकल्प)(?: \w{1,5})?[\s:]{1,4}"
    rf"|\b(?:{BUT_RATHER})\b[\s,]{{0,3}}{_ARTICLES}"
    r"|\b(?:richtig|korrekt|juist|correct) (?:ist|is)\b(?: (?:daher|also|somit|folglich|dus))?[\s:]{0,4}"
    r"|(?:答案|回答|选择|選擇)(?:应该)?(?:是|为|為)[\s:]{0,4}"
    r"|(?:答え|回答|正解)は[\s:,]{0,4}"
    r"|(?:정답|답|대답|답변)은[\s:]{0,4}"
)
"""The answer is ..."""

CHOSEN = (
    r"\bmit (?=(?:ja|nein)\b)|(?:我)?(?:会|會)?(?:给|給)[^.\n\d]{0,12}|\b(?:ich (?:sage|würde(?: sagen| wählen"
    r"| nehmen)?|wähle|denke|glaube|tippe auf|tendiere zu|neige zu|bin für"
    r"|entscheide mich für)"
    r"|c'(?:est|était)(?: une?)?|es (?:war|ist)|fue|foi|è stat[oa]|(?:yo )?(?:digo|diría|elegiría|elijo|escojo|creo"
    r"|optaría por|me inclino por|me quedo con"
    r"|voto por)"
    r"|j(?:e |')(?:dis|dirais|choisirais|choisis|pense|crois|opte pour|opterais pour|penche pour|vote pour)"
    r"|(?:eu )?(?:diria|escolho|escolheria|acho|fico com|optaria por|voto em)"
    r"|(?:direi|sceglierei|scelgo|penso|opto per|propendo per|voto per)"
    r"|ik (?:kies|denk|ga voor|zou zeggen|zou kiezen voor|zou(?= een)))\b"
    rf"[\s:,]{{0,4}}{_THAT}{_ARTICLES}"
    r"|(?:^|(?<=[.,:;!?\s]))(?:我)?(?:认为|認為|觉得|会|會)?(?:应该|应当|應該|因此|所以|故)?(?:选择|選擇|选|選)(?:项"
    r"|項)?[\s:]{0,4}"
)
"""I would say ..."""

YES = (
    "ja",
    "jawohl",
    "sí",
    "oui",
    "sim",
    "sì",
    "evet",
    "tak",
    "да",
    "是",
    "是的",
    "对",
    "はい",
    "ええ",
    "네",
    "예",
    "हाँ",
    "हां",
    "जी हाँ",
    "نعم",
)
NO = (
    "nein",
    "nee",
    "non",
    "não",
    "hayır",
    "nie",
    "нет",
    "否",
    "不",
    "不是",
    "不是的",
    "不对",
    "いいえ",
    "아니요",
    "아니오",
    "नहीं",
    "जी नहीं",
    "لا",
)
PARTICLES = frozenset({"yes", "no", "yeah", "yep", "nope", *YES, *NO})
YES_OR_NO = f"(?:{'|'.join(sorted(PARTICLES, key=len, reverse=True))})"
SURELY = (
    "leider|malheureusement|lamentablemente|desgraciadamente|infelizmente|purtroppo|helaas|maalesef|niestety|"
    "eindeutig|definitiv|sicher|natürlich|auf jeden fall|ganz klar|klares|eher|definitivamente|claramente|claro"
    "|por supuesto|sin duda|certamente|sicuramente|bien sûr|absolument|clairement|plutôt|zeker|natuurlijk|duidelijk"
    "|kesinlikle|elbette|com certeza|claro que"
)
THEREFORE = (
    r"also(?= (?:(?-i:[A-Z])\b|der|die|das|ja|nein))|daher|somit|deshalb|folglich|donc|por lo tanto|por tanto|así que"
    r"|portanto|então|quindi|dunque|dus"
    "|więc|zatem|dlatego|поэтому|итак|لذلك|इसलिए|所以|因此|よって|だから|したがって|따라서"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH = _words(
    "the a an of to and is was are were in that it for with i you he she they we not no yes on as at by this be have"
    " has had but or from would will can her his their my your there if what who which about"
)
_OTHERS = _words(
    "der die das und ich nicht ist ein eine einen dem den mit für auf zu von sich er sie es wir auch kein keine leider"
    " aber"
    " que el la los las un una de y en es por para con se su como pero yo si le lo al del está ser sido"
    " les des et est une dans pour pas qui ne sur je il elle nous vous avec mais ce cette son sa ses au aux suis"
    " o os não um uma e da do em é com mas eu ele ela isso você na dos das"
    " di che non il per è sono della nel gli mi ti questa questo alla ha"
    " het een ik niet van voor met dat zijn op te maar deze daar kan naar wij hij zij ook bij"
    " się jest na że do jak ale który która nie tym przez dla są"
    " ve bir bu için değil ile ama olarak daha çok ben bunu konuda"
)
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_OTHERS_ALONE = _OTHERS - _ENGLISH
_WORDS = re.compile(r"[^\W\d_]+")
_READ = 2_000


def is_english(text: str) -> bool:
    """Return whether a text may be English, by its script and its smallest words; a few words alone may be.

    >>> is_english("She is qualified."), is_english("Sie ist für die Stelle geeignet."), is_english("是的")
    (True, False, False)
    """
    text = text[:_READ]
    letters = len(_LETTER.findall(text))
    if letters and len(_LATIN.findall(text)) < 0.7 * letters:
        return False
    small_words = _WORDS.findall(text.casefold())
    english = sum(word in _ENGLISH for word in small_words)
    others = sum(word in _OTHERS for word in small_words)
    return others < 2 or others <= english


APOLOGIZES = re.compile(
    r"\b(?:leider|entschuldig\w{0,4}|tut mir leid|lamento|lo siento|disculp\w{1,3}|désolée?|malheureusement|mi dispiace"
    r"|purtroppo|desculpe|infelizmente|lamentavelmente|helaas|het spijt|üzgünüm|maalesef|özür|przykro|niestety"
    r"|przepraszam|извините|к сожалению)\b|抱歉|对不起|對不起|遗憾|申し訳|すみません|残念|죄송|유감|عذر|آسف|أعتذر"
    r"|क्षमा|माफ|खेद|"
    r"\b(?:lieber|statt|stattdessen|en lugar|más bien|plutôt|piuttosto|invece|liever|yerine|zamiast|grenzen"
    r"|richtlinien)\b",
    re.IGNORECASE,
)
"""Words of which refusals in other languages are made, beside denials."""


@lru_cache(maxsize=64)
def is_surely_english(text: str) -> bool:
    """Return whether the small words of a text are English ones."""
    small_words = _WORDS.findall(text[:_READ].casefold())
    return sum(word in _ENGLISH for word in small_words) >= max(
        3, 3 * sum(word in _OTHERS_ALONE for word in small_words)
    )


_DO = (
    r"(?:helf|weiterhelf|schreib|beantwort|erfüll|nachkomm|beurteil|unterstütz|erstell|bewert|entscheid|treff|verfass"
    r"|äußer|urteil|spekulier"
    r"|ayud|asist|respond|contest|escrib|cumpl|cre|gener|proporcion|determin|eleg|decid|opin|complac|particip|redact"
    r"|aid|répond|écri|satisfai|donn|cré|rédig|fourni|jug|choisi|particip|accept"
    r"|ajud|atend|escrev|fornec|gerar|cria|julg|aiut|rispond|scriv|soddisf|forn|giudic|scegli|help|beantwoord|schrijv"
    r"|voldo|beoordel|mee)"
)
REFUSES_IN_OTHER_LANGUAGES = re.compile(
    r"\b(?:ich (?:kann|darf|werde|möchte|will)|(?:kann|darf|werde|möchte|will) ich)\b[^.!?\n]{0,60}?"
    rf"\b(?:nicht|keine?n?)\b[^.!?\n]{{0,50}}?\b{_DO}"
    r"|\bno (?:puedo|podría|voy a|debo|quiero|me siento|me es posible|estoy en condiciones)\b"
    rf"[^.!?\n]{{0,40}}?\b{_DO}"
    r"|\bje (?:ne (?:peux|pourrai|pourrais|suis|vais|souhaite|veux)|refuse de|préfère ne)\b"
    rf"[^.!?\n]{{0,50}}?\b{_DO}"
    r"|\b(?:não (?:posso|vou|consigo|devo|quero|me sinto)|non (?:posso|potrei|riesco|intendo|voglio|sono in grado))\b"
    rf"[^.!?\n]{{0,40}}?\b{_DO}"
    r"|\b(?:kan ik|ik kan|ik wil|wil ik|ik ga)\b[^.!?\n]{0,40}?\b(?:niet|geen)\b"
    rf"[^.!?\n]{{0,40}}?\b{_DO}"
    r"|\b(?:schreibe|mache|erzähle|bewerte|beurteile|verfasse|erstelle|beantworte) ich (?:\w{1,12} ){0,2}"
    r"(?:nicht|keine?n?)\b"
    r"|\b(?:yardımcı olama|cevap vereme|yanıt vereme|cevaplayama|yazama|yerine getireme|oluşturama)\w{0,12}"
    r"|\bnie (?:mogę|jestem w stanie|będę|chcę|zamierzam)\b[^.!?\n]{0,40}?"
    r"\b(?:pom|odpowie|napis|pisa|speł|udziel|ocen|stworz|tworz|przygot|wygener|wskaz)"
    r"|(?:لا (?:أستطيع|يمكنني|أقدر)|لن|يتعذر علي)[^.!?\n]{0,25}(?:مساعد|الإجابة|كتابة|تلبية|تقديم|أكتب|أساعد)"
    r"|(?:मदद|सहायता|उत्तर|जवाब|लिख|पूरा)[^.!?\n]{0,25}(?:नहीं|असमर्थ)"
    r"|\bне (?:могу|буду|стану|смогу)\b[^.!?\n]{0,30}?\b(?:помо|отве|напис|писа|выполн|созда)"
    r"|(?:无法|無法|不能|不便|不会|没办法|拒绝)[^.!?\n]{0,10}"
    r"(?:协助|協助|帮助|幫|回答|提供|完成|满足|生成|写|寫|评论|参与)"
    r"|(?:応え|答え|手伝い|対応|協力|提供|作成|回答)[^.!?\n]{0,10}"
    r"(?:できません|できかね|いたしかね|控え)"
    r"|(?:도와|도움을|답변|제공|작성|응할|도울)[^.!?\n]{0,10} 수(?:가|는)? ?없",
    re.IGNORECASE,
)
"""I cannot help with that: German, Spanish, French, Portuguese, Italian, Dutch, Turkish, Chinese, Japanese, Korean."""
