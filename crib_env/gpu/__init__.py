"""The same rules on a GPU: vector environments whose arrays are torch tensors, on a GPU or a processor."""
