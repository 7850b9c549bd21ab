import django.utils.timezone
from django.db import migrations, models


TABLE = "common_auditentry"

SQLITE = [
    f"""
    CREATE TRIGGER audit_only_appends BEFORE INSERT ON {TABLE}
    WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM {TABLE})
      OR NEW.previous <> coalesce((SELECT digest FROM {TABLE} ORDER BY number DESC LIMIT 1), '')
    BEGIN SELECT RAISE(ABORT, 'the audit log takes the next link alone'); END
    """,
    f"""
    CREATE TRIGGER audit_never_changes BEFORE UPDATE ON {TABLE}
    BEGIN SELECT RAISE(ABORT, 'the audit log is never edited'); END
    """,
    f"""
    CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON {TABLE}
    BEGIN SELECT RAISE(ABORT, 'the audit log is never shortened'); END
    """,
]
SQLITE_BACK = [
    "DROP TRIGGER IF EXISTS audit_only_appends",
    "DROP TRIGGER IF EXISTS audit_never_changes",
    "DROP TRIGGER IF EXISTS audit_never_shrinks",
]

# Errors of the class that Django knows as IntegrityError, as on SQLite.
POSTGRES = [
    f"""
    CREATE OR REPLACE FUNCTION audit_next_link() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM {TABLE})
        OR NEW.previous <> coalesce((SELECT digest FROM {TABLE} ORDER BY number DESC LIMIT 1), '')
      THEN
        RAISE EXCEPTION 'the audit log takes the next link alone' USING ERRCODE = 'integrity_constraint_violation';
      END IF;
      RETURN NEW;
    END $$
    """,
    """
    CREATE OR REPLACE FUNCTION audit_refusal() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'the audit log is never edited or shortened' USING ERRCODE = 'integrity_constraint_violation';
    END $$
    """,
    f"CREATE TRIGGER audit_only_appends BEFORE INSERT ON {TABLE} FOR EACH ROW EXECUTE FUNCTION audit_next_link()",
    f"CREATE TRIGGER audit_never_changes BEFORE UPDATE ON {TABLE} FOR EACH ROW EXECUTE FUNCTION audit_refusal()",
    f"CREATE TRIGGER audit_never_shrinks BEFORE DELETE OR TRUNCATE ON {TABLE} "
    "FOR EACH STATEMENT EXECUTE FUNCTION audit_refusal()",
]
POSTGRES_BACK = [
    f"DROP TRIGGER IF EXISTS audit_only_appends ON {TABLE}",
    f"DROP TRIGGER IF EXISTS audit_never_changes ON {TABLE}",
    f"DROP TRIGGER IF EXISTS audit_never_shrinks ON {TABLE}",
    "DROP FUNCTION IF EXISTS audit_next_link()",
    "DROP FUNCTION IF EXISTS audit_refusal()",
]


def execute(schema_editor, statements):
    for statement in statements:
        schema_editor.execute(statement, params=None)


def guard(apps, schema_editor):
    execute(schema_editor, POSTGRES if schema_editor.connection.vendor == "postgresql" else SQLITE)


def unguard(apps, schema_editor):
    execute(schema_editor, POSTGRES_BACK if schema_editor.connection.vendor == "postgresql" else SQLITE_BACK)


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('number', models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('by', models.PositiveBigIntegerField(null=True, verbose_name='account')),
                ('event', models.CharField(max_length=40)),
                ('competition', models.PositiveBigIntegerField(null=True)),
                ('account', models.PositiveBigIntegerField(null=True, verbose_name='affected account')),
                ('about', models.CharField(blank=True, max_length=200)),
                ('before', models.TextField(default='{}')),
                ('after', models.TextField(default='{}')),
                ('previous', models.CharField(blank=True, max_length=64)),
                ('digest', models.CharField(max_length=64)),
            ],
            options={
                'verbose_name': 'audit log entry',
                'verbose_name_plural': 'audit log',
                'ordering': ['-number'],
                'indexes': [models.Index(fields=['competition', '-number'], name='audit_by_competition')],
            },
        ),
        migrations.CreateModel(
            name='OutgoingEmail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('recipients', models.TextField(blank=True)),
                ('content', models.JSONField(default=dict)),
                ('kind', models.CharField(blank=True, max_length=20)),
                ('reference', models.PositiveBigIntegerField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('due_at', models.DateTimeField()),
                ('tries', models.PositiveIntegerField(default=0)),
                ('refused_all_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['kind', 'due_at'], name='outgoing_email_in_order'), models.Index(condition=models.Q(('refused_all_at__isnull', False)), fields=['refused_all_at'], name='mail_refused_all')],
            },
        ),
        migrations.RunPython(guard, unguard),
    ]
