-- What the operator lays over the offered catalog, each change as a version of
-- the whole, and the account of who changed what on the platform. Both are
-- append-only; a version only learns when it was published.

-- +goose Up
CREATE TABLE platform_catalogs (
    version      bigint      PRIMARY KEY CONSTRAINT platform_catalogs_version_check CHECK (version >= 1),
    document     jsonb       NOT NULL,
    keys         jsonb       NOT NULL, -- provider slug to sealed key
    actor_kind   text        NOT NULL,
    actor_name   text        NOT NULL,
    created_at   timestamptz NOT NULL,
    revision     bigint, -- of the published catalog that first had it
    published_at timestamptz
);

CREATE TABLE platform_audit_events (
    id          uuid        PRIMARY KEY,
    at          timestamptz NOT NULL,
    actor_kind  text        NOT NULL,
    actor_name  text        NOT NULL,
    action      text        NOT NULL CONSTRAINT platform_audit_events_action_check CHECK (action ~ '^[a-z_]+\.[a-z_]+$'),
    target_type text        NOT NULL,
    target_id   text        NOT NULL,
    diff        jsonb       NOT NULL,
    request_id  text        NOT NULL,
    version     bigint      NOT NULL
);
CREATE TRIGGER platform_audit_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON platform_audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION audit_events_append_only();

ALTER TABLE platform_catalogs     ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE platform_audit_events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY system ON platform_catalogs     TO signalbox_system USING (true) WITH CHECK (true);
CREATE POLICY system ON platform_audit_events TO signalbox_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON platform_catalogs TO signalbox_system;
GRANT UPDATE (revision, published_at) ON platform_catalogs TO signalbox_system;
GRANT SELECT, INSERT ON platform_audit_events TO signalbox_system;

-- +goose Down
DROP TABLE platform_audit_events;
DROP TABLE platform_catalogs;
