"""What the two tools of code mode are called."""

CODE = "code"
SEARCH = "search"
