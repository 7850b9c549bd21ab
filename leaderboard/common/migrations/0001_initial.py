import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('by', models.PositiveBigIntegerField(null=True, verbose_name='account')),
                ('event', models.CharField(max_length=40)),
                ('competition', models.PositiveBigIntegerField(null=True)),
                ('account', models.PositiveBigIntegerField(null=True, verbose_name='affected account')),
                ('about', models.CharField(blank=True, max_length=200)),
                ('before', models.JSONField(default=dict)),
                ('after', models.JSONField(default=dict)),
            ],
            options={
                'verbose_name': 'audit log entry',
                'verbose_name_plural': 'audit log',
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['competition', '-id'], name='audit_by_competition')],
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
                ('last_error', models.CharField(blank=True, max_length=100)),
            ],
            options={
                'indexes': [models.Index(fields=['kind', 'due_at'], name='outgoing_email_in_order'), models.Index(condition=models.Q(('refused_all_at__isnull', False)), fields=['refused_all_at'], name='mail_refused_all')],
            },
        ),
    ]
