"""The page of tables has the shipped win table's chances; ``python -m tests.test_win_table_page`` writes them anew."""

from pathlib import Path

from crib_env.evaluate.commands.tables.win_table import HEADER, NEAR, rows_of
from crib_env.evaluate.files import markdown_table, whole_text
from crib_env.tables.standard import standard_win_table

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "tables.md"
BEGIN, END = "<!-- win table -->\n", "<!-- end of win table -->\n"


def with_table(page):
    before, _, rest = page.partition(BEGIN)
    table = markdown_table(list(HEADER), rows_of(standard_win_table()))
    return f"{before}{BEGIN}{table}{END}{rest.partition(END)[2]}"


def test_the_page_has_the_shipped_table():
    page, table = PAGE.read_text(encoding="utf-8"), standard_win_table()
    assert page == with_table(page)
    assert f"--agent {table.agent} --deals {table.deals} --rounds" in page
    near = 1.96 * table.win_error[NEAR:, NEAR:]
    assert f"± {100 * near.mean():.2f} % points on\naverage and ± {100 * near.max():.2f} at most" in page


if __name__ == "__main__":
    written = with_table(PAGE.read_text(encoding="utf-8"))
    with whole_text(PAGE) as file:
        file.write(written)
