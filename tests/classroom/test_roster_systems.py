"""Ada's class list is read as she means it, whatever system, language and encoding it comes from."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.classroom import roster_files
from leaderboard.classroom.roster_columns import number_of_known_titles
from leaderboard.classroom.roster_files import RosterReading

IDA, BO = ("Ida Berg", "ida@uni.example.org", "00123"), ("Bo Lind", "bo@uni.example.org", "00456")

NUMBERED_IDA, NUMBERED_BO = ("Ida Berg", "", "00123"), ("Bo Lind", "", "00456")

# Each list has Ida and Bo with what the system exports of them, and Eva, who teaches.
LISTS = {
    "canvas gradebook": """Student,ID,SIS User ID,SIS Login ID,Section,Notes,Groups (77),HW (12),Final Score
,,,,,,,Manual Posting,
    Points Possible,,,,,,5,10,(read only)
"Berg, Ida",11,00123,ida@uni.example.org,S1,talk,1,9,90
"Lind, Bo",12,00456,bo@uni.example.org,S1,,1,8,80
"Student, Test",99,,4f0c2a,S1,,,,
""",
    "canvas gradebook, names in two columns": """LastName,FirstName,ID,SIS User ID,SIS Login ID,Section,HW (12)
    Points Possible,,,,,,10
Berg,Ida,11,00123,ida@uni.example.org,S1,9
Lind,Bo,12,00456,bo@uni.example.org,S1,8
Student,Test,99,,4f0c2a,S1,
""",
    "canvas people": """Name,Login ID,SIS ID,Section,Role,Last Activity,Total Activity
Ida Berg,ida@uni.example.org,00123,S1,Student,Oct 1,01:00
Bo Lind,bo@uni.example.org,00456,S1,StudentEnrollment,Oct 1,01:00
Eva Lang,eva@uni.example.org,00009,S1,TaEnrollment,Oct 1,01:00
Eva Lang,eva@uni.example.org,00009,S1,Observer,Oct 1,01:00
Test Student,,,S1,StudentViewEnrollment,,
""",
    "moodle": """First name,Last name,ID number,Email address,Roles,Groups
Ida,Berg,00123,ida@uni.example.org,Student,G1
Bo,Lind,00456,bo@uni.example.org,Student,G1
Eva,Lang,00009,eva@uni.example.org,Non-editing teacher,G1
""",
    "moodle grades": """"First name","Last name","ID number",Institution,"Email address","Quiz (Real)","Last downloaded"
Ida,Berg,00123,,ida@uni.example.org,7.00,1700000000
Bo,Lind,00456,,bo@uni.example.org,-,1700000000
""",
    "moodle, german": """Vorname;Nachname;ID-Nummer;E-Mail-Adresse;Rollen;Gruppen
Ida;Berg;00123;ida@uni.example.org;Teilnehmer/in;G1
Bo;Lind;00456;bo@uni.example.org;Teilnehmer/in;G1
Eva;Lang;00009;eva@uni.example.org;Trainer/in;G1
""",
    "moodle, french": """Prénom,Nom de famille,Numéro d’identification,Adresse de courriel,Rôles,Groupes
Ida,Berg,00123,ida@uni.example.org,Étudiant,G1
Bo,Lind,00456,bo@uni.example.org,Étudiant,G1
Eva,Lang,00009,eva@uni.example.org,Enseignant non éditeur,G1
""",
    "moodle, italian": """Nome,Cognome,Codice identificativo,Indirizzo email,Ruoli,Gruppi
Ida,Berg,00123,ida@uni.example.org,Studente,G1
Bo,Lind,00456,bo@uni.example.org,Studente,G1
Eva,Lang,00009,eva@uni.example.org,Docente non editor,G1
""",
    "moodle, spanish": """Nombre,Apellido(s),Número de ID,Dirección de correo,Roles,Grupos
Ida,Berg,00123,ida@uni.example.org,Estudiante,G1
Bo,Lind,00456,bo@uni.example.org,Estudiante,G1
Eva,Lang,00009,eva@uni.example.org,Profesor sin permiso de edición,G1
""",
    "moodle, portuguese": """Nome,Sobrenome,Número de identificação,Endereço de email,Papéis,Grupos
Ida,Berg,00123,ida@uni.example.org,Estudante,G1
Bo,Lind,00456,bo@uni.example.org,Estudante,G1
Eva,Lang,00009,eva@uni.example.org,Professor,G1
""",
    "moodle, dutch": """Voornaam,Achternaam,ID-nummer,E-mailadres,Rollen,Groepen
Ida,Berg,00123,ida@uni.example.org,Student,G1
Bo,Lind,00456,bo@uni.example.org,Leerling,G1
Eva,Lang,00009,eva@uni.example.org,Docent zonder bewerkingsrechten,G1
""",
    "moodle, swedish": """Förnamn,Efternamn,ID-nummer,E-postadress,Roller,Grupper
Ida,Berg,00123,ida@uni.example.org,Student,G1
Bo,Lind,00456,bo@uni.example.org,Student,G1
Eva,Lang,00009,eva@uni.example.org,Lärare,G1
""",
    "brightspace": """OrgDefinedId,Username,Last Name,First Name,Email,Role,End-of-Line Indicator
