#!/usr/bin/env python3
"""The command line of a Leaderboard site. One file, Python 3.9 or newer, nothing to install.

    python cli.py login
    python cli.py competitions list
    python cli.py competitions submit my-competition -f submission.csv -m "first try" --watch

The token comes from LEADERBOARD_TOKEN, or from a file that only you can read, made by `login`.

Exit codes: 0 good · 2 the file is invalid · 3 the ground truth is · 4 refused, with the reason · 5 no token, or it may
not do this · 6 no answer from the site · 64 unknown command.
"""

from __future__ import annotations

import argparse
import codecs
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
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from getpass import getpass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

SITE = ""  # the site that serves this file writes its address here
INVALID, BAD_TRUTH, REFUSED, NO_TOKEN, NO_ANSWER, USAGE = 2, 3, 4, 5, 6, 64
TRIES = 4
MAX_WAIT_SECONDS = 60
Result = tuple[Any, list[str]]
"""The site's JSON for programs, and lines for people."""


class CommandFailed(Exception):
    """Ends the program with a message and an exit code. `answer` is the site's JSON; after `wait` seconds the request
    may be repeated, and never where `wait` is `None`."""

    def __init__(self, message: str, code: int, answer: Any = None, wait: float | None = None) -> None:
        super().__init__(message)
        self.code, self.answer, self.wait = code, answer, wait


# --- the API ----------------------------------------------------------------------------------------------------


class NoRedirects(HTTPRedirectHandler):
    """Refuses redirects: following one would send the token to another site."""

    def redirect_request(self, *_: Any) -> None:
        return None


class SiteClient:
    """The API of one site. Requests without an answer are repeated, POST requests only if a repeat does no harm."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self.token = address, token
        self.opener = build_opener(NoRedirects)
        host = urlsplit(address)
        if host.scheme == "http" and host.hostname not in ("localhost", "127.0.0.1", "::1"):
            print_note(f"{address} is not encrypted: others on the way can read your token.")

    def get(self, path: str) -> Any:
        return json.loads(self.read(path))

    def get_pages(self, path: str) -> Any:
        """All pages of a list as one."""
        answer = self.get(path)
        for page in range(2, answer.get("pages", 1) + 1):
            answer["items"] += self.get(f"{path}{'&' if '?' in path else '?'}page={page}")["items"]
        return answer

    def post(self, path: str, *, key: str = "", file: tuple[str, bytes] | None = None, **form: Any) -> Any:
        """The site's answer, once it has worked on the request. With an idempotency `key` a repeat does no harm."""
        body, headers = multipart_body(form, file)
        headers.update({"Idempotency-Key": key} if key else {})
        answer = json.loads(self.read(path, body, headers, tries=TRIES if key else 1))
        while isinstance(answer, dict) and "task" in answer:
            time.sleep(1)
            answer = self.get(answer["task"].partition("/api/v1/")[2])
        return answer

    def read(self, path: str, body: bytes | None = None, headers: Any = None, tries: int = TRIES) -> bytes:
        where = f"make one at {self.address}/account/, then run `login` or set LEADERBOARD_TOKEN."
        if not self.token:
            raise CommandFailed(f"No token: {where}", NO_TOKEN)
        headers = {"Authorization": f"Bearer {self.token}", "User-Agent": "leaderboard-cli", **(headers or {})}
        for attempt in range(1, tries + 1):
            try:
                request = Request(f"{self.address}/api/v1/{path}", body, headers)
                with self.opener.open(request, timeout=120) as answer:
                    return bytes(answer.read())
            except HTTPError as error:
                failure = api_refusal(error, self.address)
                if error.code == 401:
                    message = f"{self.address} does not know this token: it is mistyped, revoked or of another site;"
                    failure = CommandFailed(f"{message} {where}", NO_TOKEN, failure.answer)
            except (HTTPException, OSError) as error:
                message = f"No answer from {self.address}: {getattr(error, 'reason', error)}"
                failure = CommandFailed(message, NO_ANSWER, wait=2**attempt)
            if failure.wait is None or attempt == tries:
                break
            print_note(f"{failure}\nTrying again in {failure.wait} s …")
            time.sleep(failure.wait)
        raise failure


