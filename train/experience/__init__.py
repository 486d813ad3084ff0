"""Episodes and replay buffers."""
