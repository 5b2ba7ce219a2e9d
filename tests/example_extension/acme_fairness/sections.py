"""A table in ``pytest-fairness compare``: the share of fair verdicts of every run."""

from pytest_fairness.extending import ComparedRuns, CompareSection, SectionTable


class FairShares(CompareSection):
    """The runs by their share of fair verdicts."""

    def table(self, runs: ComparedRuns) -> SectionTable | None:
        rows = []
        for run in runs.runs():
            verdicts = [row.verdict for row in run.results.thresholds if row.suite == "tenancy"]
            if verdicts:
                rows.append([f"{verdicts.count('fair') / len(verdicts):.0%}", run.name, str(len(verdicts))])
        rows.sort(reverse=True)
        heads = ["fair", "run", "thresholds"]
        return SectionTable("fair-shares", "Tenancy: fair verdicts", heads, rows) if rows else None
