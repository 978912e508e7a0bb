-- The gateways as their heartbeats describe them. They belong to no tenant, so
-- only the system role sees them.

-- +goose Up
CREATE TABLE gateways (
    id               uuid        PRIMARY KEY,
    instance         text        NOT NULL,
    version          text        NOT NULL,
    address          text        NOT NULL,
    started_at       timestamptz NOT NULL,
    last_seen_at     timestamptz NOT NULL,
    stopped          boolean     NOT NULL,
    catalog_revision bigint      NOT NULL,
    stale            boolean     NOT NULL,
    spool_pending    bigint      NOT NULL
);
CREATE INDEX gateways_last_seen_at_idx ON gateways (last_seen_at);

ALTER TABLE gateways ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY system ON gateways TO signalbox_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON gateways TO signalbox_system;

-- +goose Down
DROP TABLE gateways;
