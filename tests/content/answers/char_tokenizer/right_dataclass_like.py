# right: typed, with properties and an error of its own
from collections.abc import Iterable


class UnknownToken(KeyError):
    pass


class CharTokenizer:
    def __init__(self, text: str) -> None:
        self._chars: tuple[str, ...] = tuple(sorted({*text}))
        self._ids: dict[str, int] = {c: i for i, c in enumerate(self._chars)}

    @property
    def vocab_size(self) -> int:
        return len(self._chars)

    def encode(self, s: str) -> list[int]:
        out: list[int] = []
        for position, c in enumerate(s):
            try:
                out.append(self._ids[c])
            except KeyError:
                raise UnknownToken(f"{c!r} at {position}") from None
        return out

    def decode(self, ids: Iterable[int]) -> str:
        return str.join("", map(self._chars.__getitem__, ids))
