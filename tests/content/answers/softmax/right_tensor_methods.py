# right: a chain of methods, and a walrus
def softmax(x, dim=-1):
    return (e := x.sub(x.amax(dim, True)).exp()).div(e.sum(dim, True))