#00123,#ib,Berg,Ida,ida@uni.example.org,Student,#
#00456,#bl,Lind,Bo,bo@uni.example.org,Learner,#
#00009,#el,Lang,Eva,eva@uni.example.org,Instructor,#
#00000,#ds,Student,Demo,demo@uni.example.org,Student,#
""",
    "blackboard": """"Last Name"\t"First Name"\t"Username"\t"Student ID"\t"Last Access"\t"Availability"
"Berg"\t"Ida"\t"ida@uni.example.org"\t"00123"\t""\t"Yes"
"Lind"\t"Bo"\t"bo@uni.example.org"\t"00456"\t""\t"Yes"
"Lang_PreviewUser"\t"Eva"\t"el_previewuser"\t""\t""\t"Yes"
""",
    "gradescope": """First Name,Last Name,SID,Email,Role,Sections
Ida,Berg,00123,ida@uni.example.org,Student,L1
Bo,Lind,00456,bo@uni.example.org,Student,L1
Eva,Lang,00009,eva@uni.example.org,TA,
Eva,Lang,00009,eva@uni.example.org,Instructor,
Eva,Lang,00009,eva@uni.example.org,Reader,
""",
    "prairielearn": """UID,UIN,Name,Role,Enrollment
ida@uni.example.org,00123,Ida Berg,Student,joined
bo@uni.example.org,00456,Bo Lind,None,joined
eva@uni.example.org,00009,Eva Lang,Staff,joined
""",
    "google classroom": """Last Name,First Name,Email Address,Essay,Quiz
Date,,,2026-10-01,2026-10-02
Points,,,10,100
Class Average,,,9,80
Berg,Ida,ida@uni.example.org,9,80
Lind,Bo,bo@uni.example.org,9,80
""",
    "google classroom, labels elsewhere": """Last Name,First Name,Email Address,Essay
,,Date,2026-10-01
,,Points,10
Berg,Ida,ida@uni.example.org,9
Lind,Bo,bo@uni.example.org,9
Class average,,-,9
""",
    "footer": """Student;E-mail
Ida Berg;ida@uni.example.org
Bo Lind;bo@uni.example.org
Total: 2;
Printed on 2026-10-01;
""",
    "statistics below": """Name;Vorname;Matrikelnummer;Punkte
Berg;Ida;00123;9
Lind;Bo;00456;9
Mittelwert;;;8
Standardabweichung;;;1
Std. Dev.;;;1
Średnia;;;8
Desviación típica;;;1
Écart-type;;;1
Maximum;;;9
Итого;;;18
""",
    "canvas, points in other languages": """Student,ID,SIS User ID,SIS Login ID,Section,Lab (1)
    Mögliche Punkte,,,,,10
    Points possibles,,,,,10
    Puntos posibles,,,,,10
    Mogelijke punten,,,,,10
    Möjliga poäng,,,,,10
    满分,,,,,10
"Berg, Ida",11,00123,ib,S1,9
"Lind, Bo",12,00456,bl,S1,9
""",
    "sakai": """# Student ID,# Student Name,Quiz [10]
00123,"Berg, Ida",9
00456,"Lind, Bo",9
""",
    "peoplesoft, an empty column of numbers": """Notify,ID,Name,Units,Campus ID
,00123,"Berg,Ida",3.00,
,00456,"Lind,Bo",3.00,
""",
    "private addresses first": """Nachname;Vorname;Matrikelnummer;E-Mail privat;E-Mail Hochschule
Berg;Ida;00123;ib@home.example.com;ida@uni.example.org
Lind;Bo;00456;bl@home.example.com;bo@uni.example.org
""",
    "home addresses first": """Student,Student ID,Home Email,Campus Email
Ida Berg,00123,ib@home.example.com,ida@uni.example.org
Bo Lind,00456,bl@home.example.com,bo@uni.example.org
""",
    "moodle, japanese": """名,姓,IDナンバー,メールアドレス
Ida,Berg,00123,'ida@uni.example.org'
Bo,Lind,00456,'bo@uni.example.org'
""",
    "sigaa": """Matrícula,Discente,Curso,Email
00123,Ida Berg,INF,ida@uni.example.org
00456,Bo Lind,INF,bo@uni.example.org
""",
    "ilias roles": """Name;E-Mail;Rolle
Berg, Ida;ida@uni.example.org;il_crs_member_123
Lind, Bo;bo@uni.example.org;il_crs_member_123
Lang, Eva;eva@uni.example.org;il_crs_tutor_123
""",
    "ipeer": """Username,Password,Student#,Email,First Name,Last Name
ib,secret,00123,ida@uni.example.org,Ida,Berg
bl,secret,00456,bo@uni.example.org,Bo,Lind
""",
    "peoplesoft": """ID,Name,Grade Basis,Units,Program and Plan,Level,Email Address
00123,"Berg,Ida",GRD,3,Biology,Senior,ida@uni.example.org
00456,"Lind,Bo",GRD,3,Biology,Senior,bo@uni.example.org
""",
    "banner": """Summary Class List
