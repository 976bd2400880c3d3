"""Who gets in: start-up links, log-ins, cookies, other sites, other hosts, and services that refuse to start."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.service.running import Reply, Running, at, new_study

from proband import Problem
from proband.client import Service
from proband.service.access.log import AccessLog
from proband.service.access.tokens import Role
from proband.service.guard import Guard
from proband.studies import open_store

BROWSER = {"Sec-Fetch-Site": "same-origin"}


def refused(*options: str, folder: Path) -> str:
    """What ``proband serve`` says when it does not start."""
    result = subprocess.run(
        [sys.executable, "-m", "proband", "serve", "--port", "0", *options],
        cwd=folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert result.returncode in (6, 7), result
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    return result.stderr


def cookie_of(reply: Reply) -> str:
    return reply.headers["set-cookie"].partition(";")[0]


def log_in(service: Running, token: str) -> str:
    answer = service.call("POST", "/login", {"token": token}, headers=BROWSER)
    assert answer.status == 200, answer
    return cookie_of(answer)


def certificate(folder: Path) -> list[str]:
    """Options for TLS with a certificate for this machine."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and is not installed")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")],
        check=True, capture_output=True,
    )  # fmt: skip
    return ["--tls-cert", str(folder / "cert.pem"), "--tls-key", str(folder / "key.pem")]


def test_others_are_not_let_in_without_tokens_or_without_tls(tmp_path: Path) -> None:
    assert "could read tokens on the way; give --tls-cert" in refused("--host", "0.0.0.0", folder=tmp_path)
    assert "nobody has a token" in refused("--host", "0.0.0.0", "--behind-proxy", folder=tmp_path)
    assert "nobody has a token" in refused("--behind-proxy", folder=tmp_path), "a proxy lets others in"
    assert "--open is for this machine alone" in refused("--host", "0.0.0.0", "--open", folder=tmp_path)
    assert "nobody has a token" in refused("--host", "0.0.0.0", *certificate(tmp_path), folder=tmp_path)
    assert "TLS cannot be set up" in refused("--tls-cert", "nothing.pem", folder=tmp_path)
    assert "no certificate" in refused("--tls-key", "nothing.pem", folder=tmp_path)


