-- The revisions of the catalog. The same content keeps its revision; content
-- that comes back after another gets a new one, as revisions only rise.

-- +goose Up
CREATE TABLE catalog_revisions (
    revision   bigint      PRIMARY KEY CONSTRAINT catalog_revisions_revision_check CHECK (revision >= 1),
    digest     text        NOT NULL CONSTRAINT catalog_revisions_digest_check CHECK (digest ~ '^[0-9a-f]{64}$'),
    created_at timestamptz NOT NULL
);

ALTER TABLE catalog_revisions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY system ON catalog_revisions TO signalbox_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON catalog_revisions TO signalbox_system;

-- +goose Down
DROP TABLE catalog_revisions;