Record Number,Student Name,Banner ID,Reg Status,Level,Credits,E-mail
1,"Berg, Ida",00123,Web Registered,UG,3.000,ida@uni.example.org
2,"Lind, Bo",00456,Web Registered,UG,3.000,bo@uni.example.org
""",
    "aeries": """Perm #,Student Name,Grade,Parent Email,Student Email
00123,"Berg, Ida",11,mum@home.example.org,ida@uni.example.org
00456,"Lind, Bo",11,dad@home.example.org,bo@uni.example.org
""",
    "hisinone": """Teilnehmerliste Statistik I
Nr.;Matrikelnummer;Nachname;Vorname;Studiengang;Fachsemester;E-Mail
1;00123;Berg;Ida;Biologie B.Sc.;3;ida@uni.example.org
2;00456;Lind;Bo;Biologie B.Sc.;3;bo@uni.example.org
""",
    "ilias": """Nachname;Vorname;Login;E-Mail;Matrikelnummer;Rolle;Status
Berg;Ida;ib;ida@uni.example.org;00123;Kursmitglied;bestanden
Lind;Bo;bl;bo@uni.example.org;00456;Kursmitglied;
Lang;Eva;el;eva@uni.example.org;;Kursadministrator;
Lang;Eva;el;eva@uni.example.org;;Kurstutor;
""",
    "stud.ip": """Anrede;Titel;Vorname;Nachname;Nutzername;E-Mail;Matrikelnr.;Status
Frau;;Ida;Berg;ib;ida@uni.example.org;00123;Autor/in
Herr;;Bo;Lind;bl;bo@uni.example.org;00456;Autor/in
Frau;Prof. Dr.;Eva;Lang;el;eva@uni.example.org;;Dozent/in
Frau;;Eva;Lang;el;eva@uni.example.org;;Tutor/in
""",
    "tumonline": """REGISTRATION_NUMBER,FAMILY_NAME_OF_STUDENT,FIRST_NAME_OF_STUDENT,STUDY_PROGRAM,E_MAIL
00123,Berg,Ida,Informatics,ida@uni.example.org
00456,Lind,Bo,Informatics,bo@uni.example.org
""",
    "plain german with roles": """Name;Vorname;Matr.-Nr.;Mailadresse;Funktion
Berg;Ida;00123;ida@uni.example.org;Studierende
Lind;Bo;00456;bo@uni.example.org;Studierende
Lang;Eva;;eva@uni.example.org;Lehrende
""",
    "addresses under an unknown title": """Contact,Who,Name
ida@uni.example.org,x,Ida Berg
bo@uni.example.org,y,Bo Lind
""",
    "no header": "Ida Berg,ida@uni.example.org,00123\nBo Lind,bo@uni.example.org,00456\n",
    "no header, no quotes": "Berg, Ida; ida@uni.example.org\nLind, Bo; bo@uni.example.org\n",
    "names": "Ida Berg\nBo Lind\n",
    "last names first": "Berg, Ida\nLind, Bo\n",
    "numbered names": "1. Ida Berg\n2. Bo Lind\n",
    "last names first, recipients": "Berg, Ida <ida@uni.example.org>; Lind, Bo <bo@uni.example.org>",
    "prairielearn, older": """uid,uin,user_name,role
ida@uni.example.org,00123,Ida Berg,Student
bo@uni.example.org,00456,Bo Lind,Student
eva@uni.example.org,00009,Eva Lang,Instructor
""",
    "github classroom": """identifier,github_username,name
