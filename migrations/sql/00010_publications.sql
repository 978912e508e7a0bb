-- Changes on their way to the gateways: what was committed, what the leader
-- has still to publish, and what it has published.

-- +goose Up
CREATE TABLE publications (
    id              uuid        PRIMARY KEY,
    workspace_id    uuid        NOT NULL REFERENCES workspaces (id),
    revision        bigint      NOT NULL CONSTRAINT publications_revision_check CHECK (revision >= 1),
    changes         text[]      NOT NULL,
    kids            text[]      NOT NULL,
    created_at      timestamptz NOT NULL,
    published_at    timestamptz,
    -- Where the documents lie in their streams; a stream is named by its
    -- creation time in Unix ns. 0 where nothing was written.
    keys_stream     bigint      NOT NULL,
    keys_sequence   bigint      NOT NULL,
    policy_stream   bigint      NOT NULL,
    policy_sequence bigint      NOT NULL,
    -- The final account, once every live gateway applied it or nobody waits.
    settled_at      timestamptz,
    gateways        integer     NOT NULL,
    applied         integer     NOT NULL,
    pending         uuid[]      NOT NULL,
    p50_us          bigint      NOT NULL,
    p99_us          bigint      NOT NULL,
    CONSTRAINT publications_workspace_id_revision_key UNIQUE (workspace_id, revision),
    CONSTRAINT publications_settled_check CHECK (settled_at IS NULL OR published_at IS NOT NULL)
);
CREATE INDEX publications_workspace_id_idx ON publications (workspace_id, id);
CREATE INDEX publications_open_idx ON publications (published_at) WHERE settled_at IS NULL AND published_at IS NOT NULL;
CREATE INDEX publications_settled_at_idx ON publications (settled_at) WHERE settled_at IS NOT NULL;

-- A row is a change that the leader has not published. Rows are marked done by
-- their deletion, one by one: ids commit out of order, so no watermark over
-- them could be right.
CREATE TABLE outbox (
    publication_id uuid        PRIMARY KEY REFERENCES publications (id),
    workspace_id   uuid        NOT NULL REFERENCES workspaces (id),
    revision       bigint      NOT NULL,
    created_at     timestamptz NOT NULL
);
CREATE INDEX outbox_workspace_id_idx ON outbox (workspace_id, revision);

-- The revision of each workspace that is in NATS, as the leader last knew.
CREATE TABLE published_policies (
    workspace_id uuid        PRIMARY KEY REFERENCES workspaces (id),
    revision     bigint      NOT NULL,
    updated_at   timestamptz NOT NULL
);

ALTER TABLE publications       ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE outbox             ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE published_policies ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON publications TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON outbox TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON published_policies TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system ON publications       TO signalbox_system USING (true) WITH CHECK (true);
CREATE POLICY system ON outbox             TO signalbox_system USING (true) WITH CHECK (true);
CREATE POLICY system ON published_policies TO signalbox_system USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON publications       TO signalbox_app;
GRANT SELECT, INSERT ON outbox             TO signalbox_app;
GRANT SELECT         ON published_policies TO signalbox_app;
GRANT SELECT, DELETE ON publications       TO signalbox_system;
GRANT UPDATE (published_at, keys_stream, keys_sequence, policy_stream, policy_sequence,
              settled_at, gateways, applied, pending, p50_us, p99_us) ON publications TO signalbox_system;
GRANT SELECT, DELETE ON outbox             TO signalbox_system;
GRANT SELECT, INSERT, UPDATE ON published_policies TO signalbox_system;

-- +goose Down
DROP TABLE published_policies;
DROP TABLE outbox;
DROP TABLE publications;