def api_refusal(error: HTTPError, address: str) -> CommandFailed:
    """The error that the site answered instead of a result."""
    with error:
        try:
            answer = json.loads(error.read())
            detail, problems = answer["detail"], answer["errors"]
            lines = [detail, *(line for line in problem_lines(problems) if line not in detail)]
            reasons = {problem["code"] for problem in problems}
        except (ValueError, KeyError, TypeError):
            answer, reasons = None, set()
            lines = [f"{address} returned {error.code}, which isn't an answer of the API."]
    retry_after = error.headers.get("Retry-After") or ""
    seconds = int(retry_after) if retry_after.isdecimal() else 2
    may_help = error.code in (429, 502, 503, 504) and seconds <= MAX_WAIT_SECONDS
    if error.code == 429 and not may_help:
        lines.append(f"Try again {local_time(datetime.now() + timedelta(seconds=seconds))}.")
    if "same_bytes" in reasons:
        lines.append("It would get the same score and use an attempt. Use --again to submit it anyway.")
    code = NO_TOKEN if "scope" in reasons else NO_ANSWER if error.code >= 500 else REFUSED
    return CommandFailed("\n  ".join(lines), code, answer, seconds if may_help else None)


def multipart_body(form: dict[str, Any], file: tuple[str, bytes] | None) -> tuple[bytes, dict[str, str]]:
    """A form with a file as the body of a request, and its headers."""
    edge = uuid.uuid4().hex
    head = f"--{edge}\r\nContent-Disposition: form-data; name="
    pairs = [(name, each) for name, value in form.items() for each in (value if isinstance(value, list) else [value])]
    parts = [f'{head}"{name}"\r\n\r\n{value}\r\n'.encode() for name, value in pairs if value is not None]
    if file:
        name = re.sub(r'["\r\n\\]', "", file[0])
        parts += [f'{head}"file"; filename="{name}"\r\nContent-Type: application/octet-stream\r\n\r\n'.encode()]
        parts += [file[1], b"\r\n"]
    return b"".join([*parts, f"--{edge}--\r\n".encode()]), {"Content-Type": f"multipart/form-data; boundary={edge}"}


# --- commands for everybody -------------------------------------------------------------------------------------


def login(site: SiteClient, _: Any) -> Result:
    """Save a token for this site, in a file that only you can read."""
    site.token = getpass(f"Token for {site.address} (from your account page; not shown): ").strip()
    site.get("competitions")
    path = token_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(f".{uuid.uuid4().hex}")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump({**stored_tokens(), site.address: site.token}, file)
    os.replace(new, path)
    return {"site": site.address, "file": str(path)}, [f"Token saved in {path}."]


def token_file() -> Path:
    home = os.environ.get("APPDATA") if os.name == "nt" else os.environ.get("XDG_CONFIG_HOME")
    return Path(home or Path.home() / ".config") / "leaderboard" / "tokens.json"


