"""How agents are asked for their policies of the whole play, by ranks."""