ida@uni.example.org,idab,Ida Berg
bo@uni.example.org,bol,Bo Lind
""",
    "recipients": "Ida Berg <ida@uni.example.org>; Bo Lind <bo@uni.example.org>",
    "spreadsheet": '''sep=;
Name;Email;Student ID
"=""Ida Berg""";ida@uni.example.org ;"=""00123"""
Bo Lind;Bo@Uni.example.org;'00456
''',
}
# Titles of lists that teachers type, and what stands below them.
TYPED = {
    "Matrikelnr.;Name;Vorname;E-Mail": "number;family;given;email",
    "Name;Vorname;MatrNr;Mail": "family;given;number;email",
    "Vorname;Familienname;Matrikel-Nr.;Mailadresse": "given;family;number;email",
    "N° étudiant;Nom;Prénom;Courriel": "number;family;given;email",
    "Prénom;Nom;Adresse électronique": "given;family;email",
    "Nom et prénom;Numéro d'étudiant;Mél": "name;number;email",
    "Matricola;Cognome e nome;Posta elettronica": "number;name;email",
    "Nome;Cognome;Numero di matricola": "given;family;number",
    "Nº de alumno;Apellidos;Nombre;Correo electrónico": "number;family;given;email",
    "Nombre completo;Expediente;Correo": "name;number;email",
    "N.º de aluno;Nome;Apelido;E-mail institucional": "number;given;family;email",
    "Matrícula;Nome;Sobrenome": "number;given;family",
    "Studentnummer;Roepnaam;Achternaam;Mail": "number;given;family;email",
    "Naam;Voornaam;Studentnr.": "family;given;number",
    "Namn;E-post;Studentnr": "name;email;number",
    "Efternamn;Förnamn;Personnummer": "family;given;number",
    "Nr albumu;Nazwisko;Imię;Poczta": "number;family;given;email",
    "Osobní číslo;Příjmení;Jméno;E-mail": "number;family;given;email",
    "Фамилия;Имя;Электронная почта": "family;given;email",
    "学号;姓名;邮箱": "number;name;email",
    "学籍番号;氏名;メールアドレス": "number;name;email",
    "Student#;Last Name;First Name": "number;family;given",
    "Perm #;Full name": "number;name",
    "SID;Name;Preferred Email": "number;name;email",
    "UIN;Surname;Given name;UserPrincipalName": "number;family;given;email",
    "Student ID No.;Name": "number;name",
    "Name;First name;Student no.": "name;given;number",
    "Apellido y nombre;Legajo": "name;number",
    "Příjmení, jméno;UČO": "name;number",
    "Nom et prénom de l'étudiant;Matricule": "name;number",
    "Nome do discente;Matrícula": "name;number",
    "Student Last Name;Student First Name;Student Email": "family;given;email",
    "Vor- und Nachname;Matrikelnummer": "name;number",
    "Name;Surname;Student no.": "given;family;number",
    "First Name;Last Name;NSHE ID": "given;family;number",
    "Legal First Name;Legal Last Name;A-Number": "given;family;number",
    "Nombres;Apellido paterno;Carné": "given;family;number",
    "Krstné meno;Priezvisko;Číslo študenta": "given;family;number",
    "Voornaam;Naam;Rolnummer": "given;family;number",
    "Adı;Soyadı;ID numarası": "given;family;number",
    "姓;名;学籍番号": "family;given;number",
    "Student;First name;Last name": "number;given;family",
    "Family name;Given names;Unnamed address": "family;given;email",
    "MSSV;Họ và tên;Email": "number;name;email",
    "NIM;Nama Mahasiswa;Email": "number;name;email",
    "الرقم الجامعي;اسم الطالب;البريد": "number;name;email",
    "Opiskelijanumero;Sukunimi;Etunimet": "number;family;given",
    "姓氏;名字;电子邮件": "family;given;email",
    "ФИО студента;Эл. почта": "name;email",
    "שם הסטודנט;דואל;מספר סטודנט": "name;email;number",
}
for titles, fields in TYPED.items():
    LISTS[titles] = f"{titles}\n"
    for name, email, number in (IDA, BO):
        cells = {"name": name, "given": name.split()[0], "family": name.split()[1], "email": email, "number": number}
        LISTS[titles] += ";".join(cells[field] for field in fields.split(";")) + "\n"


def read(data: str | bytes) -> RosterReading:
    return roster_files.read_roster(roster_files.decode_roster(data.encode() if isinstance(data, str) else data))


def people(reading: RosterReading) -> list[tuple[str, str, str]]:
    """(name, address, number of the university) of each student."""
    return [
        (v.get("name", ""), v.get("email", ""), v.get("sis_user_id") or v.get("student_id", ""))
        for v in (line.values for line in reading.lines)
    ]


@pytest.mark.parametrize("system", LISTS)
def test_students_are_read_with_what_the_list_has_of_them_and_nobody_else(system: str) -> None:
    reading = read(LISTS[system])
    has_address, has_number = "ida@" in LISTS[system], "00123" in LISTS[system]
    expected = [(name, has_address * email, has_number * number) for name, email, number in (IDA, BO)]
    if system == "github classroom":
        expected = [(name, email, email) for name, email, _number in expected]
    assert people(reading) == expected
    assert not [line for line in reading.skipped if line.is_bad]


@pytest.mark.parametrize("system", LISTS)
def test_every_line_is_a_student_or_left_out_with_a_reason(system: str) -> None:
    reading = read(LISTS[system])
    lines = [place for place, text in enumerate(LISTS[system].splitlines(), 1) if text.strip(",; ")]
    told = {line.number for line in reading.lines} | {line.number for line in reading.skipped}
    untold = [number for number in lines if number not in told]
    assert len(untold) == (1 if reading.columns else 0) + LISTS[system].startswith("sep="), "the header alone"
    assert all(line.reason for line in reading.skipped)


@pytest.mark.parametrize("system", LISTS)
def test_every_column_is_named_as_used_or_left_out(system: str) -> None:
    reading = read(LISTS[system])
    used = [title for title, _field in reading.columns]
    if used:
        titles = next(row for row in _table(LISTS[system]) if used[0] in (title.strip() for title in row))
        assert sorted(used + reading.unused_columns) == sorted(title.strip() for title in titles)


def _table(text: str) -> list[list[str]]:
    text = text.removeprefix("sep=;\n")
    delimiter = max("\t;,", key=text.count)
    return list(csv.reader(io.StringIO(text), delimiter=delimiter))


WITH_HEADER = sorted(name for name in LISTS if read(LISTS[name]).columns)


@given(st.sampled_from(WITH_HEADER), st.randoms(use_true_random=False))
def test_the_order_of_columns_and_rows_changes_nobody(system: str, random: object) -> None:
    table = _table(LISTS[system])
    width = max(map(len, table))
    start = next(place for place, row in enumerate(table) if len(row) == width)
    header, *rows = [row + [""] * (width - len(row)) for row in table[start:]]
    places = list(range(width))
    random.shuffle(places)  # type: ignore[attr-defined]
    random.shuffle(rows)  # type: ignore[attr-defined]
    text = io.StringIO()
    csv.writer(text).writerows([row[place] for place in places] for row in (header, *rows))
    assert sorted(people(read(text.getvalue()))) == sorted(people(read(LISTS[system])))


ENCODERS: list[Callable[[str], bytes]] = [
    lambda text: text.encode("utf-8-sig"),
    lambda text: text.encode("utf-16"),
    lambda text: text.encode("utf-16-le"),
    lambda text: text.encode("utf-16-be"),
    lambda text: text.replace("\n", "\r\n").encode(),
    lambda text: text.replace("\n", "\r").encode(),
    lambda text: text.replace("\n", "\n\n").encode(),
]


@pytest.mark.parametrize("system", LISTS)
def test_unicode_and_line_ends_of_any_kind_give_the_same_people(system: str) -> None:
    for encoder in ENCODERS:
        reading = read(encoder(LISTS[system]))
        assert people(reading) == people(read(LISTS[system]))
        assert not [note for note in reading.notes if note.startswith("Read as")]


STAFF = """
    TA,ta,Teaching Assistant,Head TA,Instructor,Observer,Designer,Grader,Guest,Staff,Student TA,TeacherEnrollment,
    DesignerEnrollment,Tutor,Tutorin,Lehrende,Lehrkraft,Dozentin,Kursleiter,Hilfskraft,Studentische Hilfskraft,Gast,
    enseignante,Enseignant,Chargé de cours,tuteur,docente,Assistente,profesora,Profesor,Ayudante de cátedra,monitor,
    Prof.,Professora,Docent,Onderwijsassistent,Begeleider,Lärare,lärare,Handledare,Övningsassistent,professor,
    Student Data Viewer,Course creator,Section leader,Non-student,Chargée de TD,Hoogleraar,Kursansvarig,WiMi,
    助教,教員,조교,преподаватель,Host,Co-host,CA,Öğretim Üyesi,ティーチングアシスタント,Obserwator,Pozorovatel,Gözlemci,
    Наблюдатель,観察者,观察者,Megfigyelő,Tarkkailija,Doctorant,ATER,Dosen,Giảng viên,Hjelpelærer,Auxiliar
"""
STUDENTS = """
    Student,student,Students,Learner,Participant,Auditor,StudentEnrollment,Studierende,Lehramtsstudierende,Teilnehmerin,
    Autor,Gasthörer,étudiante,Etudiant,Studente,Estudiante,Alumna,Aluno,Deelnemer,Elev,学生,
"""
ROLES = [(role.strip(), kind is STUDENTS) for kind in (STAFF, STUDENTS) for role in kind.split(",")]


@pytest.mark.parametrize(("role", "is_student"), ROLES)
def test_staff_never_become_students_and_students_are_never_staff(role: str, is_student: bool) -> None:
    for title in ("Role", "Rolle", "Rôle", "Ruolo", "Rol", "Papel", "Roll", "Course Role"):
        reading = read(f"Name,{title}\nBo Lind,Student\nEva Lang,{role}\n")
        assert len(reading.lines) == 1 + is_student
        assert [line.is_bad for line in reading.skipped] == ([] if is_student else [False])


def test_a_role_that_is_not_known_is_a_students_and_said() -> None:
    assert read("Name,Role\nIda Berg,Auditor\n").notes == ["Read as students: Auditor."]


@pytest.mark.parametrize(
    ("titles", "cells", "name"),
    [
        ("Name,Preferred name", "Ida Berg,", "Ida Berg"),
        ("Student,Preferred name", "Ida Berg,Idi", "Ida Berg"),
        ("Full name,First name", '"Berg, Ida",Ida', "Ida Berg"),
        ("Name,First name,Last name", "Berg,Ida,Berg", "Ida Berg"),
        ("Voornaam,Tussenvoegsel,Achternaam", "Ida,van den,Berg", "Ida van den Berg"),
        ("Vorname,Namenszusatz,Nachname", "Ida,von,Berg", "Ida von Berg"),
        ("Nombre,Primer apellido,Segundo apellido", "Ida,Berg,Lind", "Ida Berg Lind"),
        ("Nombre,Apellidos", "Ida,Berg Lind", "Ida Berg Lind"),
        ("Nom,Prénom", "Du Berg,Ida", "Ida Du Berg"),
        ("Name", '"Berg, Mª Ida"', "Mª Ida Berg"),
        ("姓,名", "山田,太郎", "山田 太郎"),
    ],
)
def test_names_in_parts_become_one_name(titles: str, cells: str, name: str) -> None:
    assert [line.values["name"] for line in read(f"{titles}\n{cells}\n").lines] == [name]


@pytest.mark.parametrize("title", ["Phone number", "Telefonnummer", "Room no.", "Zip code", "Points"])
def test_other_numbers_are_no_student_numbers(title: str) -> None:
    reading = read(f"Name,{title}\nIda Berg,00123\nBo Lind,00456\n")
    assert reading.unused_columns == [title]


@pytest.mark.parametrize("title", ["Rola w kursie", "Kurs rolü", "Роль в курсе", "课程角色", "Vínculo", "x"])
def test_a_column_of_roles_is_found_by_its_cells(title: str) -> None:
    roles = [("A", "Student"), ("B", "Student"), ("C", "Gözlemci"), ("D", "Fan")]
    rows = "".join(f"Person {name},{role}\n" for name, role in roles)
    reading = read(f"Name,{title}\n{rows}")
    assert [line.values["name"][-1] for line in reading.lines] == ["A", "B", "D"]
    assert reading.notes == ["Read as students: Fan."]


@pytest.mark.parametrize("title", ["Leginr.", "SCIPER", "Vpisna št.", "رقم القيد", "Telefon", "PLZ", "x"])
def test_a_column_of_numbers_is_found_by_its_cells_and_told(title: str) -> None:
    reading = read(f"Name,{title},Room\nIda Berg,00123,1\nBo Lind,00456,2\n")
    is_other = title in ("Telefon", "PLZ")
    assert people(reading) == (
        [(name, "", "") for name in ("Ida Berg", "Bo Lind")] if is_other else [NUMBERED_IDA, NUMBERED_BO]
    )
    assert [title in note for note in reading.notes] == ([] if is_other else [True])


def test_half_a_name_is_told() -> None:
    assert read("Surname,Forms,Email\nBerg,Ida,ida@uni.example.org\n").notes == [
        "Only one part of each name was found."
    ]


AROUND = (
    "Name;Email;Matrikelnummer;HW\n{}\nIda Berg;ida@uni.example.org;00123;9\nBo Lind;bo@uni.example.org;00456;8\n{}\n"
)
NOBODY = """
    Datum;Fecha;Tarih;Дата;日付;Klassengemiddelde;Moyenne du cours;Media del corso;Průměr třídy;Średnia klasy;
    クラスの平均;班级平均分;النقاط الممكنة;Mahdolliset pisteet;Lehetséges pontok;Možne točke;Можливі бали;可能な得点;
    Erreichbare Punkte;Gesamt;Summe: zwei;Seite 1 von 1;End of list;*** Ende der Liste ***;Fin de la liste;Celkem;Razem;
    Всего;총계;Összesen;Total d'étudiants;Ø;Mean ± SD;Maximalpunktzahl;Note maximale;Puntuación máxima;
    Maksymalna liczba punktów;Barème;En yüksek puan;
    Prüfer: Prof. Lang;Unterschrift;Legende: E = entschuldigt;Dozent: Eva Lang;Effectif : 2;
    Instructors;Students;Gruppe A;Section 001;Σύνολο: 2;担当教員：鈴木
"""


@pytest.mark.parametrize("text", [word.strip() for word in NOBODY.split(";")])
@pytest.mark.parametrize("place", ["{};;;9", ";;{};", "{};;;"])
def test_a_text_alone_above_or_below_people_is_nobody(text: str, place: str) -> None:
    row = place.format(text)
    for above, below in ((row, ""), ("", row), (row, row)):
        reading = read(AROUND.format(above, below))
        assert people(reading) == [IDA, BO]
        assert len(reading.skipped) == bool(above) + bool(below)


@pytest.mark.parametrize("name", ["Ole Ost", "Anna von Berg", "Ost, Ole"])
def test_a_person_of_whom_only_the_name_is_known_is_told(name: str) -> None:
    reading = read(AROUND.format("", f"{name};;;"))
    assert len(reading.lines) == 3
    assert len(reading.notes) == 1
    assert "Row 5" in reading.notes[0]


def test_in_a_list_of_first_names_one_without_an_address_is_a_person_and_the_total_below_is_not() -> None:
    reading = read("Name,Email\nIda,ida@uni.example.org\nEve,\nBo,bo@uni.example.org\nTotal,\n")
    assert [person for person, *_ in people(reading)] == ["Ida", "Eve", "Bo"]


@pytest.mark.parametrize(
    "name",
    ["Eva Lang (TA)", "Eva Lang (Tutor:in)", "Dozentin: Eva Lang", "Eva Lang - Instructor", "Eva Lang [Tutorin]"],
)
def test_a_name_that_says_so_is_no_students(name: str) -> None:
    assert people(read(AROUND.format("", f"{name};eva@uni.example.org;;"))) == [IDA, BO]


@pytest.mark.parametrize(
    "name",
    ["Ida Berg (Teachman)", "Ida Berg - Assis", "Demo Studer", "Alun Testa", "Studler Prova", "Mark Total", "Gast"],
)
def test_a_name_that_sounds_like_a_role_or_a_test_is_a_students(name: str) -> None:
    reading = read(
        f"Name,Email,Program\n{name},ida@uni.example.org,Design\nBo Lind,bo@uni.example.org,Student Teaching\n"
    )
    assert [person for person, *_ in people(reading)] == [name, "Bo Lind"]


# Lists in which one column, line or mark is not as it should be, but it is clear what is meant.
ODD = {
    "private address in brackets": """Name;E-Mail (privat);E-Mail (Uni);Matrikelnummer
Ida Berg;ib@home.example.com;ida@uni.example.org;00123
Bo Lind;bl@home.example.com;bo@uni.example.org;00456
""",
    "parents": """Student,Email (parent),Email (student),Student ID
Ida Berg,mum@home.example.com,ida@uni.example.org,00123
Bo Lind,dad@home.example.com,bo@uni.example.org,00456
""",
    "a column of addresses that is nearly empty": """Name,Email,University address,Student ID
Ida Berg,,ida@uni.example.org,00123
Bo Lind,,bo@uni.example.org,00456
Eva Lang (TA),eva@home.example.com,eva@uni.example.org,00009
""",
    "header at each page": """Vorname;Nachname;E-Mail;Matrikelnummer
Ida;Berg;ida@uni.example.org;00123
Vorname;Nachname;E-Mail;Matrikelnummer
Bo;Lind;bo@uni.example.org;00456
""",
    "one title over two columns": """Name;;E-Mail;Matrikelnummer
Ida;Berg;ida@uni.example.org;00123
Bo;Lind;bo@uni.example.org;00456
""",
    "one title twice": """Name;Name;E-Mail;Matrikelnummer
Ida;Berg;ida@uni.example.org;00123
Bo;Lind;bo@uni.example.org;00456
""",
    "lines in quotes": '''"Name,Email,Student ID"
