"""Reading and scoring files: only in sealed processes, never in the web server or the worker.

::

    the site        a web process or a worker; sees no cell of any table
    └── waiting process    a clean environment, libraries loaded
        └── sealed process    one ground truth, read once; scores the files of all teams, one after another

A job of a page, such as the check of a truth, has a sealed process too; all jobs of one page share a waiting process.

Nothing that runs in these processes depends on Django. The answer of a sealed process is JSON of bounded size, and an
answer about a submission is validated. `client.score_file` is the entry for submissions, `jobs.run_job` for everything
else.
"""
