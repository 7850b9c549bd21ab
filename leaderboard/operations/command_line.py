#!/usr/bin/env python3
"""The command line of a Leaderboard site. One file, Python 3.9 or newer, nothing to install.

    python cli.py login
    python cli.py competitions list
    python cli.py competitions submit my-competition -f submission.csv -m "first try" --watch

The token comes from LEADERBOARD_TOKEN, or from a file that only you can read, made by `login`.

Exit codes: 0 good · 2 the file is invalid · 3 the ground truth is · 4 refused, the words say why · 5 no token, or it
may not do this · 6 no answer from the site · 64 unknown command.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import re
import sys
import time
import unicodedata
import uuid
import zipfile
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from getpass import getpass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

SITE = ""  # the site that hands this file out writes its address here
INVALID, BAD_TRUTH, REFUSED, NO_TOKEN, NO_ANSWER, USAGE = 2, 3, 4, 5, 6, 64
TRIES = 4
LONGEST_NOTE = 300
LONG_WAIT = 30
LARGE = 1_000_000
TOML = """\
title = "{title}"
slug = "{slug}"
zone = "UTC"
opens_at = {opens}T08:00:00
closes_at = {closes}T23:59:00
daily_attempts = 5
final_count = 2
team_size = 3

[metric]  # the site's page of metrics has them all
key = "accuracy"

[split]  # of the rows of truth.csv, where it has no column Usage
public_share = 0.3
seed = 1
"""


class CommandFailed(Exception):
    """Ends the program with a message and an exit code; `answer` is the site's JSON."""

    def __init__(self, words: str, code: int, answer: Any = None) -> None:
        super().__init__(words)
        self.code, self.answer = code, answer


# --- talking to the site ----------------------------------------------------------------------------------------