"Ida Berg,ida@uni.example.org,00123"
"""Bo Lind"",bo@uni.example.org,00456"
''',
    "links": """Name;Email;Student ID
Ida Berg;"=HYPERLINK(""mailto:ida@uni.example.org"";""ida@uni.example.org"")";00123
Bo Lind;"=HYPERLINK(""mailto:bo@uni.example.org"")";00456
""",
    "another separator than it says": """sep=;
Name,Email,Student ID
Ida Berg,ida@uni.example.org,00123
Bo Lind,bo@uni.example.org,00456
""",
    "separator filled up": """sep=;;;
Name;Email;Student ID
Ida Berg;ida@uni.example.org;00123
Bo Lind;bo@uni.example.org;00456
""",
    "many lines above": "Kurs;;\n" * 20
    + """Name;Email;Student ID
Ida Berg;ida@uni.example.org;00123
Bo Lind;bo@uni.example.org;00456
""",
    "canvas users": """canvas_user_id,user_id,login_id,full_name,sortable_name,email,status
11,00123,ib,Ida Berg,"Berg, Ida",ida@uni.example.org,active
12,00456,bl,Bo Lind,"Lind, Bo",bo@uni.example.org,active
""",
    "names with addresses": """Student;Nr
Ida Berg <ida@uni.example.org>;00123
"Lind, Bo <bo@uni.example.org>";00456
""",
    "entities of web pages": """Name,Email,Student ID
