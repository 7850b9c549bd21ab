import django.db.models.deletion
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
            name='Announcement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(max_length=120, verbose_name='title')),
                ('text', models.TextField(max_length=10000, verbose_name='text')),
                ('audience', models.CharField(choices=[('all', 'Everyone in the competition'), ('no_valid_file', 'Teams without a valid file'), ('section', 'One section'), ('below_baseline', "Teams that don't beat the best baseline"), ('team', 'One team')], default='all', max_length=20)),
                ('section', models.CharField(blank=True, max_length=200)),
                ('is_pinned', models.BooleanField(default=False, verbose_name='pinned')),
                ('key', models.CharField(editable=False, max_length=100, unique=True)),
                ('reached', models.PositiveIntegerField(default=0, editable=False)),
                ('sent_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('edited_at', models.DateTimeField(editable=False, null=True)),
                ('withdrawn_at', models.DateTimeField(editable=False, null=True)),
                ('by', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('competition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='announcements', to='competitions.competition')),
            ],
            options={
                'ordering': ['-is_pinned', '-sent_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='Notice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('title', models.CharField(max_length=200)),
                ('text', models.TextField(blank=True)),
                ('mentions', models.JSONField(default=list, editable=False)),
                ('link', models.CharField(blank=True, max_length=300)),
                ('key', models.CharField(blank=True, editable=False, max_length=100)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('read_at', models.DateTimeField(editable=False, null=True)),
                ('mail_at', models.DateTimeField(editable=False, null=True)),
                ('mailed_at', models.DateTimeField(editable=False, null=True)),
                ('competition', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notices', to='competitions.competition')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notices', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'indexes': [models.Index(condition=models.Q(('read_at', None)), fields=['user'], name='notice_unread'), models.Index(fields=['user', '-created_at'], name='notice_by_user'), models.Index(condition=models.Q(('mail_at__isnull', False)), fields=['mail_at'], name='notice_to_mail')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('key', ''), _negated=True), fields=('user', 'key'), name='notice_once')],
            },
        ),
        migrations.CreateModel(
            name='NoticeChoice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('delivery', models.CharField(choices=[('at_once', 'On site and by e-mail'), ('digest', 'On site and in the daily e-mail'), ('page', 'On site only'), ('none', 'Off')], max_length=10)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notice_choices', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'kind'), name='one_choice_per_kind_of_notice'), models.CheckConstraint(condition=models.Q(('delivery__in', ['at_once', 'digest', 'page', 'none'])), name='notice_delivery_known')],
            },
        ),
    ]
