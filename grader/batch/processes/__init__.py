"""Grade a class over the cores of this machine."""