Ida&nbsp;Berg,ida@uni.example.org,00123
&#66;o Lind,bo@uni.example.org,00456
""",
    "groups between people": """Name;E-Mail;Matrikelnummer
Gruppe A;;
Ida Berg;ida@uni.example.org;00123
Gruppe B;;
Bo Lind;bo@uni.example.org;00456
""",
    "spelling of names first": """学籍番号,氏名（カナ）,氏名,メール
00123,イダ ベルグ,Ida Berg,ida@uni.example.org
00456,ボ リンド,Bo Lind,bo@uni.example.org
""",
}


@pytest.mark.parametrize("text", ODD.values(), ids=list(ODD))
def test_a_list_that_is_clear_enough_is_read_as_it_is_meant(text: str) -> None:
    reading = read(text)
    assert people(reading) == [IDA, BO]
    assert not [line for line in reading.skipped if line.is_bad]


CELLS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["", "Ida Berg", "ida@uni.example.org", "00123", "TA", "Student", "Points Possible", "Student, Test", "=1+1", "#7"]
)


@given(st.sampled_from(WITH_HEADER), st.lists(st.lists(CELLS, max_size=9), max_size=8))
def test_whatever_the_cells_are_no_row_is_lost_in_silence(system: str, rows: list[list[str]]) -> None:
    table = _table(LISTS[system])
    header = max(table, key=number_of_known_titles)
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    try:
        reading = read(text.getvalue().encode())
    except roster_files.UnreadableRoster:
        return
    numbers = sorted([line.number for line in reading.lines] + [line.number for line in reading.skipped])
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    assert len(numbers) == len(set(numbers)) == len(filled)
    assert all(line.reason for line in reading.skipped)


@pytest.mark.parametrize(
    "name",
    """Student, Test; Test Student; Demo Student; Teststudent; Étudiant Test; Berg_PreviewUser; Teststudierender;
    Étudiant de test; Estudiante de prueba; Studente di prova; Teste, Estudante; Test Öğrenci; Student testowy;
    Testovací student; Тестовый студент; 测试学生; テスト学生; Preview User; Student View; Proefstudent; Testopiskelija;
    Student1 Test; Vorschaunutzer""".replace("\n", "").split("; "),
)
def test_students_whom_platforms_make_for_teachers_are_left_out(name: str) -> None:
    reading = read(f'Name,Email\n"{name}",x@uni.example.org\nStu Dent,stu@uni.example.org\n')
    assert [line.values["name"] for line in reading.lines] == ["Stu Dent"]


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ('"=""00123"""', "00123"),
        ("'00123", "00123"),
        ("#00123", "00123"),
        ("1001.0", "1001"),
        ('"1,234,567"', "1234567"),
        ("1 234 567", "1234567"),
        ("1\u202f234\u202f567", "1234567"),
        ("12'345'678", "12345678"),
        ("12 34", "12 34"),
        ("‘00123", "00123"),
        ('"=T(""00123"")"', "00123"),
        ('"=TEXT(123,""00000"")"', None),
        ('"1001,00"', "1001"),
        ("2.02312345678E+11", "202312345678"),
        ("\u200b00123\ufeff", "00123"),
        ("\u00a000123\u00a0", "00123"),
        ("００１２３", "00123"),
        ("ab12E5", "ab12E5"),
        ("1.2.3", "1.2.3"),
        ("12.000", "12.000"),
        ('" ""00123"""', "00123"),
        ("n/a", ""),
        ("########", None),
        ("#N/A", None),
        ("#BEZUG!", None),
        ("2.02312E+11", None),
        ("1E+15", None),
        ("Jan-31", None),
        ("31. Jan", None),
        ("01. Mrz".replace("Mrz", "Mär"), None),
        ("2026-01-31 00:00:00", None),
        ("31/01/2026", None),
        ("MAR-1023", "MAR-1023"),
        ("12.34.567", "12.34.567"),
        ("mai23", "mai23"),
    ],
)
def test_numbers_that_a_spreadsheet_changed_are_cured_or_told(cell: str, number: str | None) -> None:
    reading = read(f"Name,Student ID\nIda Berg,{cell}\n")
    assert [line.values["student_id"] for line in reading.lines] == ([] if number is None else [number])
    assert [line.is_bad for line in reading.skipped] == ([True] if number is None else [])


