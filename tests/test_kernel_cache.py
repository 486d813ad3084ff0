"""Compiled kernels on disk never outlive the rules they were made from."""

import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "crib_env"


def pair_points(folder):
    code = "import crib_env; e = crib_env.raw_env(); e.reset(seed=0, options={'first_dealer': 1, 'deals': ["
    code += (
        "'5C 6C 9C QC KC AC 5D 6D 9D QD KD AD 2H']}); [e.step(c) for c in (12, 0, 25, 13, 4, 17)]; print(e.scores[1])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True, text=True)
    return int(done.stdout)


def test_a_rule_changed_in_one_file_reaches_kernels_cached_from_another(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "crib_env", ignore=shutil.ignore_patterns("__pycache__"))
    assert pair_points(tmp_path) == 2
    scoring = tmp_path / "crib_env" / "scoring.py"
    changed = scoring.read_text().replace("return same * (same - 1)", "return same * (same + 4)")
    scoring.write_text(changed)
    assert pair_points(tmp_path) == 12
