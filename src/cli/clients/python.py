"""The client of Hookline {{version}}, printed by `hookline client python`.

One file, nothing to install, for Python 3.9 and later.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import math
import random
import re
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import (
    IO, Any, Callable, Dict, Iterable, Iterator, List, Literal, Mapping, NamedTuple, Optional,
    Protocol, Sequence, Tuple, TypedDict, Union, cast,
)

# {{types}}

WebhookEvent = RecordedPayload

FileBody = Union[bytes, IO[bytes]]
"""Bytes to upload. A file is read once, so its upload is never repeated."""


class HooklineError(Exception):
    """Everything that goes wrong."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int = 0,
        details: Optional[Mapping[str, Any]] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: The relay's code, or one of the client: `unreachable`, `timeout`, `invalid_answer`, `invalid_signature`.
        self.code = code
        #: HTTP status; 0 where no answer came.
        self.status = status
        self.details: Mapping[str, Any] = details or {}
        #: Names the request in the relay's log.
        self.request_id = request_id
        #: Seconds to wait before another attempt, where the relay says so.
        self.retry_after = retry_after

    @property
    def is_temporary(self) -> bool:
        """True where the same request may succeed later."""
        if self.status == 0:
            return self.code in ("unreachable", "timeout")
        return self.status in (429, 500, 502, 503, 504)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Keeps the credentials here: the relay redirects no call."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Hookline:
    """All operations of the API, by their names in the OpenAPI document.

    `timeout` is the time without a byte, in seconds, beyond the wait that `prefer` asks for. `patience` is the
    time for attempts, in seconds, where a request is safe to repeat: it reads, or has an idempotency key; 0 makes
    one attempt.
    """

    def __init__(
        self,
        url: str,
        key: str,
        secret: str,
        *,
        timeout: float = 60.0,
        patience: float = 10.0,
        tls: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._url = url.rstrip("/")
        self._credentials = {"X-API-Key": key, "X-API-Secret": secret}
        self._timeout = timeout
        self._patience = patience
        https = urllib.request.HTTPSHandler(context=tls)
        # A proxy of the environment would be given the credentials, and cannot reach this machine.
        host = urllib.parse.urlsplit(url).hostname or ""
        is_here = host in ("localhost", "::1") or host.startswith("127.")
        proxies = urllib.request.ProxyHandler({} if is_here else None)
        self._opener = urllib.request.build_opener(_NoRedirects, https, proxies)

    def send_once(
        self,
        request: SendRequest,
        *,
        key: Optional[str] = None,
        prefer: Optional[str] = None,
        timeout: Optional[float] = None,
        patience: float = 120.0,
    ) -> Message:
        """Send one message, however often it has to be tried: every attempt has the same idempotency key.

        Pass a `key` of your own, such as your shop's name and an order's number, and the message stays one
        message over restarts of your program, too (for 7 days).
        """
        return self.send_message(
            request,
            idempotency_key=key or str(uuid.uuid4()),
            prefer=prefer,
            timeout=timeout,
            patience=patience,
        )

    def send_once_in_conversation(
        self,
        id: str,
        request: ConversationSend,
        *,
        key: Optional[str] = None,
        prefer: Optional[str] = None,
        timeout: Optional[float] = None,
        patience: float = 120.0,
    ) -> Message:
        """The same in a conversation, which may be a group."""
        return self.send_in_conversation(
            id,
            request,
            idempotency_key=key or str(uuid.uuid4()),
            prefer=prefer,
            timeout=timeout,
            patience=patience,
        )

    def events(
        self,
        after: str = "latest",
        *,
        # {{event_parameters}}
        patience: float = math.inf,
    ) -> Iterator[RecordedEvent]:
        """Yield events as they are recorded, without an end, over errors of the network and restarts of the relay.

        Begins behind the event with the id `after`, at `oldest`, or by default at `latest`. Keep the `id` of the
        last event that you have dealt with, and pass it after a restart of your program: none is missed. Raises
        `events_gone` (410) where events behind `after` may be deleted; `details["oldest"]` is the oldest kept.
        """
        place = after
        if after == "latest":
            # Events of the first wait would be lost if it broke off: so the place is made certain before it.
            place = self.list_events(after=after, limit=1, patience=patience)["next_cursor"]
        while True:
            page = self.list_events(
                after=place,
                # {{event_arguments}}
                prefer="wait=30",
                timeout=15.0,
                patience=patience,
            )
            yield from page["data"]
            place = page["next_cursor"]

    # {{methods}}

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, object]] = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        body: Optional[object] = None,
        file: Optional[FileBody] = None,
        is_raw: bool = False,
        timeout: Optional[float] = None,
        patience: Optional[float] = None,
    ) -> Any:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        search = urllib.parse.urlencode({name: _text(value) for name, value in given.items()})
        sent = dict(self._credentials)
        if file is not None:
            sent["Content-Type"] = "application/octet-stream"
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent.update({name: value for name, value in (headers or {}).items() if value is not None})
        request = urllib.request.Request(
            self._url + path + ("?" + search if search else ""),
            data=file if body is None else json.dumps(body).encode(),
            headers=sent,
            method=method,
        )
        wait = re.search(r"\bwait=(\d+)", sent.get("Prefer", ""))
        limit = (self._timeout if timeout is None else timeout) + int(wait[1] if wait else 0)
        is_repeatable = method == "GET" or "Idempotency-Key" in sent
        if not is_repeatable or hasattr(file, "read"):
            return self._attempt(request, limit, is_raw)
        until = time.monotonic() + (self._patience if patience is None else patience)
        attempt = 0
        while True:
            try:
                return self._attempt(request, limit, is_raw)
            except HooklineError as error:
                backoff = min(0.25 * 2 ** min(attempt, 6), 10.0) * random.uniform(0.5, 1.0)
                pause = backoff if error.retry_after is None else error.retry_after
                if not error.is_temporary or time.monotonic() + pause > until:
                    raise
            time.sleep(pause)
            attempt += 1

    def _attempt(self, request: urllib.request.Request, timeout: float, is_raw: bool) -> Any:
        try:
            try:
                response = self._opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as refusal:
                with refusal:
                    raise _error_of(refusal.code, refusal.headers, refusal.read()) from None
            if is_raw:
                return response
            with response:
                text = response.read()
        except (OSError, http.client.HTTPException) as error:
            is_late = isinstance(getattr(error, "reason", error), socket.timeout)
            why = f"gave no answer within {timeout:g} s" if is_late else "cannot be reached"
            code = "timeout" if is_late else "unreachable"
            raise HooklineError(f"The relay at {self._url} {why}: {error}", code=code) from error
        answer = _parsed(text)
        if answer is None:
            raise _error_of(response.status, response.headers, text)
        return answer


