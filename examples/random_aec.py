"""Two random players at one table: the loop of every PettingZoo AEC environment.

python examples/random_aec.py
"""

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
