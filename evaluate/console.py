"""The console to which every command prints."""

from rich.console import Console

console = Console()
