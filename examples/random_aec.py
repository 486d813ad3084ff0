"""Two random players at one table: the loop of every PettingZoo AEC environment.

python random_aec.py
"""

import numpy as np

import crib_env

env = crib_env.env(render_mode="ansi", events=True)
env.reset(seed=1)
for player in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    for seat, points, reason in info["events"]:  # of both players, since this one last acted
        if player == f"player_{seat}":
            print(f"  {player} scores {points:2} for {reason}")
    if terminated or truncated:
        env.step(None)  # the game is over: both players take their leave
        continue
    if env.games["decisions"][0] == 0:
        print(env.render())  # the table, as this player sees it
    card = env.action_space(player).sample(observation["action_mask"])
    print(f"{player}: {crib_env.format_card(card)}")
    env.step(card)
print("final scores", env.scores)


class Random:
    """The same player in whole games by the thousand: one card a row of the masks of all games."""

    def act(self, views):
        """See :class:`crib_env.Agent`."""
        return (rng.random(views.action_mask.shape) * views.action_mask).argmax(axis=1)


rng = np.random.default_rng(1)
print("against greedy:", crib_env.win_rate(Random(), "greedy", 2_000))
