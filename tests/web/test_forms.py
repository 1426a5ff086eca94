"""A form that no page of ours sends is refused in words."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from grader.web.page import MAX_FIELDS, read_form


def read(body: bytes) -> dict[str, str]:
    """What our pages make of a form."""

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    with ThreadPoolExecutor(1) as apart:  # in this thread runs the browser's loop, where one was started before
        return apart.submit(lambda: asyncio.run(read_form(request))).result()


@pytest.mark.parametrize("body", [b"&" * 299_000, b"a=1&" * (MAX_FIELDS + 1), b"&".join([b"%00=\xff"] * 60)])
def test_a_form_of_too_many_fields_is_no_fault_of_ours(body: bytes) -> None:
    """It is the sender's: 400."""
    with pytest.raises(HTTPException) as raised:
        read(body)
    assert raised.value.status_code == 400


def test_other_forms_are_read_whatever_is_in_them() -> None:
    """Fields of bytes that are no text, of nothing and twice."""
    assert read(b"a=%ff&b=&a=2&;=%00") == {"a": "2", ";": "\x00"}