@pytest.mark.parametrize(
    ("numbers", "row"),
    [
        ("00123 456 00789", 3),
        ("12345 1234 54321 66666", 3),
        ("00123 00456", None),
        ("1 2 10 300", None),
        ("a1 a12 b1", None),
        ("100 2000 30000", None),
    ],
)
def test_numbers_that_may_have_lost_their_zeros_are_told(numbers: str, row: int | None) -> None:
    rows = "".join(f"Person {place}x,{number}\n" for place, number in enumerate(numbers.split()))
    notes = read(f"Name,Student ID\n{rows}").notes
    assert [f"row {row}" in note for note in notes] == ([] if row is None else [True])


@pytest.mark.parametrize("sign", "\u200b\u200c\u200d\u2060\ufeff\u00ad\u202a\u200e\u00a0")
@pytest.mark.parametrize("place", [0, 3, -1])
def test_signs_that_nobody_sees_go(sign: str, place: int) -> None:
    def with_sign(text: str) -> str:
        return text[:place] + sign + text[place:] if sign != "\u00a0" else sign + text + sign

    titles = ",".join(map(with_sign, ("Name", "Email", "Student ID")))
    row = ",".join(map(with_sign, IDA))
    assert people(read(f"{titles}\n{row}\n")) == [IDA]


