-- Keys that workspaces bring for providers. Only the sealed form is stored: it
-- is bound to the workspace and the provider of its row, and opens in no other.

-- +goose Up
CREATE TABLE byok_credentials (
    id                  uuid        PRIMARY KEY,
    workspace_id        uuid        NOT NULL REFERENCES workspaces (id),
    provider            text        NOT NULL CONSTRAINT byok_credentials_provider_check CHECK (length(provider) BETWEEN 1 AND 64),
    name                text        NOT NULL CONSTRAINT byok_credentials_name_check CHECK (length(name) BETWEEN 1 AND 100),
    prefix              text        NOT NULL CONSTRAINT byok_credentials_prefix_check CHECK (length(prefix) <= 6),
    suffix              text        NOT NULL CONSTRAINT byok_credentials_suffix_check CHECK (length(suffix) <= 4),
    sealed              bytea       NOT NULL CONSTRAINT byok_credentials_sealed_check CHECK (octet_length(sealed) BETWEEN 34 AND 16384),
    use                 text        NOT NULL CONSTRAINT byok_credentials_use_check CHECK (use IN ('priority', 'fallback')),
    position            integer     NOT NULL CONSTRAINT byok_credentials_position_check CHECK (position >= 1),
    enabled             boolean     NOT NULL,
    models              text[]      NOT NULL,
    api_keys            text[]      NOT NULL,
    created_by          uuid        REFERENCES users (id),
    version             bigint      NOT NULL CONSTRAINT byok_credentials_version_check CHECK (version >= 1),
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    -- Deferred: a new order passes through states in which two share a place.
    CONSTRAINT byok_credentials_position_key UNIQUE (workspace_id, provider, use, position) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX byok_credentials_workspace_id_idx ON byok_credentials (workspace_id, id);

ALTER TABLE byok_credentials ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON byok_credentials TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
-- Re-sealing looks for what an old key sealed, in whichever workspace.
CREATE POLICY system_read ON byok_credentials FOR SELECT TO signalbox_system USING (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON byok_credentials TO signalbox_app;
GRANT SELECT (workspace_id, sealed) ON byok_credentials TO signalbox_system;

-- +goose Down
DROP TABLE byok_credentials;
