-- Idempotency-Key of the management API. A claim is made in a transaction of
-- its own, marked executed in the transaction of the change, and completed with
-- the answer. workspace_id is null for calls of platform operators.

-- +goose Up
CREATE TABLE idempotency_keys (
    workspace_id  uuid        REFERENCES workspaces (id),
    actor         text        NOT NULL CONSTRAINT idempotency_keys_actor_check CHECK (actor <> ''),
    key           text        NOT NULL CONSTRAINT idempotency_keys_key_check CHECK (length(key) BETWEEN 1 AND 255),
    request_hash  bytea       NOT NULL CONSTRAINT idempotency_keys_request_hash_check CHECK (octet_length(request_hash) = 32),
    token         uuid        NOT NULL CONSTRAINT idempotency_keys_token_key UNIQUE,
    claimed_until timestamptz NOT NULL,
    executed_at   timestamptz,
    status        integer,
    header        jsonb,
    body          bytea,
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    CONSTRAINT idempotency_keys_key UNIQUE NULLS NOT DISTINCT (workspace_id, actor, key),
    CONSTRAINT idempotency_keys_answer_check CHECK ((status IS NULL) = (body IS NULL) AND (status IS NULL) = (header IS NULL))
);
CREATE INDEX idempotency_keys_expires_at_idx ON idempotency_keys (expires_at);

ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- The tenant role marks its claim executed, by the claim's random token.
CREATE POLICY tenant ON idempotency_keys TO signalbox_app
    USING (workspace_id IS NULL OR workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id IS NULL OR workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system ON idempotency_keys TO signalbox_system USING (true) WITH CHECK (true);

GRANT SELECT (token, workspace_id), UPDATE (executed_at) ON idempotency_keys TO signalbox_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON idempotency_keys TO signalbox_system;

-- +goose Down
DROP TABLE idempotency_keys;
