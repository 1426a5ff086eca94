"""Watch the calls that a file makes: while it is loaded, while its functions run, and from within what it imports."""
