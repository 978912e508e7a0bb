-- What the last call with a credential to its provider said of it, and when one
-- was last asked for. The system role seals the operator's keys anew, in every
-- version that is kept, when the keyring is rotated.

-- +goose Up
ALTER TABLE byok_credentials
    ADD COLUMN verification     jsonb,       -- null: never, or not of the present key
    ADD COLUMN verify_asked_at  timestamptz; -- bounds how often the provider is asked
GRANT UPDATE (keys) ON platform_catalogs TO signalbox_system;

-- +goose Down
REVOKE UPDATE (keys) ON platform_catalogs FROM signalbox_system;
ALTER TABLE byok_credentials DROP COLUMN verification, DROP COLUMN verify_asked_at;
