-- What the last call with a credential to its provider said of it, and when one
-- was last asked for.

-- +goose Up
ALTER TABLE byok_credentials
    ADD COLUMN verification     jsonb,       -- null: never, or not of the present key
    ADD COLUMN verify_asked_at  timestamptz; -- bounds how often the provider is asked

-- +goose Down
ALTER TABLE byok_credentials DROP COLUMN verification, DROP COLUMN verify_asked_at;
