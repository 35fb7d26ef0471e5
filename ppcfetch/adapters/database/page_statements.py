"""The statements of the page write, in the order in which they run.

Locks are taken in this order by everybody: jobs by id, the domain, advertisers by id, the fetch.
The domain's row is locked before anything is compared, so that the pages of one domain are stored
one after the other: what `STORE_PAGE` reads is then still true when it writes, no counter can
drift, and nobody else can hold an ad or a counter of this domain. Advertisers, shared by domains,
are written in the order of their ids, and only when they are new or renamed.

Each known row is looked up by LATERAL with OFFSET 0: a plan made while a table is small, and kept
by a prepared statement, can then never read the whole table once it has grown.
"""

ADVANCE_JOB = """
WITH advanced AS (
UPDATE jobs
SET cursor = %(cursor)s, mark = %(mark)s, oldest = %(oldest)s,
    newest = %(newest)s, until = %(until)s,
    pages = pages + 1, starts = 0, attempts = 0, error = NULL,
    progressed_at = clock_timestamp(), beat_at = clock_timestamp(),
    state = CASE WHEN %(ended)s THEN 'done' ELSE state END,
    finished_at = CASE WHEN %(ended)s THEN clock_timestamp() ELSE finished_at END
WHERE id = %(job)s AND fence = %(fence)s AND pages = %(pages)s AND state = 'running'
RETURNING id
)
SELECT domain FROM domains
WHERE domain = %(domain)s AND (SELECT count(*) FROM advanced) = 1
FOR NO KEY UPDATE
"""
"""One row, the domain's, which is locked once the job's is moved; none when it is not as leased.

The condition on the job is settled before the domain is looked for: so the job is locked first.
"""

WRITTEN_BEFORE = """
SELECT l.new, l.changed
FROM jobs j JOIN page_log l ON l.job_id = j.id AND l.page = j.pages AND l.fence = j.fence
WHERE j.id = %(job)s AND j.fence = %(fence)s AND j.pages = %(pages)s + 1
"""
"""One row when the page's first write was committed and only its answer was lost."""

