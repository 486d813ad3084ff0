"""The page of the calibration has the figures of its data; ``python -m tests.test_calibration_page`` writes them."""

from pathlib import Path

from crib_env.evaluate.files import markdown_table, whole_text
from crib_env.evaluate.tables.calibration.making import Calibration
from crib_env.evaluate.tables.calibration.report import HEADER, about_scores, rows_of_losses
from crib_env.files.json_text import read_json, typed

DOCS = Path(__file__).parents[1] / "docs"
DATA, PAGE = DOCS / "calibration.json", DOCS / "evaluate" / "exact-values.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"


def measured():
    return read_json(DATA, str(DATA), lambda content: typed(content, Calibration))


def with_figures(page):
    before, _, rest = page.partition(BEGIN)
    found = measured()
    about = (
        f"{about_scores(found)}\n\nWhat a discard loses against the best, stated and played, in "
        f"{found.plan.deals:,} deals for each discard:\n\n"
    )
    losses = markdown_table(list(HEADER), rows_of_losses(found))
    return f"{before}{BEGIN}{about}{losses}{END}{rest.partition(END)[2]}"


def test_the_page_has_the_figures_of_the_data():
    page, plan = PAGE.read_text(encoding="utf-8"), measured().plan
    assert page == with_figures(page)
    asked = " ".join(f"--{name} {getattr(plan, name)}" for name in ("games", "positions", "deals", "cards", "seed"))
    assert f"calibration docs/calibration.json {asked} " in page
    assert (plan.agent, plan.pairs) == ("best", 60)  # by default


if __name__ == "__main__":
    written = with_figures(PAGE.read_text(encoding="utf-8"))
    with whole_text(PAGE) as file:
        file.write(written)
