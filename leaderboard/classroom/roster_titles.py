"""Titles of columns in class lists, and the words that tell students from staff and from rows that are no person.

Words of several languages, compared without case, accents and punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from leaderboard.common.names import without_accents

_ASSIGNMENT = re.compile(r"\S \(\d+\)\s*$")


def title_key(title: str) -> str:
    """A title without case, accents, brackets and punctuation: “SIS User ID” and “sis_user_id” have the same."""
    folded = without_accents(title)
    return re.sub(r"[^\w#]|_", "", re.sub(r"\(.*?\)", "", folded)) or re.sub(r"[^\w#]|_", "", folded)


# The words of each field, the most certain ones first. `given` and `family` are parts of a name; a `bare` title such as
# “Name” is the whole name, or the part that no other column has.
_WORDS = {
    "name": """
        fullname displayname student sortablename participant participantname person learner vollername
        vollständigername teilnehmer teilnehmerin teilnehmende studierende studierender nomcomplet étudiant
        nombrecompleto alumno estudiante nomecompleto nominativo studente aluno estudante volledigenaam
        fullständigtnamn fulltnamn studerande fuldenavn teljesnév фио студент 姓名 学生姓名 学生氏名 氏名 성명 adsoyad
        ονοματεπώνυμο élève discente họvàtên họtên namalengkap namamahasiswa namasiswa الاسم اسمالطالب
    """,
    "bare": "name namn navn naam nom nome nombre nimi nume nimes jméno meno ime név όνομα ad 名前 이름 nama שם tên име",
    "given": """
        firstname givenname givennames forename first vorname vornamen vor prénom prénoms nombres primernombre
        primeironome voornaam voornamen förnamn fornavn etunimi imię imiona prenume keresztnév utónév имя 名 adı
        firstnameofstudent vornamedesstudierenden roepnaam rufname tilltalsnamn preferredfirstname preferredname
        voorletters nomepróprio nomespróprios імя křestníjméno krstnémeno eesnimi namadepan etunimet kutsumanimi
        othernames 名字 keresztnevek imiępierwsze שםפרטי
    """,
    "family": """
        lastname surname familyname last nachname familienname zuname nomdefamille nomfamille apellidos apellido
        primerapellido apellido1 sobrenome apelido apelidos últimonome cognome cognomi achternaam familienaam
        efternamn efternavn etternavn sukunimi nazwisko příjmení priezvisko prezime vezetéknév családnév фамилия
        прізвище 姓 氏 성 soyad soyadı επώνυμο επίθετο familynameofstudent familiennamedesstudierenden
        nomdenaissance nomdusage nompatronymique apellidopaterno paterno 姓氏 cognoms cognom priimek perekonnanimi
        namabelakang họ שםמשפחה презиме
    """,
    "second_family": "segundoapellido apellido2 apellidomaterno materno",
    "infix": "tussenvoegsel tussenvoegsels voorvoegsel voorvoegsels tv namenszusatz namenszusätze vorsatzwort",
    "email": """
        email emailaddress studentemail universityemail institutionalemail schoolemail primaryemail useremail emailid
        mail mailaddress emailadresse mailadresse courriel adressedecourriel adresseemail adressemail
        adresseélectronique correo correoelectrónico direccióndecorreo direccióndeemail emailinstitucional
        indirizzoemail indirizzomail postaelettronica endereçodeemail endereçoemail correioeletrónico emailadres
        mailadres epost epostadress epostadresse sähköposti adresemail adresaemail почта электроннаяпочта 邮箱 电子邮件
        メールアドレス メール 이메일 eposta preferredemail
    """,
    "student_id": """
        matrikelnummer matrikelnr matrikel matrnr matrnummer mtknr mtnr immatrikulationsnummer matriculationnumber
        matriculationno matricnumber matricno registrationnumber registrationno rollnumber rollno enrollmentnumber
        enrolmentnumber sid uin cwid emplid bannerid spridenid permid perm# permnumber matricola numerodimatricola
        numeromatricola nmatricola matrícula númerodematrícula nmatrícula matricule numérodematricule nmatricule
        expediente númerodeexpediente nia niu ra nusp númeromecanográfico nmecanográfico ine codeétudiant
        studentnummer studienummer stamnummer stamnr snummer opiskelijanumero personnummer numeralbumu nralbumu
        numerindeksu osobníčíslo učo jmbag neptunkód neptun öğrencino öğrencinumarası αριθμόςμητρώου αμ
        номерзачётнойкнижки 学号 学生番号 학번 dni identifier legajo uniqueuserid uniqueid schoolid
        institutionskennung 學號 学籍番号 学生証番号 mssv mãsinhviên nim npm nomatrik
        nrindeksu nrmatricol الرقمالجامعي מספרסטודנט
    """,
    "platform_id": "canvasid canvasuserid userid externalpersonkey personid id",
    "university_id": """
        orgdefinedid idnumber idnummer númerodeid numérodidentification codiceidentificativo numeroid númeroid
        númerodeidentificação númerodeidentificación identificatienummer numerid identifikačníčíslo id号 idナンバー
    """,
    "sis_user_id": "sisuserid sisid sisstudentid integrationid",
    "lms_user": "lmsuser",
    "login": """
        loginid sisloginid login username loginname user uid netid account accountname userprincipalname benutzername
        anmeldename kennung benutzerkennung nutzerkennung unikennung rzkennung hochschulkennung nutzername nutzernamen
        nomdutilisateur identifiant nombredeusuario usuario nomeutente nomedeusuário nomedoutilizador utilizador
        gebruikersnaam användarnamn brugernavn brukernavn логин 用户名 ユーザー名 아이디 nazwaużytkownika kullanıcıadı
    """,
    "section": """
        section sections sectionname coursesection childcourseid group groups groupname class classes tutorial lab
        discussion gruppe gruppen gruppenname übungsgruppe tutorium seminargruppe sektion groupe groupes grupo
        grupos sección turma turno gruppo gruppi sezione classe groep groepen klas sectie grupp hold klasse
        skupina skupiny grupa grupy группа группы 班级 クラス 분반 班級
    """,
    "role": """
        role roles userrole courserole sectionrole usertype enrollmenttype enrolmenttype membertype rolle rollen
        rolleimkurs rollestatus rôle rôles rol ruolo ruoli papel papéis perfil função función funktion fonction roll
        roller typ type tipo rola роль 角色 役割 역할 身份 区分 ロール rolü rooli roolit szerepkör peran vaitrò statut
    """,
}
_STUDENTS = (
    "student students studenten studierende studierenden étudiant étudiante estudiante estudante alumno alumna "
    "aluno aluna discente studente studerande learner pupil studenta студента öğrencinin opiskelijan hallgató mahasiswa"
)
_OWNERS = f"{_STUDENTS} stud candidate person campus university uni banner external"
_NUMBER = "id no nr # num number nummer numero # code código codice n nro"
_SMALL_WORDS = "legal official of the de del dela della dell do da di du des der d l van"
_AND = "and und et y e en och og i a"


def _fields_by_title() -> dict[str, tuple[str, int]]:
    """Key of a title → (field, place among the words of the field)."""
    fields = {
        title_key(word): (name, rank) for name, words in _WORDS.items() for rank, word in enumerate(words.split())
    }
    for owner, number in product(_OWNERS.split(), _NUMBER.split()):
        for title in (f"{owner}{number}", f"{owner}id{number}", f"{number}{owner}"):
            fields.setdefault(title_key(title), ("student_id", 0))
    return fields


_FIELDS = _fields_by_title()
_LEFT_OUT = {without_accents(word) for word in f"{_STUDENTS} {_SMALL_WORDS} {_AND}".split()}


@lru_cache(maxsize=4_096)
def field_of(title: str) -> tuple[str, int] | None:
    """(field, rank) of a title; of two columns for one field that with the lower rank is meant. None if unknown.

    Canvas's assignments, “Groups (1234)”, are none.
    """
    if not title.strip() or _ASSIGNMENT.search(title):
        return None
    key = title_key(title)
    words = re.findall(r"[^\W_]+|#", without_accents(title))
    without_small_words = "".join(word for word in words if word not in _SMALL_WORDS.split())
    without_owner = "".join(word for word in words if word not in _LEFT_OUT)
    keys = (key, key.replace("#", ""), without_small_words, without_owner, without_owner.replace("#", ""))
    return next((_FIELDS[key] for key in keys if key in _FIELDS), _whole_name(words))


def _whole_name(words: Sequence[str]) -> tuple[str, int] | None:
    """The field of a title of several parts of a name, such as “Apellidos y nombre”; None for other titles."""
    parts = [_FIELDS.get(word, ("", 0))[0] for word in words if word not in _LEFT_OUT]
    is_whole = len(set(parts)) > 1 and set(parts) <= {"given", "family", "bare"}
    return ("name", len(_FIELDS)) if is_whole else None


_NUMBER_TITLE = re.compile(
    r"\b(?:id|nr|nbr|no|num|kod|kodas|codes?|codigo|codice|carne)\b|num(?:ber|mer|ero|ar)|kenn(?:zahl|zeichen)|#|番号|번호|编号|"
    r"номер|cislo|numer|broj|szam|αριθμ|stevilka"
)
_OTHER_NUMBER = re.compile(
    r"phone|fon\b|fonnummer|tele?f|mobil|handy|cell|fax|zip|post|plz|room|seat|course|class|group|program|pin\b|desk|locker|point|punkt|score|grade|mark\b"
)


def is_number_title(title: str) -> bool:
    """Whether a title that is not known is that of a number of people, such as “NSHE ID”, and no telephone's."""
    words = " ".join(re.findall(r"[^\W_]+|#", without_accents(title)))
    return bool(_NUMBER_TITLE.search(words)) and not is_other_number(title)


