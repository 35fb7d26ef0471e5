"""Somebody with a browser without scripts: cookies, forms and redirects."""

from dataclasses import dataclass, field

import httpx
from bs4 import BeautifulSoup

PASSWORD = "a plain sentence of words"


@dataclass
class Visitor:
    """One visitor of the site, who may sign in."""

    site: str
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        """Open the browser."""
        self.client = httpx.Client(base_url=self.site, follow_redirects=True, timeout=30)

    def close(self) -> None:
        """Close the browser."""
        self.client.close()

    def get(self, path: str) -> BeautifulSoup:
        """Open a page, whatever its status."""
        return BeautifulSoup(self.client.get(path).text, "lxml")

    def register(self, email: str) -> None:
        """Make an account and be signed in."""
        answer = self._send(self.get("/register"), email=email, password=PASSWORD)
        assert answer.is_success, answer.text

    def log_in(self, email: str, password: str) -> None:
        """Sign in to an account."""
        answer = self._send(self.get("/login"), email=email, password=password)
        assert answer.is_success, answer.text

    def refresh(self, domain: str, page: BeautifulSoup | None = None) -> httpx.Response:
        """Send the refresh form of a domain's page, opened now or before."""
        opened = page or self.get(f"/domains/{domain}")
        return self._send(opened, action=f"/domains/{domain}/refresh")

    def cancel(self, domain: str) -> httpx.Response:
        """Send the form that stops the fetch under way."""
        return self._send(self.get(f"/domains/{domain}"), action=f"/domains/{domain}/cancel")

    def watch(self, domain: str) -> httpx.Response:
        """Send the form that puts a domain on one's list."""
        return self._send(self.get(f"/domains/{domain}"), action=f"/domains/{domain}/watch")

    def _send(self, page: BeautifulSoup, *, action: str = "", **fields: str) -> httpx.Response:
        for form in page.find_all("form"):
            if form.get("method") != "post":
                continue
            target = str(form["action"])
            if action and target != action:
                continue
            if not action and target == "/logout":
                continue
            hidden = {
                str(one["name"]): str(one.get("value", ""))
                for one in form.find_all("input")
                if one.get("type") == "hidden"
            }
            return self.client.post(target, data=hidden | fields)
        raise AssertionError(f"no form {action!r} on the page: {page.get_text(' ', strip=True)}")
