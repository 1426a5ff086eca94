"""The hidden checks of `residual`: branches are linear maps, norms have weights of their own."""

import pytest

from grader.api.checks import assert_matches, assert_shape, assert_unchanged, fail, kind_of

D = 6
PLACEMENTS = pytest.mark.parametrize("norm_first", [True, False])


def parts(subject, states):
    """The branches and the norms, in the process that uses them."""
    width = len(states[0][1]["layers.0.weight"]) if states else D
    kinds = (["linear", width, width], ["layer_norm", width])
    pairs = [[subject.make_model([kind], state) for kind, state in zip(kinds, pair, strict=True)] for pair in states]
    return [branch for branch, _ in pairs], [norm for _, norm in pairs]


def numbers(rand, count, width=D):
    """The weights of so many branches and norms."""
    return [
        ({"layers.0.weight": rand(width, width, scale=0.5), "layers.0.bias": rand(width)},
         {"layers.0.weight": rand(width) + 2.0, "layers.0.bias": rand(width)})
        for _ in range(count)
    ]  # fmt: skip


def stream_of(subject, x, states, **options):
    """The list of a subject."""
    return subject.residual_stream(x, *parts(subject, states), **options)


def compare(submission, reference, rand, shape, count, **options):
    """Both lists hold the same."""
    x, states = rand(*shape), numbers(rand, count, shape[-1])
    mine, theirs = (stream_of(subject, x, states, **options) for subject in (submission, reference))
    if not isinstance(mine, list | tuple) or len(mine) != count + 1:
        fail(f"It returned {kind_of(mine)}; expected a list of {count + 1} tensors: the stream before, and after each "
             "branch.")  # fmt: skip
    assert_matches(mine, theirs)


@pytest.mark.check(skill="shape", points=1, public=True, stage="in what it returns")
def test_list(submission, rand):
    """Gives a list of one tensor more than there are branches, each of the shape of x."""
    value = stream_of(submission, rand(2, 5, D), numbers(rand, 3))
    if not isinstance(value, list | tuple) or len(value) != 4:
        fail(f"It returned {kind_of(value)}; expected a list of 4 tensors: the stream before, and after each of 3.")
    for each in value:
        assert_shape(each, (2, 5, D))


@pytest.mark.check(skill="values", points=3, public=True, stage="with one branch, norm_first={norm_first}")
@PLACEMENTS
def test_one_branch(submission, reference, rand, norm_first):
    """Adds what a branch gives to the stream."""
    compare(submission, reference, rand, (2, 5, D), 1, norm_first=norm_first)


@pytest.mark.check(skill="values", points=3, needs="test_list", stage="with four branches, norm_first={norm_first}")
@PLACEMENTS
def test_several_branches(submission, reference, rand, norm_first):
    """Lets each branch read, and add to, what the one before it left."""
    compare(submission, reference, rand, (2, 5, D), 4, norm_first=norm_first)


@pytest.mark.check(skill="values", points=1, needs="test_list", stage="where norm_first is not given")
def test_default(submission, reference, rand):
    """Norms first unless it is told otherwise."""
    compare(submission, reference, rand, (1, 2, D), 2)


@pytest.mark.check(skill="generality", points=1, stage="without a branch")
@PLACEMENTS
def test_no_branch(submission, rand, norm_first):
    """Gives a list that holds only x, where there is no branch."""
    x = rand(2, 3, D)
    assert_matches(submission.residual_stream(x, [], [], norm_first=norm_first), [x])


@pytest.mark.check(skill="generality", points=2, needs="test_list", stage="in other sizes, norm_first={norm_first}")
@PLACEMENTS
def test_other_sizes(submission, reference, rand, norm_first):
    """Works for any sizes and any number of branches."""
    *shape, count = rand.sizes(4)[::-1]
    compare(submission, reference, rand, shape, count, norm_first=norm_first)


@pytest.mark.check(skill="generality", points=1, needs="test_list", stage="on a long text, or with many branches")
@PLACEMENTS
def test_no_largest(submission, reference, rand, norm_first):
    """Has no longest text and no largest number of branches."""
    compare(submission, reference, rand, (1, rand.large(200), 3), 2, norm_first=norm_first)
    compare(submission, reference, rand, (1, 2, 3), rand.sizes(1, low=6)[0], norm_first=norm_first)


@pytest.mark.check(skill="gradients", points=2, needs="test_list", stage="in its gradient")
@pytest.mark.parametrize(("norm_first", "item"), [(True, 3), (True, 1), (False, 3)])
def test_gradient(submission, reference, rand, norm_first, item):
    """Lets the right gradient through every entry, back to x."""
    x, weights, states = rand(2, 3, D), rand(2, 3, D), numbers(rand, 3)
    both = [subject.residual_stream for subject in (submission, reference)]
    mine, theirs = (
        function.gradients(x, *parts(subject, states), norm_first=norm_first, wrt=[0], weights=weights, item=item)
        for function, subject in zip(both, (submission, reference), strict=True)
    )
    if mine is None:
        fail("The entries of the list are cut off from autograd: they have no gradient at all.")
    if mine["argument 0"] is None:
        fail("No gradient reaches x.")
    assert_matches(mine["argument 0"], theirs["argument 0"], hint="This is the gradient of x.")


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_list")
@PLACEMENTS
def test_input_unchanged(submission, rand, norm_first):
    """Leaves x alone, also where a branch and a norm give back what they were given, the very same tensor."""
    x = rand(2, 3, D)
    branches, norms = parts(submission, numbers(rand, 2))
    assert_unchanged(submission.residual_stream.observe(x, branches, norms, norm_first=norm_first), x)
    branches, norms = ([submission.make_model([]) for _ in range(3)] for _ in range(2))
    seen = submission.residual_stream.observe(x, branches, norms, norm_first=norm_first)
    assert_unchanged(seen, x)
    assert_matches(seen.value, [x, 2 * x, 4 * x, 8 * x], hint="Here branches and norms give back what they are given.")


@pytest.mark.check(skill="hygiene", points=0.3, needs="test_list", stage="in how often a branch or a norm is called")
@PLACEMENTS
def test_called_once(submission, rand, norm_first):
    """Calls each branch and each norm once: each is a whole layer of a model."""
    submission.events()  # forget what was before
    stream_of(submission, rand(2, 3, D), numbers(rand, 3), norm_first=norm_first)
    calls = sum(event[0] == "forward" for event in submission.events())
    if calls != 6:
        fail(f"Three branches and three norms were called {calls} times in all; expected 6, each once.")
