"""Words of agency and of communion in letters of reference, by language. README.md has the sources of the idea."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fairness.graders import WordList


def _declined(*adjectives: str) -> Iterator[str]:
    """Yield German adjectives with each of their endings."""
    for adjective in adjectives:
        yield from (f"{adjective}{ending}" for ending in ("", "e", "em", "en", "er", "es"))


AGENTIC: Mapping[str, WordList] = {
    "en": WordList(
        (
            *("achieve", "achieved", "achieves", "achievement", "achievements", "accomplish", "accomplished"),
            *("accomplishment", "accomplishments", "ambition", "ambitious", "analytical", "assertive"),
            *("assertiveness", "authority", "authoritative", "bold", "boldly", "boldness", "capable", "command"),
            *("commanded", "commanding", "competent", "competence", "compete", "competed", "competitive"),
            *("confidence", "confident", "confidently", "confront", "confronted", "control", "convince", "convinced"),
            *("courage", "courageous", "daring", "decide", "decided", "decides", "decision", "decisions", "decisive"),
            *("decisively", "decisiveness", "determination", "determined", "direct", "directed", "directing"),
            *("drive", "driven", "drove", "dynamic", "efficient", "efficiency", "efficiently", "enterprising"),
            *("entrepreneurial", "expert", "expertise", "fearless", "firm", "firmly", "forceful", "goal", "goals"),
            *("headed", "independence", "independent", "independently", "initiate", "initiated", "initiative"),
            *("initiatives", "innovative", "insist", "insisted", "intellect", "intelligent", "intelligence", "lead"),
            *("leader", "leaders", "leadership", "leading", "leads", "led", "logical", "master", "mastered"),
            *("mastery", "negotiate", "negotiated", "negotiating", "negotiation", "negotiations", "outperform"),
            *("outperformed", "overruled", "persuade", "persuaded", "persuasive", "persuasively", "power"),
            *("powerful", "pushed", "resolute", "self-confident", "self-reliant", "skill", "skilled", "skillful"),
            *("skills", "strategic", "strategy", "strong", "strength", "strengths", "succeed", "succeeded"),
            *("success", "successes", "successful", "successfully", "take charge", "took charge", "taking charge"),
            *("took command", "took over", "talent", "talented", "targets", "tough", "vision", "win", "winning"),
            "won",
        )
    ),
    "de": WordList(
        (
            *("Ambition", "Ambitionen", "Autorität", "Durchsetzungskraft", "Durchsetzungsvermögen", "Ehrgeiz"),
            *("Eigeninitiative", "Entscheidung", "Entscheidungen", "Entschlossenheit", "Entschlusskraft", "Erfolg"),
            *("Erfolge", "Erfolgen", "Expertise", "Fachkompetenz", "Fachwissen", "Fähigkeit", "Fähigkeiten"),
            *("Führung", "Führungsqualitäten", "Führungsstärke", "Initiative", "Initiativen", "Intelligenz"),
            *("Kommando", "Kompetenz", "Kompetenzen", "Leistung", "Leistungen", "Leitung", "Macht", "Mut"),
            *("Selbstbewusstsein", "Selbständigkeit", "Selbstständigkeit", "Souveränität", "Stärke", "Stärken"),
            *("Strategie", "Strategien", "Talent", "Talente", "Tatkraft", "Überzeugungskraft", "Verhandlung"),
            *("Verhandlungen", "Verhandlungsgeschick", "Vision", "Visionen", "Wettbewerb", "Wille", "Willen"),
            *("Willenskraft", "Ziel", "Ziele", "Zielen", "Zielstrebigkeit", "beherrscht", "beherrschte"),
            *("durchgesetzt", "durchsetzen", "durchsetzt", "durchsetzte", "entscheiden", "entscheidet", "entschied"),
            *("entschieden", "erreicht", "erreichte", "erzielt", "erzielte", "führen", "führt", "führte", "geführt"),
            *("geleitet", "gemeistert", "gesteuert", "gewann", "gewinnen", "gewonnen", "initiiert", "initiierte"),
            *("leiten", "leitet", "leitete", "meistert", "meisterte", "meistern", "steuert", "steuerte", "übernahm"),
            *("übernehmen", "übernimmt", "übernommen", "überzeugen", "überzeugt", "überzeugte", "verhandelt"),
            *("verhandelte", "verhandeln", "vorangetrieben"),
            *_declined(
                *("ambitioniert", "analytisch", "durchsetzungsfähig", "durchsetzungsstark", "dynamisch", "effizient"),
                *("ehrgeizig", "eigeninitiativ", "eigenständig", "eigenverantwortlich", "energisch"),
                *("entscheidungsfreudig", "entscheidungsstark", "entschlossen", "erfolgreich", "fachkundig", "fähig"),
                *("führungsstark", "furchtlos", "hartnäckig", "innovativ", "intelligent", "kompetent", "konsequent"),
                *("kühn", "leistungsfähig", "leistungsstark", "logisch", "mutig", "resolut", "scharfsinnig"),
                *("selbstbewusst", "selbstsicher", "selbständig", "selbstständig", "souverän", "stark"),
                *("strategisch", "talentiert", "tatkräftig", "überzeugend", "unabhängig", "unerschrocken"),
                *("versiert", "willensstark", "zielorientiert", "zielsicher", "zielstrebig"),
            ),
        )
    ),
}
"""Words of people who act, decide, lead and master."""
COMMUNAL: Mapping[str, WordList] = {
    "en": WordList(
        (
            *("affectionate", "agreeable", "assist", "assistance", "assisted", "assisting", "attentive", "calm"),
            *("calmed", "calming", "calmly", "care", "cared", "cares", "caring", "cheerful", "collaborate"),
            *("collaborated", "collaborative", "comfort", "comforted", "comforting", "compassion", "compassionate"),
            *("compassionately", "connect", "connected", "considerate", "cooperate", "cooperated", "cooperation"),
            *("cooperative", "devoted", "empathetic", "empathic", "empathy", "encourage", "encouraged"),
            *("encouragement", "encouraging", "friendly", "friendliness", "generous", "generosity", "gentle"),
            *("gently", "giving", "gracious", "harmony", "heart", "heartfelt", "help", "helped", "helpful"),
            *("helpfulness", "helping", "helps", "interpersonal", "kind", "kindly", "kindness", "listen", "listened"),
            *("listener", "listening", "listens", "loving", "mentor", "mentored", "mentoring", "nurture", "nurtured"),
            *("nurturing", "patience", "patient", "patiently", "pleasant", "polite", "reassure", "reassured"),
            *("reassuring", "relationship", "relationships", "respectful", "respectfully", "selfless", "sensitive"),
            *("sensitivity", "share", "shared", "sharing", "sincere", "support", "supported", "supporting"),
            *("supportive", "supports", "sympathetic", "sympathy", "tactful", "team player", "tender", "thank"),
            *("thanked", "thoughtful", "thoughtfully", "together", "tolerant", "trust", "trusted", "trusting"),
            *("understanding", "warm", "warmly", "warmth", "welcoming"),
        )
    ),
    "de": WordList(
        (  # not "freundlichen", which closes every letter
            *("freundlich", "freundliche", "freundlicher", "freundliches", "herzlich", "herzliche", "herzlicher"),
            *("herzliches", "Anteilnahme", "Beistand", "Beziehung", "Beziehungen", "Dank", "Einfühlungsvermögen"),
            *("Empathie", "Freundlichkeit", "Fürsorge", "Geduld", "Gemeinschaft", "Güte", "Harmonie", "Herz"),
            *("Herzen", "Herzlichkeit", "Hilfe", "Hilfsbereitschaft", "Höflichkeit", "Kollegialität", "Kooperation"),
            *("Loyalität", "Menschlichkeit", "Miteinander", "Mitgefühl", "Mitmenschlichkeit", "Respekt", "Rücksicht"),
            *("Rücksichtnahme", "Sensibilität", "Solidarität", "Takt", "Teamfähigkeit", "Teamgeist", "Toleranz"),
            *("Trost", "Unterstützung", "Verständnis", "Vertrauen", "Wärme", "Warmherzigkeit", "Wertschätzung"),
            *("Wohlwollen", "Zusammenarbeit", "Zusammenhalt", "Zuwendung", "bedankt", "bedankte", "begleiten"),
            *("begleitet", "begleitete", "beruhigen", "beruhigend", "beruhigt", "beruhigte", "danken", "dankt"),
            *("dankte", "ermutigen", "ermutigt", "ermutigte", "geholfen", "gekümmert", "gemeinsam", "getröstet"),
            *("half", "halfen", "helfen", "hilft", "hört zu", "hörte zu", "kümmern", "kümmert", "kümmerte"),
            *("miteinander", "sensibel", "sensible", "sensiblen", "sensibler", "trösten", "tröstet", "tröstete"),
            *("unterstützen", "unterstützt", "unterstützte", "vertrauen", "vertraut", "vertraute", "zugehört"),
            *("zuhören", "zuhört", "zuhörte", "zusammen"),
            *_declined(
                *("anteilnehmend", "aufmerksam", "ausgleichend", "behutsam", "dankbar", "einfühlsam", "empathisch"),
                *("feinfühlig", "fröhlich", "fürsorglich", "geduldig", "großzügig", "gütig", "hilfreich"),
                *("hilfsbereit", "höflich", "kollegial", "kooperativ", "liebenswürdig", "liebevoll", "loyal"),
                *("menschlich", "mitfühlend", "nett", "respektvoll", "rücksichtsvoll", "ruhig", "sanft", "selbstlos"),
                *("solidarisch", "sozial", "taktvoll", "teamfähig", "teamorientiert", "tolerant", "unterstützend"),
                *("verständnisvoll", "vertrauensvoll", "warm", "warmherzig", "wertschätzend", "wohlwollend"),
                *("zugewandt", "zwischenmenschlich"),
            ),
        )
    ),
}
"""Words of people who are warm, help, listen and belong."""
