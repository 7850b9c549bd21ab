"""Grades: students, rules, sheets with everybody's reasons, releases, files for learning platforms."""

from __future__ import annotations

from .files import Filling, choose_column, filling_of, forget_gradebook, grade_file, graded_people, keep_gradebook
from .moves import GradeMove, TouchedGrades, touched_grades
from .releases import obstacles_to_release, release_grades, withdraw_grades
from .rules import grade_rules, set_grade_rules
from .sheets import GradeRow, GradeSheet, grade_sheet
from .students import Student

__all__ = [
    "Filling",
    "GradeMove",
    "GradeRow",
    "GradeSheet",
    "Student",
    "TouchedGrades",
    "choose_column",
    "filling_of",
    "forget_gradebook",
    "grade_file",
    "grade_rules",
    "grade_sheet",
    "graded_people",
    "keep_gradebook",
    "obstacles_to_release",
    "release_grades",
    "set_grade_rules",
    "touched_grades",
    "withdraw_grades",
]
