"""Who gets in, and what each may do: log-in, log-out, roles, tokens."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect
from tests.service.page.conftest import Visit
from tests.service.running import Running

pytestmark = pytest.mark.browser


def test_somebody_logs_in_and_out(visit: Visit, tokens: dict[str, str], study: str) -> None:
    visitor = visit(None)
    page = visitor.goes(f"study/{study}/operate")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    expect(page.get_by_label("Token")).to_be_focused()
    visitor.enters("proband_wrong")
    expect(page.get_by_role("alert")).to_contain_text("opens nothing")
    page.get_by_label("Token").fill("")
    visitor.enters(tokens["operator"])
    expect(page.locator("#entry")).to_be_focused()  # where he wanted to go
    expect(page.locator(".who")).to_contain_text("the operator")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_a_log_out_ends_every_page_of_the_browser(visit: Visit, tokens: dict[str, str], study: str) -> None:
    visitor = visit(None)
    visitor.log_in(tokens["operator"])
    page = visitor.goes(f"study/{study}/operate")
    other = visitor.goes(f"study/{study}", page=visitor.context.new_page())
    expect(other.locator(".figures")).to_contain_text("Finished")
    page.get_by_role("button", name="Log out").click()
    expect(other.get_by_role("heading", name="Log in")).to_be_visible()


def test_a_study_that_is_not_there(visit: Visit) -> None:
    page = visit("viewer").goes("study/nowhere")
    expect(page.get_by_role("heading", name="There is no such study")).to_be_visible()
    expect(page.get_by_role("navigation", name="Study")).to_have_count(0)
    expect(page.get_by_role("alert")).not_to_contain_text("proband study list")


def test_the_link_that_was_printed_logs_in(visit: Visit, service: Running) -> None:
    visitor = visit(None)
    visitor.page.goto(f"{service.url}/login?token={service.link}")
    expect(visitor.page.get_by_role("heading", name="Studies")).to_be_visible()
    assert service.link not in visitor.page.url


def test_a_token_that_is_revoked_ends_what_is_open(visit: Visit, service: Running, tokens: dict[str, str]) -> None:
    given = {"user": "Eve", "role": "viewer"}
    made = service.call("POST", "/api/tokens", given, token=tokens["admin"]).json
    visitor = visit(None)
    visitor.log_in(made["secret"])
    page = visitor.goes()
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    service.call("DELETE", f"/api/tokens/{made['id']}", token=tokens["admin"])
    page.get_by_label("Search").fill("x")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


@pytest.mark.parametrize(("role", "sees"), [("viewer", False), ("engineer", False), ("admin", True)])
def test_tokens_are_for_admins(visit: Visit, role: str, sees: bool) -> None:
    page = visit(role).goes("tokens")
    expect(page.get_by_role("heading", name="Tokens" if sees else "This is not for you")).to_be_visible()
    expect(page.locator("header").get_by_role("link", name="Tokens")).to_have_count(int(sees))


def test_a_study_of_others_is_refused(visit: Visit, study: str) -> None:
    page = visit("other only").goes(f"study/{study}")
    expect(page.get_by_role("heading", name="This is not for you")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("other operator")


def test_an_admin_makes_a_token_and_revokes_it(visit: Visit, service: Running, study: str) -> None:
    visitor = visit("admin")
    page = visitor.goes("tokens")
    page.get_by_role("button", name="New token").click()
    expect(page.get_by_label("User")).to_be_focused()
    visitor.page.keyboard.type("Grace")
    page.get_by_label("Role").select_option("engineer")
    page.get_by_label("Studies").select_option(study)
    page.get_by_label("Days").fill("30")
    page.get_by_role("button", name="Make it").click()
    secret = page.get_by_role("textbox", name="Token").inner_text()
    assert service.call("GET", "/api/me", token=secret).json == {
        "user": "Grace",
        "role": "engineer",
        "studies": [study],
    }
    page.get_by_role("button", name="Done").click()
    expect(page.locator("main")).not_to_contain_text(secret)
    page.get_by_role("button", name="Revoke the token of Grace").click()
    page.get_by_role("button", name="Revoke it").click()
    expect(page.get_by_role("row", name="Grace")).to_contain_text("revoked 20")
    assert service.call("GET", "/api/me", token=secret).status == 401


def test_a_token_whose_answer_gets_lost_is_made_once(visit: Visit, service: Running, tokens: dict[str, str]) -> None:
    """Asked again, it would be a second one; the first one's secret nobody has seen, and it can be revoked."""
    page = visit("admin").goes("tokens")

    def lose(route: Route) -> None:
        route.fetch()
        route.abort("connectionreset")

    page.route("**/api/tokens", lambda route: lose(route) if route.request.method == "POST" else route.continue_())
    page.get_by_role("button", name="New token").click()
    page.get_by_label("User").fill("Heidi")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("The service does not answer")
    made = service.call("GET", "/api/tokens", token=tokens["admin"]).json
    assert [token["user"] for token in made].count("Heidi") == 1