def is_number_column(title: str) -> bool:
    """Whether a title is known or sounds like that of a number of people."""
    return field_of(title) is not None or is_number_title(title)


def is_other_number(title: str) -> bool:
    """Whether a title is that of a telephone, a place, or something else with numbers that are no person's."""
    return bool(_OTHER_NUMBER.search(without_accents(title)))


_PRIVATE = re.compile(r"priv|person|home|pessoal|particular|casa|hem|osobn|prywat")
_SPELLING = re.compile(r"カナ|かな|kana|ふりがな|romaji|pinyin|拼音")
_RELATIVE = re.compile(
    r"eltern|erziehung|mutter|vater|mother|father|famil(?:y|ia)\b|emergency|padre|madre|ouder|rodic|veli\b|保護者|家长"
)


def is_second_choice(title: str) -> bool:
    """Whether a title is that of an address outside the institution, such as “Home e-mail”, or of a name's spelling."""
    return bool(_PRIVATE.search(without_accents(title)) or _SPELLING.search(title.casefold()))


def is_someone_elses(title: str) -> bool:
    """Whether a title is that of an address of staff or a relative."""
    return is_staff(title) or bool(_RELATIVE.search(without_accents(title)))


_STAFF = re.compile(
    # Beginnings of words,
    r"\b(?:instruct|teach|observ|osserv|obserw|pozorov|gozlemc|наблюд|megfigyel|tarkkail|waarnem|beobacht|design|disenad|concept|ontwerp|lectur|profes(?!s?ional)|staff|"
    r"amminist|owner|manager|gestion|gestor|coord|koord|facilit|faculty|mentor|moder|monit|grader|reader|marker|"
    r"proctor|demonstrat|coach|course builder|supervis|advis|librarian|conven|convid|ospit|parent|guardian|"
    r"preview|student ?view|test|korrekt|correct|mitarbeit|verantwortlich|responsab|verwalt|pruf|enseign|"
    r"formateur|formatrice|intervenant|chargee? de|insegn|esercitat|collaborat|titolar|ayudant|maestr|"
    r"regent|orientador|leraar|leerkracht|begeleid|beheer|larare|handled|examin|amanuens|forelas|"
    r"foreles|undervis|laerer|faglaer|hjaelpelaer|hjelpelaer|auxiliar|giang vien|dosen|doctorant|organiz|sensor|"
    r"opettaj|prowadz|nauczyciel|wyklad|vyucuj|"
    r"ucitel|garant|cvicic|oktato|tanar|ogretm|ogretim|egitm|преподават|учител|διδασκ|καθηγητ)|"
    # parts of words,
    r"admin|tutor|tuteur|tutrice|assist|asist|ассист|dozent|dozier|docent|lektor|лектор|trainer|lehr(?!amt)|leit|betreu|"
    r"hilfskraft|creat|creador|criador|viewer|ansvar|instrukt|catedr|hoogleraar|beoordel|dottorand|"
    r"section leader|non.student|创建|教师|老师|助教|教員|教師|講師|教授|アシスタント|교수|조교|강사|βοηθ|"
    # and whole words.
    r"観察|观察|觀察|참관|\b(?:tas?|[ci]a|gta|ater|host|uta|ugta|gsi|prof|hiwi|shk|whk|guest|gast|gaste|wimi|pdi|personnel|vacataire|cultore|servidora?|invitee?|invitad[oa])\b"
)
_STUDENT_ROLE = re.compile(
    r"\b(?:stud|learner|etud|estud|alum|alun|particip|teilnehm|mitglied|kursmitglied|autor|deelnem|deltag|elev|pupil|member|"
    r"inscri|iscri|registered|apprenant|lernend|cursist|opiskel|leerling|hallgat|ogrenc|студент|слушат|φοιτητ)|学生|학생|^none$"
)
_SUMMARY_WORDS = set(
    without_accents(
        """
        points point total totals date average mean median deviation stddev stdev count sum posting muted minimum
        maximum punkte maximalpunkte summe durchschnitt mittelwert gesamtdurchschnitt klassendurchschnitt
        standardabweichung out anzahl moyenne médiane écart promedio puntos media mediana desviación suma punti
        somma deviazione pontos média desvio gemiddelde klasgemiddelde standaardafwijking totaal punten medelvärde
        poäng summa gennemsnit gjennomsnitt poeng punkty średnia średni odchylenie body průměr součet puan puanlar
        ortalama toplam баллы балл среднее итого 满分 总分 平均 平均分 平均点 配点 合計 合计
        gesamt totale celkem razem всего 총계 평균 yhteensä keskiarvo összesen átlag datum fecha data tarih дата
        日付 日期 点数 分数 总计 weight gewicht schnitt notenschnitt durchschnittsnote maximalpunktzahl höchstpunktzahl
        punktzahl score scores puntuación punteggio pontuação barème maxpoäng pisteet punts point puanı
        bodů punktów klassengemiddelde kursdurchschnitt
        """
    ).split()
)
_WORDS_WITH_SUMMARY = set(
    without_accents(
        """
        possible possibles class overall standard std dev st max of due manual mögliche de la du générale classe
        type posibles del clase curso típica estándar possibili della possíveis padrão da turma mogelijke möjliga
        mulige możliwe możné olası возможные максимальный средний по классу mahdolliset erreichbare cours corso kurs
        klassens klasy třídy sınıf ortalaması en yüksek liczba maksymalna maximale máxima massimo maximal note nota
        general général d étudiants studenti sd ø
        """
    ).split()
)
# “Student, Test”, “Teststudent”, “Étudiant de test”, without what is between the words.
_TEST = (
    r"(?:test(?:e|ni|owy|ovaci)?|demo|essai|prueba|prova|proef|preview|vorschau|view|"
    r"тест(?:овы.)?|测试|測試|テスト|테스트)"
)
_TESTED = (
    r"(?:stud(?:ent|ier|erend)\w{0,6}|etudiante?|estudante|estudiante|teilnehmer|deelnemer|alumno|aluno|elev|opiskelija|"
    r"hallgato|ogrenci|"
    r"particip\w{0,6}|learner|pupil|user|nutzer|студент|φοιτητης|学生|學生|학생)"
)
_TEST_STUDENT = re.compile(rf"\w{{0,8}}{_TEST}{_TESTED}|{_TESTED}\d?(?:de|di|do|da)?{_TEST}|\w+previewuser")


