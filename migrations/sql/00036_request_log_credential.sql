-- Whose credential a request's provider was called with last: '' for nobody, and
-- for rows from before this column.

-- +goose Up
ALTER TABLE request_log ADD COLUMN credential_source text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE request_log DROP COLUMN credential_source;