STORE_PAGE = """
WITH met AS MATERIALIZED (
    -- What came beside what is held, and what will be held: dates only widen, a preview and a
    -- known format are replaced by what was seen last.
    SELECT i.advertiser_id COLLATE "C" AS advertiser_id, i.creative_id COLLATE "C" AS creative_id,
        i.advertiser_name AS name, a.held IS NULL AS new,
        a.last_fetch_id IS DISTINCT FROM %(fetch)s AS first_sight,
        a.first_fetch_id IS DISTINCT FROM %(fetch)s
            AND a.changed_fetch_id IS DISTINCT FROM %(fetch)s AS may_change,
        a.format AS old_format, a.first_shown AS old_first, a.last_shown AS old_last,
        a.days_shown AS old_days, a.preview_kind AS old_kind, a.preview_url AS old_url,
        a.preview_width AS old_width, a.preview_height AS old_height,
        CASE WHEN i.format = 0 THEN coalesce(a.format, 0) ELSE i.format END AS format,
        least(a.first_shown, i.first_shown) AS first_shown,
        greatest(a.last_shown, i.last_shown) AS last_shown,
        greatest(a.days_shown, i.days_shown) AS days_shown,
        CASE WHEN i.preview_kind = 0 AND a.held THEN a.preview_kind ELSE i.preview_kind END
            AS preview_kind,
        CASE WHEN i.preview_kind = 0 THEN a.preview_url ELSE i.preview_url END AS preview_url,
        CASE WHEN i.preview_kind = 0 THEN a.preview_width ELSE i.preview_width END
            AS preview_width,
        CASE WHEN i.preview_kind = 0 THEN a.preview_height ELSE i.preview_height END
            AS preview_height
    FROM unnest(
        %(advertiser_id)b, %(creative_id)b, %(advertiser_name)b, %(format)b, %(first_shown)b,
        %(last_shown)b, %(days_shown)b, %(preview_kind)b, %(preview_url)b, %(preview_width)b,
        %(preview_height)b
    ) i (
        advertiser_id, creative_id, advertiser_name, format, first_shown,
        last_shown, days_shown, preview_kind, preview_url, preview_width, preview_height
    )
    LEFT JOIN LATERAL (
        SELECT true AS held, ads.* FROM ads
        WHERE ads.domain = %(domain)s AND ads.advertiser_id = i.advertiser_id
            AND ads.creative_id = i.creative_id
        OFFSET 0
    ) a ON true
), told AS MATERIALIZED (
    -- An ad counts as changed when it looks different: another format, another kind of preview,
    -- another picture, or an earlier first day. A last day that moves on is no change, nor is the
    -- address of a preview script, which the archive signs anew each time.
    SELECT *,
        NOT new AND may_change AND (
            format <> old_format OR preview_kind <> old_kind
            OR first_shown IS DISTINCT FROM old_first
            OR preview_kind = 1 AND (preview_url, preview_width, preview_height)
                IS DISTINCT FROM (old_url, old_width, old_height)
        ) AS changed,
        NOT new AND (first_sight OR format <> old_format OR preview_kind <> old_kind
            OR (first_shown, last_shown, days_shown, preview_url, preview_width, preview_height)
                IS DISTINCT FROM
                (old_first, old_last, old_days, old_url, old_width, old_height)) AS to_write
    FROM met
), added AS (
    -- Nobody else can add an ad to a domain whose row is locked: no conflict is looked for.
    INSERT INTO ads (
        domain, advertiser_id, creative_id, format, first_shown, last_shown, days_shown,
        preview_kind, preview_url, preview_width, preview_height, first_fetch_id, last_fetch_id
    )
    SELECT %(domain)s, advertiser_id, creative_id, format, first_shown, last_shown, days_shown,
        preview_kind, preview_url, preview_width, preview_height, %(fetch)s, %(fetch)s
    FROM told WHERE new
    ORDER BY advertiser_id, creative_id
), kept AS (
    INSERT INTO ads (
        domain, advertiser_id, creative_id, format, first_shown, last_shown, days_shown,
        preview_kind, preview_url, preview_width, preview_height,
        first_fetch_id, last_fetch_id, changed_fetch_id
    )
    SELECT %(domain)s, advertiser_id, creative_id, format, first_shown, last_shown, days_shown,
        preview_kind, preview_url, preview_width, preview_height,
        %(fetch)s, %(fetch)s, CASE WHEN changed THEN %(fetch)s END
    FROM told WHERE to_write
    ORDER BY advertiser_id, creative_id
    ON CONFLICT (domain, advertiser_id, creative_id) DO UPDATE SET
        format = excluded.format,
        first_shown = excluded.first_shown, last_shown = excluded.last_shown,
        days_shown = excluded.days_shown,
        preview_kind = excluded.preview_kind, preview_url = excluded.preview_url,
        preview_width = excluded.preview_width, preview_height = excluded.preview_height,
        last_fetch_id = excluded.last_fetch_id,
        changed_fetch_id = coalesce(excluded.changed_fetch_id, ads.changed_fetch_id)
), by_advertiser AS MATERIALIZED (
    SELECT t.advertiser_id, t.name, t.ads,
        least(d.first_shown, t.first_shown) AS first_shown,
        greatest(d.last_shown, t.last_shown) AS last_shown,
        d.held IS NULL AS new, d.first_shown AS old_first, d.last_shown AS old_last,
        a.held IS NULL AS unknown, a.name AS old_name
    FROM (
        SELECT advertiser_id, max(name) AS name, count(*) FILTER (WHERE new) AS ads,
            min(first_shown) AS first_shown, max(last_shown) AS last_shown
        FROM told GROUP BY advertiser_id
    ) t
    LEFT JOIN LATERAL (
        SELECT true AS held, d.first_shown, d.last_shown FROM domain_advertisers d
        WHERE d.domain = %(domain)s AND d.advertiser_id = t.advertiser_id
        OFFSET 0
    ) d ON true
    LEFT JOIN LATERAL (
        SELECT true AS held, a.name FROM advertisers a
        WHERE a.advertiser_id = t.advertiser_id
        OFFSET 0
    ) a ON true
), named AS (
    -- Shared by domains: in the order of their ids, and only those that are new or renamed.
    INSERT INTO advertisers (advertiser_id, name)
    SELECT i.advertiser_id, i.name FROM by_advertiser i
    WHERE i.unknown OR (i.name IS NOT NULL AND i.name IS DISTINCT FROM i.old_name)
    ORDER BY i.advertiser_id
    ON CONFLICT (advertiser_id) DO UPDATE SET name = excluded.name
    WHERE excluded.name IS NOT NULL AND advertisers.name IS DISTINCT FROM excluded.name
), counted_advertisers AS (
    INSERT INTO domain_advertisers (domain, advertiser_id, ads, first_shown, last_shown)
    SELECT %(domain)s, advertiser_id, ads, first_shown, last_shown
    FROM by_advertiser
    WHERE ads > 0 OR first_shown IS DISTINCT FROM old_first OR last_shown IS DISTINCT FROM old_last
    ORDER BY advertiser_id
    ON CONFLICT (domain, advertiser_id) DO UPDATE SET
        ads = domain_advertisers.ads + excluded.ads,
        first_shown = excluded.first_shown, last_shown = excluded.last_shown
), counted_days AS (
    INSERT INTO domain_days (domain, day, delta)
    SELECT %(domain)s, m.day, sum(m.delta)
    FROM told
    CROSS JOIN LATERAL (VALUES
        (old_first <= old_last, (old_first AT TIME ZONE 'UTC')::date, -1),
        (old_first <= old_last, (old_last AT TIME ZONE 'UTC')::date + 1, 1),
        (first_shown <= last_shown, (first_shown AT TIME ZONE 'UTC')::date, 1),
        (first_shown <= last_shown, (last_shown AT TIME ZONE 'UTC')::date + 1, -1)
    ) m (counts, day, delta)
    WHERE m.counts AND (first_shown, last_shown) IS DISTINCT FROM (old_first, old_last)
    GROUP BY m.day HAVING sum(m.delta) <> 0
    ORDER BY m.day
    ON CONFLICT (domain, day) DO UPDATE SET delta = domain_days.delta + excluded.delta
), page AS MATERIALIZED (
    SELECT count(*) FILTER (WHERE first_sight) AS found,
        count(*) FILTER (WHERE new) AS new, count(*) FILTER (WHERE changed) AS changed,
        count(*) FILTER (WHERE format = 1) - count(*) FILTER (WHERE old_format = 1) AS text_ads,
        count(*) FILTER (WHERE format = 2) - count(*) FILTER (WHERE old_format = 2) AS image_ads,
        count(*) FILTER (WHERE format = 3) - count(*) FILTER (WHERE old_format = 3) AS video_ads,
        (SELECT count(*) FROM by_advertiser a WHERE a.new) AS advertisers
    FROM told
), counted_domain AS (
    UPDATE domains SET
        ads = domains.ads + page.new, text_ads = domains.text_ads + page.text_ads,
        image_ads = domains.image_ads + page.image_ads,
        video_ads = domains.video_ads + page.video_ads,
        advertisers = domains.advertisers + page.advertisers,
        total_lower = coalesce(%(lower)s, total_lower),
        total_upper = coalesce(%(upper)s, total_upper)
    FROM page WHERE domain = %(domain)s
), logged AS (
    INSERT INTO page_log
        (job_id, page, fence, holder, incarnation, cursor_in, cursor_out, ads, new, changed)
    SELECT %(job)s, %(pages)s + 1, %(fence)s, %(holder)s, %(incarnation)s,
        %(cursor_in)s, %(cursor)s, %(ads)s, new, changed
    FROM page
), counted_top_up AS (
    -- Only of a top-up somebody asks what its fetch had not seen before it.
    UPDATE jobs SET fresh = fresh + page.found
    FROM page WHERE id = %(job)s AND kind = 'top up' AND page.found > 0
), counted_fetch AS (
    UPDATE fetches SET
        pages = fetches.pages + 1, found = fetches.found + page.found,
        new = fetches.new + page.new, changed = fetches.changed + page.changed,
        warnings = warnings + %(warnings)s,
        started_at = coalesce(started_at, clock_timestamp()),
        start_mark = CASE fetches.pages WHEN 0 THEN %(newest)s ELSE start_mark END,
        in_order = in_order AND %(in_order)s,
        kind = CASE WHEN %(to_end)s THEN 'full' ELSE kind END,
        total_lower = coalesce(%(lower)s, total_lower),
        total_upper = coalesce(%(upper)s, total_upper)
    FROM page WHERE id = %(fetch)s
)
SELECT new, changed FROM page
"""

ADD_PARTS = """
INSERT INTO jobs (
    fetch_id, kind, pool, domain, format, first_day, last_day, asker, parent_id, admitted,
    created_at, due_at
)
SELECT jobs.fetch_id, jobs.kind, 'bulk', jobs.domain, part.format, part.first_day, part.last_day,
    jobs.asker, jobs.id, false, clock_timestamp(), clock_timestamp()
FROM jobs CROSS JOIN unnest(
    %(formats)s::smallint[], %(first_days)s::date[], %(last_days)s::date[]
) WITH ORDINALITY AS part (format, first_day, last_day, number)
WHERE jobs.id = %(job)s
ORDER BY part.number
"""
"""The jobs into which one is split; nobody waits for as many ads as that, so they are bulk."""
