"""``llm:model=NAME``: a language model plays, asked in words over an endpoint that speaks OpenAI's protocol."""