def test_an_expired_or_revoked_token_is_none(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/proband.db")
    access = AccessLog(store, clock=lambda: time.time() - 1e6)
    access.make("Ada", Role.ADMIN, days=1, by="tests")
    _, second = access.make("Bob", Role.ADMIN, by="tests")
    access.revoke(second.id, by="tests")
    store.close()
    assert "nobody has a token" in refused("--host", "0.0.0.0", "--behind-proxy", folder=tmp_path)


def test_tls_and_tokens_let_others_in(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/proband.db"
    store = open_store(url)
    secret, _ = AccessLog(store).make("Ada", Role.VIEWER, by="tests")
    store.close()
    options = certificate(tmp_path)
    with Running(url, "--host", "0.0.0.0", *options) as running:
        client = Service(
            f"https://localhost:{running.port}", secret, authorities=str(tmp_path / "cert.pem"), patience=5.0
        )
        assert client.me()["user"] == "Ada"
        assert not re.search("login", "".join(running.said)), "there is no link where others listen"
        stranger = Service(f"https://localhost:{running.port}", secret, patience=0.0)
        with pytest.raises(Exception, match="CERTIFICATE_VERIFY_FAILED"):
            stranger.me()
        client.close()


def test_the_link_of_the_start_lets_its_reader_in(tmp_path: Path) -> None:
    with Running(f"sqlite:///{tmp_path}/proband.db", "--verbose") as running:
        assert running.call("GET", "/api/me").status == 401
        followed = running.call("GET", f"/login?token={running.link}")
        assert (followed.status, followed.headers["location"]) == (303, "/")
        flags = followed.headers["set-cookie"]
        assert "HttpOnly" in flags
        assert "SameSite=strict" in flags
        cookie = cookie_of(followed)
        me = running.call("GET", "/api/me", headers={"Cookie": cookie}).json
        assert (me["role"], me["studies"]) == ("admin", None)
        assert running.call("GET", "/login?token=guess").status == 401
        other_site = {"Sec-Fetch-Site": "cross-site"}
        assert running.call("GET", f"/login?token={running.link}", headers=other_site).status == 403
        link = running.link
        port = running.port
        assert running.stop() in (0, -signal.SIGTERM)
    assert link not in "\n".join(running.errors), "a secret stands in the log of the process"
    with Running(f"sqlite:///{tmp_path}/proband.db", port=port) as again:
        assert again.call("GET", "/api/me", headers={"Cookie": cookie}).status == 200, "a restart logs nobody out"
        assert again.call("GET", f"/login?token={link}").status == 401, "the old link holds no more"
    with Running(f"sqlite:///{tmp_path}/proband.db", "--open", port=port) as opened:
        assert opened.call("GET", "/api/me", headers={"Cookie": cookie}).json["user"] == "anonymous"


def test_a_log_in_ends_with_log_out_and_with_its_token(service: Running, tokens: dict[str, str]) -> None:
    made = service.call("POST", "/api/tokens", {"user": "Ada", "role": "operator"}, token=tokens["admin"]).json
    first, second = log_in(service, made["secret"]), log_in(service, made["secret"])
    assert first != second
    assert service.call("GET", "/api/me", headers={"Cookie": first}).json["user"] == "Ada"
    assert service.call("POST", "/logout", headers={"Cookie": first, **BROWSER}).status == 200
    assert service.call("GET", "/api/me", headers={"Cookie": first}).status == 401
    assert service.call("GET", "/api/me", headers={"Cookie": second}).status == 200
    assert service.call("DELETE", f"/api/tokens/{made['id']}", token=tokens["admin"]).json["revoked"] is not None
    assert service.call("GET", "/api/me", headers={"Cookie": second}).status == 401
    assert service.call("GET", "/api/me", token=made["secret"]).status == 401


def test_a_form_logs_in_and_goes_on_to_the_page(service: Running, tokens: dict[str, str]) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": service.url}
    sent = f"token={tokens['viewer']}".encode()
    answer = service.call("POST", "/login", body=sent, headers=form)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert service.call("POST", "/login", body=b"token=", headers=form).status == 422
    page = service.call("GET", "/")
    assert page.headers["content-type"].startswith("text/html")
    scripts = re.findall(rb"<script([^>]*)>(.*?)</script>", page.body, re.DOTALL)
    assert scripts
    assert all(b" src=" in attributes and inline == b"" for attributes, inline in scripts)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Sec-Fetch-Site": "none"}, 201),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://127.0.0.1:{port}"}, 201),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 403),
    ],
)
def test_another_site_cannot_write_with_a_users_cookie(
    service: Running, tokens: dict[str, str], study: str, headers: dict[str, str], status: int
) -> None:
    cookie = {"Cookie": log_in(service, tokens["operator"])}
    sent = {name: value.format(port=service.port) for name, value in headers.items()}
    assert service.call("POST", at(study, "arrive"), {}, headers={**cookie, **sent}).status == status


def test_another_site_cannot_write_to_an_open_service(problem: Problem) -> None:
    with Running("memory:", "--open") as running:
        given = new_study(problem)
        assert running.call("POST", "/api/studies", given, headers={"Sec-Fetch-Site": "cross-site"}).status == 403
        assert running.call("POST", "/api/studies", given, headers={"Origin": "http://evil.example"}).status == 403
        plain = {"Content-Type": "text/plain"}
        assert running.call("POST", "/api/studies", body=b"{}", headers=plain).status == 422, "a form sends no JSON"
        assert running.call("POST", "/api/studies", given).status == 201, "a program sends neither header"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "", "127.0.0.1.evil.example", "me@evil"])
def test_another_name_is_another_service(service: Running, tokens: dict[str, str], host: str) -> None:
    named = {"Host": host.format(port=service.port)}
    answer = service.call("GET", "/api/me", token=tokens["viewer"], headers=named)
    assert answer.status == 421
    assert answer.json["type"] == "urn:proband:MisdirectedError"


def test_a_name_of_its_own_is_given_at_the_start() -> None:
    with Running("memory:", "--open", "--hostname", "Plant.example") as running:
        assert running.call("GET", "/api/me", headers={"Host": "plant.example:8765"}).status == 200
        assert running.call("GET", "/api/me", headers={"Host": "localhost"}).status == 200


