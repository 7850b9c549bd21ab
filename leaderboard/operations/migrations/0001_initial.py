import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='CageTest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('host', models.CharField(max_length=200, unique=True)),
                ('tested_at', models.DateTimeField()),
                ('reason', models.TextField(blank=True)),
                ('report', models.JSONField()),
            ],
            options={
                'ordering': ['host'],
            },
        ),
        migrations.CreateModel(
            name='Inspection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('began_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('seconds', models.FloatField()),
                ('is_whole', models.BooleanField()),
                ('report', models.JSONField()),
            ],
            options={
                'ordering': ['-began_at'],
            },
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('host', models.CharField(max_length=200)),
                ('process', models.PositiveIntegerField()),
                ('version', models.CharField(max_length=40)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('seen_at', models.DateTimeField()),
                ('swept_at', models.DateTimeField(null=True)),
                ('counts', models.JSONField(default=list)),
            ],
            options={
                'ordering': ['host', 'process'],
                'constraints': [models.UniqueConstraint(fields=('host', 'process'), name='worker_reports_once')],
            },
        ),
    ]