@pytest.mark.parametrize(
    "text", ['Ida Berg,ida@uni.example.org\n"Bo Lind,bo@uni.example.org\nCy Clay,cy@uni.example.org\n']
)
def test_a_quotation_mark_that_swallows_people_is_told(text: str) -> None:
    reading = read("Name,Email\n" + text)
    assert [line.number for line in reading.skipped if line.is_bad] == [3]


def test_a_title_above_the_header_is_left_out_with_its_row() -> None:
    reading = read("\nClass list of STAT 451,,\n\nName,Email,Group\nIda Berg,ida@uni.example.org,\n")
    assert people(reading) == [("Ida Berg", "ida@uni.example.org", "")]
    assert [(line.number, line.text) for line in reading.skipped] == [(2, "Class list of STAT 451")]


@pytest.mark.parametrize(
    "text",
    [
        "species\noak\nelm\n",
        "id,label\n1,cat dog\n",
        "Label,Guess\nCat,Dog\n",
        "id,x\n1,0.5\n",
        "A sentence that is longer than any name of a person\n",
    ],
)
def test_other_files_are_no_class_list(text: str) -> None:
    with pytest.raises(roster_files.UnreadableRoster):
        read(text)


@pytest.mark.parametrize("section", ["Jan-31", "31. Jan", "2026-01-31 00:00:00", "1-févr", "02.01.2026", "1/31/26"])
def test_a_section_that_a_spreadsheet_made_a_date_of_is_told(section: str) -> None:
    reading = read(f"Name,Section\nIda Berg,1A\nBo Lind,{section}\n")
    assert [line.values["section"] for line in reading.lines] == ["1A", section]
    (note,) = reading.notes
    assert section in note
    assert "row 3" in note


@pytest.mark.parametrize("section", ["Mon 10-12", "1-31", "A-2026", "March", "2026", "Jan", "Decker 4", "MAT-101"])
def test_other_sections_are_taken_in_silence(section: str) -> None:
    assert read(f"Name,Section\nIda Berg,{section}\n").notes == []