def test_wrong_tokens_become_rare(store: str, tokens: dict[str, str]) -> None:
    with Running(store) as running:
        answers = [running.call("POST", "/login", {"token": f"guess {n}"}) for n in range(25)]
        assert [answer.status for answer in answers] == [401] * 20 + [429] * 5
        assert int(answers[-1].headers["retry-after"]) > 0
        assert running.call("GET", "/api/me", token="guess").status == 429
        assert running.call("GET", "/api/me", token=tokens["viewer"]).status == 200, "others are not locked out"
        assert running.call("POST", "/login", {"token": tokens["viewer"]}).status == 200


def test_behind_a_proxy_each_address_has_its_own_tries(store: str, tokens: dict[str, str]) -> None:
    with Running(store, "--behind-proxy") as running:

        def attempt(forwarded: str) -> int:
            headers = {"X-Forwarded-For": forwarded, "X-Forwarded-Proto": "https"}
            return running.call("POST", "/login", {"token": "guess"}, headers=headers).status

        assert [attempt(f"10.0.0.{n}, 192.0.2.7") for n in range(21)] == [401] * 20 + [429], "made-up addresses count"
        assert attempt("192.0.2.8") == 401
        answer = running.call("POST", "/login", {"token": tokens["viewer"]}, headers={"X-Forwarded-For": "192.0.2.9"})
        assert cookie_of(answer).startswith("__Host-proband-")
        assert "Secure" in answer.headers["set-cookie"]


def test_forged_and_broken_cookies_open_nothing(service: Running, tokens: dict[str, str]) -> None:
    cookie = log_in(service, tokens["viewer"])
    name, _, value = cookie.partition("=")
    wrong = [f"{name}={value[:-1]}x", f"{name}=", f"{name}={'x' * 4000}", "=;;=", f'{name}="{value}', f"other={value}"]
    for forged in wrong:
        assert service.call("GET", "/api/me", headers={"Cookie": forged}).status in (401, 429), forged
    assert service.call("GET", "/api/me", headers={"Cookie": f"a=b; {cookie}"}).status == 200
    assert service.call("GET", "/api/me", token=value).status in (401, 429), "a log-in is no token"


def test_every_answer_forbids_what_is_not_needed(service: Running, tokens: dict[str, str], study: str) -> None:
    for path in ("/", "/health", "/nothing", at(study), at(study, "report"), "/openapi.json"):
        headers = service.call("GET", path, token=tokens["viewer"]).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe-inline" not in headers["content-security-policy"].partition("style-src")[0]
        assert "'unsafe-eval'" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_no_secret_is_in_the_store_or_in_the_log_of_the_process(
    service: Running, tokens: dict[str, str], folder: Path
) -> None:
    cookie = log_in(service, tokens["viewer"])
    assert service.call("GET", f"/login?token={tokens['operator']}").status == 403, "tokens stay out of addresses"
    assert service.call("GET", f"/login?token={service.link}").status == 303
    service.call("GET", "/api/me?token=" + tokens["operator"])
    secrets = [*tokens.values(), cookie.partition("=")[2], service.link]
    kept = b"".join(path.read_bytes() for path in folder.iterdir())
    told = ""
    while "GET /api/me" not in told.rpartition("/login")[2]:  # its lines come by a thread
        told = "\n".join(service.errors)
    assert "GET /login 303" in told
    for secret in secrets:
        assert secret.encode() not in kept
        assert secret not in told
    guard: Any = Guard(startup_digest="digest")
    assert "digest'" not in repr(guard)


def test_a_token_that_is_revoked_on_the_command_line_opens_nothing_soon(
    service: Running, tokens: dict[str, str], store: str
) -> None:
    made = service.call("POST", "/api/tokens", {"user": "Bob", "role": "viewer"}, token=tokens["admin"]).json
    assert service.call("GET", "/api/me", token=made["secret"]).status == 200
    revoke = [sys.executable, "-m", "proband", "token", "revoke", made["id"], "--store", store]
    subprocess.run(revoke, check=True, capture_output=True)
    end = time.monotonic() + 30
    while service.call("GET", "/api/me", token=made["secret"]).status == 200:
        assert time.monotonic() < end
        time.sleep(0.05)