def stored_tokens() -> dict[str, str]:
    try:
        return dict(json.loads(token_file().read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def list_(site: SiteClient, _: Any) -> Result:
    """List your competitions."""
    answer = site.get_pages("competitions")
    return answer, table_lines(answer["items"], "slug", "title", "state", "closes_at", "metric", "teams")


def files(site: SiteClient, arguments: Any) -> Result:
    """List the data files of a competition."""
    answer = site.get(f"competitions/{arguments.competition}/files")
    return answer, table_lines(answer["items"], "name", "size", "rows", "description")


def download(site: SiteClient, arguments: Any) -> Result:
    """Download one data file or all; existing files are kept."""
    path, folder = f"competitions/{arguments.competition}/files", Path(arguments.path)
    chosen = [file for file in site.get(path)["items"] if arguments.file in (None, file["name"])]
    if arguments.file and not chosen:
        raise CommandFailed(f"This competition has no file “{arguments.file}”.", REFUSED)
    folder.mkdir(parents=True, exist_ok=True)
    return {"items": chosen}, [download_file(site, path, file, folder) for file in chosen]


def download_file(site: SiteClient, path: str, file: dict[str, Any], folder: Path) -> str:
    name, digest = file["name"], file["sha256"]
    if name in ("", ".", "..") or any(c in name for c in '/\\:*?"<>|'):
        raise CommandFailed(f"“{plain_text(name)}” can't be a file name here. Download it in the browser.", REFUSED)
    target = folder / name
    if target.exists():  # it may hold the user's predictions
        if sha256_of(target.read_bytes()) == digest:
            return f"{target} is here already."
        return f"{target} exists and was kept. To download the site's file, move yours first."
    content = site.read(f"{path}/{quote(name)}")
    save_file(target, content, is_whole=digest in (None, sha256_of(content)))
    return str(target)


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def save_file(target: Path, content: bytes, *, is_whole: bool) -> None:
    """Write a downloaded file, whole or not at all."""
    if not is_whole:
        raise CommandFailed(f"{target.name} is incomplete. Try again.", NO_ANSWER)
    part = target.with_name(f"{target.name}.part")
    part.write_bytes(content)
    os.replace(part, target)


def submit(site: SiteClient, arguments: Any) -> Result:
    """Submit a file; with --watch wait for its score."""
    path, file = f"competitions/{arguments.competition}", read_file(arguments.file)
    size, max_size = len(file[1]), site.get(path)["max_bytes"]
    if size > max_size:  # the site closes the connection on such a file, and its reason is lost
        words = f"{file[0]} has {cell_text('size', size)}; the limit is {cell_text('size', max_size)}."
        raise CommandFailed(f"{words} It may fit as .gz or .zip.", REFUSED)
    form = {"note": arguments.message, "may_repeat": "true" if arguments.again else "false"}
    submission = site.post(f"{path}/submissions", key=uuid.uuid4().hex, file=file, **form)
    if arguments.watch:
        submission = wait_for_score(site, submission, arguments.timeout)
    return submission_outcome(site, submission)


def wait_for_score(site: SiteClient, submission: dict[str, Any], timeout: float) -> dict[str, Any]:
    """The submission, once it is no longer pending."""
    print_note(
        f"{submission['file_name']} is uploaded. Waiting for its score …\n"
        "Ctrl-C stops waiting, not scoring. `submissions` shows the score later."
    )
    end, wait = time.monotonic() + timeout, 0.5
    while submission["status"] == "pending":
        if time.monotonic() > end:
            raise CommandFailed(f"Not scored within {timeout:.0f} s.", NO_ANSWER, submission)
        time.sleep(wait)
        wait = min(5, wait * 1.3)
        submission = site.get(f"submissions/{submission['id']}")
    return submission


def submission_outcome(site: SiteClient, submission: dict[str, Any]) -> Result:
    """The submission's status and score; raises `CommandFailed` with the problems of a file without a score."""
    name, status, score = submission["file_name"], submission["status"], submission["public_score"]
    if status in ("invalid", "failed"):
        lines = [f"{name} is {status}; no attempt is used.", *problem_lines(submission["errors"])]
        raise CommandFailed("\n  ".join(lines), INVALID if status == "invalid" else REFUSED, submission)
    if status == "pending":
        words = "received; `submissions` tells its score, and --watch waits for it"
    elif score is not None:
        words = f"scored, public score {cell_text('score', score)}"
    elif submission.get("is_late"):
        words = "scored, late, so never ranked; its score is shown once the final ranking is open"
    elif site.get(f"competitions/{submission['competition']}").get("hides_scores"):
        words = "scored, valid; this board shows no scores until the final ranking opens"
    else:
        words = "scored"
    return submission, [f"{name}: {words} ({submission['id']})", *problem_lines(submission.get("warnings", []))]


def submissions(site: SiteClient, arguments: Any) -> Result:
    """List your team's submissions, newest first; a host sees all teams'."""
    answer = site.get_pages(f"competitions/{arguments.competition}/submissions")
    names = ["received_at", "file_name", "status", "public_score", "private_score", "is_selected", "note", "id"]
    if len({submission["team"] for submission in answer["items"]}) > 1:
        names.insert(1, "team")
    return answer, table_lines(answer["items"], *names)


def leaderboard(site: SiteClient, arguments: Any) -> Result:
    """Show the leaderboard."""
    answer = site.get_pages(f"competitions/{arguments.competition}/leaderboard?board={arguments.board}")
    return answer, table_lines(answer["items"], "rank", "team", "score", "submissions", "received_at")


# --- commands for teachers --------------------------------------------------------------------------------------


def create(site: SiteClient, arguments: Any) -> Result:
    """Create a draft from a folder or an export."""
    folder = Path(arguments.folder)
    is_packed = folder.suffix == ".zip" and folder.is_file()
    content = folder.read_bytes() if is_packed else zipped_folder(folder)
    draft = site.post("competitions", file=("competition.zip", content))
    page, title = f"{site.address}/host/{draft['slug']}/", plain_text(draft["title"])
    line = f"“{title}” is a draft: {page}, join code {draft['join_code']}."
    return draft, [line, *(f"truth.csv: {plain_text(finding['message'])}" for finding in draft["findings"])]


def zipped_folder(folder: Path) -> bytes:
    """The folder as a zip file, without hidden files."""
    if not (folder / "competition.toml").is_file():
        raise CommandFailed(f"{folder} has no competition.toml.", REFUSED)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
                archive.write(path, path.relative_to(folder).as_posix())
    return content.getvalue()


def data(site: SiteClient, arguments: Any) -> Result:
    """Upload a data file; the same name replaces it."""
    path = f"competitions/{arguments.competition}/files"
    sent = [site.post(path, file=read_file(name), description=arguments.description) for name in arguments.file]
    return {"items": sent}, [f"{plain_text(file['name'])}: students can download it." for file in sent]


def truth(site: SiteClient, arguments: Any) -> Result:
    """Check an answer file; with --publish use it, unless it has errors."""
    path, params = f"competitions/{arguments.competition}/truth", [pair.partition("=") for pair in arguments.param]
    form = {"metric": arguments.metric, "id_column": arguments.id, "group_column": arguments.group}
    form.update(public_share=arguments.share, seed=arguments.seed, as_meant="true" if arguments.as_meant else None)
    form["params"] = json.dumps({name: value for name, _, value in params}) if params else None
    answer = site.post(path, file=read_file(arguments.file), **form)
    lines = [f"{'ERROR: ' if one['blocking'] else ''}{plain_text(one['message'])}" for one in answer["findings"]]
    if not answer["is_good"]:
        changes = [f"- {plain_text(change)}" for change in answer["as_meant"]]
        lines += ["--as-meant would convert it:", *changes] if changes else []
        raise CommandFailed("\n  ".join([f"{arguments.file} can't be used:", *lines]), BAD_TRUTH, answer)
    rows = f"{answer['public_rows']} public, {answer['private_rows']} private rows"
    lines.append(f"{arguments.file} is good for {answer['metric']}: {rows}.")
    if arguments.publish:
        is_confirmed = "true" if arguments.confirm else None
        answer = site.post(f"{path}/publish", note=arguments.message, is_confirmed=is_confirmed)
        then = "see `rescore`" if answer["becomes"] == "candidate" else "the leaderboard uses them"
        lines.append(f"Published as answers no. {answer['number']}; {then}.")
    return answer, lines


def launch(site: SiteClient, arguments: Any) -> Result:
    """Launch a competition."""
    answer = site.post(f"competitions/{arguments.competition}/launch")
    return answer, [f"“{plain_text(answer['title'])}” is {answer['state']}: {site.address}/c/{answer['slug']}/"]


def rescore(site: SiteClient, arguments: Any) -> Result:
    """Preview the pending correction; --apply uses it, --discard drops it."""
    path, end = f"competitions/{arguments.competition}/rescoring", time.monotonic() + arguments.timeout
    if arguments.discard:
        answer = site.post(f"{path}/discard")
        return answer, [f"Discarded. Answers no. {answer['number']} still count."]
    answer = site.get(path)
    while arguments.watch and answer["waiting"] and time.monotonic() < end:
        time.sleep(1)
        answer = site.get(path)
    lines = [f"Answers no. {answer['ground_truth']}: {answer['done']} of {answer['total']} submissions scored."]
    if answer["moves"]:
        lines += table_lines(answer["moves"], "team", "rank_now", "rank_then", "score_now", "score_then")
    if arguments.apply:
        answer = site.post(f"{path}/apply", message=arguments.message, notifies="true" if arguments.tell else None)
        lines.append(f"Now using answers no. {answer['number']}. People notified: {answer['notified']}.")
    return answer, lines


def again(site: SiteClient, arguments: Any) -> Result:
    """Rescore failed or invalid submissions, by id or by status."""
    form = {"submissions": arguments.submission, "status": arguments.status}
    answer = site.post(f"competitions/{arguments.competition}/submissions/again", **form)
    total = f" of {len(arguments.submission)}" if arguments.submission else ""
    return answer, [f"Submissions to rescore: {answer['number']}{total}."]


def export(site: SiteClient, arguments: Any) -> Result:
    """Export a competition with its answers as a ZIP; `create` imports it."""
    target = Path(arguments.output or f"{arguments.competition}.zip")
    content = site.read(f"competitions/{arguments.competition}/export")
    save_file(target, content, is_whole=zipfile.is_zipfile(io.BytesIO(content)))
    return {"file": str(target), "bytes": len(content)}, [
        f"{target} contains the answers. Don't share it with students."
    ]


def grades(site: SiteClient, arguments: Any) -> Result:
    """Download the grades of a competition, or of a course, as CSV."""
    graded = f"{'courses' if arguments.of_course else 'competitions'}/{arguments.graded}"
    target = Path(arguments.output or f"{arguments.graded}-grades-{arguments.kind}.csv")
    size = target.write_bytes(codecs.BOM_UTF8 + site.read(f"{graded}/grades?kind={arguments.kind}"))
    return {"file": str(target), "bytes": size}, [str(target)]


def courses(site: SiteClient, _: Any) -> Result:
    """List the courses in which you host a competition."""
    answer = site.get("courses")
    return answer, table_lines(answer["items"], "slug", "title")


def hosts(site: SiteClient, arguments: Any) -> Result:
    """List the competitions of a course with their hosts and assistants."""
    answer = site.get(f"courses/{arguments.course}")
    rows = [
        {**one, "hosts": ", ".join(one["hosts"]), "assistants": ", ".join(one["assistants"])}
        for one in answer["competitions"]
    ]
    return answer, table_lines(rows, "slug", "state", "hosts", "assistants")


def people(site: SiteClient, arguments: Any) -> Result:
    """List the people on the class list of a course."""
    answer = site.get(f"courses/{arguments.course}/people")
    return answer, table_lines(answer["items"], "name", "email", "student_id", "section", "state", "username")


# --- files and words --------------------------------------------------------------------------------------------


def read_file(path: str) -> tuple[str, bytes]:
    try:
        return Path(path).name, Path(path).read_bytes()
    except OSError as error:
        raise CommandFailed(f"Can't read {path}: {error.strerror}.", USAGE) from None


def print_note(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def problem_lines(problems: Iterable[dict[str, Any]]) -> list[str]:
    """A sentence for each problem, with its line unless the sentence names it."""
    lines = []
    for problem in problems:
        line, message = problem.get("line"), str(problem["message"])
        is_named = not line or re.search(rf"(?i)\bline {line}\b", message)
        lines.append(message if is_named else f"line {line}: {message}")
    return lines


def plain_text(value: Any) -> str:
    """A value as text, without characters that could move the cursor or colour the terminal."""
    words = "" if value is None or value is False else "yes" if value is True else str(value)
    return "".join(c for c in words if unicodedata.category(c)[0] != "C")


def local_time(moment: datetime) -> str:
    """A time on this computer's clock, with its offset from UTC."""
    return moment.astimezone().isoformat(sep=" ", timespec="minutes")


def cell_text(name: str, value: Any) -> str:
    """A value of the column `name` in readable form: a score with all digits and no exponent, a size with its unit."""
    if name.endswith("_at") and isinstance(value, str):
        try:
            return local_time(datetime.fromisoformat(value.replace("Z", "+00:00")))
        except ValueError:
            return plain_text(value)
    if isinstance(value, float):
        return f"{Decimal(repr(value)):f}"
    if name == "size" and isinstance(value, int):
        unit, letters = (1 << 20, "MB") if value >= 1 << 20 else (1 << 10, "KB")
        return f"{value / unit:.1f} {letters}" if value >= 1 << 10 else f"{value} bytes"
    return plain_text(value)


def table_lines(rows: Iterable[dict[str, Any]], *names: str) -> list[str]:
    cells = [
        [name.replace("_", " ") for name in names],
        *([cell_text(name, row[name]) for name in names] for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]


# --- the program ------------------------------------------------------------------------------------------------

FLAG = {"action": "store_true"}
ARGUMENTS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "again": (["--again"], {**FLAG, "help": "submit even if your team submitted the same file before"}),
    "apply": (["--apply"], FLAG),
    "as-meant": (["--as-meant"], {**FLAG, "help": "convert a file that a spreadsheet saved"}),
    "board": (["--board"], {"choices": ("public", "private"), "default": "public"}),
    "competition": (["competition"], {}),
    "course": (["course"], {}),
    "confirm": (["--confirm"], {**FLAG, "help": "answer yes to the metric's question"}),
    "description": (["-d", "--description"], {"default": ""}),
    "discard": (["--discard"], FLAG),
    "file": (["-f", "--file"], {"required": True}),
    "files": (["-f", "--file"], {"required": True, "action": "append"}),
    "folder": (["folder"], {}),
    "graded": (["graded"], {"metavar": "COMPETITION", "help": "or with --course a course, as `courses` lists them"}),
    "group": (["--group"], {}),
    "id": (["--id"], {}),
    "ids": (["submission"], {"nargs": "*", "help": "ids as listed by `submissions`"}),
    "kind": (["--kind"], {"choices": ("plain", "moodle", "brightspace"), "default": "plain"}),
    "message": (["-m", "--message"], {"default": "", "help": "a note; with --tell, the message to students"}),
    "metric": (["--metric"], {}),
    "of-course": (["--course"], {**FLAG, "dest": "of_course", "help": "the grades of a whole course"}),
    "only-file": (["-f", "--file"], {"help": "only this file"}),
    "output": (["-o", "--output"], {"help": "file to write"}),
    "param": (["-p", "--param"], {"action": "append", "default": [], "metavar": "NAME=VALUE"}),
    "path": (["-p", "--path"], {"default": ".", "help": "folder to write to"}),
    "publish": (["--publish"], FLAG),
    "seed": (["--seed"], {"type": int}),
    "share": (["--share"], {"type": float}),
    "status": (["--status"], {"choices": ("failed", "invalid"), "help": "all with this status"}),
    "tell": (["--tell"], {**FLAG, "help": "notify students whose scores or ranks change"}),
    "timeout": (["--timeout"], {"type": float, "default": 600, "help": "maximum seconds to wait"}),
    "watch": (["--watch"], {**FLAG, "help": "wait for the score"}),
}
COMMANDS = {
    login: "",
    list_: "",
    files: "competition",
    download: "competition only-file path",
    submit: "competition file message again watch timeout",
    submissions: "competition",
    leaderboard: "competition board",
    create: "folder",
    data: "competition files description",
    truth: "competition file metric id share seed group param as-meant publish confirm message",
    launch: "competition",
    rescore: "competition apply discard tell message watch timeout",
    again: "competition ids status",
    export: "competition output",
    grades: "graded of-course output kind",
    courses: "",
    hosts: "course",
    people: "course",
}


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{message}\n")


def build_parser() -> argparse.ArgumentParser:
    """All commands, each also after the word `competitions`, as students know them from elsewhere."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", default=os.environ.get("LEADERBOARD_URL") or SITE, help="address of the site")
    parser.add_argument("--json", action="store_true", help="print the site's JSON")
    top = parser.add_subparsers(required=True, metavar="COMMAND")
    competitions = top.add_parser("competitions", help="the same commands").add_subparsers(required=True)
    for place in (top, competitions):
        for run, names in COMMANDS.items():
            command = place.add_parser(run.__name__.rstrip("_"), help=run.__doc__, description=run.__doc__)
            command.set_defaults(run=run)
            for flags, settings in (ARGUMENTS[name] for name in names.split()):
                command.add_argument(*flags, **settings)
    return parser


def run_command(arguments: argparse.Namespace) -> Result:
    address = arguments.site.rstrip("/")
    if urlsplit(address).scheme not in ("http", "https"):
        raise CommandFailed("Which site? Give --site https://… or set LEADERBOARD_URL.", USAGE)
    token = os.environ.get("LEADERBOARD_TOKEN") or stored_tokens().get(address, "")
    result: Result = arguments.run(SiteClient(address, token), arguments)
    return result


def main() -> int:
    """Run the command, print its result or its error, and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    arguments = build_parser().parse_args()
    try:
        answer, lines = run_command(arguments)
    except CommandFailed as failure:
        if arguments.json and failure.answer is not None:
            print(json.dumps(failure.answer))
        print_note(str(failure))
        return failure.code
    except ValueError:
        print_note(f"{arguments.site} doesn't answer like a Leaderboard site. Check the address.")
        return NO_ANSWER
    except OSError as error:
        print_note(f"Can't use {error.filename or 'a file'}: {error.strerror or error}.")
        return REFUSED
    except KeyboardInterrupt:
        return 130
    print(json.dumps(answer) if arguments.json else "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