class NoRedirects(HTTPRedirectHandler):
    """Refuses redirects: following one would send the token to another site."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Upload(io.BytesIO):
    """A request body that prints its progress to a terminal."""

    def read(self, size: int | None = -1, /) -> bytes:
        part = super().read(size)
        total = self.getbuffer().nbytes
        if total > LARGE and sys.stderr.isatty():
            print(f"\r{100 * self.tell() // total} % sent", end="" if part else "\n", file=sys.stderr, flush=True)
        return part


class SiteClient:
    """The API of one site. GET requests are repeated when no answer comes, POST requests only if a repeat does no
    harm."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self.token = address.rstrip("/"), token
        self.opener = build_opener(NoRedirects)
        host = urlsplit(self.address)
        if host.scheme == "http" and host.hostname not in ("localhost", "127.0.0.1", "::1"):
            note(f"{self.address} is not encrypted: others on the way can read your token.")

    def get(self, path: str, **query: Any) -> Any:
        return json.loads(self.ask(path + (f"?{urlencode(query)}" if query else "")))

    def post(self, path: str, *, again: bool = False, key: str = "", file: Any = None, **form: Any) -> Any:
        """`file` is a name with bytes; `again` says that sending the request twice does no harm."""
        body, kind = multipart(form, file)
        headers = {"Content-Type": kind, **({"Idempotency-Key": key} if key else {})}
        got = json.loads(self.ask(path, body, headers, again=again))
        while isinstance(got, dict) and "task" in got:  # the site works on it
            time.sleep(1)
            got = self.get(got["task"].partition("/api/v1/")[2])
        return got

    def ask(self, path: str, body: bytes | None = None, headers: Any = None, *, again: bool = True) -> bytes:
        with self.open(path, body, headers, again=again) as answer:
            try:
                return bytes(answer.read())
            except (HTTPException, OSError) as error:
                raise CommandFailed(f"The answer of {self.address} broke off: {error}", NO_ANSWER) from None

    def open(self, path: str, body: bytes | None = None, headers: Any = None, *, again: bool = True) -> Any:
        if not self.token:
            raise CommandFailed(
                f"No token: make one at {self.address}/account/, then run `login` or set LEADERBOARD_TOKEN.", NO_TOKEN
            )
        given = {"Authorization": f"Bearer {self.token}", "User-Agent": "leaderboard-cli", **(headers or {})}
        given.update({"Content-Length": str(len(body))} if body is not None else {})
        for left in reversed(range(TRIES if again else 1)):
            request = Request(f"{self.address}/api/v1/{path}", None if body is None else Upload(body), given)
            try:
                return self.opener.open(request, timeout=120)
            except HTTPError as error:
                wait = self._wait(error, left)
            except (URLError, HTTPException, OSError) as error:
                wait = 2.0 ** (TRIES - left) / 2
                if not left:
                    raise CommandFailed(
                        f"No answer from {self.address}: {getattr(error, 'reason', error)}", NO_ANSWER
                    ) from None
            note(f"Trying again in {wait:.0f} s …")
            time.sleep(wait)
        raise AssertionError

    def _wait(self, error: HTTPError, left: int) -> float:
        """Seconds to wait before a repeat; raises `CommandFailed` with the site's message if a repeat cannot help."""
        with error:
            try:
                got = json.loads(error.read())
                more = (line for line in problem_lines(got) if line not in got["detail"])
                words = "\n  ".join([got["detail"], *more])
            except (ValueError, KeyError, TypeError):
                got, words = None, f"{self.address} answered {error.code}, and not as the API does."
        asked = error.headers.get("Retry-After") or ""
        seconds = float(asked if asked.isdecimal() else 2 ** (TRIES - left))
        if left and error.code in (429, 502, 503, 504) and seconds <= 60:
            note(words)
            return seconds
        if error.code == 401:
            words = self._unknown_token()
        elif error.code == 429 and seconds > 60:
            words += f"\n  On your clock that is {local(datetime.now().astimezone() + timedelta(seconds=seconds))}."
        is_token = error.code == 401 or any(e.get("code") == "scope" for e in (got or {}).get("errors", ()))
        raise CommandFailed(words, NO_TOKEN if is_token else NO_ANSWER if error.code >= 500 else REFUSED, got)

    def _unknown_token(self) -> str:
        where = "in LEADERBOARD_TOKEN" if self.token == os.environ.get("LEADERBOARD_TOKEN") else "that you gave"
        return (
            f"{self.address} does not know the token {where}: it is mistyped, revoked or of another site. "
            f"Make one at {self.address}/account/, then run `login` or set LEADERBOARD_TOKEN."
        )

    def pages(self, path: str, **query: Any) -> dict[str, Any]:
        """All pages of a list as one."""
        found: dict[str, Any] = self.get(path, **query)
        for page in range(2, found["pages"] + 1):
            found["items"] += self.get(path, page=page, **query)["items"]
        return found


def multipart(form: dict[str, Any], file: tuple[str, bytes] | None) -> tuple[bytes, str]:
    edge = uuid.uuid4().hex
    head = f"--{edge}\r\nContent-Disposition: form-data; name="
    given = [(name, one) for name, value in form.items() for one in (value if isinstance(value, list) else [value])]
    parts = [f'{head}"{name}"\r\n\r\n{value}\r\n'.encode() for name, value in given if value is not None]
    if file:
        name = "".join(c for c in file[0] if c not in '"\r\n\\')
        parts += [f'{head}"file"; filename="{name}"\r\nContent-Type: application/octet-stream\r\n\r\n'.encode()]
        parts += [file[1], b"\r\n"]
    return b"".join([*parts, f"--{edge}--\r\n".encode()]), f"multipart/form-data; boundary={edge}"


def problem_lines(got: Any) -> list[str]:
    return [problem_line(problem) for problem in got.get("errors", [])]


def warning_lines(got: Any) -> list[str]:
    return [problem_line(warning) for warning in got.get("warnings", [])]


def problem_line(problem: dict[str, Any]) -> str:
    line, words = problem.get("line"), str(problem["message"])
    return f"line {line}: {words}" if line and not re.search(rf"(?i)\bline {line}\b", words) else words


# --- the token --------------------------------------------------------------------------------------------------


def token_file() -> Path:
    home = os.environ.get("APPDATA") if os.name == "nt" else os.environ.get("XDG_CONFIG_HOME")
    return Path(home or Path.home() / ".config") / "leaderboard" / "tokens.json"


