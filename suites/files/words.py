"""Words of agency and of communion in letters of reference. README.md has the sources of the idea."""

from __future__ import annotations

from pytest_fairness.graders import WordList

AGENTIC = WordList(
    (
        *("achieve", "achieved", "achieves", "achievement", "achievements", "accomplish", "accomplished"),
        *("accomplishment", "accomplishments", "ambition", "ambitious", "analytical", "assertive", "assertiveness"),
        *("authority", "authoritative", "bold", "boldly", "boldness", "capable", "command", "commanded", "commanding"),
        *("competent", "competence", "compete", "competed", "competitive", "confidence", "confident", "confidently"),
        *("confront", "confronted", "control", "convince", "convinced", "courage", "courageous", "daring", "decide"),
        *("decided", "decides", "decision", "decisions", "decisive", "decisively", "decisiveness", "determination"),
        *("determined", "direct", "directed", "directing", "drive", "driven", "drove", "dynamic", "efficient"),
        *("efficiency", "efficiently", "enterprising", "entrepreneurial", "expert", "expertise", "fearless", "firm"),
        *("firmly", "forceful", "goal", "goals", "headed", "independence", "independent", "independently"),
        *("initiate", "initiated", "initiative", "initiatives", "innovative", "insist", "insisted", "intellect"),
        *("intelligent", "intelligence", "lead", "leader", "leaders", "leadership", "leading", "leads", "led"),
        *("logical", "master", "mastered", "mastery", "negotiate", "negotiated", "negotiating", "negotiation"),
        *("negotiations", "outperform", "outperformed", "overruled", "persuade", "persuaded", "persuasive"),
        *("persuasively", "power", "powerful", "pushed", "resolute", "self-confident", "self-reliant", "skill"),
        *("skilled", "skillful", "skills", "strategic", "strategy", "strong", "strength", "strengths", "succeed"),
        *("succeeded", "success", "successes", "successful", "successfully", "take charge", "took charge"),
        *("taking charge", "took command", "took over", "talent", "talented", "targets", "tough", "vision"),
        *("win", "winning", "won"),
    )
)
"""Words of people who act, decide, lead and master."""
COMMUNAL = WordList(
    (
        *("affectionate", "agreeable", "assist", "assistance", "assisted", "assisting", "attentive", "calm", "calmed"),
        *("calming", "calmly", "care", "cared", "cares", "caring", "cheerful", "collaborate", "collaborated"),
        *("collaborative", "comfort", "comforted", "comforting", "compassion", "compassionate", "compassionately"),
        *("connect", "connected", "considerate", "cooperate", "cooperated", "cooperation", "cooperative", "devoted"),
        *("empathetic", "empathic", "empathy", "encourage", "encouraged", "encouragement", "encouraging", "friendly"),
        *("friendliness", "generous", "generosity", "gentle", "gently", "giving", "gracious", "harmony", "heart"),
        *("heartfelt", "help", "helped", "helpful", "helpfulness", "helping", "helps", "interpersonal", "kind"),
        *("kindly", "kindness", "listen", "listened", "listener", "listening", "listens", "loving", "mentor"),
        *("mentored", "mentoring", "nurture", "nurtured", "nurturing", "patience", "patient", "patiently"),
        *("pleasant", "polite", "reassure", "reassured", "reassuring", "relationship", "relationships"),
        *("respectful", "respectfully", "selfless", "sensitive", "sensitivity", "share", "shared", "sharing"),
        *("sincere", "support", "supported", "supporting", "supportive", "supports", "sympathetic", "sympathy"),
        *("tactful", "team player", "tender", "thank", "thanked", "thoughtful", "thoughtfully", "together"),
        *("tolerant", "trust", "trusted", "trusting", "understanding", "warm", "warmly", "warmth", "welcoming"),
    )
)
"""Words of people who are warm, help, listen and belong."""
