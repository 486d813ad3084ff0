"""Classes of deals that differ in their suits alone: numbered one to one, the same under all names of suits."""

import numpy as np

from crib_env.exact.deal_classes import N_CLASSES, N_DEALS, cards_of, class_of, class_sizes, representatives


def random_hands(n, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(52, 6, replace=False) for _ in range(n)])


def test_classes_are_numbered_one_to_one_and_stand_for_all_deals():
    classes = np.arange(N_CLASSES)
    found, renamed = class_of(cards_of(classes))
    assert (found == classes).all()
    assert (renamed == cards_of(classes)).all()
    assert (np.diff(representatives()) > 0).all()
    assert class_sizes().sum() == N_DEALS


def test_renaming_suits_never_changes_the_class():
    hands = random_hands(5_000, seed=0)
    order = np.array([3, 1, 0, 2])
    classes, renamed = class_of(hands)
    assert (class_of(13 * order[hands // 13] + hands % 13)[0] == classes).all()
    assert (np.sort(renamed, axis=1) == cards_of(classes)).all()
    assert (renamed % 13 == hands % 13).all()
