"""Mails, as they are and as they should not be."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

from tiers import every

import candide
from candide.sources.mailbox import parse_email, plain_text

from .files import COMPRESSIONS, write


def mail(subject: str, text: str, sender: str = "Ann <ann@example.org>") -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, sender, "bob@example.org"
    message["Date"] = "Mon, 02 Mar 2020 10:00:00 +0100"
    message.set_content(text)
    return message


def mbox(*messages: EmailMessage) -> bytes:
    parts = [b"From MAILER Mon Mar  2 10:00:00 2020\n" + message.as_bytes() + b"\n" for message in messages]
    return b"".join(parts)


def test_mailboxes_are_classes(tmp_path: Path) -> None:
    ham = write(tmp_path / "ham.mbox", mbox(mail("Lunch", "At noon?\n\n>From here\n"), mail("Café", "Où ça ?")))
    spam = write(tmp_path / "spam.mbox.gz", COMPRESSIONS["gz"](mbox(mail("Win", "Now"))))
    source = candide.read(ham, spam)
    rows = source.to_table().to_pylist()
    assert [row["subject"] for row in rows] == ["Lunch", "Café", "Win"]
    assert [row["label"] for row in rows] == ["ham", "ham", "spam"]
    assert rows[0]["text"] == "Lunch\nAnn <ann@example.org>\nAt noon?\n\nFrom here"
    assert rows[1]["text"].endswith("Où ça ?")
    assert rows[0]["date"].hour == 9
    assert rows[1]["file"] == f"{ham}:2"
    assert source.roles[:3] == ("label", "text", ("text",))
    assert source.bytes_read == source.n_bytes


def test_one_mailbox_has_no_label(tmp_path: Path) -> None:
    source = candide.read(write(tmp_path / "ham.mbox", mbox(mail("Lunch", "At noon?"))))
    assert "label" not in source.names
    assert source.to_table().num_rows == 1


def test_maildirs_in_a_folder(tmp_path: Path) -> None:
    for label in ("ham", "spam"):
        for folder in ("cur", "new", "tmp"):
            (tmp_path / "mail" / label / folder).mkdir(parents=True)
        write(tmp_path / "mail" / label / "new" / "17.host", mail(label, "text").as_bytes())
        write(tmp_path / "mail" / label / "tmp" / "18.host", b"half a mail")
    assert candide.read(tmp_path / "mail").to_table()["subject"].to_pylist() == ["ham", "spam"]
    assert candide.read(tmp_path / "mail" / "ham").to_table()["subject"].to_pylist() == ["ham"]


def test_eml_files(tmp_path: Path) -> None:
    write(tmp_path / "mail" / "ham" / "a.eml", mail("Lunch", "At noon?").as_bytes())
    write(tmp_path / "mail" / "spam" / "b.eml", mail("Win", "Now").as_bytes())
    assert candide.read(tmp_path / "mail").to_table()["label"].to_pylist() == ["ham", "spam"]
    assert candide.read(tmp_path / "mail" / "ham" / "a.eml").to_table()["subject"].to_pylist() == ["Lunch"]
    assert candide.read(tmp_path / "mail" / "ham").to_table()["subject"].to_pylist() == ["Lunch"]
    assert candide.read(str(tmp_path / "mail" / "*" / "*.eml")).to_table()["label"].to_pylist() == ["ham", "spam"]
    assert "label" not in candide.read(str(tmp_path / "mail" / "ham" / "*.eml")).names


def test_delivered_mails_without_ending(tmp_path: Path) -> None:
    for label in ("ham", "spam"):
        write(tmp_path / label / "0001.ea7e79d3", b"Return-Path: <a@b>\n" + mail(label, "text").as_bytes())
    assert candide.read(tmp_path).to_table()["subject"].to_pylist() == ["ham", "spam"]


def test_html_and_attachments() -> None:
    message = mail("Offer", "plain says this")
    message.add_alternative("<p>html says that</p>", subtype="html")
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="Überweisung.pdf")
    message.add_attachment("a,b\n1,2", subtype="csv", filename="a.csv")
    read = parse_email(message.as_bytes())
    assert read.body == "plain says this"
    assert read.attachments == ("Überweisung.pdf (application/pdf)", "a.csv (text/csv)")


def test_html_alone() -> None:
    message = mail("Offer", "<html><head><title>t</title><style>p {}</style></head><body>Win<br>&euro;5</body></html>")
    message.replace_header("Content-Type", 'text/html; charset="utf-8"')
    assert parse_email(message.as_bytes()).body == "Win\n€5"


@every(
    "html,text",
    [
        ("a<script>x()</script> b", "a\nb"),
        ("f<b>r</b>ee", "free"),
        ("<td>one</td><td>two</td>", "one\ntwo"),
        ("<head><meta x=1><body>late", "late"),
        ("<![if !mso]>shown", "shown"),
        ("1 < 2 &amp; 3", "1 < 2 & 3"),
    ],
)
def test_plain_text(html: str, text: str) -> None:
    assert plain_text(html) == text


@every(
    "content,body",
    [
        (b"Content-Type: text/plain; charset=iso-8859-1\n\ncaf\xe9", "café"),
        (b"Content-Type: text/plain; charset=koi8-r\n\n\xf0\xd2\xc9", "При"),
        (b"Content-Type: text/plain; charset=no-such\n\ncaf\xe9", "café"),
        (b"Content-Type: text/plain; charset=utf-8\n\ncaf\xe9", "café"),
        (b"Content-Transfer-Encoding: base64\n\n!!not base64!!", ""),
        (b"Content-Transfer-Encoding: quoted-printable\n\ncaf=C3=A9 =ZZ", "café =ZZ"),
        (b"Content-Type: multipart/mixed\n\nno boundary", "no boundary"),
        (b"Content-Type: multipart/mixed; boundary=x\n\n--x\n\ninside", "inside"),
        (b"Content-Type: ;;;\n\nodd", "odd"),
        (b"\xff\xfe\n\nodd", None),
        (b"From: =?utf-8?b?////?=\nSubject: =?x?q?y?=\nDate: never\nTo: a@b, <<>>,,\n\nodd", "odd"),
        (b'To: undisclosed-recipients:;;\nFrom: "\nDate: 99 99 99\n\nodd', "odd"),
        (b"", ""),
        (b"\0\0\0", None),
    ],
)
def test_malformed(content: bytes, body: str | None) -> None:
    read = parse_email(content)
    assert body is None or read.body.startswith(body)
    assert read.text.encode().decode() == read.text


def test_any_bytes_are_read() -> None:
    """Cut and shuffled mails: whatever comes out, nothing is raised, and it is text."""
    message = mail("Größe", "<p>ü</p>")
    message.add_alternative("<p>html</p>", subtype="html")
    message.add_attachment(b"x", maintype="image", subtype="png", filename="é.png")
    whole = message.as_bytes()
    for cut in range(0, len(whole), 29):
        assert isinstance(parse_email(whole[:cut]).text, str)
        assert isinstance(parse_email(whole[cut:] + whole[:cut]).text, str)
        assert isinstance(parse_email(whole[:cut] + b"\xff\0" + whole[cut + 3 :]).text, str)
