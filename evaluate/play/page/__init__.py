"""The table as a page in the browser: a local server, and what it sends."""
