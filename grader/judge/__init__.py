"""OUR process: runs hidden checks against a worker, names mistakes, gives the score."""