def _error_of(status: int, headers: Any, text: bytes) -> HooklineError:
    answer = _parsed(text)
    error: Any = answer.get("error") if isinstance(answer, dict) else None
    seconds = headers.get("Retry-After") or ""
    return HooklineError(
        error["message"] if error else f"The answer with status {status} is not one of the relay.",
        code=error["code"] if error else "invalid_answer",
        status=status,
        details=error.get("details") if error else None,
        request_id=headers.get("X-Request-Id"),
        retry_after=float(seconds) if seconds.isdigit() else None,
    )


def _parsed(text: bytes) -> Any:
    """The value of JSON; None for a page that a proxy answers."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quoted(id: str) -> str:
    return urllib.parse.quote(id, safe="")


def _entries(page: Callable[[Optional[str]], Any]) -> Iterator[Any]:
    cursor: Optional[str] = None
    while True:
        answer = page(cursor)
        yield from answer["data"]
        cursor = answer["next_cursor"]
        if cursor is None:
            return


def message_of(event: WebhookEvent) -> Optional[EventMessage]:
    """The message of an event; None for an event of a group, or where the relay does not have the message."""
    return cast("Optional[EventMessage]", cast("Dict[str, Any]", event).get("message"))


class VerifiedEvent(NamedTuple):
    """An event with its id: the same in every attempt to deliver it, so remember the ids that you have seen."""

    id: str
    payload: WebhookEvent


class _Headers(Protocol):
    def items(self) -> Iterable[Tuple[str, str]]: ...


def verify_webhook(
    headers: _Headers,
    body: Union[bytes, str],
    secrets: Union[str, Sequence[str]],
    *,
    tolerance: float = 300,
    now: Optional[float] = None,
) -> VerifiedEvent:
    """Return the event that your relay delivers; `body` is the body as it came, unparsed.

    Raises `invalid_signature` where none of the secrets signed the request in the last 5 minutes. Pass one secret;
    during a rotation the relay signs with both, so either will do.
    """
    given = {name.lower(): value for name, value in headers.items()}
    id, timestamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    age = (time.time() if now is None else now) - int(timestamp) if timestamp.isdecimal() else math.inf
    if abs(age) > tolerance:
        message = "The request was not signed within the last minutes."
        raise HooklineError(message, code="invalid_signature")
    content = body.encode() if isinstance(body, str) else body
    signatures = given.get("webhook-signature", "").split(" ")
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret)
        if not key:
            raise ValueError("A signing secret is whsec_ and base64.")
        digest = hmac.new(key, f"{id}.{timestamp}.".encode() + content, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        if any([hmac.compare_digest(expected, one.encode()) for one in signatures]):
            return VerifiedEvent(id, cast("WebhookEvent", json.loads(content)))
    raise HooklineError("No secret signed the request.", code="invalid_signature")
