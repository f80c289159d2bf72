# With Django's own pool: each process holds at most so many connections, its threads and runs share them.
POOLED = {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": "mysite",
    "OPTIONS": {"pool": {"min_size": 1, "max_size": 8, "timeout": 10}},
}

# Behind PgBouncer with pool_mode = transaction: a server-side cursor would not find its session again.
BEHIND_PGBOUNCER = {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": "mysite",
    "HOST": "127.0.0.1",
    "PORT": 6432,
    "DISABLE_SERVER_SIDE_CURSORS": True,
}

DATABASES = {"default": POOLED}