def is_staff(role: str) -> bool:
    """Whether a role, such as “TA” or “Lehrende/r”, is no student's. “Student, Tutor” is staff."""
    return bool(_STAFF.search(_role_words(role)))


def is_student(role: str) -> bool:
    return bool(_STUDENT_ROLE.search(_role_words(role))) and not is_staff(role)


_STAFF_TITLE = re.compile(
    r"(?:head |co-?|teaching )?(?:tas?|ca|assist[ae]nt(?:e|in)?|tutor(?:in)?|tuteur|tutrice|instructor|teacher|"
    r"lecturer|prof(?:essor)?|docente?|dozent(?:in)?|lehrkraft|lehrende|prufer(?:in)?|grader|observer|staff|enseignante?|"
    r"profesora?|преподаватель|担当教員|任课教师|教师|助教)(?!\w)"
)


def has_staff_name(name: str) -> bool:
    """Whether a name says that it is no student's: “Eva Lang (TA)”, “Eva Lang - Tutor” or “Instructor: Eva Lang”."""
    found = re.search(r"[(\[]([^()\[\]]+)[)\]]|^([^:(\[]{2,40}):|\s[-–—]\s(.+)$", name)
    words = without_accents(" ".join(filter(None, found.groups()))) if found else ""
    return _STAFF_TITLE.match(words.strip()) is not None


def is_role(text: str) -> bool:
    return is_student(text) or is_staff(text)


def _role_words(role: str) -> str:
    # Canvas writes TaEnrollment, Ilias il_crs_tutor_123.
    return without_accents(re.sub(r"(?<=[a-z])(?=Enrollment)|_", " ", role))


def is_summary_row(name: str) -> bool:
    """Whether the name is that of a row about the course, such as “Points Possible” or “Class Average”."""
    words = set(re.findall(r"[^\W_]+", without_accents(name)))
    is_about_course = bool(words & _SUMMARY_WORDS) or {"std", "dev"} <= words
    return is_about_course and words <= _SUMMARY_WORDS | _WORDS_WITH_SUMMARY


def is_test_student(name: str) -> bool:
    """Whether the name is that of a platform's test student for the teacher, such as “Student, Test”."""
    return _TEST_STUDENT.fullmatch(re.sub(r"[\W_]", "", without_accents(name))) is not None
