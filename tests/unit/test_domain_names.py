"""What a person may type, and which domain is meant by it."""

import pytest

from ppcfetch.errors import InvalidDomain
from ppcfetch.model.domain import LONGEST, DomainName

MEANT = [
    ("example.com", "example.com"),
    ("  Example.COM \n", "example.com"),
    ("\ufeffhttps://example.com\u200b", "example.com"),
    ("example.com.", "example.com"),
    ("www.shop.example.co.uk", "example.co.uk"),
    ("https://www.example.com/a/b?c=d@e#f", "example.com"),
    ("HTTP://example.com:8080", "example.com"),
    ("https:example.com", "example.com"),
    ("https:\\\\example.com\\x", "example.com"),
    ("//example.com/x", "example.com"),
    ("example.com:443/x", "example.com"),
    ("example.com:", "example.com"),
    ("example.com?x=1", "example.com"),
    ("example.com/@somebody", "example.com"),
    ("https://user:pass@word@example.com/", "example.com"),
    ("shop.bluebird.example", "bluebird.example"),
    ("ads-2350.example", "ads-2350.example"),
    ("Bücher.example", "xn--bcher-kva.example"),
    ("www.xn--bcher-kva.example", "xn--bcher-kva.example"),
    ("faß.de", "xn--fa-hia.de"),
    ("ＥＸＡＭＰＬＥ．com", "example.com"),
    ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
    ("exam\u00adple.com", "example.com"),
    ("one.github.io", "one.github.io"),
    ("deep.one.github.io", "one.github.io"),
    ("github.io", "github.io"),
    ("uk.com", "uk.com"),
    ("1und1.de", "1und1.de"),
    ("123.com", "123.com"),
    ("www.city.kawasaki.jp", "city.kawasaki.jp"),
]

REFUSED = [
    ("", "Type a domain, such as example.com."),
    (" \t\u200b ", "Type a domain, such as example.com."),
    ("a" * (LONGEST + 1), "That is too long for a domain: at most 1,024 characters."),
    ("exam\x00ple.com", "A domain cannot contain control characters."),
    ("exam\tple.com", "A domain cannot contain control characters."),
    ("co.uk", "“co.uk” is an ending, not a domain."),
    ("com", "“com” is an ending, not a domain."),
    ("https://com/", "“com” is an ending, not a domain."),
    ("x.kawasaki.jp", "“x.kawasaki.jp” is an ending, not a domain."),
    ("localhost", "“localhost” is a single word: a domain has an ending like .com."),
    ("localhost:8000", "“localhost” is a single word: a domain has an ending like .com."),
    ("127.0.0.1", "“127.0.0.1” is an IP address, not a domain."),
    ("http://127.0.0.1:80/x", "“127.0.0.1” is an IP address, not a domain."),
    ("１２７.0.0.1", "“127.0.0.1” is an IP address, not a domain."),
    ("0x7f.1", "“0x7f.1” is an IP address, not a domain."),
    ("0X7F000001", "“0x7f000001” is an IP address, not a domain."),
    ("2130706433", "“2130706433” is an IP address, not a domain."),
    ("0177.0.0.01", "“0177.0.0.01” is an IP address, not a domain."),
    ("127.0.0.1.", "“127.0.0.1” is an IP address, not a domain."),
    ("example.5", "“example.5” is an IP address, not a domain."),
    ("::1", "“::1” is an IP address, not a domain."),
    ("fe80::1%eth0", "“fe80::1%eth0” is an IP address, not a domain."),
    ("http://[2001:db8::1]:80/", "“2001:db8::1” is an IP address, not a domain."),
    ("::ffff:1.2.3.4", "“::ffff:1.2.3.4” is an IP address, not a domain."),
    ("me@example.com", "That is an e-mail address, not a domain: did you mean example.com?"),
    (
        "mailto:me@mail.example.com?subject=x",
        "That is an e-mail address, not a domain: did you mean example.com?",
    ),
    ("me@localhost", "That is an e-mail address, not a domain."),
    ("ftp://example.com", "Only http and https links can be looked up, not “ftp:”."),
    ("javascript:alert(1)", "Only http and https links can be looked up, not “javascript:”."),
    ("data:text/html,x", "Only http and https links can be looked up, not “data:”."),
    ("file:///etc/passwd", "Only http and https links can be looked up, not “file:”."),
    ("example.com:port", "“port” is not a port number."),
    ("example.com:1000000", "“1000000” is not a port number."),
    ("https://", "There is no domain in this address."),
    ("/path", "There is no domain in this address."),
    ("a..com", "“a..com” is not a valid domain name."),
    (".example.com", "“.example.com” is not a valid domain name."),
    ("-a.com", "“-a.com” is not a valid domain name."),
    ("two words.com", "“two words.com” is not a valid domain name."),
    ("under_score.com", "“under_score.com” is not a valid domain name."),
    ("☃.com", "“☃.com” is not a valid domain name."),
    ("xn--a.com", "“xn--a.com” is not a valid domain name."),
    ("exam\u202eple.com", "“exam?ple.com” is not a valid domain name."),
    ("exam\ud800ple.com", "“exam?ple.com” is not a valid domain name."),
    ("a" * 64 + ".com", f"“{'a' * 57}…” is not a valid domain name."),
    ("<script>", "“<script>” is not a valid domain name."),
]


@pytest.mark.parametrize(("typed", "meant"), MEANT)
def test_what_is_typed_names_one_registrable_domain(typed: str, meant: str) -> None:
    domain = DomainName.parse(typed)

    assert str(domain) == meant


@pytest.mark.parametrize(("typed", "sentence"), REFUSED)
def test_what_cannot_be_looked_up_is_refused_in_one_sentence(typed: str, sentence: str) -> None:
    with pytest.raises(InvalidDomain) as refused:
        DomainName.parse(typed)

    assert str(refused.value) == sentence
