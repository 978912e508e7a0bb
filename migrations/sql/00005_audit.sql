-- Who changed what. Rows are written in the transaction of the change and
-- never altered; the trigger holds even for the owner.

-- +goose Up
CREATE TABLE audit_events (
    id           uuid        PRIMARY KEY,
    workspace_id uuid        NOT NULL REFERENCES workspaces (id),
    at           timestamptz NOT NULL,
    actor_kind   text        NOT NULL CONSTRAINT audit_events_actor_kind_check
                             CHECK (actor_kind IN ('management_key', 'operator', 'system', 'user')),
    actor_id     text        NOT NULL,
    actor_user   uuid        REFERENCES users (id),
    actor_name   text        NOT NULL,
    action       text        NOT NULL CONSTRAINT audit_events_action_check CHECK (action ~ '^[a-z_]+\.[a-z_]+$'),
    target_type  text        NOT NULL,
    target_id    text        NOT NULL,
    diff         jsonb       NOT NULL,
    request_id   text        NOT NULL,
    revision     bigint      NOT NULL
);
CREATE INDEX audit_events_workspace_id_idx ON audit_events (workspace_id, id);

-- +goose StatementBegin
CREATE FUNCTION audit_events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit events are append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION audit_events_append_only();

ALTER TABLE audit_events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_events TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);

GRANT SELECT, INSERT ON audit_events TO signalbox_app;

-- +goose Down
DROP TABLE audit_events;
DROP FUNCTION audit_events_append_only();
