import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('competitions', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='RosterDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('file_name', models.CharField(blank=True, max_length=200)),
                ('text', models.TextField()),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('competition', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='roster_draft', to='competitions.competition')),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='RosterList',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('file_name', models.CharField(blank=True, max_length=200)),
                ('taken_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='roster_lists', to='competitions.competition')),
                ('taken_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-taken_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='RoleInvitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('email', models.CharField(max_length=254)),
                ('role', models.CharField(max_length=10)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='role_invitations', to='competitions.competition')),
                ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['email'],
                'indexes': [models.Index(fields=['email'], name='role_invitation_by_email')],
                'constraints': [models.UniqueConstraint(fields=('competition', 'email'), name='role_invitation_once'), models.CheckConstraint(condition=models.Q(('role__in', ['host', 'assistant'])), name='role_invitation_known')],
            },
        ),
        migrations.CreateModel(
            name='RosterEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(blank=True, max_length=200)),
                ('email', models.CharField(blank=True, max_length=254)),
                ('student_id', models.CharField(blank=True, max_length=100)),
                ('sis_user_id', models.CharField(blank=True, max_length=100)),
                ('login', models.CharField(blank=True, max_length=150)),
                ('section', models.CharField(blank=True, max_length=200)),
                ('added_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('joined_at', models.DateTimeField(editable=False, null=True)),
                ('left_at', models.DateTimeField(editable=False, null=True)),
                ('join_card_digest', models.CharField(blank=True, editable=False, max_length=64)),
                ('join_card_expires_at', models.DateTimeField(editable=False, null=True)),
                ('mail_asked_at', models.DateTimeField(editable=False, null=True)),
                ('mail_problem', models.CharField(blank=True, editable=False, max_length=200)),
                ('mail_language', models.CharField(blank=True, default='', editable=False, max_length=16)),
                ('invited_at', models.DateTimeField(editable=False, null=True)),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='roster', to='competitions.competition')),
                ('mail_asked_by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='roster_entries', to=settings.AUTH_USER_MODEL)),
                ('roster_list', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='people', to='classroom.rosterlist')),
            ],
            options={
                'verbose_name_plural': 'roster entries',
                'ordering': [django.db.models.functions.text.Lower('name'), 'email', 'pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('user__isnull', False)), fields=('competition', 'user'), name='roster_user_once'), models.UniqueConstraint(models.F('competition'), django.db.models.functions.text.Lower('email'), condition=models.Q(('email', ''), _negated=True), name='roster_email_once'), models.UniqueConstraint(condition=models.Q(('join_card_digest', ''), _negated=True), fields=('join_card_digest',), name='roster_join_card_once')],
            },
        ),
    ]
