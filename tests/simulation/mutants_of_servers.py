"""Sabotages of what SQL, Lua and the adapters say; see `mutants.py`."""

LUA = "ppcfetch/adapters/redis/scripts/stream"
ROWS_FOLDER = "ppcfetch/adapters/database"
SETTLE = "tests/contract/test_stream_settle.py"
CLAIM = "tests/contract/test_stream_claim.py"
PUBLISH = "tests/contract/test_stream_publish.py"
RECEIVE = "tests/contract/test_stream_receive.py"
CENSUS = "tests/contract/test_stream_census.py"
NAMES = "tests/contract/test_names.py"
TAKE = "tests/contract/test_jobs_take.py"
PAGES = "tests/contract/test_page_write.py"
RACES = "tests/contract/test_jobs_races.py"
SWEEPING = "tests/contract/test_due_sweeping.py"

ROWS: tuple[tuple[str, str, str, str, str], ...] = (
    # ---- publish
    (
        "publish looks for a live message",
        f"{LUA}/publish.lua",
        "if misplaced or not rings(stream, id) then",
        "if true then",
        PUBLISH,
    ),
    (
        "live means pending or behind last-delivered-id",
        f"{LUA}/prelude.lua",
        "and (pending(stream, id) ~= nil or behind(id, last_delivered(stream)))",
        "and true",
        PUBLISH,
    ),
    (
        "an entry that merely exists is deleted when it is replaced",
        f"{LUA}/publish.lua",
        "if stream then remove(stream, id) end",
        "-- kept",
        PUBLISH,
    ),
    # ---- names and groups
    (
        "history, reclaim and reconcile look at the name lock first",
        f"{LUA}/prelude.lua",
        "return not bearer or bearer == incarnation",
        "return true",
        f"{NAMES} {CLAIM}",
    ),
    (
        "reclaim looks at the name lock",
        f"{LUA}/claim.lua",
        "if not holds_name(KEYS[1], ARGV[1], ARGV[2]) then return false end",
        "",
        CLAIM,
    ),
    (
        "accept looks at the name lock",
        f"{LUA}/accept.lua",
        "if not holds_name(KEYS[1], ARGV[1], ARGV[2]) then return false end",
        "",
        RECEIVE,
    ),
    (
        "accept looks at the token",
        f"{LUA}/accept.lua",
        "if bears(KEYS[2], id, ARGV[3], ARGV[i + 1]) and fields(KEYS[2], id) then",
        "if fields(KEYS[2], id) then",
        RECEIVE,
    ),
    (
        "the lock's value is the incarnation",
        "ppcfetch/adapters/redis/names.py",
        "self._arguments = [holder.incarnation, round(lease / timedelta(milliseconds=1))]",
        "self._arguments = [1, round(lease / timedelta(milliseconds=1))]",
        NAMES,
    ),
    (
        "the group is made at 0",
        "ppcfetch/adapters/redis/groups.py",
        'command(client, "XGROUP", "CREATE", stream, GROUP, "0", "MKSTREAM")',
        'command(client, "XGROUP", "CREATE", stream, GROUP, "$", "MKSTREAM")',
        RECEIVE,
    ),
    (
        "the group is made again when it is lost",
        "ppcfetch/adapters/redis/deliveries.py",
        "                ensure_group(self._reading, self._stream)\n",
        "",
        RECEIVE,
    ),
    # ---- take_lease
    (
        "a lease raises the fence",
        f"{ROWS_FOLDER}/take.py",
        "        fence = jobs.fence + 1,",
        "        fence = jobs.fence,",
        TAKE,
    ),
    (
        "starts are counted by the lease, not by the handler",
        f"{ROWS_FOLDER}/take.py",
        "starts = jobs.starts + CASE found.verdict WHEN 'free' THEN 1 ELSE 0 END,",
        "starts = jobs.starts,",
        TAKE,
    ),
    (
        "a job is leased in its own pool only",
        f"{ROWS_FOLDER}/take.py",
        "            WHEN jobs.pool <> %(pool)s THEN 'other pool'\n",
        "",
        TAKE,
    ),
    (
        "a job that is not due is refused",
        f"{ROWS_FOLDER}/take.py",
        "WHEN jobs.state = 'queued' AND jobs.due_at > clock_timestamp() THEN 'not due'",
        "",
        TAKE,
    ),
    (
        "only an older incarnation of the name is succeeded",
        f"{ROWS_FOLDER}/take.py",
        "AND NOT (jobs.holder = %(consumer)s AND jobs.incarnation < %(incarnation)s)",
        "AND NOT (jobs.holder = %(consumer)s)",
        TAKE,
    ),
    (
        "a running job is free only without a beat for a lease",
        f"{ROWS_FOLDER}/take.py",
        "AND jobs.beat_at > clock_timestamp() - CAST(%(lease)s AS interval)",
        "AND false",
        TAKE,
    ),
    (
        "the same request id gives the same lease",
        f"{ROWS_FOLDER}/take.py",
        "WHEN jobs.request = asked.request AND jobs.holder = %(consumer)s",
        "WHEN false AND jobs.request = asked.request AND jobs.holder = %(consumer)s",
        TAKE,
    ),
    (
        "starts used up: the same statement makes the row dead",
        f"{ROWS_FOLDER}/take.py",
        "            WHEN jobs.starts >= %(max_starts)s THEN 'dies'\n",
        "",
        TAKE,
    ),
    # ---- renew, reclaim, reconcile
    (
        "a beat is fenced",
        f"{ROWS_FOLDER}/jobs.py",
        " AND asked.fence = jobs.fence\n    WHERE jobs.state = 'running'\n), free AS (",
        "\n    WHERE jobs.state = 'running'\n), free AS (",
        "tests/contract/test_jobs_beat.py",
    ),
    (
        "renewal is checked by the token",
        f"{LUA}/renew.lua",
        "if bears(KEYS[1], id, consumer, ARGV[i + 2]) and fields(KEYS[1], id) then",
        "if fields(KEYS[1], id) then",
        SETTLE,
    ),
    (
        "the token holds the delivery counter, not the name alone",
        f"{LUA}/prelude.lua",
        "entry.owner == consumer and entry.deliveries == tonumber(deliveries)",
        "entry.owner == consumer",
        f"{RECEIVE} {CLAIM} {SETTLE}",
    ),
    (
        "renewal leaves the counter alone (JUSTID)",
        f"{LUA}/renew.lua",
        "redis.call('XCLAIM', KEYS[1], GROUP, consumer, 0, id, 'JUSTID')",
        "redis.call('XCLAIM', KEYS[1], GROUP, consumer, 0, id)",
        SETTLE,
    ),
    (
        "reclaim takes only what was idle for a lease",
        f"{LUA}/claim.lua",
        "found[#found + 1] = claim(KEYS[2], ARGV[3], ARGV[2], ARGV[i])",
        "found[#found + 1] = claim(KEYS[2], ARGV[3], 0, ARGV[i])",
        CLAIM,
    ),
    (
        "the row vetoes what is running and beaten",
        f"{ROWS_FOLDER}/jobs.py",
        "WHERE id = ANY(CAST(:ids AS bigint[])) AND state = 'running'\n    AND beat_at >",
        "WHERE id = ANY(CAST(:ids AS bigint[])) AND state = 'dead'\n    AND beat_at >",
        "tests/contract/test_jobs_beat.py",
    ),
    (
        "a claim raises the delivery counter (no JUSTID)",
        f"{LUA}/prelude.lua",
        "'XCLAIM', stream, GROUP, consumer, min_idle, id)",
        "'XCLAIM', stream, GROUP, consumer, min_idle, id, 'RETRYCOUNT', entry.deliveries)",
        CLAIM,
    ),
    # ---- write, end of a job
    (
        "a page is written under its fence",
        f"{ROWS_FOLDER}/page_statements.py",
        "WHERE id = %(job)s AND fence = %(fence)s AND pages = %(pages)s AND state = 'running'",
        "WHERE id = %(job)s AND pages = %(pages)s AND state = 'running'",
        PAGES,
    ),
    (
        "a page is written once",
        f"{ROWS_FOLDER}/page_statements.py",
        "WHERE id = %(job)s AND fence = %(fence)s AND pages = %(pages)s AND state = 'running'",
        "WHERE id = %(job)s AND fence = %(fence)s AND state = 'running'",
        PAGES,
    ),
    (
        "the checkpoint is part of the page's transaction",
        f"{ROWS_FOLDER}/page_statements.py",
        "SET cursor = %(cursor)s, mark = %(mark)s,",
        "SET mark = %(mark)s,",
        PAGES,
    ),
    (
        "a stored page sets attempts to 0",
        f"{ROWS_FOLDER}/page_statements.py",
        "pages = pages + 1, starts = 0, attempts = 0, error = NULL,",
        "pages = pages + 1, starts = 0, error = NULL,",
        "tests/contract/test_jobs_settle.py",
    ),
    (
        "a write whose answer was lost is recognised",
        f"{ROWS_FOLDER}/page_statements.py",
        "AND j.pages = %(pages)s + 1",
        "AND false",
        PAGES,
    ),
    (
        "a process paused inside a transaction loses it before its lease",
        f"{ROWS_FOLDER}/engine.py",
        '        "idle_in_transaction_session_timeout": _milliseconds(idle),\n',
        "",
        "tests/contract/test_database_engine.py",
    ),
    (
        "the last page ends the fetch",
        f"{ROWS_FOLDER}/pages.py",
        "                    close_fetches(connection, [lease.job.fetch_id])",
        "                    pass",
        PAGES,
    ),
    (
        "the fetch is locked before its active jobs are counted",
        f"{ROWS_FOLDER}/closing.py",
        "locked=ask(raw, _LOCK, told), ",
        "locked=ask(raw, _LOCK.replace(b'FOR ', b'-- '), told), ",
        RACES,
    ),
    (
        "cancel raises the fence",
        f"{ROWS_FOLDER}/cancelling.py",
        "UPDATE jobs SET state = 'cancelled', fence = jobs.fence + 1, finished_at",
        "UPDATE jobs SET state = 'cancelled', finished_at",
        "tests/contract/test_fetches_end.py",
    ),
    # ---- settle, dead letter
    (
        "an outcome is written under its fence",
        f"{ROWS_FOLDER}/settle.py",
        "FROM jobs JOIN told ON told.id = jobs.id AND told.fence = jobs.fence",
        "FROM jobs JOIN told ON told.id = jobs.id",
        "tests/contract/test_jobs_settle.py",
    ),
    (
        "a reported end gives its start back",
        f"{ROWS_FOLDER}/settle.py",
        "THEN greatest(jobs.starts - 1, 0) ELSE jobs.starts END,",
        "THEN jobs.starts ELSE jobs.starts END,",
        "tests/contract/test_jobs_settle.py",
    ),
    (
        "settling is guarded by the token",
        f"{LUA}/settle.lua",
        "if bears(stream, id, ARGV[i + 2], ARGV[i + 3]) then",
        "if pending(stream, id) then",
        SETTLE,
    ),
    (
        "settling forgets the live message",
        f"{LUA}/settle.lua",
        "    forget(KEYS[1], job, pool, id)\n",
        "",
        SETTLE,
    ),
    (
        "settling deletes the entry",
        f"{LUA}/prelude.lua",
        "  redis.call('XDEL', stream, id)\n",
        "",
        SETTLE,
    ),
    (
        "moving is guarded by the token",
        f"{LUA}/move.lua",
        "if bears(stream, id, ARGV[i + 2], ARGV[i + 3]) then",
        "if fields(stream, id) then",
        SETTLE,
    ),
    (
        "a dead letter is added before the delivery ends",
        f"{LUA}/dead_letter.lua",
        "local now = redis.call('TIME')",
        "remove(stream, id) local now = redis.call('TIME')",
        SETTLE,
    ),
    (
        "drained is judged by what is pending and what waits, not by XLEN",
        f"{LUA}/drained.lua",
        "return (summary[1] == 0 and #waiting == 0) and 1 or 0",
        "return redis.call('XLEN', KEYS[1]) == 0 and 1 or 0",
        CENSUS,
    ),
    (
        "a retry is refused when a newer fetch is active",
        f"{ROWS_FOLDER}/fetches.py",
        "    if newer is not None:",
        "    if newer == 0:",
        "tests/contract/test_fetches_end.py",
    ),
    # ---- sweeper, consumers, the archive
    (
        "the sweeper's turn expires by the database clock",
        f"{ROWS_FOLDER}/due.py",
        "    OR turns.expires_at <= clock_timestamp()\n",
        "",
        SWEEPING,
    ),
    (
        "only entries that nobody has pending are orphans",
        f"{LUA}/delete_orphans.lua",
        "if not pending(KEYS[1], entry[1]) then",
        "if true then",
        CENSUS,
    ),
    (
        "a consumer that holds something is kept",
        f"{LUA}/forget_consumer.lua",
        "    if facts['pending'] > 0 then return -1 end\n",
        "",
        CENSUS,
    ),
    (
        "a consumer whose name is borne is kept",
        f"{LUA}/forget_consumer.lua",
        "    if redis.call('EXISTS', KEYS[2]) == 1 then return -2 end\n",
        "",
        CENSUS,
    ),
    (
        "an empty answer means no ads only behind a control query",
        "ppcfetch/adapters/archive/client.py",
        "way.control.confirm(lambda control",
        "(lambda *_, **__: None)(lambda control",
        "tests/unit/test_archive_client_control.py",
    ),
    (
        "rows of a page go in in one order",
        f"{ROWS_FOLDER}/page_statements.py",
        "ORDER BY i.advertiser_id\n    ON CONFLICT (advertiser_id) DO UPDATE SET name",
        "ORDER BY random()\n    ON CONFLICT (advertiser_id) DO UPDATE SET name",
        "tests/contract/test_page_write_locks.py",
    ),
)
