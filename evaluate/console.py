"""Where every command's output goes."""

from rich.console import Console

console = Console()
