-- Refreshes, walks in parts, turns in line, followers and watches. Additive: code of the revision
-- before works on these tables as well.

ALTER TABLE domains
    ADD COLUMN mark timestamptz,
    ADD COLUMN walked_at timestamptz,
    ADD COLUMN walked_ads bigint;
COMMENT ON COLUMN domains.mark IS 'every ad last shown before was stored; null: walk it all';
COMMENT ON COLUMN domains.walked_at IS 'end of the last complete full walk';
COMMENT ON COLUMN domains.walked_ads IS 'ads that the last complete full walk found';

ALTER TABLE fetches
    ADD COLUMN kind text DEFAULT 'full' NOT NULL,
    ADD COLUMN until timestamptz,
    ADD COLUMN start_mark timestamptz,
    ADD COLUMN in_order boolean DEFAULT true NOT NULL,
    ADD COLUMN shrunk boolean DEFAULT false NOT NULL,
    ADD CONSTRAINT fetches_kind_check CHECK (kind IN ('full', 'refresh'));
COMMENT ON COLUMN fetches.until IS 'a refresh may stop at ads last shown before; null: never';
COMMENT ON COLUMN fetches.start_mark IS 'newest last shown time on its first page';
COMMENT ON COLUMN fetches.in_order IS 'false once a page was not newest last shown first';
COMMENT ON COLUMN fetches.shrunk IS 'a full walk found next to nothing of what was there';

ALTER TABLE jobs
    ADD COLUMN until timestamptz,
    ADD COLUMN newest timestamptz,
    ADD COLUMN fresh bigint DEFAULT 0 NOT NULL,
    ADD COLUMN parent_id bigint,
    ADD COLUMN asker bigint DEFAULT 0 NOT NULL,
    ADD COLUMN admitted boolean DEFAULT true NOT NULL;
COMMENT ON COLUMN jobs.until IS 'ends at ads last shown before; null: at the end of the query';
COMMENT ON COLUMN jobs.newest IS 'newest last shown time on its first page';
COMMENT ON COLUMN jobs.fresh IS 'ads that its fetch had not seen before';
COMMENT ON COLUMN jobs.parent_id IS 'the job that was split into this one and others';
COMMENT ON COLUMN jobs.asker IS 'whose turn it takes: users.id, 0 for commands, -1 imports, -2 schedule';
COMMENT ON COLUMN jobs.admitted IS 'false while it waits for its turn to have a message';

CREATE INDEX jobs_admitted ON jobs (pool, id)
    WHERE state IN ('queued', 'running') AND admitted;
CREATE INDEX jobs_waiting ON jobs (pool, asker, due_at, id)
    WHERE state = 'queued' AND NOT admitted AND parent_id IS NULL;
CREATE INDEX jobs_parts_waiting ON jobs (fetch_id, id)
    WHERE state = 'queued' AND NOT admitted AND parent_id IS NOT NULL;

CREATE TABLE followers (
    fetch_id bigint NOT NULL,
    user_id bigint NOT NULL,
    joined_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT followers_pkey PRIMARY KEY (fetch_id, user_id),
    CONSTRAINT followers_fetch_id_fkey
        FOREIGN KEY (fetch_id) REFERENCES fetches (id) ON DELETE CASCADE,
    CONSTRAINT followers_user_id_fkey
        FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX followers_by_user ON followers (user_id);

CREATE TABLE watches (
    user_id bigint NOT NULL,
    domain text COLLATE "C" NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT watches_pkey PRIMARY KEY (user_id, domain),
    CONSTRAINT watches_user_id_fkey
        FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX watches_by_domain ON watches (domain);

-- For readers of tables that were made by another user than these.
DO $$
BEGIN
    GRANT SELECT ON followers, watches TO ppcfetch_reader;
EXCEPTION WHEN undefined_object THEN NULL; -- who may not make roles has no such readers
END
$$;
