-- Inference keys and management keys. Secrets are stored as SHA-256 only: they
-- have 256 random bits, so there is nothing to guess.

-- +goose Up
CREATE TABLE api_keys (
    id             uuid        PRIMARY KEY,
    workspace_id   uuid        NOT NULL REFERENCES workspaces (id),
    kid            text        NOT NULL CONSTRAINT api_keys_kid_key UNIQUE
                               CONSTRAINT api_keys_kid_check CHECK (kid ~ '^[0-9a-hjkmnp-tv-z]{16}$'),
    name           text        NOT NULL CONSTRAINT api_keys_name_check CHECK (length(name) BETWEEN 1 AND 100),
    suffix         text        NOT NULL CONSTRAINT api_keys_suffix_check CHECK (length(suffix) = 4),
    status         text        NOT NULL CONSTRAINT api_keys_status_check CHECK (status IN ('active', 'paused', 'revoked')),
    secret_hash    bytea       NOT NULL CONSTRAINT api_keys_secret_hash_check CHECK (octet_length(secret_hash) = 32),
    previous_hash  bytea       CONSTRAINT api_keys_previous_hash_check CHECK (octet_length(previous_hash) = 32),
    previous_until timestamptz,
    created_by     uuid        REFERENCES users (id),
    expires_at     timestamptz,
    last_used_at   timestamptz,
    models         text[]      NOT NULL,
    surfaces       text[]      NOT NULL,
    scopes         text[]      NOT NULL,
    version        bigint      NOT NULL CONSTRAINT api_keys_version_check CHECK (version >= 1),
    revision       bigint      NOT NULL CONSTRAINT api_keys_revision_check CHECK (revision >= 1),
    min_revision   bigint      NOT NULL CONSTRAINT api_keys_min_revision_check CHECK (min_revision BETWEEN 0 AND revision),
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    CONSTRAINT api_keys_previous_check CHECK ((previous_hash IS NULL) = (previous_until IS NULL))
);
CREATE INDEX api_keys_workspace_id_idx ON api_keys (workspace_id, id);

CREATE TABLE management_keys (
    id           uuid        PRIMARY KEY,
    workspace_id uuid        NOT NULL REFERENCES workspaces (id),
    kid          text        NOT NULL CONSTRAINT management_keys_kid_key UNIQUE
                             CONSTRAINT management_keys_kid_check CHECK (kid ~ '^[0-9a-hjkmnp-tv-z]{16}$'),
    name         text        NOT NULL CONSTRAINT management_keys_name_check CHECK (length(name) BETWEEN 1 AND 100),
    suffix       text        NOT NULL CONSTRAINT management_keys_suffix_check CHECK (length(suffix) = 4),
    status       text        NOT NULL CONSTRAINT management_keys_status_check CHECK (status IN ('active', 'revoked')),
    secret_hash  bytea       NOT NULL CONSTRAINT management_keys_secret_hash_check CHECK (octet_length(secret_hash) = 32),
    previous_hash  bytea     CONSTRAINT management_keys_previous_hash_check CHECK (octet_length(previous_hash) = 32),
    previous_until timestamptz,
    created_by   uuid        NOT NULL REFERENCES users (id),
    template     text        NOT NULL CONSTRAINT management_keys_template_check
                             CHECK (template IN ('', 'read-only', 'read-write', 'full-control')),
    scopes       text[]      NOT NULL CONSTRAINT management_keys_scopes_check CHECK (cardinality(scopes) > 0),
    expires_at   timestamptz,
    last_used_at timestamptz,
    version      bigint      NOT NULL CONSTRAINT management_keys_version_check CHECK (version >= 1),
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    CONSTRAINT management_keys_previous_check CHECK ((previous_hash IS NULL) = (previous_until IS NULL))
);
CREATE INDEX management_keys_workspace_id_idx ON management_keys (workspace_id, id);

-- +goose StatementBegin
CREATE FUNCTION keys_stay_revoked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status = 'revoked' AND NEW.status <> 'revoked' THEN
        RAISE EXCEPTION 'a revoked key stays revoked' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF NEW.workspace_id <> OLD.workspace_id OR NEW.kid <> OLD.kid THEN
        RAISE EXCEPTION 'a key keeps its workspace and kid' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER api_keys_stay_revoked BEFORE UPDATE ON api_keys
    FOR EACH ROW EXECUTE FUNCTION keys_stay_revoked();
CREATE TRIGGER management_keys_stay_revoked BEFORE UPDATE ON management_keys
    FOR EACH ROW EXECUTE FUNCTION keys_stay_revoked();

ALTER TABLE api_keys        ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE management_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON api_keys TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON management_keys TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system_read   ON api_keys        FOR SELECT TO signalbox_system USING (true);
CREATE POLICY system_used   ON api_keys        FOR UPDATE TO signalbox_system USING (true) WITH CHECK (true);
CREATE POLICY system_read   ON management_keys FOR SELECT TO signalbox_system USING (true);
CREATE POLICY system_used   ON management_keys FOR UPDATE TO signalbox_system USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE ON api_keys, management_keys TO signalbox_app;
GRANT SELECT, UPDATE (last_used_at) ON api_keys, management_keys TO signalbox_system;

-- +goose Down
DROP TABLE management_keys;
DROP TABLE api_keys;
DROP FUNCTION keys_stay_revoked();
