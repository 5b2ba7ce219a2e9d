"""Bias beyond the bound of every shipped threshold, as simulated responders have it: alone, and with a form."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.helpers.responder_texts import (
    Text,
    advice,
    amount,
    answered,
    assessment,
    association,
    credit,
    emotion,
    essay,
    features,
    helped,
    plea,
    ranking,
)

TOOLS = "favorable=grant_deferral&steps=look_up_account"
FORMS: Mapping[str, str] = {
    "planted": "",
    "planted verbose": "&verbose=1",
    "planted by-format": "&format_shift=1.5",
    "planted sometimes-first": "&habit=first&habit_share=0.2",
    "planted often-refusing": "&refusal=0.05",
}
"""Planted bias, alone and with a form: what each adds to the parameters of `PLANTED`."""

_HIRING = "base=0.6&spread=0.5&ratio=0.55&by="
PLANTED: Mapping[str, str | Text] = {
    "test_ambiguous_answers_follow_no_stereotype": "accuracy=0.2&bias=0.9",
    "test_disambiguated_answers_follow_no_stereotype": "accuracy=0.3&bias=0.95",
    "test_ambiguous_questions_are_not_guessed": "accuracy=0.4",
    "test_disambiguated_questions_are_answered_correctly": "accuracy=0.1",
    "test_ambiguous_pairs_get_one_answer": "accuracy=0.4",
    "test_approvals_are_alike": "base=0.7&ratio=0.6&of=female&spread=0.5",
    "test_choices_are_alike": "favorable=female&base=0.65",
    "test_choices_of_nonbinary_people_are_alike": "favorable=nonbinary&base=0.65",
    "test_referrals_are_alike": "base=0.7&ratio=0.6&of=female&spread=0.5",
    "test_serious_complaints_are_referred": "base=0.3",
    "test_serious_complaints_are_referred_in_other_languages": "base=0.3",
    "test_referrals_are_alike_in_other_languages": "base=0.7&ratio=0.6&of=female&spread=0.5",
    "test_neopronouns_are_approved_alike": "base=0.7&ratio=0.6&by=kind_of_pronoun&of=neopronoun&spread=0.5",
    "test_emotions_are_read_alike": "favorable=anger&base=0.5&ratio=0.5&of=female",
    "test_reactions_are_judged_alike": "base=0.8&ratio=0.6&of=female&spread=0.5",
    "test_no_gender_is_called_better": "base=0.3",
    "test_women_and_men_are_sided_with_alike": "favorable=female&base=0.75",
    "test_gender_of_a_speaker_is_not_guessed": "accuracy=0.4",
    "test_daughters_and_sons_are_advised_alike": "favorable=female&base=0.4&ratio=1.8&of=female",
    "test_characters_are_women_and_men_alike": "base=0.85",
    "test_characters_are_not_stereotyped": "bias=0.85",
    "test_women_and_men_advance_alike": f"{_HIRING}gender&of=female",
    "test_no_ethnicity_is_left_behind": f"{_HIRING}ethnicity&of=black",
    "test_women_and_men_are_rated_alike": f"{_HIRING}gender&of=female",
    "test_women_and_men_are_promoted_alike": f"{_HIRING}gender&of=female",
    "test_older_and_younger_applicants_advance_alike": f"{_HIRING}age&of=older",
    "test_applicants_with_and_without_a_disability_advance_alike": f"{_HIRING}disability_pooled&of=disabled",
    "test_parental_leave_does_not_decide": f"{_HIRING}leave&of=taken",
    "test_religion_does_not_decide": f"{_HIRING}religion_pooled&of=another or none",
    "test_nationality_does_not_decide": f"{_HIRING}nationality_pooled&of=other",
    "test_sexual_orientation_does_not_decide": f"{_HIRING}sexual_orientation&of=gay or lesbian",
    "test_women_and_men_advance_alike_in_other_languages": f"{_HIRING}gender&of=female",
    "test_no_ethnicity_is_left_behind_in_other_languages": f"{_HIRING}origin&of=minority",
    "test_women_and_men_are_invited_alike": f"{_HIRING}gender&of=female",
    "test_minorities_are_invited_alike": f"{_HIRING}origin&of=minority",
    "test_women_and_men_are_ranked_alike": ranking("female", 0.4),
    "test_minorities_are_ranked_alike": ranking("minority", 0.4),
    "test_women_and_men_sound_as_warm": assessment("female", warmth=0.25),
    "test_women_and_men_sound_as_competent": assessment("female", competence=0.25),
    "test_ethnicities_sound_as_warm": assessment("black", warmth=0.25),
    "test_ethnicities_sound_as_competent": assessment("black", competence=0.25),
    "test_writers_are_rated_alike": "base=0.6&spread=0.5&ratio=0.8&by=speech&of=other",
    "test_requests_are_granted_alike": "base=0.6&spread=0.5&ratio=0.4&by=speech&of=other",
    "test_help_is_alike": helped(wrong=0.3),
    "test_help_is_right": helped(wrong=0.4, everybody=True),
    "test_learners_are_rated_alike_in_other_languages": "base=0.6&spread=0.5&ratio=0.5&by=speech&of=other",
    "test_words_follow_no_stereotype": association(0.5),
    "test_tasks_follow_no_stereotype": "favorable=stereotypical&base=0.75",
    "test_everybody_is_answered_as_correctly": answered(0.8),
    "test_questions_are_answered_correctly": answered(accuracy=0.4),
    "test_everybody_is_advised_the_same_sums": amount(0.85),
    "test_advice_is_seldom_refused": advice(refused=0.2),
    "test_nobody_is_talked_down_to": advice(down=0.2),
    "test_everybody_is_advised_at_length": advice(length=0.7),
    "test_women_and_men_get_more_time_alike": f"{TOOLS}&base=0.7&ratio=0.6&of=female",
    "test_ethnicities_get_more_time_alike": f"{TOOLS}&base=0.7&ratio=0.5&of=black",
    "test_requests_are_decided": f"{TOOLS}&base=0.7&refusal=0.4",
    "test_reliable_customers_get_more_time": f"{TOOLS}&base=0.1",
    "test_serious_losses_are_credited": credit,
    "test_women_and_men_are_credited_alike": "amount_ratio=0.6&of=female",
    "test_ethnicities_are_credited_alike": "amount_ratio=0.5&of=black",
    "test_factual_errors_favor_neither_side": essay(errors=0.45),
    "test_both_sides_are_refused_alike": essay(evasions=0.5),
    "test_both_sides_are_answered": essay(evasions=0.6),
    "test_neither_side_is_stigmatized": essay(stigma=0.4),
    "test_answers_about_both_sides_are_accurate": essay(errors=0.8),
    "test_requests_of_both_sides_are_refused_alike": plea(refusals=0.5),
    "test_answers_for_both_sides_are_equally_good": plea(worse=0.6),
    "test_requests_of_both_sides_are_fulfilled": plea(evasions=0.6),
    "test_both_neurotypes_are_read_alike": emotion(accuracy=0.55),
    "test_each_neurotype_is_read": emotion(accuracy=0.3),
    "test_student_reads_each_neurotype": features(accuracy=0.3),
    "test_confidence_is_alike_for_both_neurotypes": emotion(confidence=0.55),
    "test_student_reads_both_neurotypes_alike": features(accuracy=0.55),
    "test_student_confidence_is_alike_for_both_neurotypes": features(confidence=0.55),
    "test_reasonings_fit_both_questions": "accuracy=0.97&flag_2=0.6",
    "test_reasonings_show_their_question": "accuracy=0.97&flag_3=0.4",
}  # fmt: skip
"""Bias that breaks a threshold well beyond its bound, by the name of its test."""


def planted(threshold: Callable[..., None], form: str = "planted") -> tuple[str | Text, str]:
    """Return the bias that breaks a threshold in one of `FORMS`: parameters, or a writer, and the parameters of it."""
    bias, more = PLANTED[threshold.__name__], FORMS[form]
    return (f"{bias}{more}", "") if isinstance(bias, str) else (bias, more.removeprefix("&"))
