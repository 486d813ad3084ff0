"""What several learners share: experience, self-play, and a critic that sees both hands."""
