"""Schemas of API responses. They are allow-lists: a new model field is not exposed until it is added here."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict, Field

State = Literal["draft", "upcoming", "live", "closed", "revealed"]
GradeKind = Literal["plain", "moodle", "brightspace"]
Params = dict[str, bool | int | float | str | None]


class ProblemOut(Schema):
    """One problem of a request or of a file."""

    code: str
    message: str
    column: str | None = None
    line: int | None = None
    id: str | None = None
    count: int | None = None


class ErrorsOut(Schema):
    """The response to every request that fails."""

    detail: str
    errors: list[ProblemOut]


class TaskOut(Schema):
    """A request that takes longer: poll the URL `task` until its status is not 202; that response is the answer."""

    status: str
    task: str


class AnswerOut(Schema):
    """The answer to the request behind a task, as declared by that request's operation."""

    model_config = ConfigDict(extra="allow")


class MetricOut(Schema):
    key: str
    title: str
    direction: Literal["maximize", "minimize"]
    params: Params


class SecondaryOut(Schema):
    """The value of a secondary metric for a submission."""

    metric: str
    params: Params
    public_score: Annotated[float | None, Field(description="Null wherever the submission's own score is.")]
    private_score: Annotated[float | None, Field(description="Null until the private board is open to you.")]
    problem: Annotated[str, Field(description="Why this metric cannot score the file, or “”.")]


class CompetitionSummaryOut(Schema):
    slug: str
    title: str
    subtitle: str
    course: str
    state: State
    opens_at: datetime
    closes_at: datetime
    metric: str | None
    teams: int
    is_member: bool
    is_host: bool


class CompetitionOut(CompetitionSummaryOut):
    overview: str
    rules: str
    contact: str
    zone: str
    revealed_at: datetime | None
    scored_by: MetricOut | None
    secondary: Annotated[list[MetricOut], Field(description="Metrics shown beside the score and never ranked.")]
    submission_columns: list[str]
    public_share: Annotated[float | None, Field(description="Share of the ranked rows on the public board, 0–1.")]
    hides_scores: Annotated[
        bool, Field(description="Whether the public board shows no scores and ranks until the private one opens.")
    ]
    daily_attempts: int
    attempts_left: Annotated[
        int | None, Field(description="Of your team today, in the time zone of the competition; null without a team.")
    ]
    team_closes_at: Annotated[
        datetime | None, Field(description="Your team's deadline, extensions included; null for who has no team.")
    ]
    paused_at: Annotated[datetime | None, Field(description="Since then no files are taken, until the host resumes.")]
    pause_reason: Annotated[str, Field(description="The host's words while paused, or “”.")]
    final_count: int
    team_size: int
    max_bytes: int
    allows_late: bool


class ConversionOut(Schema):
    """The conversion of a file that a spreadsheet saved in another format."""

    changes: list[str]
    before: Annotated[list[str], Field(description="The first lines of the file.")]
    after: Annotated[list[str], Field(description="The same lines once converted.")]


class SubmissionOut(Schema):
    id: UUID
    competition: str
    team: str | None
    baseline: str | None
    uploaded_by: str | None
    file_name: str
    size: int
    sha256: str
    note: str
    status: Literal["pending", "scored", "invalid", "failed"]
    received_at: datetime
    finished_at: datetime | None
    is_late: bool
    is_selected: bool
    hidden_reason: Annotated[str, Field(description="Why the host took the file from the boards, or “”.")]
    ground_truth: Annotated[int | None, Field(description="Number of the ground truth behind the scores.")]
    public_score: Annotated[float | None, Field(description="Null on a hidden board.")]
    private_score: Annotated[float | None, Field(description="Null until the private board is open to you.")]
    secondary: Annotated[
        list[SecondaryOut],
        Field(description="In the order of the competition's; empty where no score of the submission is shown."),
    ]
    errors: Annotated[list[ProblemOut], Field(description="Why the file was not scored.")]
    conversion: Annotated[
        ConversionOut | None,
        Field(description="What “convert” would change in a file that was not scored; null where nothing helps."),
    ] = None
    warnings: Annotated[list[ProblemOut], Field(description="What looks wrong in a file that was scored.")]