def stored_tokens() -> dict[str, str]:
    try:
        return dict(json.loads(token_file().read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def login(site: SiteClient, _: Any) -> Any:
    """Ask for a token and keep it for this site, in a file that only you can read."""
    site.token = getpass(f"Token of {site.address} (made on your account page; not shown): ").strip()
    site.get("competitions")
    path = token_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{uuid.uuid4().hex}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump({**stored_tokens(), site.address: site.token}, file)
    os.replace(fresh, path)
    return {"site": site.address, "file": str(path)}, [f"The token is kept in {path}."]


# --- what students do -------------------------------------------------------------------------------------------


def list_(site: SiteClient, _: Any) -> Any:
    """The competitions that you may open."""
    found = site.pages("competitions")
    return found, table(found["items"], "slug", "title", "state", "closes_at", "metric", "teams")


def files(site: SiteClient, asked: Any) -> Any:
    """The files of a competition."""
    found = site.get(f"competitions/{asked.competition}/files")
    return found, table(found["items"], "name", "size", "rows", "description")


def download(site: SiteClient, asked: Any) -> Any:
    """Download one file or all; what is here already is left alone."""
    found = site.get(f"competitions/{asked.competition}/files")["items"]
    if asked.file and asked.file not in [file["name"] for file in found]:
        raise CommandFailed(f"This competition has no file “{asked.file}”.", REFUSED)
    folder = Path(asked.path)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [file for file in found if asked.file in (None, file["name"])]
    return {"items": wanted}, [fetch(site, asked.competition, file, folder) for file in wanted]


def fetch(site: SiteClient, slug: str, file: dict[str, Any], folder: Path) -> str:
    """Download one file, whole or not at all, and compare it with the site's SHA-256."""
    name = file["name"]
    if name in ("", ".", "..") or any(c in name for c in '/\\:*?"<>|'):
        raise CommandFailed(f"“{plain(name)}” is no name for a file here; download it with the browser.", REFUSED)
    target, expected = folder / name, file["sha256"]
    if target.is_file() and expected and digest(target) == expected:
        return f"{target} is here already."
    if target.exists():  # it may hold the user's predictions
        return f"{target} may differ from the site's file and was left alone. Move it away to download it again."
    arrive(site, f"competitions/{slug}/files/{quote(name)}", target, lambda part: expected in (None, digest(part)))
    return str(target)


def digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as data:
        for chunk in iter(lambda: data.read(1 << 20), b""):
            found.update(chunk)
    return found.hexdigest()


def arrive(site: SiteClient, path: str, target: Path, is_whole: Callable[[Path], bool]) -> None:
    """Write a response into a file, whole or not at all."""
    part = target.with_name(f"{target.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with site.open(path) as answer, part.open("wb") as out:
            for chunk in iter(lambda: answer.read(1 << 20), b""):
                out.write(chunk)
        if not is_whole(part):
            raise CommandFailed(f"{target.name} did not arrive whole; try again.", NO_ANSWER)
        os.replace(part, target)
    except (OSError, HTTPException) as error:
        raise CommandFailed(f"{target.name} did not arrive whole: {error}", NO_ANSWER) from None
    finally:
        if part.exists():
            part.unlink()


def submit(site: SiteClient, asked: Any) -> Any:
    """Submit a file; with --watch wait for its score."""
    file, key = read(asked.file), uuid.uuid4().hex
    if len(asked.message) > LONGEST_NOTE:
        raise CommandFailed(f"The note has {len(asked.message)} characters; {LONGEST_NOTE} are the most.", USAGE)
    if len(file[1]) > LARGE:
        refuse_too_large(file, site.get(f"competitions/{asked.competition}"))
    path = f"competitions/{asked.competition}/submissions"
    repeat = "true" if asked.again else "false"
    try:
        got = site.post(path, again=True, key=key, file=file, note=asked.message, may_repeat=repeat)
    except CommandFailed as failed:
        raise asks_first(failed) from None
    if asked.watch:
        got = settled(site, got, asked.timeout)
    return outcome(got, missing_score_reason(site, got))


def refuse_too_large(file: tuple[str, bytes], competition: dict[str, Any]) -> None:
    """Refuse a file over the site's limit before it is sent: the site would close the connection early, so that its
    message would not arrive."""
    size, most = len(file[1]), competition["max_bytes"]
    if size > most:
        words = f"{file[0]} has {cell('size', size)}; {cell('size', most)} are the most."
        raise CommandFailed(f"{words} Packed as .gz or .zip it may fit.", REFUSED)


def asks_first(failed: CommandFailed) -> CommandFailed:
    """A refusal, with a hint at `--again` if the only reason is that the same file was submitted before."""
    if not any(error.get("code") == "same_bytes" for error in (failed.answer or {}).get("errors", ())):
        return failed
    words = f"{failed}\nIt would get the same score and use an attempt. Use --again to submit it anyway."
    return CommandFailed(words, failed.code, failed.answer)


def settled(site: SiteClient, got: dict[str, Any], timeout: float) -> dict[str, Any]:
    """The submission, once it is no longer pending."""
    note(f"Received as {got['id']}; waiting for its score …")
    start, wait, has_reported = time.monotonic(), 0.5, False
    end = start + timeout
    while got["status"] == "pending":
        if not has_reported and time.monotonic() > start + LONG_WAIT:
            note("Longer than usual. The file is kept and counts from its receipt; Ctrl-C ends only the waiting.")
            has_reported = True
        if time.monotonic() > end:
            raise CommandFailed(
                f"Not scored within {timeout:.0f} s. It is kept, and `submissions` will tell.", NO_ANSWER, got
            )
        time.sleep(wait)
        wait = min(5, wait * 1.3)
        try:
            got = site.get(f"submissions/{got['id']}")
        except CommandFailed as failed:
            words = f"{failed}\n{got['file_name']} was received and is kept; `submissions` will tell its score."
            raise CommandFailed(words, failed.code, got) from None
    return got


def missing_score_reason(site: SiteClient, got: dict[str, Any]) -> str:
    """Why a scored file shows no score; "" if it shows one, or if no reason is known."""
    if got["status"] != "scored" or got["public_score"] is not None:
        return ""
    if got.get("is_late"):
        return "late, so never ranked; its score is shown once the private board is open"
    is_hidden = site.get(f"competitions/{got['competition']}").get("hides_scores")
    return "valid; this board shows no scores until the private board opens" if is_hidden else ""


def outcome(got: dict[str, Any], why: str = "") -> Any:
    if got["status"] in ("invalid", "failed"):
        words = "\n  ".join([f"{got['file_name']} is {got['status']}; no attempt is used.", *problem_lines(got)])
        raise CommandFailed(words, INVALID if got["status"] == "invalid" else REFUSED, got)
    if got["status"] == "pending":
        words = "received; `submissions` tells its score, and with --watch one waits for it"
    else:
        score = None if got["public_score"] is None else f"public score {short(got['public_score'])}"
        words = ", ".join(filter(None, (got["status"], score, why)))
    return got, [f"{got['file_name']}: {words} ({got['id']})", *warning_lines(got)]


def submissions(site: SiteClient, asked: Any) -> Any:
    """Your team's files, newest first; a host's are those of all teams."""
    found = site.pages(f"competitions/{asked.competition}/submissions")
    names = ["received_at", "file_name", "status", "public_score", "private_score", "is_selected", "note", "id"]
    if len({file["team"] for file in found["items"]}) > 1:
        names.insert(1, "team")
    return found, table(found["items"], *names)


def leaderboard(site: SiteClient, asked: Any) -> Any:
    """The board."""
    found = site.pages(f"competitions/{asked.competition}/leaderboard", board=asked.board)
    return found, table(found["items"], "rank", "team", "score", "submissions", "received_at")


# --- what teachers do -------------------------------------------------------------------------------------------


def init(_: SiteClient, asked: Any) -> Any:
    """Write a folder to fill in: the competition's settings and texts; its truth and data files go in as well."""
    folder = Path(asked.folder)
    if folder.exists() and any(folder.iterdir()):
        raise CommandFailed(f"{folder} is not empty.", REFUSED)
    slug = "-".join("".join(c if c.isascii() and c.isalnum() else " " for c in folder.resolve().name).split()).lower()
    (folder / "data").mkdir(parents=True, exist_ok=True)
    title = "".join(c for c in folder.resolve().name if c not in '"\\\\')
    opens, closes = (date.today() + timedelta(days=days) for days in (7, 35))
    spec = TOML.format(title=title, slug=slug or "my-competition", opens=opens, closes=closes)
    texts = {"competition.toml": spec}
    texts.update({"overview.md": "What is asked, and why.\n", "rules.md": "What is allowed.\n"})
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    words = f"Fill in {folder / 'competition.toml'}, put truth.csv beside it and the students' files into data."
    return {"folder": str(folder), "files": sorted(texts)}, [words, f"Then: create {folder}"]


def create(site: SiteClient, asked: Any) -> Any:
    """Make a draft of a folder, or of what `export` wrote."""
    folder = Path(asked.folder)
    held = folder.read_bytes() if folder.suffix == ".zip" and folder.is_file() else zipped(folder)
    got = site.post("competitions", file=("competition.zip", held))
    words = f"“{plain(got['title'])}” is a draft: {site.address}/host/{got['slug']}/, join code {got['join_code']}."
    return got, [words, *(f"truth.csv: {plain(finding['message'])}" for finding in got["findings"])]


def zipped(folder: Path) -> bytes:
    if not (folder / "competition.toml").is_file():
        raise CommandFailed(f"{folder} has no competition.toml; `init` writes one.", REFUSED)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
                archive.write(path, path.relative_to(folder).as_posix())
    return held.getvalue()


def data(site: SiteClient, asked: Any) -> Any:
    """Give students a file; the same name again replaces it."""
    path = f"competitions/{asked.competition}/files"
    found = [site.post(path, file=read(name), description=asked.description) for name in asked.file]
    return {"items": found}, [f"{plain(file['name'])}: students may download it." for file in found]


def truth(site: SiteClient, asked: Any) -> Any:
    """Check a ground-truth file; with --publish make it the next ground truth, if nothing forbids that."""
    path, pairs = f"competitions/{asked.competition}/truth", [pair.partition("=") for pair in asked.param]
    form = {"metric": asked.metric, "params": json.dumps({name: value for name, _, value in pairs}) if pairs else None}
    form["as_meant"] = "true" if asked.as_meant else None
    form.update(id_column=asked.id, public_share=asked.share, seed=asked.seed, group_column=asked.group)
    got = site.post(path, file=read(asked.file), **form)
    words = [f"{'BLOCKS: ' if one['blocking'] else ''}{plain(one['message'])}" for one in got["findings"]]
    if not got["is_good"]:
        offered = [f"- {plain(change)}" for change in got["as_meant"]]
        words += ["With --as-meant it is read like this:", *offered] if offered else []
        raise CommandFailed("\n  ".join([f"{asked.file} cannot be published:", *words]), BAD_TRUTH, got)
    words.append(
        f"{asked.file} is good for {got['metric']}: {got['public_rows']} public, {got['private_rows']} private rows."
    )
    if asked.publish:
        got = site.post(path + "/publish", note=asked.message, is_confirmed="true" if asked.confirm else None)
        then = "see `rescore`" if got["becomes"] == "candidate" else "the board counts with it"
        words.append(f"Published as ground truth {got['number']}; {then}.")
    return got, words


def launch(site: SiteClient, asked: Any) -> Any:
    """Let students in."""
    got = site.post(f"competitions/{asked.competition}/launch")
    return got, [f"“{plain(got['title'])}” is {got['state']}: {site.address}/c/{got['slug']}/"]


def rescore(site: SiteClient, asked: Any) -> Any:
    """List the teams that would move under the waiting ground truth; --apply makes it count, --discard drops it."""
    path = f"competitions/{asked.competition}/rescoring"
    if asked.discard:
        got = site.post(path + "/discard")
        return got, [f"Dropped; ground truth {got['number']} goes on counting."]
    got, end = site.get(path), time.monotonic() + asked.timeout
    while asked.watch and got["waiting"] and time.monotonic() < end:
        time.sleep(1)
        got = site.get(path)
    words = [f"Ground truth {got['ground_truth']}: {got['done']} of {got['total']} files scored."]
    words += table(got["moves"], "team", "rank_now", "rank_then", "score_now", "score_then") if got["moves"] else []
    if asked.apply:
        got = site.post(path + "/apply", words=asked.message, tells="true" if asked.tell else None)
        words.append(f"Ground truth {got['number']} counts now; {got['notified']} people are told.")
    return got, words


def again(site: SiteClient, asked: Any) -> Any:
    """Score files again that failed or were invalid: those named by their ids, or all with a status."""
    form = {"submissions": asked.submission, "status": asked.status}
    got = site.post(f"competitions/{asked.competition}/submissions/again", **form)
    of = f" of {len(asked.submission)}" if asked.submission else ""
    return got, [f"Files that wait for a score again: {got['number']}{of}."]


def export(site: SiteClient, asked: Any) -> Any:
    """The competition as a zip file, with its answers; `create` makes a draft of it on any site."""
    target = Path(asked.output or f"{asked.competition}.zip")
    arrive(site, f"competitions/{asked.competition}/export", target, zipfile.is_zipfile)
    words = f"{target} holds the answers: keep it from students."
    return {"file": str(target), "bytes": target.stat().st_size}, [words]


def grades(site: SiteClient, asked: Any) -> Any:
    """The grades as a CSV file."""
    found = site.ask(f"competitions/{asked.competition}/grades?kind={asked.kind}")
    target = Path(asked.output or f"{asked.competition}-grades-{asked.kind}.csv")
    target.write_bytes(found)
    return {"file": str(target), "bytes": len(found)}, [str(target)]


# --- what comes in and goes out ---------------------------------------------------------------------------------


def read(name: str) -> tuple[str, bytes]:
    try:
        return Path(name).name, Path(name).read_bytes()
    except OSError as error:
        raise CommandFailed(f"{name} cannot be read: {error.strerror}.", USAGE) from None


def note(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


UNITS = ((1 << 20, "MB"), (1 << 10, "KB"), (0, "bytes"))  # as the site counts them


def plain(value: Any) -> str:
    """A cell as text, without characters that could move the cursor or colour the terminal."""
    words = "" if value is None or value is False else "yes" if value is True else str(value)
    return "".join(c for c in words if unicodedata.category(c)[0] != "C")


def local(moment: datetime) -> str:
    return moment.astimezone().isoformat(sep=" ", timespec="minutes")


def short(score: float) -> str:
    """A score with ten digits; `--json` has them all."""
    return f"{score:.10g}"


def cell(name: str, value: Any) -> str:
    """A value in readable form: times on this computer's clock with its offset from UTC, sizes with a unit."""
    if name.endswith("_at") and isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            return plain(value)
        return local(moment)
    if isinstance(value, float):
        return short(value)
    if name == "size" and isinstance(value, int):
        unit, words = next(one for one in UNITS if value >= one[0])
        return f"{value / unit:.1f} {words}" if unit > 1 else f"{value} {words}"
    return plain(value)


def table(rows: Iterable[dict[str, Any]], *names: str) -> list[str]:
    cells = [[name.replace("_", " ") for name in names], *([cell(name, row[name]) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{message}\n")


Verb = Callable[[SiteClient, Any], Any]
FILE = ("-f", "--file")
MESSAGE = ("-m", "--message")


def commands() -> argparse.ArgumentParser:
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", default=os.environ.get("LEADERBOARD_URL") or SITE, help="address of the site")
    parser.add_argument("--json", action="store_true", help="print what the site says, for programs")
    top = parser.add_subparsers(required=True, metavar="COMMAND")
    under = verb(top, "competitions", None).add_subparsers(required=True, metavar="VERB")
    verb(top, "login", login)
    verb(under, "list", list_)
    for place in (top, under):  # the longer way is what students know from elsewhere
        of_students(place)
    of_teachers(top)
    return parser


def of_students(place: Any) -> None:
    verb(place, "files", files, "competition")
    one = verb(place, "download", download, "competition")
    one.add_argument(*FILE, help="only this file")
    one.add_argument("-p", "--path", default=".", help="folder to write to")
    one = verb(place, "submit", submit, "competition")
    one.add_argument(*FILE, required=True)
    one.add_argument(*MESSAGE, default="", help="a note for yourself")
    one.add_argument("--again", action="store_true", help="submit even if your team submitted the same file before")
    waits(one)
    verb(place, "submissions", submissions, "competition")
    one = verb(place, "leaderboard", leaderboard, "competition")
    one.add_argument("--board", choices=("public", "private"), default="public")


def of_teachers(top: Any) -> None:
    for name, what in (("init", init), ("create", create)):
        verb(top, name, what).add_argument("folder")
    one = verb(top, "data", data, "competition")
    one.add_argument(*FILE, required=True, action="append")
    one.add_argument("-d", "--description", default="")
    one = verb(top, "truth", truth, "competition")
    one.add_argument(*FILE, required=True)
    for name, kind in (("--metric", str), ("--id", str), ("--share", float), ("--seed", int), ("--group", str)):
        one.add_argument(name, type=kind)
    one.add_argument("-p", "--param", action="append", default=[], metavar="NAME=VALUE")
    one.add_argument("--as-meant", action="store_true", help="read a spreadsheet's file as it was meant")
    one.add_argument("--publish", action="store_true")
    one.add_argument("--confirm", action="store_true", help="yes to what the metric asks")
    one.add_argument(*MESSAGE, default="", help="what changed")
    verb(top, "launch", launch, "competition")
    one = verb(top, "rescore", rescore, "competition")
    one.add_argument("--apply", action="store_true")
    one.add_argument("--discard", action="store_true")
    one.add_argument("--tell", action="store_true", help="tell those whose scores or ranks change")
    one.add_argument(*MESSAGE, default="", help="your words to them")
    waits(one)
    one = verb(top, "again", again, "competition")
    one.add_argument("submission", nargs="*", help="its id, as `submissions` tells it")
    one.add_argument("--status", choices=("failed", "invalid"), help="all of these")
    verb(top, "export", export, "competition").add_argument("-o", "--output", help="COMPETITION.zip unless given")
    one = verb(top, "grades", grades, "competition")
    one.add_argument("-o", "--output")
    one.add_argument("--kind", choices=("plain", "moodle", "brightspace"), default="plain")


def verb(place: Any, name: str, what: Verb | None, *names: str) -> argparse.ArgumentParser:
    words = (what.__doc__ or "").strip() if what else "what students do"
    made: argparse.ArgumentParser = place.add_parser(name, help=words, description=words)
    made.set_defaults(verb=what)
    for each in names:
        made.add_argument(each)
    return made


def waits(one: argparse.ArgumentParser) -> None:
    one.add_argument("--watch", action="store_true", help="wait until it is scored")
    one.add_argument("--timeout", type=float, default=600, help="seconds to wait at most")


def main() -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    asked = commands().parse_args()
    try:
        return done(asked, asked.site.rstrip("/"))
    except ValueError:
        note(f"{asked.site} answered, but not as a Leaderboard site does. Is something between you and it?")
        return NO_ANSWER
    except OSError as error:
        note(f"{error.filename or 'A file'} cannot be used: {error.strerror or error}.")
        return REFUSED
    except KeyboardInterrupt:
        return 130


def done(asked: argparse.Namespace, address: str) -> int:
    """Run the command, print its result or its error, and return the exit code."""
    try:
        if asked.verb is not init and urlsplit(address).scheme not in ("http", "https"):
            raise CommandFailed("Which site? Give --site https://… or set LEADERBOARD_URL.", USAGE)
        token = os.environ.get("LEADERBOARD_TOKEN") or stored_tokens().get(address, "")
        got, words = asked.verb(SiteClient(address, token), asked)
    except CommandFailed as failed:
        if asked.json and failed.answer is not None:
            print(json.dumps(failed.answer))
        note(str(failed))
        return failed.code
    print(json.dumps(got) if asked.json else "\n".join(words))
    return 0


if __name__ == "__main__":
    sys.exit(main())
