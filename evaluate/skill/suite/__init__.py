"""The suite: fixed tasks with known answers, which say how good an agent is."""