class BoardRowOut(Schema):
    rank: Annotated[int | None, Field(description="Null for a baseline, which is never ranked, and on a hidden board.")]
    team: str
    is_baseline: bool
    score: Annotated[float | None, Field(description="Null on a hidden board.")]
    secondary: Annotated[
        list[float | None],
        Field(description="Of the same file, not ranked, in the order of the competition's; empty on a hidden board."),
    ]
    movement: Annotated[int | None, Field(description="Ranks gained, negative when lost.")]
    submissions: int
    received_at: Annotated[
        datetime,
        Field(description="To the minute where teams have pseudonyms; of the team's last file on a hidden board."),
    ]


class PageOut(Schema):
    page: int
    pages: int
    total: int


class CompetitionPage(PageOut):
    items: list[CompetitionSummaryOut]


class CourseSummaryOut(Schema):
    slug: str
    title: Annotated[str, Field(description="What the host has called the class, or “”.")]


class CourseListOut(Schema):
    items: list[CourseSummaryOut]


class CourseCompetitionOut(Schema):
    slug: str
    title: str
    state: State
    hosts: Annotated[list[str], Field(description="Usernames.")]
    assistants: Annotated[list[str], Field(description="Usernames.")]


class CourseOut(CourseSummaryOut):
    competitions: list[CourseCompetitionOut]


class PersonOut(Schema):
    """A line of the class list."""

    name: str
    email: str
    student_id: str
    sis_user_id: str
    login: str
    section: str
    state: Literal["new", "sending", "failed", "invited", "joined", "left"]
    username: Annotated[str | None, Field(description="The account of the person, or null before they have joined.")]


class PersonListOut(Schema):
    items: list[PersonOut]


class SubmissionPage(PageOut):
    items: list[SubmissionOut]


class BoardPage(PageOut):
    """`total` counts the ranked teams of all pages; baselines come on top of it."""

    competition: str
    board: Literal["public", "private"]
    ground_truth: int
    items: list[BoardRowOut]


class FileOut(Schema):
    name: str
    description: str
    size: Annotated[int | None, Field(description="In bytes; null for what is made when it is asked for.")]
    sha256: str | None
    rows: Annotated[int | None, Field(description="Data rows of a CSV, or null.")]


class FileListOut(Schema):
    items: list[FileOut]


class FindingOut(Schema):
    """A finding of the check of a ground truth."""

    code: str
    message: str
    blocking: Annotated[bool, Field(description="Whether it forbids publishing.")]
    why: str | None = None


class CreatedCompetitionOut(Schema):
    """A draft made from a folder."""

    slug: str
    title: str
    join_code: str
    findings: Annotated[list[FindingOut], Field(description="About its ground truth.")]


class TruthOut(Schema):
    """A draft of a ground truth."""

    is_good: Annotated[bool, Field(description="Whether it may be published.")]
    metric: str
    params: Params
    id_column: str | None
    rows: int
    public_rows: int
    private_rows: int
    ignored_rows: int
    findings: list[FindingOut]
    as_meant: Annotated[
        list[str], Field(description="Where the file blocks: what reading it with `as_meant` would change.")
    ]


class GroundTruthOut(Schema):
    """A published ground truth."""

    number: int
    becomes: Annotated[
        Literal["current", "candidate"], Field(description="A candidate counts once its rescoring is applied.")
    ]
    metric: str
    params: Params
    rows: int
    public_rows: int
    private_rows: int
    ignored_rows: int
    note: str
    notified: Annotated[int, Field(description="How many people were told that it counts now.")]


class MoveOut(Schema):
    team: str
    rank_now: int | None
    rank_then: int | None
    score_now: float | None
    score_then: float | None


class RescoringOut(Schema):
    """The changes if the waiting ground truth counted."""

    ground_truth: int
    total: int
    done: int
    waiting: Annotated[int, Field(description="Files still to be scored; `moves` is empty until there are none.")]
    refused: Annotated[int, Field(description="Files that it cannot read.")]
    affected: int
    moves: list[MoveOut]


class ScoredAgainOut(Schema):
    """Files that are queued for scoring again."""

    number: Annotated[int, Field(description="Of those that were asked for; what has a score is left alone.")]
